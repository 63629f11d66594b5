//! Reads the member `buffers`.

use std::collections::BTreeMap;

use mind_diag::Span;
use mind_json::Value;
use mind_weights::WeightType;

use super::dims::{Dims, extent};
use super::field::{Reader, present, shown, span_of};
use super::meta::Meta;
use crate::codes;
use crate::condition::{Condition, Mode};
use crate::config::Config;
use crate::family::Family;
use crate::layout::arena::ALIGNMENT;
use crate::layout::buffers::{Buffer, BufferKind, Scope, bytes_of};
use crate::layout::dims::Extent;
use crate::schema::WeightTypes;

/// A buffer that the document declares and the plan has.
pub(super) struct Declared<'v> {
    pub(super) name: &'v str,
    pub(super) alias_of: Option<(&'v str, Span)>,
    row: &'static Buffer,
    value: &'v Value,
    dtype: Option<WeightType>,
    shape: Option<Vec<Extent>>,
    condition: Option<Condition>,
}

impl Declared<'_> {
    /// Returns whether the buffer exists in every mode of inference.
    pub(super) fn exists(&self, config: &Config) -> bool {
        let holds = |mode| {
            let condition = self.condition.as_ref();
            condition.is_none_or(|own| own.holds(config, mode))
        };
        Mode::INFERENCE.into_iter().all(holds)
    }
}

const KEYS: &[&str] = &[
    "name",
    "scope",
    "role",
    "dtype",
    "shape",
    "resolved_shape",
    "alias_of",
    "condition",
    "optional",
];
/// The roles that existing files use for activations.
const ACTIVATIONS: [&str; 4] = ["activation", "input", "output", "scratch"];

/// The buffers that a document declares.
#[derive(Default)]
pub(super) struct Buffers<'v> {
    /// The buffers of the forward pass.
    pub(super) forward: Vec<Declared<'v>>,
    /// The gradients, each with the entry of its forward buffer. They are checked and dropped.
    gradients: Vec<Declared<'v>>,
}

/// The prefix of a gradient's name before that of its forward buffer.
const GRADIENT: &str = "d_";

/// Reads the buffers that the plan has, and their gradients.
pub(super) fn read<'v>(root: &'v Value, family: Family, r: &mut Reader) -> Buffers<'v> {
    let mut declared = Buffers::default();
    // The key includes the scope, because gradients of different scopes may have the same name.
    let mut names: BTreeMap<(&str, &str), Span> = BTreeMap::new();
    for value in r.list(root, "buffers") {
        if value.members().is_none() {
            r.wrong("buffers", value, "an array of objects");
            continue;
        }
        r.foreign(value, KEYS);
        let (name, scope) = (r.text(value, "name"), r.text(value, "scope"));
        let role = r.text(value, "role");
        let (Some((name, span)), Some((scope, scope_span)), Some(role)) = (name, scope, role)
        else {
            continue;
        };
        if names.insert((scope, name), span).is_some() {
            let message = format!("buffer `{}` appears twice", shown(name));
            r.push(codes::TWICE, span, message);
            continue;
        }
        let architecture = family.architecture();
        match scope {
            scope if Scope::parse(scope, architecture).is_some() => {}
            "layer" | "encoder" | "decoder" | "cross" => {
                let message = format!("buffers of {} have no scope `{scope}`", model_of(family));
                let help = Scope::words(architecture);
                r.push_with_help(codes::UNSUPPORTED, scope_span, message, help);
                continue;
            }
            _ => {
                let message = format!("no scope is `{}`", shown(scope));
                let help = Scope::words(architecture);
                r.push_with_help(codes::NAME, scope_span, message, help);
                continue;
            }
        }
        let own = entry(value, family, (name, span), (scope, scope_span), role, r);
        match role.0 {
            "grad" => declared.gradients.extend(own),
            _ => declared.forward.extend(own),
        }
    }
    declared
}

