//! Encoder models, which compute embeddings of texts.
//!
//! ```no_run
//! use mind::Config;
//! use mind::encoder::{Encoder, Files};
//!
//! let files = Files::open("all-MiniLM-L6-v2")?;
//! let encoder = Encoder::new(&files, &Config::default())?;
//! println!("{:?}", encoder.embed("A cat on a mat.")?);
//! # Ok::<(), mind::Error>(())
//! ```

use mind_diag::Diagnostics;
use mind_driver::disk::Disk;
use mind_model::{Embedding, Text, most_tokens, normalize};

pub use crate::decoder::Files;

use crate::decoder::tokenizer;
use crate::error::{Error, invalid};
use crate::exec::Config;

/// A compiled encoder model. It can be used from several threads.
pub struct Encoder<'f> {
    inner: mind_model::Encoder<'f>,
    text: Option<Text>,
    how: Embedding,
    /// Limit on the tokens of a text, if the files specify one.
    most: Option<usize>,
    warnings: Diagnostics,
}

impl<'f> Encoder<'f> {
    /// Compiles a model for this machine and packs its weights.
    ///
    /// # Errors
    ///
    /// Errors if the files are invalid, contradict each other, or do not describe a supported encoder, if the machine
    /// lacks the instruction set, or if there is not enough memory.
    pub fn new(files: &'f Files, config: &Config) -> Result<Encoder<'f>, Error> {
        let (model, text, warnings) = files.compiled(config)?;
        Ok(Encoder {
            inner: mind_model::Encoder::new(model)?,
            text,
            how: Embedding::of(files.inner(), &mut Disk)?,
            most: most_tokens(files.inner(), &mut Disk)?,
            warnings,
        })
    }

    /// Returns warnings about the files.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// Returns the length of an embedding.
    pub fn width(&self) -> usize {
        self.inner.model().config().hidden_size
    }

    /// Returns the embedding of a text, pooled and normalised as specified in the model's files.
    ///
    /// # Errors
    ///
    /// Errors if the model has no `tokenizer.json`, if it cannot encode the text, if the text exceeds the model's
    /// positions, or if there is not enough memory.
    pub fn embed(&self, text: &str) -> Result<Vec<f32>, Error> {
        let (tokens, kinds) = tokenizer(&self.text)?.encode_kinds(text)?;
        if let Some(most) = self.most.filter(|most| tokens.len() > *most) {
            let count = tokens.len();
            let message = format!(
                "the text has {count} tokens, more than the {most} that the files of the model allow"
            );
            return Err(invalid("<text>", "", message));
        }
        let encoded = self.inner.run(&tokens, &kinds)?;
        let vector = self.how.pooling.apply(&encoded, self.width());
        let message = "the files select the output of a pooler, which the model does not have";
        let mut vector = vector.ok_or_else(|| invalid("<model>", "", message))?;
        if self.how.normalizes {
            normalize(&mut vector);
        }
        Ok(vector)
    }

    /// Encodes a text to tokens, with the special tokens that the model expects around it.
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
