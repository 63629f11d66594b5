//! The formats, as one table.

use mind_ir::types::{DType, QuantFormat};

/// What a block holds, and at which byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// Bits of a number in a panel.
    pub bits: u32,
    /// How those bits are the integer that a number is a multiple of.
    pub coding: Coding,
    /// The scale of the block.
    pub scale: Scale,
    /// What is added to, or scales what is subtracted from, each number, an `f16`.
    pub minimum: Option<usize>,
    pub groups: Groups,
    pub low: Low,
    pub high: High,
}

/// What integer the bits of a number are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Coding {
    /// They are an unsigned one.
    Unsigned,
    /// They are one in two's complement, in panels.
    Signed,
    /// They are an unsigned one, and this much too large.
    Above(u32),
}

/// What a block has in front of its numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scale {
    /// An `f16`, which panels keep.
    Half(usize),
    /// A byte `e` for `2^(e - 128)`, which panels keep as `f32`.
    Exponent(usize),
}

/// Scales within a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Groups {
    /// The scale of the block is that of all numbers.
    None,
    /// A signed byte for 16 numbers each.
    Signed(usize),
    /// Six bits for 16 numbers each, less 32, in twelve bytes, which panels keep as signed bytes.
    SignedSixes(usize),
    /// Six bits of a scale and six of a minimum for 32 numbers each, in twelve bytes, which panels keep as bytes.
    Sixes(usize),
    /// A byte with a scale in its low and a minimum in its high four bits for 16 numbers each.
    Nibbles(usize),
}

/// The low bits of the numbers, or all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Low {
    /// So many bits of each number, in words: the first one's byte, and how many.
    Bits(u32, usize, usize),
    /// Four bits of each of 32 numbers, from this byte on, which say which of some levels it is; panels keep the levels.
    Levels(usize, &'static [i8; 16]),
    /// Digits in base 3 of 256 numbers, from the first byte on, as `tq1_0` has them; panels keep each in two bits.
    Digits,
}

/// Bits above the low ones.
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
            QuantFormat::Q4_0 => legacy(4, None, High::None, Low::Bits(4, 2, 4)),
            QuantFormat::Q4_1 => legacy(4, Some(2), High::None, Low::Bits(4, 4, 4)),
            QuantFormat::Q5_0 => legacy(5, None, High::Bits(2), Low::Bits(4, 6, 4)),
            QuantFormat::Q5_1 => legacy(5, Some(2), High::Bits(4), Low::Bits(4, 8, 4)),
            QuantFormat::Q8_0 => legacy(8, None, High::None, Low::Bits(8, 2, 8)),
            QuantFormat::Q2K => Facts {
                bits: 2,
                coding: Coding::Unsigned,
                scale: Scale::Half(80),
                minimum: Some(82),
                groups: Groups::Nibbles(0),
                low: Low::Bits(2, 16, 16),
                high: High::None,
            },
            QuantFormat::Q3K => Facts {
                bits: 3,
                coding: Coding::Signed,
                scale: Scale::Half(108),
                minimum: None,
                groups: Groups::SignedSixes(96),
                low: Low::Bits(2, 32, 16),
                high: High::Bytes(0, 8),
            },
            QuantFormat::Q4K => Facts {
                bits: 4,
                coding: Coding::Unsigned,
                scale: Scale::Half(0),
                minimum: Some(2),
                groups: Groups::Sixes(4),
                low: Low::Bits(4, 16, 32),
                high: High::None,
            },
            QuantFormat::Q5K => Facts {
                bits: 5,
                coding: Coding::Unsigned,
                scale: Scale::Half(0),
                minimum: Some(2),
                groups: Groups::Sixes(4),
                low: Low::Bits(4, 48, 32),
                high: High::Bytes(16, 8),
            },
            QuantFormat::Q6K => Facts {
                bits: 6,
                coding: Coding::Signed,
                scale: Scale::Half(208),
                minimum: None,
                groups: Groups::Signed(192),
                low: Low::Bits(4, 0, 32),
                high: High::Bytes(128, 16),
            },
            QuantFormat::Iq4Nl => legacy(8, None, High::None, Low::Levels(2, &UNEVEN)),
            QuantFormat::Mxfp4 => Facts {
                scale: Scale::Exponent(0),
                ..legacy(8, None, High::None, Low::Levels(1, &TINY_FLOATS))
            },
            QuantFormat::Tq1_0 => ternary(52, Low::Digits),
            QuantFormat::Tq2_0 => ternary(64, Low::Bits(2, 0, 16)),
        }
    }
}

/// The levels of `iq4_nl`.
const UNEVEN: [i8; 16] = [
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113,
];

