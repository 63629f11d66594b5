//! Random choices, guided by the left side and the condition.

mod attrs;
mod extremes;
mod indexed;
mod kinds;
mod products;
mod shapes;
mod windows;

use mind_ir::types::{DType, Dim, TensorType};
use mind_rules::AttrValue;

use crate::dtypes::Family;
use crate::instance::{Choices, Leaf};
use crate::plan::{Plan, PlanOp, is_index};
use crate::strata::Stratum;
use mind_ir::random::Rng;

/// The number of attempts to draw attributes for an op, after which the instance is given up.
const ATTEMPTS: usize = 6;

/// The extents that are drawn: 1, because it broadcasts, and small primes and their neighbours.
const EXTENTS: [i64; 8] = [1, 2, 3, 5, 8, 17, 2, 3];

/// The percentage of shapes with an extent of 0.
const EMPTY: usize = 5;

/// Extents around the number of partial sums of a reduction.
const LONG: [i64; 6] = [63, 64, 65, 127, 129, 200];

/// The maximum number of elements of a leaf.
const ELEMENTS: i64 = 6000;

/// Random choices for one instance.
pub(crate) struct Chooser<'c, 'r> {
    plan: &'c Plan<'r>,
    rng: &'c mut Rng,
    dtype: DType,
    /// The dtypes that are drawn independently of `dtype`.
    others: Vec<DType>,
    /// Whether ranks are those that the condition requires. Sometimes they are not, because cases that violate the
    /// condition are evaluated, too.
    obedient: bool,
    /// The stratum that the module is drawn for, if any.
    stratum: Option<Stratum>,
    /// The shape that most values have.
    base: Vec<i64>,
    /// The extent of every leaf if all leaves are vectors.
    flat: Option<i64>,
    /// The extent that is replaced by a symbol.
    pub(crate) symbol: Option<i64>,
    /// The extents of the last matrices, and of the last image and filter.
    matrix: Option<[i64; 3]>,
    image: Option<[i64; 6]>,
    /// The number of groups of the last convolution.
    groups: i64,
    /// The batch and contracted dimensions of the last left operand, then those of the last right one.
    pairs: [Vec<i64>; 4],
    /// The axis along which the last operands differ.
    axis: Option<i64>,
    /// The shapes of the leaves so far, by value.
    shapes: Vec<Option<Vec<i64>>>,
    /// The values of the named extents in written types, and of the named lists of extents.
    dims: Vec<(usize, i64)>,
    rests: Vec<(usize, Vec<i64>)>,
}

impl<'c, 'r> Chooser<'c, 'r> {
    /// Creates choices for an instance of `plan` whose main dtype is `dtype`.
    pub(crate) fn new(plan: &'c Plan<'r>, rng: &'c mut Rng, dtype: DType) -> Chooser<'c, 'r> {
        let obedient = rng.chance(85);
        let others = (0..plan.others).map(|_| *rng.pick(DType::ALL)).collect();
        Chooser::drawn(plan, rng, dtype, others, (obedient, None))
    }

    /// Like [`new`](Chooser::new), but for a stratum.
    pub(crate) fn in_stratum(
        plan: &'c Plan<'r>,
        rng: &'c mut Rng,
        dtype: DType,
        stratum: Stratum,
    ) -> Chooser<'c, 'r> {
        let others = (0..plan.others).map(|_| *rng.pick(DType::ALL)).collect();
        Chooser::drawn(plan, rng, dtype, others, (true, Some(stratum)))
    }

    /// Creates choices for an instance whose leaves are vectors of `extent` elements and whose other dtypes are
    /// `others`.
    pub(crate) fn with_others(
        plan: &'c Plan<'r>,
        rng: &'c mut Rng,
        dtype: DType,
        others: Vec<DType>,
        extent: i64,
    ) -> Chooser<'c, 'r> {
        Chooser {
            flat: Some(extent),
            symbol: None,
            ..Chooser::drawn(plan, rng, dtype, others, (true, None))
        }
    }

