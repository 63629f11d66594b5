//! Ops with bodies.

use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::Op;

use crate::dialect::Choose;
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
    let text = FUSED.replace("Add (%7, %6)", "Add (%7, %2)");
    assert_eq!(
        errors(&text),
        [r#"E4001 7:17 "%2": %8 uses %2, which is defined outside this body"#]
    );
    let text = FUSED.replace("outputs: %9", "%10 = Neg (%7)\noutputs: %10");
    assert_eq!(
        errors(&text),
        [r#"E4001 10:12 "%7": %10 uses %7, which is defined inside a body"#]
    );
    let text = FUSED.replace("Add (%7, %6)", "Add (%9, %6)");
    assert_eq!(
        errors(&text),
        [r#"E4001 7:13 "%9": %8 uses %9, which is defined outside this body"#]
    );
    let text = FUSED.replace("yield: %8", "yield: %0");
    assert_eq!(
        errors(&text),
        [r#"E4001 8:10 "%0": `yield` uses %0, which is defined outside this body"#]
    );
}

#[test]
fn ids_are_unique_across_bodies() {
    let text = FUSED.replace("  yield", "  %0 = Neg (%8)\n  %9 = Neg (%8)\n  yield");
    assert_eq!(
        errors(&text),
        [
            r#"E4002 8:3 "%0": %0 is defined twice"#,
            r#"E4002 9:3 "%9": %9 is defined twice"#
        ]
    );
    let text = FUSED.replace("args: %4, %5, %6", "args: %4, %5, %6, %5");
    assert_eq!(errors(&text), [r#"E4002 5:21 "%5": %5 is defined twice"#]);
}

#[test]
fn a_rejected_op_hides_its_body_and_its_results() {
    let text = FUSED.replace("Fused (%0", "Fuse (%0");
    assert_eq!(errors(&text), [r#"- 4:6 "Fuse": unknown op `Fuse`"#]);
    let text = FUSED
        .replace("Fused (%0", "Fused (%99")
        .replace("MatMul (%4", "MatMul (%4, zz");
    assert_eq!(
        errors(&text),
        [
            r#"E4001 4:13 "%99": %9 uses %99, which no line above defines"#,
            r#"- 6:20 "zz": `MatMul` takes no attribute in parentheses besides its operands"#
        ]
    );
}

#[test]
fn a_brace_too_many_is_one_error() {
    let text = "%0 = ConstI64(1)\n%1 = Sum (%0) {\n%2 = Neg (%0)\n%3 = Neg (%2)\noutputs: %3";
    assert_eq!(errors(text), [r#"- 2:6 "Sum": `Sum` has no body, found 1"#]);
}

#[test]
fn braces_match() {
    let open = r#"- 4:65 "{": a body is not closed"#;
    assert_eq!(errors(&FUSED.replace("\n}\n", "\n")), [open]);
    assert_eq!(errors(&FUSED.replace("\n}\noutputs: %9", "\n")), [open]);
    assert_eq!(
        errors(&FUSED.replace("\n}\n", "\n}\n}\n")),
        [r#"- 10:1 "}": `}` closes no body"#]
    );
    let message = r#"- 9:1 "}": `fused` has one body in braces, found 2"#;
    assert_eq!(
        errors(&FUSED.replace("\n}\n", "\n} {\nyield:\n}\n")),
        [message]
    );
    assert_eq!(
        errors("%0 = ConstI64(1)\n%1 = test.choose (%0) {\nyield: %7\n}\noutputs: %1"),
        [
            r#"E4001 3:8 "%7": `yield` uses %7, which no line above defines"#,
            r#"- 4:1 "}": `choose` has 2 bodies in braces, found 1"#
        ]
    );
    assert_eq!(
        errors("%0 = ConstI64(1) {\n}\n%1 = test.choose (%0)\noutputs: %0, %1"),
        [
            r#"- 1:6 "ConstI64": `ConstI64` has no body, found 1"#,
            r#"- 3:6 "test.choose": `test.choose` has 2 bodies in braces, found 0"#
        ]
    );
}

#[test]
fn lines_stand_where_they_belong() {
    assert_eq!(
        errors("args: %0\nyield: %0\n%1 = ConstI64(1)\noutputs: %1\n\nword\nmore"),
        [
            r#"- 1:1 "args:": `args:` is allowed only on the first line of a body"#,
            r#"- 2:1 "yield:": `yield:` ends a body; a module ends with `outputs:`"#,
            r#"- 6:1 "word": nothing may follow `outputs:`"#
        ]
    );
    let text = FUSED.replace("yield: %8", "yield: %8\n%10 = Neg (%8)\n%11 = Neg (%10)");
    assert_eq!(errors(&text), [r#"- 9:1 "%": nothing may follow `yield:`"#]);
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
