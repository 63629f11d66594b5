//! Mixtures of experts: MLPs of which each token has some.

use crate::attributes::Layers;
use crate::config::Parameters;

/// The experts of a model.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Experts {
    /// How many a layer has.
    pub count: usize,
    /// How many compute a token; at most `count`.
    pub per_token: usize,
    /// The width of each.
    pub width: usize,
    /// The width of the one that computes every token; 0 if there is none.
    pub shared_width: usize,
    /// Whether the shares of the experts of a token add up to 1.
    pub normalised: bool,
    /// The layers that have one MLP instead.
    pub dense_layers: Layers,
}

/// Which layers have a buffer or a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Among {
    /// All.
    #[default]
    Every,
    /// Those with one MLP.
    Dense,
    /// Those with experts.
    Experts,
}

impl Among {
    /// Each, with the word in plans; `Every` has none.
    const WORDS: [(&'static str, Among); 2] =
        [("dense", Among::Dense), ("experts", Among::Experts)];

    /// The layers called `word`.
    pub(crate) fn parse(word: &str) -> Option<Among> {
        let found = Among::WORDS.iter().find(|(own, _)| *own == word);
        found.map(|(_, among)| *among)
    }

    /// Whether a layer that has experts, or has none, is one of them.
    pub fn has(self, has_experts: bool) -> bool {
        match self {
            Among::Every => true,
            Among::Dense => !has_experts,
            Among::Experts => has_experts,
        }
    }

    /// Whether any layer of the model is one of them.
    pub fn occurs(self, parameters: &Parameters) -> bool {
        self == Among::Every
            || (0..parameters.num_layers).any(|layer| self.has(parameters.has_experts(layer)))
    }
}

impl Parameters {
    /// Whether `layer` has experts.
    pub fn has_experts(&self, layer: usize) -> bool {
        let experts = self.experts.as_ref();
        experts.is_some_and(|own| !own.dense_layers.has(layer))
    }
}
