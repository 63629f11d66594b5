//! Walks a module and lowers each op by a table.

use mind_convert::Refusal;
use mind_core::ops::control::Scan;
use mind_core::ops::fused::Fused;
use mind_core::ops::input::Input as CoreInput;
use mind_core::ops::solve;
use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_ir::attr::Attr;
use mind_ir::builder::Builder;
use mind_ir::builtin::Yield;
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::{Op, OpDef, Trait};
use mind_ir::types::DType;
use mind_ir::{BlockId, OpId, ValueId};
use mind_mil::scalar::op_of;
use mind_mil::structure::{Program, program};
use mind_tensor::ops::group::Group;
use mind_tensor::ops::map::Map;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::config::Config;
use crate::control::Opened;
use crate::emit::{Emit, Lower, LowerMany};
use crate::found::{Found, recognize as recognize_compositions};
use crate::recognize::recognize;
use crate::{
    constant, contract, control, convolve, dynamic, elementwise, empty, flexible, integers,
    interface, movement, normalize, pool, product, quantize, reduce, runtime_shape, sample,
    sorting, structured, suppress,
};

/// The lowering of each op.
const FAMILIES: [&[(&OpDef, Lower)]; 18] = [
    elementwise::ROWS,
    integers::ROWS,
    contract::ROWS,
    product::ROWS,
    quantize::ROWS,
    convolve::ROWS,
    reduce::ROWS,
    pool::ROWS,
    sample::ROWS,
    sorting::ROWS,
    suppress::ROWS,
    runtime_shape::ROWS,
    movement::ROWS,
    dynamic::ROWS,
    movement::CORE_ROWS,
    movement::TENSOR_ROWS,
    normalize::ROWS,
    structured::ROWS,
];

/// Returns whether ops of this kind are lowered or decomposed.
pub fn lowers(def: &'static OpDef) -> bool {
    let bodies: [&OpDef; 3] = [Fused::DEF, Group::DEF, Map::DEF];
    let input: &OpDef = CoreInput::DEF;
    def.has(Trait::Constant)
        || std::ptr::eq(def, input)
        || bodies.iter().any(|own| std::ptr::eq(*own, def))
        || solve::OPS.iter().any(|own| std::ptr::eq(*own, def))
        || conversion(def).is_some()
        || several(def).is_some()
        || def.arguments.is_some() && !std::ptr::eq(def, Scan::DEF as &OpDef)
}

fn several(def: &'static OpDef) -> Option<LowerMany> {
    let mut rows = sorting::MANY.iter();
    rows.find(|(own, _)| std::ptr::eq(*own, def))
        .map(|&(_, lower)| lower)
}

fn conversion(def: &'static OpDef) -> Option<Lower> {
    let mut rows = FAMILIES.iter().copied().flatten();
    let own = rows.find(|(own, _)| std::ptr::eq(*own, def));
    let scalar = || {
        def.scalar
            .and_then(op_of)
            .map(|_| elementwise::scalar as Lower)
    };
    own.map(|&(_, lower)| lower).or_else(scalar)
}

/// Statistics of a lowering.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Lowered {
    /// The number of lowered ops.
    pub ops: usize,
    /// The number of those that compute f64 in the program's float dtype.
    pub doubles: usize,
}

/// Lowers every op of a verified module.
///
/// # Errors
///
/// E6003 for each op that MIL cannot express, with the reason. The module must not be used afterwards.
pub fn lower(g: &mut Graph, config: &Config) -> Result<Lowered, Diagnostics> {
    if program(g).is_some() {
        return Ok(Lowered::default());
    }
    mind_core::solve::expand(g).map_err(|found| Diagnostics::from(*found))?;
    empty::drop_empty(g);
    let mut lowering = Lowering {
        found: recognize_compositions(g, config),
        config,
        names: FxHashSet::default(),
        refused: Diagnostics::new(),
        lowered: Lowered::default(),
    };
    lowering.interface(g);
    lowering.header(g);
    let body = g.body();
    lowering.block(g, body, None);
    if lowering.refused.has_errors() {
        return Err(lowering.refused);
    }
    sweep(g);
    recognize(g, config).map_err(|why| error("a pattern", Span::FILE, &why))?;
    sweep(g);
    describe(g, config).map_err(|why| error("an input", Span::FILE, &why))?;
    mind_mil::names::assign_names(g);
    let found = mind_mil::check::check(g, config.interface);
    if found.has_errors() {
        Err(found)
    } else {
        Ok(lowering.lowered)
    }
}

const FUNCTION_ATTRIBUTES: usize = Program::DEF.attr_position("function_attributes");

/// Writes the flexible input shapes to the function's attributes.
fn describe(g: &mut Graph, config: &Config) -> Result<(), Refusal> {
    let (Some(program), Some(flexible)) = (program(g), flexible::shapes(g, config)?) else {
        return Ok(());
    };
    let text = flexible.text(config.opset.version());
    let text = Attr::Str(g.intern(&text));
    g.set_attr(program.id(), FUNCTION_ATTRIBUTES, text);
    Ok(())
}

