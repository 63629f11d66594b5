//! Models that generate tokens: decoders and encoder-decoders.
//!
//! ```no_run
//! use mind::Config;
//! use mind::decoder::{Decoder, Files, Sampling};
//!
//! let files = Files::open("TinyLlama")?;
//! let decoder = Decoder::new(&files, &Config::default())?;
//! println!("{}", decoder.complete("Once upon a time", 32, Sampling::default())?);
//! # Ok::<(), mind::Error>(())
//! ```

use std::path::Path;
use std::sync::Arc;

use mind_diag::Diagnostics;
use mind_driver::disk::Disk;
use mind_model::{
    CheckpointWeights, Forced, MappedWeights, Runner, Sound, Suppressed, Text, TextFiles, WeightsAt,
};

pub use mind_model::{Hearing, Sampler, Sampling, Session, largest};

use crate::error::{Error, invalid};
use crate::exec::{Config, Engine};
pub use crate::generation::Generation;
use crate::generation::{Drawing, Drawn};

/// The files of a model. They must not be modified meanwhile, because they are memory-mapped.
pub struct Files(mind_model::Files);

impl Files {
    /// Finds and maps the files at `path`: a Hugging Face folder, its `config.json`, an IR v2 document, or a GGUF file.
    ///
    /// # Errors
    ///
    /// Errors if a file cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Files, Error> {
        let opened = mind_model::Files::open(path.as_ref(), WeightsAt::Beside, &mut Disk);
        Ok(Files(opened?))
    }

    /// Returns whether the model is an encoder, which [`encoder`](crate::encoder) runs.
    ///
    /// # Errors
    ///
    /// Errors if the files are invalid, contradict each other, or describe an unsupported model.
    pub fn is_encoder(&self) -> Result<bool, Error> {
        let (document, _, _) = self.0.model()?;
        Ok(document.config.family.is_encoder())
    }

    /// Returns the files in the form of `mind-model`.
    pub(crate) fn inner(&self) -> &mind_model::Files {
        &self.0
    }

    /// Compiles the model for this machine; also returns its tokenizer, if any, and warnings about the files.
    pub(crate) fn compiled(&self, config: &Config) -> Result<Compiled<'_>, Error> {
        let Files(files) = self;
        let name = files.config.name();
        let (document, checkpoint, warnings) = files.model()?;
        let engine = Engine::new(config).map_err(|found| crate::error::refused(name, "", found))?;
        let weights = MappedWeights {
            weights: CheckpointWeights(checkpoint),
            files: files.contents(),
        };
        let runner = Runner::Jit(Arc::new(engine));
        let model = mind_model::Model::new(document.config, Box::new(weights), runner)?;
        let text = files.tokenizer.as_deref().map(Text::new).transpose()?;
        Ok((Arc::new(model), text, warnings))
    }
}

/// A compiled model, its tokenizer, and warnings about its files.
pub(crate) type Compiled<'f> = (Arc<mind_model::Model<'f>>, Option<Text>, Diagnostics);

/// A compiled decoder or encoder-decoder. It can be used from several threads and by several sessions at once.
///
/// The encoder of an encoder-decoder reads a prompt or audio; its decoder starts from the token
/// [`start`](Decoder::start).
pub struct Decoder<'f> {
    model: Arc<mind_model::Model<'f>>,
    text: Option<Text>,
    text_files: TextFiles<'f>,
    start: Option<u32>,
    ends: Vec<u32>,
    forced: Forced,
    warnings: Diagnostics,
}

