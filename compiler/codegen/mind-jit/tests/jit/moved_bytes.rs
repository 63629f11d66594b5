//! Words with a single byte of their input at another position: a byte permutation replaces a shift and a mask.

use mind_ir::tensor::Buffer;
use mind_ir::types::DType;
use mind_jit::lower;
use mind_vir::disassemble;
use mind_vir::ir::{BinaryOp, Builder, Function, Lane, ShiftOp, Signature, Value};
use mind_vir::kernel::assemble;
use mind_vir::target::{Isa, TargetInfo};

use crate::harness::{self, Input};

/// A shift by `up` bits, to the left if positive, followed by a mask.
#[derive(Clone, Copy, Debug)]
struct Masked {
    up: i32,
    mask: u32,
}

impl Masked {
    fn shift(self, b: &mut Builder, word: Value) -> Value {
        let op = match self.up {
            0.. => ShiftOp::Shl,
            _ => ShiftOp::Shr,
        };
        b.shift(op, word, self.up.unsigned_abs())
    }

    fn of(self, word: u32) -> u32 {
        self.mask & self.shifted(word)
    }

    fn shifted(self, word: u32) -> u32 {
        match self.up {
            0.. => word << self.up,
            _ => word >> -self.up,
        }
    }
}

/// Returns the combinations that move one byte.
fn moves() -> Vec<Masked> {
    let pairs = (0..4).flat_map(|from| (0..4).map(move |to| (from, to)));
    let moves = pairs.filter(|(from, to)| from != to);
    moves
        .map(|(from, to)| Masked {
            up: 8 * (to - from),
            mask: 0xff << (8 * to),
        })
        .collect()
}

/// Returns combinations that do not: parts of bytes, several bytes, or none.
fn others() -> Vec<Masked> {
    let mut others = Vec::new();
    for up in [-24, -16, -8, -4, 4, 8, 16, 24] {
        for mask in [0xf0, 0xffff, 0x0ff0, 0xff00_00ff, 0x7fff_ffff] {
            others.push(Masked { up, mask });
        }
    }
    // The masked bits are the zeros that were shifted in.
    others.push(Masked { up: 8, mask: 0xff });
    let top = 0xff00_0000;
    others.push(Masked { up: -8, mask: top });
    others
}

/// Applies `all` to each of `count` words, a row of `stride` words for each.
fn function(all: &[Masked], stride: usize, keeps_shifts: bool, target: &TargetInfo) -> Function {
    let mut signature = Signature::new("bytes", target.lanes(32));
    let (input, output, extent) = (signature.ptr(), signature.ptr(), signature.index());
    let mut b = signature.body();
    lower::for_each(&mut b, extent, 1, |b, at| {
        let word = b.load(Lane::I32, at.addr(input, Lane::I32), at.count);
        for (place, masked) in all.iter().enumerate() {
            let shifted = masked.shift(b, word);
            let mask = b.constant(Lane::I32, u64::from(masked.mask));
            let mut result = b.binary(BinaryOp::And, shifted, mask);
            if keeps_shifts {
                result = b.binary(BinaryOp::Xor, result, shifted);
            }
            let offset = (place * stride * 4) as i32;
            b.store(result, at.addr(output, Lane::I32).plus(offset), at.count);
        }
    });
    b.finish()
}

#[test]
fn shifts_and_masks_have_the_same_results_as_permutations() {
    let words: Vec<u32> = (1..103u32).map(|at| at.wrapping_mul(0x9e37_79b9)).collect();
    let bytes =
        |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
    let all: Vec<Masked> = moves().into_iter().chain(others()).collect();
    for target in harness::targets() {
        for keeps_shifts in [false, true] {
            let function = function(&all, words.len(), keeps_shifts, &target);
            let Some(compiled) = harness::compiled(&function, &target) else {
                continue;
            };
            let inputs = [
                Input::Elements(DType::I32, bytes(&words)),
                Input::room(DType::I32, all.len() * words.len()),
                Input::Index(words.len() as i64),
            ];
            let (_, buffers) = harness::check(&function, &compiled, &inputs);
            let expected = all.iter().flat_map(|masked| {
                words.iter().map(|&word| {
                    let kept = if keeps_shifts {
                        masked.shifted(word)
                    } else {
                        0
                    };
                    masked.of(word) ^ kept
                })
            });
            let expected: Vec<u32> = expected.collect();
            let wanted = Buffer::from_bytes(DType::I32, &bytes(&expected));
            assert!(wanted.same_bits(&buffers[1]), "{target:?}");
        }
    }
}

#[test]
fn one_permutation_moves_a_byte() {
    for target in harness::targets() {
        if target.isa == Isa::Portable {
            continue;
        }
        let text = |masked| {
            let function = function(&[masked], 0, false, &target);
            disassemble(&assemble(&function, &target).expect("it assembles"))
        };
        for masked in moves() {
            let text = text(masked);
            assert!(text.contains("vpshufb"), "{masked:?}\n{text}");
            assert!(!text.contains("vpand"), "{masked:?}\n{text}");
        }
        for masked in others() {
            let text = text(masked);
            assert!(!text.contains("vpshufb"), "{masked:?}\n{text}");
        }
    }
}
