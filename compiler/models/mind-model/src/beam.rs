//! Beam search: several candidate sequences are extended in parallel, and the most likely ones are kept.

use mind_ir::scalar::math::{exp_f64, log_f64};

use crate::error::ModelError;
use crate::forced::Forced;
use crate::sample::penalize;
use crate::session::Session;
use crate::suppressed::Suppressed;

/// Parameters of a beam search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BeamSearch<'e> {
    /// Number of beams; at least 1.
    pub beams: usize,
    /// The maximal number of tokens to generate.
    pub tokens: usize,
    /// End-of-sequence tokens.
    pub ends: &'e [u32],
    /// Forced tokens, which are drawn with probability 1 whatever their logits.
    pub forced: Forced,
    /// Tokens that are never drawn.
    pub suppressed: &'e Suppressed,
    /// As in [`Sampling`](crate::Sampling), applied to log probabilities.
    pub repetition_penalty: f32,
}

/// A live sequence.
struct Beam<'w> {
    session: Session<'w>,
    /// The generated tokens, without the prompt.
    tokens: Vec<u32>,
    /// The sum of their log probabilities.
    score: f64,
}

/// A possible next token of a beam.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    beam: usize,
    token: u32,
    score: f64,
}

/// A finished sequence.
#[derive(Clone, PartialEq, Debug)]
struct Ended {
    tokens: Vec<u32>,
    /// The mean log probability of its tokens.
    score: f64,
}

impl BeamSearch<'_> {
    /// Returns the continuation of `prompt` with the largest mean log probability per token, including the token of
    /// [`ends`](BeamSearch::ends) that finishes it.
    ///
    /// `session` must be empty and have room for the prompt and all generated tokens but the last.
    ///
    /// # Errors
    ///
    /// Errors of [`Session::prefill`]; a forced or suppressed token outside of the vocabulary; out of memory for the
    /// caches of the beams.
    pub fn run(&self, session: Session<'_>, prompt: &[u32]) -> Result<Vec<u32>, ModelError> {
        let mut session = session;
        let vocab_size = session.model().config().vocab_size;
        self.forced.check(vocab_size)?;
        self.suppressed.check(vocab_size)?;
        let mut logits = vec![session.prefill(prompt)?];
        let mut beams = vec![Beam {
            session,
            tokens: Vec::new(),
            score: 0.0,
        }];
        let mut ended: Vec<Ended> = Vec::new();
        for length in 1..=self.tokens {
            let is_last = length == self.tokens;
            let forced = self.forced.token(length - 1, self.tokens);
            let candidates = self.candidates((prompt, forced), &beams, &logits);
            let is_end = |candidate: &Candidate| is_last || self.ends.contains(&candidate.token);
            for candidate in candidates.iter().take(self.beams).filter(|own| is_end(own)) {
                let mut tokens = beams[candidate.beam].tokens.clone();
                tokens.push(candidate.token);
                let score = candidate.score / length as f64;
                ended.push(Ended { tokens, score });
            }
            // The sort is stable: the earlier of two equal scores stays first.
            ended.sort_by(|x, y| y.score.total_cmp(&x.score));
            ended.truncate(self.beams);
            let going_on = candidates.iter().filter(|own| !is_end(own));
            let going_on: Vec<Candidate> = going_on.take(self.beams).copied().collect();
            let Some(best) = going_on.first() else {
                break;
            };
            let worst = ended.get(self.beams - 1);
            if worst.is_some_and(|worst| best.score / length as f64 <= worst.score) {
                break;
            }
            beams = next_beams(beams, &going_on)?;
            logits.clear();
            for (beam, candidate) in beams.iter_mut().zip(&going_on) {
                logits.push(beam.session.decode(candidate.token)?);
            }
        }
        let best = ended.into_iter().next();
        Ok(best.map(|best| best.tokens).unwrap_or_default())
    }

    /// Returns the most likely continuations of all beams, best first. There are enough of them that at least
    /// `self.beams` do not end with an end token. Every continuation is the token `forced` if there is one.
    fn candidates(
        &self,
        (prompt, forced): (&[u32], Option<u32>),
        beams: &[Beam<'_>],
        logits: &[Vec<f32>],
    ) -> Vec<Candidate> {
        let count = self.beams.saturating_mul(2.max(1 + self.ends.len()));
        let mut all = Vec::new();
        for (index, (beam, logits)) in beams.iter().zip(logits).enumerate() {
            let mut scores = log_probabilities(logits);
            if self.repetition_penalty != 1.0 {
                let seen = [prompt, &beam.tokens].concat();
                penalize(&mut scores, &seen, self.repetition_penalty);
            }
            self.suppressed.apply(beam.tokens.len(), &mut scores);
            if let Some(forced) = forced {
                scores.fill(f32::NEG_INFINITY);
                scores[forced as usize] = 0.0;
            }
            let scored = scores.iter().enumerate();
            let scored = scored.filter(|(_, score)| **score > f32::NEG_INFINITY);
            all.extend(scored.map(|(token, score)| Candidate {
                beam: index,
                token: token as u32,
                score: beam.score + f64::from(*score),
            }));
            all.sort_by(|x, y| y.score.total_cmp(&x.score));
            all.truncate(count);
        }
        all
    }
}

