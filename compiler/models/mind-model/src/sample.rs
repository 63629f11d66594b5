//! Sampling of the next token.

use mind_ir::random::Rng;
use mind_ir::scalar::math::exp_f64;

/// Returns the token with the largest logit, the first one of equals. NaN is smaller than every number.
pub fn largest(logits: &[f32]) -> u32 {
    let mut best = (0, f32::NEG_INFINITY);
    for (token, &logit) in logits.iter().enumerate() {
        if logit > best.1 {
            best = (token, logit);
        }
    }
    best.0 as u32
}

/// Sampling parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sampling {
    /// Logits are divided by it; at 0 the largest one is taken.
    pub temperature: f64,
    /// The number of most likely tokens that are kept, for example 40; 0 for all.
    pub top_k: usize,
    /// The most likely tokens are kept until their total probability reaches this; 1 for all.
    pub top_p: f64,
    /// Tokens are kept if they are at least this many times as likely as the most likely one; 0 for all.
    pub min_p: f64,
    /// Penalty of tokens that the sequence already has: positive logits are divided by it, negative ones multiplied; 1
    /// changes nothing. It also acts at temperature 0.
    pub repetition_penalty: f32,
    /// The seed of the random numbers. The same seed draws the same tokens.
    pub seed: u64,
}

impl Default for Sampling {
    /// Greedy decoding.
    fn default() -> Sampling {
        Sampling {
            temperature: 0.0,
            top_k: 0,
            top_p: 1.0,
            min_p: 0.0,
            repetition_penalty: 1.0,
            seed: 0,
        }
    }
}

/// Applies the repetition penalty: scores of tokens in `seen` are divided by `penalty` if they are at least 0, else
/// multiplied by it, once per distinct token.
pub(crate) fn penalize(scores: &mut [f32], seen: &[u32], penalty: f32) {
    let mut tokens = seen.to_vec();
    tokens.sort_unstable();
    tokens.dedup();
    for token in tokens {
        if let Some(score) = scores.get_mut(token as usize) {
            *score = if *score < 0.0 {
                *score * penalty
            } else {
                *score / penalty
            };
        }
    }
}

/// Draws tokens, reproducibly on every machine.
#[derive(Clone, Debug)]
pub struct Sampler {
    how: Sampling,
    rng: Rng,
}

impl Sampler {
    /// Creates a sampler in the initial state of its seed.
    pub fn new(how: Sampling) -> Sampler {
        Sampler {
            rng: Rng::new(how.seed),
            how,
        }
    }

