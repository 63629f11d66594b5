//! Index of the tensors in weight files by their place in the model.

use std::collections::BTreeMap;

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_weights::{Container, TensorInfo, WeightFile};

use super::shape::{LM_HEAD, TABLE};
use crate::codes;
use crate::config::{Biases, Config, Parameters};
use crate::family::{Family, Layout, Match, Spelling};
use crate::layout::buffers::Buffer;

/// A weight file, with its name for messages.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// The name.
    pub name: String,
    /// The file.
    pub file: WeightFile<'a>,
}

/// A tensor and the file that holds it.
pub(super) type Found<'s, 'a> = (&'s Source<'a>, &'s TensorInfo);

/// The tensors of several files, by their name in the plan and their layer.
pub(crate) struct Index<'s, 'a> {
    family: Family,
    pub(crate) tensors: BTreeMap<(&'static str, Option<usize>), Found<'s, 'a>>,
    /// The tensors of experts, by name, layer and expert.
    pub(super) of_experts: BTreeMap<(&'static str, usize, usize), Found<'s, 'a>>,
    /// The names of tensors of task heads, which the model does not compute.
    pub(crate) task_heads: Vec<&'s str>,
}

impl<'s, 'a> Index<'s, 'a> {
    /// Indexes the tensors of `sources`. Names that are unknown in the family are reported.
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
                    // Files may hold the same weight under several of its names.
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

    /// Returns whether the model or any layer has the tensor `part`.
    pub(crate) fn has(&self, part: &str) -> bool {
        self.tensors.keys().any(|(own, _)| *own == part)
    }

    /// Returns whether the output head is the embedding table: absent, or with the same bits.
    pub(crate) fn head_is_table(&self) -> bool {
        let view = |part| {
            let &(source, info) = self.tensors.get(&(part, None))?;
            source.file.view(info)
        };
        let head = view(LM_HEAD);
        !self.has(LM_HEAD) || head.is_some() && head == view(TABLE)
    }

    /// Returns the optional weights that any layer has, alone or fused with others.
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

    /// Returns the number of rows, which are outputs, of the tensor `part` in the first layer.
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

/// Returns `config` without the biases that no file has. A bias that a document lists and the checkpoint lacks is zero.
pub fn without_missing_biases(config: &Config, sources: &[Source<'_>]) -> Config {
    let index = Index::new(config.family, sources, &mut Diagnostics::new());
    let biases = config.biases.and(index.biases());
    // Removing biases cannot invalidate a configuration.
    Config::new(Parameters { biases, ..**config }).unwrap_or(*config)
}

pub(super) fn spelling(source: &Source<'_>) -> Spelling {
    match source.file.container() {
        Container::Safetensors => Spelling::HuggingFace,
        Container::Gguf => Spelling::Gguf,
    }
}

/// Returns the architecture that a GGUF file declares.
pub(super) fn architecture<'s>(source: &'s Source<'_>) -> Option<&'s str> {
    match source.file.container() {
        Container::Safetensors => None,
        Container::Gguf => source.file.meta("general.architecture")?.text(),
    }
}

/// The tensor of a GGUF file with a frequency divisor for each rotated pair.
pub(super) const FACTORS: &str = "rope_freqs.weight";
/// The tensors with frequency divisors for long and for short sequences.
pub(super) const LONG_FACTORS: [&str; 2] =
    ["rope_factors_long.weight", "rope_factors_short.weight"];

/// Returns whether a tensor holds frequency divisors, in a family whose files may have them.
fn is_factor(family: Family, source: &Source<'_>, name: &str) -> bool {
    let rules = family.rules();
    let gguf = rules.gguf.as_ref();
    let rotation = rules.rotation.as_ref();
    let has_long = rotation.is_some_and(|own| own.scalings.iter().any(|own| own == "longrope"));
    let is_gguf = source.file.container() == Container::Gguf;
    let is_factor = name == FACTORS && gguf.is_some_and(|own| own.factors);
    is_gguf && (is_factor || has_long && LONG_FACTORS.contains(&name))
}

/// Returns the name of the architecture in GGUF files of a family; `None` if the family is not read from GGUF.
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
