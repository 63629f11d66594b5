//! Inlines control flow with a known trip count or predicate.

use mind_core::ops::control::{If, Scan, block, steps, yields};
use mind_core::ops::index::Slice;
use mind_core::ops::join::Concat;
use mind_core::ops::shape::{ExpandDims, Squeeze};
use mind_ir::attr::OPEN_END;
use mind_ir::builder::Builder;
use mind_ir::eval::{DimEnv, EvalCx};
use mind_ir::graph::Graph;
use mind_ir::opdef::{Op, Trait};
use mind_ir::types::Dim;
use mind_ir::verify::VerifyError;
use mind_ir::{OpId, ValueId};
use mind_pass::{Changed, OptionInfo, OptionKind, Pass, PassCx, PassError, PassInfo};

pub(crate) const PASS: PassInfo = PassInfo {
    name: "unroll",
    alias: None,
    summary: "Inlines the region of an `If` with a constant predicate, and the steps of a `Scan` with a small trip \
              count",
    example: "--unroll=steps=4",
    options: &[OptionInfo {
        name: "steps",
        kind: OptionKind::Count,
        default: "8",
        summary: "the maximum trip count of a `Scan` that is unrolled",
    }],
    enters_regions: true,
    make: |options| {
        Box::new(Unroll {
            steps: options.count("steps"),
        })
    },
};

struct Unroll {
    steps: usize,
}

impl Pass for Unroll {
    fn run(&self, g: &mut Graph, cx: &mut PassCx<'_>) -> Result<Changed, PassError> {
        let mut unrolled = 0;
        let ops: Vec<OpId> = g.ops(g.body()).collect();
        for op in ops {
            let results = if let Some(branch) = g.view::<If>(op) {
                chosen(g, branch)
            } else if let Some(scan) = g.view::<Scan>(op) {
                self.steps(g, scan)
            } else {
                continue;
            };
            let results =
                results.map_err(|why| PassError::Rejected(Box::new(why.at(g.span(op)))))?;
            if let Some(results) = results {
                replace(g, op, &results);
                unrolled += 1;
            }
        }
        cx.statistics.add("unrolled", unrolled);
        Ok(Changed::when(unrolled > 0))
    }
}

/// The replacements of the results of an op; `None` if it is unchanged.
type Unrolled = Result<Option<Vec<ValueId>>, Box<VerifyError>>;

/// Inlines the region of a branch with a constant predicate.
fn chosen(g: &mut Graph, branch: If) -> Unrolled {
    let Some(predicate) = truth(g, branch.predicate(g)) else {
        return Ok(None);
    };
    let inputs = branch.inputs(g).to_vec();
    let region = usize::from(!predicate);
    let yielded = yields(g, branch.id(), region).iter();
    let same = |(result, value): (ValueId, &ValueId)| g.type_id(result) == g.type_id(*value);
    // Users keep the types of their operands.
    if !g.results(branch.id()).into_iter().zip(yielded).all(same) {
        return Ok(None);
    }
    Ok(Some(in_line(g, branch.id(), region, &inputs)))
}

/// Returns the value of a constant boolean.
fn truth(g: &Graph, value: ValueId) -> Option<bool> {
    let op = g.defining_op(value)?;
    let eval = g.def(op).eval.filter(|_| g.def(op).has(Trait::Constant))?;
    let dims = DimEnv::default();
    let results = eval(op, &EvalCx::run(g, &dims), &[]).ok()?;
    Some(results[0].elements::<bool>() == [true])
}

/// Copies the ops of a region before its op, with `inputs` as arguments. Returns the copies of the yielded values.
fn in_line(g: &mut Graph, op: OpId, region: usize, inputs: &[ValueId]) -> Vec<ValueId> {
    let body = block(g, op, region);
    let arguments = g.arguments(body).into_iter().zip(inputs.iter().copied());
    Builder::before(g, op).copy_block(body, arguments.collect())
}

impl Unroll {
    /// Inlines the steps of a scan, one after the other.
    fn steps(&self, g: &mut Graph, scan: Scan) -> Unrolled {
        let op = scan.id();
        let Dim::Fixed(count @ 1..) = steps(scan, g)? else {
            return Ok(None);
        };
        let outputs = scan.output_axes(g);
        let open = |value: ValueId| g.ty(value).shape.contains(&Dim::Dynamic);
        if count as u64 > self.steps as u64 || g.results(op).into_iter().any(open) {
            return Ok(None);
        }
        let mut carried = scan.initial(g).to_vec();
        let (inputs, axes) = (scan.inputs(g).to_vec(), scan.input_axes(g));
        let fixed = scan.fixed(g).to_vec();
        let place = |step: i64, is_reversed: bool| match is_reversed {
            true => count - 1 - step,
            false => step,
        };
        let mut stacks: Vec<Vec<ValueId>> = vec![Vec::new(); outputs.len()];
        for step in 0..count {
            let mut arguments = carried.clone();
            for (at, (&input, &axis)) in inputs.iter().zip(&axes).enumerate() {
                let place = place(step, scan.is_input_reversed(g, at));
                arguments.push(slice(&mut Builder::before(g, op), input, axis, place)?);
            }
            arguments.extend(&fixed);
            let yielded = in_line(g, op, 0, &arguments);
            let (next, rows) = yielded.split_at(carried.len());
            for ((stack, &row), &axis) in stacks.iter_mut().zip(rows).zip(&outputs) {
                let row =
                    ExpandDims::with(&[axis as i64]).build(&mut Builder::before(g, op), row)?;
                stack.push(row);
            }
            carried = next.to_vec();
        }
        for (at, (mut stack, axis)) in stacks.into_iter().zip(outputs).enumerate() {
            if scan.is_output_reversed(g, at) {
                stack.reverse();
            }
            carried.push(match stack[..] {
                [only] => only,
                _ => Concat::with(axis as i64).build(&mut Builder::before(g, op), &stack)?,
            });
        }
        Ok(Some(carried))
    }
}

/// Returns the slice of `input` at a position along an axis, without the axis.
fn slice(
    b: &mut Builder<'_>,
    input: ValueId,
    axis: usize,
    place: i64,
) -> Result<ValueId, Box<VerifyError>> {
    let rank = b.graph.ty(input).rank();
    let (mut starts, mut ends) = (vec![0; rank], vec![OPEN_END; rank]);
    (starts[axis], ends[axis]) = (place, place + 1);
    let slice = Slice::with(&starts, &ends, &vec![1; rank]).build(b, input)?;
    Squeeze::with(&[axis as i64]).build(b, slice)
}

/// Replaces the uses of the results of `op` by other values, and erases it.
fn replace(g: &mut Graph, op: OpId, values: &[ValueId]) {
    let results: Vec<ValueId> = g.results(op).into_iter().collect();
    for (result, &value) in results.into_iter().zip(values) {
        g.replace_all_uses(result, value);
    }
    g.erase(op);
}
