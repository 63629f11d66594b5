//! Biases of attention scores that depend on distance: relative position buckets and ALiBi slopes.

use mind_ir::scalar::math::{exp2_f64, log_f64};

use crate::attributes::Attribute;
use crate::config::Config;
use crate::family::Architecture;

/// The relative position buckets of a stack of layers.
///
/// Short distances have a bucket each, longer ones share buckets by their logarithm, and those beyond the largest
/// distance are in the last bucket. In bidirectional attention, keys after the query have the upper half of the
/// buckets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Distances {
    /// The bucket of each distance; longer distances are in the last one.
    pub classes: Vec<u32>,
    /// The offset of the buckets for keys after the query; `None` in causal attention.
    pub after_offset: Option<u32>,
}

/// Returns the ALiBi slope of each head, by which scores decrease per position between a key and its query; `None` if
/// the model does not have slopes.
pub fn slopes(config: &Config) -> Option<Vec<f32>> {
    super::plan::has_slopes(config).then(|| slopes_of(config.num_attention_heads))
}

/// Returns the ALiBi slopes of `heads` heads. If their number is a power of two, the slopes are powers of two with
/// evenly spaced exponents down to -8. Otherwise these are the slopes for the next lower power of two, and the
/// exponents of the other heads are halfway between them.
pub(crate) fn slopes_of(heads: usize) -> Vec<f32> {
    let whole = 1 << heads.max(1).ilog2();
    let slope = |share: f64| exp2_f64(-8.0 * share) as f32;
    let first = (1..=whole).map(|at| at as f64 / whole as f64);
    let others = (0..whole).map(|at| (2 * at + 1) as f64 / (2 * whole) as f64);
    first.chain(others).take(heads).map(slope).collect()
}

impl Distances {
    /// Returns the buckets of the layers of `config`; `None` if scores do not depend on buckets.
    pub fn of(config: &Config) -> Option<Distances> {
        super::plan::position_bias(config)?;
        let number = |attribute| config.attributes.get(attribute) as u32;
        let (all, longest) = (
            number(Attribute::RelativeBuckets),
            number(Attribute::RelativeDistance),
        );
        let is_both = config.family.architecture() == Architecture::Encoder;
        let own = if is_both { all / 2 } else { all };
        let short = own / 2;
        let class = |distance: u32| {
            if distance < short {
                return distance;
            }
            // The same steps in the same precision as the reference.
            let log = log_f64(f64::from(distance as f32 / short as f32)) as f32;
            let span = log_f64(f64::from(longest) / f64::from(short)) as f32;
            let above = (log / span * (own - short) as f32) as u32;
            short.saturating_add(above).min(own.saturating_sub(1))
        };
        Some(Distances {
            classes: (0..=longest).map(class).collect(),
            after_offset: is_both.then_some(own),
        })
    }

    /// Returns the number of buckets.
    pub fn count(&self) -> usize {
        let last = self.classes.last().map_or(0, |&last| last as usize);
        last + 1 + self.after_offset.unwrap_or(0) as usize
    }

    /// Returns the bucket of the key at position `key` for the query at position `query`.
    pub fn class(&self, query: usize, key: usize) -> u32 {
        let (distance, above) = if key <= query {
            (query - key, 0)
        } else {
            let seen = self
                .after_offset
                .map(|after_offset| (key - query, after_offset));
            seen.unwrap_or((0, 0))
        };
        let last = self.classes.len().saturating_sub(1);
        above + self.classes.get(distance.min(last)).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_powers_of_two_and_then_those_between() {
        assert_eq!(slopes_of(1), [1.0 / 256.0]);
        assert_eq!(slopes_of(4), [0.25, 0.0625, 0.015_625, 0.003_906_25]);
        let six = slopes_of(6);
        assert_eq!(six[..4], slopes_of(4));
        assert_eq!(six[4..], [0.5, 0.125]);
        let most = slopes_of(8);
        assert_eq!((most[0], most[7]), (0.5, 1.0 / 256.0));
    }
}
