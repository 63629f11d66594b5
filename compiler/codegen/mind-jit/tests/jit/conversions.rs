//! Conversions of numbers close to the limits and rounding boundaries of dtypes.

use mind_ir::tensor::{Buffer, Element, FloatNum, Num};
use mind_ir::types::DType;
use mind_ir::{with_float, with_num};
use mind_jit::lower;
use mind_vir::ir::{Function, Signature};
use mind_vir::target::{Isa, TargetInfo};

use crate::harness::{self, Input};
use crate::reference;

/// `out[i] = in[i]` as `to`.
fn kernel(from: DType, to: DType, target: &TargetInfo) -> Function {
    let lane = lower::convert_lane(from, to);
    let mut signature = Signature::new("convert", target.lanes(lane.bits()));
    let (input, output, extent) = (signature.ptr(), signature.ptr(), signature.index());
    let mut b = signature.body();
    lower::for_each(&mut b, extent, 1, |b, at| {
        let place = |base, dtype| at.addr(base, lower::storage_lane(dtype));
        let x = lower::load(b, from, place(input, from), at.count);
        let y = lower::convert(b, from, to, x);
        lower::store(b, to, y, place(output, to), at.count);
    });
    b.finish()
}

/// Returns powers of two, their sums with smaller ones, and the neighbours of these, of both signs, sorted by
/// magnitude.
fn elements(dtype: DType) -> Buffer {
    fn integers<T: Num>() -> Vec<T> {
        let sizes = (0..=64).flat_map(|bit| {
            let power = 1i128 << bit;
            let ties = [0, bit - 9, bit - 11, bit - 24, bit - 25, bit - 53, bit - 54];
            let ties = ties.into_iter().filter(|tie| *tie >= 0);
            ties.flat_map(move |tie| [-1, 0, 1].map(|away| power + (1i128 << tie) + away))
        });
        let both = sizes.flat_map(|size| [size, -size]);
        both.map(T::from_i128).collect()
    }
    fn floats<T: FloatNum>() -> Vec<T> {
        let sizes = (-3..=66).flat_map(|exponent| {
            let power = 2f64.powi(exponent);
            let next = [power.next_down(), power, power.next_up()];
            let next_in_f32 = [
                f64::from((power as f32).next_down()),
                f64::from((power as f32).next_up()),
            ];
            [
                &next[..],
                &next_in_f32,
                &[power + 0.5, power - 0.5, 1.5 * power],
            ]
            .concat()
        });
        let both = sizes.flat_map(|size| [size, -size]);
        let special = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        both.chain(special).map(T::from_f64).collect()
    }
    fn wrapped<T: Element>(elements: Vec<T>) -> Buffer {
        T::wrap(elements)
    }
    with_float!(dtype, T => wrapped(floats::<T>()), else
        with_num!(dtype, T => wrapped(integers::<T>()), else wrapped(vec![false, true])))
}

/// Returns the same elements, with small and large ones interleaved.
fn shuffled(buffer: &Buffer) -> Buffer {
    let (bytes, size) = (buffer.to_bytes(), buffer.dtype().size());
    let count = buffer.len();
    let order = (0..count).map(|at| at * 7919 % count);
    let mixed = order.flat_map(|at| bytes[at * size..(at + 1) * size].to_vec());
    Buffer::from_bytes(buffer.dtype(), &mixed.collect::<Vec<u8>>())
}

/// Returns conversions between floats and wide integers for emitted C, each with a call.
pub fn cases() -> Vec<(Function, Vec<Input>)> {
    use DType::{F32, F64, I64, U32, U64};
    let target = TargetInfo::of(Isa::Avx2);
    let pairs = [F32, F64]
        .into_iter()
        .flat_map(|float| [U32, I64, U64].map(|int| [(float, int), (int, float)]));
    let cases = pairs.flatten().map(|(from, to)| {
        let input = shuffled(&elements(from));
        let args = vec![
            Input::elements(&input),
            Input::room(to, input.len()),
            Input::Index(input.len() as i64),
        ];
        (kernel(from, to, &target), args)
    });
    cases.collect()
}

#[test]
fn numbers_convert_as_the_op_says_where_dtypes_end() {
    for target in harness::targets() {
        for &from in DType::ALL {
            let inputs = [elements(from), shuffled(&elements(from))];
            for &to in DType::ALL {
                let function = kernel(from, to, &target);
                let Some(compiled) = harness::compiled(&function, target.isa) else {
                    continue;
                };
                for input in &inputs {
                    let count = input.len();
                    let args = [
                        Input::elements(input),
                        Input::room(to, count),
                        Input::Index(count as i64),
                    ];
                    let (_, left) = harness::check(&function, &compiled, &args);
                    let expected = reference::convert(input, to);
                    assert!(
                        left[1].same_bits(&expected),
                        "{from} to {to} on {}: {input:?}\nexpected {expected:?}\nfound {:?}",
                        target.isa,
                        left[1]
                    );
                }
            }
        }
    }
}
