//! Recurrent layers, unrolled.

use mind_core::ops::contract::MatMul;
use mind_core::ops::elementwise::Sigmoid;
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};

use crate::emit::{Emit, Imported};
use crate::refuse::Refused;
use crate::slice::part;

/// The most steps that are unrolled.
const MOST_STEPS: i64 = 128;

type Several = Result<Vec<ValueId>, Box<Refused>>;

/// The weights of one direction, in `f32`, as core's products take them.
struct Weights {
    input: ValueId,
    hidden: ValueId,
    bias: Option<ValueId>,
    peephole: Option<ValueId>,
    units: i64,
}

impl Weights {
    fn of(op: OpId, e: &mut Emit<'_>, end: &str) -> Result<Weights, Box<Refused>> {
        let list = |e: &mut Emit<'_>, name: &str| -> Result<Option<ValueId>, Box<Refused>> {
            let own = e.optional(op, &format!("{name}{end}"))?;
            own.map(|own| e.convert(own, DType::F32)).transpose()
        };
        let left_out = || Refused::new("a weight is left out");
        let input = list(e, "weight_ih")?.ok_or_else(left_out)?;
        let hidden = list(e, "weight_hh")?.ok_or_else(left_out)?;
        let (bias, peephole) = (list(e, "bias")?, list(e, "peephole")?);
        let units = e.shape(hidden)?[1];
        Ok(Weights {
            input: e.flipped(input)?,
            hidden: e.flipped(hidden)?,
            bias,
            peephole,
            units,
        })
    }

    /// Gate `at` of a value that holds all of them.
    fn gate(&self, e: &mut Emit<'_>, all: ValueId, at: i64) -> Imported {
        let axis = e.rank(all) - 1;
        part(e, all, axis, at * self.units, (at + 1) * self.units)
    }

    fn sums(&self, e: &mut Emit<'_>, x: ValueId, h: ValueId) -> Imported {
        let inside = MatMul::build(&mut e.b, x, self.input)?;
        let past = MatMul::build(&mut e.b, h, self.hidden)?;
        let sum = match self.bias {
            Some(bias) => e.add(inside, bias)?,
            None => inside,
        };
        e.add(sum, past)
    }

    /// `sum + peephole * cell` of gate `at`.
    fn look(&self, e: &mut Emit<'_>, sum: ValueId, at: i64, cell: ValueId) -> Imported {
        let Some(all) = self.peephole else {
            return Ok(sum);
        };
        let own = self.gate(e, all, at)?;
        let look = e.mul(own, cell)?;
        e.add(sum, look)
    }
}

fn activation(e: &mut Emit<'_>, word: &str, x: ValueId) -> Imported {
    match word {
        "sigmoid" => Ok(Sigmoid::build(&mut e.b, x)?),
        "tanh" => e.tanh(x),
        "relu" => e.relu(x),
        "linear" => Ok(x),
        other => Err(Refused::new(format!("a recurrent layer of `{other}`"))),
    }
}

