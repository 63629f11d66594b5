//! Cross-attention keys and values of an encoder-decoder.

use mind_irv2::graph::parts::MASKED;

use crate::encoder::Encoder;
use crate::error::ModelError;
use crate::model::{Model, Stage};
use crate::sizes::{MOST_TOKENS, pass_tokens, seen_rows};

/// Cross-attention keys and values of the encoder output, for each layer of the decoder. They are computed once per
/// input.
pub(crate) struct Source {
    /// For each layer its keys, then its values, `[seen, kv_heads, head_dim]` each.
    elements: Vec<f32>,
    /// Rows of the encoder output.
    count: usize,
    /// Rows that attention is compiled for; those from `count` on are zeros.
    seen: usize,
    width: usize,
}

impl Source {
    /// Runs the encoder on `tokens`.
    ///
    /// # Errors
    ///
    /// The model is not an encoder-decoder; `tokens` is empty, has a token outside of the vocabulary or more tokens
    /// than the encoder has positions; out of memory.
    pub(crate) fn read(model: &Model<'_>, tokens: &[u32]) -> Result<Source, ModelError> {
        let config = model.config();
        let Some(encoder) = model.source() else {
            let family = config.family.name();
            return Err(ModelError::NoSource { family });
        };
        let said = Encoder::new(encoder.clone())?.run(tokens, &[])?;
        Source::of(model, &said.hidden)
    }

    /// Runs the encoder on audio features, as [`Encoder::run_audio`] takes them.
    ///
    /// # Errors
    ///
    /// The model is not an encoder-decoder, or does not read audio; another number of features; out of memory.
    pub(crate) fn hear(model: &Model<'_>, features: &[f32]) -> Result<Source, ModelError> {
        let Some(encoder) = model.source() else {
            let family = model.config().family.name();
            return Err(ModelError::ReadsNoAudio { family });
        };
        let said = Encoder::new(encoder.clone())?.run_audio(features)?;
        Source::of(model, &said.hidden)
    }

    /// Computes the keys and values of the encoder output.
    fn of(model: &Model<'_>, said: &[f32]) -> Result<Source, ModelError> {
        let config = model.config();
        let (count, width) = (said.len() / config.hidden_size, config.kv_width());
        let seen = seen_rows(count);
        let half = seen * width;
        let mut elements = vec![0.0; 2 * config.num_layers * half];
        for first in (0..count).step_by(MOST_TOKENS) {
            let rows = (count - first).min(MOST_TOKENS);
            let padded = pass_tokens(rows);
            let mut x = vec![0.0; padded * config.hidden_size];
            let from = first * config.hidden_size;
            let own = rows * config.hidden_size;
            x[..own].copy_from_slice(&said[from..from + own]);
            let mut keys = vec![0.0; padded * width];
            let mut values = keys.clone();
            let stage = model.stage(Stage::Source(padded))?;
            for layer in 0..config.num_layers {
                stage[&(Some(layer), None)].run(&[&x], &mut [&mut keys, &mut values])?;
                let start = 2 * layer * half + first * width;
                elements[start..][..rows * width].copy_from_slice(&keys[..rows * width]);
                elements[start + half..][..rows * width].copy_from_slice(&values[..rows * width]);
            }
        }
        Ok(Source {
            elements,
            count,
            seen,
            width,
        })
    }

    /// Returns the rows that attention is compiled for.
    pub(crate) fn seen(&self) -> usize {
        self.seen
    }

    /// Returns the keys and the values of a layer.
    pub(crate) fn rows(&self, layer: usize) -> [&[f32]; 2] {
        let half = self.seen * self.width;
        let (keys, values) = self.elements[2 * layer * half..][..2 * half].split_at(half);
        [keys, values]
    }

    /// Returns the attention mask for `tokens` queries, `[tokens, seen]`: 0 for rows of the encoder output, and
    /// [`MASKED`] for padding.
    pub(crate) fn mask(&self, tokens: usize) -> Vec<f32> {
        let mut mask = vec![MASKED; tokens * self.seen];
        for row in mask.chunks_exact_mut(self.seen) {
            row[..self.count].fill(0.0);
        }
        mask
    }
}
