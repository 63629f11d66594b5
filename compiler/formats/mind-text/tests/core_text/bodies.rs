//! Ops with bodies.

use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::Op;
use mind_snapshot::snapshot;

use crate::dialect::Choose;
use crate::errors::of_texts;
use crate::{SYNTAX, canonical, errors, parse, print, reads_as, verified};

const FUSED: &str = "\
%0 = Input {name=a} : tensor<f16[128, 64]>
%1 = Input {name=b} : tensor<f16[64, 128]>
%2 = Input {name=c} : tensor<f16[128, 128]>
%9 = Fused (%0, %1, %2) {kind=epilogue} : tensor<f16[128, 128]> {
  args: %4, %5, %6
  %7 = MatMul (%4, %5) : tensor<f16[128, 128]>
  %8 = Add (%7, %6) : tensor<f16[128, 128]>
  yield: %8
}
outputs: %9";

#[test]
fn a_fused_body_keeps_its_bytes_and_verifies() {
    canonical(FUSED);
    assert_eq!(verified(FUSED), FUSED);
}

#[test]
fn bodies_nest_with_two_blanks_per_level() {
    let text = "\
%0 = Input {name=a} : tensor<f32[4]>
%1, %2 = Fused (%0) {kind=outer} : tensor<f32[4]>, tensor<f32[4]> {
  args: %3
  %4 = Fused (%3) {kind=inner} : tensor<f32[4]> {
    args: %5
    %6 = Relu (%5) : tensor<f32[4]>
    yield: %6
  }
  %7 = Neg (%4) : tensor<f32[4]>
  yield: %4, %7
}
outputs: %1, %2";
    canonical(text);
    assert_eq!(verified(text), text);
    let flat: String = text
        .lines()
        .map(|line| line.trim().to_owned() + " # c\n")
        .collect();
    reads_as(&flat, text);
}

#[test]
fn several_bodies_of_one_op_follow_each_other() {
    canonical(
        "%0 = ConstI64 {value=1}\n%1 = test.choose (%0) {\n  %2 = ConstI64 {value=2}\n  yield: %2\n} {\n  args: %3 : tensor<i64[]>, %4\n  test.store (%3) {at=0}\n  yield: %4\n}\ntest.choose (%0) {\n} {\n}\noutputs: %1",
    );
}

#[test]
fn a_result_without_a_type_beside_one_with_a_type_is_an_underscore() {
    canonical(
        "%0 = ConstI64 {value=1}\n%1, %2 = test.choose (%0) : _, tensor<f32[]> {\n} {\n}\noutputs: %1",
    );
}

#[test]
fn bodies_are_closed() {
    snapshot!(of_texts(&[
        &FUSED.replace("Add (%7, %6)", "Add (%7, %2)"),
        &FUSED.replace("outputs: %9", "%10 = Neg (%7)\noutputs: %10"),
        &FUSED.replace("Add (%7, %6)", "Add (%9, %6)"),
        &FUSED.replace("yield: %8", "yield: %0"),
    ]));
}

#[test]
fn ids_are_unique_across_bodies() {
    snapshot!(of_texts(&[
        &FUSED.replace("  yield", "  %0 = Neg (%8)\n  %9 = Neg (%8)\n  yield"),
        &FUSED.replace("args: %4, %5, %6", "args: %4, %5, %6, %5"),
    ]));
}

#[test]
fn a_rejected_op_hides_its_body_and_its_results() {
    let undefined = FUSED.replace("Fused (%0", "Fused (%99");
    snapshot!(of_texts(&[
        &FUSED.replace("Fused (%0", "Fuse (%0"),
        &undefined.replace("MatMul (%4", "MatMul (%4, zz"),
    ]));
}

