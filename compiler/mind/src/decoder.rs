//! Models that draw tokens, decoders and encoder-decoders: from their files to the next token.
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

/// The files of a model. They are mapped: nothing may change them meanwhile.
pub struct Files(mind_model::Files);

impl Files {
    /// Finds and maps the files at `path`: a folder as Hugging Face has them, its `config.json`, a document of IR v2, or
    /// one GGUF file.
    ///
    /// # Errors
    ///
    /// A file that cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Files, Error> {
        let opened = mind_model::Files::open(path.as_ref(), WeightsAt::Beside, &mut Disk);
        Ok(Files(opened?))
    }

    /// Whether they are those of an encoder, of which [`encoder`](crate::encoder) makes vectors.
    ///
    /// # Errors
    ///
    /// Files that are broken, contradict each other or describe no supported model.
    pub fn is_encoder(&self) -> Result<bool, Error> {
        let (document, _, _) = self.0.model()?;
        Ok(document.config.family.is_encoder())
    }

    /// The files, as the crate of models knows them.
    pub(crate) fn inner(&self) -> &mind_model::Files {
        &self.0
    }

    /// The model compiled for this machine, its tokenizer if there is one, and what is odd about the files.
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

/// A compiled model, its tokenizer, and what is odd about its files.
pub(crate) type Compiled<'f> = (Arc<mind_model::Model<'f>>, Option<Text>, Diagnostics);

/// A decoder or an encoder-decoder, ready to run sequences. It can be used from any thread, and by several sessions at once.
///
/// An encoder-decoder reads a prompt, or hears a sound, with its encoder; its decoder starts from
/// [`start`](Decoder::start).
pub struct Decoder<'f> {
    model: Arc<mind_model::Model<'f>>,
    text: Option<Text>,
    beside: TextFiles<'f>,
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
    /// Files that are broken, contradict each other or describe no supported model; an instruction set that the machine
    /// lacks; no memory.
    pub fn new(files: &'f Files, config: &Config) -> Result<Decoder<'f>, Error> {
        let (model, text, warnings) = files.compiled(config)?;
        let family = model.config().family;
        let beside = TextFiles::open(files.inner(), family, &mut Disk)?;
        let is_pair = family.encoder().is_some();
        Ok(Decoder {
            start: is_pair.then(|| beside.start()).transpose()?,
            forced: if is_pair {
                beside.forced()?
            } else {
                Forced::default()
            },
            ends: beside.ends()?,
            model,
            text,
            beside,
            warnings,
        })
    }

    /// What is odd about the files, though not wrong.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// The tokens after which a text ends, as the files of the model say.
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// The token that the decoder of an encoder-decoder starts from; `None` of a decoder.
    pub fn start(&self) -> Option<u32> {
        self.start
    }

    /// Whether the model hears sound: [`hear`](Decoder::hear) and [`transcribe`](Decoder::transcribe) are for it.
    pub fn hears(&self) -> bool {
        let encoder = self.model.config().encoder();
        encoder.is_some_and(|own| own.audio().is_some())
    }

    /// A sequence without tokens of a decoder, with room for `capacity` of them.
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
    /// A model that is no decoder, a capacity of 0 or beyond the positions that the model knows, no memory.
    pub fn session(&self, capacity: usize) -> Result<Session<'f>, Error> {
        Ok(Session::new(self.model.clone(), capacity)?)
    }

    /// An empty sequence that follows a text which an encoder-decoder reads, with room for `capacity` tokens.
    ///
    /// # Errors
    ///
    /// A model that reads no text before a sequence, a text without tokens or with more than the model has positions, a
    /// token outside of the vocabulary; those of [`session`](Decoder::session).
    pub fn session_behind(&self, text: &[u32], capacity: usize) -> Result<Session<'f>, Error> {
        Ok(Session::behind(self.model.clone(), text, capacity)?)
    }

    /// The tokens that follow `prompt`, `count` at most: they end after one of [`ends`](Decoder::ends), and as `how` says.
    /// The last one may be that with which a text of [`Generation::stops`] has come.
    ///
    /// # Errors
    ///
    /// An empty prompt, a token outside of the vocabulary, more tokens than the model has positions, texts that end it where
    /// the model has no tokenizer, no memory.
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

    /// The text that follows `prompt`, of `count` tokens at most, up to what `how` says ends it.
    ///
    /// # Errors
    ///
    /// A model without a `tokenizer.json`, a text that it refuses; those of [`generate`](Decoder::generate).
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

    /// What is said in a WAV file, as tokens, `count` at most or as many as fit.
    ///
    /// # Errors
    ///
    /// A model that hears nothing, a file that is no WAV file, sound of another rate or longer than the model hears at once, a
    /// language or a task that the model does not have, no memory.
    pub fn hear(
        &self,
        wav: &[u8],
        asked: Hearing<'_>,
        count: Option<usize>,
        how: impl Into<Generation>,
    ) -> Result<Vec<u32>, Error> {
        let how = how.into();
        let text = self.reader_of(&how)?;
        Ok(self.heard(wav, asked, count, (&how, text))?.tokens)
    }

    /// The text of what is said in a WAV file, of `count` tokens at most or as many as fit.
    ///
    /// # Errors
    ///
    /// A model without a `tokenizer.json`; those of [`hear`](Decoder::hear).
    pub fn transcribe(
        &self,
        wav: &[u8],
        asked: Hearing<'_>,
        count: Option<usize>,
        how: impl Into<Generation>,
    ) -> Result<String, Error> {
        let text = tokenizer(&self.text)?;
        let drawn = self.heard(wav, asked, count, (&how.into(), Some(text)))?;
        Ok(drawn.text)
    }

    /// What reads the texts that end a sequence, if there are such.
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
            let message = format!("models of the family `{family}` hear sound, and read no text");
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

    fn heard(
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
        let speech = self.beside.speech(asked)?;
        let spectrogram = self.beside.spectrogram(audio)?;
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

    /// The tokens of a text, with those that the model expects at its start.
    ///
    /// # Errors
    ///
    /// A model without a `tokenizer.json`, a text that it refuses.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, Error> {
        Ok(tokenizer(&self.text)?.encode(text)?)
    }

    /// The text of tokens.
    ///
    /// # Errors
    ///
    /// A model without a `tokenizer.json`, a token that it does not have.
    pub fn decode(&self, tokens: &[u32]) -> Result<String, Error> {
        Ok(tokenizer(&self.text)?.decode(tokens)?)
    }
}

/// # Errors
///
/// A model without a tokenizer.
pub(crate) fn tokenizer(text: &Option<Text>) -> Result<&Text, Error> {
    let message = "the model has no tokenizer.json, so that text has no tokens";
    text.as_ref().ok_or_else(|| invalid("<model>", "", message))
}
