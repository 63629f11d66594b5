//! The block-quantised formats, as one table.

use mind_ir::types::{DType, QuantFormat};

/// The contents of a block and their offsets in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// Bits of a number in a panel.
    pub bits: u32,
    /// The integer that those bits encode.
    pub coding: Coding,
    /// The scale of the block.
    pub scale: Scale,
    /// The `f16` minimum that is added to each number, or the scale of the minima that are subtracted.
    pub minimum: Option<usize>,
    pub groups: Groups,
    pub low: Low,
    pub high: High,
}

/// The integer encoding of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Coding {
    /// Unsigned.
    Unsigned,
    /// Two's complement, in panels.
    Signed,
    /// Unsigned, with this offset (zero point).
    Above(u32),
}

/// The scale of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scale {
    /// An `f16`, which panels keep.
    Half(usize),
    /// A byte `e` that encodes `2^(e - 128)`, which panels keep as `f32`.
    Exponent(usize),
}

/// Scales of groups within a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Groups {
    /// None: only the block has a scale.
    None,
    /// A signed byte per 16 numbers.
    Signed(usize),
    /// Six bits per 16 numbers, minus 32, in twelve bytes; panels keep signed bytes.
    SignedSixes(usize),
    /// A 6-bit scale and a 6-bit minimum per 32 numbers, in twelve bytes; panels keep bytes.
    Sixes(usize),
    /// A byte with a scale in its low and a minimum in its high four bits per 16 numbers.
    Nibbles(usize),
}

/// The low bits of numbers, or all bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Low {
    /// Bit-field layout: bits per number, offset in bytes, and number of words.
    Bits(u32, usize, usize),
    /// 4-bit indices of 32 numbers, at this offset, into a table of levels; panels keep the levels.
    Levels(usize, &'static [i8; 16]),
    /// Base-3 digits of 256 numbers, from the first byte, as in `tq1_0`; panels keep two bits per digit.
    Digits,
}

/// Bits above the low ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum High {
    None,
    /// One word with a bit per number of the block, in order.
    Bits(usize),
    /// Bytes arranged like those of the low bits: offset in bytes, and number of words.
    Bytes(usize, usize),
}

/// Consecutive numbers that share a scale, in bytes 0 to 3 of consecutive words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Run {
    /// The first number, relative to the period.
    pub term: usize,
    /// The group, relative to the period.
    pub group: usize,
    /// The first word of low bits, relative to the period, and their bit position in each byte.
    pub low: (usize, u32),
    /// The first word of high bits, relative to the period, and the left shift that moves them above the low ones in
    /// each byte.
    pub high: Option<(usize, i32)>,
    pub words: usize,
}

/// The repeating unit of a block's layout.
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

/// The 4-bit floats times two, without negative zero.
const TINY_FLOATS: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

impl Period {
    /// Returns the arrangement of a block's numbers in words.
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
            // Packing moves the bits of four numbers to four bytes: bit `word` of all eight words.
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
    /// Returns the number of words in panels.
    pub(super) const fn words(self) -> usize {
        match self {
            Low::Bits(_, _, words) => words,
            Low::Levels(..) => 8,
            Low::Digits => 16,
        }
    }

    /// Returns the bits per number in each word in panels.
    pub(super) const fn bits(self) -> u32 {
        match self {
            Low::Bits(bits, ..) => bits,
            Low::Levels(..) => 8,
            Low::Digits => 2,
        }
    }
}

impl Scale {
    /// Returns the size in panels, in bytes.
    pub(super) const fn size(self) -> usize {
        match self {
            Scale::Half(_) => DType::F16.size(),
            Scale::Exponent(_) => DType::F32.size(),
        }
    }
}

impl High {
    /// Returns the number of words in panels.
    pub(super) const fn words(self) -> usize {
        match self {
            High::None => 0,
            High::Bits(_) => 1,
            High::Bytes(_, words) => words,
        }
    }
}

impl Groups {
    /// Returns the numbers of scale bytes and minimum bytes of a block in panels.
    pub(super) const fn counts(self) -> (usize, usize) {
        match self {
            Groups::None => (0, 0),
            Groups::Signed(_) | Groups::SignedSixes(_) | Groups::Nibbles(_) => (16, 0),
            Groups::Sixes(_) => (8, 8),
        }
    }
}

impl Facts {
    /// Returns the mask that converts the low bits of a word to two's complement by exclusive or.
    pub(super) const fn low_flip(&self) -> u64 {
        match (self.coding, self.bits) {
            (Coding::Signed, 4) => 0x8888_8888,
            _ => 0,
        }
    }

    /// Returns the mask that converts the high bits of a word to two's complement by exclusive or.
    pub(super) const fn high_flip(&self) -> u64 {
        match (self.coding, self.bits) {
            (Coding::Signed, 3 | 5) => 0xffff_ffff,
            (Coding::Signed, 6) => 0xaaaa_aaaa,
            _ => 0,
        }
    }
}

/// A format with blocks of 32 numbers and one scale.
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
