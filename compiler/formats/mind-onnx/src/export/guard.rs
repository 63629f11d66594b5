//! Run-time checks of data-dependent extents in exported models.
//!
//! A run of core fails if an extent contradicts the type of the result. ONNX operators take extents as given, for
//! example `Reshape` infers an extent of -1. Therefore an entry that cannot be proven to fit is replaced at run time by
//! a value that every runtime rejects.

use mind_core::eval::bounds::indices;
use mind_core::ops::convert::Cast;
use mind_core::ops::extents::ExtentOf;
use mind_core::ops::join::Concat;
use mind_core::ops::shape::{ExpandDims, Reshape};
use mind_ir::ValueId;
use mind_ir::types::{DType, Dim};

use super::draft::Val;
use super::emit::{Emit, One};
use super::operator as op;

/// A shape entry that every runtime rejects: -1 is inferred, and any number ≥ 0 may be an extent.
const REFUSED: i64 = -2;

/// Maximum depth of the use-def chain that is followed to find the origin of an extent.
const MOST_NESTED: usize = 16;

/// The known origin of an entry in a list of extents.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Entry {
    /// The extent of a dimension.
    Of(Dim),
    /// An unknown number.
    Any,
}

/// The extents that the result type allows.
#[derive(Clone, Copy)]
pub(super) struct Promise<'d> {
    /// The shape of the result.
    pub dims: &'d [Dim],
    /// Whether an extent of 1 is rejected, for example because it would broadcast.
    pub refuse_ones: bool,
}

impl Promise<'_> {
    fn is_kept(self, entries: &[Entry]) -> bool {
        let keeps = |(&dim, &entry): (&Dim, &Entry)| match (dim, entry) {
            (_, Entry::Any) => false,
            (Dim::Dynamic, Entry::Of(Dim::Fixed(extent))) => {
                extent >= 0 && !(self.refuse_ones && extent == 1)
            }
            (Dim::Dynamic, Entry::Of(Dim::Symbol(_) | Dim::Dynamic)) => !self.refuse_ones,
            (Dim::Fixed(_), Entry::Of(own)) => {
                dim == own && !(self.refuse_ones && dim == Dim::Fixed(1))
            }
            (Dim::Symbol(_), Entry::Of(own)) => dim == own && !self.refuse_ones,
        };
        entries.len() == self.dims.len() && self.dims.iter().zip(entries).all(keeps)
    }
}

impl Emit<'_> {
    /// Returns the values of the operand `extents` in `i64`. The exported model fails at run time if they violate
    /// `promise`.
    pub(super) fn guarded(&mut self, extents: ValueId, promise: Promise<'_>) -> One {
        let entries = self.entries(extents, MOST_NESTED);
        let is_kept = promise.is_kept(&entries);
        if is_kept && let Some(known) = fixed(promise.dims) {
            return Ok(self.ints(&known));
        }
        let own = self.value(extents);
        let list = self.cast(own, self.dtype(extents), DType::I64)?;
        if is_kept {
            return Ok(list);
        }
        self.checked(list, promise)
    }

    /// Returns `list` with each entry that violates `promise` replaced by [`REFUSED`].
    fn checked(&mut self, list: Val, promise: Promise<'_>) -> One {
        let bound = |open: i64| {
            move |dim: &Dim| match dim {
                Dim::Dynamic => Dim::Fixed(open),
                Dim::Fixed(_) | Dim::Symbol(_) => *dim,
            }
        };
        let [low, high] = [0, i64::MAX].map(|open| {
            let dims: Vec<Dim> = promise.dims.iter().map(bound(open)).collect();
            self.extents(&dims)
        });
        let least = self.node(op::MAX, &[list, low?], Vec::new())?;
        let within = self.node(op::MIN, &[least, high?], Vec::new())?;
        let is_admitted = self.node(op::EQUAL, &[list, within], Vec::new())?;
        let refused = self.int(REFUSED);
        let list = self.choose(DType::I64, is_admitted, list, refused)?;
        if !promise.refuse_ones {
            return Ok(list);
        }
        let one = self.int(1);
        let is_one = self.node(op::EQUAL, &[list, one], Vec::new())?;
        self.choose(DType::I64, is_one, refused, list)
    }

    /// Returns the origins of the entries of a list of integers, or of one integer.
    fn entries(&self, list: ValueId, depth: usize) -> Vec<Entry> {
        if let Some(tensor) = self.known(list) {
            let numbers = indices(&tensor);
            return numbers
                .into_iter()
                .map(|own| Entry::Of(Dim::Fixed(own)))
                .collect();
        }
        let unknown = || {
            let count = self
                .g
                .ty(list)
                .static_shape()
                .map_or(0, |own| own.iter().product());
            vec![Entry::Any; usize::try_from(count).unwrap_or(0)]
        };
        let (Some(op), Some(depth)) = (self.g.defining_op(list), depth.checked_sub(1)) else {
            return unknown();
        };
        if let Some(extent) = self.g.view::<ExtentOf>(op) {
            let input = extent.input(self.g);
            let axis = self.axis(extent.axis(self.g), input);
            return vec![Entry::Of(self.dims(input)[axis])];
        }
        if let Some(joined) = self.g.view::<Concat>(op).filter(|_| self.rank(list) == 1) {
            let parts = joined.inputs(self.g).iter();
            return parts.flat_map(|&part| self.entries(part, depth)).collect();
        }
        let same = [
            self.g.view::<Reshape>(op).map(|own| own.input(self.g)),
            self.g.view::<ExpandDims>(op).map(|own| own.input(self.g)),
            self.g.view::<Cast>(op).map(|own| own.input(self.g)),
        ];
        let mut same = same.into_iter().flatten();
        match same.next() {
            Some(input) if matches!(self.dtype(input), DType::I32 | DType::I64) => {
                self.entries(input, depth)
            }
            Some(_) | None => unknown(),
        }
    }
}

/// Returns the extents of a fixed shape.
fn fixed(dims: &[Dim]) -> Option<Vec<i64>> {
    dims.iter().map(|dim| dim.fixed()).collect()
}