/// The results of `lstm`, `gru` or `rnn` over a sequence of a fixed number of steps.
pub(crate) fn layer(op: OpId, e: &mut Emit<'_>) -> Several {
    let call = e.call(op)?;
    let name = call.name;
    let word = |name: &str, default: &str| match call.word(name) {
        "" => default.to_owned(),
        word => word.to_owned(),
    };
    let words = [
        word("recurrent_activation", "sigmoid"),
        word("cell_activation", "tanh"),
        word("activation", "tanh"),
    ];
    let direction = word("direction", "forward");
    let every = call.flag("output_sequence");
    if call.flag("reset_after")
        || call.value("input_bias").is_some()
        || call.value("clip").is_some()
    {
        return Err(Refused::new(
            "a recurrent layer that clips, or resets after the product",
        ));
    }
    let directions: &[(&str, bool)] = match direction.as_str() {
        "reverse" => &[("", true)],
        "bidirectional" => &[("", false), ("_back", true)],
        _ => &[("", false)],
    };
    let x = e.argument(op, "x")?;
    let dtype = e.dtype(e.float(x)?);
    let x = e.convert(x, DType::F32)?;
    let steps = e.shape(x)?[0];
    if steps > MOST_STEPS {
        return Err(Refused::new(format!(
            "{steps} steps are more than {MOST_STEPS}"
        )));
    }
    let (mut outputs, mut lasts) = (Vec::new(), Vec::new());
    for (at, &(end, backwards)) in directions.iter().enumerate() {
        let own = Weights::of(op, e, end)?;
        let mut state = Vec::new();
        for name in ["initial_h", "initial_c"] {
            if let Some(initial) = e.optional(op, name)? {
                let initial = e.convert(initial, DType::F32)?;
                state.push(own.gate(e, initial, at as i64)?);
            }
        }
        let mut sequence = Vec::new();
        for step in 0..steps {
            let step = if backwards { steps - 1 - step } else { step };
            let row = part(e, x, 0, step, step + 1)?;
            let shape = e.shape(x)?[1..].to_vec();
            let row = e.reshape(row, &shape)?;
            state = cell(e, name, &own, &words, row, &state)?;
            sequence.push(state[0]);
        }
        if backwards {
            sequence.reverse();
        }
        outputs.push(sequence);
        lasts.push(state);
    }
    let mut results = Vec::new();
    for at in 0..lasts[0].len() {
        let own: Vec<ValueId> = lasts.iter().map(|state| state[at]).collect();
        results.push(e.concat(&own, 1)?);
    }
    let rows = if every {
        let mut rows = Vec::new();
        for step in 0..steps as usize {
            let own: Vec<ValueId> = outputs.iter().map(|sequence| sequence[step]).collect();
            rows.push(e.concat(&own, 1)?);
        }
        rows
    } else {
        vec![results[0]]
    };
    let mut lifted = Vec::new();
    for row in rows {
        let shape = [&[1], &e.shape(row)?[..]].concat();
        lifted.push(e.reshape(row, &shape)?);
    }
    let output = e.concat(&lifted, 0)?;
    results.insert(0, output);
    results
        .into_iter()
        .map(|result| e.convert(result, dtype))
        .collect()
}

/// One step on all rows: the new hidden state, and the new cell state for those that have one.
fn cell(
    e: &mut Emit<'_>,
    name: &str,
    own: &Weights,
    [gate, inner, outer]: &[String; 3],
    x: ValueId,
    state: &[ValueId],
) -> Several {
    let h = state[0];
    let sums = own.sums(e, x, h)?;
    if name == "rnn" {
        return Ok(vec![activation(e, outer, sums)?]);
    }
    if name == "gru" {
        let [reset, update] = [0, 2].map(|at| own.gate(e, sums, at));
        let (reset, update) = (activation(e, gate, reset?)?, activation(e, gate, update?)?);
        let scaled = e.mul(reset, h)?;
        let sums = own.sums(e, x, scaled)?;
        let new = own.gate(e, sums, 1)?;
        let new = activation(e, outer, new)?;
        let kept = e.mul(update, h)?;
        let one = e.number(DType::F32, 1.0);
        let rest = e.sub(one, update)?;
        let new = e.mul(rest, new)?;
        return Ok(vec![e.add(new, kept)?]);
    }
    let c = state[1];
    let mut gates = Vec::new();
    for at in 0..4 {
        gates.push(own.gate(e, sums, at)?);
    }
    let take = own.look(e, gates[0], 0, c)?;
    let keep = own.look(e, gates[1], 1, c)?;
    let (take, keep) = (activation(e, gate, take)?, activation(e, gate, keep)?);
    let new = activation(e, inner, gates[3])?;
    let (new, kept) = (e.mul(take, new)?, e.mul(keep, c)?);
    let new = e.add(new, kept)?;
    let give = own.look(e, gates[2], 2, new)?;
    let give = activation(e, gate, give)?;
    let shown = activation(e, outer, new)?;
    Ok(vec![e.mul(give, shown)?, new])
}
