//! Reads the files of a plan: buffers, and steps that call kernels.

use mind_diag::Span;
use mind_json::Value;

use super::{Architecture, Stack};
use crate::codes;
use crate::condition::Condition;
use crate::config::Biases;
use crate::experts::Among;
use crate::graph::plan::{ENCODED, LOGITS, ROTATION, Stream};
use crate::kernels::{CROSS_ATTENTION, EXPERTS, KERNELS, Kernel, kernel_of};
use crate::layout::buffers::{Buffer, BufferKind, Scope, When};
use crate::layout::dims::Dim;
use crate::layout::nodes::{Access, Arg, Node, PlanSection};
use crate::read::dims::extent;
use crate::read::field::{Reader, present, shown};

/// The buffers and steps of a family's models.
pub(super) struct Plan {
    pub(super) architecture: Architecture,
    pub(super) buffers: Vec<Buffer>,
    pub(super) nodes: Vec<Node>,
}

/// The most buffers or steps of a plan.
const MOST: usize = 500;

const BUFFER_KEYS: &[&str] = &[
    "name", "scope", "role", "shape", "when", "only", "layers", "parts", "optional", "unused",
];
const STEP_KEYS: &[&str] = &["kernel", "when", "only", "layers", "bind"];

/// Returns the switches that `only` of buffers and steps may name.
pub(super) fn switches(root: &Value, r: &mut Reader) -> Option<Vec<String>> {
    Some(r.texts(root, "switches"))
}

/// Returns the buffers of `global_buffers.json`.
pub(super) fn globals(
    root: &Value,
    architecture: Architecture,
    switches: (&[String], &[String]),
    r: &mut Reader,
) -> Option<Vec<Buffer>> {
    r.foreign(root, &["buffers"]);
    let buffers = buffers(root, architecture, switches, &[], r);
    let needed = match architecture {
        Architecture::Decoder => &[Stream::MAIN.embedded, LOGITS][..],
        Architecture::Encoder => &[Stream::MAIN.embedded],
        Architecture::EncoderDecoder => &[
            Stream::SOURCE.embedded,
            ENCODED,
            Stream::MAIN.embedded,
            LOGITS,
        ],
    };
    for &name in needed {
        if !buffers.iter().any(|own| own.name == name) {
            r.push(
                codes::MISSING,
                root.span,
                format!("there is no buffer `{name}`"),
            );
        }
    }
    Some(buffers)
}

