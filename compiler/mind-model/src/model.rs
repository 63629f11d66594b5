//! Models: weights, and the compiled parts that read them.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use mind_driver::cache::{CachedPanels, Packing};
use mind_driver::engine::Engine;
use mind_ir::Graph;
use mind_irv2::graph::BuildError;
use mind_irv2::graph::parts::{self, Stored, Tables};
use mind_irv2::graph::routed::{self, Cut};
use mind_irv2::{Attribute, Config, Family};
use mind_weights::WeightType;

use crate::distance::DistanceBias;
use crate::error::ModelError;
use crate::part::{Module, Part};
use crate::sizes;
use crate::weights::Weights;

/// The execution engine of a model. Both engines give the same bits.
#[derive(Clone)]
pub enum Runner {
    /// Machine code.
    Jit(Arc<Engine>),
    /// The reference interpreter.
    Interpreter,
}

/// How products with block-quantised weights are computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Products {
    /// With dequantised weights.
    #[default]
    Numbers,
    /// In integers: activations are quantised to 8 bits, as by the pass `quantize-activations`. Results differ from
    /// those of [`Numbers`](Products::Numbers).
    Integers,
}

/// Options of [`Model::with_options`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ModelOptions<'k> {
    /// How products with block-quantised weights are computed.
    pub products: Products,
    /// Packed panels of the same weights and the same products from an earlier run, which are then not packed again.
    pub kept: Option<&'k CachedPanels>,
}

/// A part with weights, with the number of tokens that it is compiled for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Stage {
    /// Before attention: query, key and value projections.
    Project(usize),
    /// After attention, in a layer without experts.
    Finish(usize),
    /// Router: between attention and the experts.
    Route(usize),
    /// One expert.
    Expert(usize),
    /// After the experts.
    Merge(usize),
    /// The logits.
    Head(usize),
    /// Between the embedding tables and the first layer.
    Embed(usize),
    /// After the last layer of an encoder.
    Close(usize),
    /// The pooler, which maps the first row to one vector.
    Pool,
    /// Query projection of cross-attention, after self-attention in a decoder layer.
    Ask(usize),
    /// Cross-attention keys and values of a decoder layer, computed from the encoder output.
    Source(usize),
    /// Patch embedding: a row per image patch.
    Patches(usize),
    /// The first convolution of audio: a row per frame.
    Frames(usize),
    /// The second convolution of audio: a row per pair of frames (stride 2).
    Pairs(usize),
    /// The classifier, which maps the first row to a score per class.
    Classify,
}

/// The layer and the expert that a part belongs to; `None` for parts that exist once per model or per layer.
pub(crate) type Owner = (Option<usize>, Option<usize>);

/// The owner of a part that the model has once.
pub(crate) const ONCE: Owner = (None, None);

/// The parts of a stage, by owner.
pub(crate) type Parts = BTreeMap<Owner, Part>;

impl Stage {
    /// Returns the stages of a layer, for passes of `tokens` tokens.
    fn of_layers(tokens: usize) -> [Stage; 7] {
        [
            Stage::Source(tokens),
            Stage::Project(tokens),
            Stage::Ask(tokens),
            Stage::Finish(tokens),
            Stage::Route(tokens),
            Stage::Expert(tokens),
            Stage::Merge(tokens),
        ]
    }

    fn graph(self, config: &Config, stored: Stored<'_>) -> Result<Graph, BuildError> {
        match self {
            Stage::Project(tokens) => parts::project(config, tokens, stored),
            Stage::Finish(tokens) => parts::finish(config, tokens, stored),
            Stage::Route(tokens) => routed::route(config, tokens, stored),
            Stage::Expert(rows) => routed::expert(config, rows, stored),
            Stage::Merge(tokens) => routed::merge(config, tokens, stored),
            Stage::Head(rows) => parts::head(config, rows, stored),
            Stage::Embed(tokens) => parts::embed(config, tokens, stored),
            Stage::Close(tokens) => parts::close(config, tokens, stored),
            Stage::Pool => parts::pool(config, 1, stored),
            Stage::Ask(tokens) => parts::cross_query(config, tokens, stored),
            Stage::Source(tokens) => parts::source(config, tokens, stored),
            Stage::Patches(count) => parts::patches(config, count, stored),
            Stage::Frames(count) => parts::frames(config, (count, false), stored),
            Stage::Pairs(count) => parts::frames(config, (count, true), stored),
            Stage::Classify => parts::classify(config, 1, stored),
        }
    }

