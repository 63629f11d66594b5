//! Attention biases by distance: relative position tables (T5) and slopes (ALiBi).

use mind_irv2::Config;
use mind_irv2::graph::distance::{Distances, slopes};

use crate::error::ModelError;
use crate::weights::Weights;

/// The bias that the distance of a query and a key adds to their attention score.
pub(crate) enum DistanceBias {
    /// Learned biases by class of distance, `[classes, heads]`.
    Table {
        classes: Distances,
        heads: usize,
        numbers: Vec<f32>,
    },
    /// ALiBi: the score decreases linearly with the distance, with a slope per head.
    Slopes(Vec<f32>),
}

impl DistanceBias {
    /// Returns the biases of `config`, read from the weight `table` if they are learned; `None` if the model has none.
    ///
    /// # Errors
    ///
    /// The table is missing, or has fewer rows than there are classes.
    pub(crate) fn of(
        config: &Config,
        (weights, table): (&dyn Weights, Option<&str>),
    ) -> Result<Option<DistanceBias>, ModelError> {
        if let Some(own) = slopes(config) {
            return Ok(Some(DistanceBias::Slopes(own)));
        }
        let Some((classes, table)) = Distances::of(config).zip(table) else {
            return Ok(None);
        };
        let heads = config.num_attention_heads;
        let all = classes.count();
        let mut numbers = vec![0.0; all * heads];
        for (class, row) in numbers.chunks_exact_mut(heads).enumerate() {
            weights.row(table, class, row)?;
        }
        Ok(Some(DistanceBias::Table {
            classes,
            heads,
            numbers,
        }))
    }

    /// Returns the biases for `tokens` queries from position `first` on and the first `seen` keys, `[heads, tokens,
    /// seen]`.
    pub(crate) fn rows(&self, first: usize, tokens: usize, seen: usize) -> Vec<f32> {
        match self {
            DistanceBias::Table {
                classes,
                heads,
                numbers,
            } => {
                let mut all = vec![0.0; heads * tokens * seen];
                for at in 0..tokens {
                    for key in 0..seen {
                        let class = classes.class(first + at, key) as usize;
                        let row = &numbers[class * heads..][..*heads];
                        for (head, &number) in row.iter().enumerate() {
                            all[(head * tokens + at) * seen + key] = number;
                        }
                    }
                }
                all
            }
            DistanceBias::Slopes(slopes) => {
                let mut all = Vec::with_capacity(slopes.len() * tokens * seen);
                for slope in slopes {
                    for at in first..first + tokens {
                        all.extend((0..seen).map(|key| (key as f32 - at as f32) * slope));
                    }
                }
                all
            }
        }
    }
}
