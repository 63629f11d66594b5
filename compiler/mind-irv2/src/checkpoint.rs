//! The weights of a model: tensors of one or several files, checked against its configuration.

use std::collections::BTreeMap;

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_weights::{
    Container, Permutation, Place, Role, Spelling, StoredType, TensorInfo, TensorView, WeightFile,
    WeightType, place,
};

use crate::codes;
use crate::config::{Biases, Config, Family, Parameters};
use crate::schema::WeightTypes;

/// A weight file with its name for messages.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// The name.
    pub name: String,
    /// The file.
    pub file: WeightFile<'a>,
}

/// The tensors of a model, each of the shape that its configuration asks for.
///
/// Shapes are true ones, outermost axis first: `[out, in]` for a projection. Query, key and value rows, and gate and
/// up rows, are tensors of their own even where the checkpoint has them in one.
#[derive(Clone, Debug)]
pub struct Checkpoint<'a> {
    tensors: BTreeMap<(Role, Option<usize>), TensorView<'a>>,
    tied: bool,
}

/// A tensor where it lies.
type Found<'s, 'a> = (&'s Source<'a>, &'s TensorInfo);

/// The tensors of several files by their place in the model.
pub(crate) struct Index<'s, 'a> {
    pub(crate) tensors: BTreeMap<(Role, Option<usize>), Found<'s, 'a>>,
}

impl<'a> Checkpoint<'a> {
    /// Finds and checks every tensor of the model of `config`.
    ///
    /// Errors: E4302 a tensor that is missing, E4303 one that the model does not have or that stands twice, E4304 one
    /// of another shape or of a type that is not known; each names file and tensor.
    pub fn new(config: &Config, sources: &[Source<'a>]) -> Result<Checkpoint<'a>, Diagnostics> {
        let mut found = Diagnostics::new();
        let index = Index::new(sources, &mut found);
        check_architecture(config.family, sources, &mut found);
        let mut left = index.tensors.clone();
        let mut tensors = BTreeMap::new();
        for (role, layer) in expected(config) {
            let view = match left.remove(&(role, layer)) {
                Some(own) => view(config, role, own, &mut found),
                None => match fused_of(config, role, layer, &index) {
                    Some((fused, own, rows)) => {
                        left.remove(&(fused, layer));
                        part(config, (fused, own), role, rows, &mut found)
                    }
                    None => {
                        found.push(missing(role, layer, sources));
                        None
                    }
                },
            };
            tensors.extend(view.map(|view| ((role, layer), view)));
        }
        if config.tie_word_embeddings {
            // Some checkpoints hold a copy of the table that is their head too.
            left.remove(&(Role::LmHead, None));
        }
        for (source, info) in left.into_values() {
            let message = format!(
                "{}: the model has no tensor {:?}, by its configuration",
                source.name, info.name
            );
            found.push(Diagnostic::error(Span::FILE, message).code(codes::TENSOR_EXTRA));
        }
        match found.has_errors() {
            true => Err(found),
            false => Ok(Checkpoint {
                tensors,
                tied: config.tie_word_embeddings,
            }),
        }
    }

    /// The tensor of `role` in `layer`, or in no layer.
    ///
    /// The head of a tied model is its table of embeddings. None for what the model does not have: a bias that its
    /// configuration leaves out, a layer that it has not.
    pub fn tensor(&self, role: Role, layer: Option<usize>) -> Option<&TensorView<'a>> {
        let role = match role {
            Role::LmHead if self.tied => Role::TokenEmbedding,
            role => role,
        };
        self.tensors.get(&(role, layer))
    }

    /// How each tensor is stored.
    pub fn weight_types(&self) -> WeightTypes {
        let mut types = WeightTypes::uniform(WeightType::F32, WeightType::F32);
        for (&(role, layer), view) in &self.tensors {
            match layer {
                None | Some(0) => types.set(role, view.dtype),
                Some(layer) => types.set_in_layer(layer, role, view.dtype),
            }
        }
        types.set(
            Role::LmHead,
            self.tensor(Role::LmHead, None)
                .map_or(WeightType::F32, |view| view.dtype),
        );
        types
    }
}

/// `config` without the biases that no file has a tensor of: a bias that a document lists and a checkpoint lacks is
/// zero.
pub fn without_missing_biases(config: &Config, sources: &[Source<'_>]) -> Config {
    let index = Index::new(sources, &mut Diagnostics::new());
    let found = index.biases();
    let own = config.biases;
    let biases = Biases {
        q: own.q && found.q,
        k: own.k && found.k,
        v: own.v && found.v,
        o: own.o && found.o,
        gate_up: own.gate_up && found.gate_up,
        down: own.down && found.down,
    };
    // Fewer biases make no configuration worse.
    Config::new(Parameters { biases, ..**config }).unwrap_or(*config)
}

impl<'s, 'a> Index<'s, 'a> {
    /// Sorts the tensors of `sources` by their place; names that no supported model has are reported.
    pub(crate) fn new(sources: &'s [Source<'a>], found: &mut Diagnostics) -> Index<'s, 'a> {
        let mut tensors: BTreeMap<(Role, Option<usize>), Found<'s, 'a>> = BTreeMap::new();
        for source in sources {
            let spelling = spelling(source);
            let fused_up = architecture(source) == Some("phi3");
            for info in source.file.tensors() {
                let place = match place(spelling, &info.name) {
                    Some(Place::Ignored) => continue,
                    // GGUF files of this family call the fused rows by the name of their second part.
                    Some(Place::Role(Role::Up, layer)) if fused_up => (Role::FusedGateUp, layer),
                    Some(Place::Role(role, layer)) => (role, layer),
                    None => {
                        let message = format!(
                            "{}: no supported model has a tensor {:?}",
                            source.name, info.name
                        );
                        found
                            .push(Diagnostic::error(Span::FILE, message).code(codes::TENSOR_EXTRA));
                        continue;
                    }
                };
                if let Some((other, _)) = tensors.insert(place, (source, info)) {
                    let message = format!(
                        "{}: tensor {:?} also stands in {}",
                        source.name, info.name, other.name
                    );
                    found.push(Diagnostic::error(Span::FILE, message).code(codes::TENSOR_EXTRA));
                }
            }
        }
        Index { tensors }
    }

    /// Whether any layer, or the model, has a tensor of one of `roles`.
    pub(crate) fn has(&self, roles: &[Role]) -> bool {
        self.tensors.keys().any(|(role, _)| roles.contains(role))
    }

    /// The biases that any layer has.
    pub(crate) fn biases(&self) -> Biases {
        let (qkv, gate_up) = (Role::FusedQkvBias, Role::FusedGateUpBias);
        Biases {
            q: self.has(&[Role::QueryBias, qkv]),
            k: self.has(&[Role::KeyBias, qkv]),
            v: self.has(&[Role::ValueBias, qkv]),
            o: self.has(&[Role::OutputBias]),
            gate_up: self.has(&[Role::GateBias, Role::UpBias, gate_up]),
            down: self.has(&[Role::DownBias]),
        }
    }

    /// The rows of the tensor of `role` in the first layer.
    pub(crate) fn rows(&self, role: Role) -> Option<usize> {
        let (_, info) = self.tensors.get(&(role, Some(0)))?;
        info.shape.first().copied()
    }
}

fn spelling(source: &Source<'_>) -> Spelling {
    match source.file.container() {
        Container::Safetensors => Spelling::HuggingFace,
        Container::Gguf => Spelling::Gguf,
    }
}

/// What a GGUF file says that it holds.
fn architecture<'s>(source: &'s Source<'_>) -> Option<&'s str> {
    match source.file.container() {
        Container::Safetensors => None,
        Container::Gguf => source.file.meta("general.architecture")?.text(),
    }
}

/// What GGUF files of a family call it.
pub(crate) fn gguf_architecture(family: Family) -> &'static str {
    match family {
        Family::Llama | Family::Mistral => "llama",
        Family::Qwen2 => "qwen2",
        Family::Qwen3 => "qwen3",
        Family::Phi3 => "phi3",
    }
}

fn check_architecture(family: Family, sources: &[Source<'_>], found: &mut Diagnostics) {
    let expected = gguf_architecture(family);
    for source in sources {
        if source.file.container() == Container::Gguf && architecture(source) != Some(expected) {
            let own = architecture(source).unwrap_or("nothing");
            let message = format!(
                "{}: `general.architecture` is {own:?}, expected {expected:?} for the family {}",
                source.name,
                family.name()
            );
            found.push(Diagnostic::error(Span::FILE, message).code(codes::CONTRADICTION));
        }
    }
}

/// The tensors that the model of `config` has.
fn expected(config: &Config) -> Vec<(Role, Option<usize>)> {
    let mut all = vec![(Role::TokenEmbedding, None), (Role::FinalNorm, None)];
    if config.rope.is_none() {
        all.push((Role::PositionEmbedding, None));
    }
    if !config.tie_word_embeddings {
        all.push((Role::LmHead, None));
    }
    let roles: Vec<Role> = Role::all()
        .filter(|role| role.is_per_layer() && has(config, *role))
        .collect();
    for layer in 0..config.num_layers {
        all.extend(roles.iter().map(|&role| (role, Some(layer))));
    }
    all
}

/// Whether layers of `config` have a tensor of `role` of its own.
fn has(config: &Config, role: Role) -> bool {
    let biases = &config.biases;
    match role {
        Role::QueryBias => biases.q,
        Role::KeyBias => biases.k,
        Role::ValueBias => biases.v,
        Role::OutputBias => biases.o,
        Role::GateBias | Role::UpBias => biases.gate_up,
        Role::DownBias => biases.down,
        Role::QueryNorm | Role::KeyNorm => config.qk_norm,
        Role::FusedQkv | Role::FusedQkvBias | Role::FusedGateUp | Role::FusedGateUpBias => false,
        _ => true,
    }
}

/// The true shape of the tensor of `role`.
pub fn shape_of(config: &Config, role: Role) -> Vec<usize> {
    let (d, inner) = (config.hidden_size, config.intermediate_size);
    let (q, kv) = (config.q_width(), config.kv_width());
    match role {
        Role::TokenEmbedding | Role::LmHead => vec![config.vocab_size, d],
        Role::PositionEmbedding => vec![config.context_window, d],
        Role::FinalNorm | Role::AttentionNorm | Role::MlpNorm => vec![d],
        Role::Query => vec![q, d],
        Role::QueryBias => vec![q],
        Role::Key | Role::Value => vec![kv, d],
        Role::KeyBias | Role::ValueBias => vec![kv],
        Role::Output => vec![d, q],
        Role::OutputBias | Role::DownBias => vec![d],
        Role::Gate | Role::Up => vec![inner, d],
        Role::GateBias | Role::UpBias => vec![inner],
        Role::Down => vec![d, inner],
        Role::QueryNorm | Role::KeyNorm => vec![config.head_dim],
        Role::FusedQkv => vec![q + 2 * kv, d],
        Role::FusedQkvBias => vec![q + 2 * kv],
        Role::FusedGateUp => vec![2 * inner, d],
        Role::FusedGateUpBias => vec![2 * inner],
    }
}

/// The fused tensor that holds the rows of `role`, and which rows.
fn fused_of<'s, 'a>(
    config: &Config,
    role: Role,
    layer: Option<usize>,
    index: &Index<'s, 'a>,
) -> Option<(Role, Found<'s, 'a>, std::ops::Range<usize>)> {
    let (q, kv, inner) = (
        config.q_width(),
        config.kv_width(),
        config.intermediate_size,
    );
    let (weight, bias) = match role {
        Role::Query | Role::QueryBias => (Role::FusedQkv, 0..q),
        Role::Key | Role::KeyBias => (Role::FusedQkv, q..q + kv),
        Role::Value | Role::ValueBias => (Role::FusedQkv, q + kv..q + 2 * kv),
        Role::Gate | Role::GateBias => (Role::FusedGateUp, 0..inner),
        Role::Up | Role::UpBias => (Role::FusedGateUp, inner..2 * inner),
        _ => return None,
    };
    let is_bias = shape_of(config, role).len() == 1;
    let fused = match (weight, is_bias) {
        (Role::FusedQkv, true) => Role::FusedQkvBias,
        (Role::FusedGateUp, true) => Role::FusedGateUpBias,
        (weight, _) => weight,
    };
    let own = index.tensors.get(&(fused, layer))?;
    Some((fused, *own, bias))
}

/// The bytes of a tensor whose shape is that of `role`.
fn view<'a>(
    config: &Config,
    role: Role,
    (source, info): Found<'_, 'a>,
    found: &mut Diagnostics,
) -> Option<TensorView<'a>> {
    let error = |problem: String| {
        let message = format!("{}: tensor {:?} {problem}", source.name, info.name);
        Diagnostic::error(Span::FILE, message).code(codes::TENSOR_SHAPE)
    };
    if let StoredType::Other(word) = &info.stored {
        let words: Vec<&str> = WeightType::all().map(WeightType::name).collect();
        let problem = format!("is stored as {word}, which cannot be decoded");
        found.push(error(problem).help(format!("types are {}", words.join(", "))));
        return None;
    }
    let expected = shape_of(config, role);
    if info.shape != expected {
        found.push(error(format!(
            "has the shape {:?}, expected {expected:?}",
            info.shape
        )));
        return None;
    }
    let mut view = source.file.view(info)?;
    let is_turned = matches!(
        role,
        Role::Query | Role::QueryBias | Role::Key | Role::KeyBias
    );
    if is_turned && config.rope.is_some() && architecture(source) == Some("llama") {
        view.permutation = Permutation::Interleaved {
            head_dim: config.head_dim,
        };
        if view.shape.len() == 1 && view.dtype.block_elements() > 1 {
            found.push(error(format!(
                "is stored as {}, a vector cannot be",
                view.dtype
            )));
            return None;
        }
    }
    Some(view)
}

