//! Encoders over whole texts, images or audio.

use std::sync::Arc;

use mind_irv2::graph::parts::MASKED;
use mind_irv2::{Audio, Config, Image, RotaryStyle};

use crate::error::ModelError;
use crate::model::{Model, ONCE, Placed, Stage};
use crate::part::Part;
use crate::rotation::Rotation;
use crate::sizes::{MOST_TOKENS, pass_tokens, seen_rows};

/// An encoder, which computes a hidden state for each token of a text, each patch of an image, or each pair of audio
/// frames.
///
/// A layer runs in passes of at most 256 tokens, and every pass attends to the keys and values of the whole text. The
/// padding after the last token is zeros under a mask, which changes no bit of the result.
pub struct Encoder<'w> {
    model: Arc<Model<'w>>,
}

/// The output of an encoder.
#[derive(Clone, PartialEq, Debug)]
pub struct Encoded {
    /// The hidden states, `[tokens, hidden_size]`.
    pub hidden: Vec<f32>,
    /// The pooler's output, if the model has one.
    pub pooled: Option<Vec<f32>>,
    /// The score of each class, if the model has a classifier.
    pub scores: Option<Vec<f32>>,
}

impl<'w> Encoder<'w> {
    /// Returns the encoder of a model.
    ///
    /// # Errors
    ///
    /// The model is a decoder.
    pub fn new(model: Arc<Model<'w>>) -> Result<Encoder<'w>, ModelError> {
        let family = model.config().family;
        if family.is_encoder() {
            Ok(Encoder { model })
        } else {
            let family = family.name();
            Err(ModelError::Decoder { family })
        }
    }

    /// Returns the model.
    pub fn model(&self) -> &Arc<Model<'w>> {
        &self.model
    }

    /// Encodes `tokens`. `kinds` has the token type of each token; if it is empty, all are of type 0.
    ///
    /// # Errors
    ///
    /// No tokens; a token outside of the vocabulary; an unknown token type; more tokens than the model has positions;
    /// out of memory.
    pub fn run(&self, tokens: &[u32], kinds: &[u32]) -> Result<Encoded, ModelError> {
        let config = *self.model.config();
        let (count, context) = (tokens.len(), config.most_tokens());
        if config.image().is_some() {
            let family = config.family.name();
            return Err(ModelError::ReadsImages { family });
        }
        if config.audio().is_some() {
            let family = config.family.name();
            return Err(ModelError::ReadsAudio { family });
        }
        if count == 0 {
            return Err(ModelError::Empty);
        }
        if count > context {
            let tokens = count;
            return Err(ModelError::Long { tokens, context });
        }
        if !kinds.is_empty() && kinds.len() != count {
            let (kinds, tokens) = (kinds.len(), count);
            return Err(ModelError::Kinds { kinds, tokens });
        }
        let passes = Passes::of(&config, count);
        let mut x = vec![0.0; passes.rows() * config.hidden_size];
        let rows = x.chunks_exact_mut(config.hidden_size);
        for (at, (position, row)) in config
            .position_rows(tokens)
            .into_iter()
            .zip(rows)
            .enumerate()
        {
            let placed = Placed {
                token: tokens[at],
                position,
                kind: kinds.get(at).copied().unwrap_or(0),
            };
            self.model.embed(placed, row)?;
        }
        if let Some(part) = self.model.stage(Stage::Embed(passes.tokens))?.get(&ONCE) {
            passes.each_row(part, &mut x)?;
        }
        self.encoded(&passes, x)
    }

