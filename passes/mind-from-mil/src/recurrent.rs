//! Imports recurrent layers as scans, with the input projection of all steps computed beforehand.

use mind_convert::{EmitCore, Refusal, RegionOp};
use mind_core::ops::contract::MatMul;
use mind_core::ops::control::Scan;
use mind_ir::opdef::Op;
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::call::floats;
use rustc_hash::FxHashMap;

use mind_mil::recurrence::Recurrence;

use crate::cell::Cell;
use crate::emit::{Emit, Many, One};

/// The weights of one direction, in `f32`.
struct Weights {
    /// The input weights, `[inputs, gates * units]`.
    input: ValueId,
    /// The bias of the input projection, one number per gate and unit.
    bias: Option<ValueId>,
    /// Values that each step reads: recurrent weights, and the peephole weights or the bias of the reset product.
    fixed: Vec<ValueId>,
}

/// A matrix or vector of `f32`.
struct Matrix {
    rows: usize,
    numbers: Vec<f32>,
}

impl Matrix {
    fn of(e: &Emit<'_>, op: OpId, name: &str) -> Result<Option<Matrix>, Refusal> {
        if e.call(op)?.value(name).is_none() {
            return Ok(None);
        }
        let tensor = e.known(op, name)?;
        let rows = tensor.shape().first().copied().unwrap_or(1).max(1);
        let numbers = floats(&tensor).into_iter().map(|own| own as f32).collect();
        Ok(Some(Matrix { rows, numbers }))
    }

    /// Returns the rows of the gates in `order`, `units` rows each, transposed to columns.
    fn columns(&self, e: &mut Emit<'_>, order: &[usize], units: usize) -> ValueId {
        let inner = self.numbers.len() / self.rows;
        let rows: Vec<usize> = order
            .iter()
            .flat_map(|gate| gate * units..(gate + 1) * units)
            .collect();
        let numbers = (0..inner).flat_map(|at| rows.iter().map(move |row| row * inner + at));
        let numbers = numbers.map(|at| self.numbers[at]).collect();
        e.tensor(&Tensor::of(vec![inner, rows.len()], numbers))
    }

    /// Returns the numbers of the gates in `order`, `units` numbers each.
    fn list(&self, e: &mut Emit<'_>, order: &[usize], units: usize) -> ValueId {
        let own = order
            .iter()
            .flat_map(|gate| &self.numbers[gate * units..(gate + 1) * units]);
        let own: Vec<f32> = own.copied().collect();
        e.tensor(&Tensor::of(vec![own.len()], own))
    }
}

impl Weights {
    /// Returns the weights of the direction whose arguments have the suffix `end`.
    fn of(op: OpId, e: &mut Emit<'_>, end: &str, cell: &Cell) -> Result<Weights, Refusal> {
        let matrix = |e: &Emit<'_>, name: &str| Matrix::of(e, op, &format!("{name}{end}"));
        let weight = |e: &Emit<'_>, name: &str| {
            let missing = || Refusal::missing(format!("`{name}{end}`"));
            matrix(e, name)?.ok_or_else(missing)
        };
        let (input, hidden) = (weight(e, "weight_ih")?, weight(e, "weight_hh")?);
        let bias = matrix(e, "bias")?;
        let units = cell.units;
        let gates = cell.kind.gates();
        let all: Vec<usize> = (0..gates).collect();
        let counts = [input.rows, hidden.rows];
        let sizes = [input.numbers.len(), hidden.numbers.len()];
        let wanted = [gates * units * cell.inputs, gates * units * units];
        let fits = |matrix: &Option<Matrix>, count: usize| {
            matrix.as_ref().is_none_or(|own| own.numbers.len() == count)
        };
        if counts != [gates * units; 2] || sizes != wanted || !fits(&bias, gates * units) {
            return Err(Refusal::no_counterpart("a weight does not fit the layer"));
        }
        let mut fixed = Vec::new();
        let mut inside = bias.as_ref().map(|bias| bias.list(e, &all, units));
        match cell.kind {
            Recurrence::Rnn | Recurrence::Lstm => fixed.push(hidden.columns(e, &all, units)),
            Recurrence::Gru => {
                fixed.push(hidden.columns(e, &[0, 2], units));
                fixed.push(hidden.columns(e, &[1], units));
            }
        }
        if cell.resets_after {
            // The bias of the reset gate's product belongs to the step, and `input_bias` takes its position in the
            // input projection.
            let zeros = || Matrix {
                rows: 1,
                numbers: vec![0.0; gates * units],
            };
            let mut past = bias.unwrap_or_else(zeros);
            fixed.push(past.list(e, &[1], units));
            let own = matrix(e, "input_bias")?.unwrap_or_else(zeros);
            if own.numbers.len() != gates * units {
                let (found, wanted) = (own.numbers.len(), gates * units);
                let reason = "1 for each unit of each gate";
                return Err(Refusal::length("input_bias", found, wanted, reason));
            }
            past.numbers[units..2 * units].copy_from_slice(&own.numbers[units..2 * units]);
            inside = Some(past.list(e, &all, units));
        }
        if let Some(peephole) = matrix(e, "peephole")? {
            if peephole.numbers.len() != 3 * units {
                let (found, reason) = (peephole.numbers.len(), "3 for each unit");
                return Err(Refusal::length("peephole", found, 3 * units, reason));
            }
            fixed.push(peephole.list(e, &[0, 1, 2], units));
        }
        Ok(Weights {
            input: input.columns(e, &all, units),
            bias: inside,
            fixed,
        })
    }

    /// Returns the input projection of all steps.
    fn sums(&self, e: &mut Emit<'_>, x: ValueId) -> One {
        let product = MatMul::build(&mut e.b, x, self.input)?;
        match self.bias {
            Some(bias) => e.add(product, bias),
            None => Ok(product),
        }
    }
}

