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
}

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
        let Files(files) = files;
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
        Ok(Decoder {
            model: Arc::new(model),
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
        let Some(text) = &self.text else {
            let message = "the model has no tokenizer.json, so that text has no tokens";
            return Err(invalid("<prompt>", prompt, message));
        };
        let tokens = self.generate(&text.encode(prompt)?, count, sampling)?;
        Ok(text.decode(&tokens)?)
    }
}
