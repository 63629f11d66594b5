//! Reads the configuration in the header of a GGUF file.

use mind_diag::{Code, Diagnostic, Diagnostics, Severity, Span};
use mind_ir::scalar::math::log_f64;
use mind_weights::{Container, MetaValue};

use super::config::RawHfConfig;
use super::gguf_keys;
use crate::attributes::{Activation, Attribute, Attributes, Layers};
use crate::checkpoint::{Index, Source, TABLE, gguf_architecture, long_factors};
use crate::codes;
use crate::config::{Biases, Parameters, Rope, RopeScaling, Yarn};
use crate::experts::Experts;
use crate::family::{Base, Families, Family, WindowRule};

/// The help for a context that is limited to the window.
const WINDOW_HELP: &str = "every position sees all others then; neither the header nor the family says which layers have the window";

/// The keys of an architecture in a header.
struct Keys<'s, 'a> {
    source: &'s Source<'a>,
    /// The name of the architecture, with which they begin.
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

    fn wrong(&self, key: &str, found: &MetaValue, expected: &str) -> Diagnostics {
        let message = format!("`{}.{key}` is {found}, expected {expected}", self.word);
        self.error(codes::KIND, message)
    }

    /// Returns the number at `key`; `None` if it is absent.
    fn real(&self, key: &str) -> Result<Option<f64>, Diagnostics> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        let real = value.real();
        real.map(Some)
            .ok_or_else(|| self.wrong(key, value, "a number"))
    }

    /// Returns the integer at `key`; `None` if it is absent.
    fn natural(&self, key: &str) -> Result<Option<usize>, Diagnostics> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        let natural = value.natural().and_then(|own| usize::try_from(own).ok());
        natural
            .map(Some)
            .ok_or_else(|| self.wrong(key, value, "one whole number"))
    }

    fn missing(&self, key: &str) -> Diagnostics {
        let message = format!("`{}.{key}` is missing", self.word);
        self.error(codes::MISSING, message)
    }

    fn count(&self, key: &str) -> Result<usize, Diagnostics> {
        self.natural(key)?.ok_or_else(|| self.missing(key))
    }

    fn warning(&self, code: Code, message: &str) -> Diagnostic {
        let message = format!("{}: {message}", self.source.name);
        Diagnostic::new(Severity::Warning, Span::FILE, message).code(code)
    }
}

/// The family of the model that a GGUF header describes; `None` if it is not supported.
pub(super) fn family(source: &Source<'_>, families: Families) -> Option<Family> {
    let word = source.file.meta("general.architecture")?.text()?;
    named(&Keys { source, word }, families).ok()?
}

fn named(keys: &Keys<'_, '_>, families: Families) -> Result<Option<Family>, Diagnostics> {
    let own = families
        .iter()
        .filter(|family| gguf_architecture(*family) == Some(keys.word));
    let own: Vec<Family> = own.collect();
    // One architecture name may denote a family with experts and one without.
    let has_experts = keys.natural(EXPERT_COUNT)?.is_some_and(|count| count > 0);
    let fits = |family: &&Family| family.rules().experts.is_some() == has_experts;
    Ok(own.iter().find(fits).or(own.first()).copied())
}

/// Reads the keys of `general.architecture`.
///
/// # Errors
///
/// Errors if the file is not GGUF, its architecture is not supported, a key is missing or has the wrong type, or a
/// value denotes another model.
pub(super) fn read(source: &Source<'_>, families: Families) -> Result<RawHfConfig, Diagnostics> {
    let word = source.file.meta("general.architecture");
    let word = word.and_then(MetaValue::text).unwrap_or_default();
    let keys = Keys { source, word };
    if source.file.container() != Container::Gguf {
        let message = "there is no `config.json`, which safetensors need".to_owned();
        return Err(keys.error(codes::MISSING, message));
    }
    let family = named(&keys, families)?.ok_or_else(|| {
        let message = format!("`general.architecture` is {word:?}, which is not supported");
        keys.error(codes::UNSUPPORTED, message)
    })?;
    let mut warnings = Diagnostics::new();
    gguf_keys::check(source, (word, family), &mut warnings);
    if warnings.has_errors() {
        return Err(warnings);
    }
    let heads = keys.count("attention.head_count")?;
    let hidden = keys.count("embedding_length")?;
    let num_layers = keys.count("block_count")?;
    let said_context = keys.count("context_length")?;
    let (context, width) = window(&keys, family, said_context, &mut warnings)?;
    let said_head_dim = keys.natural("attention.key_length")?;
    let head_dim = said_head_dim.or(hidden.checked_div(heads));
    let head_dim = head_dim.unwrap_or_default();
    value_length(&keys, head_dim)?;
    if family.is_encoder() {
        sees_all(&keys)?;
    }
    let rotary = keys.natural("rope.dimension_count")?.unwrap_or(head_dim);
    let rotary_factor = match head_dim {
        0 => 1.0,
        head_dim => rotary as f64 / head_dim as f64,
    };
    let eps = match is_centred(family) {
        true => "attention.layer_norm_epsilon",
        false => "attention.layer_norm_rms_epsilon",
    };
    let theta = keys.real("rope.freq_base")?;
    let kv_heads = keys.natural("attention.head_count_kv")?;
    let scaling = scaling(&keys, context)?;
    let inner = keys.count("feed_forward_length")?;
    let activation = family.rules().activation.as_ref();
    let parameters = Parameters {
        family,
        num_layers,
        hidden_size: hidden,
        intermediate_size: inner,
        num_attention_heads: heads,
        num_kv_heads: kv_heads.unwrap_or(heads),
        head_dim,
        vocab_size: vocab_size(&keys, family, &mut warnings)?,
        context_window: context,
        rms_norm_eps: keys.real(eps)?.ok_or_else(|| keys.missing(eps))?,
        rope: family.rules().rotation.as_ref().map(|_| Rope {
            theta: theta.unwrap_or(crate::rope::DEFAULT_THETA),
            scaling,
            factors: None,
            rotary_dims: rotary,
        }),
        tie_word_embeddings: false,
        biases: Biases::default(),
        experts: experts(&keys, family, inner)?,
        encoder: None,
        activation: activation.map_or(Activation::default(), |own| own.default),
        attributes: attributes(&keys, family, width)?,
        sliding_layers: Layers::of(width.map_or(0..0, |_| 0..num_layers)),
        no_rope_layers: Layers::NONE,
    };
    Ok(RawHfConfig {
        parameters,
        head_dim: said_head_dim.is_some(),
        kv_heads: true,
        tied: None,
        rotary_factor,
        is_header: true,
        dtype: None,
        warnings,
        places: Vec::new(),
    })
}

