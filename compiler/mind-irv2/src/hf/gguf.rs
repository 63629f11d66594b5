//! The configuration that a GGUF file carries in its header.

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_weights::{Container, MetaValue, Role};

use super::config::{Said, rotary_dims};
use super::family::defaults;
use crate::checkpoint::{Index, Source, gguf_architecture};
use crate::codes;
use crate::config::{Biases, Family, Parameters, Rope, RopeScaling};

/// Reads the keys of `general.architecture`.
///
/// Errors: another kind of file, another architecture, a missing key, a rotation that is not supported.
pub(super) fn read(source: &Source<'_>) -> Result<Said, Diagnostics> {
    let error = |code, message: String| -> Diagnostics {
        Diagnostic::error(Span::FILE, format!("{}: {message}", source.name))
            .code(code)
            .into()
    };
    if source.file.container() != Container::Gguf {
        let message = "there is no `config.json` beside it, which safetensors need".to_owned();
        return Err(error(codes::MISSING, message));
    }
    let word = source.file.meta("general.architecture");
    let word = word.and_then(MetaValue::text).unwrap_or_default();
    let family = Family::ALL
        .into_iter()
        .find(|family| gguf_architecture(*family) == word);
    let family = family.ok_or_else(|| {
        let message = format!("`general.architecture` is {word:?}, which is not supported");
        error(codes::UNSUPPORTED, message)
    })?;
    let get = |key: &str| source.file.meta(&format!("{word}.{key}"));
    let natural = |key: &str| {
        let value = get(key)?.natural()?;
        usize::try_from(value).ok()
    };
    let count = |key: &str| {
        let missing = || {
            error(
                codes::MISSING,
                format!("`{word}.{key}` is missing or no number"),
            )
        };
        natural(key).ok_or_else(missing)
    };
    let rules = defaults(family);
    let heads = count("attention.head_count")?;
    let hidden = count("embedding_length")?;
    let context = count("context_length")?;
    let window = natural("attention.sliding_window").filter(|width| *width > 0 && *width < context);
    if let Some(width) = window {
        let message = format!(
            "`{word}.attention.sliding_window` is {width}, less than the context of {context}, which is not supported"
        );
        return Err(error(codes::UNSUPPORTED, message));
    }
    if let Some(experts) = natural("expert_count").filter(|count| *count > 0) {
        let message = format!("`{word}.expert_count` is {experts}, which is not supported");
        return Err(error(codes::UNSUPPORTED, message));
    }
    let scaling = match get("rope.scaling.type").and_then(MetaValue::text) {
        None | Some("none") => RopeScaling::None,
        Some("linear") => RopeScaling::Linear {
            factor: get("rope.scaling.factor")
                .and_then(MetaValue::real)
                .unwrap_or(1.0),
        },
        Some(other) => {
            let message =
                format!("`{word}.rope.scaling.type` is {other:?}, which is not supported");
            return Err(error(codes::UNSUPPORTED, message));
        }
    };
    let stretched = source.file.info("rope_freqs.weight").is_some();
    if stretched {
        let message = "`rope_freqs.weight` stretches the rotation by rules that `config.json` says"
            .to_owned();
        return Err(error(codes::UNSUPPORTED, message));
    }
    let mut found = Diagnostics::new();
    let index = Index::new(std::slice::from_ref(source), &mut found);
    let embedding = index.tensors.get(&(Role::TokenEmbedding, None));
    let vocab = embedding.and_then(|(_, info)| info.shape.first().copied());
    let vocab_size = match vocab {
        Some(rows) => rows,
        None => count("vocab_size")?,
    };
    let said_head_dim = natural("attention.key_length");
    let head_dim = said_head_dim
        .or(hidden.checked_div(heads))
        .unwrap_or_default();
    let rotary = natural("rope.dimension_count").unwrap_or(head_dim);
    let rotary_factor = match head_dim {
        0 => 1.0,
        head_dim => rotary as f64 / head_dim as f64,
    };
    Ok(Said {
        parameters: Parameters {
            family,
            num_layers: count("block_count")?,
            hidden_size: hidden,
            intermediate_size: count("feed_forward_length")?,
            num_attention_heads: heads,
            num_kv_heads: natural("attention.head_count_kv").unwrap_or(heads),
            head_dim,
            vocab_size,
            context_window: context,
            rms_norm_eps: get("attention.layer_norm_rms_epsilon")
                .and_then(MetaValue::real)
                .ok_or_else(|| {
                    let message = format!("`{word}.attention.layer_norm_rms_epsilon` is missing");
                    error(codes::MISSING, message)
                })?,
            rope: Some(Rope {
                theta: get("rope.freq_base")
                    .and_then(MetaValue::real)
                    .unwrap_or(crate::rope::DEFAULT_THETA),
                scaling,
                rotary_dims: rotary_dims(head_dim, rotary_factor),
            }),
            tie_word_embeddings: false,
            biases: Biases::default(),
            qk_norm: rules.qk_norm,
        },
        head_dim: said_head_dim.is_some(),
        kv_heads: true,
        tied: None,
        rotary_factor,
        dtype: None,
        warnings: Diagnostics::new(),
        places: Vec::new(),
    })
}
