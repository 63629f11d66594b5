//! The tensors of weight files by their place in a model.

use std::collections::BTreeMap;

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_weights::{Container, TensorInfo, WeightFile};

use super::shape::{LM_HEAD, TABLE};
use crate::codes;
use crate::config::{Biases, Config, Parameters};
use crate::family::{Family, Layout, Match, Spelling};
use crate::layout::buffers::Buffer;

/// A weight file with its name for messages.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// The name.
    pub name: String,
    /// The file.
    pub file: WeightFile<'a>,
}

/// A tensor where it lies.
pub(super) type Found<'s, 'a> = (&'s Source<'a>, &'s TensorInfo);

/// The tensors of several files by their name in the plan and their layer.
pub(crate) struct Index<'s, 'a> {
    family: Family,
    pub(crate) tensors: BTreeMap<(&'static str, Option<usize>), Found<'s, 'a>>,
    /// Those of experts, by their number behind that of their layer.
    pub(super) of_experts: BTreeMap<(&'static str, usize, usize), Found<'s, 'a>>,
    /// Tensors of heads for tasks that the model does not compute.
    pub(crate) task_heads: Vec<&'s str>,
}

impl<'s, 'a> Index<'s, 'a> {
    /// Sorts the tensors of `sources` by their place; names that the family does not have are reported.
    pub(crate) fn new(
        family: Family,
        sources: &'s [Source<'a>],
        found: &mut Diagnostics,
    ) -> Index<'s, 'a> {
        let mut tensors: BTreeMap<(&'static str, Option<usize>), Found<'s, 'a>> = BTreeMap::new();
        let mut of_experts: BTreeMap<(&'static str, usize, usize), Found<'s, 'a>> = BTreeMap::new();
        let mut task_heads = Vec::new();
        for source in sources {
            let spelling = spelling(source);
            for info in source.file.tensors() {
                let own = (source, info);
                let other = match family.names().find(spelling, &info.name) {
                    Some(Match::Unread) => continue,
                    Some(Match::TaskHead) => {
                        task_heads.push(info.name.as_str());
                        continue;
                    }
                    Some(Match::Tensor(part, layer)) => tensors.insert((part, layer), own),
                    Some(Match::OfExpert(part, layer, expert)) => {
                        of_experts.insert((part, layer, expert), own)
                    }
                    None if is_factor(family, source, &info.name) => continue,
                    None => {
                        let message = format!(
                            "{}: models of {} have no tensor {:?}",
                            source.name,
                            family.name(),
                            info.name
                        );
                        found
                            .push(Diagnostic::error(Span::FILE, message).code(codes::TENSOR_EXTRA));
                        continue;
                    }
                };
                if let Some((other, first)) = other {
                    let (name, view) = (&info.name, source.file.view(info));
                    // A weight may be there under several of its names.
                    if *name != first.name && view.is_some() && view == other.file.view(first) {
                        continue;
                    }
                    let message = if *name == first.name {
                        format!("{}: tensor {name:?} is also in {}", source.name, other.name)
                    } else {
                        format!(
                            "{}: tensor {name:?} differs from {:?}, which is another name of it",
                            source.name, first.name
                        )
                    };
                    found.push(Diagnostic::error(Span::FILE, message).code(codes::TENSOR_EXTRA));
                }
            }
        }
        Index {
            family,
            tensors,
            of_experts,
            task_heads,
        }
    }

    /// Whether any layer, or the model, has the tensor `part`.
    pub(crate) fn has(&self, part: &str) -> bool {
        self.tensors.keys().any(|(own, _)| *own == part)
    }

    /// Whether the head holds the bits of the table of embeddings, or is no tensor of its own.
    pub(crate) fn head_is_table(&self) -> bool {
        let view = |part| {
            let &(source, info) = self.tensors.get(&(part, None))?;
            source.file.view(info)
        };
        let head = view(LM_HEAD);
        !self.has(LM_HEAD) || head.is_some() && head == view(TABLE)
    }

    /// Of the weights that a checkpoint may lack, those that any layer has, by itself or in a tensor with others.
    pub(crate) fn biases(&self) -> Biases {
        let has = |part: &String| {
            let mut fused = self.family.names().fused_with(part);
            self.has(part) || fused.any(|own| self.has(&own.name))
        };
        let optional = self.family.optional().enumerate();
        let found =
            optional.filter(|(_, buffer): &(usize, &Buffer)| buffer.parts().iter().any(has));
        found.fold(Biases::default(), |all, (index, _)| all.with(index))
    }

    /// The rows of the tensor `part` in the first layer: its outputs.
    pub(crate) fn rows(&self, part: &str) -> Option<usize> {
        let (source, info) = self.tensors.get(&(part, Some(0)))?;
        match self.family.names().layout(spelling(source), part) {
            Some(Layout::Transposed) => info.shape.last().copied(),
            Some(
                Layout::ByHead | Layout::Row | Layout::Batch | Layout::Patches | Layout::Windows,
            )
            | None => info.shape.first().copied(),
        }
    }
}

/// `config` without the biases that no file has a tensor of: a bias that a document lists and a checkpoint lacks is
/// zero.
pub fn without_missing_biases(config: &Config, sources: &[Source<'_>]) -> Config {
    let index = Index::new(config.family, sources, &mut Diagnostics::new());
    let biases = config.biases.and(index.biases());
    // Fewer biases make no configuration worse.
    Config::new(Parameters { biases, ..**config }).unwrap_or(*config)
}

pub(super) fn spelling(source: &Source<'_>) -> Spelling {
    match source.file.container() {
        Container::Safetensors => Spelling::HuggingFace,
        Container::Gguf => Spelling::Gguf,
    }
}

/// What a GGUF file says that it holds.
pub(super) fn architecture<'s>(source: &'s Source<'_>) -> Option<&'s str> {
    match source.file.container() {
        Container::Safetensors => None,
        Container::Gguf => source.file.meta("general.architecture")?.text(),
    }
}

/// The tensor of a GGUF file that holds a divisor for each pair of a rotation.
pub(super) const FACTORS: &str = "rope_freqs.weight";
/// Those that hold one for each pair in long and in short sequences.
pub(super) const LONG_FACTORS: [&str; 2] =
    ["rope_factors_long.weight", "rope_factors_short.weight"];

/// Whether a tensor divides the frequencies of the rotation, in a family whose files have such a tensor.
fn is_factor(family: Family, source: &Source<'_>, name: &str) -> bool {
    let rules = family.rules();
    let gguf = rules.gguf.as_ref();
    let rotation = rules.rotation.as_ref();
    let has_long = rotation.is_some_and(|own| own.scalings.iter().any(|own| own == "longrope"));
    let is_gguf = source.file.container() == Container::Gguf;
    let is_factor = name == FACTORS && gguf.is_some_and(|own| own.factors);
    is_gguf && (is_factor || has_long && LONG_FACTORS.contains(&name))
}

/// What GGUF files of a family call it; `None` for a family that has none.
pub(crate) fn gguf_architecture(family: Family) -> Option<&'static str> {
    let own = family.rules().gguf.as_ref()?;
    Some(&own.architecture)
}

pub(super) fn check_architecture(family: Family, sources: &[Source<'_>], found: &mut Diagnostics) {
    let gguf = sources
        .iter()
        .filter(|source| source.file.container() == Container::Gguf);
    for source in gguf {
        let Some(expected) = gguf_architecture(family) else {
            let message = format!(
                "{}: models of {} are not read from GGUF files",
                source.name,
                family.name()
            );
            found.push(Diagnostic::error(Span::FILE, message).code(codes::UNSUPPORTED));
            continue;
        };
        if architecture(source) != Some(expected) {
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