/// The key of the number of experts in a layer.
const EXPERT_COUNT: &str = "expert_count";

/// Returns whether the normalisations of the family subtract the mean.
pub(super) fn is_centred(family: Family) -> bool {
    family.nodes().any(|node| node.op() == "layernorm")
}

/// Returns the experts that a header describes.
fn experts(
    keys: &Keys<'_, '_>,
    family: Family,
    inner: usize,
) -> Result<Option<Experts>, Diagnostics> {
    let rules = family.rules();
    let count = keys.natural(EXPERT_COUNT)?.unwrap_or(0);
    let Some(rule) = rules.experts.as_ref().filter(|_| count > 0) else {
        return Ok(None);
    };
    let per_token = keys.count("expert_used_count")?;
    let width = match keys.natural("expert_feed_forward_length")? {
        Some(width) => width,
        None if rule.width.is_some() => inner.checked_div(per_token).unwrap_or(0),
        None => inner,
    };
    let shared = keys.natural("expert_shared_feed_forward_length")?;
    Ok(Some(Experts {
        count,
        per_token,
        width,
        shared_width: match &rule.shared_width {
            Some(_) => shared.unwrap_or(inner),
            None => 0,
        },
        normalised: rules.gguf.as_ref().is_some_and(|own| own.shares),
        dense_layers: Layers::NONE,
    }))
}

/// Returns the attributes that steps of the family read.
fn attributes(
    keys: &Keys<'_, '_>,
    family: Family,
    window: Option<usize>,
) -> Result<Attributes, Diagnostics> {
    let mut attributes = Attributes::default();
    if let Some(width) = window {
        attributes.set(Attribute::SlidingWindow, width as f64);
    }
    let key = "use_parallel_residual";
    for rule in &family.rules().numbers {
        if rule.attribute == Attribute::TypeVocabSize {
            let kinds = rows(keys, family, KINDS).unwrap_or(0);
            attributes.set(rule.attribute, kinds as f64);
        }
        if rule.attribute != Attribute::ParallelResidual {
            continue;
        }
        let given = keys.get(key).map(|own| {
            let truth = own.truth();
            truth.ok_or_else(|| keys.wrong(key, own, "true or false"))
        });
        let default = rule.value == Base::Value(1.0);
        let parallel = given.transpose()?.unwrap_or(default);
        attributes.set(rule.attribute, f64::from(u8::from(parallel)));
    }
    Ok(attributes)
}

/// Returns the most positions of a sequence, and the window of all layers, if they have one. If the family does not
/// determine which layers have the window, sequences are limited to the window, with a warning.
fn window(
    keys: &Keys<'_, '_>,
    family: Family,
    context: usize,
    warnings: &mut Diagnostics,
) -> Result<(usize, Option<usize>), Diagnostics> {
    let width = keys.natural("attention.sliding_window")?;
    let Some(width) = width.filter(|width| *width > 0 && *width < context) else {
        return Ok((context, None));
    };
    let rule = family.rules().window.as_ref();
    if rule.is_some_and(WindowRule::is_of_all_layers) {
        return Ok((context, Some(width)));
    }
    let message = format!(
        "`{}.attention.sliding_window` is {width}, less than the context of {context}: a run has {width} tokens at most",
        keys.word
    );
    let found = keys.warning(codes::UNSUPPORTED, &message);
    warnings.push(found.help(WINDOW_HELP));
    Ok((width, None))
}