    /// Encodes an image, given as `[channels, rows, columns]` from the top.
    ///
    /// # Errors
    ///
    /// The model does not read images; the image has another size; out of memory.
    pub fn run_image(&self, pixels: &[f32]) -> Result<Encoded, ModelError> {
        let config = *self.model.config();
        let Some(image) = config.image() else {
            let family = config.family.name();
            return Err(ModelError::ReadsTokens { family });
        };
        if pixels.len() != image.elements() {
            let Image { channels, size, .. } = image;
            let found = pixels.len();
            return Err(ModelError::Pixels {
                found,
                channels,
                size,
            });
        }
        let passes = Passes::of(&config, image.positions());
        let (width, elements) = (config.hidden_size, image.patch_elements());
        // The class token's row comes before those of the patches.
        let mut x = vec![0.0; (1 + passes.rows()) * width];
        let mut patches = image.split(pixels);
        patches.resize(passes.rows() * elements, 0.0);
        let project = self.model.stage(Stage::Patches(passes.tokens))?;
        let Some(project) = project.get(&ONCE) else {
            let family = config.family.name();
            return Err(ModelError::ReadsTokens { family });
        };
        let pairs = patches.chunks_exact(passes.tokens * elements);
        for (patches, rows) in pairs.zip(x[width..].chunks_exact_mut(passes.tokens * width)) {
            project.run(&[patches], &mut [rows])?;
        }
        x.truncate(image.positions() * width);
        x.resize(passes.rows() * width, 0.0);
        for (position, row) in x.chunks_exact_mut(width).take(passes.count).enumerate() {
            if position == 0 {
                let placed = Placed {
                    token: 0,
                    position,
                    kind: 0,
                };
                self.model.embed(placed, row)?;
            } else {
                self.model.place(position, row)?;
            }
        }
        self.encoded(&passes, x)
    }

    /// Encodes audio features, `[mel_bins, frames]`.
    ///
    /// # Errors
    ///
    /// The model does not read audio; another number of features; out of memory.
    pub fn run_audio(&self, features: &[f32]) -> Result<Encoded, ModelError> {
        let config = *self.model.config();
        let Some(audio) = config.audio() else {
            let family = config.family.name();
            return Err(ModelError::ReadsNoAudio { family });
        };
        let Audio { mel_bins, frames } = audio;
        if features.len() != audio.elements() {
            let found = features.len();
            return Err(ModelError::Features {
                found,
                mel_bins,
                frames,
            });
        }
        let frame = |at: usize| (0..mel_bins).map(move |bin| features[bin * frames + at]);
        let rows: Vec<f32> = (0..frames).flat_map(frame).collect();
        let windows = Audio::windows(&rows, mel_bins, 1);
        let rows = self.frames(Stage::Frames, frames, &windows)?;
        let width = config.hidden_size;
        let windows = Audio::windows(&rows, width, 2);
        let passes = Passes::of(&config, config.context_window);
        let mut x = self.frames(Stage::Pairs, passes.count, &windows)?;
        x.resize(passes.rows() * width, 0.0);
        let rows = x.chunks_exact_mut(width).take(passes.count);
        for (position, row) in rows.enumerate() {
            self.model.place(position, row)?;
        }
        self.encoded(&passes, x)
    }

    /// Applies a convolution to each of `count` windows, and returns a row per window.
    fn frames(
        &self,
        stage: fn(usize) -> Stage,
        count: usize,
        windows: &[f32],
    ) -> Result<Vec<f32>, ModelError> {
        let config = self.model.config();
        let passes = Passes::of(config, count);
        let part = self.model.stage(stage(passes.tokens))?;
        let Some(part) = part.get(&ONCE) else {
            let family = config.family.name();
            return Err(ModelError::ReadsNoAudio { family });
        };
        let (width, elements) = (config.hidden_size, windows.len() / count);
        let mut padded = windows.to_vec();
        padded.resize(passes.rows() * elements, 0.0);
        let mut rows = vec![0.0; passes.rows() * width];
        let outputs = rows.chunks_exact_mut(passes.tokens * width);
        for (windows, rows) in padded.chunks_exact(passes.tokens * elements).zip(outputs) {
            part.run(&[windows], &mut [rows])?;
        }
        rows.truncate(count * width);
        Ok(rows)
    }

