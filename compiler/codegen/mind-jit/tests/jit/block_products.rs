//! Integer products with block-quantised panels, against exact integer sums.

use mind_core::eval::blocks::Block;
use mind_ir::tensor::Buffer;
use mind_ir::types::{DType, QuantFormat};
use mind_jit::lower::product::{
    BlockOperands, BlockProduct, Method, QuantPacking, QuantPanels, block_product, pack_quantised,
};
use mind_vir::ir::{Function, Lane, Signature};
use mind_vir::target::TargetInfo;

use crate::harness::{self, Input};
use crate::products::packing_kernel;
use crate::quantised::{decoded, rows};
use crate::samples::{Random, mild};

fn kernel(p: &BlockProduct, lanes: u32) -> Function {
    let mut signature = Signature::new("block_product", lanes);
    let [lhs, scale, panels, out] = std::array::from_fn(|_| signature.ptr());
    let columns = (signature.index(), signature.index());
    let mut b = signature.body();
    let at = BlockOperands { lhs, scale, panels };
    block_product(&mut b, p, at, columns, &mut |b, coord, sum| {
        let addr = coord.addr(b, out, p.n, Lane::F32);
        b.store(sum, addr, coord.column.count);
    });
    b.finish()
}

/// The definition of docs/numerics.md.
fn reference(p: &BlockProduct, lhs: &[u8], scales: &[f32], stored: &[u8]) -> Buffer {
    let format = p.panels.format;
    let (elements, bytes) = (format.elements(), format.block_bytes());
    let element = |at: usize| {
        let (row, column) = (at / p.n, at % p.n);
        let mut sum = 0.0f32;
        for part in 0..p.k / 32 {
            let block = (column * p.k + 32 * part) / elements;
            let block = Block::of(format, &stored[block * bytes..][..bytes]);
            let (mut product, mut minima) = (0i64, 0i64);
            for term in 32 * part..32 * part + 32 {
                let x = i64::from(lhs[row * p.k + term] as i8);
                let own = term % elements;
                product += i64::from(block.scales[own / 16]) * i64::from(block.integers[own]) * x;
                minima += i64::from(block.minima[own / 16]) * x;
            }
            let of_part = match block.minimum {
                Some(minimum) => (block.scale).mul_add(product as f32, minimum * minima as f32),
                None => block.scale * product as f32,
            };
            sum = scales[row * (p.k / 32) + part].mul_add(of_part, sum);
        }
        sum
    };
    Buffer::F32((0..p.m * p.n).map(element).collect::<Vec<f32>>().into())
}

fn check(p: &BlockProduct, target: &TargetInfo, random: &mut Random) {
    let lanes = target.lanes(32);
    let packing = QuantPacking {
        n: p.n,
        k: p.k,
        panels: p.panels,
    };
    let pack = packing_kernel(lanes, |b, from, to, panels| {
        pack_quantised(b, &packing, from, to, panels);
    });
    let codes = [kernel(p, lanes), pack];
    let [Some(compiled), Some(packer)] =
        codes.each_ref().map(|code| harness::compiled(code, target))
    else {
        return;
    };
    let stored = rows(p.panels.format, p.n, p.k, random);
    let inputs = [
        Input::Elements(DType::U8, stored.clone()),
        Input::room(DType::U8, p.panels.bytes(p.n, p.k)),
        Input::Index(0),
        Input::Index(packing.count() as i64),
    ];
    let (_, buffers) = harness::check(&codes[1], &packer, &inputs);
    let panels = Input::elements(&buffers[1]);
    // Extreme integers of both signs are frequent, because sums of pairs must not saturate.
    let integer = |random: &mut Random| match random.below(4) {
        0 => 0x80,
        1 => 0x7f,
        _ => random.bits() as u8,
    };
    let lhs: Vec<u8> = (0..p.m * p.k).map(|_| integer(random)).collect();
    let Buffer::F32(scales) = mild(DType::F32, p.m * p.k / 32, random) else {
        unreachable!("f32");
    };
    let inputs = [
        Input::Elements(DType::I8, lhs.clone()),
        Input::elements(&Buffer::F32(scales.clone())),
        panels,
        Input::room(DType::F32, p.m * p.n),
        Input::Index(0),
        Input::Index(p.n as i64),
    ];
    let (_, buffers) = harness::check(&codes[0], &compiled, &inputs);
    let wanted = reference(p, &lhs, &scales, &stored);
    assert!(
        wanted.same_bits(&buffers[3]),
        "{p:?} on {}: expected {wanted:?}, found {:?}",
        target.isa,
        buffers[3]
    );
}

#[test]
fn every_format_and_method_gives_the_bits_of_exact_sums() {
    let mut random = Random::new(47);
    for target in harness::targets() {
        let lanes = target.lanes(32) as usize;
        for &format in QuantFormat::ALL {
            // One row, a few rows, and full tiles with an edge tile.
            for (m, n) in [(1, 21), (3, 9), (9, 20)] {
                let k = if m == 1 {
                    format.elements().max(64)
                } else {
                    format.elements()
                };
                let panels = QuantPanels {
                    width: 2 * lanes,
                    format,
                };
                let own = BlockProduct::new((m, n, k), panels, &target);
                check(&own, &target, &mut random);
                if m == 3 {
                    let method = Method::Bytes;
                    check(&BlockProduct { method, ..own }, &target, &mut random);
                }
            }
        }
    }
}

#[test]
fn parts_in_matrix_registers_give_the_bits_of_exact_sums() {
    let mut random = Random::new(49);
    for target in harness::targets_with_amx() {
        let mut in_matrices = 0;
        for &format in QuantFormat::ALL {
            // Edge tiles in rows and columns, and tasks with and without parallel parts.
            for (m, n, parts) in [(32, 32, 1usize), (37, 20, 5), (49, 65, 4)] {
                let k = (32 * parts).next_multiple_of(format.elements());
                let panels = QuantPanels { width: 32, format };
                let p = BlockProduct::new((m, n, k), panels, &target);
                in_matrices += usize::from(p.method == Method::Matrices);
                check(&p, &target, &mut random);
            }
        }
        assert!(in_matrices > QuantFormat::ALL.len(), "{in_matrices}");
    }
}

#[test]
fn integers_and_scales_of_blocks_are_those_of_the_numbers() {
    let mut random = Random::new(48);
    for &format in QuantFormat::ALL {
        let stored = rows(format, 4, format.elements(), &mut random);
        for bytes in stored.chunks(format.block_bytes()) {
            let block = Block::of(format, bytes);
            let number = |at: usize| {
                let product = block.scales[at / 16] * block.integers[at];
                match block.minimum {
                    Some(minimum) => {
                        let minimum = minimum * block.minima[at / 16] as f32;
                        block.scale.mul_add(product as f32, minimum)
                    }
                    None => block.scale * product as f32,
                }
            };
            // Zeros of both signs are equal.
            let found = (0..format.elements()).map(|at| number(at) + 0.0);
            let found = Buffer::F32(found.collect::<Vec<f32>>().into());
            let expected = decoded(format, bytes).into_iter().map(|x| x + 0.0);
            let expected = Buffer::F32(expected.collect::<Vec<f32>>().into());
            assert!(
                expected.same_bits(&found),
                "{format:?}: {expected:?}, {found:?}"
            );
        }
    }
}
