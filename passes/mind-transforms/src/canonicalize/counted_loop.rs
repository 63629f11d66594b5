//! Conversion of loops with a known trip count to scans over the values of the induction variable.

use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::control::{Scan, While, block, keep_declared, yields};
use mind_core::ops::elementwise::{Add, Mul, Sub};
use mind_core::ops::extents::Iota;
use mind_ir::graph::Graph;
use mind_ir::opdef::{Op, Trait};
use mind_ir::tensor::{Num, Tensor};
use mind_ir::types::{DType, Dim};
use mind_ir::{OpId, ValueId, with_num};
use mind_rewrite::{MatchFailure, Rewriter, constant_value};

use super::declare::patterns;

patterns! {
    /// A loop whose induction variable runs from a constant by a constant to a constant is a scan over its values.
    CountedLoop = "counted-loop" on [While] => counted_loop;
}

/// The maximum trip count of a loop that becomes a scan, because a scan keeps the values of the counter in memory.
const MOST_STEPS: i128 = 1 << 16;

/// The maximum trip count of a loop whose counter values become a constant.
const FEW_STEPS: i128 = 64;

/// The size limit in bytes of constants that may be an integer.
const INTEGER: u64 = 8;

const UNCOUNTED: MatchFailure = MatchFailure("the loop does not count to a constant");
const TYPES: MatchFailure =
    MatchFailure("a result declares more extents than its carried value has");

fn counted_loop(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), MatchFailure> {
    let view = While::from_id(op);
    let counter = Counter::of(rw, view).ok_or(UNCOUNTED)?;
    let steps = counter.steps().ok_or(UNCOUNTED)?;
    if steps == 0 {
        let initial = view.initial(rw).to_vec();
        return rw.replace_all(op, &initial);
    }
    if steps > MOST_STEPS {
        return Err(MatchFailure("the loop has too many steps"));
    }
    if !keeps_types(rw, view) {
        return Err(TYPES);
    }
    let last = counter.integer(counter.first + steps * counter.step);
    let mut results = match view.carried(rw) {
        1 => Vec::new(),
        _ => {
            let values = counter.values(op, steps, rw)?;
            let scan = scan(rw, view, counter.place, values)?;
            rw.results(scan).into_iter().collect()
        }
    };
    let last = rw.constant(op, &last);
    results.insert(counter.place, last);
    rw.replace_all(op, &results)
}

/// Returns whether the results of a loop have the types of its carried values, because the results of a scan have
/// these.
fn keeps_types(g: &Graph, view: While) -> bool {
    let arguments = g.arguments(block(g, view.id(), 1));
    let mut carried = g.results(view.id()).into_iter().zip(arguments);
    carried.all(|(result, argument)| g.type_id(result) == g.type_id(argument))
}

/// Creates a scan over the values of the counter, which computes the other carried values of a loop.
fn scan(
    rw: &mut Rewriter<'_>,
    view: While,
    counter: usize,
    values: ValueId,
) -> Result<OpId, MatchFailure> {
    let (op, carried) = (view.id(), view.initial(rw).len());
    let arguments: Vec<ValueId> = rw.arguments(block(rw, op, 1)).into_iter().collect();
    let others = (0..carried).filter(|&place| place != counter);
    // Unused fixed operands are kept unless they are constants, because the ops that compute them may fail.
    let fixed = (carried..arguments.len()).filter(|&place| {
        let source = rw.defining_op(view.operands(rw)[place]);
        let is_constant = source.is_some_and(|source| rw.def(source).has(Trait::Constant));
        !is_constant || !rw.uses(arguments[place]).is_empty()
    });
    let places: Vec<usize> = others.chain([counter]).chain(fixed).collect();
    let operand = |&place: &usize| match place == counter {
        true => values,
        false => view.operands(rw)[place],
    };
    let operands: Vec<ValueId> = places.iter().map(operand).collect();
    let others = carried - 1;
    let attrs = Scan::attrs(others as i64, 1, &[], &[], &[], &[]);
    rw.create_with_body(op, Scan::DEF, &operands, &attrs, others, |b, own| {
        let old = places.iter().map(|&place| arguments[place]);
        let pairs = old.zip(own.iter().copied());
        keep_declared(b.graph, pairs.clone());
        let body = block(b.graph, op, 1);
        let mut next = b.copy_block(body, pairs.collect());
        next.remove(counter);
        Ok(next)
    })
}

/// The induction variable of a loop, which determines its end.
struct Counter {
    /// Its index among the carried values.
    place: usize,
    dtype: DType,
    first: i128,
    step: i128,
    /// The loop continues as long as this comparison of the counter and the bound holds.
    direction: Direction,
    bound: i128,
}

impl Counter {
    /// Returns the counter of a loop; `None` if the trip count does not depend on a counter.
    fn of(g: &Graph, view: While) -> Option<Counter> {
        let op = view.id();
        let compare = g.view::<Compare>(g.defining_op(*yields(g, op, 0).first()?)?)?;
        let (lhs, rhs) = (compare.lhs(g), compare.rhs(g));
        let (place, bound, direction) = match carried(g, view, 0, lhs) {
            Some(place) => (place, rhs, compare.direction(g)),
            None => (
                carried(g, view, 0, rhs)?,
                lhs,
                compare.direction(g).swapped(),
            ),
        };
        let initial = view.initial(g)[place];
        Some(Counter {
            place,
            dtype: g.ty(initial).dtype,
            first: integer(g, initial)?,
            step: step(g, view, place)?,
            direction,
            bound: known(g, view, 0, bound)?,
        })
    }

