//! A seeded generator of random numbers, whose streams are the same on every machine and in every version.

/// The increment of the state: 2^64 divided by the golden ratio.
const INCREMENT: u64 = 0x9e37_79b9_7f4a_7c15;

/// The SplitMix64 generator.
///
/// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// Returns the generator at the start of the stream of `seed`.
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// Returns the stream of `words` under `seed`. Each list of words has a stream of its own, so that the numbers
    /// drawn for one purpose do not depend on those drawn for another.
    pub fn of_words(seed: u64, words: &[&str]) -> Rng {
        let bytes = words.iter().flat_map(|word| word.bytes().chain([0]));
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut rng = Rng(hash ^ seed.wrapping_mul(INCREMENT));
        rng.bits();
        rng
    }

    /// Returns number `index` of the stream of `seed`, counted from 0.
    pub fn nth(seed: u64, index: u64) -> u64 {
        mix(seed.wrapping_add(index.wrapping_add(1).wrapping_mul(INCREMENT)))
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(INCREMENT);
        mix(self.0)
    }

    /// Returns a number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound.max(1) as u64) as usize
    }

    /// Returns a random item.
    ///
    /// # Panics
    ///
    /// If `items` is empty.
    pub fn pick<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len())]
    }

    /// Returns a number from `least` to `most`, inclusive; `least` if `most` is smaller. `most - least + 1` must fit in
    /// an `i64`.
    pub fn within(&mut self, least: i64, most: i64) -> i64 {
        least + self.below((most - least + 1).max(1) as usize) as i64
    }

    /// Returns true with a probability of `percent` / 100.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Shuffles `items`.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }

    /// Returns a number in [0, 1), a multiple of 2^-53.
    pub fn fraction(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The output function of SplitMix64, a bijection that scrambles the bits.
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Maps uniform random `bits` to a number below `bound`; 0 if `bound` is 0.
pub fn scale(bits: u64, bound: u64) -> u64 {
    ((u128::from(bits) * u128::from(bound)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published outputs for the seed 1234567.
    #[test]
    fn streams_are_those_of_the_reference() {
        let mut rng = Rng::new(1_234_567);
        for (index, expected) in [6457827717110365317, 3203168211198807973]
            .iter()
            .enumerate()
        {
            assert_eq!(rng.bits(), *expected);
            assert_eq!(Rng::nth(1_234_567, index as u64), *expected);
        }
    }

    #[test]
    fn bounds_hold() {
        let mut rng = Rng::new(1);
        assert_eq!((rng.below(0), scale(u64::MAX, 0)), (0, 0));
        assert_eq!((scale(u64::MAX, 10), scale(0, 10)), (9, 0));
        assert!((0..1000).all(|_| rng.below(3) < 3 && rng.fraction() < 1.0));
    }
}
