//! The verifier on invalid graphs.

use mind_diag::{Code, Span};
use mind_ir::Graph;
use mind_ir::builder::Builder;
use mind_ir::graph::InsertPoint;
use mind_ir::opdef::Op;
use mind_ir::types::{DType, TensorType};
use mind_ir::verify::{VerifyConfig, verify};

use crate::toy::{Blend, Flip, Group, Pack, end, push, source};

/// Returns the codes and messages of the verifier.
fn found(g: &mut Graph) -> Vec<(Option<Code>, String)> {
    let found = verify(g, &VerifyConfig::default());
    found
        .iter()
        .map(|each| (each.code, each.message.clone()))
        .collect()
}

fn error(code: u16, message: &str) -> (Option<Code>, String) {
    (Some(Code(code)), message.to_owned())
}

#[test]
fn types_every_value_of_a_sound_module() {
    let mut g = Graph::new();
    let x = source(&mut g, 4);
    let op = push(&mut g, Flip::DEF, &[x]);
    let y = g.result(op);
    let body = g.body();
    end(&mut g, body, &[y]);
    assert_eq!(g.type_id(y), None);
    assert_eq!(found(&mut g), []);
    assert_eq!(g.type_text(y), "f32[4]");
}

#[test]
fn a_module_needs_an_output() {
    let mut g = Graph::new();
    source(&mut g, 4);
    assert_eq!(found(&mut g), [error(4003, "the module has no output")]);
}

#[test]
fn operand_counts_follow_the_table() {
    let mut g = Graph::new();
    let x = source(&mut g, 4);
    let (blend, pack) = (push(&mut g, Blend::DEF, &[x]), push(&mut g, Pack::DEF, &[]));
    let outputs = [g.result(blend), g.result(pack)];
    let body = g.body();
    end(&mut g, body, &outputs);
    assert_eq!(
        found(&mut g),
        [
            error(2007, "`blend` takes 2 operands (lhs, rhs), found 1"),
            error(
                2007,
                "`pack` takes at least 1 operand (inputs, ...), found 0"
            ),
        ]
    );
}

#[test]
fn a_value_is_defined_above_its_readers() {
    let mut g = Graph::new();
    let x = source(&mut g, 4);
    let (a, b) = (push(&mut g, Flip::DEF, &[x]), push(&mut g, Flip::DEF, &[x]));
    let (va, vb) = (g.result(a), g.result(b));
    g.set_operand(a, 0, vb);
    let body = g.body();
    end(&mut g, body, &[va]);
    assert_eq!(
        found(&mut g),
        [error(4001, "%2 is used before its definition")]
    );
}

#[test]
fn one_mistake_gives_one_error() {
    let mut g = Graph::new();
    let x = source(&mut g, 4);
    let broken = push(&mut g, Blend::DEF, &[x]);
    let mut last = g.result(broken);
    for _ in 0..3 {
        let op = push(&mut g, Flip::DEF, &[last]);
        last = g.result(op);
    }
    let body = g.body();
    end(&mut g, body, &[last]);
    assert_eq!(found(&mut g).len(), 1);
}

#[test]
fn a_declared_type_may_be_vaguer_but_not_other() {
    let mut g = Graph::new();
    let x = source(&mut g, 4);
    let op = push(&mut g, Flip::DEF, &[x]);
    let y = g.result(op);
    let open = TensorType::new(DType::F32, [mind_ir::types::Dim::Dynamic]);
    let open = g.intern_type(open.view());
    g.declare(y, open);
    let body = g.body();
    end(&mut g, body, &[y]);
    assert_eq!(found(&mut g), []);
    assert_eq!(
        (g.type_text(y).as_str(), g.declared(y)),
        ("f32[4]", Some(open))
    );
    let other = g.intern_type(TensorType::fixed(DType::F32, &[5]).view());
    g.declare(y, other);
    let message = "declared type f32[5] differs from the inferred type f32[4]";
    assert_eq!(found(&mut g), [error(2001, message)]);
}

#[test]
fn extents_of_declared_types_are_not_negative() {
    let mut g = Graph::new();
    let (empty, x) = (source(&mut g, 0), source(&mut g, -2));
    let body = g.body();
    end(&mut g, body, &[empty, x]);
    assert_eq!(
        found(&mut g),
        [error(3006, "extent -2 at dimension 0 of [-2] is negative")]
    );
}

#[test]
fn bodies_are_closed_and_end_with_yield() {
    let mut g = Graph::new();
    let x = source(&mut g, 4);
    let group = push(&mut g, Group::DEF, &[x]);
    let block = g.block(g.regions(group)[0]);
    g.add_arguments(block, 1);
    let result = g.result(group);
    let body = g.body();
    end(&mut g, body, &[result]);
    assert_eq!(
        found(&mut g),
        [(None, "a body ends with `yield`".to_owned())]
    );
    end(&mut g, block, &[x]);
    assert_eq!(
        found(&mut g),
        [error(4001, "%0 is used before its definition")]
    );
}

#[test]
fn a_builder_refuses_what_would_not_verify() {
    let mut g = Graph::new();
    let (x, y) = (source(&mut g, 4), source(&mut g, 4));
    let body = g.body();
    let mut b = Builder::new(&mut g, InsertPoint::End(body), Span::FILE);
    let refused = b.create(Flip::DEF, &[x, y], &[]).unwrap_err();
    assert_eq!(refused.code(), Some(Code(2007)));
    assert_eq!(g.ops(body).count(), 2);
}

#[test]
fn values_have_ids_of_their_own() {
    let mut g = Graph::new();
    let x = source(&mut g, 4);
    let y = source(&mut g, 4);
    g.set_label(y, g.label(x));
    let body = g.body();
    end(&mut g, body, &[x, y]);
    let problem = (None, "two values have the id %0".to_owned());
    assert_eq!(found(&mut g), [problem]);
}