    /// Returns the trip count; `None` if it is not known, for example because the counter overflows before the loop
    /// ends.
    fn steps(&self) -> Option<i128> {
        let Counter {
            first, step, bound, ..
        } = *self;
        if !self.continues(first) {
            return Some(0);
        }
        let (distance, pace) = (bound - first, step);
        let steps = match (self.direction, step.signum()) {
            (Direction::Eq, 1 | -1) => 1,
            (Direction::Ne, 1 | -1) if distance % pace == 0 => distance / pace,
            (Direction::Lt, 1) | (Direction::Gt, -1) => (distance - pace.signum()) / pace + 1,
            (Direction::Le, 1) | (Direction::Ge, -1) => distance / pace + 1,
            _ => return None,
        };
        let last = first + steps * step;
        (steps > 0 && self.represents(last)).then_some(steps)
    }

    fn continues(&self, value: i128) -> bool {
        let bound = &self.bound;
        match self.direction {
            Direction::Eq => value == *bound,
            Direction::Ne => value != *bound,
            Direction::Lt => value < *bound,
            Direction::Le => value <= *bound,
            Direction::Gt => value > *bound,
            Direction::Ge => value >= *bound,
        }
    }

    fn represents(&self, value: i128) -> bool {
        only(&self.integer(value)) == Some(value)
    }

    /// Returns `value` in the dtype of the counter, modulo 2^width.
    fn integer(&self, value: i128) -> Tensor {
        self.integers([value]).with_shape(Vec::new())
    }

    /// Returns a list in the dtype of the counter, modulo 2^width.
    fn integers(&self, values: impl IntoIterator<Item = i128>) -> Tensor {
        fn of<T: Num>(values: impl IntoIterator<Item = i128>) -> Tensor {
            let values: Vec<T> = values.into_iter().map(T::from_i128).collect();
            Tensor::of(vec![values.len()], values)
        }
        with_num!(self.dtype, T => of::<T>(values), else unreachable!("a counter is an integer"))
    }

    /// Returns the values of the counter in all steps. They are a constant if there are few, else computed by ops
    /// before `op`, which wrap if an index does not fit the dtype.
    fn values(
        &self,
        op: OpId,
        steps: i128,
        rw: &mut Rewriter<'_>,
    ) -> Result<ValueId, MatchFailure> {
        if steps <= FEW_STEPS {
            let list = (0..steps).map(|at| self.first + at * self.step);
            return Ok(rw.constant(op, &self.integers(list)));
        }
        let shape = [Dim::Fixed(steps as i64)];
        let mut values = rw.create(op, Iota::DEF, &[], &Iota::attrs(self.dtype, &shape, 0))?;
        if self.step != 1 {
            let step = rw.constant(op, &self.integer(self.step));
            values = rw.create(op, Mul::DEF, &[values, step], &Mul::attrs())?;
        }
        if self.first != 0 {
            let first = rw.constant(op, &self.integer(self.first));
            values = rw.create(op, Add::DEF, &[values, first], &Add::attrs())?;
        }
        Ok(values)
    }
}

/// Returns the index of `value` among the arguments of a region.
fn argument(g: &Graph, view: While, region: usize, value: ValueId) -> Option<usize> {
    let arguments = g.arguments(block(g, view.id(), region));
    arguments.into_iter().position(|own| own == value)
}

/// Returns the index of `value`, a region argument, among the carried values.
fn carried(g: &Graph, view: While, region: usize, value: ValueId) -> Option<usize> {
    let place = argument(g, view, region, value);
    place.filter(|&place| place < view.initial(g).len())
}

/// Returns the value of an integer in a region, if it is a constant there or a fixed operand that is a constant.
fn known(g: &Graph, view: While, region: usize, value: ValueId) -> Option<i128> {
    match argument(g, view, region, value) {
        None => integer(g, value),
        Some(place) if place < view.initial(g).len() => None,
        Some(place) => integer(g, view.operands(g)[place]),
    }
}

/// Returns the constant that each step adds to a carried value.
fn step(g: &Graph, view: While, place: usize) -> Option<i128> {
    let next = g.defining_op(*yields(g, view.id(), 1).get(place)?)?;
    let is_counter = |value: ValueId| carried(g, view, 1, value) == Some(place);
    let &[lhs, rhs] = g.operands(next) else {
        return None;
    };
    let added = |value| known(g, view, 1, value);
    if g.is::<Add>(next) {
        let other = if is_counter(lhs) { rhs } else { lhs };
        return added(other).filter(|_| is_counter(lhs) || is_counter(rhs));
    }
    let subtracts = g.is::<Sub>(next) && is_counter(lhs);
    added(rhs).filter(|_| subtracts).map(|step| -step)
}

/// Returns the value of a constant integer of rank 0.
fn integer(g: &Graph, value: ValueId) -> Option<i128> {
    let tensor = constant_value(g, value, INTEGER)?;
    only(&tensor).filter(|_| tensor.rank() == 0)
}

/// Returns the only element of an integer tensor.
fn only(tensor: &Tensor) -> Option<i128> {
    fn of<T: Num>(tensor: &Tensor) -> Option<i128> {
        match tensor.elements::<T>() {
            [element] => element.to_i128(),
            _ => None,
        }
    }
    with_num!(tensor.dtype(), T => of::<T>(tensor), else None)
}
