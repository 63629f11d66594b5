//! Reductions against their definition in docs/numerics.md.

use mind_ir::scalar::Reduction;
use mind_ir::tensor::Buffer;
use mind_ir::types::DType;
use mind_jit::lower;
use mind_vir::ir::{Addr, Function, Signature};
use mind_vir::target::TargetInfo;

use crate::harness::{self, Input};
use crate::reference;
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
                    let expected = reference::reduce(reduction, &input);
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
