//! Divisors of rotary frequencies that a checkpoint has for each pair.

/// The most pairs with factors: those of heads with 256 elements.
pub const MAX_FACTORS: usize = 128;

/// A divisor for the frequency of each pair of a head, as in the tensor `rope_freqs.weight` of GGUF files.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FrequencyFactors {
    /// Filled with 1 from `pairs` on, so that comparisons may include the unused elements.
    divisors: [f32; MAX_FACTORS],
    pairs: usize,
}

impl FrequencyFactors {
    /// Returns the factors of these pairs; `None` if there are none or more than [`MAX_FACTORS`].
    pub fn new(divisors: &[f32]) -> Option<FrequencyFactors> {
        let pairs = divisors.len();
        let mut own = [1.0; MAX_FACTORS];
        own.get_mut(..pairs)?.copy_from_slice(divisors);
        (pairs > 0).then_some(FrequencyFactors {
            divisors: own,
            pairs,
        })
    }

    /// Returns the divisor of each pair.
    pub fn as_slice(&self) -> &[f32] {
        &self.divisors[..self.pairs]
    }

    /// Returns whether every divisor is positive and not too large.
    pub fn are_positive(&self) -> bool {
        let mut divisors = self.as_slice().iter();
        divisors.all(|&divisor| divisor > 0.0 && divisor < 1e30)
    }

    /// Returns whether no frequency changes.
    pub fn are_ones(&self) -> bool {
        self.as_slice().iter().all(|&divisor| divisor == 1.0)
    }
}