    /// Runs the layers and the parts after them on the embedded rows of all positions.
    fn encoded(&self, passes: &Passes, mut x: Vec<f32>) -> Result<Encoded, ModelError> {
        let config = &passes.config;
        layers(&self.model, passes, &mut x)?;
        if let Some(part) = self.model.stage(Stage::Close(passes.tokens))?.get(&ONCE) {
            passes.each_row(part, &mut x)?;
        }
        x.truncate(passes.count * config.hidden_size);
        let of_first = |stage: Stage, width: usize| -> Result<Option<Vec<f32>>, ModelError> {
            let parts = self.model.stage(stage)?;
            let Some(part) = parts.get(&ONCE) else {
                return Ok(None);
            };
            let mut vector = vec![0.0; width];
            part.run(&[&x[..config.hidden_size]], &mut [&mut vector])?;
            Ok(Some(vector))
        };
        let pooled = of_first(Stage::Pool, config.hidden_size)?;
        let scores = of_first(Stage::Classify, config.vocab_size)?;
        Ok(Encoded {
            hidden: x,
            pooled,
            scores,
        })
    }
}

/// The passes over a text, all of which have the same number of tokens.
struct Passes {
    config: Config,
    /// Tokens of the text.
    count: usize,
    /// Tokens of a pass.
    tokens: usize,
    passes: usize,
    /// Rows of keys that attention is compiled for.
    seen: usize,
}

impl Passes {
    fn of(config: &Config, count: usize) -> Passes {
        let passes = count.div_ceil(MOST_TOKENS);
        let tokens = pass_tokens(count.div_ceil(passes));
        Passes {
            config: *config,
            count,
            tokens,
            passes: count.div_ceil(tokens),
            seen: seen_rows(count),
        }
    }

    /// Returns the tokens of all passes, including padding.
    fn rows(&self) -> usize {
        self.passes * self.tokens
    }

    /// Replaces each row by the result of a part.
    fn each_row(&self, part: &Part, x: &mut [f32]) -> Result<(), ModelError> {
        let size = self.tokens * self.config.hidden_size;
        let mut y = vec![0.0; size];
        for rows in x.chunks_exact_mut(size) {
            part.run(&[rows], &mut [&mut y])?;
            rows.copy_from_slice(&y);
        }
        Ok(())
    }

    /// Returns the attention mask of a pass, `[tokens, seen]`: 0 for visible keys, and [`MASKED`] after the end of the
    /// text and outside of the window. Padding queries see the keys of the last token.
    fn mask(&self, pass: usize, window: Option<usize>) -> Vec<f32> {
        let mut mask = vec![MASKED; self.tokens * self.seen];
        for (at, row) in mask.chunks_exact_mut(self.seen).enumerate() {
            let own = (pass * self.tokens + at).min(self.count - 1);
            let (from, to) = match window {
                Some(width) => ((own + 1).saturating_sub(width), own.saturating_add(width)),
                None => (0, self.count),
            };
            row[from..to.min(self.count)].fill(0.0);
        }
        mask
    }
}

