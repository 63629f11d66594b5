//! Matches MIL ops in the core ops that define them.

use mind_core::ops::convert::Cast;
use mind_core::ops::elementwise::Add;
use mind_core::ops::reduce::{Max, Mean, Min, Prod, Sum};
use mind_core::ops::shape::Reshape;
use mind_core::ops::window::ReduceWindow;
use mind_ir::eval::{DimEnv, EvalCx};
use mind_ir::graph::Graph;
use mind_ir::opdef::Trait;
use mind_ir::scalar::{Reduction, ScalarFn};
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::call::floats;
use mind_mil::composition::{Axes, COMPOSITIONS, Composition, Term};
use mind_mil::ops::normalization::LOCAL_RESPONSE_NORM;
use mind_mil::ops::pool::L2_POOL;

use crate::found::{Found, Given};

/// Returns the MIL op whose composition of core ops ends with `op`; its operands are values of core. Constants are
/// matched as programs with floats of the dtype `float` round them.
pub(crate) fn found(g: &Graph, op: OpId, float: DType) -> Option<Found> {
    let root = g
        .results(op)
        .iter()
        .next()
        .filter(|_| g.results(op).len() == 1)?;
    let dtype = g.ty(root).dtype;
    let mut rows = COMPOSITIONS.iter().filter(|row| admits(row, dtype));
    rows.find_map(|row| {
        let wide = row.wide(dtype);
        let narrower = (dtype == DType::F32 && float == DType::F16).then_some(dtype);
        let mut widths = [Some(wide), narrower].into_iter().flatten();
        widths.find_map(|wide| Matching::of(g, row, root, wide)?.found(float))
    })
}

/// Returns whether a composition may have results of `dtype`.
fn admits(row: &Composition, dtype: DType) -> bool {
    match dtype {
        DType::F16 | DType::F32 => !row.integers,
        DType::I32 => row.integers || matches!(row.axes, Axes::Given | Axes::Kept),
        DType::BF16
        | DType::F64
        | DType::I8
        | DType::I16
        | DType::I64
        | DType::U8
        | DType::U16
        | DType::U32
        | DType::U64
        | DType::Bool => false,
    }
}

