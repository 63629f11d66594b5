//! Lowers scans that are recurrent layers.

use half::f16;
use mind_core::ops::contract::MatMul;
use mind_core::ops::control::Scan;
use mind_core::ops::convert::Cast;
use mind_core::ops::elementwise::Add;
use mind_core::ops::index::Slice;
use mind_core::ops::join::Concat;
use mind_core::ops::shape::Reshape;
use mind_ir::graph::Graph;
use mind_ir::opdef::Op;
use mind_ir::types::{DType, TensorType};
use mind_ir::{OpId, ValueId};
use mind_mil::Opset;
use mind_mil::call::floats;
use mind_mil::recurrence::Recurrence;

use crate::cell::{self, Cell};
use crate::compose::constant;
use crate::config::Config;
use crate::found::{Found, Given, Placed};
use crate::shapes::{made, shape};

/// A scan that is a recurrent layer in one direction.
struct Layer {
    scan: Scan,
    cell: Cell,
    /// The input sequence in `f32`.
    x: ValueId,
    states: Vec<ValueId>,
    is_backward: bool,
    weights: Vec<(&'static str, Weights)>,
}

/// The shape and the numbers of a constant.
type Weights = (Vec<usize>, Vec<f64>);

/// Returns the recurrent layer that a scan is, alone or combined with a backward one.
pub(crate) fn found(g: &Graph, op: OpId, config: &Config) -> Option<Placed> {
    let layer = Layer::of(g, g.view::<Scan>(op)?)?;
    let both = layer.other(g).and_then(|back| layer.bidirectional(g, back));
    let (found, results, joined) = both.unwrap_or_else(|| layer.alone(g));
    Whole {
        found,
        results,
        joined,
    }
    .placed(g, &layer, config)
}

fn numbers(g: &Graph, value: ValueId) -> Option<Weights> {
    let tensor = constant(g, value)?;
    Some((tensor.shape().to_vec(), floats(&tensor)))
}

/// Returns the gates of a matrix in the order of `gates`, transposed. The matrix has a column for each unit of each
/// gate, the result a row.
fn rows((shape, numbers): &Weights, gates: &[usize], units: usize) -> Vec<f64> {
    let columns = gates
        .iter()
        .flat_map(|gate| gate * units..(gate + 1) * units);
    let places = columns.flat_map(|column| (0..shape[0]).map(move |row| (row, column)));
    places
        .map(|(row, column)| numbers[row * shape[1] + column])
        .collect()
}

/// Returns the gates of a list in the order of `gates`. The list has a number for each unit of each gate.
fn gates_of((_, numbers): &Weights, gates: &[usize], units: usize) -> Weights {
    let own = gates
        .iter()
        .flat_map(|gate| &numbers[gate * units..(gate + 1) * units]);
    (vec![gates.len() * units], own.copied().collect())
}

impl Layer {
    fn of(g: &Graph, scan: Scan) -> Option<Layer> {
        let cell = cell::of(g, scan)?;
        let sums = scan.inputs(g)[0];
        let (product, bias) = match made::<Add>(g, sums) {
            Some(add) => {
                let pairs = [(add.lhs(g), add.rhs(g)), (add.rhs(g), add.lhs(g))];
                let mut pairs = pairs.into_iter();
                pairs.find_map(|(product, bias)| Some((product, Some(numbers(g, bias)?))))?
            }
            None => (sums, None),
        };
        let product = made::<MatMul>(g, product)?;
        let input = numbers(g, product.rhs(g)).filter(|(shape, _)| shape.len() == 2)?;
        let fixed = scan.fixed(g).iter().map(|&value| numbers(g, value));
        let fixed: Vec<Weights> = fixed.collect::<Option<_>>()?;
        let is_backward = scan.is_input_reversed(g, 0);
        (scan.is_output_reversed(g, 0) == is_backward).then_some(())?;
        (g.ty(product.lhs(g)).rank() == 3).then_some(())?;
        Some(Layer {
            weights: weights(&cell, &input, bias, &fixed)?,
            scan,
            cell,
            x: product.lhs(g),
            states: scan.initial(g).to_vec(),
            is_backward,
        })
    }

