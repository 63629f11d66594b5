//! Large constants, which programs read where the module has them.

use mind_core::literal_constant;
use mind_interp::{Extents, random_inputs};
use mind_ir::attr::Literal;
use mind_ir::builder::Builder;
use mind_ir::graph::InsertPoint;
use mind_ir::{Bytes, Graph, OpId};

use super::Bench;

/// Rows that are read as they are, a weight that is packed, one that is both, and one that is an output.
const TEXT: &str = "\
%0 = Input {name=x} : tensor<f32[3, 512]>
%1 = Input {name=packed} : tensor<f32[512, 520]>
%2 = Input {name=both} : tensor<f32[520, 512]>
%3 = Input {name=read} : tensor<f32[520, 512]>
%4 = Input {name=small} : tensor<f32[3, 512]>
%5 = MatMul (%0, %1)
%6 = MatMul (%5, %2)
%7 = Add (%6, %4)
%8 = Add (%2, %3)
%9 = Mul (%8, %8)
outputs: %7, %9, %3";

/// Returns the module with all inputs but the first one made constants, drawn from `seed`, whose elements begin
/// `offset` bytes after a cache line.
pub(super) fn with_constants(bench: &Bench, seed: u64, offset: usize) -> Graph {
    let mut g = bench.read(TEXT).expect("a module");
    let arrays = random_inputs(&g, seed, Extents::default()).expect("small arrays");
    let inputs: Vec<(OpId, String)> = mind_interp::inputs(&g)
        .iter()
        .map(|input| (input.op, input.name.to_owned()))
        .collect();
    for (op, name) in inputs.into_iter().skip(1) {
        let elements = arrays[&name].buffer().as_bytes();
        let shared = placed(elements, offset);
        let (value, span) = (g.result(op), g.span(op));
        let ty = g.type_id(value).expect("a verified value");
        g.share(shared.clone());
        let literal = Literal {
            dtype: g.ty(value).dtype,
            count: Some(arrays[&name].count()),
            bytes: &shared,
        };
        let mut b = Builder::new(&mut g, InsertPoint::Before(op), span);
        let constant = literal_constant(&mut b, &literal, ty);
        g.replace_all_uses(value, constant);
        g.erase(op);
    }
    g
}

/// Returns a copy of `elements` that begins `offset` bytes after a multiple of 64.
fn placed(elements: &[u8], offset: usize) -> Bytes {
    let mut room = vec![0; elements.len() + 128];
    let start = room.as_ptr().align_offset(64) + offset;
    room[start..][..elements.len()].copy_from_slice(elements);
    Bytes::from(room).slice(start..start + elements.len())
}

#[test]
fn large_constants_at_any_address() {
    let bench = Bench::new();
    for offset in [0, 1, 4] {
        let g = with_constants(&bench, 1, offset);
        let arrays = random_inputs(&g, 2, Extents::default()).expect("small arrays");
        let checked = bench.check(&g, &arrays);
        checked.unwrap_or_else(|why| panic!("{offset} bytes after a cache line: {why}"));
    }
}