/// # Errors
///
/// Errors if the heads of v do not have the width of those of q and k.
fn value_length(keys: &Keys<'_, '_>, head_dim: usize) -> Result<(), Diagnostics> {
    let key = "attention.value_length";
    match keys.natural(key)? {
        Some(width) if width != head_dim => {
            let message = format!(
                "`{}.{key}` is {width}, which is not supported: heads of q and k have {head_dim} elements",
                keys.word
            );
            Err(keys.error(codes::UNSUPPORTED, message))
        }
        _ => Ok(()),
    }
}

/// # Errors
///
/// Errors if an encoder has causal attention.
fn sees_all(keys: &Keys<'_, '_>) -> Result<(), Diagnostics> {
    let key = "attention.causal";
    match keys.get(key) {
        Some(value) if value.truth() != Some(false) => {
            let word = keys.word;
            let message = format!(
                "`{word}.{key}` is {value}, which is not supported: a position sees all others"
            );
            Err(keys.error(codes::UNSUPPORTED, message))
        }
        _ => Ok(()),
    }
}

/// Returns the frequency scaling: by the factors in two tensors, or linear unless the header has another type.
///
/// # Errors
///
/// Errors if the type is not supported, two keys state different factors, or factors cannot be read.
fn scaling(keys: &Keys<'_, '_>, context: usize) -> Result<RopeScaling, Diagnostics> {
    let attention = "rope.scaling.attn_factor";
    let attention_factor = keys.real(attention)?.unwrap_or(1.0);
    let original = keys.natural("rope.scaling.original_context_length")?;
    let original_context = original.unwrap_or(context);
    if let Some([long, short]) = long_factors(keys.source)? {
        return Ok(RopeScaling::LongRope {
            short,
            long,
            attention_factor,
            original_context,
        });
    }

    let (new, old) = ("rope.scaling.factor", "rope.scale_linear");
    let factors = (keys.real(new)?, keys.real(old)?);
    if let (Some(one), Some(other)) = factors
        && one != other
    {
        let word = keys.word;
        let message = format!("`{word}.{new}` is {one}, but `{word}.{old}` is {other}");
        return Err(keys.error(codes::CONTRADICTION, message));
    }
    let key = "rope.scaling.type";
    if keys.get(key).and_then(MetaValue::text) == Some("yarn") {
        let factor = factors.0.or(factors.1).unwrap_or(1.0).max(1.0);
        let beta = |key: &str, default: f64| -> Result<f64, Diagnostics> {
            Ok(keys.real(key)?.unwrap_or(default))
        };
        return Ok(RopeScaling::Yarn(Yarn {
            factor,
            attention_factor: attention_factor * (1.0 + 0.1 * log_f64(factor)),
            beta_fast: beta("rope.scaling.yarn_beta_fast", 32.0)?,
            beta_slow: beta("rope.scaling.yarn_beta_slow", 1.0)?,
            original_context,
            truncate: true,
        }));
    }
    if attention_factor != 1.0 {
        let message = format!(
            "`{}.{attention}` is {attention_factor}, which is not supported: rotated heads keep their length",
            keys.word
        );
        return Err(keys.error(codes::UNSUPPORTED, message));
    }
    match (keys.get(key), keys.get(key).and_then(MetaValue::text)) {
        (_, Some("none")) => Ok(RopeScaling::None),
        (None, _) | (_, Some("linear")) => Ok(match factors.0.or(factors.1) {
            None | Some(0.0 | 1.0) => RopeScaling::None,
            Some(factor) => RopeScaling::Linear { factor },
        }),
        (Some(other), _) => {
            let message = format!(
                "`{}.{key}` is {other}, which is not supported: types are \"none\", \"linear\" and \"yarn\"",
                keys.word
            );
            Err(keys.error(codes::UNSUPPORTED, message))
        }
    }
}

/// Returns the rows of the embedding table, of which padded files have more than they declare.
fn vocab_size(
    keys: &Keys<'_, '_>,
    family: Family,
    warnings: &mut Diagnostics,
) -> Result<usize, Diagnostics> {
    let Some(rows) = rows(keys, family, TABLE) else {
        return keys.count("vocab_size");
    };
    if let Some(given) = keys.natural("vocab_size")?.filter(|given| *given != rows) {
        let message = format!(
            "`{}.vocab_size` is {given}, but there are {rows} rows of embeddings: a run has {rows} tokens to choose from",
            keys.word
        );
        warnings.push(keys.warning(codes::CONTRADICTION, &message));
    }
    Ok(rows)
}

/// The token type table.
const KINDS: &str = "token_type_emb";

/// Returns the rows of a global table, if the file has it.
fn rows(keys: &Keys<'_, '_>, family: Family, table: &'static str) -> Option<usize> {
    let sources = std::slice::from_ref(keys.source);
    let index = Index::new(family, sources, &mut Diagnostics::new());
    let (_, info) = index.tensors.get(&(table, None))?;
    info.shape.first().copied()
}