    /// Returns the stages of the model of `config`, for passes of `tokens` tokens. Stages outside of the layers come
    /// first, because packing the largest weight before all others keeps the peak memory low.
    fn of_model(config: &Config, tokens: usize) -> Vec<Stage> {
        let mut stages = if config.family.is_encoder() {
            vec![
                Stage::Patches(tokens),
                Stage::Frames(tokens),
                Stage::Pairs(tokens),
                Stage::Embed(tokens),
                Stage::Close(tokens),
                Stage::Pool,
                Stage::Classify,
            ]
        } else {
            vec![Stage::Head(tokens), Stage::Embed(tokens)]
        };
        stages.extend(Stage::of_layers(tokens));
        stages
    }

    /// Returns the owners of the parts of this stage, in order.
    fn owners(self, config: &Config) -> Vec<Owner> {
        let layers = 0..config.num_layers;
        let of_layers = |has_experts: bool| -> Vec<Owner> {
            let own = layers.clone();
            let own = own.filter(|&layer| config.has_experts(layer) == has_experts);
            own.map(|layer| (Some(layer), None)).collect()
        };
        let once = |has: bool| has.then_some(ONCE).into_iter().collect();
        match self {
            Stage::Head(_) => once(true),
            Stage::Embed(_) => once(parts::has_embed(config)),
            Stage::Close(_) => once(parts::has_close(config)),
            Stage::Pool => once(parts::has_pool(config)),
            Stage::Patches(_) => once(parts::has_patches(config)),
            Stage::Frames(_) | Stage::Pairs(_) => once(parts::has_frames(config)),
            Stage::Classify => once(parts::has_classify(config)),
            Stage::Ask(_) | Stage::Source(_) if !parts::has_source(config) => Vec::new(),
            Stage::Project(_) | Stage::Ask(_) | Stage::Source(_) => {
                layers.map(|layer| (Some(layer), None)).collect()
            }
            Stage::Finish(_) => of_layers(false),
            Stage::Route(_) | Stage::Merge(_) => of_layers(true),
            Stage::Expert(_) => {
                let count = config.experts.map_or(0, |own| own.count);
                let all = of_layers(true).into_iter();
                all.flat_map(|(layer, _)| (0..count).map(move |expert| (layer, Some(expert))))
                    .collect()
            }
        }
    }

    /// Returns whether both stages read the same weights.
    fn is_like(self, other: Stage) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

/// Returns the name under which the packed weights of a part are stored.
fn part_name(family: Family, stage: Stage, owner: Owner) -> String {
    let of_encoder = if family.is_encoder() { "encoder " } else { "" };
    format!("{of_encoder}{stage:?} {owner:?}")
}

/// A memo table.
type Memo<K, V> = Mutex<BTreeMap<K, V>>;

/// A token with its position in the sequence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    pub(crate) token: u32,
    /// Its row of the position table, if the model has one.
    pub(crate) position: usize,
    /// Its row of the token type table, if the model has one.
    pub(crate) kind: u32,
}

/// A compiled model: a decoder runs in a [`Session`](crate::Session), an encoder in an [`Encoder`](crate::Encoder), and
/// an encoder-decoder in a session that runs the encoder first. A model is shared between threads, and several
/// sequences can use it at once.
pub struct Model<'w> {
    config: Config,
    weights: Arc<dyn Weights + 'w>,
    runner: Runner,
    products: Products,
    tables: Tables,
    /// The attention bias by distance, if the model has one.
    distances: Option<DistanceBias>,
    /// The encoder of an encoder-decoder.
    source: Option<Arc<Model<'w>>>,
    modules: Memo<(Stage, Vec<bool>, Vec<WeightType>), Arc<Module>>,
    stages: Memo<Stage, Arc<Parts>>,
    /// The values that connect the parts before and after the experts.
    cut: Option<Cut>,
    attention: Memo<Attention, Arc<Part>>,
}

