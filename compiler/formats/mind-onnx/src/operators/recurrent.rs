//! Imports recurrent layers as scans, with the input projection of all steps computed beforehand.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::contract::MatMul;
use mind_core::ops::control::Scan;
use mind_core::ops::shape::ExpandDims;
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::types::{DType, Dim};

use super::activation::Activation;
use super::integers::is_zero;
use super::quantized::dynamic_product;
use super::{MICROSOFT, Many, Operator};
use crate::import::emit::{Emit, One};
use crate::import::node::Node;
use crate::import::value::Extent;

pub(super) const ROWS: &[Operator] = &[
    Operator::many("RNN", &[7, 14, 22], |n| {
        layer(n, Kind::Rnn, Weights::Numbers)
    }),
    Operator::many("GRU", &[7, 14, 22], |n| {
        layer(n, Kind::Gru, Weights::Numbers)
    }),
    Operator::many("LSTM", &[7, 14, 22], |n| {
        layer(n, Kind::Lstm, Weights::Numbers)
    }),
    Operator::many("DynamicQuantizeLSTM", &[1], |n| {
        layer(n, Kind::Lstm, Weights::Bytes)
    })
    .of(MICROSOFT),
];

/// The format of a layer's weights.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Weights {
    /// Float matrices with a row for each unit of each gate.
    Numbers,
    /// Quantised bytes with a column for each unit of each gate. The operands of their products are quantised
    /// dynamically.
    Bytes,
}

/// A kind of recurrent layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// One gate.
    Rnn,
    /// Update, reset, hidden.
    Gru,
    /// Input, output, forget, cell.
    Lstm,
}

impl Kind {
    fn gates(self) -> i64 {
        match self {
            Kind::Rnn => 1,
            Kind::Gru => 3,
            Kind::Lstm => 4,
        }
    }

    /// Returns the indices of the inputs with the initial states.
    fn states(self) -> &'static [usize] {
        match self {
            Kind::Rnn | Kind::Gru => &[5],
            Kind::Lstm => &[5, 6],
        }
    }

    fn activations(self) -> &'static [&'static str] {
        match self {
            Kind::Rnn => &["Tanh"],
            Kind::Gru => &["Sigmoid", "Tanh"],
            Kind::Lstm => &["Sigmoid", "Tanh", "Tanh"],
        }
    }
}

/// The computation of one direction in one step.
struct Cell {
    kind: Kind,
    units: i64,
    activations: Vec<Activation>,
    clip: Option<f64>,
    /// Whether the reset gate is applied after the product of the hidden state.
    resets_after: bool,
    /// Whether an LSTM's forget gate is 1 minus its input gate.
    couples: bool,
    weights: Weights,
}

/// Values that every step of a direction reads.
struct Fixed {
    /// The recurrent weights, `[units, gates * units]`; a GRU has one for the gates and one for the new state.
    hidden: Vec<ValueId>,
    /// The hidden gate's bias in a GRU whose reset gate is applied after the product.
    inner_bias: Option<ValueId>,
    /// The peephole weights of an LSTM, `[3 * units]`.
    peephole: Option<ValueId>,
    /// The length of each sequence, `[batch, 1]`.
    lengths: Option<ValueId>,
    /// The scale of quantised recurrent weights, and their zero point.
    scale: Option<ValueId>,
    zero: Option<ValueId>,
}

impl Fixed {
    /// Returns the operands of a scan.
    fn list(&self) -> Vec<ValueId> {
        let more = [
            self.inner_bias,
            self.peephole,
            self.lengths,
            self.scale,
            self.zero,
        ];
        let hidden = self.hidden.iter().copied();
        hidden.chain(more.into_iter().flatten()).collect()
    }

    /// Returns the same values as arguments of the scan's body.
    fn inside(&self, arguments: &[ValueId]) -> Fixed {
        let (hidden, more) = arguments.split_at(self.hidden.len());
        let mut more = more.iter().copied();
        let mut next = |own: Option<ValueId>| own.and_then(|_| more.next());
        Fixed {
            hidden: hidden.to_vec(),
            inner_bias: next(self.inner_bias),
            peephole: next(self.peephole),
            lengths: next(self.lengths),
            scale: next(self.scale),
            zero: next(self.zero),
        }
    }

    /// Returns the product of a hidden state with the recurrent weights `at`.
    fn product(&self, e: &mut Emit<'_>, h: ValueId, at: usize) -> One {
        match self.scale {
            Some(scale) => dynamic_product(e, h, [self.hidden[at], scale], self.zero),
            None => Ok(MatMul::build(e, h, self.hidden[at])?),
        }
    }
}

