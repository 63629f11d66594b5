//! Converts the `config.json` of a model and the headers of its weight files to a document.

mod config;
mod experts;
mod gguf;
mod gguf_keys;
mod keys;
mod numbers;
mod reader;
mod refine;
mod rope;
mod window;

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_weights::WeightType;

use crate::checkpoint::{Checkpoint, Source};
use crate::codes;
use crate::config::{Config, ConfigError};
use crate::family::{Architecture, Families, Family, shared_keys};
use crate::schema::{Document, Foreign, WeightTypes};

/// The family of a model that [`document`] reads; `None` if none of `families` is named.
pub fn family(config: Option<&str>, sources: &[Source<'_>], families: Families) -> Option<Family> {
    match (config, sources) {
        (Some(text), _) => config::family(text, families),
        (None, [source]) => gguf::family(source, families),
        (None, _) => None,
    }
}

/// Returns the document of the model that `config`, the text of a `config.json`, describes. Its family must be among
/// `families`.
///
/// If there are weight files, their headers take precedence, because a configuration may leave things out: they
/// determine which biases exist, whether the output head is tied (if the configuration does not state it), the head
/// size, and how weights are stored. Without `config`, a single GGUF file must describe everything. Warnings are
/// returned with the document.
///
/// # Errors
///
/// Errors by key and value: E4201 if the text is not JSON, E4202 for a missing key, E4205 for a number out of its
/// range, E4211 if the model is not supported. For tensors see [`Checkpoint::new`].
pub fn document(
    config: Option<&str>,
    sources: &[Source<'_>],
    families: Families,
) -> Result<(Document, Diagnostics), Diagnostics> {
    let mut raw = match (config, sources) {
        (Some(text), _) => config::read(text, families)?,
        (None, [source]) => gguf::read(source, families)?,
        (None, _) => {
            let message = "there is no `config.json`, and no single GGUF file to read instead";
            let found = Diagnostic::error(Span::FILE, message).code(codes::MISSING);
            return Err(found.into());
        }
    };
    let (parameters, fused_qkv) = if sources.is_empty() {
        (raw.parameters, raw.parameters.family.is_fused())
    } else {
        refine::parameters(&mut raw, sources)?
    };
    let config = Config::new(parameters).map_err(|errors| out_of_range(&errors, &raw))?;
    let dtypes = if sources.is_empty() {
        let dtype = raw.dtype.unwrap_or(WeightType::F32);
        WeightTypes::uniform(&config, dtype, dtype)
    } else {
        Checkpoint::new(&config, sources)?.weight_types()
    };
    let document = Document {
        config,
        dtypes,
        fused_qkv,
        notes: notes(config.family.architecture()),
        foreign: Foreign::default(),
    };
    Ok((document, raw.warnings))
}

/// A key, and the reason why it has no effect; `None` if it is read or rejected.
pub type KnownKey = (&'static str, Option<&'static str>);

/// Returns whether the key of a `config.json` is known: `family` reads it, rejects it, or ignores it for a documented
/// reason.
pub fn knows_key(family: Family, key: &str) -> bool {
    let rules = family.rules();
    let is_refused = rules.refuses.iter().any(|own| own.key == key);
    let is_own = is_refused || rules.reads(key) || rules.ignores(key) || rules.nests(key);
    is_own || shared_keys().iter().any(|row| row.key == key)
}

/// Returns the known keys of a `config.json`.
pub fn config_keys() -> impl Iterator<Item = KnownKey> {
    shared_keys()
        .iter()
        .map(|row| (row.key.as_str(), row.reason()))
}

/// Returns the known keys of a GGUF header that begin with the name of the architecture.
pub fn architecture_keys() -> impl Iterator<Item = KnownKey> {
    let rows = gguf_keys::KEYS.iter();
    rows.map(|row| (row.key, row.handling.reason()))
}

/// Returns the other known keys of a GGUF header, and the prefixes of keys without effect.
pub fn header_keys() -> impl Iterator<Item = KnownKey> {
    let rows = gguf_keys::OTHERS.iter();
    let rows = rows.map(|row| (row.key, row.handling.reason()));
    let prefixes = gguf_keys::IGNORED_PREFIXES.iter();
    rows.chain(prefixes.map(|&(prefix, reason)| (prefix, Some(reason))))
}

fn out_of_range(errors: &[ConfigError], raw: &config::RawHfConfig) -> Diagnostics {
    let mut found = Diagnostics::new();
    for error in errors {
        let span = error.key().and_then(|key| raw.span_of(key));
        let span = span.unwrap_or(Span::FILE);
        found.push(Diagnostic::error(span, error.to_string()).code(codes::RANGE));
    }
    found
}

/// Returns the notes that every document of an architecture has.
fn notes(architecture: Architecture) -> Vec<String> {
    let notes = match architecture {
        Architecture::Decoder => [
            "IR v2: a decoder model as buffers and kernel calls",
            "shape: extents as {dim, mult, div}, dimensions[dim].value * mult / div; padded to 16 elements",
            "resolved_shape: bytes, rounded up to 64, at the stored number of tokens",
            "scope layer: one instance a layer; the output of a layer is the input of the next",
            "nodes of layer -1 belong to the model: embedding, last normalisation, head",
        ],
        Architecture::EncoderDecoder => [
            "IR v2: an encoder-decoder model as buffers and kernel calls",
            "shape: extents as {dim, mult, div}, dimensions[dim].value * mult / div; padded to 16 elements",
            "resolved_shape: bytes, rounded up to 64, at the stored number of tokens",
            "scope encoder, decoder: one instance a layer; the output of a layer is the input of the next; scope cross: made once of encoder_output",
            "nodes of layer -1 belong to the model: embeddings, what follows the layers of the encoder, last normalisation, head",
        ],
        Architecture::Encoder => [
            "IR v2: an encoder model as buffers and kernel calls",
            "shape: extents as {dim, mult, div}, dimensions[dim].value * mult / div; padded to 16 elements",
            "resolved_shape: bytes, rounded up to 64, at the stored number of tokens",
            "scope encoder: one instance a layer; the output of a layer is the input of the next",
            "nodes of layer -1 belong to the model: embedding, what follows it, and what follows the layers",
        ],
    };
    notes.map(str::to_owned).to_vec()
}
