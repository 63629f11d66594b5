//! Generated modules: printing and parsing are inverse.

use mind_diag::Span;
use mind_ir::attr::{Attr, AttrKind, Literal, Padding};
use mind_ir::builtin::Yield;
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::{Op, OpDef, Results};
use mind_ir::tensor::Buffer;
use mind_ir::types::{DType, Dim, TensorType};
use mind_ir::{BlockId, Ty, ValueId};
use proptest::prelude::*;

use crate::coverage::assert_same_module;
use crate::{dialect, parse, print};

/// Decisions, consumed in order; 0 when they run out.
struct Choices(std::vec::IntoIter<u32>);

impl Choices {
    fn below(&mut self, bound: usize) -> usize {
        self.0.next().unwrap_or(0) as usize % bound
    }

    fn int(&mut self) -> i64 {
        match self.below(4) {
            0 => i64::MIN + self.below(9) as i64,
            1 => -(self.below(9) as i64),
            _ => self.below(9) as i64,
        }
    }
}

fn dims(g: &mut Graph, choices: &mut Choices) -> Vec<Dim> {
    let count = choices.below(4);
    let dim = |_| match choices.below(4) {
        0 => Dim::Dynamic,
        1 => Dim::Symbol(g.intern(["B", "_s2"][choices.below(2)])),
        _ => Dim::Fixed(choices.int()),
    };
    (0..count).map(dim).collect()
}

fn ty(g: &mut Graph, dtype: DType, choices: &mut Choices) -> Ty {
    let shape = dims(g, choices);
    g.intern_type(TensorType::new(dtype, shape).view())
}

/// Adds an op with some of `values` as operands, and random bodies.
fn add_op(
    g: &mut Graph,
    block: BlockId,
    values: &mut Vec<ValueId>,
    depth: usize,
    choices: &mut Choices,
) {
    let core = mind_core::DIALECT.ops;
    let def: &'static OpDef = match choices.below(5) {
        0 => dialect::DIALECT.ops[choices.below(dialect::DIALECT.ops.len())],
        1 if depth < 4 => mind_core::ops::fused::Fused::DEF,
        _ => core[choices.below(core.len())],
    };
    let count = if values.is_empty() {
        0
    } else {
        choices.below(4)
    };
    let operands: Vec<ValueId> = (0..count)
        .map(|_| values[choices.below(values.len())])
        .collect();
    let dtype = DType::ALL[choices.below(DType::ALL.len())];
    let elements = choices.below(7);
    let buffer = Buffer::zeros(dtype, elements.max(1)).to_bytes();
    let literal = match elements {
        0 => Literal {
            dtype,
            count: None,
            bytes: &buffer,
        },
        _ => Literal {
            dtype,
            count: Some(elements),
            bytes: &buffer,
        },
    };
    let ints = [choices.int(), choices.int(), choices.int()];
    let pads = [choices.int(), choices.int(), choices.int(), choices.int()];
    let extents = dims(g, choices);
    let name = g.intern(["x", "w.1", "a\tb", "\u{7f}#"][choices.below(4)]);
    let attrs: Vec<Attr<'_>> = def
        .attrs
        .iter()
        .map(|attr| match attr.kind {
            AttrKind::Int => Attr::Int(choices.int()),
            AttrKind::Bool => Attr::Bool(choices.below(2) == 1),
            AttrKind::Float => {
                Attr::float(f64::from(f32::from_bits(choices.below(1 << 32) as u32)))
            }
            AttrKind::Str => Attr::Str(name),
            AttrKind::Ints => Attr::Ints(&ints[..choices.below(4)]),
            AttrKind::Dims => Attr::Dims(&extents),
            AttrKind::LiteralData => Attr::Literal(&literal),
            AttrKind::ElementType => Attr::DType(dtype),
            AttrKind::Word(words) => Attr::Word(words[choices.below(words.len())]),
            AttrKind::Pad => Attr::Padding(
                [Padding::Valid, Padding::Same, Padding::Custom(&pads)][choices.below(3)],
            ),
        })
        .collect();
    let results = match def.results {
        Results::None => 0,
        Results::One => 1,
        Results::Named(names) => names.len(),
        Results::Many => choices.below(3),
    };
    let span = Span::new(0, 1);
    let op = g.insert(
        InsertPoint::End(block),
        NewOp {
            def,
            operands: &operands,
            attrs: &attrs,
            results,
            span,
        },
    );
    for value in g.results(op) {
        if choices.below(2) == 0 {
            let ty = ty(g, dtype, choices);
            g.declare(value, ty);
        }
        if choices.below(8) == 0 && g.label(value) < 1 << 40 {
            let label = g.label(value) * 1000 + choices.below(1000) as u64;
            g.set_label(value, label);
        }
    }
    for index in 0..g.regions(op).len() {
        let inner = g.block(g.regions(op)[index]);
        let count = choices.below(3);
        let mut own: Vec<ValueId> = g.add_arguments(inner, count).into_iter().collect();
        if depth < 4 {
            for _ in 0..choices.below(4) {
                add_op(g, inner, &mut own, depth + 1, choices);
            }
        }
        end(g, inner, &own, choices);
    }
    values.extend(g.results(op));
}

fn end(g: &mut Graph, block: BlockId, values: &[ValueId], choices: &mut Choices) {
    let yielded: Vec<ValueId> = values
        .iter()
        .copied()
        .filter(|_| choices.below(3) == 0)
        .collect();
    if choices.below(8) > 0 {
        let span = Span::new(0, 1);
        let new = NewOp {
            def: Yield::DEF,
            operands: &yielded,
            attrs: &[],
            results: 0,
            span,
        };
        g.insert(InsertPoint::End(block), new);
    }
}

/// Returns the module for `decisions`; any list is valid.
pub(crate) fn module(decisions: Vec<u32>) -> Graph {
    let mut choices = Choices(decisions.into_iter());
    let (mut g, mut values) = (Graph::new(), Vec::new());
    let body = g.body();
    for _ in 0..choices.below(12) {
        add_op(&mut g, body, &mut values, 0, &mut choices);
    }
    end(&mut g, body, &values, &mut choices);
    g
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printing_and_reading_are_inverse(decisions in prop::collection::vec(any::<u32>(), 0..600)) {
        let g = module(decisions);
        let text = print(&g);
        let back = parse(&text);
        prop_assert_eq!(print(&back), text);
        assert_same_module(&g, &back);
    }
}
