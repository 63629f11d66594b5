//! Decoding of bit fields by table lookups in a register, if the table fits.

use mind_ir::tensor::Buffer;
use mind_ir::types::DType;
use mind_jit::lower;
use mind_vir::disassemble;
use mind_vir::ir::{BinaryOp, Builder, ConvertOp, Function, Lane, ShiftOp, Signature, Value};
use mind_vir::kernel::assemble;
use mind_vir::target::{Isa, TargetInfo};

use crate::harness::{self, Input};

/// Bits `from..from + bits` of a word, as an unsigned number minus `by`.
#[derive(Clone, Copy, Debug)]
struct Field {
    from: u32,
    bits: u32,
    is_signed: bool,
    by: i32,
}

impl Field {
    fn build(self, b: &mut Builder, word: Value) -> Value {
        let number = if self.is_signed {
            let top = b.shift(ShiftOp::Shl, word, 32 - self.bits - self.from);
            b.shift(ShiftOp::Sra, top, 32 - self.bits)
        } else {
            let low = b.shift(ShiftOp::Shr, word, self.from);
            let mask = b.constant(Lane::I32, (1 << self.bits) - 1);
            b.binary(BinaryOp::And, low, mask)
        };
        if self.by == 0 {
            return number;
        }
        let by = b.constant(Lane::I32, u64::from(self.by as u32));
        b.binary(BinaryOp::Sub, number, by)
    }

    fn integer(self, word: u32) -> i32 {
        let content = i64::from(word >> self.from) & ((1 << self.bits) - 1);
        let is_negative = self.is_signed && content >> (self.bits - 1) == 1;
        let number = content - (i64::from(is_negative) << self.bits);
        (number as i32).wrapping_sub(self.by)
    }

    /// Returns whether the table of the field fits into a register of `target`.
    fn fits(self, target: &TargetInfo) -> bool {
        target.isa != Isa::Portable && 1 << self.bits <= target.vector_bits / 32
    }
}

fn fields() -> Vec<Field> {
    let mut fields = Vec::new();
    for bits in 1..=6 {
        for from in [1, 8, 31 - bits] {
            for (is_signed, by) in [
                (false, 0),
                (true, 0),
                (false, 1),
                (true, -100),
                (false, i32::MIN),
            ] {
                fields.push(Field {
                    from,
                    bits,
                    is_signed,
                    by,
                });
            }
        }
    }
    fields
}

/// Returns the function that decodes all `fields` of each of `count` words, a row of `stride` words per field.
fn numbers(fields: &[Field], stride: usize, keeps_integers: bool, target: &TargetInfo) -> Function {
    let mut signature = Signature::new("numbers", target.lanes(32));
    let (input, output, extent) = (signature.ptr(), signature.ptr(), signature.index());
    let mut b = signature.body();
    lower::for_each(&mut b, extent, 1, |b, at| {
        let word = b.load(Lane::I32, at.addr(input, Lane::I32), at.count);
        for (place, field) in fields.iter().enumerate() {
            let offset = (place * stride * 4) as i32;
            let integer = field.build(b, word);
            let number = b.convert(ConvertOp::IntToFloat, Lane::F32, integer);
            let number = match keeps_integers {
                true => {
                    let integer = b.convert(ConvertOp::Bits, Lane::F32, integer);
                    b.binary(BinaryOp::Xor, number, integer)
                }
                false => number,
            };
            b.store(number, at.addr(output, Lane::F32).plus(offset), at.count);
        }
    });
    b.finish()
}

fn words() -> Vec<u32> {
    let bits = (0..32).map(|bit| 1 << bit);
    let mixed = (0..101u32).map(|at| at.wrapping_mul(0x9e37_79b9).rotate_left(at));
    bits.chain([0, u32::MAX]).chain(mixed).collect()
}

#[test]
fn few_bits_mean_the_same_numbers_however_many_tables_there_are() {
    let words = words();
    let bytes =
        |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
    let all = fields();
    let mut groups: Vec<&[Field]> = all.chunks(1).collect();
    groups.push(&all);
    for target in harness::targets() {
        for (group, keeps_integers) in groups
            .iter()
            .flat_map(|&group| [(group, false), (group, true)])
        {
            let function = numbers(group, words.len(), keeps_integers, &target);
            let Some(compiled) = harness::compiled(&function, &target) else {
                continue;
            };
            let inputs = [
                Input::Elements(DType::I32, bytes(&words)),
                Input::room(DType::F32, group.len() * words.len()),
                Input::Index(words.len() as i64),
            ];
            let (_, buffers) = harness::check(&function, &compiled, &inputs);
            let expected = group.iter().flat_map(|field| {
                words.iter().map(|&word| {
                    let integer = field.integer(word);
                    let kept = if keeps_integers { integer as u32 } else { 0 };
                    (integer as f32).to_bits() ^ kept
                })
            });
            let expected: Vec<u32> = expected.collect();
            let wanted = Buffer::from_bytes(DType::F32, &bytes(&expected));
            assert!(wanted.same_bits(&buffers[1]), "{target:?}, {group:?}");
        }
    }
}

#[test]
fn a_table_is_used_where_it_has_room() {
    for target in harness::targets() {
        if target.isa == Isa::Portable {
            continue;
        }
        for field in fields() {
            let code =
                assemble(&numbers(&[field], 0, false, &target), &target).expect("it assembles");
            let text = disassemble(&code);
            assert_eq!(
                text.contains("vpermps"),
                field.fits(&target),
                "{field:?}\n{text}"
            );
            assert_ne!(
                text.contains("vcvtdq2ps"),
                field.fits(&target),
                "{field:?}\n{text}"
            );
        }
    }
}
