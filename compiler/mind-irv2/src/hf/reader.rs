//! Reads members of a configuration, and reports errors.

use mind_diag::{Code, Diagnostic, Diagnostics, Span};
use mind_json::Value;

use crate::codes;
use crate::family::Family;
use crate::rope::{contradiction, means_the_same};

/// A hyperparameter with its keys in configurations.
pub(super) struct Key {
    pub(super) ours: &'static str,
    theirs: &'static [&'static str],
}

const fn key(ours: &'static str, theirs: &'static [&'static str]) -> Key {
    Key { ours, theirs }
}

pub(super) const LAYERS: Key = key("num_layers", &["num_hidden_layers", "n_layer"]);
pub(super) const HIDDEN: Key = key("hidden_size", &["hidden_size", "n_embd", "d_model"]);
pub(super) const INTERMEDIATE: Key = key(
    "intermediate_size",
    &["intermediate_size", "n_inner", "ffn_dim", "mlp_dim"],
);
pub(super) const HEADS: Key = key(
    "num_attention_heads",
    &["num_attention_heads", "n_head", "num_heads"],
);
pub(super) const KV_HEADS: Key = key("num_kv_heads", &["num_key_value_heads", "num_kv_heads"]);
pub(super) const VOCAB: Key = key("vocab_size", &["vocab_size", "n_vocab"]);
pub(super) const CONTEXT: Key = key(
    "context_window",
    &[
        "max_position_embeddings",
        "n_positions",
        "context_length",
        "seq_len",
    ],
);
pub(super) const DTYPE: Key = key("dtype", &["dtype", "torch_dtype"]);
pub(super) const HEAD_DIM: Key = key("head_dim", &["head_dim"]);
pub(super) const ENCODER_LAYERS: Key = key("encoder_layers", &["encoder_layers"]);
pub(super) const ENCODER_INTERMEDIATE: Key = key("encoder_intermediate_size", &["encoder_ffn_dim"]);
pub(super) const ENCODER_HEADS: Key = key("encoder_attention_heads", &["encoder_attention_heads"]);
pub(super) const SOURCE: Key = key("source_window", &["max_source_positions"]);
pub(super) const EPS: Key = key("rms_norm_eps", &["rms_norm_eps"]);

/// A configuration, the diagnostics found in it, and the locations of its hyperparameters.
pub(super) struct Reader<'v> {
    pub(super) config: &'v Value,
    pub(super) found: Diagnostics,
    pub(super) places: Vec<(&'static str, Span)>,
    /// The family, once it is known, because families may have their own keys.
    pub(super) family: Option<Family>,
}

impl<'v> Reader<'v> {
    /// Creates a reader without diagnostics.
    pub(super) fn new(config: &'v Value) -> Reader<'v> {
        Reader {
            config,
            found: Diagnostics::new(),
            places: Vec::new(),
            family: None,
        }
    }

    /// Returns the keys of a hyperparameter in configurations.
    fn keys(&self, key: &Key) -> Vec<&'static str> {
        let own = self.family.and_then(|own| own.rules().keys_of(key.ours));
        match own {
            Some(own) => own.iter().map(String::as_str).collect(),
            None => key.theirs.to_vec(),
        }
    }

    pub(super) fn has(&self, key: &Key) -> bool {
        self.keys(key)
            .iter()
            .any(|own| self.config.get(own).is_some())
    }

    /// Returns whether a key of the hyperparameter has a value.
    pub(super) fn is_given(&self, key: &Key) -> bool {
        self.keys(key).iter().any(|own| self.get(own).is_some())
    }

    pub(super) fn push(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.found.push(Diagnostic::error(span, message).code(code));
    }

    /// Returns the value of `key`, which is a path of nested keys separated by `/`; `None` if it is absent.
    pub(super) fn at(&self, key: &str) -> Option<&'v Value> {
        let mut parts = key.split('/');
        parts.try_fold(self.config, |value, part| value.get(part))
    }

    /// Returns the value of `key`; `None` if it is absent or `null`.
    pub(super) fn get(&self, key: &str) -> Option<&'v Value> {
        self.at(key).filter(|value| !value.is_null())
    }

    pub(super) fn place(&self, ours: &str) -> Span {
        let own = self.places.iter().find(|(own, _)| *own == ours);
        own.map_or(self.config.span, |(_, span)| *span)
    }

    pub(super) fn unsupported(&mut self, key: &str, value: &Value, reason: &str) {
        let message = format!(
            "`{key}` is {}, which is not supported: {reason}",
            value.describe()
        );
        self.push(codes::UNSUPPORTED, value.span, message);
    }

    /// Returns the first key of a hyperparameter that is present, with its value. Other keys with different values are
    /// reported.
    pub(super) fn find(&mut self, key: &Key) -> Option<(&'static str, &'v Value)> {
        let present = |own: &'static str| Some((own, self.get(own)?));
        let given: Vec<_> = self.keys(key).into_iter().filter_map(present).collect();
        let &(first, value) = given.first()?;
        let other = given
            .into_iter()
            .find(|(_, own)| !means_the_same(value, own));
        self.places.push((key.ours, value.span));
        if let Some(other) = other {
            self.found.push(contradiction((first, value), other));
        }
        Some((first, value))
    }

    pub(super) fn count(&mut self, key: &Key) -> Option<usize> {
        let Some((name, value)) = self.find(key) else {
            let rules = self.family.map(Family::rules);
            let default = rules.and_then(|own| own.default_of(key.ours));
            if let Some(default) = default {
                return Some(default as usize);
            }
            let name = self.keys(key).first().copied().unwrap_or(key.ours);
            let message = format!("`{name}` is missing");
            self.push(codes::MISSING, self.config.span, message);
            return None;
        };
        self.natural(name, value)
    }

    pub(super) fn maybe_count(&mut self, key: &Key) -> Option<usize> {
        let (name, value) = self.find(key)?;
        self.natural(name, value)
    }

    pub(super) fn natural(&mut self, key: &str, value: &Value) -> Option<usize> {
        let natural = value.integer().and_then(|own| usize::try_from(own).ok());
        if natural.is_none() {
            let message = format!("`{key}` is {}, expected a whole number", value.describe());
            self.push(codes::KIND, value.span, message);
        }
        natural
    }

    pub(super) fn real(&mut self, key: &Key, default: f64) -> Option<f64> {
        let Some((name, value)) = self.find(key) else {
            return Some(default);
        };
        self.number(name, value)
    }

    pub(super) fn number(&mut self, key: &str, value: &Value) -> Option<f64> {
        let real = value.real();
        if real.is_none() {
            let message = format!("`{key}` is {}, expected a number", value.describe());
            self.push(codes::KIND, value.span, message);
        }
        real
    }

    pub(super) fn truth(&mut self, key: &str) -> Option<bool> {
        let value = self.get(key)?;
        let truth = value.truth();
        if truth.is_none() {
            let message = format!("`{key}` is {}, expected true or false", value.describe());
            self.push(codes::KIND, value.span, message);
        }
        truth
    }
}
