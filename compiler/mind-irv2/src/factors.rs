//! What frequencies of rotary embeddings are divided by, where a checkpoint says it for each pair.

/// The most pairs that factors are known for: heads of 256 elements.
pub const MAX_FACTORS: usize = 128;

/// A divisor for the frequency of each pair of a head, as `rope_freqs.weight` of GGUF files holds them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FrequencyFactors {
    /// 1 from `pairs` on, so that equal factors are equal.
    divisors: [f32; MAX_FACTORS],
    pairs: usize,
}

impl FrequencyFactors {
    /// The factors of these pairs; `None` if there are none or more than [`MAX_FACTORS`] of them.
    pub fn new(divisors: &[f32]) -> Option<FrequencyFactors> {
        let pairs = divisors.len();
        let mut own = [1.0; MAX_FACTORS];
        own.get_mut(..pairs)?.copy_from_slice(divisors);
        (pairs > 0).then_some(FrequencyFactors {
            divisors: own,
            pairs,
        })
    }

    /// The divisor of each pair.
    pub fn as_slice(&self) -> &[f32] {
        &self.divisors[..self.pairs]
    }

    /// Whether every frequency is divided by a number that it can be divided by.
    pub fn are_positive(&self) -> bool {
        let mut divisors = self.as_slice().iter();
        divisors.all(|&divisor| divisor > 0.0 && divisor < 1e30)
    }

    /// Whether no frequency changes.
    pub fn are_ones(&self) -> bool {
        self.as_slice().iter().all(|&divisor| divisor == 1.0)
    }
}
