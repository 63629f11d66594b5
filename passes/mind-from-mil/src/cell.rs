//! One step of a recurrent layer.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::compare::{Compare, Direction, Select};
use mind_core::ops::contract::MatMul;
use mind_core::ops::elementwise::{Abs, Sigmoid};
use mind_core::ops::power::Expm1;
use mind_ir::ValueId;
use mind_ir::types::DType;
use mind_mil::call::Call;
use mind_mil::recurrence::Recurrence;

use crate::emit::{Emit, Many, One};

/// The computation of a recurrent layer in one step.
#[derive(Debug)]
pub(crate) struct Cell {
    pub(crate) kind: Recurrence,
    /// The number of input features of a step, and of units of a state.
    pub(crate) inputs: usize,
    pub(crate) units: usize,
    /// Whether the gates have peephole connections to the cell state.
    pub(crate) looks: bool,
    /// Whether the reset gate is applied after the product of the hidden state.
    pub(crate) resets_after: bool,
    clip: Option<f32>,
    /// Gate, cell and output activations.
    words: [String; 3],
}

impl Cell {
    /// Returns the cell of a layer with `inputs` input features and `units` units. The caller sets `looks`.
    ///
    /// # Errors
    ///
    /// If the op is not a recurrent layer.
    pub(crate) fn of(call: &Call<'_>, [inputs, units]: [i64; 2]) -> Result<Cell, Refusal> {
        let word = |name: &str, default: &str| match call.word(name) {
            "" => default.to_owned(),
            word => word.to_owned(),
        };
        let kind = Recurrence::named(call.name);
        let kind = kind.ok_or_else(|| Refusal::no_counterpart("it is not a recurrent layer"))?;
        Ok(Cell {
            kind,
            inputs: inputs as usize,
            units: units as usize,
            looks: false,
            resets_after: kind == Recurrence::Gru && call.flag("reset_after"),
            clip: call.float("clip").map(|clip| clip as f32),
            words: [
                word("recurrent_activation", "sigmoid"),
                word("cell_activation", "tanh"),
                word("activation", "tanh"),
            ],
        })
    }

    /// Returns the states after a step, whose input projection is `inside`. `fixed` has the recurrent weights, followed
    /// by the bias of the reset product or the peephole weights.
    pub(crate) fn step(
        &self,
        e: &mut Emit<'_>,
        states: &[ValueId],
        inside: ValueId,
        fixed: &[ValueId],
    ) -> Many {
        match self.kind {
            Recurrence::Rnn => {
                let past = MatMul::build(&mut e.b, states[0], fixed[0])?;
                let sums = e.add(inside, past)?;
                Ok(vec![activation(e, &self.words[2], sums)?])
            }
            Recurrence::Gru => self.gru(e, states[0], inside, fixed),
            Recurrence::Lstm => self.lstm(e, states, inside, fixed),
        }
    }

    /// Returns gate `at` of a value that concatenates several gates.
    fn gate(&self, e: &mut Emit<'_>, all: ValueId, at: usize) -> One {
        let (axis, units) = (e.rank(all) - 1, self.units as i64);
        e.part(all, axis, at as i64 * units, (at as i64 + 1) * units)
    }

    fn gru(&self, e: &mut Emit<'_>, h: ValueId, inside: ValueId, fixed: &[ValueId]) -> Many {
        let past = MatMul::build(&mut e.b, h, fixed[0])?;
        let mut gates = Vec::new();
        for (from, at) in [(0, 0), (2, 1)] {
            let (own, past) = (self.gate(e, inside, from)?, self.gate(e, past, at)?);
            let sum = e.add(own, past)?;
            gates.push(activation(e, &self.words[0], sum)?);
        }
        let (reset, update) = (gates[0], gates[1]);
        let past = if self.resets_after {
            let past = MatMul::build(&mut e.b, h, fixed[1])?;
            let past = e.add(past, fixed[2])?;
            e.mul(reset, past)?
        } else {
            let scaled = e.mul(reset, h)?;
            MatMul::build(&mut e.b, scaled, fixed[1])?
        };
        let own = self.gate(e, inside, 1)?;
        let sum = e.add(own, past)?;
        let new = activation(e, &self.words[2], sum)?;
        let kept = e.mul(update, h)?;
        let one = e.number(DType::F32, 1.0);
        let rest = e.sub(one, update)?;
        let new = e.mul(rest, new)?;
        Ok(vec![e.add(new, kept)?])
    }

