//! Errors as users see them.

use mind_diag::Span;
use mind_snapshot::snapshot;
use mind_text::limits::Limits;

use crate::{SYNTAX, rendered, try_parse};

/// Renders the errors of each text.
pub fn of_texts(texts: &[&str]) -> String {
    let of = |text: &&str| rendered(text, &try_parse(text).err().expect("an error"));
    texts.iter().map(of).collect::<Vec<_>>().join("\n")
}

/// Lines with one error each; `%0` is a value.
const LINES: &[&str] = &[
    "%1 = ConstI64(9223372036854775808)",
    "%1 = ConstI64(1x)",
    "%1 = ConstI64(+1)",
    "%1 = ConstF32(1e39)",
    "%1 = ConstF32(1.0f)",
    "%1 = ConstF64 {value=}",
    "%1 = Su$m (%0)",
    "%1 = Sumé (%0)",
    "%1 = Input {name=\"x} : tensor<f32[]>",
    "%1 = Input {name=\"x\\\"} : tensor<f32[]>",
    "%1 = Input {name=\"x\\q\"} : tensor<f32[]>",
    "%1 = Input : tensor<f32[]>",
    "%1 = Reshape (%0)",
    "%1 = Reshap (%0)",
    "%1 = BinOp(Ad, %0, %0)",
    "%1 = BinOp(Relu, %0)",
    "%1 = Sum (%0) {axis=[1]}",
    "%1 = Sum (%0) {axes=[1], axes=[2]}",
    "%1 = Sum (%0, [1]) {axes=[2]}",
    "%1 = Sum (%0, [1], true, 2)",
    "%1 = Sum (%0, axes=[1])",
    "%1 = Add (0, 0)",
    "%1 = Sum ([1], %0)",
    "%1 = Sum (%0 [1])",
    "%1 = Sum (%0, 1)",
    "%1 = Sum (%0, [1 2])",
    "%1 = Sum (%0, [_])",
    "%1 = Sum (%0, [1",
    "%1 = Sum (%0) {keepdims=1}",
    "%1 = Sum (%0) {",
    "%1 = Sum (%0) : f32[4]",
    "%1 = Sum (%0) : tensor<f31[4]>",
    "%1 = Sum (%0) : tensor<f32>",
    "%1 = Sum (%0) : tensor<f32[3x]>",
    "%1 = Sum (%0) : tensor<f32[B?]>",
    "%1 = Sum (%0) : tensor<f32[]>, tensor<f32[]>",
    "%1 = Sum (%0) # {axes=[1]}\n%2 = Sum (%0) x",
    "%1, %2 = Sum (%0)",
    "Sum (%0)",
    "%1 = test.store (%0) {at=1}",
    "%1 = Sum (%7)",
    "%1 = Add (%7)",
    "%1 = Neg (%1)",
    "test.store (%7) {at=1}",
    "%0 = Sum (%0)",
    "%1, %1 = test.choose (%0) {\n} {\n}",
    "%1 = %0",
    "%x = Sum (%0)",
    "%1x = Sum (%0)",
    "%9223372036854775808 = Sum (%0)",
    "%1 Sum (%0)",
    "+1",
    "outputs: %0 %0",
    "outputs: 0",
    "outputs: %0, %5",
    "%1 = Conv2d (%0, %0) {padding=full}",
    "%1 = Conv2d (%0, %0) {padding=[1, 1]}",
    "%1 = Slice (%0, [1:2, 3])",
    "%1 = Slice (%0, [:2])",
    "%1 = Input {name=x, role=weight}",
    "%1 = ConstTensor : tensor<f32[2]>",
    "%1 = ConstTensor {data=[1], fill=1} : tensor<f32[2]>",
    "%1 = ConstTensor {data=[1]}",
    "%1 = ConstTensor {data=[1], dtype=i32} : tensor<f32[1]>",
    "%1 = ConstTensor {data=[1], shape=[1]} : tensor<f32[1, 1]>",
    "%1 = ConstTensor([[1],[2]]) : tensor<f32[1, 2]>",
    "%1 = ConstTensor(1) : tensor<f32[1]>",
    "%1 = ConstTensor([[1],[2,3]]) : tensor<f32[2, 2]>",
    "%1 = ConstTensor([[1],2]) : tensor<f32[2, 1]>",
    "%1 = ConstTensor([1,[2]]) : tensor<f32[2]>",
    "%1 = ConstTensor([1,[]]) : tensor<f32[2]>",
    "%1 = ConstTensor([1, 300]) : tensor<u8[2]>",
    "%1 = ConstTensor([1, 1.5]) : tensor<u8[2]>",
    "%1 = ConstTensor([1,,2]) : tensor<u8[2]>",
    "%1 = ConstTensor([1) : tensor<u8[2]>",
    "%1 = Input {name=x, } : tensor<f32[1,2,]>\n%2 = Input {, name=y}",
];