fn entry<'v>(
    value: &'v Value,
    family: Family,
    (name, span): (&'v str, Span),
    (scope, scope_span): (&'v str, Span),
    (role, role_span): (&'v str, Span),
    r: &mut Reader,
) -> Option<Declared<'v>> {
    let dtype = r.text(value, "dtype").and_then(|(word, span)| {
        let dtype = WeightType::parse(word);
        if dtype.is_none() {
            let message = format!("no dtype is `{}`", shown(word));
            let words = WeightType::all().map(WeightType::name);
            let help = format!("dtypes are {}", words.collect::<Vec<_>>().join(", "));
            r.push_with_help(codes::NAME, span, message, help);
        }
        dtype
    });
    let elements = r.list(value, "shape");
    if elements.is_empty() || elements.len() > 4 {
        let message = format!(
            "`{}` has rank {}, expected 1 to 4",
            shown(name),
            elements.len()
        );
        r.push(codes::SIZE, span_of(value, "shape"), message);
    }
    let shape: Option<Vec<Extent>> = elements.iter().map(|own| extent(own, r)).collect();
    let condition = condition(value, r);
    r.maybe_truth(value, "optional");
    let alias_of = r.maybe_text(value, "alias_of");
    let is_gradient = role == "grad";
    let forward = if is_gradient {
        name.strip_prefix(GRADIENT)
    } else {
        Some(name)
    };
    let Some(row) = forward.and_then(|name| family.buffer(name)) else {
        if is_gradient {
            let message = format!(
                "no buffer of {} has the gradient `{}`",
                model_of(family),
                shown(name)
            );
            let help = "a gradient has the name of its forward buffer after `d_`, as in `d_wq`";
            r.push_with_help(codes::NAME, span, message, help);
            return None;
        }
        let message = format!(
            "no buffer of {} is called `{}`",
            model_of(family),
            shown(name)
        );
        let names: Vec<&str> = family
            .buffers()
            .iter()
            .map(|row| row.name.as_str())
            .collect();
        let help = format!("buffers are {}", names.join(", "));
        r.push_with_help(codes::NAME, span, message, help);
        return None;
    };
    let own = row.scope.name(family.architecture());
    if scope != own {
        let message = format!("`{name}` has scope `{scope}`, expected `{own}`");
        r.push(codes::CONTRADICTION, scope_span, message);
    }
    let fits = match row.is_weight() {
        _ if is_gradient => true,
        true => role == "weight",
        false => ACTIVATIONS.contains(&role),
    };
    if !fits {
        let expected = if row.is_weight() {
            "weight"
        } else {
            "activation"
        };
        let message = format!("`{name}` has role `{}`, expected `{expected}`", shown(role));
        r.push(codes::NAME, role_span, message);
    }
    Some(Declared {
        name,
        alias_of,
        row,
        value,
        dtype,
        shape,
        condition,
    })
}

/// Returns the name of a model of `family` in messages.
fn model_of(family: Family) -> &'static str {
    family.architecture().model()
}

/// Returns the condition of an entry. An invalid one is reported and ignored.
pub(super) fn condition(value: &Value, r: &mut Reader) -> Option<Condition> {
    let (text, span) = r.maybe_text(value, "condition")?;
    match Condition::parse(text) {
        Ok(condition) => Some(condition),
        Err(error) => {
            r.push(codes::NAME, span, error.to_string());
            None
        }
    }
}

/// Checks the declared buffers against the configuration; returns the types of weights.
pub(super) fn check(
    Buffers { forward, gradients }: &Buffers<'_>,
    config: &Config,
    dims: &Dims,
    meta: &Meta<'_>,
    r: &mut Reader,
) -> WeightTypes {
    for own in gradients {
        if let Some(dtype) = own.dtype {
            check_sizes(own, dtype, config, dims, r);
        }
    }
    let mut dtypes = WeightTypes::default();
    for own in forward {
        let Some(dtype) = own.dtype else { continue };
        let span = span_of(own.value, "dtype");
        match &own.row.kind {
            BufferKind::Activation if dtype != WeightType::F32 => {
                let message = format!("`{}` is {dtype}, but activations are fp32", own.name);
                r.push(codes::CONTRADICTION, span, message);
            }
            BufferKind::Activation | BufferKind::UnusedWeight => {}
            BufferKind::Weight(parts) => parts.iter().for_each(|part| dtypes.set(part, dtype)),
        }
        check_alias(own, forward, config, r);
        check_sizes(own, dtype, config, dims, r);
    }
    for &(layer, part, dtype) in &meta.dtypes {
        dtypes.set_in_layer(layer, part, dtype);
    }
    if let Some(first) = gradients.first().filter(|_| !r.found.has_errors()) {
        let count = gradients.len();
        let message =
            format!("buffers of role `grad` are dropped, {count} in all: models are run forward");
        r.note(first.value.span, message);
    }
    dtypes
}

