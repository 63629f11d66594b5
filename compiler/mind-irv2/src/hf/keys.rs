//! What becomes of each key of a `config.json`, as one table.
//!
//! A key that the reference (`transformers`) reads for a family is read or refused; what it does not read is passed
//! over for a written reason, or named in a warning.

use mind_diag::{Diagnostic, Severity};
use mind_json::Value;

use super::reader::Reader;
use crate::codes;
use crate::config::Family;

/// What becomes of a key.
pub(super) enum Use {
    /// It is read.
    Read,
    /// These families read it; another one warns of a value that says something.
    ReadBy(&'static [Family]),
    /// A value that says something is refused for this reason.
    Refused(&'static str),
    /// It changes no logit, for this reason.
    Ignored(&'static str),
}

impl Use {
    /// Why the key changes nothing, if it does not.
    pub(super) fn reason(&self) -> Option<&'static str> {
        match *self {
            Use::Ignored(reason) => Some(reason),
            Use::Read | Use::ReadBy(_) | Use::Refused(_) => None,
        }
    }
}

/// A row of the table.
pub(super) struct Row {
    pub(super) key: &'static str,
    pub(super) becomes: Use,
    /// Whether a value says nothing, as the absent key does.
    says_nothing: fn(&Value) -> bool,
}

const QWEN: &[Family] = &[Family::Qwen2, Family::Qwen3];
const WITH_WINDOW: &[Family] = &[Family::Qwen2, Family::Qwen3, Family::Mistral, Family::Phi3];

const GATED: &str = "the MLP is gated by silu";
pub(super) const EXPERTS: &str = "mixtures of experts are not";
pub(super) const CAUSAL: &str = "a position sees those in front of it";
const DECODER: &str = "the model is a decoder";
const WORDS: &str = "a note for people or for the code that loads the model";
const TOKENS: &str = "the prompt is turned into tokens by `tokenizer.json`, and a run ends after the tokens asked for";
const TRAINING: &str = "it acts in training alone";
const GENERATION: &str = "how tokens are drawn is said on the command line";
const RESULT: &str = "it says what a call returns, not what it computes";

fn is_off(value: &Value) -> bool {
    value.is_null() || value.truth() == Some(false)
}

fn is_on(value: &Value) -> bool {
    value.is_null() || value.truth() == Some(true)
}

fn is_zero(value: &Value) -> bool {
    value.is_null() || value.integer() == Some(0)
}

fn is_silu(value: &Value) -> bool {
    value.is_null() || matches!(value.text(), Some("silu" | "swish"))
}

fn is_full(value: &Value) -> bool {
    let mut types = value.elements().unwrap_or_default().iter();
    value.is_null() || types.all(|own| own.text() == Some("full_attention"))
}

const fn read(key: &'static str) -> Row {
    row(key, Use::Read, Value::is_null)
}

const fn ignored(key: &'static str, reason: &'static str) -> Row {
    row(key, Use::Ignored(reason), Value::is_null)
}

const fn refused(key: &'static str, reason: &'static str, says_nothing: fn(&Value) -> bool) -> Row {
    row(key, Use::Refused(reason), says_nothing)
}

const fn row(key: &'static str, becomes: Use, says_nothing: fn(&Value) -> bool) -> Row {
    Row {
        key,
        becomes,
        says_nothing,
    }
}

/// Every key that is known.
pub(super) const KEYS: &[Row] = &[
    read("model_type"),
    read("num_hidden_layers"),
    read("n_layer"),
    read("hidden_size"),
    read("n_embd"),
    read("d_model"),
    read("intermediate_size"),
    read("n_inner"),
    read("ffn_dim"),
    read("mlp_dim"),
    read("num_attention_heads"),
    read("n_head"),
    read("num_heads"),
    read("num_key_value_heads"),
    read("num_kv_heads"),
    read("head_dim"),
    read("vocab_size"),
    read("n_vocab"),
    read("max_position_embeddings"),
    read("n_positions"),
    read("context_length"),
    read("seq_len"),
    read("rms_norm_eps"),
    read("rope_theta"),
    read("rope_base"),
    read("rope_parameters"),
    read("rope_scaling"),
    read("original_max_position_embeddings"),
    read("partial_rotary_factor"),
    read("tie_word_embeddings"),
    read("dtype"),
    read("torch_dtype"),
    row(
        "attention_bias",
        Use::ReadBy(&[Family::Llama, Family::Qwen3]),
        is_off,
    ),
    row("mlp_bias", Use::ReadBy(&[Family::Llama]), is_off),
    row("sliding_window", Use::ReadBy(WITH_WINDOW), Value::is_null),
    row("use_sliding_window", Use::ReadBy(QWEN), is_off),
    row("max_window_layers", Use::ReadBy(QWEN), Value::is_null),
    row("layer_types", Use::ReadBy(QWEN), is_full),
    refused("hidden_act", GATED, is_silu),
    refused("hidden_activation", GATED, is_silu),
    refused(
        "quantization_config",
        "weights are read from plain tensors or GGUF",
        Value::is_null,
    ),
    refused("num_local_experts", EXPERTS, is_zero),
    refused("num_experts", EXPERTS, is_zero),
    refused("n_routed_experts", EXPERTS, is_zero),
    refused("no_rope_layers", "all layers rotate", Value::is_null),
    refused("is_causal", CAUSAL, is_on),
    refused("is_encoder_decoder", DECODER, is_off),
    refused("add_cross_attention", DECODER, is_off),
    ignored("architectures", "`model_type` says the family"),
    ignored("auto_map", WORDS),
    ignored("_name_or_path", WORDS),
    ignored("name_or_path", WORDS),
    ignored("transformers_version", WORDS),
    ignored("unsloth_version", WORDS),
    ignored("unsloth_fixed", WORDS),
    ignored("task_specific_params", WORDS),
    ignored("finetuning_task", WORDS),
    ignored("problem_type", WORDS),
    ignored("id2label", WORDS),
    ignored("label2id", WORDS),
    ignored("num_labels", WORDS),
    ignored("torchscript", WORDS),
    ignored(
        "attn_implementation",
        "every implementation computes the same attention",
    ),
    ignored(
        "_attn_implementation",
        "every implementation computes the same attention",
    ),
    ignored(
        "_attn_implementation_autoset",
        "every implementation computes the same attention",
    ),
    ignored("pretraining_tp", "a product in slices is the same product"),
    ignored("is_decoder", "the families are decoders whatever it says"),
    ignored("model_max_length", TOKENS),
    ignored("tokenizer_class", TOKENS),
    ignored("bos_token_id", TOKENS),
    ignored("eos_token_id", TOKENS),
    ignored("pad_token_id", TOKENS),
    ignored("sep_token_id", TOKENS),
    ignored("unk_token_id", TOKENS),
    ignored("cls_token_id", TOKENS),
    ignored("decoder_start_token_id", TOKENS),
    ignored("prefix", TOKENS),
    ignored("initializer_range", TRAINING),
    ignored("attention_dropout", TRAINING),
    ignored("hidden_dropout", TRAINING),
    ignored("attn_pdrop", TRAINING),
    ignored("resid_pdrop", TRAINING),
    ignored("embd_pdrop", TRAINING),
    ignored("gradient_checkpointing", TRAINING),
    ignored("use_cache", RESULT),
    ignored("return_dict", RESULT),
    ignored("use_return_dict", RESULT),
    ignored("output_attentions", RESULT),
    ignored("output_hidden_states", RESULT),
    ignored("chunk_size_feed_forward", RESULT),
    ignored("do_sample", GENERATION),
    ignored("temperature", GENERATION),
    ignored("top_k", GENERATION),
    ignored("top_p", GENERATION),
    ignored("max_length", GENERATION),
    ignored("min_length", GENERATION),
    ignored("num_beams", GENERATION),
    ignored("repetition_penalty", GENERATION),
];

impl Reader<'_> {
    /// Refuses what would make another model of it and warns of what nothing reads.
    pub(super) fn known_keys(&mut self, family: Family) {
        for member in self.config.members().unwrap_or_default() {
            let (key, value) = (member.key.as_str(), &member.value);
            let row = KEYS.iter().find(|row| row.key == key);
            let Some(row) = row else {
                if !is_off(value) {
                    let message = format!("`{key}` is not read: no supported family has this key");
                    let found = Diagnostic::new(Severity::Warning, member.key_span, message);
                    self.found.push(found.code(codes::UNKNOWN_KEY));
                }
                continue;
            };
            if (row.says_nothing)(value) {
                continue;
            }
            match row.becomes {
                Use::Read | Use::Ignored(_) => {}
                Use::Refused(reason) => self.unsupported(key, value, reason),
                Use::ReadBy(families) if families.contains(&family) => {}
                Use::ReadBy(_) => {
                    let name = family.name();
                    let shown = value.describe();
                    let message = format!("`{key}` is {shown}, which {name} does not read");
                    let found = Diagnostic::new(Severity::Warning, value.span, message);
                    self.found.push(found.code(codes::UNKNOWN_KEY));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_stands_once_and_every_reason_says_something() {
        for (at, row) in KEYS.iter().enumerate() {
            let others = &KEYS[at + 1..];
            assert!(
                !others.iter().any(|other| other.key == row.key),
                "{}",
                row.key
            );
            match row.becomes {
                Use::Read => {}
                Use::ReadBy(families) => assert!(!families.is_empty(), "{}", row.key),
                Use::Refused(reason) | Use::Ignored(reason) => {
                    assert!(reason.len() > 10, "{}", row.key);
                }
            }
        }
    }
}