    /// Draws the next token of a sequence with the tokens `seen`. Tokens with a logit of NaN or negative infinity are
    /// never drawn.
    pub fn next(&mut self, logits: &[f32], seen: &[u32]) -> u32 {
        let Sampling {
            temperature,
            top_k,
            top_p,
            min_p,
            repetition_penalty,
            ..
        } = self.how;
        let mut penalized = Vec::new();
        let logits = if repetition_penalty == 1.0 {
            logits
        } else {
            penalized.extend_from_slice(logits);
            penalize(&mut penalized, seen, repetition_penalty);
            &penalized
        };
        let first = largest(logits);
        let most = logits.get(first as usize).copied().unwrap_or(0.0);
        if temperature.is_nan() || temperature <= 0.0 || !most.is_finite() {
            return first;
        }
        let tokens = logits.iter().enumerate();
        let likely = tokens.filter(|(_, logit)| **logit > f32::NEG_INFINITY);
        let mut likely: Vec<(u32, f64)> = likely
            .map(|(token, &logit)| {
                let weight = exp_f64((f64::from(logit) - f64::from(most)) / temperature);
                (token as u32, weight)
            })
            .collect();
        likely.sort_by(|x, y| y.1.total_cmp(&x.1).then(x.0.cmp(&y.0)));
        if top_k > 0 {
            likely.truncate(top_k);
        }
        let all: f64 = likely.iter().map(|(_, weight)| weight).sum();
        let mut sum = 0.0;
        let enough = likely.iter().position(|(_, weight)| {
            sum += weight;
            sum >= top_p * all
        });
        if let Some(last) = enough {
            likely.truncate(last + 1);
        }
        // The most likely token has weight 1.
        likely.retain(|&(_, weight)| weight >= min_p);
        let all: f64 = likely.iter().map(|(_, weight)| weight).sum();
        let mut left = self.rng.fraction() * all;
        for &(token, weight) in &likely {
            left -= weight;
            if left < 0.0 {
                return token;
            }
        }
        likely.last().map_or(first, |&(token, _)| token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGITS: [f32; 5] = [1.0, 3.0, f32::NAN, 2.0, f32::NEG_INFINITY];

    fn drawn(how: Sampling) -> Vec<u32> {
        let mut sampler = Sampler::new(how);
        let mut seen: Vec<u32> = (0..200).map(|_| sampler.next(&LOGITS, &[])).collect();
        seen.sort_unstable();
        seen.dedup();
        seen
    }

    #[test]
    fn the_first_of_the_largest_is_taken() {
        assert_eq!(largest(&LOGITS), 1);
        assert_eq!(largest(&[2.0, 2.0]), 0);
        assert_eq!(largest(&[f32::NAN]), 0);
        assert_eq!(largest(&[]), 0);
        assert_eq!(drawn(Sampling::default()), [1]);
    }

    #[test]
    fn only_allowed_tokens_are_drawn() {
        let warm = Sampling {
            temperature: 1.0,
            ..Sampling::default()
        };
        assert_eq!(drawn(warm), [0, 1, 3]);
        assert_eq!(drawn(Sampling { top_k: 2, ..warm }), [1, 3]);
        assert_eq!(drawn(Sampling { top_p: 0.5, ..warm }), [1]);
        assert_eq!(drawn(Sampling { top_p: 0.8, ..warm }), [1, 3]);
        // The weights are 1, e^-1 and e^-2.
        assert_eq!(drawn(Sampling { min_p: 0.2, ..warm }), [1, 3]);
        assert_eq!(
            drawn(Sampling {
                min_p: 0.13,
                ..warm
            }),
            [0, 1, 3]
        );
        assert_eq!(drawn(Sampling { min_p: 1.0, ..warm }), [1]);
    }

    #[test]
    fn tokens_of_the_sequence_are_less_likely() {
        let mut sampler = Sampler::new(Sampling {
            repetition_penalty: 2.0,
            ..Sampling::default()
        });
        assert_eq!(sampler.next(&LOGITS, &[]), 1);
        // 3 becomes 1.5; the penalty applies once, although the token occurs twice.
        assert_eq!(sampler.next(&LOGITS, &[1, 1, 4]), 3);
        // 2 becomes 1, so that 1.5 is the largest.
        assert_eq!(sampler.next(&LOGITS, &[3, 1]), 1);
        // Negative logits move away from 0; tokens outside of the vocabulary are ignored.
        assert_eq!(sampler.next(&[-1.0, -1.5], &[0, 9]), 1);
    }

    #[test]
    fn frequencies_follow_the_softmax() {
        let mut sampler = Sampler::new(Sampling {
            temperature: 1.0,
            seed: 7,
            ..Sampling::default()
        });
        let count = 20_000;
        let ones = (0..count)
            .filter(|_| sampler.next(&LOGITS, &[]) == 1)
            .count();
        let weights = [1.0, 3.0, 2.0].map(f64::exp);
        let expected = weights[1] / weights.iter().sum::<f64>();
        assert!((ones as f64 / f64::from(count) - expected).abs() < 0.01);
    }

    #[test]
    fn a_seed_draws_the_same_again() {
        let how = |seed| Sampling {
            temperature: 1.0,
            seed,
            ..Sampling::default()
        };
        let run = |seed| {
            let mut sampler = Sampler::new(how(seed));
            (0..50)
                .map(|_| sampler.next(&LOGITS, &[]))
                .collect::<Vec<_>>()
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
    }
}
