//! Decoder of block-quantised weights to integers and scales; docs/formats/weights.md has the formulas.

use mind_ir::tensor::rust_types::F16;
use mind_ir::types::QuantFormat;

/// Weights for each entry of the scales and minima of a block.
const GROUP: usize = 16;

/// The non-uniform levels of `iq4_nl`.
const UNEVEN: [i32; 16] = [
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113,
];

/// Twice the values of a 4-bit float, so that they are integers.
const TINY_FLOATS: [i32; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

/// A decoded block: weight `i` is `scale * scales[i / 16] * integers[i] + minimum * minima[i / 16]`, before rounding.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    /// The scale of the block.
    pub scale: f32,
    /// The scale of the minima, if the format has minima.
    pub minimum: Option<f32>,
    /// One integer scale for each group of 16 weights.
    pub scales: Vec<i32>,
    /// One integer minimum for each group of 16 weights; all 0 in formats without minima.
    pub minima: Vec<i32>,
    /// One integer for each weight.
    pub integers: Vec<i32>,
}

impl Block {
    /// Decodes the bytes of one block.
    ///
    /// # Panics
    ///
    /// If the length is not [`QuantFormat::block_bytes`].
    pub fn of(format: QuantFormat, bytes: &[u8]) -> Block {
        assert_eq!(bytes.len(), format.block_bytes(), "one block");
        let half =
            |at: usize| F16::from_bits(u16::from_le_bytes([bytes[at], bytes[at + 1]])).to_f32();
        let groups = format.elements() / GROUP;
        let ones = |minimum: i32| (0..groups).map(|_| (1, minimum)).collect();
        let integers =
            |integer: &dyn Fn(usize) -> i32| (0..format.elements()).map(integer).collect();
        let sixes = |group: usize| six_bits(&bytes[4..16], group / 2);
        match format {
            QuantFormat::Q4_0 => Block::new(
                half(0),
                None,
                ones(0),
                integers(&|i| nibble(&bytes[2..], i) - 8),
            ),
            QuantFormat::Q4_1 => {
                let integers = integers(&|i| nibble(&bytes[4..], i));
                Block::new(half(0), Some(half(2)), ones(1), integers)
            }
            QuantFormat::Q5_0 => {
                let integers =
                    integers(&|i| nibble(&bytes[6..], i) + 16 * bit(&bytes[2..], i) - 16);
                Block::new(half(0), None, ones(0), integers)
            }
            QuantFormat::Q5_1 => {
                let integers = integers(&|i| nibble(&bytes[8..], i) + 16 * bit(&bytes[4..], i));
                Block::new(half(0), Some(half(2)), ones(1), integers)
            }
            QuantFormat::Q8_0 => {
                let integers = integers(&|i| i32::from(bytes[2 + i] as i8));
                Block::new(half(0), None, ones(0), integers)
            }
            QuantFormat::Iq4Nl => {
                let integers = integers(&|i| UNEVEN[nibble(&bytes[2..], i) as usize]);
                Block::new(half(0), None, ones(0), integers)
            }
            QuantFormat::Mxfp4 => {
                let integers = integers(&|i| TINY_FLOATS[nibble(&bytes[1..], i) as usize]);
                Block::new(half_power(bytes[0]), None, ones(0), integers)
            }
            QuantFormat::Q2K => {
                let of_group = |group: usize| {
                    let byte = i32::from(bytes[group]);
                    (byte & 15, byte >> 4)
                };
                let integers = integers(&|i| two_bits(&bytes[16..], i));
                let minimum = Some(-half(82));
                Block::new(
                    half(80),
                    minimum,
                    (0..groups).map(of_group).collect(),
                    integers,
                )
            }
            QuantFormat::Q3K => {
                let of_group = |group: usize| {
                    let scales = &bytes[96..108];
                    let low = scales[group % 8] >> (4 * (group / 8)) & 15;
                    let high = scales[8 + group % 4] >> (2 * (group / 4)) & 3;
                    (i32::from(low | high << 4) - 32, 0)
                };
                let third = |i: usize| i32::from(bytes[i % 32] >> (i / 32) & 1);
                let integers = integers(&|i| two_bits(&bytes[32..], i) + 4 * third(i) - 4);
                Block::new(
                    half(108),
                    None,
                    (0..groups).map(of_group).collect(),
                    integers,
                )
            }
            QuantFormat::Q4K => {
                let integers = integers(&|i| pair_nibble(&bytes[16..], i));
                let minimum = Some(-half(2));
                Block::new(half(0), minimum, (0..groups).map(sixes).collect(), integers)
            }
            QuantFormat::Q5K => {
                let fifth = |i: usize| i32::from(bytes[16 + i % 32] >> (i / 32) & 1);
                let integers = integers(&|i| pair_nibble(&bytes[48..], i) + 16 * fifth(i));
                let minimum = Some(-half(2));
                Block::new(half(0), minimum, (0..groups).map(sixes).collect(), integers)
            }
            QuantFormat::Q6K => {
                let integer = |i: usize| {
                    let (part, quarter, l) = (i / 128, i % 128 / 32, i % 32);
                    let byte = bytes[64 * part + 32 * (quarter % 2) + l];
                    let low = if quarter < 2 { byte & 15 } else { byte >> 4 };
                    let high = bytes[128 + 32 * part + l] >> (2 * quarter) & 3;
                    i32::from(low | high << 4) - 32
                };
                let of_group = |group: usize| (i32::from(bytes[192 + group] as i8), 0);
                let integers = integers(&integer);
                Block::new(
                    half(208),
                    None,
                    (0..groups).map(of_group).collect(),
                    integers,
                )
            }
            QuantFormat::Tq1_0 => {
                let integers = integers(&|i| digit(bytes, i) - 1);
                Block::new(half(52), None, ones(0), integers)
            }
            QuantFormat::Tq2_0 => {
                let integers = integers(&|i| two_bits(bytes, i) - 1);
                Block::new(half(64), None, ones(0), integers)
            }
        }
    }