/// Runs all layers over the rows of a text.
fn layers(model: &Model<'_>, passes: &Passes, x: &mut [f32]) -> Result<(), ModelError> {
    let config = &passes.config;
    let (q_width, kv_width) = (config.q_width(), config.kv_width());
    let rotation = Rotation::new(config, config.most_tokens());
    let rotations = RotaryStyle::ALL.map(|turning| {
        let mut layers = 0..config.num_layers;
        let used = layers.any(|layer| config.rotary_style(layer) == turning);
        rotation.rows(turning, if used { 0..passes.rows() } else { 0..0 })
    });
    let whole = passes.mask(0, None);
    let project = model.stage(Stage::Project(passes.tokens))?;
    let [attend, _] = model.attend(passes.tokens, [passes.seen; 2])?;
    let distances: Vec<Vec<f32>> = match model.distances() {
        Some(own) => (0..passes.passes)
            .map(|pass| own.rows(pass * passes.tokens, passes.tokens, passes.seen))
            .collect(),
        None => Vec::new(),
    };
    let finish = model.stage(Stage::Finish(passes.tokens))?;
    let stored = passes.rows().max(passes.seen);
    let mut q = vec![0.0; passes.rows() * q_width];
    let mut keys = vec![0.0; stored * kv_width];
    let mut values = keys.clone();
    let mut mixed = vec![0.0; passes.tokens * q_width];
    let mut y = vec![0.0; passes.tokens * config.hidden_size];
    // The range of pass `pass` in an array of rows of `width` elements.
    let rows = |pass: usize, width: usize| {
        pass * passes.tokens * width..(pass + 1) * passes.tokens * width
    };
    for layer in 0..config.num_layers {
        let [cos, sin] = &rotations[config.rotary_style(layer) as usize];
        let pairs = cos.len() / passes.rows();
        for pass in 0..passes.passes {
            let turned = rows(pass, pairs);
            let all = [
                &x[rows(pass, config.hidden_size)],
                &cos[turned.clone()],
                &sin[turned],
            ];
            let inputs = match config.rope {
                Some(_) => &all[..],
                None => &all[..1],
            };
            let here = rows(pass, kv_width);
            let mut outputs = [
                &mut q[rows(pass, q_width)],
                &mut keys[here.clone()],
                &mut values[here],
            ];
            project[&(Some(layer), None)].run(inputs, &mut outputs)?;
        }
        for half in [&mut keys, &mut values] {
            half[passes.count * kv_width..].fill(0.0);
        }
        let seen = ..passes.seen * kv_width;
        for pass in 0..passes.passes {
            let narrow = config
                .window(layer)
                .map(|width| passes.mask(pass, Some(width)));
            let mask = narrow.as_ref().unwrap_or(&whole);
            let mut looked: Vec<&[f32]> =
                vec![&q[rows(pass, q_width)], &keys[seen], &values[seen], mask];
            looked.extend(distances.get(pass).map(Vec::as_slice));
            attend.run(&looked, &mut [&mut mixed])?;
            let own = &mut x[rows(pass, config.hidden_size)];
            finish[&(Some(layer), None)].run(&[own, &mixed], &mut [&mut y])?;
            own.copy_from_slice(&y);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use mind_irv2::{Families, hf};

    use super::*;

    fn passes(count: usize) -> Passes {
        let text = r#"{"model_type": "bert", "num_hidden_layers": 1, "hidden_size": 8, "intermediate_size": 8,
            "num_attention_heads": 2, "vocab_size": 9, "max_position_embeddings": 4096}"#;
        let read = hf::document(Some(text), &[], Families::default());
        let (document, _) = read.unwrap_or_else(|why| panic!("{why:?}"));
        Passes::of(&document.config, count)
    }

    #[test]
    fn passes_hold_the_text_and_little_more() {
        for count in 1..4096 {
            let own = passes(count);
            assert!(own.rows() >= count && own.tokens <= MOST_TOKENS, "{count}");
            assert!(own.rows() < count + own.tokens, "{count}");
        }
        let own = passes(300);
        assert_eq!((own.passes, own.tokens, own.seen), (2, 160, 320));
    }

    #[test]
    fn a_query_sees_the_text_or_its_window_on_both_sides() {
        let own = passes(5);
        assert_eq!((own.tokens, own.seen), (8, 64));
        let seen = |mask: &[f32]| -> Vec<Vec<usize>> {
            let rows = mask.chunks(64);
            rows.map(|row| (0..64).filter(|&at| row[at] == 0.0).collect())
                .collect()
        };
        let whole = seen(&own.mask(0, None));
        assert!(whole.iter().all(|own| *own == [0, 1, 2, 3, 4]), "{whole:?}");
        let near = seen(&own.mask(0, Some(2)));
        assert_eq!(near[0], [0, 1]);
        assert_eq!(near[2], [1, 2, 3]);
        assert_eq!(near[4], [3, 4]);
        assert_eq!(near[7], near[4]);
    }
}