    fn drawn(
        plan: &'c Plan<'r>,
        rng: &'c mut Rng,
        dtype: DType,
        others: Vec<DType>,
        (obedient, stratum): (bool, Option<Stratum>),
    ) -> Chooser<'c, 'r> {
        let mut chooser = Chooser {
            plan,
            rng,
            dtype,
            others,
            obedient,
            stratum,
            base: Vec::new(),
            flat: None,
            symbol: None,
            matrix: None,
            image: None,
            groups: 1,
            pairs: Default::default(),
            axis: None,
            shapes: vec![None; plan.values],
            dims: Vec::new(),
            rests: Vec::new(),
        };
        chooser.base = chooser.base_shape();
        if chooser.rng.chance(15) {
            let large = chooser.base.iter().copied().filter(|&extent| extent > 1);
            chooser.symbol = large.max();
        }
        chooser
    }

    /// Like [`new`](Chooser::new), but with vectors of `extent` elements as leaves.
    pub(crate) fn flat(
        plan: &'c Plan<'r>,
        rng: &'c mut Rng,
        dtype: DType,
        extent: i64,
    ) -> Chooser<'c, 'r> {
        Chooser {
            flat: Some(extent),
            symbol: None,
            ..Chooser::new(plan, rng, dtype)
        }
    }

    /// Like [`new`](Chooser::new), but ignores the ranks that the condition requires in half of the calls.
    pub(crate) fn disobedient(
        plan: &'c Plan<'r>,
        rng: &'c mut Rng,
        dtype: DType,
    ) -> Chooser<'c, 'r> {
        let mut chooser = Chooser::new(plan, rng, dtype);
        chooser.obedient = chooser.rng.chance(50);
        chooser
    }

    fn extents(&self, ty: &TensorType) -> Option<Vec<i64>> {
        let extent = |dim: &Dim| match *dim {
            Dim::Fixed(extent) => Some(extent),
            Dim::Symbol(_) => self.symbol,
            Dim::Dynamic => None,
        };
        ty.shape.iter().map(extent).collect()
    }

    /// Returns the dtype of a value that is not an index.
    fn dtype_of(&self, value: usize) -> DType {
        match self.plan.families[value] {
            Family::Main => self.dtype,
            Family::Fixed(dtype) => dtype,
            Family::Other(number) => self.others[number],
        }
    }

    fn index_dtype(&mut self) -> DType {
        *self.rng.pick(&[DType::I32, DType::I64])
    }
}

impl Choices for Chooser<'_, '_> {
    fn leaves(
        &mut self,
        op: &PlanOp<'_>,
        open: &[usize],
        known: &[Option<TensorType>],
    ) -> Option<Vec<Leaf>> {
        let mut shapes: Vec<Option<Vec<i64>>> = Vec::new();
        for ty in known {
            shapes.push(match ty {
                Some(ty) => Some(self.extents(ty)?),
                None => None,
            });
        }
        let drawn = match self.flat {
            Some(extent) => vec![vec![extent]; op.operands.len()],
            None => self.operand_shapes(op, &shapes),
        };
        let mut leaves = Vec::new();
        for &value in open {
            let at = op.operands.iter().position(|own| *own == value)?;
            let index = is_index(op.left.def, at);
            let dtype = if index {
                self.index_dtype()
            } else {
                self.dtype_of(value)
            };
            let shape = match self.flat {
                Some(_) => drawn[at].clone(),
                None => self.hinted(value, drawn[at].clone()),
            };
            if shape.iter().product::<i64>() > ELEMENTS.max(self.flat.unwrap_or(0)) {
                return None;
            }
            self.shapes[value] = Some(shape.clone());
            let kind = self.kind(value, dtype, &shape);
            leaves.push(Leaf {
                value,
                dtype,
                shape,
                kind,
            });
        }
        Some(leaves)
    }

    fn attrs(
        &mut self,
        op: &PlanOp<'_>,
        named: &[Option<AttrValue>],
        operands: &[TensorType],
    ) -> Option<Vec<AttrValue>> {
        let shapes: Vec<Vec<i64>> = operands
            .iter()
            .map(|ty| self.extents(ty))
            .collect::<Option<_>>()?;
        self.drawn_attrs(op, named, operands, &shapes)
    }

    fn attempts(&self) -> usize {
        ATTEMPTS
    }
}