/// Imports `lstm`, `gru` or `rnn`.
pub(crate) fn layer(op: OpId, e: &mut Emit<'_>) -> Many {
    let call = e.call(op)?;
    let every = call.flag("output_sequence");
    let directions: &[(&str, bool)] = match call.word("direction") {
        "reverse" => &[("", true)],
        "bidirectional" => &[("", false), ("_back", true)],
        _ => &[("", false)],
    };
    let x = e.argument(op, "x")?;
    let dtype = e.dtype(e.float(x)?);
    let x = e.convert(x, DType::F32)?;
    let mut states = Vec::new();
    for name in ["initial_h", "initial_c"] {
        if let Some(initial) = e.optional(op, name)? {
            states.push(e.convert(initial, DType::F32)?);
        }
    }
    let &[_, batch, inputs] = &e.shape(x)?[..] else {
        return Err(Refusal::rank("x", e.g().type_text(x), 3));
    };
    let first = states.first().copied();
    let whole = e.shape(first.ok_or_else(|| Refusal::missing("initial_h"))?)?;
    let units = whole.get(1).copied().unwrap_or(0) / directions.len() as i64;
    for &state in &states {
        if e.shape(state)? != [batch, units * directions.len() as i64] || units == 0 {
            return Err(Refusal::no_counterpart("a state does not fit the layer"));
        }
    }
    let mut cell = Cell::of(&e.call(op)?, [inputs, units])?;
    let mut found: Vec<Vec<ValueId>> = Vec::new();
    for (at, &(end, backwards)) in directions.iter().enumerate() {
        cell.looks = e.call(op)?.value(&format!("peephole{end}")).is_some();
        let weights = Weights::of(op, e, end, &cell)?;
        let sums = weights.sums(e, x)?;
        let mut initial = Vec::new();
        for &state in &states {
            let start = at as i64 * units;
            initial.push(e.part(state, 1, start, start + units)?);
        }
        found.push(scan(e, &cell, &initial, sums, &weights.fixed, backwards)?);
    }
    let count = states.len();
    let mut results = Vec::new();
    for at in 0..=count {
        let own: Vec<ValueId> = found.iter().map(|values| values[at]).collect();
        results.push(e.concat(&own, if at == count { 2 } else { 1 })?);
    }
    let sequence = results.pop().ok_or_else(|| Refusal::missing("initial_h"))?;
    let output = if every {
        sequence
    } else {
        let shape = [&[1], &e.shape(results[0])?[..]].concat();
        e.reshape_to(results[0], &shape)?
    };
    results.insert(0, output);
    results
        .into_iter()
        .map(|result| e.convert(result, dtype))
        .collect()
}

/// Returns the last states, followed by the hidden states of all steps.
fn scan(
    e: &mut Emit<'_>,
    cell: &Cell,
    initial: &[ValueId],
    sums: ValueId,
    fixed: &[ValueId],
    backwards: bool,
) -> Many {
    let carried = initial.len();
    let direction: &[i64] = if backwards { &[1] } else { &[] };
    let attrs = Scan::attrs(carried as i64, 1, &[], &[], direction, direction);
    let operands = [initial, &[sums], fixed].concat();
    let op = RegionOp {
        def: Scan::DEF,
        attrs: &attrs,
        operands: &operands,
        results: carried + 1,
    };
    op.create(&mut e.b, |_, b, arguments| {
        let mut constants = FxHashMap::default();
        let mut e = Emit {
            b: b.reborrow(),
            constants: &mut constants,
        };
        let (states, rest) = arguments.split_at(carried);
        let mut next = cell.step(&mut e, states, rest[0], &rest[1..])?;
        next.push(next[0]);
        Ok(next)
    })
}
