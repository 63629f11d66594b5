//! Finds and checks every tensor of a model.

use std::collections::BTreeMap;

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_weights::{Container, Permutation, StoredType, TensorView, WeightType};

use super::experts;
use super::index::{Found, Index, Source, check_architecture, spelling};
use super::rotation;
use super::shape::{LM_HEAD, TABLE, expected, fused_shape, shape_of, stored_shape};
use crate::codes;
use crate::config::Config;
use crate::family::{Family, Fused, Layout, Spelling};
use crate::schema::WeightTypes;

/// The tensors of a model, each in the shape that its configuration requires.
///
/// Shapes are unpadded, outermost axis first, for example `[out, in]` for a projection. Query, key and value rows, and
/// gate and up rows, are separate tensors even if the checkpoint fuses them.
#[derive(Clone, Debug)]
pub struct Checkpoint<'a> {
    tensors: BTreeMap<(&'static str, Option<usize>), TensorView<'a>>,
    of_experts: BTreeMap<(&'static str, usize, usize), TensorView<'a>>,
    tied: bool,
    family: Family,
}

impl<'a> Checkpoint<'a> {
    /// Finds and checks every tensor of the model of `config`.
    ///
    /// # Errors
    ///
    /// Errors by file and tensor: E4302 if a tensor is missing, E4303 if the model does not have a tensor or it is
    /// repeated, E4304 if its shape or type is wrong, E4210 if the output head or the frequency factors contradict
    /// `config`.
    pub fn new(config: &Config, sources: &[Source<'a>]) -> Result<Checkpoint<'a>, Diagnostics> {
        let mut found = Diagnostics::new();
        let index = Index::new(config.family, sources, &mut found);
        check_architecture(config.family, sources, &mut found);
        let mut left = index.tensors.clone();
        let mut tensors = BTreeMap::new();
        for (part, layer) in expected(config) {
            let view = match left.remove(&(part, layer)) {
                Some(own) => view(config, part, own, &mut found),
                None => match fused_of(config, part, layer, &index) {
                    Some((fused, own)) => {
                        left.remove(&(fused.name.as_str(), layer));
                        rows_of(config, (fused, own), part, &mut found)
                    }
                    None => {
                        found.push(missing(config, part, (layer, None), sources));
                        None
                    }
                },
            };
            tensors.extend(view.map(|view| ((part, layer), view)));
        }
        let of_experts = experts::views(config, &index, &mut left, sources, &mut found);
        if config.tie_word_embeddings
            && let Some((source, info)) = left.remove(&(LM_HEAD, None))
            && !index.head_is_table()
        {
            // A copy of the embedding table is accepted.
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
                of_experts,
                tied: config.tie_word_embeddings,
                family: config.family,
            })
        }
    }

    /// Returns the tensor `part` of `layer`, or of the whole model.
    ///
    /// The output head of a tied model is its embedding table. `None` if the model does not have the tensor, for
    /// example a bias that its configuration leaves out.
    pub fn tensor(&self, part: &str, layer: Option<usize>) -> Option<&TensorView<'a>> {
        let part = if part == LM_HEAD && self.tied {
            TABLE
        } else {
            part
        };
        let (buffer, at) = self.family.buffer_of(part)?;
        self.tensors.get(&(buffer.parts()[at].as_str(), layer))
    }

    /// Returns the tensor `part` of an expert of `layer`; `None` if the model does not have it.
    pub fn expert(&self, part: &str, layer: usize, expert: usize) -> Option<&TensorView<'a>> {
        let (buffer, at) = self.family.buffer_of(part)?;
        let part = buffer.parts()[at].as_str();
        self.of_experts.get(&(part, layer, expert))
    }

    /// Returns the storage type of each tensor. All experts of a layer have the same types.
    pub fn weight_types(&self) -> WeightTypes {
        let mut types = WeightTypes::default();
        let own = self.tensors.iter().map(|(&own, view)| (own, view.dtype));
        let first = self.of_experts.iter();
        let first = first.filter(|((.., expert), _)| *expert == 0);
        let first = first.map(|(&(part, layer, _), view)| ((part, Some(layer)), view.dtype));
        let mut all: Vec<_> = own.chain(first).collect();
        all.sort_by_key(|(own, _)| *own);
        let mut before = None;
        for ((part, layer), dtype) in all {
            match layer {
                // The first layer that has a tensor determines its default type.
                Some(layer) if before == Some(part) => types.set_in_layer(layer, part, dtype),
                Some(_) | None => types.set(part, dtype),
            }
            before = Some(part);
        }
        let head = self.tensor(LM_HEAD, None);
        types.set(LM_HEAD, head.map_or(WeightType::F32, |view| view.dtype));
        types
    }
}

/// Returns the fused tensor that contains `part`.
fn fused_of<'s, 'a>(
    config: &Config,
    part: &str,
    layer: Option<usize>,
    index: &Index<'s, 'a>,
) -> Option<(&'static Fused, Found<'s, 'a>)> {
    let mut fused = config.family.names().fused_with(part);
    fused.find_map(|fused| {
        let own = index.tensors.get(&(fused.name.as_str(), layer))?;
        Some((fused, *own))
    })
}

pub(super) fn error((source, info): Found<'_, '_>, problem: &str) -> Diagnostic {
    let message = format!("{}: tensor {:?} {problem}", source.name, info.name);
    Diagnostic::error(Span::FILE, message).code(codes::TENSOR_SHAPE)
}

