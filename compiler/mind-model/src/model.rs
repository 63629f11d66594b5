//! Models: weights, and the parts that are made of them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use mind_driver::engine::Engine;
use mind_ir::Graph;
use mind_irv2::graph::BuildError;
use mind_irv2::graph::parts::{self, Stored};
use mind_irv2::graph::rope;
use mind_irv2::{Attribute, Config, Turning};
use mind_weights::WeightType;

use crate::error::ModelError;
use crate::part::{Module, Part};
use crate::sizes;
use crate::weights::Weights;

/// What runs a model. Both give the same bits.
#[derive(Clone)]
pub enum Runner {
    /// Machine code.
    Jit(Arc<Engine>),
    /// The reference interpreter.
    Interpreter,
}

/// A part that has weights, and the number of tokens that it is compiled for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Stage {
    Project(usize),
    Finish(usize),
    Head(usize),
}

impl Stage {
    fn graph(self, config: &Config, stored: Stored<'_>) -> Result<Graph, BuildError> {
        match self {
            Stage::Project(tokens) => parts::project(config, tokens, stored),
            Stage::Finish(tokens) => parts::finish(config, tokens, stored),
            Stage::Head(rows) => parts::head(config, rows, stored),
        }
    }

    /// Whether both are made of the same weights.
    fn is_like(self, other: Stage) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

/// Values that are made once, by what they are made for.
type Memo<K, V> = Mutex<BTreeMap<K, V>>;

/// A decoder model, ready to run sequences. It can be used from any thread, and by several sessions at once.
pub struct Model<'w> {
    config: Config,
    weights: Box<dyn Weights + 'w>,
    runner: Runner,
    /// Whether there is a table of positions.
    has_positions: bool,
    /// What positions are multiplied by to give angles, for each way in which heads turn.
    frequencies: [Vec<f32>; Turning::COUNT],
    modules: Memo<(Stage, Vec<WeightType>), Arc<Module>>,
    /// One part a layer.
    stages: Memo<Stage, Arc<Vec<Part>>>,
    attention: Memo<(usize, usize), Arc<Part>>,
}