/// Returns the buffers and steps of `decoder_layer_plan.json` or `encoder_layer_plan.json`, for the layers of `stack`.
pub(super) fn layers(
    root: &Value,
    (architecture, stack): (Architecture, Stack),
    switches: (&[String], &[String]),
    globals: &[Buffer],
    r: &mut Reader,
) -> Option<(Vec<Buffer>, Vec<Node>)> {
    r.foreign(root, &["switches", "buffers", "first", "steps", "last"]);
    let own = buffers(root, architecture, switches, globals, r);
    let stream = Stream::of(stack);
    for name in [stream.input, stream.output] {
        if !own.iter().any(|buffer| buffer.name == name) {
            r.push(
                codes::MISSING,
                root.span,
                format!("there is no buffer `{name}`"),
            );
        }
    }
    let optional = globals.iter().chain(&own).filter(|buffer| buffer.optional);
    if optional.count() > Biases::MOST {
        let message = format!("more than {} weights are optional", Biases::MOST);
        r.push(codes::RANGE, root.span, message);
    }
    let all: Vec<&Buffer> = globals.iter().chain(&own).collect();
    let mut nodes = Vec::new();
    let last = match (architecture, stack) {
        (Architecture::Decoder | Architecture::EncoderDecoder, Stack::Main) => LOGITS,
        // The output of the last layer may be the output of the model.
        (Architecture::Encoder, Stack::Main)
        | (
            Architecture::Decoder | Architecture::Encoder | Architecture::EncoderDecoder,
            Stack::Source,
        ) => stream.output,
    };
    let parts = [
        ("first", PlanSection::First, stream.input, stream.embedded),
        ("steps", PlanSection::Layer, stream.input, stream.output),
        ("last", PlanSection::Last, stream.output, last),
    ];
    let has_source = (architecture, stack) == (Architecture::EncoderDecoder, Stack::Main);
    // Position biases are computed before the layers and read in each of them.
    let mut ahead: Vec<String> = Vec::new();
    for (key, section, carried, result) in parts {
        let mut written: Vec<String> = match section {
            PlanSection::First => Vec::new(),
            PlanSection::Layer | PlanSection::Last => vec![carried.to_owned()],
        };
        written.extend(ahead.iter().cloned());
        written.extend(has_source.then(|| ENCODED.to_owned()));
        let flow = Flow {
            written,
            broken: false,
        };
        let before = nodes.len();
        steps(
            root,
            (key, section, stack),
            switches,
            &all,
            flow,
            result,
            &mut nodes,
            r,
        );
        if section == PlanSection::First {
            let biases = nodes[before..]
                .iter()
                .filter(|node| node.kernel.is_of_distances());
            let args = biases.flat_map(|node: &Node| &node.args);
            let outs = args.filter(|arg| arg.access.writes());
            ahead.extend(outs.map(|arg| arg.buffer.clone()));
        }
    }
    let op = architecture.attention(stack);
    let attentions = nodes.iter().filter(|node| node.kernel.op == op);
    let foreign = nodes
        .iter()
        .find(|node| node.kernel.is_attention() && node.kernel.op != op);
    if let Some(foreign) = foreign.filter(|_| !r.found.has_errors()) {
        let own = match stack {
            Stack::Source => Architecture::Encoder,
            Stack::Main => architecture,
        };
        let (name, found) = (own.name(), foreign.kernel.op);
        let message = format!("`{found}` is not a step of {name} layers");
        let help = format!("attention of {name}s is `{op}`");
        let span = crate::read::field::span_of(root, "steps");
        r.push_with_help(codes::FLOW, span, message, help);
    }
    if !r.found.has_errors() && attentions.clone().count() != 1 {
        let message = format!(
            "`steps` has {} steps `{op}`, expected one",
            attentions.count()
        );
        r.push(
            codes::FLOW,
            crate::read::field::span_of(root, "steps"),
            message,
        );
    }
    let across = nodes
        .iter()
        .filter(|node| node.kernel.op == CROSS_ATTENTION);
    let expected = usize::from(has_source);
    if !r.found.has_errors() && across.clone().count() != expected {
        let message = format!(
            "`steps` has {} steps `{CROSS_ATTENTION}`, expected {expected}",
            across.count()
        );
        let span = crate::read::field::span_of(root, "steps");
        let help = "layers of the decoder of an encoder-decoder have one, others have none";
        r.push_with_help(codes::FLOW, span, message, help);
    }
    let experts = nodes.iter().filter(|node| node.kernel.op == EXPERTS);
    if experts.clone().count() > 1 {
        let message = format!(
            "`steps` has {} steps `{EXPERTS}`, expected one at most",
            experts.count()
        );
        let span = crate::read::field::span_of(root, "steps");
        r.push(codes::FLOW, span, message);
    }
    Some((own, nodes))
}

/// Returns whether an entry is part of the family's variant: each word of its `only` is a switch that is on, or `!` and
/// a switch that is off.
fn is_on(value: &Value, (declared, on): (&[String], &[String]), r: &mut Reader) -> bool {
    let Some(only) = present(value, "only") else {
        return true;
    };
    let words = only.elements().unwrap_or(std::slice::from_ref(only));
    let mut holds = true;
    for own in words {
        let Some(text) = own.text() else {
            r.wrong("only", own, "a switch, or an array of switches");
            continue;
        };
        let word = text.strip_prefix('!').unwrap_or(text);
        if !declared.iter().any(|own| own == word) {
            let message = format!(
                "`only` names `{}`, which is not a switch of the plan",
                shown(word)
            );
            let help = format!("`switches` lists {}", declared.join(", "));
            r.push_with_help(codes::NAME, own.span, message, help);
        }
        holds &= on.iter().any(|own| own == word) != text.starts_with('!');
    }
    holds
}

/// Returns the layers that have an entry.
fn among(value: &Value, is_layered: bool, r: &mut Reader) -> Among {
    let Some((word, span)) = r.maybe_text(value, "layers") else {
        return Among::Every;
    };
    if !is_layered {
        let message = "`layers` is there, but the entry is of no layer";
        r.push(codes::CONTRADICTION, span, message);
    }
    Among::parse(word).unwrap_or_else(|| {
        let message = format!("`layers` is `{}`", shown(word));
        let help = "layers are `dense`, with one MLP, or `experts`";
        r.push_with_help(codes::NAME, span, message, help);
        Among::Every
    })
}

