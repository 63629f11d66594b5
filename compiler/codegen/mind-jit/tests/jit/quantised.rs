//! Products with a block-quantised second operand, against products of the dequantised operand.

use mind_ir::tensor::Buffer;
use mind_ir::types::{DType, QuantFormat};
use mind_jit::lower::product::{
    Lhs, Parts, Product, QuantPacking, QuantPanels, Rhs, Schedule, pack_quantised,
};
use mind_vir::target::TargetInfo;

use crate::harness::{self, Input};
use crate::products::{kernel, packing_kernel};
use crate::samples::{Random, mild};

/// Returns the numbers of a block, by the formulas of docs/formats/weights.md.
pub fn decoded(format: QuantFormat, block: &[u8]) -> Vec<f32> {
    let half = |at: usize| half::f16::from_le_bytes([block[at], block[at + 1]]).to_f32();
    let nibble = |at: usize, j: usize| match j % 32 {
        low @ 0..16 => block[at + low] & 15,
        high => block[at + high - 16] >> 4,
    };
    let fifth = |at: usize, j: usize| (block[at + j / 8] >> (j % 8) & 1) << 4;
    let legacy = |number: &dyn Fn(usize) -> f32| (0..32).map(number).collect::<Vec<f32>>();
    let sixes = |j: usize| {
        let s = &block[4..16];
        let (scale, minimum) = match j {
            0..4 => (s[j] & 63, s[j + 4] & 63),
            _ => (
                (s[j + 4] & 15) | s[j - 4] >> 6 << 4,
                s[j + 4] >> 4 | s[j] >> 6 << 4,
            ),
        };
        (half(0) * f32::from(scale), half(2) * f32::from(minimum))
    };
    let grouped = |quants: usize, high: Option<usize>| {
        let number = |e: usize| {
            let (j, i) = (e / 32, e % 32);
            let byte = block[quants + 32 * (j / 2) + i];
            let low = if j % 2 == 0 { byte & 15 } else { byte >> 4 };
            let high = high.map_or(0, |at| (block[at + i] >> j & 1) << 4);
            let (step, offset) = sixes(j);
            step * f32::from(low | high) - offset
        };
        (0..256).map(number).collect::<Vec<f32>>()
    };
    let two_bits =
        |at: usize, e: usize| block[at + 32 * (e / 128) + e % 32] >> (2 * (e % 128 / 32)) & 3;
    let whole = |number: &dyn Fn(usize) -> f32| (0..256).map(number).collect::<Vec<f32>>();
    match format {
        QuantFormat::Q2K => whole(&|e| {
            let (step, offset) = (block[e / 16] & 15, block[e / 16] >> 4);
            let number = half(80) * f32::from(step) * f32::from(two_bits(16, e));
            number - half(82) * f32::from(offset)
        }),
        QuantFormat::Q3K => whole(&|e| {
            let (j, s) = (e / 16, &block[96..108]);
            let low = if j < 8 { s[j] & 15 } else { s[j - 8] >> 4 };
            let scale = i32::from(low | (s[8 + j % 4] >> (2 * (j / 4)) & 3) << 4) - 32;
            let third = if block[e % 32] & 1 << (e / 32) == 0 {
                4
            } else {
                0
            };
            half(108) * scale as f32 * (i32::from(two_bits(32, e)) - third) as f32
        }),
        QuantFormat::Iq4Nl => {
            let levels = [
                -127.0, -104.0, -83.0, -65.0, -49.0, -35.0, -22.0, -10.0, 1.0, 13.0, 25.0, 38.0,
                53.0, 69.0, 89.0, 113.0,
            ];
            legacy(&|j| half(0) * levels[usize::from(nibble(2, j))])
        }
        QuantFormat::Mxfp4 => legacy(&|j| {
            let code = nibble(1, j);
            let (exponent, mantissa) = (i32::from(code >> 1 & 3), f32::from(code & 1));
            let size = match exponent {
                0 => mantissa / 2.0,
                _ => (1.0 + mantissa / 2.0) * (1 << (exponent - 1)) as f32,
            };
            let number = if code < 8 { size } else { 0.0 - size };
            // In two steps, because each factor is then a normal number.
            let power = i32::from(block[0]) - 127;
            (2.0 * number) * (2f64.powi(power - 1) as f32)
        }),
        QuantFormat::Tq1_0 => whole(&|e| {
            let (byte, digit) = match e {
                0..160 => (block[e % 32], e / 32),
                160..240 => (block[32 + (e - 160) % 16], (e - 160) / 16),
                _ => (block[48 + (e - 240) % 4], (e - 240) / 4),
            };
            let rest = (0..digit).fold(byte, |rest, _| rest.wrapping_mul(3));
            (((u16::from(rest) * 3) >> 8) as f32 - 1.0) * half(52)
        }),
        QuantFormat::Tq2_0 => whole(&|e| (f32::from(two_bits(0, e)) - 1.0) * half(64)),
        QuantFormat::Q4_0 => legacy(&|j| (f32::from(nibble(2, j)) - 8.0) * half(0)),
        QuantFormat::Q4_1 => legacy(&|j| f32::from(nibble(4, j)) * half(0) + half(2)),
        QuantFormat::Q5_0 => legacy(&|j| (f32::from(nibble(6, j) | fifth(2, j)) - 16.0) * half(0)),
        QuantFormat::Q5_1 => legacy(&|j| f32::from(nibble(8, j) | fifth(4, j)) * half(0) + half(2)),
        QuantFormat::Q8_0 => legacy(&|j| f32::from(block[2 + j] as i8) * half(0)),
        QuantFormat::Q4K => grouped(16, None),
        QuantFormat::Q5K => grouped(48, Some(16)),
        QuantFormat::Q6K => {
            let number = |e: usize| {
                let (part, quarter, l) = (e / 128, e % 128 / 32, e % 32);
                let byte = block[64 * part + l + 32 * (quarter % 2)];
                let low = if quarter < 2 { byte & 15 } else { byte >> 4 };
                let high = block[128 + 32 * part + l] >> (2 * quarter) & 3;
                let scale = f32::from(block[192 + e / 16] as i8);
                half(208) * scale * (f32::from(low | high << 4) - 32.0)
            };
            (0..256).map(number).collect()
        }
    }
}