impl<'w> Model<'w> {
    /// A model of these weights. The parts for passes of one token are made at once, so that what is wrong with
    /// weights is found here.
    ///
    /// # Errors
    ///
    /// A weight that is missing or not as the model needs it, no memory.
    pub fn new(
        config: Config,
        weights: Box<dyn Weights + 'w>,
        runner: Runner,
    ) -> Result<Model<'w>, ModelError> {
        let positions = config.family.buffer("pos_emb");
        let model = Model {
            has_positions: positions.is_some_and(|own| config.has(own)),
            frequencies: Turning::ALL.map(|turning| rope::frequencies_of(&config, turning)),
            config,
            weights,
            runner,
            modules: Memo::default(),
            stages: Memo::default(),
            attention: Memo::default(),
        };
        // The largest weight comes first: beside its file it is alone in memory then.
        model.head(1)?;
        model.project(1)?;
        model.finish(1)?;
        let mut row = vec![0.0; config.hidden_size];
        model.embed(0, 0, &mut row)?;
        Ok(model)
    }

    /// The model's description.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Bytes that the values of passes take besides weights and cache: the memory that programs keep between their
    /// runs, and the arrays of the largest pass so far. 0 for programs where parts are interpreted.
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
        let arrays = arrays.map(|&(tokens, seen)| sizes::array_bytes(&self.config, tokens, seen));
        kept + kept_by_attention.sum::<u64>() + arrays.max().unwrap_or(0)
    }

    /// The parts in front of attention for passes of `tokens`, one a layer.
    pub(crate) fn project(&self, tokens: usize) -> Result<Arc<Vec<Part>>, ModelError> {
        self.stage(Stage::Project(tokens))
    }

    /// The parts behind attention for passes of `tokens`, one a layer.
    pub(crate) fn finish(&self, tokens: usize) -> Result<Arc<Vec<Part>>, ModelError> {
        self.stage(Stage::Finish(tokens))
    }

    /// The only part that makes logits of so many rows.
    pub(crate) fn head(&self, rows: usize) -> Result<Arc<Vec<Part>>, ModelError> {
        self.stage(Stage::Head(rows))
    }

    /// Attention of `tokens` queries over so many rows of the cache. The memory of other extents is given back: a
    /// sequence that grows leaves them behind.
    pub(crate) fn attend(&self, tokens: usize, seen: usize) -> Result<Arc<Part>, ModelError> {
        let mut made = self
            .attention
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let others = made.iter().filter(|&(&key, _)| key != (tokens, seen));
        others.for_each(|(_, part)| part.release());
        if let Some(part) = made.get(&(tokens, seen)) {
            return Ok(part.clone());
        }
        let graph = parts::attend(&self.config, tokens, seen)?;
        let module = self.module(graph)?;
        let part = Arc::new(Part::new(&module, None, || Ok(Vec::new()))?);
        made.insert((tokens, seen), part.clone());
        Ok(part)
    }

    /// The cosines and the sines of some positions, one after the other.
    pub(crate) fn rotation(&self, turning: Turning, positions: Range<usize>) -> [Vec<f32>; 2] {
        let (mut cos, mut sin) = (Vec::new(), Vec::new());
        for position in positions {
            rope::append_row(
                position,
                &self.frequencies[turning as usize],
                &mut cos,
                &mut sin,
            );
        }
        [cos, sin]
    }

    /// The embedding of a token at a position.
    pub(crate) fn embed(
        &self,
        token: u32,
        position: usize,
        row: &mut [f32],
    ) -> Result<(), ModelError> {
        let vocab_size = self.config.vocab_size;
        if token as usize >= vocab_size {
            return Err(ModelError::Token { token, vocab_size });
        }
        self.weights.row("token_emb", token as usize, row)?;
        let scale = self.config.attributes.get(Attribute::EmbeddingScale) as f32;
        if scale != 1.0 {
            row.iter_mut().for_each(|x| *x *= scale);
        }
        if self.has_positions {
            let mut learned = vec![0.0; row.len()];
            self.weights.row("pos_emb", position, &mut learned)?;
            for (x, y) in row.iter_mut().zip(learned) {
                *x += y;
            }
        }
        Ok(())
    }

    fn stage(&self, stage: Stage) -> Result<Arc<Vec<Part>>, ModelError> {
        let mut made = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(parts) = made.get(&stage) {
            return Ok(parts.clone());
        }
        let like = made.iter().filter(|(own, _)| own.is_like(stage));
        let like: Vec<Arc<Vec<Part>>> = like.map(|(_, parts)| parts.clone()).collect();
        let layers: Vec<Option<usize>> = match stage {
            Stage::Head(_) => vec![None],
            _ => (0..self.config.num_layers).map(Some).collect(),
        };
        let mut parts = Vec::with_capacity(layers.len());
        for (index, layer) in layers.into_iter().enumerate() {
            let module = self.stage_module(stage, layer)?;
            let packed = like.iter().map(|parts| &parts[index]);
            parts.push(Part::new(&module, packed, || {
                let params = module.params().into_iter();
                let stored = params.map(|(name, shape)| {
                    let stored = self.weights.weight(self.stored_name(name), layer, &shape)?;
                    Ok(stored)
                });
                stored.collect()
            })?);
            self.weights.release();
        }
        let parts = Arc::new(parts);
        made.insert(stage, parts.clone());
        Ok(parts)
    }

    /// The module of a stage for what a layer's weights are stored as.
    fn stage_module(&self, stage: Stage, layer: Option<usize>) -> Result<Arc<Module>, ModelError> {
        // Which weights a stage has does not depend on how they are stored.
        let probe = stage.graph(&self.config, &|_| WeightType::F32)?;
        let names = mind_interp::inputs(&probe).into_iter();
        let names = names.filter(|input| input.param).map(|input| input.name);
        let mut stored = Vec::new();
        for name in names {
            let own = self.weights.stored_as(self.stored_name(name), layer)?;
            stored.push((name, own));
        }
        let key = (stage, stored.iter().map(|&(_, own)| own).collect());
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules.get(&key) {
            return Ok(module.clone());
        }
        let stored_as = |name: &str| {
            let own = stored.iter().find(|(own, _)| *own == name);
            own.map_or(WeightType::F32, |&(_, stored)| stored)
        };
        let graph = stage.graph(&self.config, &stored_as)?;
        let module = Arc::new(self.module(graph)?);
        modules.insert(key, module.clone());
        Ok(module)
    }

    fn module(&self, graph: Graph) -> Result<Module, ModelError> {
        let engine = match &self.runner {
            Runner::Jit(engine) => Some(&**engine),
            Runner::Interpreter => None,
        };
        Module::new(graph, engine).map_err(ModelError::Compile)
    }

    /// What a param is stored as: a tied head is the table of embeddings.
    fn stored_name<'n>(&self, name: &'n str) -> &'n str {
        if name == "lm_head_weight" && self.config.tie_word_embeddings {
            "token_emb"
        } else {
            name
        }
    }
}
