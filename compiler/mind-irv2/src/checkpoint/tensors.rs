//! Every tensor of a model, found and checked.

use std::collections::BTreeMap;

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_weights::{Permutation, Role, Spelling, StoredType, TensorView, WeightType};

use super::index::{Found, Index, Source, architecture, check_architecture, spelling};
use super::rotation;
use super::shape::{expected, shape_of};
use crate::codes;
use crate::config::Config;
use crate::schema::WeightTypes;

/// The tensors of a model, each of the shape that its configuration asks for.
///
/// Shapes are true ones, outermost axis first: `[out, in]` for a projection. Query, key and value rows, and gate and
/// up rows, are tensors of their own even where the checkpoint has them in one.
#[derive(Clone, Debug)]
pub struct Checkpoint<'a> {
    tensors: BTreeMap<(Role, Option<usize>), TensorView<'a>>,
    tied: bool,
}

impl<'a> Checkpoint<'a> {
    /// Finds and checks every tensor of the model of `config`.
    ///
    /// # Errors
    ///
    /// E4302 a tensor that is missing, E4303 one that the model does not have or that is repeated, E4304 one
    /// of another shape or of a type that is not known, each by file and tensor; E4210 a head or factors of frequencies
    /// that contradict `config`.
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
        if config.tie_word_embeddings
            && let Some((source, info)) = left.remove(&(Role::LmHead, None))
            && !index.head_is_table()
        {
            // A copy of the table is no contradiction.
            let message = format!(
                "{}: tensor {:?} differs from the table of embeddings, to which the model ties its head",
                source.name, info.name
            );
            found.push(Diagnostic::error(Span::FILE, message).code(codes::CONTRADICTION));
        }
        if let Err(rotation) = rotation::check(config, sources) {
            found.append(rotation);
        }
        for (source, info) in left.into_values() {
            let message = format!(
                "{}: the model has no tensor {:?}, by its configuration",
                source.name, info.name
            );
            found.push(Diagnostic::error(Span::FILE, message).code(codes::TENSOR_EXTRA));
        }
        if found.has_errors() {
            Err(found)
        } else {
            Ok(Checkpoint {
                tensors,
                tied: config.tie_word_embeddings,
            })
        }
    }

    /// The tensor of `role` in `layer`, or in no layer.
    ///
    /// The head of a tied model is its table of embeddings. `None` for what the model does not have: a bias that its
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
    let is_permuted = matches!(
        role,
        Role::Query | Role::QueryBias | Role::Key | Role::KeyBias
    );
    if let Some(rope) = config
        .rope
        .filter(|_| is_permuted && architecture(source) == Some("llama"))
    {
        view.permutation = Permutation::Interleaved {
            head_dim: config.head_dim,
            rotary_dims: rope.rotary_dims,
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
