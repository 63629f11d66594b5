//! Reads the member `config`.

use mind_json::{Member, Value};

use super::buffers::Declared;
use super::field::{Reader, present, shown, span_of};
use crate::attributes::{Activation, Attribute, Attributes, Layers};
use crate::codes;
use crate::config::{Biases, Config, ConfigError, Parameters, Rope, RopeScaling};
use crate::experts::Experts;
use crate::factors::{FrequencyFactors, MAX_FACTORS};
use crate::family::Family;
use crate::stacks::EncoderSizes;

const KEYS: &[&str] = &[
    "num_layers",
    "hidden_size",
    "intermediate_size",
    "num_attention_heads",
    "num_kv_heads",
    "head_dim",
    "vocab_size",
    "context_window",
    "rms_norm_eps",
    "rope_theta",
    "rope_scaling",
    "rope_factors",
    "rotary_dims",
    "tie_word_embeddings",
    "hidden_act",
    "sliding_layers",
    "no_rope_layers",
    "num_experts",
    "experts_per_token",
    "expert_intermediate_size",
    "shared_intermediate_size",
    "normalised_shares",
    "dense_layers",
    "encoder_layers",
    "encoder_intermediate_size",
    "encoder_attention_heads",
    "encoder_head_dim",
    "source_window",
];