/// The key of a compiled attention.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Attention {
    /// Whether it is cross-attention.
    is_across: bool,
    tokens: usize,
    seen: usize,
}

impl<'w> Model<'w> {
    /// Compiles a model with these weights. The parts for passes of one token are made immediately, so that errors in
    /// the weights are found here.
    ///
    /// # Errors
    ///
    /// A weight is missing or of another form than the model needs; out of memory.
    pub fn new(
        config: Config,
        weights: Box<dyn Weights + 'w>,
        runner: Runner,
    ) -> Result<Model<'w>, ModelError> {
        Model::with_options(config, weights, runner, ModelOptions::default())
    }

    /// As [`new`](Model::new), with `options`. Kept panels are used only if all their checksums match.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Model::new).
    pub fn with_options(
        config: Config,
        weights: Box<dyn Weights + 'w>,
        runner: Runner,
        options: ModelOptions<'_>,
    ) -> Result<Model<'w>, ModelError> {
        let weights: Arc<dyn Weights + 'w> = Arc::from(weights);
        if let Some(kept) = options.kept {
            // Threads verify the kept panels while the model is built from them.
            let model = Model::shared(config, weights.clone(), runner.clone(), options)?;
            if kept.is_whole() {
                return Ok(model);
            }
        }
        let anew = ModelOptions {
            kept: None,
            ..options
        };
        Model::shared(config, weights, runner, anew)
    }

    /// Stores the packed weights for later runs.
    ///
    /// # Errors
    ///
    /// The file could not be written.
    pub fn keep(&self, packing: &Packing) -> io::Result<()> {
        let mut parts = Vec::new();
        let own = self.source.iter().map(|own| &**own).chain([self]);
        for model in own {
            let stages = model.stages.lock().unwrap_or_else(PoisonError::into_inner);
            let made = Stage::of_model(&model.config, 1).into_iter();
            let made = made.filter_map(|stage| Some((stage, stages.get(&stage)?.clone())));
            parts.extend(made.map(|(stage, parts)| (model.config.family, stage, parts)));
        }
        let bound = parts.iter().flat_map(|(family, stage, parts)| {
            let of_stage = parts.iter();
            of_stage.filter_map(|(owner, part)| {
                Some((part_name(*family, *stage, *owner), part.bound()?))
            })
        });
        packing.keep(bound)
    }

    fn shared(
        config: Config,
        weights: Arc<dyn Weights + 'w>,
        runner: Runner,
        options: ModelOptions<'_>,
    ) -> Result<Model<'w>, ModelError> {
        let source = match config.encoder() {
            Some(own) => {
                let encoder = Model::shared(own, weights.clone(), runner.clone(), options)?;
                Some(Arc::new(encoder))
            }
            None => None,
        };
        let tables = parts::tables(&config);
        let distances = DistanceBias::of(&config, (&*weights, tables.distances))?;
        let model = Model {
            tables,
            distances,
            source,
            cut: config.experts.map(|_| routed::cut(&config)).transpose()?,
            config,
            weights,
            runner,
            products: options.products,
            modules: Memo::default(),
            stages: Memo::default(),
            attention: Memo::default(),
        };
        for stage in Stage::of_model(&model.config, 1) {
            model.packed_stage(stage, options.kept)?;
        }
        let mut row = vec![0.0; config.hidden_size];
        let placed = Placed {
            token: 0,
            position: config.first_position(),
            kind: 0,
        };
        model.embed(placed, &mut row)?;
        Ok(model)
    }

    /// Returns the model's description.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the bytes of activations: the memory that programs keep between runs, and the arrays of the largest pass
    /// so far. Weights and KV cache are not counted. Interpreted parts count as 0.
    pub fn activation_bytes(&self) -> u64 {
        let modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let kept: u64 = modules.values().map(|module| module.kept_bytes()).sum();
        drop(modules);
        let attention = self
            .attention
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let kept_by_attention = attention.values().map(|part| part.kept_bytes());
        let arrays = attention.keys();
        let arrays = arrays.map(|own| sizes::array_bytes(&self.config, own.tokens, own.seen));
        let of_encoder = self.source.as_ref().map_or(0, |own| own.activation_bytes());
        kept + kept_by_attention.sum::<u64>() + arrays.max().unwrap_or(0) + of_encoder
    }

    /// Returns the part that computes the logits of `rows` rows.
    pub(crate) fn head(&self, rows: usize) -> Result<Arc<Parts>, ModelError> {
        self.stage(Stage::Head(rows))
    }

    /// Returns the values that connect the parts before and after the experts; `None` for a model without experts.
    pub(crate) fn cut(&self) -> Option<&Cut> {
        self.cut.as_ref()
    }

    /// Returns the number of parts with weights that the model of `config` packs. [`Weights::release`] is called after
    /// each.
    pub fn packed_parts(config: &Config) -> u64 {
        let stages = Stage::of_model(config, 1).into_iter();
        let own: u64 = stages.map(|stage| stage.owners(config).len() as u64).sum();
        own + config.encoder().map_or(0, |own| Model::packed_parts(&own))
    }

    /// Returns the encoder of an encoder-decoder; `None` for other models.
    pub(crate) fn source(&self) -> Option<&Arc<Model<'w>>> {
        self.source.as_ref()
    }

    /// Returns the attention bias by distance, if the model has one.
    pub(crate) fn distances(&self) -> Option<&DistanceBias> {
        self.distances.as_ref()
    }

    /// Returns self-attention of `tokens` queries over `seen` rows of the cache, for layers without a window and for
    /// those with one, which may keep fewer rows. The memory of attention for other extents is released, because a
    /// growing sequence does not use it again.
    pub(crate) fn attend(
        &self,
        tokens: usize,
        seen: [usize; 2],
    ) -> Result<[Arc<Part>; 2], ModelError> {
        let [whole, narrow] = seen.map(|seen| Attention {
            is_across: false,
            tokens,
            seen,
        });
        self.release_others(&[whole, narrow]);
        Ok([self.attention(whole)?, self.attention(narrow)?])
    }

    /// Returns cross-attention of `tokens` queries over `seen` rows of the encoder output.
    pub(crate) fn look(&self, tokens: usize, seen: usize) -> Result<Arc<Part>, ModelError> {
        let wanted = Attention {
            is_across: true,
            tokens,
            seen,
        };
        self.release_others(&[wanted]);
        self.attention(wanted)
    }

    /// Releases the memory of attention for other extents.
    fn release_others(&self, wanted: &[Attention]) {
        let made = self
            .attention
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let is_across = wanted.iter().any(|own| own.is_across);
        let is_other = |own: &Attention| own.is_across == is_across && !wanted.contains(own);
        let others = made.iter().filter(|(own, _)| is_other(own));
        others.for_each(|(_, part)| part.release());
    }

    fn attention(&self, wanted: Attention) -> Result<Arc<Part>, ModelError> {
        let mut made = self
            .attention
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(part) = made.get(&wanted) {
            return Ok(part.clone());
        }
        let Attention { tokens, seen, .. } = wanted;
        let graph = if wanted.is_across {
            parts::cross_attention(&self.config, tokens, seen)?
        } else {
            parts::attend(&self.config, tokens, seen)?
        };
        let module = self.module(graph)?;
        let part = Arc::new(Part::new(&module, None, None, || Ok(Vec::new()))?);
        made.insert(wanted, part.clone());
        Ok(part)
    }

    /// Writes the embedding of a token to `row`: the sum of its rows of the token, token type and position tables.
    pub(crate) fn embed(&self, placed: Placed, row: &mut [f32]) -> Result<(), ModelError> {
        let Placed {
            token,
            position,
            kind,
        } = placed;
        let vocab_size = self.config.vocab_size;
        if token as usize >= vocab_size {
            return Err(ModelError::Token { token, vocab_size });
        }
        self.weights.row(self.tables.tokens, token as usize, row)?;
        let scale = self.config.attributes.get(Attribute::EmbeddingScale) as f32;
        if scale != 1.0 {
            row.iter_mut().for_each(|x| *x *= scale);
        }
        if let Some(table) = self.tables.kinds {
            let kinds = self.config.attributes.get(Attribute::TypeVocabSize) as usize;
            if kind as usize >= kinds {
                return Err(ModelError::Kind { kind, kinds });
            }
            self.add_row(table, kind as usize, row)?;
        }
        self.place(position, row)
    }

    /// Adds the position embedding of `position`, if the model has a position table.
    pub(crate) fn place(&self, position: usize, row: &mut [f32]) -> Result<(), ModelError> {
        match self.tables.positions {
            Some(table) => self.add_row(table, position, row),
            None => Ok(()),
        }
    }

    /// Adds a row of a table to `row`.
    fn add_row(&self, table: &str, at: usize, row: &mut [f32]) -> Result<(), ModelError> {
        let mut learned = vec![0.0; row.len()];
        self.weights.row(table, at, &mut learned)?;
        for (x, y) in row.iter_mut().zip(learned) {
            *x += y;
        }
        Ok(())
    }

    /// Returns the parts of a stage, by owner.
    pub(crate) fn stage(&self, stage: Stage) -> Result<Arc<Parts>, ModelError> {
        self.packed_stage(stage, None)
    }

    /// Returns the parts of a stage, whose packed weights may be in `kept`.
    fn packed_stage(
        &self,
        stage: Stage,
        kept: Option<&CachedPanels>,
    ) -> Result<Arc<Parts>, ModelError> {
        let mut made = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(parts) = made.get(&stage) {
            return Ok(parts.clone());
        }
        let like = made.iter().filter(|(own, _)| own.is_like(stage));
        let like: Vec<Arc<Parts>> = like.map(|(_, parts)| parts.clone()).collect();
        let mut parts = Parts::new();
        for owner in stage.owners(&self.config) {
            let module = self.stage_module(stage, owner.0)?;
            let packed = like.iter().filter_map(|parts| parts.get(&owner));
            let name = part_name(self.config.family, stage, owner);
            let kept = kept.map(|kept| (kept, name.as_str()));
            let part = Part::new(&module, packed, kept, || {
                let params = module.params().into_iter();
                let stored = params.map(|(name, shape)| {
                    let name = self.stored_name(name);
                    Ok(match owner {
                        (Some(layer), Some(expert)) => {
                            self.weights.expert(name, layer, expert, &shape)?
                        }
                        (layer, _) => self.weights.weight(name, layer, &shape)?,
                    })
                });
                stored.collect()
            })?;
            parts.insert(owner, part);
            self.weights.release();
        }
        let parts = Arc::new(parts);
        made.insert(stage, parts.clone());
        Ok(parts)
    }

    /// Returns the module of a stage for the storage types of a layer's weights.
    fn stage_module(&self, stage: Stage, layer: Option<usize>) -> Result<Arc<Module>, ModelError> {
        let config = &self.config;
        let config = &layer.map_or(*config, |layer| config.of_layer(layer));
        // The set of weights of a stage does not depend on their storage types.
        let probe = stage.graph(config, &|_| WeightType::F32)?;
        let names = mind_interp::inputs(&probe).into_iter();
        let names = names.filter(|input| input.param).map(|input| input.name);
        let mut stored = Vec::new();
        for name in names {
            let own = self.weights.stored_as(self.stored_name(name), layer)?;
            stored.push((name, own));
        }
        let types = stored.iter().map(|&(_, own)| own).collect();
        let key = (stage, parts::steps(config), types);
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules.get(&key) {
            return Ok(module.clone());
        }
        let stored_as = |name: &str| {
            let own = stored.iter().find(|(own, _)| *own == name);
            own.map_or(WeightType::F32, |&(_, stored)| stored)
        };
        let graph = stage.graph(config, &stored_as)?;
        let module = Arc::new(self.module(graph)?);
        modules.insert(key, module.clone());
        Ok(module)
    }

    fn module(&self, graph: Graph) -> Result<Module, ModelError> {
        let engine = match &self.runner {
            Runner::Jit(engine) => Some(&**engine),
            Runner::Interpreter => None,
        };
        Module::new(graph, engine, self.products).map_err(ModelError::Compile)
    }

    /// Returns the name of the weight that a param reads: tied logits read the token embeddings.
    fn stored_name<'n>(&self, name: &'n str) -> &'n str {
        if name == "lm_head_weight" && self.config.tie_word_embeddings {
            "token_emb"
        } else {
            name
        }
    }
}