/// Bindings of a partially matched term.
#[derive(Clone)]
struct Matching<'g> {
    g: &'g Graph,
    row: &'static Composition,
    /// The dtype of the op, and the dtype of its intermediate results.
    dtype: DType,
    wide: DType,
    values: Vec<(&'static str, ValueId)>,
    numbers: Vec<(&'static str, f64)>,
    channels: Vec<(&'static str, ValueId)>,
    /// The axes of reductions, and whether they are kept with extent 1.
    axes: Option<(Vec<i64>, bool)>,
    /// The windows of a pool or norm.
    windows: Option<ReduceWindow>,
}

impl<'g> Matching<'g> {
    /// Matches `root` with the term of `row` computed in `wide`.
    fn of(
        g: &'g Graph,
        row: &'static Composition,
        root: ValueId,
        wide: DType,
    ) -> Option<Matching<'g>> {
        let dtype = g.ty(root).dtype;
        let own = Matching {
            g,
            row,
            dtype,
            wide,
            values: Vec::new(),
            numbers: Vec::new(),
            channels: Vec::new(),
            axes: None,
            windows: None,
        };
        let reshaped = g.defining_op(root).and_then(|op| g.view::<Reshape>(op));
        let (result, removed) = match reshaped.filter(|_| row.axes == Axes::Kept) {
            Some(reshape) => (reshape.input(g), true),
            None => (root, false),
        };
        let mut found = own.term(&row.term, own.unrounded(result)?)?;
        found.fits(result).then_some(())?;
        if removed {
            let (axes, keep) = found.axes.as_mut()?;
            let shape = g.ty(result).shape;
            let kept = (0i64..).zip(shape).filter(|(at, _)| !axes.contains(at));
            if !kept.map(|(_, dim)| dim).eq(g.ty(root).shape) {
                return None;
            }
            *keep = false;
        }
        Some(found)
    }

    /// Returns the value before it is rounded to `value`: to `f32` first, then to the dtype of the op.
    fn unrounded(&self, value: ValueId) -> Option<ValueId> {
        let single = match (self.dtype, self.wide) {
            (DType::F16, DType::F64) => cast_from(self.g, value, DType::F32)?,
            _ => value,
        };
        if self.g.ty(single).dtype == self.wide {
            Some(single)
        } else {
            cast_from(self.g, single, self.wide)
        }
    }

    fn term(&self, term: &'static Term, value: ValueId) -> Option<Matching<'g>> {
        let mut next = self.clone();
        match *term {
            Term::Value(name) => {
                let own = if self.wide == self.dtype {
                    value
                } else {
                    cast_from(self.g, value, self.dtype)?
                };
                bind(&mut next.values, name, own)?;
            }
            Term::Param(name) => bind(&mut next.numbers, name, number(self.g, value)?)?,
            Term::Number(expected) => {
                let rounded = match self.g.ty(value).dtype {
                    DType::F32 => f64::from(expected as f32),
                    _ => expected,
                };
                let found = number(self.g, value)?;
                (found.to_bits() == rounded.to_bits()).then_some(())?;
            }
            Term::Channels(_, Some(default)) if number(self.g, value) == Some(default) => {}
            Term::Channels(name, _) => {
                let op = self.g.defining_op(value)?;
                self.g.def(op).has(Trait::Constant).then_some(())?;
                bind(&mut next.channels, name, value)?;
            }
            Term::Apply(function, of) => return self.apply(function, of, value),
            Term::Reduce(kind, of) => {
                let (own, input, axes, keep) = reduced(self.g, self.g.defining_op(value)?)?;
                let same = next.axes.get_or_insert((axes.clone(), keep));
                (own == kind && *same == (axes, keep)).then_some(())?;
                return next.term(of, input);
            }
            Term::Window(kind, of) => {
                let windows = self.g.view::<ReduceWindow>(self.g.defining_op(value)?)?;
                (windows.kind(self.g) == kind).then_some(())?;
                next.windows = Some(windows);
                return next.term(of, windows.input(self.g));
            }
            Term::Cast(dtype, of) => {
                (self.g.ty(value).dtype == dtype).then_some(())?;
                let op = self.g.defining_op(value)?;
                return self.term(of, self.g.view::<Cast>(op)?.input(self.g));
            }
        }
        Some(next)
    }

    /// Matches a function of terms, with the operands of a commutative function in either order.
    fn apply(
        &self,
        function: ScalarFn,
        of: &'static [Term],
        value: ValueId,
    ) -> Option<Matching<'g>> {
        let op = self.g.defining_op(value)?;
        let (own, operands) = (self.g.scalar(op)?, self.g.operands(op));
        let straight = (own == function).then(|| self.each(of, operands.iter()));
        let found = straight.flatten().or_else(|| {
            let is_exchanged = if self.g.def(op).has(Trait::Commutative) {
                own == function
            } else {
                exchanged(own) == Some(function)
            };
            is_exchanged.then(|| self.each(of, operands.iter().rev()))?
        });
        found.or_else(|| self.doubled(function, of, value))
    }

    /// Matches a product with 2 that canonicalization rewrote to the sum of a value with itself.
    fn doubled(
        &self,
        function: ScalarFn,
        of: &'static [Term],
        value: ValueId,
    ) -> Option<Matching<'g>> {
        let sum = self.g.view::<Add>(self.g.defining_op(value)?)?;
        let (ScalarFn::Mul, [half, Term::Number(2.0)]) = (function, of) else {
            return None;
        };
        (sum.lhs(self.g) == sum.rhs(self.g)).then(|| self.term(half, sum.lhs(self.g)))?
    }

    fn each<'v>(
        &self,
        of: &'static [Term],
        values: impl Iterator<Item = &'v ValueId>,
    ) -> Option<Matching<'g>> {
        let mut pairs = of.iter().zip(values);
        pairs.try_fold(self.clone(), |found, (of, &value)| found.term(of, value))
    }

    /// Returns whether the op accepts the axes, shapes and numbers; `result` is the value of the term.
    fn fits(&self, result: ValueId) -> bool {
        let Some(x) = self.value("x") else {
            return false;
        };
        let (shape, rank) = (self.g.ty(x).shape, self.g.ty(x).rank());
        let axes = self.axes.as_ref().map(|(axes, keep)| (&axes[..], *keep));
        let from = |first: usize| (first as i64..rank as i64).collect::<Vec<i64>>();
        let fits_axes = match self.row.axes {
            Axes::None => axes.is_none(),
            Axes::Given => true,
            Axes::Kept => axes.is_some_and(|(_, keep)| keep),
            Axes::Last(count) => rank >= count && axes == Some((&from(rank - count), true)),
            Axes::Spatial => (3..=4).contains(&rank) && axes == Some((&from(2), true)),
        };
        let is_pool = std::ptr::eq(self.row.op, &raw const L2_POOL);
        let is_map = !matches!(self.row.axes, Axes::Given | Axes::Kept) && !is_pool;
        let is_stretched = is_map && self.value("y").is_none() && self.g.ty(result).shape != shape;
        let number = |name: &str| self.numbers.iter().find(|(own, _)| *own == name);
        let ordered = match (self.row.op.name, number("alpha"), number("beta")) {
            ("clip", Some((_, alpha)), Some((_, beta))) => alpha < beta,
            _ => true,
        };
        let has_channels = self.channels.is_empty() || (3..=5).contains(&rank);
        let epsilon = number("epsilon").is_none_or(|(_, epsilon)| *epsilon >= 0.0);
        fits_axes
            && !is_stretched
            && ordered
            && epsilon
            && has_channels
            && self
                .channels
                .iter()
                .all(|(_, list)| self.per_channel(*list, rank))
    }

    /// Returns whether a constant has one number for each channel of an op of `rank`.
    fn per_channel(&self, list: ValueId, rank: usize) -> bool {
        let x = self.value("x").map(|x| self.g.ty(x).shape[1].fixed());
        let shape = self.g.ty(list).static_shape().unwrap_or_default();
        let missing = rank.saturating_sub(shape.len());
        let whole: Vec<i64> = vec![1; missing].into_iter().chain(shape).collect();
        let mut expected = vec![1; rank];
        expected[1] = x.flatten().unwrap_or(-1);
        whole == expected
    }

    fn value(&self, name: &str) -> Option<ValueId> {
        let mut values = self.values.iter();
        values
            .find(|(own, _)| *own == name)
            .map(|&(_, value)| value)
    }

    /// Returns the op with the bound arguments; `None` if `float` cannot represent one of the numbers.
    fn found(self, float: DType) -> Option<Found> {
        let dtype = if self.dtype == DType::F32 {
            float
        } else {
            self.dtype
        };
        let mut found = Found::new(self.row.op);
        for (name, value) in self.values {
            found.operand(name, value);
        }
        let is_norm = std::ptr::eq(self.row.op, &raw const LOCAL_RESPONSE_NORM);
        for (name, number) in self.numbers {
            let number = match self.windows.filter(|_| is_norm && name == "alpha") {
                Some(windows) => multiple(number, *windows.window(self.g).get(1)?)?,
                None => number,
            };
            let is_lost = dtype == DType::F16 && half::f16::from_f64(number).is_infinite();
            if number.is_nan() || is_lost && number.is_finite() {
                return None;
            }
            found.give(name, Given::Number(number));
        }
        for (name, list) in self.channels {
            let list = floats(&constant(self.g, list)?);
            if list
                .iter()
                .any(|number| !half::f16::from_f64(*number).is_finite())
            {
                return None;
            }
            found.give(name, Given::Numbers(vec![list.len()], list));
        }
        if let Some(windows) = self.windows {
            slides(self.g, windows, is_norm, &mut found)?;
        }
        for &(name, number) in self.row.numbers {
            found.give(name, Given::Number(number));
        }
        for &(name, word) in self.row.words {
            found.give(name, Given::Word(word));
        }
        if let (Axes::Given | Axes::Kept, Some((axes, keep))) = (self.row.axes, self.axes) {
            found.give("axes", Given::Ints(axes));
            found.give("keep_dims", Given::Flag(keep));
        }
        Some(found)
    }
}