fn layer(n: &mut Node<'_, '_, '_>, kind: Kind, weights: Weights) -> Many {
    let directions: &[bool] = match n.word("direction")?.unwrap_or("forward") {
        "forward" => &[false],
        "reverse" => &[true],
        "bidirectional" => &[false, true],
        other => {
            let words = ["forward", "reverse", "bidirectional"];
            return Err(Refusal::word("direction", other, &words));
        }
    };
    let batch_first = n.flag("layout")?;
    let clip = n.float("clip")?;
    let resets_after = kind == Kind::Gru && n.flag("linear_before_reset")?;
    let couples = kind == Kind::Lstm && n.flag("input_forget")?;
    let names = n.words("activations")?;
    let (alpha, beta) = (n.floats("activation_alpha")?, n.floats("activation_beta")?);
    n.ignore("hidden_size");
    let mut x = n.input(0)?;
    if batch_first {
        x = n.e.transpose(x, &[1, 0, 2])?;
    }
    let &[steps, batch, _] = &n.e.extents_of(x)[..] else {
        return Err(Refusal::rank(n.operand(0), n.e.g().type_text(x), 3));
    };
    let recurrence = n.input(2)?;
    let units = match weights {
        Weights::Numbers => n.e.extent(recurrence, 2)?,
        Weights::Bytes => n.e.extent(recurrence, 1)?,
    };
    let wanted = kind.activations();
    let names = names.unwrap_or_else(|| wanted.repeat(directions.len()));
    let activations = Activation::list(n, &names, alpha, beta)?;
    if activations.len() != wanted.len() * directions.len() {
        let expected = wanted.len() * directions.len();
        let reason = format!("{} for each direction", wanted.len());
        return Err(Refusal::length(
            "activations",
            names.len(),
            expected,
            reason,
        ));
    }
    let lengths = n.optional(4)?;
    let lengths = lengths
        .map(|list| {
            let wide = n.e.convert(list, DType::I64)?;
            Ok::<_, Refusal>(ExpandDims::with(&[1]).build(&mut n.e, wide)?)
        })
        .transpose()?;
    let mut found: Vec<Vec<ValueId>> = Vec::new();
    for (at, &backwards) in directions.iter().enumerate() {
        let own = wanted.len();
        let cell = Cell {
            kind,
            units,
            activations: activations[at * own..(at + 1) * own].to_vec(),
            clip,
            resets_after,
            couples,
            weights,
        };
        let mut initial = Vec::new();
        for &input in kind.states() {
            initial.push(match n.optional(input)? {
                Some(state) => {
                    let state = if batch_first {
                        n.e.transpose(state, &[1, 0, 2])?
                    } else {
                        state
                    };
                    one_of(&mut n.e, state, at)?
                }
                None => {
                    let zero = n.e.number(n.e.dtype(x), 0.0);
                    n.e.broadcast_extents(zero, &[batch, Extent::Known(units)])?
                }
            });
        }
        let (sums, mut fixed) = inputs(n, &cell, x, at)?;
        fixed.lengths = lengths;
        let steps = lengths.is_some().then_some(steps);
        found.push(scan(
            &mut n.e, &cell, &initial, sums, &fixed, steps, backwards,
        )?);
    }
    let states = kind.states().len();
    let mut stacked = Vec::new();
    for at in 0..=states {
        let axis = if at == states { 1 } else { 0 };
        let mut parts = Vec::new();
        for values in &found {
            parts.push(ExpandDims::with(&[axis]).build(&mut n.e, values[at])?);
        }
        stacked.push(n.e.concat(&parts, axis as usize)?);
    }
    let mut sequence = stacked.pop().expect("the hidden states");
    if batch_first {
        sequence = n.e.transpose(sequence, &[2, 0, 1, 3])?;
        for state in &mut stacked {
            *state = n.e.transpose(*state, &[1, 0, 2])?;
        }
    }
    stacked.insert(0, sequence);
    Ok(stacked)
}

/// Returns the slice of direction `at`, with the dimension of directions removed.
fn one_of(e: &mut Emit<'_>, all: ValueId, at: usize) -> One {
    let shape = e.dims(all);
    let own = e.part(all, 0, at as i64, at as i64 + 1)?;
    e.reshape(own, &shape[1..])
}

