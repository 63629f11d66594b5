//! Builds a whole model as one module, from its document.
//!
//! The weights are the buffers of the document, with their names and padded shapes; names of layer weights begin with
//! `layer<l>.`. [`Padding`] selects how padding is handled. All other data of a run are inputs:
//!
//! | input | shape | contents |
//! |---|---|---|
//! | `tokens` | `i32[tokens]` | token ids |
//! | `positions` | `f32[tokens]` | their positions, 0, 1, 2, ... |
//! | `rope_cos_cache`, `rope_sin_cache` | `f32[tokens, pairs]` | the rotation of each position, if heads rotate |
//! | `local_cos_cache`, `local_sin_cache` | `f32[tokens, pairs]` | the same in layers with a window, if it differs |
//! | `still_cos_cache`, `still_sin_cache` | `f32[tokens, pairs]` | 1 and 0, if some layers do not rotate |
//! | `position_ids` | `i32[tokens]` | rows of the position table, if there is one, from that of the first position on |
//! | `token_types` | `i32[tokens]` | the type of each token, if there is a table of them |
//! | `pixels` | `f32[num_channels, image_size, image_size]` | an image, instead of tokens |
//! | `features` | `f32[num_mel_bins, frames]` | audio features, two frames for each position, instead of tokens |
//! | `position_classes` | `i32[tokens, tokens]` | relative position buckets, if scores depend on them |
//!
//! The encoder of an encoder-decoder has its own inputs with the extent `source_tokens`, whose names begin with
//! `source_`.
//!
//! The output of a decoder is `f32[tokens, vocab]`, the logits after each token. Attention is causal, and in layers
//! with a window limited to the window.
//!
//! The outputs of an encoder are `f32[tokens, hidden_size]`, the hidden state of each token, and `f32[hidden_size]`,
//! the pooled vector, if it has a pooler, or `f32[vocab]`, a score for each class, if it has a classifier. Attention is
//! bidirectional, and in layers with a window limited to the window on both sides. `positions` is only an input if
//! there are layers with a window.

use mind_core::ops::elementwise::{Add, Log, Mul, Relu, Sub};
use mind_core::ops::shape::{Reshape, Transpose};
use mind_ir::types::{DType, Dim};
use mind_ir::{Graph, ValueId};

use super::emit::{BuildError, Built, Emitter, fixed};
use super::plan::{self, ENCODED, LOGITS, POOLED, ROTATION, SCORES, Stream};
use super::weight_dtype;
use crate::attributes::Attribute;
use crate::config::{Config, RotaryStyle, align};
use crate::family::Stack;
use crate::image::Image;
use crate::kernels::{EMBEDDING, Values, ambient};
use crate::layout::buffers::{Buffer, TensorForm};
use crate::layout::nodes::{Node, PlanSection, layer_nodes, nodes};
use crate::schema::Document;

/// How the padding of weights is handled: elements past the unpadded extents, up to the next multiple of 16.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Padding {
    /// Padding is sliced off: ops have unpadded extents, and padding may hold any values.
    #[default]
    Stripped,
    /// Padding takes part in the computation: ops have padded extents, and no weight is sliced. Padding must be zero;
    /// logits then have the same bits.
    Kept,
}

/// Builds the model of `document` without a KV cache: all tokens in one pass.
///
/// # Errors
///
/// Errors if extents are too large for tensors, or steps of the plan do not fit together.
pub fn model(document: &Document, padding: Padding) -> Result<Graph, BuildError> {
    let mut m = Model {
        e: Emitter::new(),
        document,
        padding,
        values: Values::new(),
    };
    let config = &document.config;
    for (stack, own) in config.stacks() {
        m.stack(stack, &own)?;
        if stack == Stack::Source {
            m.carry(plan::hidden(&own), ENCODED)?;
        }
    }
    let outputs = if config.family.is_encoder() {
        m.meanings()?
    } else {
        vec![m.value(LOGITS)?]
    };
    Ok(m.e.finish(&outputs))
}