fn when(value: &Value, r: &mut Reader) -> Option<When> {
    let (text, span) = r.maybe_text(value, "when")?;
    match Condition::parse(text) {
        Ok(condition) => Some(When {
            text: text.to_owned(),
            condition,
        }),
        Err(error) => {
            r.push(codes::NAME, span, error.to_string());
            None
        }
    }
}

fn buffers(
    root: &Value,
    architecture: Architecture,
    switches: (&[String], &[String]),
    others: &[Buffer],
    r: &mut Reader,
) -> Vec<Buffer> {
    let list = r.list(root, "buffers");
    let mut all: Vec<Buffer> = Vec::new();
    for value in list.iter().take(MOST) {
        if value.members().is_none() {
            r.wrong("buffers", value, "an array of objects");
            continue;
        }
        r.foreign(value, BUFFER_KEYS);
        let on = is_on(value, switches, r);
        let Some((buffer, span)) = buffer(value, architecture, r) else {
            continue;
        };
        if !on {
            continue;
        }
        let parts = |own: &Buffer| -> Vec<String> {
            let mut names = own.parts().to_vec();
            names.push(own.name.clone());
            names
        };
        let taken: Vec<String> = others.iter().chain(&all).flat_map(parts).collect();
        if let Some(name) = parts(&buffer).iter().find(|own| taken.contains(own)) {
            let message = format!("`{}` appears twice", shown(name));
            r.push(codes::TWICE, span, message);
            continue;
        }
        all.push(buffer);
    }
    all
}

fn buffer(value: &Value, architecture: Architecture, r: &mut Reader) -> Option<(Buffer, Span)> {
    let (name, span) = r.text(value, "name")?;
    let (scope, scope_span) = r.text(value, "scope")?;
    let (role, role_span) = r.text(value, "role")?;
    let Some(scope) = Scope::parse(scope, architecture) else {
        let message = format!("no scope is `{}`", shown(scope));
        let help = Scope::words(architecture);
        r.push_with_help(codes::NAME, scope_span, message, help);
        return None;
    };
    let elements = r.list(value, "shape");
    if elements.is_empty() || elements.len() > 4 {
        let message = format!(
            "`{}` has rank {}, expected 1 to 4",
            shown(name),
            elements.len()
        );
        r.push(codes::SIZE, value.span, message);
        return None;
    }
    let shape = elements.iter().map(|own| extent(own, r));
    let shape = shape.collect::<Option<Vec<_>>>()?;
    let is_weight = match role {
        "weight" => true,
        "activation" => false,
        _ => {
            let message = format!("no role is `{}`", shown(role));
            r.push_with_help(
                codes::NAME,
                role_span,
                message,
                "a role is `weight` or `activation`",
            );
            return None;
        }
    };
    for key in ["parts", "optional", "unused"] {
        if let Some(own) = present(value, key).filter(|_| !is_weight) {
            let message = format!("`{key}` is given, but `{}` is not a weight", shown(name));
            r.push(codes::CONTRADICTION, own.span, message);
        }
    }
    let parts = match present(value, "parts") {
        Some(own) => {
            let parts = r.texts(value, "parts");
            let is_stacked = shape.len() == 3 && shape[0].dim == Dim::NumExperts;
            if parts.is_empty() || parts.len() > 8 || shape.len() > 2 && !is_stacked {
                r.wrong("parts", own, "1 to 8 tensors of a vector or a matrix");
            }
            parts
        }
        None => vec![name.to_owned()],
    };
    let kind = match (is_weight, r.maybe_truth(value, "unused")) {
        (true, Some(true)) => BufferKind::UnusedWeight,
        (true, _) => BufferKind::Weight(parts),
        (false, _) => BufferKind::Activation,
    };
    let buffer = Buffer {
        name: name.to_owned(),
        scope,
        kind,
        shape,
        when: when(value, r),
        optional: r.maybe_truth(value, "optional").unwrap_or(false),
        layers: among(value, scope.is_layered(), r),
    };
    Some((buffer, span))
}

/// The data flow up to a step.
struct Flow {
    written: Vec<String>,
    /// Whether a step was rejected, after which missing buffers are not reported.
    broken: bool,
}