/// Returns the offsets of the `f16` scales of a block.
fn scales(format: QuantFormat) -> &'static [usize] {
    match format {
        QuantFormat::Q4_0 | QuantFormat::Q5_0 | QuantFormat::Q8_0 | QuantFormat::Iq4Nl => &[0],
        QuantFormat::Q2K => &[80, 82],
        QuantFormat::Q3K => &[108],
        // Any byte is a valid exponent.
        QuantFormat::Mxfp4 => &[],
        QuantFormat::Tq1_0 => &[52],
        QuantFormat::Tq2_0 => &[64],
        QuantFormat::Q4_1 | QuantFormat::Q5_1 | QuantFormat::Q4K | QuantFormat::Q5K => &[0, 2],
        QuantFormat::Q6K => &[208],
    }
}

/// Returns rows of blocks with random bits, whose scales are mostly finite.
pub fn rows(format: QuantFormat, n: usize, k: usize, random: &mut Random) -> Vec<u8> {
    let block_bytes = format.row_bytes(format.elements()).expect("one block");
    let mut bytes = Vec::new();
    for _ in 0..n * k / format.elements() {
        let start = bytes.len();
        bytes.extend((0..block_bytes).map(|_| random.bits() as u8));
        for &at in scales(format) {
            let scale = match random.below(40) {
                0 => half::f16::INFINITY,
                1 => half::f16::from_bits(0x8001),
                _ => half::f16::from_f32(random.bits() as i32 as f32 / 4e9),
            };
            bytes[start + at..start + at + 2].copy_from_slice(&scale.to_le_bytes());
        }
    }
    bytes
}

/// An `f32` product with `k` terms, whose second operand has `n` columns in a quantised format.
#[derive(Clone, Copy, Debug)]
struct Case {
    format: QuantFormat,
    extents: (usize, usize, usize),
    /// Vectors per panel row.
    vectors: usize,
    /// Terms per cache block, if the schedule is fixed.
    kc: Option<usize>,
}

