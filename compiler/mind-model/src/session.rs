//! One sequence of tokens.

use std::sync::Arc;

use crate::cache::Cache;
use crate::error::ModelError;
use crate::model::Model;
use crate::pass::{self, Sequence};
use crate::rotation::Rotation;
use crate::sizes::MOST_TOKENS;
use crate::source::Source;

/// A sequence that a model goes on with.
pub struct Session<'w> {
    model: Arc<Model<'w>>,
    cache: Cache,
    rotation: Rotation,
    /// The text that an encoder-decoder has read, which forks share.
    source: Option<Arc<Source>>,
    capacity: usize,
    /// Tokens seen.
    length: usize,
}

impl<'w> Session<'w> {
    /// An empty sequence of at most `capacity` tokens. A model with a rotation of type `longrope` has its factors for long
    /// sequences where the capacity is above its original context.
    ///
    /// # Errors
    ///
    /// A model of an encoder, one of an encoder-decoder, which reads a text first, a capacity of 0 or beyond the model's context, no memory for the cache.
    pub fn new(model: Arc<Model<'w>>, capacity: usize) -> Result<Session<'w>, ModelError> {
        if model.source().is_some() {
            let family = model.config().family.name();
            return Err(ModelError::NeedsSource { family });
        }
        Session::with(model, None, capacity)
    }

    /// An empty sequence of at most `capacity` tokens behind a text: an encoder-decoder reads its tokens once.
    ///
    /// # Errors
    ///
    /// A model that is no encoder-decoder, no token, one outside of the vocabulary, more than its encoder has positions, a
    /// capacity of 0 or beyond the model's context, no memory.
    pub fn behind(
        model: Arc<Model<'w>>,
        text: &[u32],
        capacity: usize,
    ) -> Result<Session<'w>, ModelError> {
        let source = Source::read(&model, text)?;
        Session::with(model, Some(Arc::new(source)), capacity)
    }

    /// An empty sequence of at most `capacity` tokens behind sound, of which `features` has each feature's number in every
    /// frame: an encoder-decoder hears it once.
    ///
    /// # Errors
    ///
    /// A model that is no encoder-decoder, or reads something else, another number of features, a capacity of 0 or beyond the
    /// model's context, no memory.
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

    /// The model.
    pub fn model(&self) -> &Arc<Model<'w>> {
        &self.model
    }

    /// Tokens seen so far.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether no token was seen yet.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The most tokens that it may see.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Another sequence of the same tokens, which goes on independently.
    ///
    /// # Errors
    ///
    /// No memory for its cache.
    pub fn fork(&self) -> Result<Session<'w>, ModelError> {
        Ok(Session {
            cache: self.cache.fork(self.length)?,
            model: self.model.clone(),
            rotation: self.rotation.clone(),
            source: self.source.clone(),
            ..*self
        })
    }

    /// The bytes of the keys and values that it has room for.
    pub fn cache_bytes(&self) -> u64 {
        self.cache.bytes()
    }

    /// Forgets all tokens behind the first `length`, if there are any; how many are left.
    ///
    /// These are `length` again, unless layers with a window have forgotten positions that it reaches from there: then none
    /// is left. A sequence can always go back by 64 tokens.
    #[must_use = "none may be left"]
    pub fn truncate(&mut self, length: usize) -> usize {
        let kept = length.min(self.length);
        self.length = self.cache.truncate(kept, self.length);
        self.length
    }

    /// Forgets all tokens.
    pub fn clear(&mut self) {
        self.length = self.cache.truncate(0, self.length);
    }

    /// Goes on with `tokens`; the logits behind the last one, a number for each token id.
    ///
    /// # Errors
    ///
    /// No token, one outside of the vocabulary, more than fit, no memory. The sequence is then as it was, or empty where there
    /// was no memory and layers with a window have forgotten what it needs.
    pub fn prefill(&mut self, tokens: &[u32]) -> Result<Vec<f32>, ModelError> {
        let rows = self.extend(tokens, false)?;
        self.logits(&rows, 1)
    }

    /// Goes on with `tokens`; the logits behind each of them, `[tokens, vocab_size]`.
    ///
    /// # Errors
    ///
    /// As [`prefill`](Session::prefill).
    pub fn prefill_all(&mut self, tokens: &[u32]) -> Result<Vec<f32>, ModelError> {
        let rows = self.extend(tokens, true)?;
        let width = self.model.config().hidden_size;
        let logits = rows.chunks_exact(width).map(|row| self.logits(row, 1));
        Ok(logits.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Goes on with one token; the logits behind it.
    ///
    /// # Errors
    ///
    /// As [`prefill`](Session::prefill).
    pub fn decode(&mut self, token: u32) -> Result<Vec<f32>, ModelError> {
        self.prefill(&[token])
    }

    /// Runs `tokens` in passes; the last row of the last layer's output, or all.
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
