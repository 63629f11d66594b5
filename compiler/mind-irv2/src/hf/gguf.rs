//! The configuration that a GGUF file carries in its header.

use std::fmt;

use mind_diag::{Code, Diagnostic, Diagnostics, Severity, Span};
use mind_weights::{Container, MetaValue, Role};

use super::config::{Said, WINDOW_HELP, rotary_dims};
use super::family::defaults;
use crate::checkpoint::{Index, Source, gguf_architecture};
use crate::codes;
use crate::config::{Biases, Family, Parameters, Rope, RopeScaling};

/// The keys of an architecture.
struct Keys<'s, 'a> {
    source: &'s Source<'a>,
    /// The word that they begin with.
    word: &'s str,
}

impl Keys<'_, '_> {
    fn error(&self, code: Code, message: String) -> Diagnostics {
        let message = format!("{}: {message}", self.source.name);
        Diagnostic::error(Span::FILE, message).code(code).into()
    }

    fn get(&self, key: &str) -> Option<&MetaValue> {
        self.source.file.meta(&format!("{}.{key}", self.word))
    }

    fn real(&self, key: &str) -> Option<f64> {
        self.get(key)?.real()
    }

    fn natural(&self, key: &str) -> Option<usize> {
        usize::try_from(self.get(key)?.natural()?).ok()
    }

    fn missing(&self, key: &str) -> Diagnostics {
        let message = format!("`{}.{key}` is missing or no number", self.word);
        self.error(codes::MISSING, message)
    }

    fn count(&self, key: &str) -> Result<usize, Diagnostics> {
        self.natural(key).ok_or_else(|| self.missing(key))
    }

    fn unsupported(&self, key: &str, found: &dyn fmt::Display) -> Diagnostics {
        let message = format!("`{}.{key}` is {found}, which is not supported", self.word);
        self.error(codes::UNSUPPORTED, message)
    }
}

/// Reads the keys of `general.architecture`.
///
/// Errors: another kind of file, another architecture, a missing key, what makes another model of it.
pub(super) fn read(source: &Source<'_>) -> Result<Said, Diagnostics> {
    let word = source.file.meta("general.architecture");
    let word = word.and_then(MetaValue::text).unwrap_or_default();
    let keys = Keys { source, word };
    if source.file.container() != Container::Gguf {
        let message = "there is no `config.json` beside it, which safetensors need".to_owned();
        return Err(keys.error(codes::MISSING, message));
    }
    let mut families = Family::ALL.into_iter();
    let family = families.find(|family| gguf_architecture(*family) == word);
    let family = family.ok_or_else(|| {
        let message = format!("`general.architecture` is {word:?}, which is not supported");
        keys.error(codes::UNSUPPORTED, message)
    })?;
    let heads = keys.count("attention.head_count")?;
    let hidden = keys.count("embedding_length")?;
    refusals(&keys)?;
    let mut warnings = Diagnostics::new();
    let context = window(&keys, keys.count("context_length")?, &mut warnings);
    let said_head_dim = keys.natural("attention.key_length");
    let head_dim = said_head_dim.or(hidden.checked_div(heads));
    let head_dim = head_dim.unwrap_or_default();
    let rotary = keys.natural("rope.dimension_count").unwrap_or(head_dim);
    let rotary_factor = match head_dim {
        0 => 1.0,
        head_dim => rotary as f64 / head_dim as f64,
    };
    let eps = "attention.layer_norm_rms_epsilon";
    let theta = keys.real("rope.freq_base");
    let parameters = Parameters {
        family,
        num_layers: keys.count("block_count")?,
        hidden_size: hidden,
        intermediate_size: keys.count("feed_forward_length")?,
        num_attention_heads: heads,
        num_kv_heads: keys.natural("attention.head_count_kv").unwrap_or(heads),
        head_dim,
        vocab_size: vocab_size(&keys)?,
        context_window: context,
        rms_norm_eps: keys.real(eps).ok_or_else(|| keys.missing(eps))?,
        rope: Some(Rope {
            theta: theta.unwrap_or(crate::rope::DEFAULT_THETA),
            scaling: scaling(&keys)?,
            rotary_dims: rotary_dims(head_dim, rotary_factor),
        }),
        tie_word_embeddings: false,
        biases: Biases::default(),
        qk_norm: defaults(family).qk_norm,
    };
    Ok(Said {
        parameters,
        head_dim: said_head_dim.is_some(),
        kv_heads: true,
        tied: None,
        rotary_factor,
        dtype: None,
        warnings,
        places: Vec::new(),
    })
}

/// The positions that a run may have: no more than a window lets each of them see, which is warned of.
fn window(keys: &Keys<'_, '_>, context: usize, warnings: &mut Diagnostics) -> usize {
    let width = keys.natural("attention.sliding_window");
    let Some(width) = width.filter(|width| *width > 0 && *width < context) else {
        return context;
    };
    let message = format!(
        "{}: `{}.attention.sliding_window` is {width}, less than the context of {context}: a run has {width} tokens at most",
        keys.source.name, keys.word
    );
    let found = Diagnostic::new(Severity::Warning, Span::FILE, message).code(codes::UNSUPPORTED);
    warnings.push(found.help(WINDOW_HELP));
    width
}

/// Errors: a mixture of experts.
fn refusals(keys: &Keys<'_, '_>) -> Result<(), Diagnostics> {
    let experts = keys.natural("expert_count").filter(|count| *count > 0);
    experts.map_or(
        Ok(()),
        |count| Err(keys.unsupported("expert_count", &count)),
    )
}

/// How the rotation is stretched.
///
/// Errors: another kind of stretching.
fn scaling(keys: &Keys<'_, '_>) -> Result<RopeScaling, Diagnostics> {
    match keys.get("rope.scaling.type").and_then(MetaValue::text) {
        None | Some("none") => Ok(RopeScaling::None),
        Some("linear") => Ok(RopeScaling::Linear {
            factor: keys.real("rope.scaling.factor").unwrap_or(1.0),
        }),
        Some(other) => Err(keys.unsupported("rope.scaling.type", &other)),
    }
}

/// The rows of the table of embeddings, which files that were padded have more of than they say.
fn vocab_size(keys: &Keys<'_, '_>) -> Result<usize, Diagnostics> {
    let index = Index::new(std::slice::from_ref(keys.source), &mut Diagnostics::new());
    let embedding = index.tensors.get(&(Role::TokenEmbedding, None));
    let rows = embedding.and_then(|(_, info)| info.shape.first().copied());
    rows.map_or_else(|| keys.count("vocab_size"), Ok)
}
