//! The tensors of weight files by their place in a model.

use std::collections::BTreeMap;

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_weights::{Container, Place, Role, Spelling, TensorInfo, WeightFile, place};

use crate::codes;
use crate::config::{Biases, Config, Family, Parameters};

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

/// The tensors of several files by their place in the model.
pub(crate) struct Index<'s, 'a> {
    pub(crate) tensors: BTreeMap<(Role, Option<usize>), Found<'s, 'a>>,
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
                    Some(Place::Ignored) if !is_foreign_factor(source) => continue,
                    // GGUF files of this family call the fused rows by the name of their second part.
                    Some(Place::Role(Role::Up, layer)) if fused_up => (Role::FusedGateUp, layer),
                    Some(Place::Role(role, layer)) => (role, layer),
                    Some(Place::Ignored) | None => {
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
                        "{}: tensor {:?} is also in {}",
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

    /// Whether the head holds the bits of the table of embeddings, or is no tensor of its own.
    pub(crate) fn head_is_table(&self) -> bool {
        let view = |role| {
            let &(source, info) = self.tensors.get(&(role, None))?;
            source.file.view(info)
        };
        let head = view(Role::LmHead);
        !self.has(&[Role::LmHead]) || head.is_some() && head == view(Role::TokenEmbedding)
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

/// Whether divisors of frequencies in `source` are a tensor that its architecture does not have.
fn is_foreign_factor(source: &Source<'_>) -> bool {
    architecture(source).is_some_and(|word| word != "llama")
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

pub(super) fn check_architecture(family: Family, sources: &[Source<'_>], found: &mut Diagnostics) {
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