#[test]
fn each_line_has_its_one_error() {
    let texts = LINES.iter().map(|line| format!("%0 = ConstI64(1)\n{line}"));
    let of_each = texts.map(|text| {
        let found = try_parse(&text).err().expect("an error");
        assert_eq!(found.iter().len(), 1, "{text}");
        rendered(&text, &found)
    });
    snapshot!(of_each.collect::<Vec<_>>().join("\n"));
}

#[test]
fn all_errors_are_found_and_followers_stay_quiet() {
    let text = "\
%0 = Inptu {name=x} : tensor<f32[4]>
%1 = Relu (%0)
%2 = Add (%1, %9)
%3 = Neg (%9)
%4 = Neg (%2, [1])
outputs: %1, %4";
    snapshot!(of_texts(&[text]));
}

#[test]
fn an_id_defined_further_down_is_shown() {
    let text = "%1 = Neg (%12)\n%12 = ConstI64(1)\noutputs: %1";
    snapshot!(of_texts(&[text]));
    let found = try_parse(text).err().expect("an error");
    let error = found.first_error().expect("an error");
    assert_eq!(
        error.context,
        [
            ("instruction", "%1".to_owned()),
            ("operand", "%12".to_owned())
        ]
    );
}

#[test]
fn a_second_definition_shows_the_first() {
    snapshot!(of_texts(&["%07 = ConstI64(1)\n%7 = ConstI64(1)"]));
}

#[test]
fn help_names_what_was_meant() {
    snapshot!(of_texts(&[
        "%0 = Matmull(%1)",
        "%0 = ConstI64(1)\n%1 = Sum(%0) {axs=[1]}",
        "%0 = ConstI64(1)\n%1 = Sum(%0) {dimension=1}",
        "%0 = ConstI64(1)\n%1 = Neg(%0) {dimension=1}",
        "%0 = Input {name=x} : tensor<fp32[2]>",
        "%0 = Add(0, 1)",
        "%0 = ConstI64(1)\n%1 = Sum(%0, axes=[1])",
    ]));
}

#[test]
fn spans_start_at_the_base() {
    let found = SYNTAX
        .parse("%0 = Foo", 1000, &Limits::default())
        .err()
        .expect("an error");
    assert_eq!(
        found.first_error().map(|error| error.span),
        Some(Span::new(1005, 1008))
    );
    let g = SYNTAX
        .parse("%0 = ConstI64(1) # c", 1000, &Limits::default())
        .expect("a module");
    let op = g.walk().next().expect("an op");
    assert_eq!(g.span(op), Span::new(1000, 1016));
}

#[test]
fn the_line_past_the_limit_may_start_with_any_character() {
    let limits = Limits {
        lines: 1,
        ..Limits::default()
    };
    let found = SYNTAX.parse("\nૐ", 0, &limits).err().expect("a limit");
    assert_eq!(
        found.first_error().map(|error| error.span),
        Some(Span::new(1, 4))
    );
}

#[test]
fn limits_are_inclusive() {
    let text = "%0 = Input {name=x} : tensor<f32[2, B]>\n%1 = Neg (%0)\noutputs: %1";
    let exact = Limits {
        bytes: text.len() as u64,
        nodes: 2,
        dims: 2,
        strings: 2,
        lines: 3,
    };
    assert!(SYNTAX.parse(text, 0, &exact).is_ok());
    let error = |limits: Limits| {
        let found = SYNTAX.parse(text, 0, &limits).err().expect("a limit");
        let error = found.first_error().expect("an error");
        assert_eq!(found.iter().len(), 1);
        (error.message.clone(), error.span)
    };
    let cases = [
        (
            Limits {
                bytes: exact.bytes - 1,
                ..exact
            },
            "the text has more than 64 bytes",
            Span::FILE,
        ),
        (
            Limits { nodes: 1, ..exact },
            "the text has more than 1 values",
            Span::new(40, 53),
        ),
        (
            Limits { dims: 1, ..exact },
            "a shape of 2 dimensions; at most 1 are allowed",
            Span::new(32, 38),
        ),
        (
            Limits {
                strings: 1,
                ..exact
            },
            "the text has more than 1 different names and dimension symbols",
            Span::new(36, 37),
        ),
        (
            Limits { lines: 2, ..exact },
            "the text has more than 2 lines",
            Span::new(54, 61),
        ),
    ];
    for (limits, message, span) in cases {
        assert_eq!(error(limits), (message.to_owned(), span));
    }
}