struct Lowering<'c> {
    config: &'c Config,
    /// Names of the inputs so far.
    names: FxHashSet<String>,
    /// The arguments of MIL ops that replace several ops of core.
    found: FxHashMap<OpId, Found>,
    refused: Diagnostics,
    lowered: Lowered,
}

/// Returns the error of an op, or of another part of the module, which messages call `name`.
fn error(name: &str, span: Span, why: &Refusal) -> Diagnostic {
    why.error(span, format!("`{name}` cannot be lowered to MIL: {why}"))
}

impl Lowering<'_> {
    fn refuse(&mut self, g: &Graph, op: OpId, why: &Refusal) {
        self.refused.push(error(g.def(op).name, g.span(op), why));
    }

    /// Rejects f64 inputs and outputs. Inside the program its floats replace f64, but the types that a caller passes
    /// are not narrowed silently.
    fn interface(&mut self, g: &Graph) {
        let outputs = g
            .terminator(g.body())
            .map_or(&[][..], |end| g.operands(end));
        let double = |value: &&ValueId| g.ty(**value).dtype == DType::F64;
        for &output in outputs.iter().filter(double) {
            let op = g.defining_op(output).filter(|&op| !g.is::<CoreInput>(op));
            if let Some(op) = op {
                let why =
                    Refusal::unsupported("a program gives no f64 away", "cast the output to f32");
                self.refuse(g, op, &why);
            }
        }
    }

    /// Inserts the program's header before the first op.
    fn header(&self, g: &mut Graph) {
        let attributes = self.config.attributes();
        let opset = self.config.opset;
        let words = [opset.version(), &attributes, "main", opset.tag(), ""];
        let attrs = words.map(|word| Attr::Str(g.intern(word)));
        let at = match g.ops(g.body()).next() {
            Some(first) => InsertPoint::Before(first),
            None => InsertPoint::End(g.body()),
        };
        let new = NewOp {
            def: Program::DEF,
            operands: &[],
            attrs: &attrs,
            results: 0,
            span: Span::FILE,
        };
        g.insert(at, new);
    }

    /// Lowers the ops of `block`. Ops of an inlined block move before `anchor`, and the values it yields are returned.
    fn block(&mut self, g: &mut Graph, block: BlockId, anchor: Option<OpId>) -> Vec<ValueId> {
        let mut next = g.ops(block).next();
        while let Some(op) = next {
            next = g.next(op);
            if let Some(end) = g.view::<Yield>(op) {
                if anchor.is_some() {
                    return end.values(g).to_vec();
                }
                if block == g.body() {
                    self.end(g, op);
                }
                continue;
            }
            if std::ptr::eq(g.def(op), Program::DEF) {
                continue;
            }
            if self.refused.has_errors() && self.reads_rejected(g, op) {
                continue;
            }
            if let Err(why) = empty::check(g, op) {
                self.refuse(g, op, &why);
                continue;
            }
            if let Some(found) = self.found.remove(&op) {
                match self.placed(g, op, &found, anchor.unwrap_or(op)) {
                    Ok(()) => self.lowered.ops += 1,
                    Err(why) => self.refuse(g, op, &why),
                }
                continue;
            }
            if let Some(opened) = control::opened(g, op) {
                self.blocks(g, op, &opened, anchor.unwrap_or(op));
                continue;
            }
            if g.def(op).has_closed_body() && g.def(op).arguments.is_none() {
                self.body(g, op, anchor.unwrap_or(op));
            } else if let Err(why) = self.op(g, op, anchor.unwrap_or(op)) {
                self.refuse(g, op, &why);
            } else {
                self.lowered.ops += 1;
            }
        }
        Vec::new()
    }

    /// Returns whether an operand failed to lower, in which case the error is already reported.
    fn reads_rejected(&self, g: &Graph, op: OpId) -> bool {
        let lowered = |value: ValueId| {
            let source = g.defining_op(value);
            source.is_some_and(|source| {
                g.def(source).name.starts_with("mil.") && !self.found.contains_key(&source)
            })
        };
        !g.operands(op).iter().all(|&value| lowered(value))
    }

    /// Inlines a body in place of its op.
    fn body(&mut self, g: &mut Graph, op: OpId, anchor: OpId) {
        let inner = g.block(g.regions(op)[0]);
        let operands = g.operands(op).to_vec();
        for (argument, operand) in g.arguments(inner).into_iter().zip(operands) {
            g.replace_all_uses(argument, operand);
        }
        let errors = self.refused.error_count();
        let yielded = self.block(g, inner, Some(anchor));
        if self.refused.error_count() > errors {
            return;
        }
        for (result, value) in g.results(op).into_iter().zip(yielded) {
            match self.filled(g, anchor, value, result) {
                Ok(value) => g.replace_all_uses(result, value),
                Err(why) => self.refuse(g, op, &why),
            }
        }
        self.lowered.ops += 1;
        erase(g, op);
    }

    /// Broadcasts the value that a body yields to the shape of the op's result, because a map of constants alone yields
    /// a scalar.
    fn filled(
        &self,
        g: &mut Graph,
        anchor: OpId,
        value: ValueId,
        result: ValueId,
    ) -> Result<ValueId, Refusal> {
        let mut e = Emit {
            b: Builder::before(g, anchor),
            config: self.config,
        };
        let shape = e.shape(result)?;
        match e.shape(value)? == shape {
            true => Ok(value),
            false if e.shape(value)?.is_empty() => {
                crate::broadcast::to_shape(&mut e, value, &[], &shape)
            }
            false => {
                let dims: Vec<i64> = (0..shape.len() as i64).collect();
                crate::broadcast::to_shape(&mut e, value, &dims, &shape)
            }
        }
    }

    /// Lowers the regions of control flow and moves them to a MIL op.
    fn blocks(&mut self, g: &mut Graph, op: OpId, opened: &Opened, anchor: OpId) {
        let errors = self.refused.error_count();
        let new = opened.place(g, op, anchor);
        for region in 0..g.regions(op).len() {
            let block = g.block(g.regions(op)[region]);
            self.block(g, block, None);
        }
        if self.refused.error_count() > errors {
            return;
        }
        if let Err(why) = control::fill(g, op, new) {
            self.refuse(g, op, &why);
            return;
        }
        self.lowered.ops += 1;
        for (old, new) in g.results(op).into_iter().zip(g.results(new)) {
            g.replace_all_uses(old, new);
        }
        erase(g, op);
    }

    /// Emits an op that replaces several ops.
    fn placed(&self, g: &mut Graph, op: OpId, found: &Found, anchor: OpId) -> Result<(), Refusal> {
        let span = g.span(op);
        let mut e = Emit {
            b: Builder::new(g, InsertPoint::Before(anchor), span),
            config: self.config,
        };
        let values = found.emit(op, &mut e)?;
        for (old, new) in g.results(op).into_iter().zip(values) {
            g.replace_all_uses(old, new);
        }
        erase(g, op);
        Ok(())
    }

    fn op(&mut self, g: &mut Graph, op: OpId, anchor: OpId) -> Result<(), Refusal> {
        let def = g.def(op);
        let span = g.span(op);
        let mut e = Emit {
            b: Builder::new(g, InsertPoint::Before(anchor), span),
            config: self.config,
        };
        let value = if def.has(Trait::Constant) {
            constant::lower(op, &mut e)?
        } else if std::ptr::eq(def, CoreInput::DEF) {
            interface::input(op, &mut e, &mut self.names)?
        } else if let Some(lower) = conversion(def) {
            lower(op, &mut e)?
        } else if let Some(lower) = several(def) {
            let values = lower(op, &mut e)?;
            for (old, new) in g.results(op).into_iter().zip(values) {
                g.replace_all_uses(old, new);
            }
            erase(g, op);
            return Ok(());
        } else if std::ptr::eq(def, Scan::DEF as &OpDef) {
            let why = "it is not a recurrent layer of MIL, and MIL loops do not stack slices";
            return Err(Refusal::no_counterpart(why));
        } else {
            return Err(Refusal::no_counterpart("no op of MIL computes it"));
        };
        let old = g.result(op);
        if g.ty(old).dtype == DType::F64 && !def.has(Trait::Constant) {
            self.lowered.doubles += 1;
        }
        g.replace_all_uses(old, value);
        erase(g, op);
        Ok(())
    }

    fn end(&mut self, g: &mut Graph, op: OpId) {
        if self.refused.has_errors() {
            return;
        }
        let values = g.operands(op).to_vec();
        let mut e = Emit {
            b: Builder::before(g, op),
            config: self.config,
        };
        match interface::outputs(&values, &mut e) {
            Ok(outputs) => g.set_operands(op, &outputs),
            Err(why) => self.refused.push(error("an output", g.span(op), &why)),
        }
    }
}