/// Some rows of a fused tensor.
fn part<'a>(
    config: &Config,
    (fused, own): (Role, Found<'_, 'a>),
    role: Role,
    rows: std::ops::Range<usize>,
    found: &mut Diagnostics,
) -> Option<TensorView<'a>> {
    let before = found.error_count();
    let whole = view(config, fused, own, found);
    let part = whole.as_ref().and_then(|whole| whole.rows(rows));
    if part.is_none() && found.error_count() == before {
        let message = format!(
            "{}: tensor {:?} has no rows for {role:?}",
            own.0.name, own.1.name
        );
        found.push(Diagnostic::error(Span::FILE, message).code(codes::TENSOR_SHAPE));
    }
    part
}

fn missing(role: Role, layer: Option<usize>, sources: &[Source<'_>]) -> Diagnostic {
    let spelling = sources.first().map_or(Spelling::HuggingFace, spelling);
    let name = role.name(spelling, layer);
    let buffer = role.buffer().unwrap_or_default();
    let message = match layer {
        Some(layer) => format!("no file has tensor {name:?}, `{buffer}` of layer {layer}"),
        None => format!("no file has tensor {name:?}, `{buffer}`"),
    };
    Diagnostic::error(Span::FILE, message).code(codes::TENSOR_MISSING)
}