#[test]
fn braces_match() {
    snapshot!(of_texts(&[
        "%0 = ConstI64(1)\n%1 = Sum (%0) {\n%2 = Neg (%0)\n%3 = Neg (%2)\noutputs: %3",
        &FUSED.replace("\n}\n", "\n"),
        &FUSED.replace("\n}\noutputs: %9", "\n"),
        &FUSED.replace("\n}\n", "\n}\n}\n"),
        &FUSED.replace("\n}\n", "\n} {\nyield:\n}\n"),
        "%0 = ConstI64(1)\n%1 = test.choose (%0) {\nyield: %7\n}\noutputs: %1",
        "%0 = ConstI64(1) {\n}\n%1 = test.choose (%0)\noutputs: %0, %1",
    ]));
}

#[test]
fn lines_stand_where_they_belong() {
    snapshot!(of_texts(&[
        "args: %0\nyield: %0\n%1 = ConstI64(1)\noutputs: %1\n\nword\nmore",
        &FUSED.replace("yield: %8", "yield: %8\n%10 = Neg (%8)\n%11 = Neg (%10)"),
    ]));
}

fn nested(depth: usize) -> String {
    let mut text = "%0 = ConstI64 {value=1}".to_owned();
    for level in 0..depth {
        let (blanks, id) = ("  ".repeat(level), 2 * level);
        text += &format!(
            "\n{blanks}%{} = Fused (%{id}) {{kind=k}} {{\n{blanks}  args: %{}",
            id + 1,
            id + 2
        );
    }
    text += &format!("\n{}yield: %{}", "  ".repeat(depth), 2 * depth);
    for level in (0..depth).rev() {
        let blanks = "  ".repeat(level);
        let end = if level == 0 { "outputs:" } else { "yield:" };
        text += &format!("\n{blanks}}}\n{blanks}{end} %{}", 2 * level + 1);
    }
    text
}

#[test]
fn bodies_nest_at_most_32_deep() {
    canonical(&nested(32));
    let found = errors(&nested(33));
    assert_eq!(
        found,
        [r#"- 66:92 "{": bodies are nested deeper than 32 levels"#]
    );
    assert_eq!(errors(&nested(5000)).len(), 1);
}

#[test]
fn what_cannot_be_read_back_is_not_printed() {
    let refused = |g: &Graph| {
        let found = SYNTAX.print(g).expect_err("it is refused");
        found
            .first_error()
            .map(|error| error.message.clone())
            .unwrap_or_default()
    };
    let mut g = parse("%0 = ConstI64(1)\noutputs: %0");
    let body = g.body();
    let (operands, span) = (vec![g.outputs()[0]], mind_diag::Span::new(0, 1));
    let new = |def| NewOp {
        def,
        operands: &operands,
        attrs: &[],
        results: 1,
        span,
    };
    g.insert(
        InsertPoint::End(body),
        new(mind_core::ops::elementwise::Neg::DEF),
    );
    assert_eq!(
        refused(&g),
        "`core.neg` cannot be printed as Core text: it follows the end of its block"
    );

    let mut g = parse("%0 = ConstI64(1)");
    let mut block = g.body();
    for _ in 0..33 {
        let new = NewOp {
            def: Choose::DEF,
            operands: &[],
            attrs: &[],
            results: 0,
            span,
        };
        let op = g.insert(InsertPoint::End(block), new);
        block = g.block(g.regions(op)[0]);
    }
    assert_eq!(
        refused(&g),
        "`test.choose` cannot be printed as Core text: its body is nested too deeply"
    );

    let core = mind_text::core::Syntax::new(&mind_ir::opdef::Registry::with([mind_core::DIALECT]));
    let g = parse("%0 = ConstI64(1)\ntest.store (%0) {at=0}");
    let found = core.print(&g).expect_err("an unknown dialect");
    assert_eq!(
        found.first_error().map(|error| error.message.as_str()),
        Some("`test.store` cannot be printed as Core text: its dialect is not registered")
    );
    assert_eq!(print(&g), "%0 = ConstI64 {value=1}\ntest.store (%0) {at=0}");
}
