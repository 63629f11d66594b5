//! The conversion driver: the walk over a module.

use mind_core::ops::input::Input;
use mind_diag::{Code, Diagnostic};
use mind_ir::builder::Builder;
use mind_ir::opdef::Trait;
use mind_ir::types::Dim;
use mind_ir::{Graph, OpId, ValueId};
use mind_loops::extents::known;
use mind_tensor::ops::group::Group;
use rustc_hash::FxHashMap;

use crate::emit::Emitter;
use crate::kernel::Kernel;
use crate::lowering::{LoopLowering, Problem, Unlowered, ValueViews};
use crate::options::Options;
use crate::plan;
use crate::strided::{Source, StridedView};

/// Lowers a verified module of the tensor dialect and returns the number of its kernels. Inputs and constants are kept.
///
/// # Errors
///
/// An extent that is not known, an op of another dialect, an index out of bounds. The module is then in an unspecified
/// state.
pub(crate) fn lower(g: &mut Graph, options: &Options) -> Result<usize, Box<Diagnostic>> {
    check_extents(g)?;
    let mut views = ValueViews::default();
    let (body, mut kernels) = (g.body(), 0);
    let ops: Vec<OpId> = g.ops(body).collect();
    for &op in &ops {
        if g.def(op).has(Trait::Terminator) {
            let outputs: Vec<ValueId> = g.operands(op).to_vec();
            let values = outputs_of(g, op, &outputs, &views, options)?;
            g.set_operands(op, &values);
        } else if g.def(op).has(Trait::Constant) || g.is::<Input>(op) {
            let result = g.result(op);
            let view = StridedView::whole(Source::Value(result), known(g, result));
            views.insert(result, view);
        } else {
            kernels += lower_op(g, op, &mut views, options)?;
        }
    }
    for &op in ops.iter().rev() {
        let constant = g.def(op).has(Trait::Constant);
        let unread = || {
            g.results(op)
                .into_iter()
                .all(|value| g.uses(value).is_empty())
        };
        if !g.def(op).has(Trait::Terminator) && !g.is::<Input>(op) && (!constant || unread()) {
            g.erase(op);
        }
    }
    plan::plan(g);
    Ok(kernels)
}

/// Checks that all extents are known.
///
/// # Errors
///
/// The first value with an extent that is not known.
fn check_extents(g: &Graph) -> Result<(), Box<Diagnostic>> {
    for op in g.ops(g.body()) {
        for value in g.results(op) {
            let open = g
                .ty(value)
                .shape
                .iter()
                .find(|dim| !matches!(dim, Dim::Fixed(_)));
            if let Some(dim) = open {
                let name = dim.display(g.symbols()).to_string();
                let text = format!(
                    "`{}` has an extent that is not known: {name}",
                    g.def(op).name
                );
                let mut found = Diagnostic::error(g.span(op), text);
                found.code = Some(Code(3011));
                let help = match dim {
                    // The extents of the operands were checked before, so that this one depends on data.
                    Dim::Dynamic if !g.is::<Input>(op) => {
                        "it depends on the elements of the operands: loops and C need known extents; `mind-run` compiles \
                         such a module in parts"
                            .to_owned()
                    }
                    Dim::Dynamic | Dim::Symbol(_) | Dim::Fixed(_) => format!(
                        "loops need known extents: run `specialize` first, as in \
                         `--pass-pipeline='specialize{{dims={name}:32}},lower-to-loops'`; `mind-translate --to c` takes \
                         `--dim {name}=32`"
                    ),
                };
                return Err(Box::new(found.help(help)));
            }
        }
    }
    Ok(())
}

/// Lowers an op or a group and returns the number of its kernels.
fn lower_op(
    g: &mut Graph,
    op: OpId,
    views: &mut ValueViews,
    options: &Options,
) -> Result<usize, Box<Diagnostic>> {
    if let Some(group) = g.view::<Group>(op) {
        inline_groups(g, group);
    }
    let mut lowering = LoopLowering::default();
    for &operand in g.operands(op) {
        lowering.views.insert(operand, views[&operand].clone());
    }
    lowering
        .lower(g, &[op])
        .map_err(|why| Box::new(explain(g, &why)))?;
    let results: Vec<ValueId> = g.results(op).into_iter().collect();
    let read = results
        .iter()
        .filter_map(|&value| Some((value, lowering.views.get(&value)?.clone())));
    let mut yielded: Vec<(ValueId, StridedView)> = read.collect();
    hoist_constants(g, op, &mut lowering, &mut yielded);
    let mut emitter = Emitter::new(Builder::before(g, op), options);
    for kernel in &lowering.kernels {
        let emitted = emitter.kernel(kernel);
        emitted.map_err(|why| fault(&emitter, op, &why))?;
    }
    for (_, view) in &mut yielded {
        view.source = Source::Value(emitter.source(view.source));
    }
    views.extend(yielded);
    Ok(lowering.kernels.len())
}