/// Returns the name of the input `name` of a stack of layers.
pub fn input_name(stack: Stack, name: &str) -> String {
    match stack {
        Stack::Source => format!("source_{name}"),
        Stack::Main => name.to_owned(),
    }
}

/// A module under construction, and its document.
struct Model<'d> {
    e: Emitter,
    document: &'d Document,
    padding: Padding,
    values: Values,
}

impl Model<'_> {
    /// Appends the layers of the stack that `config` selects, and the steps before and after them.
    fn stack(&mut self, stack: Stack, config: &Config) -> Built<()> {
        let stream = Stream::of(stack);
        let named = |name: &str| input_name(stack, name);
        let tokens = match (config.image(), config.audio()) {
            (Some(image), _) => {
                let patches = self.patches(image)?;
                self.values.insert(ambient::PATCHES, vec![patches]);
                fixed(image.positions())
            }
            (None, Some(audio)) => {
                let shape = [audio.mel_bins, audio.frames].map(fixed);
                let features = self.e.input("features", DType::F32, &shape);
                let by_frame = Transpose::with()
                    .permutation(&[1, 0])
                    .build(&mut self.e, features)?;
                self.values.insert(ambient::FEATURES, vec![by_frame]);
                fixed(config.context_window)
            }
            (None, None) => {
                let tokens = self.e.symbol(&named("tokens"));
                let ids = self.e.input(&named("tokens"), DType::I32, &[tokens]);
                self.values.insert(ambient::TOKENS, vec![ids]);
                tokens
            }
        };
        let positions = self.positions(config, tokens);
        if let Some(places) = positions {
            self.values.insert(ambient::PLACES, vec![places]);
        }
        let rotations = self.rotations(config, tokens)?;
        let masks = self.masks(config, positions, tokens)?;
        let first: Vec<&'static Node> = nodes(config, PlanSection::First).collect();
        let reads = |arg: &str| {
            let embedding = first.iter().filter(|node| node.op() == EMBEDDING);
            let mut args = embedding.filter_map(|node| node.arg(arg));
            args.any(|own| own.is_listed(config))
        };
        for (arg, input) in [("pos", ambient::POSITIONS), ("types", ambient::TYPES)] {
            if reads(arg) {
                let ids = self.e.input(&named(input), DType::I32, &[tokens]);
                self.values.insert(input, vec![ids]);
            }
        }
        if plan::position_bias(config).is_some() {
            let name = named(ambient::CLASSES);
            let classes = self.e.input(&name, DType::I32, &[tokens, tokens]);
            self.values.insert(ambient::CLASSES, vec![classes]);
        }
        self.run(config, &first, None)?;
        self.carry(stream.embedded, stream.input)?;
        for at in 0..config.num_layers {
            match masks[usize::from(config.sliding_layers.has(at))] {
                Some(mask) => drop(self.values.insert(ambient::MASK, vec![mask])),
                None => drop(self.values.remove(ambient::MASK)),
            }
            if let Some(rotations) = &rotations {
                let own = rotations[config.rotary_style(at) as usize];
                for (buffer, value) in ROTATION.into_iter().zip(own) {
                    self.values.insert(buffer, vec![value]);
                }
            }
            let own = config.of_layer(at);
            let layer: Vec<&'static Node> = layer_nodes(&own, config.has_experts(at)).collect();
            self.run(config, &layer, Some(at))?;
            self.carry(stream.output, stream.input)?;
        }
        self.carry(stream.input, stream.output)?;
        let last: Vec<&'static Node> = nodes(config, PlanSection::Last).collect();
        self.run(config, &last, None)
    }

    /// Returns the patches of an image, `[patches, patch_elements]`.
    fn patches(&mut self, image: Image) -> Built<ValueId> {
        let Image {
            size,
            patch,
            channels,
        } = image;
        let shape = [channels, size, size].map(fixed);
        let pixels = self.e.input("pixels", DType::F32, &shape);
        let grid = image.grid();
        let split = [channels, grid, patch, grid, patch].map(fixed);
        let split = Reshape::with(&split).build(&mut self.e, pixels)?;
        let by_patch = Transpose::with()
            .permutation(&[1, 3, 0, 2, 4])
            .build(&mut self.e, split)?;
        let rows = [image.patches(), image.patch_elements()].map(fixed);
        Ok(Reshape::with(&rows).build(&mut self.e, by_patch)?)
    }

    /// Returns the value of a buffer.
    fn value(&self, buffer: &str) -> Built<ValueId> {
        match self.values.get(buffer).map(Vec::as_slice) {
            Some(&[value]) => Ok(value),
            Some(_) | None => Err(BuildError::Step {
                op: crate::kernels::ATTENTION,
                reason: format!("no step leaves one value in `{buffer}`"),
            }),
        }
    }

    /// Assigns the value of one buffer to another.
    fn carry(&mut self, from: &str, to: &'static str) -> Built<()> {
        let value = self.value(from)?;
        self.values.insert(to, vec![value]);
        Ok(())
    }

    /// Returns the cosines and sines for each variant of rotation; `None` if heads do not rotate.
    fn rotations(
        &mut self,
        config: &Config,
        tokens: Dim,
    ) -> Built<Option<[[ValueId; 2]; RotaryStyle::COUNT]>> {
        let Some(rope) = config.rope else {
            return Ok(None);
        };
        let shape = [tokens, fixed(rope.rotary_dims / 2)];
        let stack = config.family.stack();
        let mut input = |name: &str| {
            let name = input_name(stack, name);
            self.e.input(&name, DType::F32, &shape)
        };
        let usual = ROTATION.map(&mut input);
        let mut all = [usual; RotaryStyle::COUNT];
        for (names, style) in rotations(config).into_iter().skip(1) {
            all[style as usize] = names.map(&mut input);
        }
        Ok(Some(all))
    }

    /// Returns the outputs of an encoder, without padding.
    fn meanings(&mut self) -> Built<Vec<ValueId>> {
        let config = &self.document.config;
        let hidden = self.value(plan::hidden(config))?;
        let mut all = vec![self.e.sliced(hidden, 1, (0, config.hidden_size))?];
        if plan::writes(config, PlanSection::Last, POOLED) {
            let pooled = self.value(POOLED)?;
            all.push(self.e.sliced(pooled, 0, (0, config.hidden_size))?);
        }
        if plan::writes(config, PlanSection::Last, SCORES) {
            all.push(self.value(SCORES)?);
        }
        Ok(all)
    }

    /// Returns the masks for layers without and with a window: 0 if the query of a row sees the key of a column, else
    /// negative infinity; `None` if queries see all keys.
    fn masks(
        &mut self,
        config: &Config,
        positions: Option<ValueId>,
        tokens: Dim,
    ) -> Built<[Option<ValueId>; 2]> {
        let Some(positions) = positions else {
            return Ok([None; 2]);
        };
        if config.family.is_encoder() {
            return Ok([None, Some(self.window_mask(positions, tokens)?)]);
        }
        Ok(self.causal_masks(positions, tokens)?.map(Some))
    }

    /// Declares the positions, if masks are computed from them.
    fn positions(&mut self, config: &Config, tokens: Dim) -> Option<ValueId> {
        let is_read = !config.family.is_encoder() || !config.sliding_layers.is_empty();
        let name = input_name(config.family.stack(), "positions");
        is_read.then(|| self.e.input(&name, DType::F32, &[tokens]))
    }

    /// Returns the mask of windows on both sides of a query.
    fn window_mask(&mut self, positions: ValueId, tokens: Dim) -> Built<ValueId> {
        let attributes = &self.document.config.attributes;
        let window = attributes.get(Attribute::SlidingWindow);
        let e = &mut self.e;
        let rows = Reshape::with(&[tokens, fixed(1)]).build(e, positions)?;
        let columns = Reshape::with(&[fixed(1), tokens]).build(e, positions)?;
        let forward = Sub::build(e, columns, rows)?;
        let forward = Relu::build(e, forward)?;
        let backward = Sub::build(e, rows, columns)?;
        let backward = Relu::build(e, backward)?;
        let distance = Add::build(e, forward, backward)?;
        let reach = e.number(window - 1.0)?;
        let beyond = Sub::build(e, distance, reach)?;
        let beyond = Relu::build(e, beyond)?;
        let one = e.number(1.0)?;
        let within = Sub::build(e, one, beyond)?;
        let within = Relu::build(e, within)?;
        Ok(Log::build(e, within)?)
    }

    /// Returns the masks of a decoder.
    ///
    /// They are logarithms of 1 and 0, which are +0 and negative infinity. No other values occur, because positions are
    /// integers.
    fn causal_masks(&mut self, positions: ValueId, tokens: Dim) -> Built<[ValueId; 2]> {
        let window = self
            .document
            .config
            .attributes
            .get(Attribute::SlidingWindow);
        let has_windows = !self.document.config.sliding_layers.is_empty();
        let e = &mut self.e;
        let rows = Reshape::with(&[tokens, fixed(1)]).build(e, positions)?;
        let columns = Reshape::with(&[fixed(1), tokens]).build(e, positions)?;
        let forward = Sub::build(e, columns, rows)?;
        let forward = Relu::build(e, forward)?;
        let one = e.number(1.0)?;
        let seen = Sub::build(e, one, forward)?;
        let seen = Relu::build(e, seen)?;
        let whole = Log::build(e, seen)?;
        if !has_windows {
            return Ok([whole; 2]);
        }
        let backward = Sub::build(e, rows, columns)?;
        let reach = e.number(window - 1.0)?;
        let beyond = Sub::build(e, backward, reach)?;
        let beyond = Relu::build(e, beyond)?;
        let within = Sub::build(e, one, beyond)?;
        let within = Relu::build(e, within)?;
        let both = Mul::build(e, seen, within)?;
        Ok([whole, Log::build(e, both)?])
    }

    /// Appends nodes of the model, or of one of its layers, each after the weights that it reads.
    fn run(&mut self, config: &Config, all: &[&'static Node], layer: Option<usize>) -> Built<()> {
        let config = &layer.map_or(*config, |layer| config.of_layer(layer));
        for &node in all {
            for buffer in plan::weights_of(config, node) {
                // Global weights are only declared once.
                if buffer.scope.is_layered() || !self.values.contains_key(buffer.name.as_str()) {
                    let values = self.weight(buffer, layer)?;
                    self.values.insert(&buffer.name, values);
                }
            }
            plan::build(&mut self.e, config, &[node], &mut self.values)?;
        }
        Ok(())
    }

    /// Declares a buffer of weights; returns its tensors as `f32`.
    fn weight(&mut self, buffer: &'static Buffer, layer: Option<usize>) -> Built<Vec<ValueId>> {
        let document = self.document;
        let config = &document.config;
        if buffer.name == "lm_head_weight"
            && config.tie_word_embeddings
            && let Some(table) = self.values.get("token_emb")
        {
            return Ok(table.clone());
        }
        let layer = layer.filter(|_| buffer.scope.is_layered());
        let first = buffer.parts().first().map_or("", String::as_str);
        let dtype = weight_dtype(document.dtypes.of(first, layer));
        let name = match layer {
            Some(layer) => format!("layer{layer}.{}", buffer.name),
            None => buffer.name.clone(),
        };
        let shape = buffer
            .resolved(config, config.context_window)
            .unwrap_or_default();
        let padded = self.e.weight(&name, (dtype, None), &shape)?;
        if buffer.is_of_experts() {
            let mut values = Vec::new();
            for expert in 0..shape[0] {
                let own = self.e.sliced(padded, 0, (expert, expert + 1))?;
                let matrix = [fixed(shape[1]), fixed(shape[2])];
                let own = Reshape::with(&matrix).build(&mut self.e, own)?;
                values.extend(self.parts(buffer, own, &shape[1..])?);
            }
            return Ok(values);
        }
        self.parts(buffer, padded, &shape)
    }

    /// Returns the tensors that are packed in `padded`, whose shape is `shape`.
    fn parts(
        &mut self,
        buffer: &'static Buffer,
        padded: ValueId,
        shape: &[usize],
    ) -> Built<Vec<ValueId>> {
        let config = &self.document.config;
        let form = buffer.form(config);
        let count = buffer.parts().len();
        let rows = shape.first().map_or(0, |rows| rows / count.max(1));
        let mut values = Vec::with_capacity(count);
        match form {
            TensorForm::Vector { count: n } => {
                for at in 0..count {
                    let kept = self.extent(n, rows);
                    values.push(self.e.sliced(padded, 0, (at * rows, at * rows + kept))?);
                }
            }
            TensorForm::Matrix { rows: n, columns } => {
                let narrow = self.stripped(padded, 1, columns)?;
                for at in 0..count {
                    let kept = self.extent(n, rows);
                    values.push(self.e.sliced(narrow, 0, (at * rows, at * rows + kept))?);
                }
            }
            TensorForm::HeadVector { heads, head } => {
                let kept = self.stripped(padded, 1, head)?;
                let width = heads * self.extent(head, align(head));
                values.push(Reshape::with(&[fixed(width)]).build(&mut self.e, kept)?);
            }
            TensorForm::HeadRows {
                heads,
                head,
                columns,
            } => {
                let narrow = self.stripped(padded, 2, columns)?;
                let kept = self.stripped(narrow, 1, head)?;
                let width = heads * self.extent(head, align(head));
                let columns = self.extent(columns, align(columns));
                let shape = [fixed(width), fixed(columns)];
                values.push(Reshape::with(&shape).build(&mut self.e, kept)?);
            }
            TensorForm::HeadColumns { heads, rows, head } => {
                let narrow = self.stripped(padded, 2, head)?;
                let kept = self.stripped(narrow, 1, rows)?;
                let turned = Transpose::with()
                    .permutation(&[1, 0, 2])
                    .build(&mut self.e, kept)?;
                let width = heads * self.extent(head, align(head));
                let shape = [fixed(self.extent(rows, align(rows))), fixed(width)];
                values.push(Reshape::with(&shape).build(&mut self.e, turned)?);
            }
        }
        Ok(values)
    }

    /// Returns the leading `n` elements along an axis, or all elements if padding is kept.
    fn stripped(&mut self, x: ValueId, axis: usize, n: usize) -> Built<ValueId> {
        match self.padding {
            Padding::Stripped => self.e.sliced(x, axis, (0, n)),
            Padding::Kept => Ok(x),
        }
    }

    /// Returns the extent in ops of `n` elements that are padded to `padded`.
    fn extent(&self, n: usize, padded: usize) -> usize {
        match self.padding {
            Padding::Stripped => n,
            Padding::Kept => padded,
        }
    }
}

/// Returns the input names of each rotation that the module of `config` reads.
pub fn rotations(config: &Config) -> Vec<([&'static str; 2], RotaryStyle)> {
    let all = [
        (ROTATION, RotaryStyle::Global),
        (["local_cos_cache", "local_sin_cache"], RotaryStyle::Local),
        (["still_cos_cache", "still_sin_cache"], RotaryStyle::None),
    ];
    let used = |style: RotaryStyle| {
        style == RotaryStyle::Global
            || (0..config.num_layers).any(|at| config.rotary_style(at) == style)
    };
    all.into_iter()
        .filter(|&(_, style)| config.rope.is_some() && used(style))
        .collect()
}