/// Returns the input projection of all steps, including the biases that can be added there, and the values that every
/// step reads.
fn inputs(
    n: &mut Node<'_, '_, '_>,
    cell: &Cell,
    x: ValueId,
    at: usize,
) -> Result<(ValueId, Fixed), Refusal> {
    let (weight, recurrence) = (n.input(1)?, n.input(2)?);
    let e = &mut n.e;
    let (mut weight, mut hidden) = (one_of(e, weight, at)?, one_of(e, recurrence, at)?);
    if cell.weights == Weights::Numbers {
        weight = e.transpose(weight, &[1, 0])?;
        hidden = e.transpose(hidden, &[1, 0])?;
    }
    let hidden = match cell.kind {
        Kind::Gru => vec![
            e.part(hidden, 1, 0, 2 * cell.units)?,
            e.part(hidden, 1, 2 * cell.units, 3 * cell.units)?,
        ],
        Kind::Rnn | Kind::Lstm => vec![hidden],
    };
    let (mut scale, mut zero) = (None, None);
    let mut sums = match cell.weights {
        Weights::Numbers => MatMul::build(&mut n.e, x, weight)?,
        Weights::Bytes => {
            let own = (n.input(8)?, n.optional(9)?);
            let past = (n.input(10)?, n.optional(11)?);
            let mut point = |(scale, zero)| scale_of(&mut n.e, scale, zero, at);
            let (own, own_zero) = point(own)?;
            let (past, past_zero) = point(past)?;
            (scale, zero) = (Some(past), past_zero);
            dynamic_product(&mut n.e, x, [weight, own], own_zero)?
        }
    };
    let mut inner_bias = None;
    if let Some(bias) = n.optional(3)? {
        let e = &mut n.e;
        let bias = one_of(e, bias, at)?;
        let (units, all) = (cell.units, cell.kind.gates() * cell.units);
        let own = e.part(bias, 0, 0, all)?;
        let mut past = e.part(bias, 0, all, 2 * all)?;
        if cell.resets_after {
            // The hidden gate's bias is subject to the reset and stays in the step.
            inner_bias = Some(e.part(past, 0, 2 * units, all)?);
            let kept = e.part(past, 0, 0, 2 * units)?;
            let zero = e.number(e.dtype(x), 0.0);
            let zeros = BroadcastTo::with(&[Dim::Fixed(units)]).build(e, zero)?;
            past = e.concat(&[kept, zeros], 0)?;
        }
        let bias = e.apply(ScalarFn::Add, &[own, past])?;
        sums = e.apply(ScalarFn::Add, &[sums, bias])?;
    }
    let peephole = match (cell.kind, n.optional(7)?) {
        (Kind::Lstm, Some(peephole)) => Some(one_of(&mut n.e, peephole, at)?),
        _ => None,
    };
    let fixed = Fixed {
        hidden,
        inner_bias,
        peephole,
        lengths: None,
        scale,
        zero,
    };
    Ok((sums, fixed))
}

/// Returns the scale and the zero point of direction `at`.
fn scale_of(
    e: &mut Emit<'_>,
    scale: ValueId,
    zero: Option<ValueId>,
    at: usize,
) -> Result<(ValueId, Option<ValueId>), Refusal> {
    let zero = zero.filter(|&zero| !is_zero(e.g(), zero));
    let zero = zero.map(|zero| one_of(e, zero, at)).transpose()?;
    Ok((one_of(e, scale, at)?, zero))
}

/// Returns the last states, followed by the hidden states of all steps. `steps` is given if the sequences have
/// different lengths.
fn scan(
    e: &mut Emit<'_>,
    cell: &Cell,
    initial: &[ValueId],
    sums: ValueId,
    fixed: &Fixed,
    steps: Option<Extent>,
    backwards: bool,
) -> Many {
    let carried = initial.len();
    let places = steps.map(|steps| e.iota(DType::I64, &[steps], 0));
    let scanned: Vec<ValueId> = [sums].into_iter().chain(places.transpose()?).collect();
    let reversed = vec![i64::from(backwards); scanned.len()];
    let attrs = Scan::attrs(
        carried as i64,
        scanned.len() as i64,
        &[],
        &[],
        &reversed,
        &reversed[..1],
    );
    let operands = [initial, &scanned, &fixed.list()].concat();
    e.scan(&attrs, &operands, carried + 1, |e, arguments| {
        let (states, rest) = arguments.split_at(carried);
        let (slices, rest) = rest.split_at(scanned.len());
        cell.masked_step(e, states, slices, &fixed.inside(rest))
    })
}

impl Cell {
    /// Returns the states after a step and its output. After the end of a sequence the states stay and the output is 0.
    fn masked_step(
        &self,
        e: &mut Emit<'_>,
        states: &[ValueId],
        slices: &[ValueId],
        fixed: &Fixed,
    ) -> Many {
        let mut next = self.step(e, states, slices[0], fixed)?;
        let (Some(&place), Some(lengths)) = (slices.get(1), fixed.lengths) else {
            next.push(next[0]);
            return Ok(next);
        };
        let inside = Compare::with(Direction::Lt).build(e, place, lengths)?;
        let zero = e.number(e.dtype(states[0]), 0.0);
        let shown = e.apply(ScalarFn::Select, &[inside, next[0], zero])?;
        for (next, &state) in next.iter_mut().zip(states) {
            *next = e.apply(ScalarFn::Select, &[inside, *next, state])?;
        }
        next.push(shown);
        Ok(next)
    }

