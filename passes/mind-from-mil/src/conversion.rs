//! Walks a program and imports each op by a table.

use mind_convert::{EmitCore, Refusal};
use mind_diag::Diagnostics;
use mind_ir::builder::Builder;
use mind_ir::builtin::Yield;
use mind_ir::graph::Graph;
use mind_ir::opdef::{Op, Trait};
use mind_ir::verify::{VerifyConfig, verify};
use mind_ir::{BlockId, OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::check::given_name;
use mind_mil::composition::COMPOSITIONS;
use mind_mil::ops::{self, control as flow, recurrent as rnn, tensor};
use mind_mil::scalar::function_of;
use mind_mil::structure::{Const, Func, Input, program};
use rustc_hash::FxHashMap;

use crate::emit::{Emit, Import, Many};
use crate::refuse::Refusals;
use crate::{
    comparison, compose, constant, contract, control, conv, elementwise, gather, interface,
    movement, normalize, open, place, pool, quantize, recurrent, reduce, regions, runtime_shape,
    slice, sorting, space, suppress, without,
};

/// The imports of ops with one result.
const FAMILIES: [&[(&MilOp, Import)]; 16] = [
    elementwise::ROWS,
    comparison::ROWS,
    reduce::ROWS,
    normalize::ROWS,
    contract::ROWS,
    conv::ROWS,
    pool::ROWS,
    movement::ROWS,
    regions::ROWS,
    runtime_shape::ROWS,
    slice::ROWS,
    sorting::ROWS,
    gather::ROWS,
    place::ROWS,
    space::ROWS,
    quantize::ROWS,
];

/// Returns whether ops of this row are imported. Ops of constants alone are folded instead.
pub fn imports(row: &MilOp) -> bool {
    let mut composed = COMPOSITIONS.iter();
    composed.any(|own| std::ptr::eq(own.op, row))
        || several(row).is_some()
        || conversion(row).is_some()
}

/// The import of an op with several results.
type Several = fn(OpId, &mut Emit<'_>) -> Many;

/// The imports of ops with several results.
const SEVERAL: [(&MilOp, Several); 8] = [
    (&flow::COND, control::cond),
    (&flow::WHILE_LOOP, control::while_loop),
    (&tensor::TOPK, sorting::top_k),
    (&tensor::NON_MAXIMUM_SUPPRESSION, suppress::suppression),
    (&tensor::SPLIT, movement::split),
    (&rnn::GRU, recurrent::layer),
    (&rnn::LSTM, recurrent::layer),
    (&rnn::RNN, recurrent::layer),
];

fn several(row: &MilOp) -> Option<Several> {
    let mut rows = SEVERAL.iter();
    rows.find(|(own, _)| std::ptr::eq(*own, row))
        .map(|&(_, import)| import)
}

fn conversion(row: &MilOp) -> Option<Import> {
    let scalar = function_of(row.name).map(|_| elementwise::scalar as Import);
    scalar.or_else(|| {
        let mut rows = FAMILIES.iter().copied().flatten();
        let own = rows.find(|(own, _)| std::ptr::eq(*own, row));
        own.map(|&(_, import)| import)
    })
}

/// Imports the main function of a verified program to core and tensor ops, and returns the number of imported ops.
/// Other functions are dropped, and a module that is not a program is left unchanged.
///
/// Unknown extents of inputs become symbolic dimensions, unless the module does not verify with them, for example
/// because it adds inputs whose extents are equal only at run time; then they stay unknown. States become inputs and
/// outputs, see [`thread`](mind_mil::state::thread).
///
/// # Errors
///
/// E6003 for each op without an import and each reason. The module must not be used afterwards.
pub fn import(g: &mut Graph) -> Result<usize, Diagnostics> {
    let Some(header) = program(g) else {
        return Ok(0);
    };
    mind_mil::state::thread(g)?;
    name_outputs(g);
    let mut named = g.clone();
    if open::name_extents(&mut named)
        && let Ok(imported) = import_function(&mut named, header.id())
        && !verify(&mut named, &VerifyConfig::default()).has_errors()
    {
        *g = named;
        return Ok(imported);
    }
    import_function(g, header.id())
}

/// Imports the main function of a program and returns the number of imported ops.
///
/// # Errors
///
/// As [`import`].
fn import_function(g: &mut Graph, header: OpId) -> Result<usize, Diagnostics> {
    let mut importing = Importing {
        header,
        refused: Refusals::default(),
        imported: 0,
    };
    let body = g.body();
    importing.block(g, body);
    let found = importing.refused.diagnostics();
    if found.has_errors() {
        return Err(found);
    }
    // Erased last, because the header has the opset that all ops need.
    g.erase(header);
    sweep(g);
    Ok(importing.imported)
}

/// Names unnamed outputs after their values, because the program's users know those names.
fn name_outputs(g: &mut Graph) {
    for (at, value) in g.outputs().to_vec().into_iter().enumerate() {
        let is_named = g.interface.output_name(at).is_some();
        if let Some(name) = given_name(g, value).filter(|_| !is_named) {
            g.interface.output_mut(at).name = Some(name);
        }
    }
}

/// State of an import.
struct Importing {
    header: OpId,
    refused: Refusals,
    imported: usize,
}

impl Importing {
    /// Imports the ops of a block. Nested blocks come before the op that they belong to.
    fn block(&mut self, g: &mut Graph, block: BlockId) {
        // Each block has its own constants, because regions of core are closed.
        let mut constants = FxHashMap::default();
        let mut next = g.ops(block).next();
        while let Some(op) = next {
            next = g.next(op);
            if g.is::<Func>(op) {
                g.erase(op);
                continue;
            }
            if op == self.header || g.is::<Const>(op) {
                continue;
            }
            if reads_rejected(g, op) {
                let row = ops::row(g.def(op));
                if let Some(why) = row.and_then(without::not_imported) {
                    let why = Refusal::no_counterpart(why);
                    self.refused.push(g.def(op).name, why, g.span(op));
                }
                continue;
            }
            let refused = self.refused.len();
            for at in 0..g.regions(op).len() {
                let inner = g.block(g.regions(op)[at]);
                self.block(g, inner);
            }
            if self.refused.len() > refused {
                continue;
            }
            let mut e = Emit {
                b: Builder::before(g, op),
                constants: &mut constants,
            };
            let results = e.g().results(op).len();
            match replacements(op, &mut e) {
                Ok(values) if values.len() < results => {
                    let why = Refusal::extent("the number of results", results, values.len());
                    self.refused.push(g.def(op).name, why, g.span(op));
                }
                Ok(values) => {
                    replace(g, op, &values);
                    self.imported += 1;
                }
                Err(why) => self.refused.push(g.def(op).name, why, g.span(op)),
            }
        }
    }
}

/// Returns the values that replace the results of an op, or the operands of the terminator.
fn replacements(op: OpId, e: &mut Emit<'_>) -> Many {
    if let Some(end) = e.g().view::<Yield>(op) {
        let values = end.values(e.g()).to_vec();
        return values.into_iter().map(|value| e.taken(value)).collect();
    }
    if let Some(input) = e.g().view::<Input>(op) {
        return Ok(vec![interface::input(input, e)?]);
    }
    let Some(row) = ops::row(e.g().def(op)) else {
        return Err(Refusal::no_counterpart("it is not an op of MIL"));
    };
    if let Some(values) = constant::folded(op, e)? {
        return Ok(values);
    }
    if let Some(import) = several(row) {
        return import(op, e);
    }
    if let Some(row) = compose::composition(op, e) {
        return Ok(vec![compose::compose(op, e, row)?]);
    }
    let why = without::not_imported(row).unwrap_or("it has no counterpart");
    let import = conversion(row).ok_or_else(|| Refusal::no_counterpart(why))?;
    Ok(vec![import(op, e)?])
}

fn replace(g: &mut Graph, op: OpId, values: &[ValueId]) {
    if g.is::<Yield>(op) {
        g.set_operands(op, values);
        return;
    }
    let results: Vec<ValueId> = g.results(op).into_iter().collect();
    for (result, &value) in results.into_iter().zip(values) {
        g.replace_all_uses(result, value);
    }
    g.erase(op);
}

/// Returns whether an operand could not be imported, in which case its error is already reported.
fn reads_rejected(g: &Graph, op: OpId) -> bool {
    g.operands(op).iter().any(|&value| {
        let source = g.defining_op(value);
        source.is_some_and(|source| ops::row(g.def(source)).is_some() || g.is::<Input>(source))
    })
}

/// Removes dead ops, among them the constants of MIL.
fn sweep(g: &mut Graph) {
    let all: Vec<OpId> = g.walk().collect();
    for &op in all.iter().rev() {
        let unread = g
            .results(op)
            .into_iter()
            .all(|value| g.uses(value).is_empty());
        let pure = g.def(op).has(Trait::Pure);
        if unread && pure && g.parent(op).is_some() {
            g.erase(op);
        }
    }
}