/// Returns the log probability of each token; negative infinity if the logit is NaN.
fn log_probabilities(logits: &[f32]) -> Vec<f32> {
    let numbers = logits.iter().copied().filter(|logit| !logit.is_nan());
    let most = f64::from(numbers.fold(f32::NEG_INFINITY, f32::max));
    let weights = logits.iter().map(|&logit| exp_f64(f64::from(logit) - most));
    let sum: f64 = weights.filter(|weight| !weight.is_nan()).sum();
    let all = logits.iter().map(|&logit| {
        let score = f64::from(logit) - most - log_f64(sum);
        if score.is_nan() {
            f32::NEG_INFINITY
        } else {
            score as f32
        }
    });
    all.collect()
}

/// Returns the beams after the tokens of `chosen`. A session is copied only if several candidates extend it, because a
/// copy duplicates its cache.
fn next_beams<'w>(beams: Vec<Beam<'w>>, chosen: &[Candidate]) -> Result<Vec<Beam<'w>>, ModelError> {
    let mut sessions: Vec<Option<Session<'w>>> = Vec::new();
    let mut tokens = Vec::new();
    for beam in beams {
        sessions.push(Some(beam.session));
        tokens.push(beam.tokens);
    }
    let mut next = Vec::new();
    for (at, candidate) in chosen.iter().enumerate() {
        let again = chosen[at + 1..]
            .iter()
            .any(|own| own.beam == candidate.beam);
        let session = &mut sessions[candidate.beam];
        let session = match session {
            Some(kept) if again => Some(kept.fork()?),
            Some(_) | None => session.take(),
        };
        let mut tokens = tokens[candidate.beam].clone();
        tokens.push(candidate.token);
        // The last candidate of a session takes it without a copy.
        next.extend(session.map(|session| Beam {
            session,
            tokens,
            score: candidate.score,
        }));
    }
    Ok(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_the_softmax() {
        let found = log_probabilities(&[0.0, f32::NAN, 1.0, f32::NEG_INFINITY]);
        let sum = 1f64 + 1f64.exp();
        let expected = [
            -sum.ln(),
            f64::NEG_INFINITY,
            1.0 - sum.ln(),
            f64::NEG_INFINITY,
        ];
        for (found, expected) in found.into_iter().zip(expected) {
            let same = f64::from(found) == expected;
            assert!(
                same || (f64::from(found) - expected).abs() < 1e-6,
                "{found} {expected}"
            );
        }
        assert_eq!(
            log_probabilities(&[f32::INFINITY, 0.0])[1],
            f32::NEG_INFINITY
        );
    }
}