/// Adds sliding windows to the op: a pool over `[N, C, ..]`, or a norm along the channels.
fn slides(g: &Graph, windows: ReduceWindow, is_norm: bool, found: &mut Found) -> Option<()> {
    let (axes, sizes) = (windows.axes(g).ok()?, windows.window(g));
    let plain = |at: usize| {
        let own = &axes[at];
        own.stride == 1 && own.low == 0 && own.high == 0 && sizes[at] == 1
    };
    let undilated = axes.iter().all(|own| own.dilation == 1);
    ((3..=5).contains(&axes.len()) && undilated && plain(0)).then_some(())?;
    if is_norm {
        let (own, size) = (&axes[1], sizes[1]);
        let is_centred = own.stride == 1 && own.low == size / 2 && own.high == (size - 1) / 2;
        (is_centred && (2..axes.len()).all(plain)).then_some(())?;
        found.give("size", Given::Int(size));
        return Some(());
    }
    plain(1).then_some(())?;
    let spatial = &axes[2..];
    let pads = spatial.iter().flat_map(|own| [own.low, own.high]).collect();
    found.give("kernel_sizes", Given::Ints(sizes[2..].to_vec()));
    found.give(
        "strides",
        Given::Ints(spatial.iter().map(|own| own.stride).collect()),
    );
    found.give("pad_type", Given::Word("custom"));
    found.give("pad", Given::Ints(pads));
    found.give("ceil_mode", Given::Flag(false));
    Some(())
}

