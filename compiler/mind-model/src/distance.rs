//! What the distance between two positions adds to their score.

use mind_irv2::Config;
use mind_irv2::graph::distance::Distances;

use crate::error::ModelError;
use crate::weights::Weights;

/// A number for each class of distances and each head.
pub(crate) struct DistanceBias {
    classes: Distances,
    heads: usize,
    /// `[classes, heads]`.
    table: Vec<f32>,
}

impl DistanceBias {
    /// The numbers of a table of weights.
    ///
    /// # Errors
    ///
    /// A table that is missing, or has fewer rows than there are classes.
    pub(crate) fn new(
        config: &Config,
        classes: Distances,
        (weights, table): (&dyn Weights, &str),
    ) -> Result<DistanceBias, ModelError> {
        let heads = config.num_attention_heads;
        let all = classes.count();
        let mut numbers = vec![0.0; all * heads];
        for (class, row) in numbers.chunks_exact_mut(heads).enumerate() {
            weights.row(table, class, row)?;
        }
        Ok(DistanceBias {
            classes,
            heads,
            table: numbers,
        })
    }

    /// What is added to the scores of `tokens` queries, the first one at position `first`, and `seen` keys from the first
    /// position on: `[heads, tokens, seen]`.
    pub(crate) fn rows(&self, first: usize, tokens: usize, seen: usize) -> Vec<f32> {
        let mut all = vec![0.0; self.heads * tokens * seen];
        for at in 0..tokens {
            for key in 0..seen {
                let class = self.classes.class(first + at, key) as usize;
                let row = &self.table[class * self.heads..][..self.heads];
                for (head, &number) in row.iter().enumerate() {
                    all[(head * tokens + at) * seen + key] = number;
                }
            }
        }
        all
    }
}