/// Twice the numbers of a float of four bits, without a negative zero.
const TINY_FLOATS: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

impl Period {
    /// How the numbers of a block are arranged in its words.
    pub(super) fn of(format: QuantFormat) -> Period {
        let facts = Facts::of(format);
        let (low_words, high_words) = (facts.low.words(), facts.high.words());
        let whole = |runs: Vec<Run>| Period {
            runs,
            count: 1,
            terms: format.elements(),
            groups: facts.groups.counts().0,
            low_words,
            high_words,
        };
        match format {
            QuantFormat::Q8_0 | QuantFormat::Iq4Nl | QuantFormat::Mxfp4 => whole(vec![Run {
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
            QuantFormat::Q2K => Period {
                runs: (0..8)
                    .map(|group| Run {
                        term: 16 * group,
                        group,
                        low: (4 * (group % 2), 2 * (group / 2) as u32),
                        high: None,
                        words: 4,
                    })
                    .collect(),
                count: 2,
                terms: 128,
                groups: 8,
                low_words: 8,
                high_words: 0,
            },
            QuantFormat::Q3K => whole(
                (0..16)
                    .map(|group| {
                        let (eighth, half) = (group / 2, group % 2);
                        Run {
                            term: 16 * group,
                            group,
                            low: (8 * (eighth / 4) + 4 * half, 2 * (eighth % 4) as u32),
                            high: Some((4 * half, 2 - eighth as i32)),
                            words: 4,
                        }
                    })
                    .collect(),
            ),
            QuantFormat::Tq1_0 | QuantFormat::Tq2_0 => Period {
                runs: (0..4)
                    .map(|quarter| Run {
                        term: 32 * quarter,
                        group: 0,
                        low: (0, 2 * quarter as u32),
                        high: None,
                        words: 8,
                    })
                    .collect(),
                count: 2,
                terms: 128,
                groups: 0,
                low_words: 8,
                high_words: 0,
            },
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

impl Low {
    /// Words that panels keep.
    pub(super) const fn words(self) -> usize {
        match self {
            Low::Bits(_, _, words) => words,
            Low::Levels(..) => 8,
            Low::Digits => 16,
        }
    }

    /// Bits of a number in each word that panels keep.
    pub(super) const fn bits(self) -> u32 {
        match self {
            Low::Bits(bits, ..) => bits,
            Low::Levels(..) => 8,
            Low::Digits => 2,
        }
    }
}

impl Scale {
    /// Bytes that panels keep.
    pub(super) const fn size(self) -> usize {
        match self {
            Scale::Half(_) => DType::F16.size(),
            Scale::Exponent(_) => DType::F32.size(),
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
    /// Bytes of scales, and of minima, of a block that panels keep.
    pub(super) const fn counts(self) -> (usize, usize) {
        match self {
            Groups::None => (0, 0),
            Groups::Signed(_) | Groups::SignedSixes(_) | Groups::Nibbles(_) => (16, 0),
            Groups::Sixes(_) => (8, 8),
        }
    }
}

impl Facts {
    /// What turns the low bits of a word into those of two's complement, by exclusive or.
    pub(super) const fn low_flip(&self) -> u64 {
        match (self.coding, self.bits) {
            (Coding::Signed, 4) => 0x8888_8888,
            _ => 0,
        }
    }

    /// What turns the high bits of a word into those of two's complement, by exclusive or.
    pub(super) const fn high_flip(&self) -> u64 {
        match (self.coding, self.bits) {
            (Coding::Signed, 3 | 5) => 0xffff_ffff,
            (Coding::Signed, 6) => 0xaaaa_aaaa,
            _ => 0,
        }
    }
}

/// A format with blocks of 32 numbers that share a scale.
const fn legacy(bits: u32, minimum: Option<usize>, high: High, low: Low) -> Facts {
    Facts {
        bits,
        coding: match minimum {
            Some(_) => Coding::Unsigned,
            None => Coding::Signed,
        },
        scale: Scale::Half(0),
        minimum,
        groups: Groups::None,
        low,
        high,
    }
}

/// A format with blocks of 256 numbers that are -1, 0 or 1 times a scale.
const fn ternary(scale: usize, low: Low) -> Facts {
    Facts {
        bits: 2,
        coding: Coding::Above(1),
        scale: Scale::Half(scale),
        minimum: None,
        groups: Groups::None,
        low,
        high: High::None,
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
            assert_eq!(all, (facts.low.words(), facts.high.words()), "{format:?}");
            let groups = (period.count * period.groups, facts.groups.counts().0);
            assert_eq!(groups.0, groups.1, "{format:?}");
        }
    }
}
