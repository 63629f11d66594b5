//! Reads the member `nodes`. Each node must be one of the plan.

use mind_diag::Span;
use mind_json::Value;

use super::buffers::condition;
use super::field::{Reader, present, shown, span_of};
use crate::codes;
use crate::condition::Condition;
use crate::config::Biases;
use crate::family::{Families, Family, Stack};
use crate::layout::nodes::{Access, Arg, Node, PlanSection};

/// A node of the document that the plan has.
pub(super) struct Placed {
    /// The node of the plan.
    pub(super) row: &'static Node,
    /// Its layer; `None` for a node of the whole model.
    pub(super) layer: Option<usize>,
    pub(super) span: Span,
    pub(super) condition: Option<Condition>,
    /// The bound arguments.
    pub(super) bound: Vec<(&'static Arg, Span)>,
}

/// The nodes of a document.
pub(super) struct Nodes {
    pub(super) placed: Vec<Placed>,
    pub(super) span: Span,
    /// Whether a node was rejected, after which missing nodes are not reported.
    pub(super) broken: bool,
}

const KEYS: &[&str] = &[
    "layer",
    "scope",
    "op",
    "kernel",
    "flags",
    "condition",
    "bindings",
    "kernel_variant",
    "kernel_dtype",
];
/// The valid bits of `flags`: fused, inference only.
const FLAGS: usize = 0b11;
/// More arguments than any kernel has.
const MAX_BINDINGS: usize = 32;

/// Returns the family of a document that names none: `llama` if it has all ops of the nodes, else the first family that
/// has them, else `llama`.
pub(super) fn family_of(root: &Value, families: Families) -> Option<Family> {
    let ops: Vec<&str> = root
        .get("nodes")
        .and_then(Value::elements)
        .unwrap_or_default()
        .iter()
        .filter_map(|node| node.get("op")?.text())
        .collect();
    let has_all = |family: &Family| {
        let has = |op: &&str| family.all_nodes().any(|node| node.op() == *op);
        ops.iter().all(has)
    };
    let usual = || families.named("llama");
    let llama = usual().filter(has_all);
    llama
        .or_else(|| families.iter().find(has_all))
        .or_else(usual)
}

/// Reads the nodes one by one.
pub(super) fn read(root: &Value, family: Family, r: &mut Reader) -> Nodes {
    let before = r.found.error_count();
    let mut placed = Vec::new();
    for value in r.list(root, "nodes") {
        if value.members().is_none() {
            r.wrong("nodes", value, "an array of objects");
            continue;
        }
        r.foreign(value, KEYS);
        r.maybe_text(value, "kernel_variant");
        r.maybe_text(value, "kernel_dtype");
        placed.extend(node(value, family, r));
    }
    let span = span_of(root, "nodes");
    let broken = r.found.error_count() > before;
    Nodes {
        placed,
        span,
        broken,
    }
}

fn node(value: &Value, family: Family, r: &mut Reader) -> Option<Placed> {
    let layer = r.required(value, "layer")?;
    let number = layer.integer().filter(|layer| *layer >= -1);
    let Some(number) = number else {
        r.wrong("layer", layer, "a layer from 0, or -1");
        return None;
    };
    let layer = usize::try_from(number).ok();
    if let Some(flags) = value.get("flags") {
        let bits = r.natural("flags", flags)?;
        if bits & !FLAGS != 0 {
            let message = format!("`flags` is {bits}, of which only bits 0 and 1 have a meaning");
            r.push(codes::RANGE, flags.span, message);
        }
    }
    let condition = condition(value, r);
    let (op, op_span) = r.text(value, "op")?;
    let (kernel, kernel_span) = r.text(value, "kernel")?;
    let is_global = layer.is_none();
    let family = stack(value, family, r)?;
    let named =
        |row: &&'static Node| row.op() == op && (row.section == PlanSection::Layer) != is_global;
    let rows: Vec<&'static Node> = family.nodes().filter(named).collect();
    if rows.is_empty() {
        let place = if is_global { "the model" } else { "a layer" };
        let message = format!("no node of {place} is called `{}`", shown(op));
        let known = family.nodes();
        let known = known.filter(|row| (row.section == PlanSection::Layer) != is_global);
        let ops: Vec<&str> = known.map(|row| row.op()).collect();
        let help = format!("nodes of {place} are {}", ops.join(", "));
        r.push_with_help(codes::NAME, op_span, message, help);
        return None;
    }
    if rows
        .iter()
        .all(|row| row.kernel.symbol != kernel && row.op() != kernel)
    {
        let message = format!("no kernel of `{op}` is called `{}`", shown(kernel));
        let help = format!("its kernel is `{}`", rows[0].kernel.symbol);
        r.push_with_help(codes::NAME, kernel_span, message, help);
        return None;
    }
    let bindings = bindings(value, r);
    let row = nearest(&rows, &bindings);
    let bound = check_bindings(row, &bindings, value, r);
    Some(Placed {
        row,
        layer,
        span: value.span,
        condition,
        bound,
    })
}

/// Returns the family with the stack of layers of a node; `None` after an error.
fn stack(value: &Value, family: Family, r: &mut Reader) -> Option<Family> {
    let Some(encoder) = family.encoder() else {
        if let Some(own) = present(value, "scope") {
            let model = family.architecture().model();
            let message = format!("`scope` is there, but nodes of {model} have none");
            r.push(codes::CONTRADICTION, own.span, message);
        }
        return Some(family);
    };
    let (word, span) = r.text(value, "scope")?;
    match Stack::parse(word) {
        Some(Stack::Source) => Some(encoder),
        Some(Stack::Main) => Some(family),
        None => {
            let message = format!("no scope of a node is `{}`", shown(word));
            let help = "nodes of an encoder-decoder model are of the scope `encoder` or `decoder`";
            r.push_with_help(codes::NAME, span, message, help);
            None
        }
    }
}

/// A binding of the document.
struct Binding<'v> {
    arg: &'v str,
    arg_span: Span,
    buffer: &'v str,
    buffer_span: Span,
}

