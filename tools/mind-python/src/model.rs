//! Models for text generation and embedding.

use std::path::PathBuf;

use mind::decoder::{Decoder, Files, Generation, Hearing, Sampling};
use mind::encoder::Encoder;
use mind::{Config, Error, Tensor};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use self_cell::self_cell;

use crate::array::given_out;
use crate::errors::{error, raised};
use crate::executable::config;
use crate::signals;

type OfDecoder<'f> = Decoder<'f>;
type OfEncoder<'f> = Encoder<'f>;

self_cell!(
    struct OwnDecoder {
        owner: Files,
        #[not_covariant]
        dependent: OfDecoder,
    }
);

self_cell!(
    struct OwnEncoder {
        owner: Files,
        #[not_covariant]
        dependent: OfEncoder,
    }
);

enum ModelKind {
    Decoder(OwnDecoder),
    Encoder(OwnEncoder),
}

/// A model from its files: a Hugging Face folder, an IR v2 document, or a GGUF file. The files are mapped, so they must
/// not change while the model is used. A model can be used on any thread, and on several at once.
#[pyclass(frozen, module = "mind_opt")]
pub(crate) struct Model {
    kind: ModelKind,
    path: PathBuf,
}

/// Detects the kind of the model and compiles it.
fn opened(path: &PathBuf, config: &Config) -> Result<ModelKind, Error> {
    let files = Files::open(path)?;
    if files.is_encoder()? {
        let encoder = OwnEncoder::try_new(files, |files| Encoder::new(files, config))?;
        Ok(ModelKind::Encoder(encoder))
    } else {
        let decoder = OwnDecoder::try_new(files, |files| Decoder::new(files, config))?;
        Ok(ModelKind::Decoder(decoder))
    }
}

