//! Mixtures of experts: layers whose tokens are routed to some of several MLPs.

use crate::attributes::Layers;
use crate::config::Parameters;

/// The experts of a model.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Experts {
    /// The number of experts in a layer.
    pub count: usize,
    /// The number of experts that compute a token; at most `count`.
    pub per_token: usize,
    /// The width of each expert.
    pub width: usize,
    /// The width of the shared expert, which computes every token; 0 if there is none.
    pub shared_width: usize,
    /// Whether the routing weights of a token are normalised to a sum of 1.
    pub normalised: bool,
    /// The layers that have a single MLP instead.
    pub dense_layers: Layers,
}

/// The layers that have a buffer or a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Among {
    /// All layers.
    #[default]
    Every,
    /// Layers with a single MLP.
    Dense,
    /// Layers with experts.
    Experts,
}

impl Among {
    /// The words in plans; `Every` has none.
    const WORDS: [(&'static str, Among); 2] =
        [("dense", Among::Dense), ("experts", Among::Experts)];

    /// Returns the layers denoted by `word`.
    pub(crate) fn parse(word: &str) -> Option<Among> {
        let found = Among::WORDS.iter().find(|(own, _)| *own == word);
        found.map(|(_, among)| *among)
    }

    /// Returns whether they include a layer with experts, or without if `has_experts` is false.
    pub fn has(self, has_experts: bool) -> bool {
        match self {
            Among::Every => true,
            Among::Dense => !has_experts,
            Among::Experts => has_experts,
        }
    }

    /// Returns whether the model has any of these layers.
    pub fn occurs(self, parameters: &Parameters) -> bool {
        self == Among::Every
            || (0..parameters.num_layers).any(|layer| self.has(parameters.has_experts(layer)))
    }
}

impl Parameters {
    /// Returns whether `layer` has experts.
    pub fn has_experts(&self, layer: usize) -> bool {
        let experts = self.experts.as_ref();
        experts.is_some_and(|own| !own.dense_layers.has(layer))
    }
}
