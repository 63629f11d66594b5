//! Recurrent layers.
//!
//! Every step is computed in `f32`. Each sum is one chain of fused multiply-adds that starts with the bias and runs
//! over the input, then over the hidden state. Results are rounded once, at the end.

use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::scalar::math::{exp_f32, tanh_f32};
use mind_ir::tensor::Tensor;

use super::kernel::{operand, optional, rounded, singles};
use crate::call::Call;

/// The weights of one direction.
struct Weights {
    input: Vec<f32>,
    hidden: Vec<f32>,
    bias: Option<Vec<f32>>,
    input_bias: Option<Vec<f32>>,
    peephole: Option<Vec<f32>>,
}

/// The extents of a layer: `steps` of `batch` rows of `inputs`.
#[derive(Clone, Copy)]
struct Extents {
    steps: usize,
    batch: usize,
    inputs: usize,
    hidden: usize,
}

fn misfit(what: &str) -> EvalError {
    EvalError::Shape(format!("`{what}` does not fit the layer"))
}

/// Returns the weights of a direction, whose arguments end with `end`.
fn weights(
    call: &Call<'_>,
    operands: &[&Tensor],
    end: &str,
    gates: usize,
    extents: Extents,
) -> Result<Weights, EvalError> {
    let list = |name: &str, count: usize| -> Result<Option<Vec<f32>>, EvalError> {
        match optional(call, operands, &format!("{name}{end}")) {
            Some(tensor) if tensor.count() == count => Ok(Some(singles(tensor))),
            Some(_) => Err(misfit(name)),
            None => Ok(None),
        }
    };
    let rows = gates * extents.hidden;
    let input = list("weight_ih", rows * extents.inputs)?;
    let hidden = list("weight_hh", rows * extents.hidden)?;
    Ok(Weights {
        input: input.ok_or_else(|| misfit("weight_ih"))?,
        hidden: hidden.ok_or_else(|| misfit("weight_hh"))?,
        bias: list("bias", rows)?,
        input_bias: if end.is_empty() {
            list("input_bias", rows)?
        } else {
            None
        },
        peephole: list("peephole", 3 * extents.hidden)?,
    })
}

/// Returns the activation called `word`.
fn activation(word: &str, default: &'static str) -> Result<fn(f32) -> f32, EvalError> {
    let word = if word.is_empty() { default } else { word };
    Ok(match word {
        "sigmoid" => mind_ir::scalar::math::sigmoid_f32,
        "tanh" => tanh_f32,
        "relu" => |x| if x > 0.0 { x } else { 0.0 },
        "linear" => |x| x,
        "softsign" => |x| x / (1.0 + x.abs()),
        "sigmoid_hard" => |x| (0.2f32.mul_add(x, 0.5)).clamp(0.0, 1.0),
        "relu6" => |x| x.clamp(0.0, 6.0),
        "scaled_tanh" => |x| 1.7159 * tanh_f32(0.666_666_7 * x),
        "elu" => |x| if x > 0.0 { x } else { exp_f32(x) - 1.0 },
        _ => {
            return Err(EvalError::NotEvaluable(
                "a recurrent layer of this activation",
            ));
        }
    })
}

/// Returns `start` plus the product of a row of weights and `input`, as one chain of fused multiply-adds.
fn chain(start: f32, weights: &[f32], row: usize, input: &[f32]) -> f32 {
    let factors = &weights[row * input.len()..][..input.len()];
    let pairs = factors.iter().zip(input);
    pairs.fold(start, |sum, (factor, own)| factor.mul_add(*own, sum))
}

impl Weights {
    fn bias(&self, row: usize) -> f32 {
        self.bias.as_ref().map_or(0.0, |list| list[row])
    }

    /// Returns the pre-activation of a gate for one unit of one row.
    fn sum(&self, row: usize, x: &[f32], h: &[f32]) -> f32 {
        chain(
            chain(self.bias(row), &self.input, row, x),
            &self.hidden,
            row,
            h,
        )
    }

    fn peephole(&self, at: usize) -> f32 {
        self.peephole.as_ref().map_or(0.0, |list| list[at])
    }
}

/// The hidden state of one row, and its cell state if the layer has one.
type State = (Vec<f32>, Vec<f32>);

/// Runs `step` over a sequence, from its end if `backwards`. Returns the hidden state of every step, in sequence order,
/// and the last states of every row.
fn unrolled(
    extents: Extents,
    x: &[f32],
    mut states: Vec<State>,
    backwards: bool,
    step: impl Fn(&[f32], &State) -> State,
) -> (Vec<Vec<f32>>, Vec<State>) {
    let mut all = vec![Vec::new(); extents.steps * extents.batch];
    for at in 0..extents.steps {
        let at = if backwards {
            extents.steps - 1 - at
        } else {
            at
        };
        for (row, state) in states.iter_mut().enumerate() {
            let start = (at * extents.batch + row) * extents.inputs;
            *state = step(&x[start..start + extents.inputs], state);
            all[at * extents.batch + row] = state.0.clone();
        }
    }
    (all, states)
}

