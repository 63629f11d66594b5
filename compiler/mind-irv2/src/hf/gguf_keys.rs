//! How each key of a GGUF header is handled, as one table.
//!
//! A key that the reference (`llama.cpp`) reads for the supported architectures is read or rejected. A key that the
//! reference does not read is ignored for a documented reason, or reported in a warning.

use mind_diag::{Diagnostic, Diagnostics, Severity, Span};
use mind_weights::MetaValue;

use super::gguf::is_centred;
use crate::attributes::Attribute;
use crate::checkpoint::Source;
use crate::codes;
use crate::family::Family;

/// How a key is handled.
pub(super) enum KeyHandling {
    /// It is read.
    Read,
    /// Values other than the default of the absent key are rejected.
    Refused {
        /// Returns whether a value is the default.
        is_neutral: fn(&MetaValue) -> bool,
        /// The reason why other values are rejected.
        reason: &'static str,
    },
    /// Some families read it; others reject values other than the default of the absent key.
    ReadBy {
        /// Returns whether a family reads it.
        family: fn(Family) -> bool,
        /// Returns whether a value is the default.
        is_neutral: fn(&MetaValue) -> bool,
        /// The reason why other values are rejected.
        reason: &'static str,
    },
    /// It is read for certain types of rotation, and has no effect for others.
    OfRotation(&'static str),
    /// It does not change logits, for this reason.
    Ignored(&'static str),
}

impl KeyHandling {
    /// Returns the reason why the key has no effect, if it has none.
    pub(super) fn reason(&self) -> Option<&'static str> {
        match *self {
            KeyHandling::Ignored(reason) | KeyHandling::OfRotation(reason) => Some(reason),
            KeyHandling::Read | KeyHandling::Refused { .. } | KeyHandling::ReadBy { .. } => None,
        }
    }
}

/// A key and how it is handled.
pub(super) struct GgufKey {
    pub(super) key: &'static str,
    pub(super) handling: KeyHandling,
}

const fn read(key: &'static str) -> GgufKey {
    let handling = KeyHandling::Read;
    GgufKey { key, handling }
}

const fn ignored(key: &'static str, reason: &'static str) -> GgufKey {
    let handling = KeyHandling::Ignored(reason);
    GgufKey { key, handling }
}

const fn refused(
    key: &'static str,
    is_neutral: fn(&MetaValue) -> bool,
    reason: &'static str,
) -> GgufKey {
    let handling = KeyHandling::Refused { is_neutral, reason };
    GgufKey { key, handling }
}

const fn read_by(
    key: &'static str,
    family: fn(Family) -> bool,
    is_neutral: fn(&MetaValue) -> bool,
    reason: &'static str,
) -> GgufKey {
    let handling = KeyHandling::ReadBy {
        family,
        is_neutral,
        reason,
    };
    GgufKey { key, handling }
}

const fn of_rotation(key: &'static str, reason: &'static str) -> GgufKey {
    let handling = KeyHandling::OfRotation(reason);
    GgufKey { key, handling }
}

fn has_experts(family: Family) -> bool {
    family.rules().experts.is_some()
}

fn has_shared_expert(family: Family) -> bool {
    let rule = family.rules().experts.as_ref();
    rule.is_some_and(|own| own.shared_width.is_some())
}

fn reads_root_of_squares(family: Family) -> bool {
    !is_centred(family)
}

fn has_two_residuals(family: Family) -> bool {
    let mut numbers = family.rules().numbers.iter();
    numbers.any(|own| own.attribute == Attribute::ParallelResidual)
}

fn is_nothing(_: &MetaValue) -> bool {
    false
}

fn is_zero(value: &MetaValue) -> bool {
    value.real() == Some(0.0)
}

fn is_one(value: &MetaValue) -> bool {
    value.real() == Some(1.0)
}

fn is_neutral_scale(value: &MetaValue) -> bool {
    is_zero(value) || is_one(value)
}

fn is_on(value: &MetaValue) -> bool {
    value.truth() == Some(true)
}

fn is_off(value: &MetaValue) -> bool {
    value.truth() == Some(false)
}

fn is_empty(value: &MetaValue) -> bool {
    *value == MetaValue::Array { count: 0 }
}

fn is_whole_file(value: &MetaValue) -> bool {
    matches!(value.natural(), Some(0 | 1))
}

fn is_model(value: &MetaValue) -> bool {
    value.text() == Some("model")
}

const EXPERTS: &str = "layers of the family have one MLP";
const CAUSAL: &str = "a position sees those in front of it";
const SCALES: &str = "the architecture has no such factor";
const YARN: &str = "only the default value is supported";
const PARTS: &str = "this is one shard of a split model; all shards are needed";

/// The keys that begin with the name of the architecture.
pub(super) const KEYS: &[GgufKey] = &[
    read("context_length"),
    read("embedding_length"),
    read("block_count"),
    read("feed_forward_length"),
    read("vocab_size"),
    read("attention.head_count"),
    read("attention.head_count_kv"),
    read("attention.key_length"),
    read("attention.value_length"),
    read_by(
        "attention.layer_norm_rms_epsilon",
        reads_root_of_squares,
        is_nothing,
        "normalisations subtract the mean: `attention.layer_norm_epsilon` is theirs",
    ),
    read_by(
        "attention.layer_norm_epsilon",
        is_centred,
        is_nothing,
        "normalisations subtract no mean: `attention.layer_norm_rms_epsilon` is theirs",
    ),
    read("attention.sliding_window"),
    read("rope.dimension_count"),
    read("rope.freq_base"),
    read("rope.scaling.type"),
    read("rope.scaling.factor"),
    read("rope.scale_linear"),
    read_by("attention.causal", Family::is_encoder, is_on, CAUSAL),
    refused(
        "attention.scale",
        is_zero,
        "scores are divided by the root of the width of heads",
    ),
    refused("attention.clamp_kqv", is_zero, "q, k and v are not clamped"),
    refused(
        "attention.max_alibi_bias",
        is_zero,
        "positions are rotations alone",
    ),
    refused("attention.temperature_scale", is_zero, SCALES),
    refused("attn_logit_softcapping", is_zero, "scores are not capped"),
    refused("final_logit_softcapping", is_zero, "logits are not capped"),
    refused("logit_scale", is_neutral_scale, SCALES),
    refused("residual_scale", is_neutral_scale, SCALES),
    refused("embedding_scale", is_neutral_scale, SCALES),
    read_by(
        "use_parallel_residual",
        has_two_residuals,
        is_off,
        "the MLP follows attention",
    ),
    read_by("expert_count", has_experts, is_zero, EXPERTS),
    read_by("expert_used_count", has_experts, is_zero, EXPERTS),
    read_by("expert_feed_forward_length", has_experts, is_zero, EXPERTS),
    read_by(
        "expert_shared_feed_forward_length",
        has_shared_expert,
        is_zero,
        "no expert computes every token",
    ),
    refused("expert_group_count", is_zero, EXPERTS),
    refused(
        "nextn_predict_layers",
        is_zero,
        "every layer is one of the decoder",
    ),
    refused(
        "classifier.output_labels",
        is_empty,
        "the head makes logits of tokens",
    ),
    read("rope.scaling.attn_factor"),
    refused(
        "rope.scaling.alpha",
        is_zero,
        "only the default value is supported",
    ),
    refused("rope.scaling.yarn_ext_factor", is_zero, YARN),
    refused("rope.scaling.yarn_attn_factor", is_one, YARN),
    refused("rope.scaling.yarn_log_multiplier", is_zero, YARN),
    of_rotation(
        "rope.scaling.yarn_beta_fast",
        "it acts in rotations of type yarn alone",
    ),
    of_rotation(
        "rope.scaling.yarn_beta_slow",
        "it acts in rotations of type yarn alone",
    ),
    of_rotation(
        "rope.scaling.original_context_length",
        "it acts in rotations of type yarn and longrope alone",
    ),
    ignored(
        "rope.scaling.finetuned",
        "it is a note on how the model was trained",
    ),
    ignored(
        "tensor_data_layout",
        "the rows of q and k are permuted in every file of llama",
    ),
    ignored(
        "pooling_type",
        "it changes no vector of a token, and is read where those of a text become one",
    ),
];

/// The keys that do not depend on the architecture.
pub(super) const OTHERS: &[GgufKey] = &[
    read("general.architecture"),
    read("general.alignment"),
    read("split.tensors.count"),
    refused("general.type", is_model, "the file must hold a model"),
    refused("split.count", is_whole_file, PARTS),
    refused("split.no", is_zero, PARTS),
];

/// Prefixes of keys that do not depend on the architecture and do not change logits, with the reasons.
pub(super) const IGNORED_PREFIXES: &[(&str, &str)] = &[
    (
        "general.",
        "a note on the file; the types of tensors say how they are stored",
    ),
    (
        "tokenizer.",
        "the prompt is token ids, or a text that `tokenizer.json` turns into them",
    ),
    ("quantize.", "a note on how the file was quantised"),
];

/// Rejects values that denote another model, and warns of keys that are not read.
///
/// Keys of other tools, which begin neither with the name of the architecture nor with a name of GGUF, are ignored.
pub(super) fn check(source: &Source<'_>, (word, family): (&str, Family), found: &mut Diagnostics) {
    for (key, value) in source.file.metadata() {
        let own = key.strip_prefix(word).and_then(|key| key.strip_prefix('.'));
        let row = match own {
            Some(own) => KEYS.iter().find(|row| row.key == own),
            None => OTHERS.iter().find(|row| row.key == key),
        };
        let named = format!("{}: `{key}`", source.name);
        match row.map(|row| &row.handling) {
            Some(KeyHandling::Refused { is_neutral, reason }) if !is_neutral(value) => {
                let message = format!("{named} is {value}, which is not supported: {reason}");
                let error = Diagnostic::error(Span::FILE, message);
                found.push(error.code(codes::UNSUPPORTED));
            }
            Some(KeyHandling::ReadBy {
                family: reads,
                is_neutral,
                reason,
            }) if !reads(family) && !is_neutral(value) => {
                let message = format!("{named} is {value}, which is not supported: {reason}");
                let error = Diagnostic::error(Span::FILE, message);
                found.push(error.code(codes::UNSUPPORTED));
            }
            Some(
                KeyHandling::Read
                | KeyHandling::Refused { .. }
                | KeyHandling::ReadBy { .. }
                | KeyHandling::OfRotation(_)
                | KeyHandling::Ignored(_),
            ) => {}
            None if own.is_some() => {
                let message = format!("{named} is not read: {word} has no such key");
                let warning = Diagnostic::new(Severity::Warning, Span::FILE, message);
                found.push(warning.code(codes::UNKNOWN_KEY));
            }
            None => {}
        }
    }
    let count = source.file.tensors().len();
    let key = "split.tensors.count";
    let given = source.file.meta(key);
    if let Some(given) = given.filter(|given| given.natural() != Some(count as u64)) {
        let message = format!(
            "{}: `{key}` is {given}, but the file has {count} tensors",
            source.name
        );
        found.push(Diagnostic::error(Span::FILE, message).code(codes::CONTRADICTION));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_stands_once_and_every_reason_says_something() {
        for rows in [KEYS, OTHERS] {
            for (at, row) in rows.iter().enumerate() {
                let others = &rows[at + 1..];
                assert!(
                    !others.iter().any(|other| other.key == row.key),
                    "{}",
                    row.key
                );
                match row.handling {
                    KeyHandling::Read => {}
                    KeyHandling::Refused { reason, .. }
                    | KeyHandling::ReadBy { reason, .. }
                    | KeyHandling::OfRotation(reason)
                    | KeyHandling::Ignored(reason) => {
                        assert!(reason.len() > 10, "{}", row.key);
                    }
                }
            }
        }
        for (prefix, reason) in IGNORED_PREFIXES {
            assert!(prefix.ends_with('.') && reason.len() > 10, "{prefix}");
        }
    }
}
