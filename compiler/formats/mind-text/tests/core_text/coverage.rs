//! Every op of the tables survives printing and parsing, with any attribute values.

use mind_diag::Span;
use mind_ir::attr::{Attr, AttrKind, Literal, OPEN_END, Padding};
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::{Op, OpDef, Results};
use mind_ir::tensor::Buffer;
use mind_ir::types::{DType, Dim, TensorType};
use mind_ir::{OpId, ValueId};

use crate::{dialect, parse, print};

/// Returns sample value `variant` of a kind that is neither a name nor a constant.
fn sample(kind: AttrKind, variant: usize, symbol: Dim) -> Attr<'static> {
    const INTS: [&[i64]; 4] = [&[], &[0], &[1, -2, 3], &[i64::MIN, OPEN_END]];
    let dims: Vec<Dim> = vec![Dim::Fixed(2), symbol, Dim::Dynamic, Dim::Fixed(-1)];
    match kind {
        AttrKind::Int => Attr::Int([0, 1, -1, i64::MIN, i64::MAX][variant % 5]),
        AttrKind::Bool => Attr::Bool(variant % 2 == 1),
        AttrKind::Float => {
            Attr::float([0.5, -0.0, f64::NAN, f64::INFINITY, 1e30f32.into()][variant % 5])
        }
        AttrKind::Ints => Attr::Ints(INTS[variant % 4]),
        AttrKind::Dims => Attr::Dims(&dims.leak()[..variant % 5]),
        AttrKind::Pad => Attr::Padding(
            [
                Padding::Valid,
                Padding::Same,
                Padding::Custom(&[1, 2, 0, -4]),
            ][variant % 3],
        ),
        AttrKind::ElementType => Attr::DType(DType::ALL[variant % DType::ALL.len()]),
        AttrKind::Word(words) => Attr::Word(words[variant % words.len()]),
        AttrKind::Str | AttrKind::LiteralData => unreachable!("made where the graph is at hand"),
    }
}

const NAMES: [&str; 4] = ["x", "a \"b\"\\\n", "", "é"];

/// Returns a module that uses `def` once, with sample `variant` of each attribute.
fn module(def: &'static OpDef, variant: usize) -> Graph {
    let mut g = Graph::new();
    let body = InsertPoint::End(g.body());
    let span = Span::new(0, 1);
    let seven = [Attr::Int(7)];
    let constant = mind_core::ops::constant::ConstI64::DEF;
    let first = g.insert(
        body,
        NewOp {
            def: constant,
            operands: &[],
            attrs: &seven,
            results: 1,
            span,
        },
    );
    let first = g.result(first);
    let count = def.operands.len()
        + match (def.variadic, def.optional) {
            (Some(_), _) => 1 + variant,
            (None, Some(_)) => variant % 2,
            (None, None) => 0,
        };
    let operands: Vec<ValueId> = vec![first; count];
    let dtype = DType::ALL[variant % DType::ALL.len()];
    let (splat, many) = (
        Buffer::zeros(dtype, 1).to_bytes(),
        Buffer::zeros(dtype, 6).to_bytes(),
    );
    let literal = match variant % 3 {
        0 => Literal {
            dtype,
            count: None,
            bytes: &splat,
        },
        _ => Literal {
            dtype,
            count: Some(6),
            bytes: &many,
        },
    };
    let symbol = Dim::Symbol(g.intern("B"));
    let name = g.intern(NAMES[variant % 4]);
    let attrs = def
        .attrs
        .iter()
        .enumerate()
        .map(|(row, attr)| match attr.kind {
            AttrKind::Str => Attr::Str(name),
            AttrKind::LiteralData => Attr::Literal(&literal),
            kind => sample(kind, variant + row, symbol),
        });
    let attrs: Vec<Attr<'_>> = attrs.collect();
    let results = match def.results {
        Results::None => 0,
        Results::One => 1,
        Results::Named(names) => names.len(),
        Results::Many => variant % 3,
    };
    let op = g.insert(
        body,
        NewOp {
            def,
            operands: &operands,
            attrs: &attrs,
            results,
            span,
        },
    );
    let shapes = [
        vec![Dim::Fixed(2), Dim::Fixed(3)],
        vec![Dim::Fixed(7)],
        vec![symbol, Dim::Dynamic],
    ];
    let shape = shapes[variant / 3 % 3].iter().copied();
    let ty = g.intern_type(TensorType::new(dtype, shape).view());
    for value in g.results(op) {
        if variant % 4 != 3 {
            g.declare(value, ty);
        }
    }
    g
}

/// Returns whether two attributes of two graphs are equal.
fn same(a: &Graph, x: Attr<'_>, b: &Graph, y: Attr<'_>) -> bool {
    let dim =
        |p: &Dim, q: &Dim| p.display(a.symbols()).to_string() == q.display(b.symbols()).to_string();
    match (x, y) {
        (Attr::Str(p), Attr::Str(q)) => a.name(p) == b.name(q),
        (Attr::Dims(p), Attr::Dims(q)) => {
            p.len() == q.len() && p.iter().zip(q).all(|(p, q)| dim(p, q))
        }
        (Attr::Float(p), Attr::Float(q)) => {
            p == q || (f64::from_bits(p).is_nan() && f64::from_bits(q).is_nan())
        }
        (x, y) => x == y,
    }
}

#[track_caller]
fn assert_same(a: &Graph, x: OpId, b: &Graph, y: OpId) {
    assert!(
        std::ptr::eq(a.def(x), b.def(y)),
        "{} against {}",
        a.def(x).name,
        b.def(y).name
    );
    let labels = |g: &Graph, values: &[ValueId]| {
        values
            .iter()
            .map(|&value| g.label(value))
            .collect::<Vec<_>>()
    };
    assert_eq!(labels(a, a.operands(x)), labels(b, b.operands(y)));
    let results = |g: &Graph, op| g.results(op).into_iter().collect::<Vec<_>>();
    assert_eq!(labels(a, &results(a, x)), labels(b, &results(b, y)));
    let declared = |g: &Graph, op: OpId| {
        let types = g
            .results(op)
            .into_iter()
            .map(|value| Some(g.types().get(g.declared(value)?).text(g.symbols())));
        types.collect::<Vec<_>>()
    };
    assert_eq!(declared(a, x), declared(b, y));
    for (p, q) in a.attrs(x).iter().zip(b.attrs(y)) {
        assert!(same(a, *p, b, *q), "{}: {p:?} against {q:?}", a.def(x).name);
    }
}

/// Asserts that both graphs have the same ops in the same bodies.
#[track_caller]
pub(crate) fn assert_same_module(a: &Graph, b: &Graph) {
    let (xs, ys): (Vec<_>, Vec<_>) = (a.walk().collect(), b.walk().collect());
    assert_eq!(xs.len(), ys.len());
    for (&x, &y) in xs.iter().zip(&ys) {
        assert_same(a, x, b, y);
    }
}

#[test]
fn every_op_reads_back_with_every_attribute() {
    for def in mind_core::DIALECT.ops.iter().chain(dialect::DIALECT.ops) {
        for variant in 0..60 {
            let g = module(def, variant);
            let text = print(&g);
            let back = parse(&text);
            assert_eq!(print(&back), text);
            assert_same_module(&g, &back);
        }
    }
}