/// Returns the `f32` that gives `quotient` when divided by `count`.
fn multiple(quotient: f64, count: i64) -> Option<f64> {
    let (quotient, count) = (quotient as f32, count as f32);
    let near = quotient * count;
    let all = [near, near.next_down(), near.next_up()];
    let found = all.into_iter().find(|own| own / count == quotient);
    found.map(f64::from)
}

/// Binds the argument `name`; returns `None` if it has another value already.
fn bind<T: PartialEq>(list: &mut Vec<(&'static str, T)>, name: &'static str, own: T) -> Option<()> {
    match list.iter().find(|(known, _)| *known == name) {
        Some((_, known)) => (*known == own).then_some(()),
        None => {
            list.push((name, own));
            Some(())
        }
    }
}

/// Returns the comparison that is equivalent to `function` with its operands exchanged.
fn exchanged(function: ScalarFn) -> Option<ScalarFn> {
    let direction = mind_core::ops::compare::Direction::of(function)?;
    Some(direction.swapped().function())
}

/// Returns the operand of the cast that made `value`, if that has the dtype `from`.
fn cast_from(g: &Graph, value: ValueId, from: DType) -> Option<ValueId> {
    let input = g.view::<Cast>(g.defining_op(value)?)?.input(g);
    (g.ty(input).dtype == from).then_some(input)
}

/// Returns the elements of a constant.
pub(crate) fn constant(g: &Graph, value: ValueId) -> Option<Tensor> {
    let op = g.defining_op(value)?;
    let eval = g.def(op).eval.filter(|_| g.def(op).has(Trait::Constant))?;
    let dims = DimEnv::default();
    eval(op, &EvalCx::run(g, &dims), &[])
        .ok()?
        .into_iter()
        .next()
}

/// Returns the number in a constant of one element.
pub(crate) fn number(g: &Graph, value: ValueId) -> Option<f64> {
    if g.ty(value).count() != Some(1) {
        return None;
    }
    floats(&constant(g, value)?).first().copied()
}

/// Returns the kind, input and axes of a reduction, with axes counted from the front, and whether the axes are kept
/// with extent 1.
fn reduced(g: &Graph, op: OpId) -> Option<(Reduction, ValueId, Vec<i64>, bool)> {
    macro_rules! view {
        ($($view:ident)*) => {
            [$(g.view::<$view>(op).map(|own| {
                (Reduction::$view, own.input(g), own.axes(g), own.keepdims(g))
            })),*]
        };
    }
    let (kind, input, axes, keep) = view!(Sum Mean Max Min Prod).into_iter().flatten().next()?;
    let rank = g.ty(input).rank() as i64;
    if axes.is_empty() {
        return Some((kind, input, (0..rank).collect(), false));
    }
    let axes = axes.iter().map(|axis| axis.rem_euclid(rank)).collect();
    Some((kind, input, axes, keep))
}