fn reference(case: &Case, lhs: &Buffer, stored: &[u8]) -> Buffer {
    let (m, n, k) = case.extents;
    let blocks = stored.chunks(case.format.row_bytes(case.format.elements()).unwrap());
    let numbers: Vec<f32> = blocks
        .flat_map(|block| decoded(case.format, block))
        .collect();
    let lhs: &[f32] = match lhs {
        Buffer::F32(elements) => elements,
        _ => unreachable!("f32"),
    };
    let sum = |row: usize, column: usize| {
        let pairs = lhs[row * k..][..k].iter().zip(&numbers[column * k..][..k]);
        pairs.fold(0.0, |sum, (x, y)| x.mul_add(*y, sum))
    };
    let all = (0..m * n).map(|at| sum(at / n, at % n));
    Buffer::F32(all.collect::<Vec<f32>>().into())
}

fn check(case: &Case, target: &TargetInfo, random: &mut Random) {
    let (m, n, k) = case.extents;
    let lanes = target.lanes(32);
    let panels = QuantPanels {
        width: case.vectors * lanes as usize,
        format: case.format,
    };
    let rhs = Rhs::Quantised(panels);
    let mut schedule = Schedule::choose(target, DType::F32, (m, n, k), rhs, false);
    if let Some(kc) = case.kc {
        schedule.kc = kc;
    }
    let p = Product {
        dtype: DType::F32,
        m,
        n,
        k,
        lhs: Lhs {
            row_stride: k,
            k_stride: 1,
        },
        rhs,
        parts: Parts::Whole,
        schedule,
    };
    let packing = QuantPacking { n, k, panels };
    let pack = packing_kernel(lanes, |b, from, to, panels| {
        pack_quantised(b, &packing, from, to, panels);
    });
    let codes = [kernel(&p, lanes), pack];
    let [Some(compiled), Some(packer)] = codes
        .each_ref()
        .map(|code| harness::compiled(code, target.isa))
    else {
        return;
    };
    let stored = rows(case.format, n, k, random);
    let inputs = [
        Input::Elements(DType::U8, stored.clone()),
        Input::room(DType::U8, panels.bytes(n, k)),
        Input::Index(0),
        Input::Index(packing.count() as i64),
    ];
    let (_, buffers) = harness::check(&codes[1], &packer, &inputs);
    let packed = Input::elements(&buffers[1]);
    let lhs = mild(DType::F32, m * k, random);
    let (_, width) = p.grain(lanes);
    let middle = (n / width).div_ceil(2) * width;
    let parts = [[0, m, 0, middle], [0, m, middle, n]];
    let operands = [Input::elements(&lhs), packed];
    let found = harness::in_parts((&codes[0], &compiled), operands, (DType::F32, m * n), parts);
    let wanted = reference(case, &lhs, &stored);
    assert!(
        wanted.same_bits(&found),
        "{case:?} on {}: expected {wanted:?}, found {found:?}",
        target.isa
    );
}

#[test]
fn every_format_gives_the_bits_of_decoding_first() {
    let mut random = Random::new(31);
    for target in harness::targets() {
        for &format in QuantFormat::ALL {
            let blocks = 512 / format.elements();
            for (m, n, vectors) in [(1, 37, 2), (2, 16, 1), (4, 21, 2), (7, 33, 2)] {
                let case = Case {
                    format,
                    extents: (m, n, format.elements() * blocks.min(3)),
                    vectors,
                    kc: None,
                };
                check(&case, &target, &mut random);
            }
        }
    }
}

#[test]
fn chains_go_on_behind_blocks_of_terms() {
    let mut random = Random::new(32);
    for target in harness::targets() {
        for format in [QuantFormat::Q5_0, QuantFormat::Q4K] {
            let elements = format.elements();
            let case = Case {
                format,
                extents: (19, 40, 5 * elements),
                vectors: 2,
                kc: Some(2 * elements),
            };
            check(&case, &target, &mut random);
        }
    }
}

#[test]
fn blocks_of_terms_are_whole_blocks_of_numbers() {
    let target = TargetInfo::of(mind_vir::target::Isa::Avx2);
    let rhs = Rhs::Quantised(QuantPanels {
        width: 16,
        format: QuantFormat::Q4K,
    });
    let chosen = Schedule::choose(&target, DType::F32, (64, 64, 4864), rhs, false);
    assert_eq!(chosen.check(8, &rhs), Ok(()));
    let cut = Schedule { kc: 100, ..chosen };
    let error = cut.check(8, &rhs).expect_err("part of a block");
    let expected = "`kc` of a product is 100; expected whole blocks of the second operand";
    assert_eq!(error.to_string(), expected);
}
