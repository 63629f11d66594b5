//! What a decoder knows of the text that its encoder has read.

use mind_irv2::graph::parts::MASKED;

use crate::encoder::Encoder;
use crate::error::ModelError;
use crate::model::{Model, Stage};
use crate::sizes::{MOST_TOKENS, pass_tokens, seen_rows};

/// Keys and values of what an encoder says of a text, for each layer of its decoder. They are made once.
pub(crate) struct Source {
    /// Keys, then values, of a layer after the other: `[seen, kv_heads, head_dim]` each.
    elements: Vec<f32>,
    /// Tokens of the text.
    count: usize,
    /// Rows that attention is compiled for; those behind the text are zeros.
    seen: usize,
    width: usize,
}

impl Source {
    /// Reads the text of `tokens`.
    ///
    /// # Errors
    ///
    /// A model without an encoder in front of it, no token, one outside of the vocabulary, more than the encoder has positions,
    /// no memory.
    pub(crate) fn read(model: &Model<'_>, tokens: &[u32]) -> Result<Source, ModelError> {
        let config = model.config();
        let Some(encoder) = model.source() else {
            let family = config.family.name();
            return Err(ModelError::NoSource { family });
        };
        let said = Encoder::new(encoder.clone())?.run(tokens, &[])?;
        Source::of(model, &said.hidden)
    }

    /// Reads sound, as [`Encoder::run_audio`] takes it.
    ///
    /// # Errors
    ///
    /// A model without an encoder in front of it, one that reads something else, another number of features, no memory.
    pub(crate) fn hear(model: &Model<'_>, features: &[f32]) -> Result<Source, ModelError> {
        let Some(encoder) = model.source() else {
            let family = model.config().family.name();
            return Err(ModelError::ReadsNoAudio { family });
        };
        let said = Encoder::new(encoder.clone())?.run_audio(features)?;
        Source::of(model, &said.hidden)
    }

    /// The keys and values of what an encoder says.
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

    /// Rows that attention is compiled for.
    pub(crate) fn seen(&self) -> usize {
        self.seen
    }

    /// The keys and the values of a layer.
    pub(crate) fn rows(&self, layer: usize) -> [&[f32]; 2] {
        let half = self.seen * self.width;
        let (keys, values) = self.elements[2 * layer * half..][..2 * half].split_at(half);
        [keys, values]
    }

    /// 0 where there is text, and [`MASKED`] behind it, for each of `tokens` queries: `[tokens, seen]`.
    pub(crate) fn mask(&self, tokens: usize) -> Vec<f32> {
        let mut mask = vec![MASKED; tokens * self.seen];
        for row in mask.chunks_exact_mut(self.seen) {
            row[..self.count].fill(0.0);
        }
        mask
    }
}