/// Checks an alias. Only the output head may be one, of the embedding table.
fn check_alias(own: &Declared<'_>, declared: &[Declared<'_>], config: &Config, r: &mut Reader) {
    let Some((target, span)) = own.alias_of else {
        if own.name == "lm_head_weight" && config.tie_word_embeddings {
            let message = "the embeddings are tied, but `lm_head_weight` has no `alias_of`";
            r.push(codes::CONTRADICTION, own.value.span, message);
        }
        return;
    };
    let other = declared.iter().find(|other| other.name == target);
    let Some(other) = other else {
        let message = format!(
            "`{}` is an alias of `{}`, which is not declared",
            own.name,
            shown(target)
        );
        r.push(codes::NAME, span, message);
        return;
    };
    if (own.name, target) != ("lm_head_weight", "token_emb") {
        let message = format!("`{}` cannot be an alias of `{target}`", own.name);
        let help = "only `lm_head_weight` may be an alias, of `token_emb`";
        r.push_with_help(codes::CONTRADICTION, span, message, help);
        return;
    }
    if !config.tie_word_embeddings {
        let message =
            "`lm_head_weight` is an alias of `token_emb`, but the embeddings are not tied";
        r.push(codes::CONTRADICTION, span, message);
    }
    let dtypes = own.dtype.zip(other.dtype);
    if dtypes.is_some_and(|(own, other)| own != other) {
        let message =
            "`lm_head_weight` and `token_emb`, which it is an alias of, have different dtypes";
        r.push(codes::CONTRADICTION, span_of(own.value, "dtype"), message);
    }
}

fn check_sizes(
    own: &Declared<'_>,
    dtype: WeightType,
    config: &Config,
    dims: &Dims,
    r: &mut Reader,
) {
    let Some(shape) = &own.shape else { return };
    let span = span_of(own.value, "shape");
    let same = shape.len() == own.row.shape.len()
        && shape
            .iter()
            .zip(&own.row.shape)
            .all(|(&found, &expected)| found.is_same(expected, config));
    if !same {
        let message = format!(
            "`{}` has the shape {}, expected {}",
            own.name,
            shape_text(shape),
            shape_text(&own.row.shape)
        );
        r.push(codes::SIZE, span, message);
        return;
    }
    let resolved = own.row.resolved(config, dims.tokens);
    let bytes = resolved
        .as_deref()
        .and_then(|shape| Some((shape, bytes_of(shape, dtype)?)));
    let Some((counts, bytes)) = bytes else {
        r.push(
            codes::SIZE,
            span,
            format!("the bytes of `{}` do not fit", own.name),
        );
        return;
    };
    let Some(value) = present(own.value, "resolved_shape") else {
        return;
    };
    let natural = |value: &Value| usize::try_from(value.integer()?).ok();
    let found: Option<Vec<usize>> = value
        .elements()
        .and_then(|all| all.iter().map(natural).collect());
    let Some(found) = found else {
        r.wrong("resolved_shape", value, "an array of whole numbers");
        return;
    };
    let rounded = bytes.checked_next_multiple_of(ALIGNMENT);
    let is_bytes = |found: &usize| *found == bytes || Some(*found) == rounded;
    let fits = found == counts || matches!(found.as_slice(), [found] if is_bytes(found));
    if !fits {
        let message = format!(
            "`resolved_shape` of `{}` is {found:?}, expected [{bytes}] bytes or {counts:?} elements",
            own.name
        );
        r.push(codes::SIZE, value.span, message);
    }
}

fn shape_text(shape: &[Extent]) -> String {
    let extents = shape.iter().map(|extent| match (extent.mult, extent.div) {
        (1, 1) => extent.dim.name().to_owned(),
        (mult, 1) => format!("{mult}*{}", extent.dim.name()),
        (mult, div) => format!("{mult}*{}/{div}", extent.dim.name()),
    });
    format!("[{}]", extents.collect::<Vec<_>>().join(", "))
}
