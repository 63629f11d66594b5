//! Decoder models: from the files of a model to the next token.
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
use mind_model::{CheckpointWeights, MappedWeights, Runner, Text, WeightsAt};

pub use mind_model::{Sampler, Sampling, Session, largest};

use crate::error::{Error, invalid};
use crate::exec::{Config, Engine};

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

/// A decoder model, ready to run sequences. It can be used from any thread, and by several sessions at once.
pub struct Decoder<'f> {
    model: Arc<mind_model::Model<'f>>,
    text: Option<Text>,
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
        Ok(Decoder {
            model,
            text,
            warnings,
        })
    }

    /// What is odd about the files, though not wrong.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// A sequence without tokens, with room for `capacity` of them.
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
    /// A capacity beyond the positions that the model knows, no memory.
    pub fn session(&self, capacity: usize) -> Result<Session<'f>, Error> {
        Ok(Session::new(self.model.clone(), capacity)?)
    }

    /// The `count` tokens that follow `prompt`.
    ///
    /// # Errors
    ///
    /// An empty prompt, a token outside of the vocabulary, more tokens than the model has positions, no memory.
    pub fn generate(
        &self,
        prompt: &[u32],
        count: usize,
        sampling: Sampling,
    ) -> Result<Vec<u32>, Error> {
        let capacity = prompt.len().saturating_add(count.saturating_sub(1));
        let mut session = self.session(capacity)?;
        let mut sampler = Sampler::new(sampling);
        let mut tokens = prompt.to_vec();
        let mut logits = session.prefill(prompt)?;
        while tokens.len() < prompt.len().saturating_add(count) {
            if tokens.len() > prompt.len() {
                logits = session.decode(tokens[tokens.len() - 1])?;
            }
            tokens.push(sampler.next(&logits, &tokens));
        }
        Ok(tokens.split_off(prompt.len()))
    }

    /// The text of the `count` tokens that follow `prompt`.
    ///
    /// # Errors
    ///
    /// A model without a `tokenizer.json`, a text that it refuses; those of [`generate`](Decoder::generate).
    pub fn complete(
        &self,
        prompt: &str,
        count: usize,
        sampling: Sampling,
    ) -> Result<String, Error> {
        let tokens = self.generate(&self.encode(prompt)?, count, sampling)?;
        self.decode(&tokens)
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