/// Inlines the groups in the body of a group.
fn inline_groups(g: &mut Graph, group: Group) {
    let mut next = g.ops(group.body(g)).next();
    while let Some(op) = next {
        next = g.next(op);
        if g.is::<Group>(op) {
            let (ops, _) = g.inline(op);
            next = ops.first().copied().or(next);
        }
    }
}

fn fault(
    emitter: &Emitter<'_, '_>,
    op: OpId,
    why: &mind_ir::verify::VerifyError,
) -> Box<Diagnostic> {
    let g = emitter.graph();
    let mut found = why.at(g.span(op));
    found.message = format!("lowering `{}` failed: {}", g.def(op).name, found.message);
    Box::new(found)
}

fn explain(g: &Graph, why: &Unlowered) -> Diagnostic {
    let (name, span) = (g.def(why.op).name, g.span(why.op));
    match why.problem {
        Problem::Foreign => {
            let found = Diagnostic::error(span, format!("`{name}` cannot be lowered to loops"));
            found.help(
                "`lower-to-loops` accepts the tensor dialect; lower core ops with `lower-to-tensor` first",
            )
        }
        Problem::Outside {
            axis,
            index,
            extent,
        } => {
            let text =
                format!("index {index} is outside axis {axis} of extent {extent} in `{name}`");
            let mut found = Diagnostic::error(span, text);
            found.code = Some(Code(6001));
            found
        }
    }
}

/// Copies the constants in the body of a group that are read to a point before the group.
fn hoist_constants(
    g: &mut Graph,
    group: OpId,
    lowering: &mut LoopLowering,
    yielded: &mut [(ValueId, StridedView)],
) {
    let body = g.body();
    let mut copies: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    let read = lowering.kernels.iter_mut().flat_map(Kernel::views_mut);
    for view in read.chain(yielded.iter_mut().map(|(_, view)| view)) {
        let Source::Value(value) = &mut view.source else {
            continue;
        };
        let inside = g
            .defining_op(*value)
            .filter(|&op| g.parent(op) != Some(body));
        if let Some(op) = inside {
            *value = *copies.entry(*value).or_insert_with(|| {
                let copy = Builder::before(g, group).copy(op, &[]);
                g.result(copy)
            });
        }
    }
}

/// Returns the outputs of the module, each of which becomes a complete result of one kernel. Others are copied, because
/// kernels write outputs directly to buffers of the caller.
fn outputs_of(
    g: &mut Graph,
    end: OpId,
    outputs: &[ValueId],
    views: &ValueViews,
    options: &Options,
) -> Result<Vec<ValueId>, Box<Diagnostic>> {
    let mut known: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    let mut values = Vec::with_capacity(outputs.len());
    for output in outputs {
        if let Some(&value) = known.get(output) {
            values.push(value);
            continue;
        }
        let view = views[output].clone();
        let declared = g.declared(*output);
        let mut emitter = Emitter::new(Builder::before(g, end), options);
        let source = emitter.source(view.source);
        let graph = emitter.graph();
        let own = graph
            .defining_op(source)
            .is_some_and(|op| mind_loops::memory::is_kernel(graph, op));
        let whole = view.is_dense() && graph.ty(source).count() == Some(view.count() as i64);
        let view = if own && whole {
            view
        } else {
            let copied = emitter.copy(&view, end);
            copied.map_err(|why| fault(&emitter, end, &why))?
        };
        let value = emitter.value(&view);
        known.insert(*output, value);
        g.swap_labels(*output, value);
        if let Some(declared) = declared {
            g.declare(value, declared);
        }
        values.push(value);
    }
    Ok(values)
}
