//! Walks the ops of a module.

use mind_convert::Refusal;
use mind_core::ops::fused::Fused;
use mind_core::ops::input::Input;
use mind_diag::{Diagnostic, Diagnostics};
use mind_ir::opdef::{Op, Trait};
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::{Dim, TypeView};
use mind_ir::{BlockId, OpId, Ty, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::draft::{GraphDraft, Val};
use super::emit::Emit;
use super::model::type_proto;
use super::rows::{self, Form};

/// Maximum nesting depth of graphs that protobuf decoders accept.
const DEPTH_LIMIT: usize = 24;

/// Splat constants with more elements than this are exported as a broadcast scalar.
const WRITTEN_ELEMENTS: i64 = 1 << 10;

/// Exports a module. Unnamed outputs are called `out0`, `out1` and so on.
///
/// # Errors
///
/// E6003 for each op that cannot be exported, with the reason.
pub(super) fn module(e: &mut Emit<'_>) -> Result<GraphDraft, Diagnostics> {
    let g = e.g;
    let mut found = foreign(e);
    if found.has_errors() {
        return Err(found);
    }
    let mut inputs = Vec::new();
    let mut named: FxHashMap<(&str, Option<Ty>), Val> = FxHashMap::default();
    for op in g.ops(g.body()).filter(|&op| g.is::<Input>(op)) {
        let value = g.result(op);
        let name = g.name(Input::from_id(op).name(g));
        // Inputs with the same name are bound to the same array.
        if let Some(&own) = named.get(&(name, g.type_id(value))) {
            e.bind(value, own);
            continue;
        }
        let own = e.fresh(name);
        named.insert((name, g.type_id(value)), own);
        e.bind(value, own);
        inputs.push((own, type_proto(g, g.ty(value))));
        for (axis, &dim) in g.ty(value).shape.iter().enumerate() {
            if let Dim::Symbol(symbol) = dim {
                e.symbols.entry(symbol).or_insert((value, axis));
            }
        }
    }
    e.block(g.body(), &mut found);
    if found.has_errors() {
        return Err(found);
    }
    let outputs = g.outputs().iter().map(|&value| {
        let ty = type_proto(g, g.ty(value));
        (e.value(value), Some(ty))
    });
    let outputs = outputs.collect();
    let outputs = e
        .made_here(outputs)
        .map_err(|why| Diagnostics::from(refusal("core.input", mind_diag::Span::FILE, &why)))?;
    for (at, (own, _)) in outputs.iter().enumerate() {
        let name = g.interface.output_name(at).map(str::to_owned);
        e.names[own.index()] = name.unwrap_or_else(|| format!("out{at}"));
    }
    Ok(GraphDraft {
        inputs,
        outputs,
        nodes: std::mem::take(&mut e.nodes),
    })
}

fn refusal(name: &str, span: mind_diag::Span, why: &Refusal) -> Diagnostic {
    let message = format!("`{name}` cannot be written as ONNX: {why}");
    let why = why
        .clone()
        .or_help("docs/formats/onnx.md says what is written");
    why.error(span, message)
}

impl<'g> Emit<'g> {
    /// Exports the ops of a block that its results depend on, and reports those that cannot be exported.
    fn block(&mut self, block: BlockId, found: &mut Diagnostics) {
        for op in needed(self, block) {
            if let Err(why) = self.op(op, found) {
                found.push(refusal(self.g.def(op).name, self.g.span(op), &why));
                for value in self.g.results(op) {
                    // A placeholder, so that the users of the value are still checked.
                    let own = self.fresh("refused");
                    self.bind(value, own);
                }
            }
        }
    }

    fn op(&mut self, op: OpId, found: &mut Diagnostics) -> Result<(), Refusal> {
        let (g, first) = (self.g, self.names.len());
        let results: Vec<Val> = if g.is::<Input>(op) {
            return Ok(());
        } else if g.def(op).has(Trait::Constant) {
            let value = g.result(op);
            let Some(own) = self.repeated(value)? else {
                return Ok(());
            };
            vec![own]
        } else if is_empty(self, op) {
            let results = g.results(op).into_iter();
            results.map(|value| self.without_elements(value)).collect()
        } else if let Some(group) = g.view::<Fused>(op) {
            let operands = self.operands(op);
            self.inlined(group.body(g), &operands, found)
        } else {
            match rows::form(g, op) {
                Form::One(write) => vec![write(op, self)?],
                Form::Many(write) => write(op, self)?,
                Form::Regions(write) => write(op, self, found)?,
                Form::Scalar(function) => vec![rows::elementwise::write(self, op, function)?],
                Form::None => return Err(Refusal::no_counterpart("it has no form in ONNX")),
            }
        };
        for (value, own) in g.results(op).into_iter().zip(results) {
            if own.index() >= first {
                self.names[own.index()] = self.label(value);
            }
            self.bind(value, own);
        }
        Ok(())
    }

    /// Returns an empty constant for a value without elements.
    fn without_elements(&mut self, value: ValueId) -> Val {
        let ty = self.g.ty(value);
        let shape = ty.static_shape().unwrap_or_default().into_iter();
        let shape = shape.map(|extent| extent as usize).collect();
        self.tensor(&Tensor::new(shape, Buffer::zeros(ty.dtype, 0)))
    }

    /// Returns the exported operands of an op.
    pub fn operands(&mut self, op: OpId) -> Vec<Val> {
        let operands = self.g.operands(op).iter();
        operands.map(|&value| self.value(value)).collect()
    }

    /// Returns a splat constant as a broadcast scalar, if it is large or has unknown extents.
    fn repeated(&mut self, value: ValueId) -> Result<Option<Val>, Refusal> {
        let ty: TypeView<'_> = self.g.ty(value);
        if ty.count().is_some_and(|count| count <= WRITTEN_ELEMENTS) {
            return Ok(None);
        }
        let Some(element) = mind_core::scalar_of(self.g, value) else {
            return Ok(None);
        };
        let own = self.tensor(&element);
        self.expand(ty.dtype, own, ty.shape).map(Some)
    }

    /// Inlines a closed region with the given arguments and returns the values that it yields.
    pub fn inlined(
        &mut self,
        block: BlockId,
        arguments: &[Val],
        found: &mut Diagnostics,
    ) -> Vec<Val> {
        for (argument, &own) in self.g.arguments(block).into_iter().zip(arguments) {
            self.bind(argument, own);
        }
        if self.depth > DEPTH_LIMIT {
            let op = self.g.block_owner(block);
            let span = op.map_or(mind_diag::Span::FILE, |op| self.g.span(op));
            let name = op.map_or("core.if", |op| self.g.def(op).name);
            let expected = format!("at most {DEPTH_LIMIT}, which readers of protobuf take");
            let why = Refusal::form("the number of nested graphs", DEPTH_LIMIT + 1, expected);
            found.push(refusal(name, span, &why));
            return yields(self, block)
                .iter()
                .map(|_| self.fresh("refused"))
                .collect();
        }
        self.block(block, found);
        let yielded = yields(self, block);
        yielded.iter().map(|&value| self.value(value)).collect()
    }
}

/// Returns an error for each kind of op outside of the core dialect.
fn foreign(e: &Emit<'_>) -> Diagnostics {
    let g = e.g;
    let (mut found, mut names) = (Diagnostics::new(), FxHashSet::default());
    for op in g.walk() {
        let name = g.def(op).name;
        let dialect = name.split('.').next().unwrap_or_default();
        if !matches!(dialect, "core" | "builtin") && names.insert(name) {
            let why =
                format!("modules of core are written, and this op is of the dialect `{dialect}`");
            found.push(refusal(name, g.span(op), &Refusal::no_counterpart(why)));
        }
    }
    found
}

/// Returns whether all results of an op are known to have no elements, so that it need not be computed.
fn is_empty(e: &Emit<'_>, op: OpId) -> bool {
    let mut results = e.g.results(op).into_iter();
    let has_none = |value| e.g.ty(value).count() == Some(0);
    results.len() > 0 && results.all(has_none)
}

/// Returns the values that a block yields.
fn yields<'g>(e: &Emit<'g>, block: BlockId) -> &'g [ValueId] {
    let end = e.g.terminator(block);
    end.map_or(&[], |end| e.g.operands(end))
}

/// Returns the ops of a block that its results depend on, in order.
fn needed(e: &Emit<'_>, block: BlockId) -> Vec<OpId> {
    let g = e.g;
    let mut read: FxHashSet<ValueId> = yields(e, block).iter().copied().collect();
    let mut ops = Vec::new();
    for op in g
        .ops(block)
        .rev()
        .filter(|&op| !g.def(op).has(Trait::Terminator))
    {
        let is_pure = g.def(op).has(Trait::Pure);
        if !is_pure || g.results(op).into_iter().any(|value| read.contains(&value)) {
            read.extend(g.operands(op));
            ops.push(op);
        }
    }
    ops.reverse();
    ops
}
