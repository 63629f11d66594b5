//! The code that the op table generates.

use mind_ir::Graph;
use mind_ir::attr::{Attr, AttrKind};
use mind_ir::builder::Builder;
use mind_ir::builtin;
use mind_ir::opdef::{Dialect, Op, OperandClass, Registry, Results, Trait};
use mind_ir::types::DType;

use crate::toy::{self, Blend, Flip, Pack, Turn, Way, push, source};

#[test]
fn rows_hold_what_was_written() {
    let def = Blend::DEF;
    assert_eq!(
        (def.name, def.short_name(), def.doc.trim()),
        ("toy.blend", "blend", "Addition, scaled.")
    );
    assert_eq!(
        def.operands
            .iter()
            .map(|operand| operand.name)
            .collect::<Vec<_>>(),
        ["lhs", "rhs"]
    );
    assert_eq!(
        (def.names.core, def.names.mic1, def.names.mic2),
        (Some("Blend"), Some("blend"), None)
    );
    let [scale, axes] = def.attrs else {
        panic!("two attributes")
    };
    assert_eq!(
        (scale.name, scale.key, scale.kind, scale.default),
        ("scale", None, AttrKind::Int, Some(Attr::Int(1)))
    );
    assert_eq!(
        (axes.name, axes.key, axes.default),
        ("axes", Some("ax"), None)
    );
    assert!(def.has(Trait::Commutative) && !def.has(Trait::Constant));
    assert_eq!(def.arity_text(), "2 operands (lhs, rhs)");
    assert_eq!(Pack::DEF.arity_text(), "at least 1 operand (inputs, ...)");
}

#[test]
fn rows_have_optional_operands_words_and_named_results() {
    let def = Turn::DEF;
    assert_eq!(def.arity_text(), "1 or 2 operands (input, by)");
    assert_eq!(
        [0, 1, 2, 3].map(|count| def.admits_operands(count)),
        [false, true, true, false]
    );
    assert_eq!(
        def.operand(1).map(|operand| operand.class),
        Some(OperandClass::Index)
    );
    assert_eq!(def.results, Results::Named(&["turned", "steps"]));
    let [dtype, way] = def.attrs else {
        panic!("two attributes")
    };
    assert_eq!((dtype.kind, dtype.default), (AttrKind::ElementType, None));
    assert_eq!(
        (way.kind.text(), way.default_text()),
        ("left | right".to_owned(), Some("left".to_owned()))
    );
    assert!(way.kind.admits(&Attr::Word("right")) && !way.kind.admits(&Attr::Word("up")));

    let mut g = Graph::new();
    let x = source(&mut g, 4);
    let attrs = Turn::attrs(DType::I64, Way::Right);
    let op = Builder::at_end(&mut g).create(def, &[x], &attrs).unwrap();
    let turn = g.view::<Turn>(op).unwrap();
    assert_eq!(
        (turn.by(&g), turn.dtype(&g), turn.way(&g)),
        (None, DType::I64, Way::Right)
    );
    let types: Vec<DType> = g
        .results(op)
        .into_iter()
        .map(|value| g.ty(value).dtype)
        .collect();
    assert_eq!(types, [DType::F32, DType::I64]);
    let steps = g.results(op).get(1);
    let op = Builder::at_end(&mut g)
        .create(def, &[x, steps], &attrs)
        .unwrap();
    assert_eq!(g.view::<Turn>(op).unwrap().by(&g), Some(steps));
    let error = Builder::at_end(&mut g)
        .create(def, &[x, x], &attrs)
        .unwrap_err();
    assert_eq!(error.code(), Some(mind_diag::Code(2005)));
}

#[test]
fn views_read_operands_and_attributes() {
    let mut g = Graph::new();
    let x = source(&mut g, 4);
    let op = push(&mut g, Blend::DEF, &[x, x]);
    g.set_attr(op, 1, Attr::Ints(&[2, 0]));
    let blend = g.view::<Blend>(op).unwrap();
    assert_eq!(
        (blend.lhs(&g), blend.scale(&g), blend.axes(&g)),
        (x, 1, &[2, 0][..])
    );
    assert_eq!(g.view::<Flip>(op), None);
    assert_eq!(Blend::attrs(3, &[1]), [Attr::Int(3), Attr::Ints(&[1])]);
}

#[test]
fn a_registry_finds_ops_by_name_and_by_format() {
    let toy = Dialect {
        name: "toy",
        doc: "",
        ops: toy::OPS,
    };
    let registry = Registry::with([builtin::DIALECT, toy]);
    assert!(std::ptr::eq(registry.get("toy.flip").unwrap(), Flip::DEF));
    assert!(registry.names(|names| names.mic1).contains_key("blend"));
    assert_eq!(registry.ops().count(), builtin::OPS.len() + toy::OPS.len());
}
