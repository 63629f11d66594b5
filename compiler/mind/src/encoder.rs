//! Encoder models: from a text to its vector.
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

/// An encoder model, ready to make vectors. It can be used from any thread.
pub struct Encoder<'f> {
    inner: mind_model::Encoder<'f>,
    text: Option<Text>,
    how: Embedding,
    /// The most tokens of a text that the files say, if they do.
    most: Option<usize>,
    warnings: Diagnostics,
}

impl<'f> Encoder<'f> {
    /// Compiles a model for this machine and packs its weights.
    ///
    /// # Errors
    ///
    /// Files that are broken, contradict each other or describe no encoder that is supported; an instruction set that the
    /// machine lacks; no memory.
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

    /// What is odd about the files, though not wrong.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// How many numbers a vector has.
    pub fn width(&self) -> usize {
        self.inner.model().config().hidden_size
    }

    /// The vector of a text, pooled and normalised as the files of the model say.
    ///
    /// # Errors
    ///
    /// A model without a `tokenizer.json`, a text that it refuses or that has more tokens than the model has positions, no
    /// memory.
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
        let message = "the files ask for the vector of a pooler, which the model does not have";
        let mut vector = vector.ok_or_else(|| invalid("<model>", "", message))?;
        if self.how.normalizes {
            normalize(&mut vector);
        }
        Ok(vector)
    }

    /// The tokens of a text, with those that the model expects around it.
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