    /// Returns the backward layer whose hidden states are concatenated with those of this one.
    fn other(&self, g: &Graph) -> Option<Layer> {
        (self.cell.kind == Recurrence::Lstm && !self.is_backward).then_some(())?;
        let mut users = g
            .results(self.scan.id())
            .into_iter()
            .flat_map(|value| g.uses(value));
        let concat = users.find_map(|(user, _)| g.view::<Concat>(user))?;
        let &[_, back] = concat.inputs(g) else {
            return None;
        };
        let other = Layer::of(g, g.view::<Scan>(g.defining_op(back)?)?)?;
        let mut own = other.cell.clone();
        own.looks = self.cell.looks;
        let fits = other.is_backward && own == self.cell && other.x == self.x;
        fits.then_some(other)
    }

    fn found(&self, direction: &'static str) -> Found {
        let cell = &self.cell;
        let mut found = Found::new(cell.kind.row());
        found.give("direction", Given::Word(direction));
        found.give("activation", Given::Word(cell.words[2]));
        if cell.kind != Recurrence::Rnn {
            found.give("recurrent_activation", Given::Word(cell.words[0]));
        }
        if cell.kind == Recurrence::Lstm {
            found.give("cell_activation", Given::Word(cell.words[1]));
        }
        if let Some(clip) = cell.clip {
            found.give("clip", Given::Number(clip));
        }
        if cell.resets_after {
            found.give("reset_after", Given::Flag(true));
        }
        for (name, (shape, list)) in &self.weights {
            found.give(name, Given::Numbers(shape.clone(), list.clone()));
        }
        found
    }

    fn alone(&self, g: &Graph) -> (Found, Vec<ValueId>, Vec<ValueId>) {
        let found = self.found(if self.is_backward {
            "reverse"
        } else {
            "forward"
        });
        let results = g.results(self.scan.id()).into_iter().collect();
        (found, results, self.states.clone())
    }