fn bindings<'v>(value: &'v Value, r: &mut Reader) -> Vec<Binding<'v>> {
    let mut all: Vec<Binding<'v>> = Vec::new();
    let list = r.list(value, "bindings");
    if list.len() > MAX_BINDINGS {
        let message = format!(
            "{} bindings are more than any kernel has arguments",
            list.len()
        );
        r.push(codes::RANGE, span_of(value, "bindings"), message);
        return all;
    }
    for own in list {
        if own.members().is_none() {
            r.wrong("bindings", own, "objects with `arg` and `buffer`");
            continue;
        }
        r.foreign(own, &["arg", "buffer"]);
        let (arg, buffer) = (r.text(own, "arg"), r.text(own, "buffer"));
        let (Some((arg, arg_span)), Some((buffer, buffer_span))) = (arg, buffer) else {
            continue;
        };
        if all.iter().any(|other| other.arg == arg) {
            let message = format!("argument `{}` is bound twice", shown(arg));
            r.push(codes::TWICE, arg_span, message);
            continue;
        }
        all.push(Binding {
            arg,
            arg_span,
            buffer,
            buffer_span,
        });
    }
    all
}

/// Returns the node with the most matching bindings among nodes of the same op; the first of several.
fn nearest(rows: &[&'static Node], bindings: &[Binding<'_>]) -> &'static Node {
    let agree = |row: &'static Node| {
        let bound = |binding: &&Binding<'_>| {
            called(row, binding.arg).is_some_and(|own| own.buffer == binding.buffer)
        };
        bindings.iter().filter(bound).count()
    };
    let mut best = rows[0];
    for row in &rows[1..] {
        if agree(row) > agree(best) {
            best = row;
        }
    }
    best
}

/// Returns the argument that a document calls `name`: the argument of that name, the one bound to a buffer of that
/// name, or, for `out`, the only output.
fn called(row: &'static Node, name: &str) -> Option<&'static Arg> {
    let mut outs = row.args.iter().filter(|own| own.access == Access::Out);
    let out = match (name, outs.next(), outs.next()) {
        ("out", Some(own), None) => Some(own),
        _ => None,
    };
    let named = row.args.iter().find(|own| own.name == name);
    let bound = || row.args.iter().find(|own| own.buffer == name);
    named.or_else(bound).or(out)
}

/// Reports bindings that differ from the plan; returns the bound arguments.
fn check_bindings(
    row: &'static Node,
    bindings: &[Binding<'_>],
    node: &Value,
    r: &mut Reader,
) -> Vec<(&'static Arg, Span)> {
    let mut bound: Vec<(&'static Arg, Span)> = Vec::new();
    for binding in bindings {
        let own = called(row, binding.arg);
        let Some(own) = own else {
            let message = format!("`{}` has no argument `{}`", row.op(), shown(binding.arg));
            let names: Vec<&str> = row.args.iter().map(|own| own.name).collect();
            let help = format!("its arguments are {}", names.join(", "));
            r.push_with_help(codes::NAME, binding.arg_span, message, help);
            continue;
        };
        if binding.buffer != own.buffer {
            let message = format!(
                "argument `{}` of `{}` is bound to `{}`, expected `{}`",
                own.name,
                row.op(),
                shown(binding.buffer),
                own.buffer
            );
            r.push(codes::FLOW, binding.buffer_span, message);
            continue;
        }
        if bound.iter().any(|(other, _)| std::ptr::eq(*other, own)) {
            let message = format!("argument `{}` is bound twice", own.name);
            r.push(codes::TWICE, binding.arg_span, message);
            continue;
        }
        bound.push((own, binding.buffer_span));
    }
    for own in row.args.iter().filter(|own| !own.optional) {
        let means = |binding: &Binding<'_>| {
            called(row, binding.arg).is_some_and(|named| std::ptr::eq(named, own))
        };
        let named = bindings.iter().any(means);
        if !named {
            let message = format!("argument `{}` of `{}` is not bound", own.name, row.op());
            r.push(codes::MISSING, node.span, message);
        }
    }
    bound
}

impl Nodes {
    /// Returns the optional weights that nodes read.
    pub(super) fn biases(&self, family: Family) -> Biases {
        let args = self.placed.iter().flat_map(|node| &node.bound);
        let indices = args.filter_map(|(own, _)| family.optional_index(&own.buffer));
        indices.fold(Biases::default(), Biases::with)
    }
}