/// The default epsilon of normalisations.
const DEFAULT_EPS: f64 = 1e-6;
/// Returns the hyperparameters, and members of other tools; `None` after an error.
///
/// The biases are set by the caller.
pub(super) fn read(
    root: &Value,
    family: Family,
    buffers: &[Declared<'_>],
    r: &mut Reader,
) -> Option<(Parameters, Vec<Member>)> {
    let config = r.required(root, "config")?;
    if config.members().is_none() {
        r.wrong("config", config, "an object");
        return None;
    }
    let mut known = KEYS.to_vec();
    known.extend(Attribute::all().map(Attribute::key));
    let foreign = r.foreign(config, &known);
    let activation = activation(config, r);
    let attributes = attributes(config, r)?;
    let sliding_layers = layers(config, "sliding_layers", r);
    let no_rope_layers = layers(config, "no_rope_layers", r);
    let experts = experts(config, r);
    let encoder = encoder(config, family, r);
    let mut count = |key: &str| {
        let value = r.required(config, key)?;
        r.natural(key, value)
    };
    let num_layers = count("num_layers");
    let hidden_size = count("hidden_size");
    let intermediate_size = count("intermediate_size");
    let num_attention_heads = count("num_attention_heads");
    let num_kv_heads = count("num_kv_heads");
    let vocab_size = count("vocab_size");
    let context_window = count("context_window");
    let rms_norm_eps = real(config, "rms_norm_eps", DEFAULT_EPS, r);
    let theta = real(config, "rope_theta", crate::rope::DEFAULT_THETA, r);
    let scaling = scaling(config, context_window, r);
    let factors = factors(config, r);
    let tied = r.maybe_truth(config, "tie_word_embeddings");
    let meta = root.get("meta");
    let said = meta.and_then(|meta| present(meta, "tie_word_embeddings")?.truth());
    let aliased = buffers
        .iter()
        .any(|own| own.name == "lm_head_weight" && own.alias_of.is_some());
    let (hidden_size, num_attention_heads) = (hidden_size?, num_attention_heads?);
    let head_dim = head_dim(root, config, hidden_size, num_attention_heads, r)?;
    let rotary_dims = match present(config, "rotary_dims") {
        Some(value) => r.natural("rotary_dims", value)?,
        None => head_dim,
    };
    let rope = (theta? != 0.0).then_some(Rope {
        theta: theta?,
        scaling: scaling?,
        factors: factors?,
        rotary_dims,
    });
    let parameters = Parameters {
        family,
        num_layers: num_layers?,
        hidden_size,
        intermediate_size: intermediate_size?,
        num_attention_heads,
        num_kv_heads: num_kv_heads?,
        head_dim,
        vocab_size: vocab_size?,
        context_window: context_window?,
        rms_norm_eps: rms_norm_eps?,
        rope,
        tie_word_embeddings: tied.or(said).unwrap_or(aliased),
        biases: Biases::default(),
        experts: experts?,
        encoder: encoder?,
        activation: activation?,
        attributes,
        sliding_layers: sliding_layers?,
        no_rope_layers: no_rope_layers?,
    };
    Some((parameters, foreign))
}

/// Checks the parameters, and reports errors at their members.
pub(super) fn checked(root: &Value, parameters: Parameters, r: &mut Reader) -> Option<Config> {
    let config = root.get("config")?;
    let place = |error: &ConfigError| {
        let own = error.key().map(|key| match key {
            "partial_rotary_factor" => "rotary_dims",
            key => key,
        });
        own.map_or(config.span, |key| span_of(config, key))
    };
    match Config::new(parameters) {
        Ok(config) => Some(config),
        Err(errors) => {
            for error in &errors {
                r.push(codes::RANGE, place(error), error.to_string());
            }
            None
        }
    }
}

fn activation(config: &Value, r: &mut Reader) -> Option<Activation> {
    let Some((word, span)) = r.maybe_text(config, "hidden_act") else {
        return Some(Activation::default());
    };
    let found = Activation::parse(word);
    if found.is_none() {
        let message = format!("no activation is called `{}`", shown(word));
        let names = Activation::ALL.map(Activation::name).join(", ");
        r.push_with_help(
            codes::NAME,
            span,
            message,
            format!("activations are {names}"),
        );
    }
    found
}

/// Returns the experts of the model, if it has some; the outer `None` follows an error.
fn experts(config: &Value, r: &mut Reader) -> Option<Option<Experts>> {
    let Some(count) = present(config, "num_experts") else {
        return Some(None);
    };
    let count = r.natural("num_experts", count);
    let mut number = |key: &str| {
        let value = r.required(config, key)?;
        r.natural(key, value)
    };
    let per_token = number("experts_per_token");
    let width = number("expert_intermediate_size");
    let shared_width = match present(config, "shared_intermediate_size") {
        Some(value) => r.natural("shared_intermediate_size", value),
        None => Some(0),
    };
    let normalised = r.maybe_truth(config, "normalised_shares").unwrap_or(false);
    let dense_layers = layers(config, "dense_layers", r);
    Some(Some(Experts {
        count: count?,
        per_token: per_token?,
        width: width?,
        shared_width: shared_width?,
        normalised,
        dense_layers: dense_layers?,
    }))
}

/// Returns the encoder of an encoder-decoder; the outer `None` follows an error.
fn encoder(config: &Value, family: Family, r: &mut Reader) -> Option<Option<EncoderSizes>> {
    if family.encoder().is_none() && present(config, "encoder_layers").is_none() {
        return Some(None);
    }
    let mut number = |key: &str| {
        let value = r.required(config, key)?;
        r.natural(key, value)
    };
    let num_layers = number("encoder_layers");
    let intermediate_size = number("encoder_intermediate_size");
    let num_attention_heads = number("encoder_attention_heads");
    let head_dim = number("encoder_head_dim");
    let context_window = number("source_window");
    Some(Some(EncoderSizes {
        num_layers: num_layers?,
        intermediate_size: intermediate_size?,
        num_attention_heads: num_attention_heads?,
        head_dim: head_dim?,
        context_window: context_window?,
    }))
}

fn attributes(config: &Value, r: &mut Reader) -> Option<Attributes> {
    let mut attributes = Attributes::default();
    for attribute in Attribute::all() {
        attributes.set(
            attribute,
            real(config, attribute.key(), attribute.neutral(), r)?,
        );
    }
    Some(attributes)
}

/// Returns the layers that an array lists.
fn layers(config: &Value, key: &str, r: &mut Reader) -> Option<Layers> {
    let Some(value) = present(config, key) else {
        return Some(Layers::NONE);
    };
    let numbers = value.elements().unwrap_or_default().iter();
    let numbers: Option<Vec<usize>> = numbers
        .map(|own| usize::try_from(own.integer()?).ok())
        .collect();
    let valid = numbers.filter(|own| own.iter().all(|&layer| layer < crate::config::MAX_COUNT));
    if value.elements().is_none() || valid.is_none() {
        r.wrong(key, value, "an array of layers");
        return None;
    }
    valid.map(Layers::of)
}

fn real(config: &Value, key: &str, default: f64, r: &mut Reader) -> Option<f64> {
    let Some(value) = present(config, key) else {
        return Some(default);
    };
    let real = value.real();
    if real.is_none() {
        r.wrong(key, value, "a number");
    }
    real
}

/// Returns the head size from `config`, else dimension 3, else `hidden_size` divided by the number of heads.
fn head_dim(
    root: &Value,
    config: &Value,
    hidden_size: usize,
    heads: usize,
    r: &mut Reader,
) -> Option<usize> {
    if let Some(value) = present(config, "head_dim") {
        return r.natural("head_dim", value);
    }
    let dims = root.get("dimensions").and_then(Value::elements);
    let own = dims.unwrap_or_default().iter().find(|dim| {
        let id = dim.get("id").and_then(Value::integer);
        id == Some(3)
    });
    if let Some(value) = own.and_then(|dim| dim.get("value")) {
        return r.natural("value", value);
    }
    if heads == 0 || !hidden_size.is_multiple_of(heads) {
        let message = format!(
            "`head_dim` is not said, and `num_attention_heads` {heads} does not divide `hidden_size` {hidden_size}"
        );
        r.push(codes::RANGE, config.span, message);
        return None;
    }
    Some(hidden_size / heads)
}

/// Returns the frequency divisors, if there are any; the outer `None` follows an error.
fn factors(config: &Value, r: &mut Reader) -> Option<Option<FrequencyFactors>> {
    let Some(value) = present(config, "rope_factors") else {
        return Some(None);
    };
    let numbers = value.elements().unwrap_or_default().iter();
    let numbers: Option<Vec<f32>> = numbers.map(|own| Some(own.real()? as f32)).collect();
    let factors = numbers.and_then(|numbers| FrequencyFactors::new(&numbers));
    if factors.is_none() {
        r.wrong(
            "rope_factors",
            value,
            &format!("an array of 1 to {MAX_FACTORS} numbers"),
        );
        return None;
    }
    Some(factors)
}

fn scaling(config: &Value, positions: Option<usize>, r: &mut Reader) -> Option<RopeScaling> {
    let Some(value) = present(config, "rope_scaling") else {
        return Some(RopeScaling::None);
    };
    match crate::rope::scaling(value, None, positions.unwrap_or(1)) {
        Ok(scaling) => {
            r.foreign(value, crate::rope::keys(scaling));
            Some(scaling)
        }
        Err(found) => {
            r.found.push(*found);
            None
        }
    }
}