    fn new(scale: f32, minimum: Option<f32>, groups: Vec<(i32, i32)>, integers: Vec<i32>) -> Block {
        let (scales, minima) = groups.into_iter().unzip();
        Block {
            scale,
            minimum,
            scales,
            minima,
            integers,
        }
    }
}

/// Returns the 4 bits of weight `i` of 32: the low nibbles of 16 bytes come first, then the high ones.
fn nibble(bytes: &[u8], i: usize) -> i32 {
    let byte = bytes[i % 16];
    i32::from(if i < 16 { byte & 15 } else { byte >> 4 })
}

/// Returns the 4 bits of weight `i` of 256: each 64 weights share 32 bytes, and the first 32 of them use the low
/// nibbles.
fn pair_nibble(bytes: &[u8], i: usize) -> i32 {
    let byte = bytes[i / 64 * 32 + i % 32];
    i32::from(if (i / 32).is_multiple_of(2) {
        byte & 15
    } else {
        byte >> 4
    })
}

fn bit(bytes: &[u8], i: usize) -> i32 {
    i32::from(bytes[i / 8] >> (i % 8) & 1)
}

/// Returns the 2 bits of weight `i` of 256: each 128 weights share 32 bytes, and each run of 32 uses the next two bits
/// up.
fn two_bits(bytes: &[u8], i: usize) -> i32 {
    i32::from(bytes[i / 128 * 32 + i % 32] >> (2 * (i % 128 / 32)) & 3)
}

/// Returns the 6-bit scale and the 6-bit minimum of a group of 32 weights.
fn six_bits(bytes: &[u8], group: usize) -> (i32, i32) {
    let (scale, minimum) = match group {
        0..4 => (bytes[group] & 63, bytes[group + 4] & 63),
        _ => (
            (bytes[group + 4] & 15) | bytes[group - 4] >> 6 << 4,
            bytes[group + 4] >> 4 | bytes[group] >> 6 << 4,
        ),
    };
    (i32::from(scale), i32::from(minimum))
}

/// Returns the base 3 digit of weight `i`.
fn digit(bytes: &[u8], i: usize) -> i32 {
    let (byte, place) = match i {
        0..160 => (bytes[i % 32], i / 32),
        160..240 => (bytes[32 + (i - 160) % 16], (i - 160) / 16),
        _ => (bytes[48 + (i - 240) % 4], (i - 240) / 4),
    };
    let rest = (0..place).fold(byte, |rest, _| rest.wrapping_mul(3));
    (i32::from(rest) * 3) >> 8
}

/// Returns `2^(exponent - 128)`.
fn half_power(exponent: u8) -> f32 {
    let exponent = u32::from(exponent);
    f32::from_bits(match exponent {
        0 | 1 => 0x0020_0000 << exponent,
        _ => (exponent - 1) << 23,
    })
}