#[pymethods]
impl Model {
    #[new]
    #[pyo3(signature = (path, *, threads=None, isa=None))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        threads: Option<usize>,
        isa: Option<&str>,
    ) -> PyResult<Model> {
        let config = config(threads, isa, None, None)?;
        let files = path.clone();
        let kind = signals::waiting(py, move || opened(&files, &config))?;
        let kind = kind.map_err(|why| raised(py, &why))?;
        Ok(Model { kind, path })
    }

    /// `decoder` or `encoder-decoder`, which generate text, or `encoder`, which embeds it.
    #[getter]
    fn kind(&self) -> &'static str {
        match &self.kind {
            ModelKind::Decoder(own) => own.with_dependent(|_, own| match own.start() {
                Some(_) => "encoder-decoder",
                None => "decoder",
            }),
            ModelKind::Encoder(_) => "encoder",
        }
    }

    /// Continues a prompt, or generates the output of an encoder-decoder for it: returns text for a text, and tokens
    /// for a list of tokens. At most `count` tokens are generated. Generation ends after an end-of-sequence token,
    /// unless `ignore_eos`, and before the first token or text in `stop`.
    #[pyo3(signature = (prompt, count=32, *, temperature=0.0, top_k=0, top_p=1.0, min_p=0.0,
                        repetition_penalty=1.0, seed=0, stop=None, ignore_eos=false))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn generate<'py>(
        &self,
        prompt: &Bound<'py, PyAny>,
        count: usize,
        temperature: f64,
        top_k: usize,
        top_p: f64,
        min_p: f64,
        repetition_penalty: f32,
        seed: u64,
        stop: Option<Vec<Stop>>,
        ignore_eos: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = prompt.py();
        let ModelKind::Decoder(decoder) = &self.kind else {
            return Err(draws_nothing(py));
        };
        if !(temperature >= 0.0 && top_p > 0.0 && min_p >= 0.0 && repetition_penalty > 0.0) {
            let message =
                "temperature and min_p are 0 at least; top_p and repetition_penalty are above 0";
            return Err(PyValueError::new_err(message));
        }
        let mut how = Generation::from(Sampling {
            temperature,
            top_k,
            top_p,
            min_p,
            repetition_penalty,
            seed,
        });
        how.ignores_ends = ignore_eos;
        for stop in stop.unwrap_or_default() {
            match stop {
                Stop::Token(token) => how.stop_tokens.push(token),
                Stop::Text(text) => how.stops.push(text),
            }
        }
        if let Ok(text) = prompt.extract::<String>() {
            let draw = || decoder.with_dependent(|_, own| own.complete(&text, count, how));
            let text = signals::running(py, draw)?.map_err(|why| raised(py, &why))?;
            return Ok(text.into_pyobject(py)?.into_any());
        }
        let tokens: Vec<u32> = prompt.extract()?;
        let draw = || decoder.with_dependent(|_, own| own.generate(&tokens, count, how));
        let drawn = signals::running(py, draw)?.map_err(|why| raised(py, &why))?;
        Ok(drawn.into_pyobject(py)?.into_any())
    }

    /// Transcribes a WAV file with the content `wav` to at most `count` tokens of text, or as many as fit. Without a
    /// language, it is detected.
    #[pyo3(signature = (wav, *, language=None, task=None, count=None))]
    fn transcribe(
        &self,
        py: Python<'_>,
        wav: &[u8],
        language: Option<&str>,
        task: Option<&str>,
        count: Option<usize>,
    ) -> PyResult<String> {
        let ModelKind::Decoder(decoder) = &self.kind else {
            return Err(draws_nothing(py));
        };
        let asked = Hearing { language, task };
        let text = signals::running(py, || {
            decoder
                .with_dependent(|_, own| own.transcribe(wav, asked, count, Generation::default()))
        })?;
        text.map_err(|why| raised(py, &why))
    }

    /// Returns the tokens of a text, including special tokens.
    fn encode(&self, py: Python<'_>, text: &str) -> PyResult<Vec<u32>> {
        let tokens = match &self.kind {
            ModelKind::Decoder(own) => own.with_dependent(|_, own| own.encode(text)),
            ModelKind::Encoder(own) => own.with_dependent(|_, own| own.encode(text)),
        };
        tokens.map_err(|why| raised(py, &why))
    }

    /// Returns the text of tokens.
    fn decode(&self, py: Python<'_>, tokens: Vec<u32>) -> PyResult<String> {
        let text = match &self.kind {
            ModelKind::Decoder(own) => own.with_dependent(|_, own| own.decode(&tokens)),
            ModelKind::Encoder(own) => own.with_dependent(|_, own| own.decode(&tokens)),
        };
        text.map_err(|why| raised(py, &why))
    }

    /// Returns the embeddings of texts, one row each, pooled and normalised according to the model's files.
    fn embed<'py>(&self, py: Python<'py>, texts: Vec<String>) -> PyResult<Bound<'py, PyAny>> {
        let ModelKind::Encoder(encoder) = &self.kind else {
            let help = "`generate` continues a text";
            let message = "the model is a decoder, which does not encode texts";
            return Err(error(py, "ModelError", message, Some(help)));
        };
        let array = signals::running(py, || {
            encoder.with_dependent(|_, own| {
                let rows = texts.iter().map(|text| own.embed(text));
                let rows = rows.collect::<Result<Vec<_>, Error>>()?;
                Ok(Tensor::of(vec![rows.len(), own.width()], rows.concat()))
            })
        })?;
        given_out(py, array.map_err(|why: Error| raised(py, &why))?)
    }

    fn __repr__(&self) -> String {
        format!("Model({}, {})", self.path.display(), self.kind())
    }
}

/// A stop token or stop text.
#[derive(FromPyObject)]
enum Stop {
    Token(u32),
    Text(String),
}

/// Returns the error of an encoder that is asked to generate.
fn draws_nothing(py: Python<'_>) -> PyErr {
    let message = "the model is an encoder, which does not generate tokens";
    let help = "`embed` makes a vector of a text";
    error(py, "ModelError", message, Some(help))
}
