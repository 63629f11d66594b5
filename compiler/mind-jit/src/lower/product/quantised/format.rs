//! The formats, as one table.

use mind_ir::types::QuantFormat;

/// What a block holds, and at which byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// Bits of a number.
    pub bits: u32,
    /// The scale of the block, an `f16`.
    pub scale: usize,
    /// What is added to, or scales what is subtracted from, each number, an `f16`.
    pub minimum: Option<usize>,
    pub groups: Groups,
    /// Words that hold the low four bits, or all eight: the first one's byte, and how many.
    pub low: (usize, usize),
    pub high: High,
}

/// Scales within a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Groups {
    /// The scale of the block is that of all numbers.
    None,
    /// A signed byte for 16 numbers each.
    Signed(usize),
    /// Six bits of a scale and six of a minimum for 32 numbers each, in twelve bytes.
    Sixes(usize),
}

/// Bits above the low four.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum High {
    None,
    /// One word with a bit for each number of the block, in order.
    Bits(usize),
    /// Bytes whose parts belong to numbers as those of the low bits do: the first word's byte, and how many.
    Bytes(usize, usize),
}

/// Consecutive numbers that share a scale: those of byte 0 to 3 of one word after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Run {
    /// The first number, within a period.
    pub term: usize,
    /// The scale within a period.
    pub group: usize,
    /// The first word of low bits, within a period, and where they are in each byte.
    pub low: (usize, u32),
    /// The first word of high bits, within a period, and the shift to the left that brings them above the low
    /// ones in each byte.
    pub high: Option<(usize, i32)>,
    pub words: usize,
}

/// The part of a block that the rest of it repeats, further on in each of its fields.
#[derive(Clone, Debug)]
pub(super) struct Period {
    pub runs: Vec<Run>,
    /// Periods of a block.
    pub count: usize,
    pub terms: usize,
    pub groups: usize,
    pub low_words: usize,
    pub high_words: usize,
}

impl Facts {
    pub(super) const fn of(format: QuantFormat) -> Facts {
        match format {
            QuantFormat::Q4_0 => legacy(4, None, High::None, 2, 4),
            QuantFormat::Q4_1 => legacy(4, Some(2), High::None, 4, 4),
            QuantFormat::Q5_0 => legacy(5, None, High::Bits(2), 6, 4),
            QuantFormat::Q5_1 => legacy(5, Some(2), High::Bits(4), 8, 4),
            QuantFormat::Q8_0 => legacy(8, None, High::None, 2, 8),
            QuantFormat::Q4K => Facts {
                bits: 4,
                scale: 0,
                minimum: Some(2),
                groups: Groups::Sixes(4),
                low: (16, 32),
                high: High::None,
            },
            QuantFormat::Q5K => Facts {
                bits: 5,
                scale: 0,
                minimum: Some(2),
                groups: Groups::Sixes(4),
                low: (48, 32),
                high: High::Bytes(16, 8),
            },
            QuantFormat::Q6K => Facts {
                bits: 6,
                scale: 208,
                minimum: None,
                groups: Groups::Signed(192),
                low: (0, 32),
                high: High::Bytes(128, 16),
            },
        }
    }
}

