//! Reductions against their definition in docs/numerics.md.

use mind_ir::scalar::Reduction;
use mind_ir::tensor::{Buffer, Element, Num};
use mind_ir::types::DType;
use mind_ir::with_num;
use mind_jit::lower;
use mind_vir::ir::{Addr, Function, Signature};
use mind_vir::target::TargetInfo;

use crate::harness::{self, Input};
use crate::samples::{Random, elements};

/// `out[0] = reduction of in[0..extent]`.
pub fn kernel(reduction: Reduction, dtype: DType, target: &TargetInfo) -> Function {
    let lane = lower::compute_lane(dtype);
    let mut signature = Signature::new("reduce", target.lanes(lane.bits()));
    let (input, out, extent) = (signature.ptr(), signature.ptr(), signature.index());
    let mut b = signature.body();
    let result = lower::reduce(&mut b, reduction, dtype, extent, |b, at| {
        lower::load(
            b,
            dtype,
            at.addr(input, lower::storage_lane(dtype)),
            at.count,
        )
    });
    let result = lower::narrow(&mut b, dtype, result);
    b.store_first(result, Addr::at(out));
    b.finish()
}

/// The definition, word for word.
fn reference(reduction: Reduction, input: &Buffer) -> Buffer {
    fn of<T: Num>(reduction: Reduction, xs: &[T]) -> Buffer {
        let identity = match reduction {
            Reduction::Sum | Reduction::Mean => T::Acc::ZERO,
            Reduction::Max => T::Acc::LOWEST,
            Reduction::Min => T::Acc::HIGHEST,
            Reduction::Prod => T::Acc::ONE,
        };
        let combine = |x: T::Acc, y: T::Acc| match reduction {
            Reduction::Sum | Reduction::Mean => x.add(y),
            Reduction::Max => x.maximum(y),
            Reduction::Min => x.minimum(y),
            Reduction::Prod => x.mul(y),
        };
        let mut partials = [identity; 64];
        for (at, x) in xs.iter().enumerate() {
            partials[at % 64] = combine(partials[at % 64], x.widen());
        }
        for half in [32, 16, 8, 4, 2, 1] {
            for at in 0..half {
                partials[at] = combine(partials[at], partials[at + half]);
            }
        }
        T::wrap(vec![T::narrow(partials[0])])
    }
    with_num!(input.dtype(), T => of::<T>(reduction, T::peek(input).expect("its dtype")), else input.clone())
}

#[test]
fn reductions_follow_the_stated_order() {
    let mut random = Random::new(3);
    for target in harness::targets() {
        for &dtype in DType::ALL.iter().filter(|&&dtype| dtype != DType::Bool) {
            for reduction in [
                Reduction::Sum,
                Reduction::Max,
                Reduction::Min,
                Reduction::Prod,
            ] {
                let code = kernel(reduction, dtype, &target);
                let Some(compiled) = harness::compiled(&code, target.isa) else {
                    continue;
                };
                for count in (0..=130).chain([191, 192, 193, 1000]) {
                    let mut input = elements(dtype, count, &mut random);
                    if count % 3 == 0 {
                        input = Buffer::from_bytes(dtype, &vec![0x80; count * dtype.size()]);
                    }
                    let inputs = [
                        Input::elements(&input),
                        Input::room(dtype, 1),
                        Input::Index(count as i64),
                    ];
                    let (_, buffers) = harness::check(&code, &compiled, &inputs);
                    let expected = reference(reduction, &input);
                    assert!(
                        expected.same_bits(&buffers[1]),
                        "{reduction:?} of {count} {dtype} on {}: expected {expected:?}, found {:?}",
                        target.isa,
                        buffers[1]
                    );
                }
            }
        }
    }
}
