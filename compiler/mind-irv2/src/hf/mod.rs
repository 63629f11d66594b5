//! From a model's `config.json` and the headers of its weight files to a document.

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

/// The document of the model that `config`, the text of a `config.json`, describes; it is of one of `families`.
///
/// With weight files their headers win over it: they say which biases there are, whether the head is tied where the
/// configuration does not, the width of heads, and how numbers are stored. Without `config` a single GGUF file says
/// everything. Warnings come with the document.
///
/// # Errors
///
/// E4201 no JSON, E4202 a missing key, E4205 a number out of its range, E4211 a model that is not supported,
/// by key and value; tensors as [`Checkpoint::new`].
pub fn document(
    config: Option<&str>,
    sources: &[Source<'_>],
    families: Families,
) -> Result<(Document, Diagnostics), Diagnostics> {
    let mut said = match (config, sources) {
        (Some(text), _) => config::read(text, families)?,
        (None, [source]) => gguf::read(source, families)?,
        (None, _) => {
            let message = "there is no `config.json`, and no single GGUF file to read instead";
            let found = Diagnostic::error(Span::FILE, message).code(codes::MISSING);
            return Err(found.into());
        }
    };
    let (parameters, fused_qkv) = if sources.is_empty() {
        (said.parameters, said.parameters.family.is_fused())
    } else {
        refine::parameters(&mut said, sources)?
    };
    let config = Config::new(parameters).map_err(|errors| out_of_range(&errors, &said))?;
    let dtypes = if sources.is_empty() {
        let dtype = said.dtype.unwrap_or(WeightType::F32);
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
    Ok((document, said.warnings))
}

/// A key, and why it changes nothing; `None` for one that is read or refused.
pub type KnownKey = (&'static str, Option<&'static str>);

/// Whether `family` reads the key of a `config.json`, refuses it, or passes it over for a written reason.
pub fn knows_key(family: Family, key: &str) -> bool {
    let rules = family.rules();
    let is_refused = rules.refuses.iter().any(|own| own.key == key);
    let is_own = is_refused || rules.reads(key) || rules.ignores(key) || rules.nests(key);
    is_own || shared_keys().iter().any(|row| row.key == key)
}

/// The keys of a `config.json` that are known.
pub fn config_keys() -> impl Iterator<Item = KnownKey> {
    shared_keys()
        .iter()
        .map(|row| (row.key.as_str(), row.reason()))
}

/// The keys of a GGUF header that are known, below the word of the architecture.
pub fn architecture_keys() -> impl Iterator<Item = KnownKey> {
    let rows = gguf_keys::KEYS.iter();
    rows.map(|row| (row.key, row.becomes.reason()))
}

/// The other keys of a GGUF header that are known, and the beginnings of those that change nothing.
pub fn header_keys() -> impl Iterator<Item = KnownKey> {
    let rows = gguf_keys::OTHERS.iter();
    let rows = rows.map(|row| (row.key, row.becomes.reason()));
    let prefixes = gguf_keys::IGNORED_PREFIXES.iter();
    rows.chain(prefixes.map(|&(prefix, reason)| (prefix, Some(reason))))
}

fn out_of_range(errors: &[ConfigError], said: &config::RawHfConfig) -> Diagnostics {
    let mut found = Diagnostics::new();
    for error in errors {
        let span = error.key().and_then(|key| said.span_of(key));
        let span = span.unwrap_or(Span::FILE);
        found.push(Diagnostic::error(span, error.to_string()).code(codes::RANGE));
    }
    found
}

/// What every document says of itself.
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
