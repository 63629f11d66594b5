//! Byte dot products, with and without an instruction for them.

use mind_ir::tensor::Buffer;
use mind_ir::types::DType;
use mind_jit::lower;
use mind_vir::disassemble;
use mind_vir::ir::{Function, Lane, Signature, Value};
use mind_vir::kernel::assemble;
use mind_vir::target::{Isa, TargetInfo};

use crate::harness::{self, Input};

/// Accumulates products of the bytes of two inputs to a third one, at each of `count` positions.
fn dots(target: &TargetInfo) -> Function {
    let mut signature = Signature::new("dots", target.lanes(32));
    let inputs: [Value; 3] = std::array::from_fn(|_| signature.ptr());
    let (output, extent) = (signature.ptr(), signature.index());
    let mut b = signature.body();
    lower::for_each(&mut b, extent, 2, |b, at| {
        let [x, y, sum] =
            inputs.map(|input| b.load(Lane::I32, at.addr(input, Lane::I32), at.count));
        let sum = b.dot_bytes(x, y, sum);
        b.store(sum, at.addr(output, Lane::I32), at.count);
    });
    b.finish()
}

#[test]
fn products_of_extreme_bytes_wrap_and_never_saturate() {
    let four = |bytes: [u8; 4]| u32::from_le_bytes(bytes);
    // Sums of pairs that overflow 16 bits, and sums that overflow 32 bits.
    let extremes = [0x00, 0x01, 0x7f, 0x80, 0xff];
    let (mut x, mut y, mut sums) = (Vec::new(), Vec::new(), Vec::new());
    for left in extremes {
        for right in extremes {
            for sum in [0, 1, i32::MAX as u32, i32::MIN as u32] {
                x.extend([four([left; 4]), four([left, 0, 0, left])]);
                y.extend([four([right; 4]), four([right, 0xff, 0x80, right])]);
                sums.extend([sum; 2]);
            }
        }
    }
    let expected: Vec<u32> = (x.iter().zip(&y).zip(&sums))
        .map(|((x, y), &sum)| {
            let pairs = x.to_le_bytes().into_iter().zip(y.to_le_bytes());
            let products = pairs.map(|(x, y)| i64::from(x) * i64::from(y as i8));
            (i64::from(sum) + products.sum::<i64>()) as u32
        })
        .collect();
    let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let input = |words: &[u32]| Input::Elements(DType::I32, bytes(words));
    for target in [harness::targets(), harness::targets_with_vnni()].concat() {
        let function = dots(&target);
        let Some(compiled) = harness::compiled(&function, &target) else {
            continue;
        };
        let room = Input::room(DType::I32, x.len());
        let inputs = [
            input(&x),
            input(&y),
            input(&sums),
            room,
            Input::Index(x.len() as i64),
        ];
        let (_, buffers) = harness::check(&function, &compiled, &inputs);
        let wanted = Buffer::from_bytes(DType::I32, &bytes(&expected));
        assert!(wanted.same_bits(&buffers[3]), "{target:?}");
    }
}

#[test]
fn one_instruction_adds_products_of_bytes_where_the_target_has_it() {
    let listed = |target: &TargetInfo| {
        let code = assemble(&dots(target), target).expect("it assembles");
        disassemble(&code).contains("vpdpbusd")
    };
    assert!(harness::targets_with_vnni().iter().all(listed));
    let targets = harness::targets();
    let without = targets.iter().filter(|target| target.isa != Isa::Portable);
    assert!(!without.into_iter().any(listed));
}