/// Returns the view of a tensor whose shape must be `expected`.
pub(super) fn stored<'a>(
    own: Found<'_, 'a>,
    expected: &[usize],
    found: &mut Diagnostics,
) -> Option<TensorView<'a>> {
    let (source, info) = own;
    if let StoredType::Other(word) = &info.stored {
        let words: Vec<&str> = WeightType::all().map(WeightType::name).collect();
        let problem = format!("is stored as {word}, which cannot be decoded");
        found.push(error(own, &problem).help(format!("types are {}", words.join(", "))));
        return None;
    }
    if info.shape != expected {
        let problem = format!("has the shape {:?}, expected {expected:?}", info.shape);
        found.push(error(own, &problem));
        return None;
    }
    source.file.view(info)
}

/// Returns the view of the tensor `part`.
fn view<'a>(
    config: &Config,
    part: &'static str,
    own: Found<'_, 'a>,
    found: &mut Diagnostics,
) -> Option<TensorView<'a>> {
    let shape = shape_of(config, part)?;
    let outputs = *shape.first()?;
    let layout = config.family.names().layout(spelling(own.0), part);
    let is_vector = shape.len() == 1;
    let layout = layout.filter(|own| match own {
        Layout::Row => is_vector,
        Layout::Transposed | Layout::ByHead | Layout::Patches | Layout::Windows => !is_vector,
        Layout::Batch => true,
    });
    let view = stored(own, &stored_shape(config, shape.clone(), layout), found)?;
    let view = match layout {
        None => Some(view),
        Some(Layout::Transposed) => view.transposed(0, outputs),
        Some(Layout::Row | Layout::Batch | Layout::Patches | Layout::Windows) => {
            Some(TensorView { shape, ..view })
        }
        // Only fused tensors are stored by head.
        Some(Layout::ByHead) => None,
    };
    in_order(config, part, own, view, found)
}

/// Reorders a view from the file's layout to that of the rotation, or reports that it is missing.
fn in_order<'a>(
    config: &Config,
    part: &str,
    own: Found<'_, 'a>,
    view: Option<TensorView<'a>>,
    found: &mut Diagnostics,
) -> Option<TensorView<'a>> {
    match view {
        Some(view) => permuted_rows(config, part, own, view, found),
        None => {
            found.push(error(own, &format!("has no rows for `{part}`")));
            None
        }
    }
}

/// Permutes the rows of queries and keys if the file stores them for rotations of adjacent elements.
fn permuted_rows<'a>(
    config: &Config,
    part: &str,
    own: Found<'_, 'a>,
    mut view: TensorView<'a>,
    found: &mut Diagnostics,
) -> Option<TensorView<'a>> {
    let rules = config.family.rules();
    let of_neighbours = match own.0.file.container() {
        Container::Safetensors => rules.neighbours,
        Container::Gguf => rules.gguf.as_ref().is_some_and(|own| own.neighbours),
    };
    let is_permuted = ["wq", "bq", "wk", "bk"].contains(&part);
    if let Some(rope) = config.rope.filter(|_| is_permuted && of_neighbours) {
        if view.permutation != Permutation::None {
            let problem = "is in an order for rotations of neighbours and in another layout";
            found.push(error(own, problem));
            return None;
        }
        view.permutation = Permutation::Interleaved {
            head_dim: config.head_dim,
            rotary_dims: rope.rotary_dims,
        };
        if view.shape.len() == 1 && view.dtype.block_elements() > 1 {
            let problem = format!("is stored as {}, a vector cannot be", view.dtype);
            found.push(error(own, &problem));
            return None;
        }
    }
    Some(view)
}

/// Returns the rows of `part` in a fused tensor.
fn rows_of<'a>(
    config: &Config,
    (fused, own): (&'static Fused, Found<'_, 'a>),
    part: &'static str,
    found: &mut Diagnostics,
) -> Option<TensorView<'a>> {
    let shape = fused_shape(config, fused)?;
    let all = *shape.first()?;
    let layout = config.family.names().layout(spelling(own.0), &fused.name);
    let whole = stored(own, &stored_shape(config, shape, layout), found)?;
    let rows = |part: &str| shape_of(config, part).and_then(|shape| shape.first().copied());
    let before = fused.parts.iter().take_while(|own| *own != part);
    let first = before.filter_map(|part| rows(part)).sum::<usize>();
    let count = rows(part)?;
    let view = match layout {
        Some(Layout::Transposed) if whole.shape.len() == 2 => whole.transposed(first, count),
        None
        | Some(
            Layout::Transposed | Layout::Row | Layout::Batch | Layout::Patches | Layout::Windows,
        ) => whole.rows(first..first + count),
        Some(Layout::ByHead) => {
            let heads = config.num_kv_heads;
            let group = (count / heads, all / heads);
            whole.grouped(first / heads, count, group)
        }
    };
    in_order(config, part, own, view, found)
}

pub(super) fn missing(
    config: &Config,
    part: &str,
    (layer, expert): (Option<usize>, Option<usize>),
    sources: &[Source<'_>],
) -> Diagnostic {
    let spelling = sources.first().map_or(Spelling::HuggingFace, spelling);
    let names = config.family.names();
    let called = |part: &str| names.name(spelling, part, layer, expert);
    let fused = || names.fused_with(part).find_map(|own| called(&own.name));
    let name = called(part).or_else(fused).unwrap_or_default();
    let buffer = config.family.buffer_of(part);
    let buffer = buffer.map_or(part, |(buffer, _)| buffer.name.as_str());
    let message = match layer {
        Some(layer) => format!("no file has tensor {name:?}, `{buffer}` of layer {layer}"),
        None => format!("no file has tensor {name:?}, `{buffer}`"),
    };
    Diagnostic::error(Span::FILE, message).code(codes::TENSOR_MISSING)
}