    fn step(&self, e: &mut Emit<'_>, states: &[ValueId], sums: ValueId, fixed: &Fixed) -> Many {
        match self.kind {
            Kind::Rnn => {
                let past = fixed.product(e, states[0], 0)?;
                let all = e.apply(ScalarFn::Add, &[sums, past])?;
                Ok(vec![self.activate(e, 0, all)?])
            }
            Kind::Gru => Ok(vec![self.gru(e, states[0], sums, fixed)?]),
            Kind::Lstm => self.lstm(e, states, sums, fixed),
        }
    }

    /// Returns gate `at` of a value that concatenates several gates.
    fn gate(&self, e: &mut Emit<'_>, all: ValueId, at: i64) -> One {
        let axis = e.rank(all) - 1;
        e.part(all, axis, at * self.units, (at + 1) * self.units)
    }

    /// Applies activation `at` to a sum, which is clipped first.
    fn activate(&self, e: &mut Emit<'_>, at: usize, mut sum: ValueId) -> One {
        if let Some(clip) = self.clip {
            sum = e.apply_number(ScalarFn::Maximum, sum, -clip)?;
            sum = e.apply_number(ScalarFn::Minimum, sum, clip)?;
        }
        self.activations[at].apply(e, sum)
    }

    fn gru(&self, e: &mut Emit<'_>, h: ValueId, sums: ValueId, fixed: &Fixed) -> One {
        let past = MatMul::build(e, h, fixed.hidden[0])?;
        let mut gates = [h; 2];
        for (at, gate) in gates.iter_mut().enumerate() {
            let (own, past) = (
                self.gate(e, sums, at as i64)?,
                self.gate(e, past, at as i64)?,
            );
            let sum = e.apply(ScalarFn::Add, &[own, past])?;
            *gate = self.activate(e, 0, sum)?;
        }
        let [update, reset] = gates;
        let past = if self.resets_after {
            let mut past = MatMul::build(e, h, fixed.hidden[1])?;
            if let Some(bias) = fixed.inner_bias {
                past = e.apply(ScalarFn::Add, &[past, bias])?;
            }
            e.apply(ScalarFn::Mul, &[reset, past])?
        } else {
            let kept = e.apply(ScalarFn::Mul, &[reset, h])?;
            MatMul::build(e, kept, fixed.hidden[1])?
        };
        let own = self.gate(e, sums, 2)?;
        let sum = e.apply(ScalarFn::Add, &[own, past])?;
        let new = self.activate(e, 1, sum)?;
        let one = e.number(e.dtype(h), 1.0);
        let rest = e.apply(ScalarFn::Sub, &[one, update])?;
        let new = e.apply(ScalarFn::Mul, &[rest, new])?;
        let kept = e.apply(ScalarFn::Mul, &[update, h])?;
        e.apply(ScalarFn::Add, &[new, kept])
    }

    fn lstm(&self, e: &mut Emit<'_>, states: &[ValueId], sums: ValueId, fixed: &Fixed) -> Many {
        let (h, c) = (states[0], states[1]);
        let past = fixed.product(e, h, 0)?;
        let all = e.apply(ScalarFn::Add, &[sums, past])?;
        // The sum of a gate, including its peephole connection.
        let sum = |e: &mut Emit<'_>, gate: i64, of: Option<(i64, ValueId)>| -> One {
            let own = self.gate(e, all, gate)?;
            let (Some(peephole), Some((at, cell))) = (fixed.peephole, of) else {
                return Ok(own);
            };
            let weights = self.gate(e, peephole, at)?;
            let seen = e.apply(ScalarFn::Mul, &[weights, cell])?;
            e.apply(ScalarFn::Add, &[own, seen])
        };
        let input = sum(e, 0, Some((0, c)))?;
        let input = self.activate(e, 0, input)?;
        let forget = if self.couples {
            let one = e.number(e.dtype(h), 1.0);
            e.apply(ScalarFn::Sub, &[one, input])?
        } else {
            let forget = sum(e, 2, Some((2, c)))?;
            self.activate(e, 0, forget)?
        };
        let new = sum(e, 3, None)?;
        let new = self.activate(e, 1, new)?;
        let kept = e.apply(ScalarFn::Mul, &[forget, c])?;
        let taken = e.apply(ScalarFn::Mul, &[input, new])?;
        let cell = e.apply(ScalarFn::Add, &[kept, taken])?;
        let output = sum(e, 1, Some((1, cell)))?;
        let output = self.activate(e, 0, output)?;
        let shown = self.activations[2].apply(e, cell)?;
        Ok(vec![e.apply(ScalarFn::Mul, &[output, shown])?, cell])
    }
}