impl<'f> Decoder<'f> {
    /// Compiles a model for this machine and packs its weights.
    ///
    /// # Errors
    ///
    /// Errors if the files are invalid, contradict each other, or describe an unsupported model, if the machine lacks
    /// the instruction set, or if there is not enough memory.
    pub fn new(files: &'f Files, config: &Config) -> Result<Decoder<'f>, Error> {
        let (model, text, warnings) = files.compiled(config)?;
        let family = model.config().family;
        let text_files = TextFiles::open(files.inner(), family, &mut Disk)?;
        let is_pair = family.encoder().is_some();
        Ok(Decoder {
            start: is_pair.then(|| text_files.start()).transpose()?,
            forced: if is_pair {
                text_files.forced()?
            } else {
                Forced::default()
            },
            ends: text_files.ends()?,
            model,
            text,
            text_files,
            warnings,
        })
    }

    /// Returns warnings about the files.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// Returns the end-of-text tokens of the model's files.
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// Returns the decoder start token of an encoder-decoder; `None` for a decoder.
    pub fn start(&self) -> Option<u32> {
        self.start
    }

    /// Returns whether the model reads audio, so that [`hear`](Decoder::hear) and [`transcribe`](Decoder::transcribe)
    /// apply to it.
    pub fn hears(&self) -> bool {
        let encoder = self.model.config().encoder();
        encoder.is_some_and(|own| own.audio().is_some())
    }

    /// Starts an empty sequence of a decoder with a KV cache for `capacity` tokens.
    ///
    /// ```no_run
    /// # use mind::decoder::{Decoder, Files, Sampler, Sampling};
    /// # let files = Files::open("TinyLlama")?;
    /// # let decoder = Decoder::new(&files, &mind::Config::default())?;
    /// let mut session = decoder.session(128)?;
    /// let mut sampler = Sampler::new(Sampling { temperature: 0.8, ..Sampling::default() });
    /// let mut tokens = vec![1, 15043];
    /// let mut logits = session.prefill(&tokens)?;
    /// for _ in 0..16 {
    ///     let token = sampler.next(&logits, &tokens);
    ///     logits = session.decode(token)?;
    ///     tokens.push(token);
    /// }
    /// # Ok::<(), mind::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Errors if the model is not a decoder, if the capacity is 0 or exceeds the model's positions, or if there is not
    /// enough memory.
    pub fn session(&self, capacity: usize) -> Result<Session<'f>, Error> {
        Ok(Session::new(self.model.clone(), capacity)?)
    }