#[allow(
    clippy::too_many_arguments,
    reason = "a part of a plan and all that it is read with"
)]
fn steps(
    root: &Value,
    (key, section, stack): (&str, PlanSection, Stack),
    switches: (&[String], &[String]),
    buffers: &[&Buffer],
    mut flow: Flow,
    result: &str,
    nodes: &mut Vec<Node>,
    r: &mut Reader,
) {
    for value in r.list(root, key).iter().take(MOST) {
        if value.members().is_none() {
            r.wrong(key, value, "an array of objects");
            continue;
        }
        let before = r.found.error_count();
        r.foreign(value, STEP_KEYS);
        let on = is_on(value, switches, r);
        let Some(kernel) = kernel(value, r) else {
            flow.broken = true;
            continue;
        };
        let when = when(value, r);
        let layers = among(value, section == PlanSection::Layer, r);
        if !on {
            continue;
        }
        let args = bindings(value, kernel, buffers, &mut flow, r);
        flow.broken |= r.found.error_count() > before;
        nodes.push(Node {
            stack,
            section,
            kernel,
            when,
            args,
            layers,
        });
    }
    if !r.found.has_errors() && !flow.written.iter().any(|own| own == result) {
        let message = format!("no step of `{key}` writes `{result}`");
        r.push(codes::FLOW, crate::read::field::span_of(root, key), message);
    }
}

fn kernel(value: &Value, r: &mut Reader) -> Option<&'static Kernel> {
    let (op, span) = r.text(value, "kernel")?;
    let found = kernel_of(op);
    if found.is_none() {
        let message = format!("no kernel is called `{}`", shown(op));
        let ops: Vec<&str> = KERNELS.iter().map(|own| own.op).collect();
        r.push_with_help(
            codes::NAME,
            span,
            message,
            format!("kernels are {}", ops.join(", ")),
        );
    }
    found
}

/// Returns the arguments that a step binds, in the order of its kernel.
fn bindings(
    value: &Value,
    kernel: &'static Kernel,
    buffers: &[&Buffer],
    flow: &mut Flow,
    r: &mut Reader,
) -> Vec<Arg> {
    let Some(bind) = r.required(value, "bind") else {
        return Vec::new();
    };
    let Some(members) = bind.members() else {
        r.wrong("bind", bind, "an object from arguments to buffers");
        return Vec::new();
    };
    for member in members {
        if !kernel.args.iter().any(|arg| arg.name == member.key) {
            let message = format!("`{}` has no argument `{}`", kernel.op, shown(&member.key));
            let names: Vec<&str> = kernel.args.iter().map(|arg| arg.name).collect();
            let help = format!("its arguments are {}", names.join(", "));
            r.push_with_help(codes::NAME, member.key_span, message, help);
        }
    }
    let mut args = Vec::new();
    let mut written = Vec::new();
    for arg in kernel.args {
        let Some((name, span)) = r.maybe_text(bind, arg.name) else {
            if !arg.optional {
                let message = format!("argument `{}` of `{}` is not bound", arg.name, kernel.op);
                r.push(codes::MISSING, bind.span, message);
            }
            continue;
        };
        let Some(buffer) = buffers.iter().find(|own| own.name == name) else {
            let message = format!("no buffer is called `{}`", shown(name));
            r.push(codes::NAME, span, message);
            continue;
        };
        let is_weight = buffer.is_weight();
        match arg.access {
            Access::Out | Access::InPlace | Access::Scratch if is_weight => {
                let message = format!("`{}` writes `{name}`, which is a weight", kernel.op);
                r.push(codes::FLOW, span, message);
            }
            Access::In | Access::InPlace => {
                let is_there = is_weight
                    || flow.written.iter().any(|own| own == name)
                    || ROTATION.contains(&name);
                if !is_there && !flow.broken {
                    let message = format!(
                        "`{}` reads `{name}`, which no step in front of it writes",
                        kernel.op
                    );
                    r.push(codes::FLOW, span, message);
                }
                if buffer.optional && !arg.optional {
                    let message = format!(
                        "`{name}` is optional, but `{}` always reads its argument `{}`",
                        kernel.op, arg.name
                    );
                    r.push(codes::FLOW, span, message);
                }
            }
            Access::Out | Access::Scratch => {}
        }
        if arg.access.writes() {
            written.push(name.to_owned());
        }
        args.push(Arg {
            name: arg.name,
            buffer: name.to_owned(),
            access: arg.access,
            optional: arg.optional,
        });
    }
    flow.written.extend(written);
    args
}
