//! Extents put in the place of names.

use mind_core::ops::control::{block, broken_promises, carried};
use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_ir::attr::Attr;
use mind_ir::graph::Graph;
use mind_ir::opdef::{Trait, nearest};
use mind_ir::types::{Dim, Shape, TensorType};
use mind_ir::verify::{VerifyConfig, verify};
use mind_ir::{OpId, Sym, Ty, ValueId};
use mind_pass::{Changed, OptionInfo, OptionKind, Pass, PassCx, PassError, PassInfo};
use rustc_hash::FxHashMap;

pub(crate) const PASS: PassInfo = PassInfo {
    name: "specialize",
    alias: None,
    summary: "Puts numbers in the place of symbolic dimensions, and of `?` in inputs",
    example: "--pass-pipeline='specialize{dims=B:32}'",
    options: &[OptionInfo {
        name: "dims",
        kind: OptionKind::Extents,
        default: "",
        summary: "extents by name; `?` names every unnamed one of an input",
    }],
    enters_regions: false,
    make: |options| Box::new(Specialize(options.extents("dims"))),
};

struct Specialize(Vec<(String, i64)>);

impl Pass for Specialize {
    fn run(&self, g: &mut Graph, cx: &mut PassCx<'_>) -> Result<Changed, PassError> {
        let symbols: Vec<(Sym, i64)> = (self.0.iter())
            .filter(|(name, _)| name != "?")
            .map(|(name, extent)| (g.intern(name), *extent))
            .collect();
        let used = symbols_of(g);
        if let Some((sym, _)) = symbols.iter().find(|(sym, _)| !used.contains(sym)) {
            let name = g.name(*sym);
            let known = used.iter().map(|&sym| g.name(sym));
            let error = Diagnostic::error(Span::FILE, format!("no dimension is called `{name}`"));
            let error = match nearest(name, known) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error,
            };
            return Err(PassError::Rejected(Box::new(error)));
        }
        let unnamed = self.0.iter().rev().find(|(name, _)| name == "?");
        let known = Known {
            symbol: &|sym| {
                symbols
                    .iter()
                    .rev()
                    .find(|(own, _)| *own == sym)
                    .map(|&(_, n)| n)
            },
            input: &|_, _| unnamed.map(|&(_, extent)| extent),
        };
        match specialize(g, &known, cx.verify) {
            Ok(changed) => Ok(Changed::when(changed > 0)),
            Err(found) => Err(PassError::Invalid(found)),
        }
    }
}

/// The extents that are known.
pub struct Known<'k> {
    /// The extent of a symbol.
    pub symbol: &'k dyn Fn(Sym) -> Option<i64>,
    /// The extent of a dimension of an input that is `?`.
    pub input: &'k dyn Fn(OpId, usize) -> Option<i64>,
}

/// Puts known extents in the place of symbols, and of the `?` of inputs, and finds all types again; how many
/// types and attributes changed. A carried value of a loop keeps each open extent that its steps change.
///
/// # Errors
///
/// What verification finds then, as where an extent contradicts another.
pub fn specialize(
    g: &mut Graph,
    known: &Known<'_>,
    config: &VerifyConfig,
) -> Result<usize, Diagnostics> {
    let ops: Vec<OpId> = g.walk().collect();
    let mut open = open_arguments(g, &ops);
    let mut changed = 0;
    for &op in &ops {
        keep_settled(g, op);
        changed += specialize_attrs(g, op, known);
        for value in g.results(op).into_iter().collect::<Vec<_>>() {
            changed += usize::from(specialize_type(g, op, value, known));
        }
        for region in g.regions(op).to_vec() {
            let arguments: Vec<ValueId> = g.arguments(g.block(region)).into_iter().collect();
            for argument in arguments {
                changed += usize::from(specialize_type(g, op, argument, known));
            }
        }
    }
    loop {
        let found = verify(g, config);
        if !found.has_errors() {
            return Ok(changed);
        }
        if open.is_empty() {
            return Err(found);
        }
        open_broken(g, &ops, &mut open, known);
    }
}