fn erase(g: &mut Graph, op: OpId) {
    if g.results(op)
        .into_iter()
        .all(|value| g.uses(value).is_empty())
    {
        g.erase(op);
    }
}

/// Removes broadcasts that arithmetic applies implicitly, and dead ops.
fn sweep(g: &mut Graph) {
    let ops: Vec<OpId> = g.walk().collect();
    for &op in &ops {
        if g.def(op).short_name() == "tile" {
            bypass(g, op);
        }
    }
    for &op in ops.iter().rev() {
        let unread = g
            .results(op)
            .into_iter()
            .all(|value| g.uses(value).is_empty());
        if unread && g.def(op).has(Trait::Pure) && g.parent(op).is_some() {
            g.erase(op);
        }
    }
}

/// Bypasses `tile` at arithmetic whose other operand has the full shape.
fn bypass(g: &mut Graph, tile: OpId) {
    let (result, input) = (g.result(tile), g.operands(tile)[0]);
    let readers: Vec<(OpId, usize)> = g.uses(result).collect();
    for (reader, index) in readers {
        let name = g.def(reader).short_name();
        let arithmetic = matches!(
            name,
            "add" | "sub" | "mul" | "real_div" | "maximum" | "minimum"
        );
        if !arithmetic || g.operands(reader).len() != 2 {
            continue;
        }
        let other = g.operands(reader)[1 - index];
        if other != result && g.ty(other).shape == g.ty(result).shape {
            g.set_operand(reader, index, input);
        }
    }
}