    /// Combines both layers to a bidirectional one, whose outputs are concatenated and whose states are slices of one
    /// tensor.
    fn bidirectional(&self, g: &Graph, back: Layer) -> Option<(Found, Vec<ValueId>, Vec<ValueId>)> {
        let mut found = self.found("bidirectional");
        for (name, (shape, list)) in back.weights {
            let name = match name {
                "weight_ih" => "weight_ih_back",
                "weight_hh" => "weight_hh_back",
                "bias" => "bias_back",
                "peephole" => "peephole_back",
                _ => return None,
            };
            found.give(name, Given::Numbers(shape, list));
        }
        let count = self.states.len();
        let mut results = Vec::new();
        let pairs = g
            .results(self.scan.id())
            .into_iter()
            .zip(g.results(back.scan.id()));
        for (at, (forward, backward)) in pairs.enumerate() {
            let axis = if at == count { 2 } else { 1 };
            let mut joins = g
                .uses(forward)
                .chain(g.uses(backward))
                .map(|(user, _)| user);
            let first = joins.next();
            let Some(first) = first else {
                results.push(forward);
                continue;
            };
            let concat = g.view::<Concat>(first)?;
            let rank = g.ty(forward).rank() as i64;
            let fits =
                concat.inputs(g) == [forward, backward] && concat.axis(g).rem_euclid(rank) == axis;
            (fits && joins.all(|user| user == first)).then_some(())?;
            results.push(g.result(first));
        }
        let states = self.states.iter().zip(&back.states);
        let states = states.map(|(&first, &second)| whole(g, first, second, self.cell.units));
        Some((found, results, states.collect::<Option<_>>()?))
    }
}

/// Returns the value of which two values are the halves along axis 1.
fn whole(g: &Graph, first: ValueId, second: ValueId, units: i64) -> Option<ValueId> {
    let (first, second) = (made::<Slice>(g, first)?, made::<Slice>(g, second)?);
    let all = first.input(g);
    let rows = shape(g, all)?;
    let half = |slice: Slice, at: i64| {
        let (starts, ends) = (slice.starts(g), slice.ends(g));
        starts == [0, at * units] && ends == [rows[0], (at + 1) * units] && slice.steps(g) == [1, 1]
    };
    let fits = second.input(g) == all && rows.len() == 2 && rows[1] == 2 * units;
    (fits && half(first, 0) && half(second, 1)).then_some(all)
}

/// Returns the weights in MIL's layout: a row for each unit of each gate.
fn weights(
    cell: &Cell,
    input: &Weights,
    bias: Option<Weights>,
    fixed: &[Weights],
) -> Option<Vec<(&'static str, Weights)>> {
    let units = cell.units as usize;
    let all = cell.kind.gates() * units;
    let mut expected: Vec<Vec<usize>> = match cell.kind {
        Recurrence::Gru => vec![vec![units, 2 * units], vec![units; 2]],
        Recurrence::Rnn | Recurrence::Lstm => vec![vec![units, all]],
    };
    let past_bias = fixed.get(2).filter(|_| cell.resets_after);
    expected.extend(past_bias.map(|_| vec![units]));
    expected.extend(cell.looks.then(|| vec![3 * units]));
    let fits = expected.iter().eq(fixed.iter().map(|(shape, _)| shape));
    let fits = fits && bias.as_ref().is_none_or(|(shape, _)| *shape == [all]);
    (fits && input.0[1] == all).then_some(())?;
    let matrix =
        |list: Vec<f64>, columns: usize| (vec![list.len() / columns.max(1), columns], list);
    let input_rows = rows(input, &cell.order, units);
    let mut own = vec![("weight_ih", matrix(input_rows, input.0[0]))];
    let hidden = match cell.kind {
        Recurrence::Gru => {
            let [reset, update] = cell.past;
            let (gates, new) = (&fixed[0], &fixed[1]);
            let part = |gate: usize| rows(gates, &[gate], units);
            [part(reset), rows(new, &[0], units), part(update)].concat()
        }
        Recurrence::Rnn | Recurrence::Lstm => rows(&fixed[0], &cell.order, units),
    };
    own.push(("weight_hh", matrix(hidden, units)));
    let mut bias = bias.map(|bias| gates_of(&bias, &cell.order, units));
    if let Some((_, past)) = past_bias {
        let (shape, list) = bias.get_or_insert_with(|| (vec![all], vec![0.0; all]));
        let mut inside = vec![0.0; all];
        inside[units..2 * units].copy_from_slice(&list[units..2 * units]);
        list[units..2 * units].copy_from_slice(past);
        own.push(("input_bias", (shape.clone(), inside)));
    }
    own.extend(bias.map(|bias| ("bias", bias)));
    if cell.looks {
        let looking = cell.order.iter().take(3).copied();
        let looking: Vec<usize> = looking.collect();
        own.push(("peephole", gates_of(&fixed[1], &looking, units)));
    }
    Some(own)
}

/// A layer, its results, and its initial states.
struct Whole {
    found: Found,
    /// The last states, followed by the hidden states of all steps.
    results: Vec<ValueId>,
    joined: Vec<ValueId>,
}

/// Returns the operand of the cast that made `value`, if that has the dtype `from`.
fn uncast(g: &Graph, value: ValueId, from: DType) -> Option<ValueId> {
    let input = made::<Cast>(g, value)?.input(g);
    (g.ty(input).dtype == from).then_some(input)
}

impl Whole {
    /// Returns the op with its position and the values that it replaces.
    fn placed(mut self, g: &Graph, layer: &Layer, config: &Config) -> Option<Placed> {
        let inputs: Vec<ValueId> = [&[layer.x][..], &self.joined].concat();
        let halves = inputs.iter().map(|&value| uncast(g, value, DType::F16));
        let halves: Option<Vec<ValueId>> = halves.collect();
        let halves = halves.filter(|_| self.gives_halves(g) && self.holds_halves());
        let dtype = if halves.is_some() {
            DType::F16
        } else {
            DType::F32
        };
        let inputs = halves.unwrap_or(inputs);
        let is_half = dtype == DType::F16 || config.float == DType::F16;
        let fits = !is_half || config.opset >= Opset::Ios17 && self.is_near();
        (fits && inputs.iter().all(|&value| g.ty(value).dtype == dtype)).then_some(())?;
        for (name, &value) in ["x", "initial_h", "initial_c"].iter().zip(&inputs) {
            self.found.operand(name, value);
        }
        let sequence = self.results.pop()?;
        let every = !g.uses(sequence).is_empty();
        self.found.give("output_sequence", Given::Flag(every));
        let mut types: Vec<TensorType> = Vec::new();
        let mut replaced = Vec::new();
        let last = shape(g, self.results[0])?;
        let single = [&[1], &last[..]].concat();
        types.push(TensorType::fixed(dtype, if every { &[] } else { &single }));
        if every {
            types[0] = TensorType::new(dtype, g.ty(sequence).shape.iter().copied());
            replaced.extend(
                self.readers(g, sequence, dtype)
                    .into_iter()
                    .map(|own| (own, 0)),
            );
        }
        for (at, &result) in self.results.iter().enumerate() {
            types.push(TensorType::new(dtype, g.ty(result).shape.iter().copied()));
            replaced.extend(
                self.readers(g, result, dtype)
                    .into_iter()
                    .map(|own| (own, at + 1)),
            );
        }
        if !every {
            // The last hidden state, if it is read as a sequence of one step.
            let state = replaced
                .iter()
                .filter(|(_, at)| *at == 1)
                .map(|&(value, _)| value);
            let shown: Vec<ValueId> = state
                .chain([self.results[0]])
                .flat_map(|value| g.uses(value))
                .filter_map(|(user, _)| g.view::<Reshape>(user).map(|own| own.result(g)))
                .filter(|&value| shape(g, value).as_ref() == Some(&single))
                .collect();
            let casts = |value: ValueId| match dtype {
                DType::F16 if g.ty(value).dtype == DType::F32 => self.readers(g, value, dtype),
                _ => vec![value],
            };
            replaced.splice(
                0..0,
                shown.into_iter().flat_map(casts).map(|value| (value, 0)),
            );
        }
        Some(Placed {
            found: self.found,
            anchor: layer.scan.id(),
            types,
            replaced,
        })
    }