impl Period {
    /// How the numbers of a block are arranged in its words.
    pub(super) fn of(format: QuantFormat) -> Period {
        let facts = Facts::of(format);
        let (low_words, high_words) = (facts.low.1, facts.high.words());
        let whole = |runs: Vec<Run>| Period {
            runs,
            count: 1,
            terms: format.elements(),
            groups: facts.groups.counts().0,
            low_words,
            high_words,
        };
        match format {
            QuantFormat::Q8_0 => whole(vec![Run {
                term: 0,
                group: 0,
                low: (0, 0),
                high: None,
                words: 8,
            }]),
            QuantFormat::Q4_0 | QuantFormat::Q4_1 => whole(
                (0..2)
                    .map(|half| Run {
                        term: 16 * half,
                        group: 0,
                        low: (0, 4 * half as u32),
                        high: None,
                        words: 4,
                    })
                    .collect(),
            ),
            // Packing puts the bits of four numbers into four bytes: bit `word` of all eight words.
            QuantFormat::Q5_0 | QuantFormat::Q5_1 => whole(
                (0..8)
                    .map(|word| Run {
                        term: 4 * word,
                        group: 0,
                        low: (word % 4, 4 * (word / 4) as u32),
                        high: Some((0, 4 - word as i32)),
                        words: 1,
                    })
                    .collect(),
            ),
            QuantFormat::Q4K => Period {
                runs: (0..2)
                    .map(|half| Run {
                        term: 32 * half,
                        group: half,
                        low: (0, 4 * half as u32),
                        high: None,
                        words: 8,
                    })
                    .collect(),
                count: 4,
                terms: 64,
                groups: 2,
                low_words: 8,
                high_words: 0,
            },
            QuantFormat::Q5K => whole(
                (0..8)
                    .map(|group| Run {
                        term: 32 * group,
                        group,
                        low: (8 * (group / 2), 4 * (group % 2) as u32),
                        high: Some((0, 4 - group as i32)),
                        words: 8,
                    })
                    .collect(),
            ),
            QuantFormat::Q6K => Period {
                runs: (0..8)
                    .map(|group| {
                        let (quarter, half) = (group / 2, group % 2);
                        Run {
                            term: 16 * group,
                            group,
                            low: (8 * (quarter % 2) + 4 * half, 4 * (quarter / 2) as u32),
                            high: Some((4 * half, 4 - 2 * quarter as i32)),
                            words: 4,
                        }
                    })
                    .collect(),
                count: 2,
                terms: 128,
                groups: 8,
                low_words: 16,
                high_words: 8,
            },
        }
    }
}

impl High {
    /// Words that panels keep.
    pub(super) const fn words(self) -> usize {
        match self {
            High::None => 0,
            High::Bits(_) => 1,
            High::Bytes(_, words) => words,
        }
    }
}

impl Groups {
    /// Scales, and minima, of a block.
    pub(super) const fn counts(self) -> (usize, usize) {
        match self {
            Groups::None => (0, 0),
            Groups::Signed(_) => (16, 0),
            Groups::Sixes(_) => (8, 8),
        }
    }
}

impl Facts {
    /// Whether numbers are signed: then panels hold them in two's complement.
    pub(super) const fn is_signed(&self) -> bool {
        self.minimum.is_none()
    }

    /// What turns the low bits of a word into those of two's complement, by exclusive or.
    pub(super) const fn low_flip(&self) -> u64 {
        match (self.is_signed(), self.bits) {
            (true, 4) => 0x8888_8888,
            _ => 0,
        }
    }

    /// What turns the high bits of a word into those of two's complement, by exclusive or.
    pub(super) const fn high_flip(&self) -> u64 {
        match (self.is_signed(), self.bits) {
            (true, 5) => 0xffff_ffff,
            (true, 6) => 0xaaaa_aaaa,
            _ => 0,
        }
    }
}

/// A format with blocks of 32 numbers that share a scale.
const fn legacy(bits: u32, minimum: Option<usize>, high: High, low: usize, words: usize) -> Facts {
    Facts {
        bits,
        scale: 0,
        minimum,
        groups: Groups::None,
        low: (low, words),
        high,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_hold_every_number_of_a_block_once_in_order() {
        for &format in QuantFormat::ALL {
            let (facts, period) = (Facts::of(format), Period::of(format));
            let mut next = 0;
            for run in &period.runs {
                assert_eq!(run.term, next, "{format:?}");
                next += 4 * run.words;
                assert!(run.low.0 + run.words <= period.low_words, "{format:?}");
            }
            assert_eq!(next, period.terms, "{format:?}");
            assert_eq!(period.count * period.terms, format.elements(), "{format:?}");
            let words = (period.low_words, period.high_words);
            let all = (period.count * words.0, period.count * words.1);
            assert_eq!(all, (facts.low.1, facts.high.words()), "{format:?}");
            let groups = (period.count * period.groups, facts.groups.counts().0);
            assert_eq!(groups.0, groups.1, "{format:?}");
        }
    }
}