/// `lstm`, `gru` and `rnn`: the hidden states, the last of them, and for `lstm` the last cell state.
pub(crate) fn layer(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let (x, initial) = (
        operand(call, operands, "x"),
        operand(call, operands, "initial_h"),
    );
    let &[steps, batch, inputs] = x.shape() else {
        return Err(misfit("x"));
    };
    let directions: &[(&str, bool)] = match call.word("direction") {
        "" | "forward" => &[("", false)],
        "reverse" => &[("", true)],
        "bidirectional" if call.name == "lstm" => &[("", false), ("_back", true)],
        _ => {
            return Err(EvalError::NotEvaluable(
                "a recurrent layer of this direction",
            ));
        }
    };
    let whole = initial.shape().last().copied().unwrap_or(0);
    let hidden = whole / directions.len();
    let extents = Extents {
        steps,
        batch,
        inputs,
        hidden,
    };
    let cells = optional(call, operands, "initial_c").map(singles);
    if initial.shape() != [batch, whole] || hidden == 0 || steps == 0 {
        return Err(misfit("initial_h"));
    }
    if cells
        .as_ref()
        .is_some_and(|cells| cells.len() != batch * whole)
    {
        return Err(misfit("initial_c"));
    }
    cx.count(x.dtype(), &[steps, batch, whole])?;
    let (elements, initial) = (singles(x), singles(initial));
    let mut results = Vec::new();
    for (at, &(end, backwards)) in directions.iter().enumerate() {
        let own = |list: &[f32], row: usize| list[row * whole + at * hidden..][..hidden].to_vec();
        let states: Vec<State> = (0..batch)
            .map(|row| {
                (
                    own(&initial, row),
                    cells.as_ref().map_or(Vec::new(), |list| own(list, row)),
                )
            })
            .collect();
        let step = step(call, operands, end, extents)?;
        results.push(unrolled(extents, &elements, states, backwards, step));
    }
    let joined = |pick: &dyn Fn(usize) -> Vec<f32>| -> Vec<f32> {
        (0..directions.len()).flat_map(pick).collect()
    };
    let every: Vec<f32> = (0..steps * batch)
        .flat_map(|row| joined(&|own| results[own].0[row].clone()))
        .collect();
    let last: Vec<f32> = (0..batch)
        .flat_map(|row| joined(&|own| results[own].1[row].0.clone()))
        .collect();
    let output = if call.flag("output_sequence") {
        rounded(x, vec![steps, batch, whole], &every)
    } else {
        rounded(x, vec![1, batch, whole], &last)
    };
    let mut tensors = vec![output, rounded(x, vec![batch, whole], &last)];
    if call.name == "lstm" {
        let cells = (0..batch).flat_map(|row| joined(&|own| results[own].1[row].1.clone()));
        tensors.push(rounded(x, vec![batch, whole], &cells.collect::<Vec<f32>>()));
    }
    Ok(tensors.into_iter().collect())
}

type Step = Box<dyn Fn(&[f32], &State) -> State>;

/// One step of the layer's cell on one row.
fn step(
    call: &Call<'_>,
    operands: &[&Tensor],
    end: &str,
    extents: Extents,
) -> Result<Step, EvalError> {
    let units = extents.hidden;
    let outer = activation(call.word("activation"), "tanh")?;
    if call.name == "rnn" {
        let own = weights(call, operands, end, 1, extents)?;
        return Ok(Box::new(move |x, (h, _)| {
            let hidden = (0..units).map(|unit| outer(own.sum(unit, x, h)));
            (hidden.collect(), Vec::new())
        }));
    }
    let gate = activation(call.word("recurrent_activation"), "sigmoid")?;
    if call.name == "gru" {
        let own = weights(call, operands, end, 3, extents)?;
        let after = call.flag("reset_after");
        return Ok(Box::new(move |x, (h, _)| {
            let reset: Vec<f32> = (0..units).map(|unit| gate(own.sum(unit, x, h))).collect();
            let scaled: Vec<f32> = reset.iter().zip(h).map(|(r, h)| r * h).collect();
            let hidden = (0..units).map(|unit| {
                let row = units + unit;
                let update = gate(own.sum(2 * units + unit, x, h));
                let inside = own.input_bias.as_ref().map_or(0.0, |list| list[row]);
                let new = if after {
                    let past = chain(own.bias(row), &own.hidden, row, h);
                    reset[unit].mul_add(past, chain(inside, &own.input, row, x))
                } else {
                    own.sum(row, x, &scaled)
                };
                let kept = update * h[unit];
                (1.0 - update).mul_add(outer(new), kept)
            });
            (hidden.collect(), Vec::new())
        }));
    }
    let inner = activation(call.word("cell_activation"), "tanh")?;
    let clip = call.float("clip").map(|clip| clip as f32);
    let own = weights(call, operands, end, 4, extents)?;
    Ok(Box::new(move |x, (h, c)| {
        let (mut hidden, mut cell) = (Vec::with_capacity(units), Vec::with_capacity(units));
        let bounded = |sum: f32| clip.map_or(sum, |clip| sum.max(-clip).min(clip));
        for (unit, &past) in c.iter().enumerate().take(units) {
            let sum = |at: usize, look: f32| bounded(own.sum(at * units + unit, x, h) + look);
            let look = |at: usize, cell: f32| own.peephole(at * units + unit) * cell;
            let keep = gate(sum(1, look(1, past)));
            let take = gate(sum(0, look(0, past)));
            let new = take.mul_add(inner(sum(3, 0.0)), keep * past);
            cell.push(new);
            hidden.push(gate(sum(2, look(2, new))) * outer(new));
        }
        (hidden, cell)
    }))
}