    /// Returns the values of `dtype` that are equal to a result: itself in f32, or its casts to f16.
    fn readers(&self, g: &Graph, result: ValueId, dtype: DType) -> Vec<ValueId> {
        if dtype == DType::F32 {
            return vec![result];
        }
        let casts = g.uses(result).filter_map(|(user, _)| g.view::<Cast>(user));
        let casts = casts.filter(|cast| cast.dtype(g) == dtype);
        casts.map(|cast| cast.result(g)).collect()
    }

    /// Returns whether every use of every result is a cast to f16, or a reshape before one.
    fn gives_halves(&self, g: &Graph) -> bool {
        let narrows = |op: OpId| {
            g.view::<Cast>(op)
                .is_some_and(|cast| cast.dtype(g) == DType::F16)
        };
        let reads = |op: OpId| match g.view::<Reshape>(op) {
            Some(reshape) => g.uses(reshape.result(g)).all(|(user, _)| narrows(user)),
            None => narrows(op),
        };
        self.results
            .iter()
            .all(|&value| g.uses(value).all(|(user, _)| reads(user)))
    }

    /// Returns whether f16 represents every number exactly.
    fn holds_halves(&self) -> bool {
        let is_half = |own: f64| f64::from(f16::from_f64(own)) == own;
        self.found.numbers().all(is_half)
    }

    /// Returns whether every number is finite in f16.
    fn is_near(&self) -> bool {
        self.found
            .numbers()
            .all(|own| f16::from_f64(own).is_finite())
    }
}