    /// Starts an empty sequence of an encoder-decoder after encoding `text`, with a KV cache for `capacity` tokens.
    ///
    /// # Errors
    ///
    /// Errors if the model has no text encoder, if the text is empty, exceeds the model's positions or has an unknown
    /// token, and as [`session`](Decoder::session).
    pub fn session_behind(&self, text: &[u32], capacity: usize) -> Result<Session<'f>, Error> {
        Ok(Session::behind(self.model.clone(), text, capacity)?)
    }

    /// Generates at most `count` tokens after `prompt`. Generation stops after one of the tokens
    /// [`ends`](Decoder::ends), and as specified in `how`. The last token may complete a text of [`Generation::stops`].
    ///
    /// # Errors
    ///
    /// Errors if the prompt is empty, if a token is unknown, if the tokens exceed the model's positions, if there are
    /// stop texts and the model has no tokenizer, or if there is not enough memory.
    pub fn generate(
        &self,
        prompt: &[u32],
        count: usize,
        how: impl Into<Generation>,
    ) -> Result<Vec<u32>, Error> {
        let how = how.into();
        let text = self.reader_of(&how)?;
        Ok(self.drawn(prompt, count, (&how, text))?.tokens)
    }

    /// Generates the text after `prompt`, of at most `count` tokens. Generation stops as in
    /// [`generate`](Decoder::generate).
    ///
    /// # Errors
    ///
    /// Errors if the model has no `tokenizer.json`, if it cannot encode the prompt, and as
    /// [`generate`](Decoder::generate).
    pub fn complete(
        &self,
        prompt: &str,
        count: usize,
        how: impl Into<Generation>,
    ) -> Result<String, Error> {
        let text = tokenizer(&self.text)?;
        let prompt = text.encode(prompt)?;
        Ok(self.drawn(&prompt, count, (&how.into(), Some(text)))?.text)
    }

    /// Transcribes a WAV file to tokens, at most `count` or as many as fit.
    ///
    /// # Errors
    ///
    /// Errors if the model does not read audio, if the file is not a WAV file, if its sample rate differs or it is
    /// longer than the model's window, if the model lacks the language or the task, or if there is not enough memory.
    pub fn hear(
        &self,
        wav: &[u8],
        asked: Hearing<'_>,
        count: Option<usize>,
        how: impl Into<Generation>,
    ) -> Result<Vec<u32>, Error> {
        let how = how.into();
        let text = self.reader_of(&how)?;
        Ok(self
            .transcribe_features(wav, asked, count, (&how, text))?
            .tokens)
    }

    /// Transcribes a WAV file to text, of at most `count` tokens or as many as fit.
    ///
    /// # Errors
    ///
    /// Errors if the model has no `tokenizer.json`, and as [`hear`](Decoder::hear).
    pub fn transcribe(
        &self,
        wav: &[u8],
        asked: Hearing<'_>,
        count: Option<usize>,
        how: impl Into<Generation>,
    ) -> Result<String, Error> {
        let text = tokenizer(&self.text)?;
        let drawn = self.transcribe_features(wav, asked, count, (&how.into(), Some(text)))?;
        Ok(drawn.text)
    }

    /// Returns the tokenizer if there are stop texts, because they are compared with the decoded text.
    fn reader_of(&self, how: &Generation) -> Result<Option<&Text>, Error> {
        let needs_one = !how.stops.is_empty();
        needs_one.then(|| tokenizer(&self.text)).transpose()
    }

    fn drawn(
        &self,
        prompt: &[u32],
        count: usize,
        (how, text): (&Generation, Option<&Text>),
    ) -> Result<Drawn, Error> {
        if self.hears() {
            let family = self.model.config().family.name();
            let message = format!("models of the family `{family}` read audio, not text");
            return Err(invalid("<model>", "", message));
        }
        let own = self.start.as_ref().map(std::slice::from_ref);
        let first = own.unwrap_or(prompt);
        let capacity = first.len().saturating_add(count.saturating_sub(1));
        let mut session = match own {
            Some(_) => self.session_behind(prompt, capacity)?,
            None => self.session(capacity)?,
        };
        let suppressed = Suppressed::default();
        let drawing = self.drawing(&suppressed, count, (how, text));
        drawing.run(&mut session, first)
    }

    fn transcribe_features(
        &self,
        wav: &[u8],
        asked: Hearing<'_>,
        count: Option<usize>,
        (how, text): (&Generation, Option<&Text>),
    ) -> Result<Drawn, Error> {
        let encoder = self.model.config().encoder();
        let Some(audio) = encoder.and_then(|own| own.audio()) else {
            let family = self.model.config().family.name();
            return Err(mind_model::ModelError::ReadsNoAudio { family }.into());
        };
        let wrong = |why: String| invalid("<sound>", "", why);
        let speech = self.text_files.speech(asked)?;
        let spectrogram = self.text_files.spectrogram(audio)?;
        let sound = Sound::of_wav(wav).map_err(|why| wrong(why.to_string()))?;
        let features = spectrogram.features(&sound);
        let features = features.map_err(|why| wrong(why.to_string()))?;
        let length = speech.count();
        let most = self.model.config().most_tokens().saturating_sub(length);
        let count = count.unwrap_or(most.max(1));
        let capacity = length.saturating_add(count.saturating_sub(1));
        let mut session = Session::behind_audio(self.model.clone(), &features, capacity)?;
        let first = speech.tokens(&mut session)?;
        let drawing = self.drawing(&speech.suppressed, count, (how, text));
        drawing.run(&mut session, &first)
    }

    fn drawing<'a>(
        &'a self,
        suppressed: &'a Suppressed,
        count: usize,
        (how, text): (&'a Generation, Option<&'a Text>),
    ) -> Drawing<'a> {
        Drawing {
            how,
            ends: &self.ends,
            forced: self.forced,
            suppressed,
            text,
            count,
        }
    }

    /// Encodes a text to tokens, with the special tokens that the model expects at its start.
    ///
    /// # Errors
    ///
    /// Errors if the model has no `tokenizer.json`, or if it cannot encode the text.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, Error> {
        Ok(tokenizer(&self.text)?.encode(text)?)
    }

    /// Decodes tokens to text.
    ///
    /// # Errors
    ///
    /// Errors if the model has no `tokenizer.json`, or if a token is unknown.
    pub fn decode(&self, tokens: &[u32]) -> Result<String, Error> {
        Ok(tokenizer(&self.text)?.decode(tokens)?)
    }
}

/// Returns the tokenizer.
///
/// # Errors
///
/// Errors if the model has none.
pub(crate) fn tokenizer(text: &Option<Text>) -> Result<&Text, Error> {
    let message = "the model has no tokenizer.json, which is needed to encode text";
    text.as_ref().ok_or_else(|| invalid("<model>", "", message))
}