    fn lstm(
        &self,
        e: &mut Emit<'_>,
        states: &[ValueId],
        inside: ValueId,
        fixed: &[ValueId],
    ) -> Many {
        let &[h, c] = states else {
            return Err(Refusal::extent("the number of states", states.len(), 2));
        };
        let past = MatMul::build(&mut e.b, h, fixed[0])?;
        let sums = e.add(inside, past)?;
        let peephole = fixed.get(1).copied().filter(|_| self.looks);
        let [gate, inner, outer] = &self.words;
        let sum = |e: &mut Emit<'_>, at: usize, cell: Option<ValueId>| {
            let own = self.gate(e, sums, at)?;
            let own = match (peephole, cell) {
                (Some(all), Some(cell)) => {
                    let weights = self.gate(e, all, at)?;
                    let look = e.mul(weights, cell)?;
                    e.add(own, look)?
                }
                _ => own,
            };
            self.clipped(e, own)
        };
        let (take, keep) = (sum(e, 0, Some(c))?, sum(e, 1, Some(c))?);
        let (take, keep) = (activation(e, gate, take)?, activation(e, gate, keep)?);
        let new = sum(e, 3, None)?;
        let new = activation(e, inner, new)?;
        let (new, kept) = (e.mul(take, new)?, e.mul(keep, c)?);
        let cell = e.add(new, kept)?;
        let give = sum(e, 2, Some(cell))?;
        let give = activation(e, gate, give)?;
        let shown = activation(e, outer, cell)?;
        Ok(vec![e.mul(give, shown)?, cell])
    }

    fn clipped(&self, e: &mut Emit<'_>, x: ValueId) -> One {
        let Some(clip) = self.clip.map(f64::from) else {
            return Ok(x);
        };
        let [least, most] = [-clip, clip].map(|bound| e.number(DType::F32, bound));
        let x = e.max(x, least)?;
        e.min(x, most)
    }
}

/// The activations of [`activation`].
const ACTIVATIONS: [&str; 9] = [
    "elu",
    "linear",
    "relu",
    "relu6",
    "scaled_tanh",
    "sigmoid",
    "sigmoid_hard",
    "softsign",
    "tanh",
];

/// Emits an activation by its name.
fn activation(e: &mut Emit<'_>, word: &str, x: ValueId) -> One {
    let number = |e: &mut Emit<'_>, number: f32| e.number(DType::F32, f64::from(number));
    match word {
        "sigmoid" => Ok(Sigmoid::build(&mut e.b, x)?),
        "tanh" => e.tanh(x),
        "relu" => e.relu(x),
        "linear" => Ok(x),
        "softsign" => {
            let size = Abs::build(&mut e.b, x)?;
            let below = e.add_n(size, 1.0)?;
            e.div(x, below)
        }
        "sigmoid_hard" => {
            let slope = number(e, 0.2);
            let line = e.mul(x, slope)?;
            let line = e.add_n(line, 0.5)?;
            bounded(e, line, 1.0)
        }
        "relu6" => bounded(e, x, 6.0),
        "scaled_tanh" => {
            let [outer, inner] = [1.7159, 0.666_666_7].map(|own| number(e, own));
            let scaled = e.mul(x, inner)?;
            let shown = e.tanh(scaled)?;
            e.mul(shown, outer)
        }
        "elu" => {
            let zero = e.number(DType::F32, 0.0);
            let is_above = Compare::with(Direction::Gt).build(&mut e.b, x, zero)?;
            let below = Expm1::build(&mut e.b, x)?;
            Ok(Select::build(&mut e.b, is_above, x, below)?)
        }
        other => Err(Refusal::word("activation", other, &ACTIVATIONS)),
    }
}

/// Clips `x` to `0..=most`.
fn bounded(e: &mut Emit<'_>, x: ValueId, most: f64) -> One {
    let [least, most] = [0.0, most].map(|bound| e.number(DType::F32, bound));
    let x = e.max(x, least)?;
    e.min(x, most)
}
