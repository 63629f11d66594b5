//! One sequence of tokens with its KV cache.

use std::sync::Arc;

use crate::cache::Cache;
use crate::error::ModelError;
use crate::model::Model;
use crate::pass::{self, Sequence};
use crate::rotation::Rotation;
use crate::sizes::MOST_TOKENS;
use crate::source::Source;

/// A sequence that a model continues.
pub struct Session<'w> {
    model: Arc<Model<'w>>,
    cache: Cache,
    rotation: Rotation,
    /// The encoder output of an encoder-decoder, shared by forks.
    source: Option<Arc<Source>>,
    capacity: usize,
    /// Tokens in the cache.
    length: usize,
}

impl<'w> Session<'w> {
    /// Creates an empty sequence of at most `capacity` tokens. A model with rotary scaling of type `longrope` uses its
    /// factors for long sequences if the capacity exceeds its original context.
    ///
    /// # Errors
    ///
    /// The model is an encoder, or an encoder-decoder, which needs an input for its encoder; the capacity is 0 or
    /// exceeds the model's context; out of memory for the cache.
    pub fn new(model: Arc<Model<'w>>, capacity: usize) -> Result<Session<'w>, ModelError> {
        if model.source().is_some() {
            let family = model.config().family.name();
            return Err(ModelError::NeedsSource { family });
        }
        Session::with(model, None, capacity)
    }

    /// Encodes `text` with the encoder of an encoder-decoder, and creates an empty sequence of at most `capacity`
    /// tokens.
    ///
    /// # Errors
    ///
    /// The model is not an encoder-decoder; `text` is empty, has a token outside of the vocabulary, or more tokens than
    /// the encoder has positions; the capacity is 0 or exceeds the model's context; out of memory.
    pub fn behind(
        model: Arc<Model<'w>>,
        text: &[u32],
        capacity: usize,
    ) -> Result<Session<'w>, ModelError> {
        let source = Source::read(&model, text)?;
        Session::with(model, Some(Arc::new(source)), capacity)
    }

    /// Encodes audio `features`, `[mel_bins, frames]`, with the encoder of an encoder-decoder, and creates an empty
    /// sequence of at most `capacity` tokens.
    ///
    /// # Errors
    ///
    /// The model is not an encoder-decoder, or does not read audio; another number of features; the capacity is 0 or
    /// exceeds the model's context; out of memory.
    pub fn behind_audio(
        model: Arc<Model<'w>>,
        features: &[f32],
        capacity: usize,
    ) -> Result<Session<'w>, ModelError> {
        let source = Source::hear(&model, features)?;
        Session::with(model, Some(Arc::new(source)), capacity)
    }

    fn with(
        model: Arc<Model<'w>>,
        source: Option<Arc<Source>>,
        capacity: usize,
    ) -> Result<Session<'w>, ModelError> {
        if model.config().family.is_encoder() {
            let family = model.config().family.name();
            return Err(ModelError::Encoder { family });
        }
        let context = model.config().most_tokens();
        if capacity > context {
            return Err(ModelError::Context { capacity, context });
        }
        if capacity == 0 {
            return Err(ModelError::Capacity {
                needed: 1,
                capacity,
            });
        }
        Ok(Session {
            cache: Cache::new(model.config(), capacity)?,
            rotation: Rotation::new(model.config(), capacity),
            source,
            model,
            capacity,
            length: 0,
        })
    }

    /// Returns the model.
    pub fn model(&self) -> &Arc<Model<'w>> {
        &self.model
    }

    /// Returns the number of tokens so far.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns whether the sequence has no tokens yet.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the maximal number of tokens.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns an independent copy of the sequence.
    ///
    /// # Errors
    ///
    /// Out of memory for the copied cache.
    pub fn fork(&self) -> Result<Session<'w>, ModelError> {
        Ok(Session {
            cache: self.cache.fork(self.length)?,
            model: self.model.clone(),
            rotation: self.rotation.clone(),
            source: self.source.clone(),
            ..*self
        })
    }

    /// Returns the size of the KV cache in bytes.
    pub fn cache_bytes(&self) -> u64 {
        self.cache.bytes()
    }

    /// Removes the tokens after the first `length`. Returns how many tokens are left.
    ///
    /// All `length` tokens are left unless layers with a window have evicted positions that they would need again; then
    /// the sequence is empty. Going back by at most 64 tokens always works.
    #[must_use = "none may be left"]
    pub fn truncate(&mut self, length: usize) -> usize {
        let kept = length.min(self.length);
        self.length = self.cache.truncate(kept, self.length);
        self.length
    }

    /// Removes all tokens.
    pub fn clear(&mut self) {
        self.length = self.cache.truncate(0, self.length);
    }

    /// Appends `tokens`. Returns the logits after the last one, a number per token of the vocabulary.
    ///
    /// # Errors
    ///
    /// `tokens` is empty, has a token outside of the vocabulary or does not fit; out of memory. The sequence is then
    /// unchanged, or empty if memory ran out and layers with a window have evicted positions that it needs.
    pub fn prefill(&mut self, tokens: &[u32]) -> Result<Vec<f32>, ModelError> {
        let rows = self.extend(tokens, false)?;
        self.logits(&rows, 1)
    }

    /// Appends `tokens`. Returns the logits after each of them, `[tokens, vocab_size]`.
    ///
    /// # Errors
    ///
    /// Those of [`prefill`](Session::prefill).
    pub fn prefill_all(&mut self, tokens: &[u32]) -> Result<Vec<f32>, ModelError> {
        let rows = self.extend(tokens, true)?;
        let width = self.model.config().hidden_size;
        let logits = rows.chunks_exact(width).map(|row| self.logits(row, 1));
        Ok(logits.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Appends one token. Returns the logits after it.
    ///
    /// # Errors
    ///
    /// Those of [`prefill`](Session::prefill).
    pub fn decode(&mut self, token: u32) -> Result<Vec<f32>, ModelError> {
        self.prefill(&[token])
    }

    /// Runs `tokens` in passes. Returns the last row of the last layer's output, or all rows if `all`.
    fn extend(&mut self, tokens: &[u32], all: bool) -> Result<Vec<f32>, ModelError> {
        let (capacity, needed) = (self.capacity, self.length + tokens.len());
        if tokens.is_empty() {
            return Err(ModelError::Empty);
        }
        if needed > capacity {
            return Err(ModelError::Capacity { needed, capacity });
        }
        let vocab_size = self.model.config().vocab_size;
        if let Some(&token) = tokens.iter().find(|&&token| token as usize >= vocab_size) {
            return Err(ModelError::Token { token, vocab_size });
        }
        let width = self.model.config().hidden_size;
        let mut rows = Vec::new();
        let mut first = self.length;
        for chunk in tokens.chunks(MOST_TOKENS) {
            let of = Sequence {
                model: &self.model,
                rotation: &self.rotation,
                source: self.source.as_deref(),
            };
            let done = pass::run(of, &mut self.cache, first, chunk);
            let passed = match done {
                Ok(passed) => passed,
                Err(why) => {
                    self.length = self.cache.truncate(self.length, first);
                    return Err(why);
                }
            };
            first += chunk.len();
            if all {
                rows.extend(passed)
            } else {
                rows = passed[passed.len() - width..].to_vec()
            }
        }
        self.length = first;
        Ok(rows)
    }

    fn logits(&self, rows: &[f32], count: usize) -> Result<Vec<f32>, ModelError> {
        let mut logits = vec![0.0; count * self.model.config().vocab_size];
        self.model.head(count)?[&(None, None)].run(&[rows], &mut [&mut logits])?;
        Ok(logits)
    }
}