/// The arguments of loops for carried values with open extents that nothing declares, which thus have those of the operands.
fn open_arguments(g: &Graph, ops: &[OpId]) -> FxHashMap<ValueId, (OpId, Ty)> {
    let loops = ops.iter().filter_map(|&op| Some((op, carried(g, op)?)));
    let arguments = loops.flat_map(|(op, (step, count))| {
        let arguments = g.arguments(block(g, op, step)).into_iter().take(count);
        arguments.map(move |own| (own, op))
    });
    let open = arguments.filter_map(|(own, op)| {
        let ty = g.type_id(own).filter(|_| g.declared(own).is_none())?;
        let is_open = g.types().get(ty).static_shape().is_none();
        is_open.then_some((own, (op, ty)))
    });
    open.collect()
}

/// Declares the open extents of carried values that do not keep the extents which their operands have now; of all that are
/// left where these values are not at fault.
fn open_broken(
    g: &mut Graph,
    ops: &[OpId],
    open: &mut FxHashMap<ValueId, (OpId, Ty)>,
    known: &Known<'_>,
) {
    let broken = ops.iter().flat_map(|&op| broken_promises(g, op));
    let mut broken: Vec<ValueId> = broken.filter(|own| open.contains_key(own)).collect();
    if broken.is_empty() {
        broken = open.keys().copied().collect();
    }
    for argument in broken {
        if let Some((op, ty)) = open.remove(&argument) {
            g.declare(argument, ty);
            specialize_type(g, op, argument, known);
        }
    }
}

fn symbols_of(g: &Graph) -> Vec<Sym> {
    let mut symbols: Vec<Sym> = Vec::new();
    for op in g.walk() {
        for value in g.results(op) {
            let Some(ty) = g.type_id(value) else { continue };
            symbols.extend(g.types().get(ty).shape.iter().filter_map(|&dim| match dim {
                Dim::Symbol(sym) => Some(sym),
                _ => None,
            }));
        }
    }
    symbols.sort_unstable();
    symbols.dedup();
    symbols
}

fn specialize_attrs(g: &mut Graph, op: OpId, known: &Known<'_>) -> usize {
    let mut changed = 0;
    for index in 0..g.attrs(op).len() {
        let Attr::Dims(dims) = g.attr(op, index) else {
            continue;
        };
        let new: Shape = dims.iter().map(|&dim| fixed(dim, known)).collect();
        if new[..] != *dims {
            g.set_attr(op, index, Attr::Dims(&new));
            changed += 1;
        }
    }
    changed
}

/// Declares the type of an op whose attribute leaves an extent open: once an extent beside it is 0, no number
/// of elements tells what it is.
fn keep_settled(g: &mut Graph, op: OpId) {
    let is_open = |attr: &Attr<'_>| match attr {
        Attr::Dims(dims) => (dims.iter()).any(|dim| matches!(dim, Dim::Dynamic | Dim::Fixed(..0))),
        _ => false,
    };
    if g.attrs(op).iter().any(is_open) {
        for value in g.results(op) {
            if let Some(ty) = g.type_id(value) {
                g.declare(value, ty);
            }
        }
    }
}

fn fixed(dim: Dim, known: &Known<'_>) -> Dim {
    match dim {
        Dim::Symbol(sym) => (known.symbol)(sym).map_or(dim, Dim::Fixed),
        other => other,
    }
}

/// Whether the declared type of `value`, which `op` defines, changed.
fn specialize_type(g: &mut Graph, op: OpId, value: ValueId, known: &Known<'_>) -> bool {
    let Some(old) = g.declared(value) else {
        return false;
    };
    let is_input = g.def(op).has(Trait::Interface);
    let ty = g.types().get(old);
    let dims = ty.shape.iter().enumerate().map(|(axis, &dim)| match dim {
        Dim::Dynamic if is_input => (known.input)(op, axis).map_or(dim, Dim::Fixed),
        dim => fixed(dim, known),
    });
    let new = TensorType::new(ty.dtype, dims);
    let new: Ty = g.intern_type(new.view());
    if new != old {
        g.declare(value, new);
        g.set_type(value, new);
    }
    new != old
}
