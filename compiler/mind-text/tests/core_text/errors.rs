//! # Errors
//!
//! Code, line, column, what is marked, message.

use mind_diag::{Code, Span};
use mind_text::limits::Limits;

use crate::{SYNTAX, errors, try_parse};

/// A line and its only error; `%0` is a value.
const LINES: &[(&str, &str)] = &[
    (
        "%1 = ConstI64(9223372036854775808)",
        r#"E1005 2:15 "9223372036854775808": `9223372036854775808` is not an integer of 64 bits"#,
    ),
    (
        "%1 = ConstI64(1x)",
        r#"E1005 2:15 "1x": `1x` is not an integer of 64 bits"#,
    ),
    (
        "%1 = ConstI64(+1)",
        r#"E1005 2:15 "+1": `+1` is not an integer of 64 bits"#,
    ),
    (
        "%1 = ConstF32(1e39)",
        r#"E4005 2:15 "1e39": `1e39` does not fit f32"#,
    ),
    (
        "%1 = ConstF32(1.0f)",
        r#"E1005 2:15 "1.0f": `1.0f` is not a number such as 1.5, or nan, inf, -inf"#,
    ),
    (
        "%1 = ConstF64 {value=}",
        r#"- 2:22 "}": expected a number, found `}`"#,
    ),
    (
        "%1 = Su$m (%0)",
        r#"E1002 2:8 "$": illegal character `$` in an identifier"#,
    ),
    (
        "%1 = Sumé (%0)",
        r#"E1002 2:9 "é": illegal character `é` in an identifier"#,
    ),
    (
        "%1 = Input {name=\"x} : tensor<f32[]>",
        r#"E1003 2:18 "\"": string without closing quote"#,
    ),
    (
        "%1 = Input {name=\"x\\\"} : tensor<f32[]>",
        r#"E1003 2:18 "\"": string without closing quote"#,
    ),
    (
        "%1 = Input {name=\"x\\q\"} : tensor<f32[]>",
        r#"E1004 2:20 "\\q": unknown escape `\q`"#,
    ),
    (
        "%1 = Input : tensor<f32[]>",
        r#"E4004 2:6 "Input": `Input` needs the attribute `name`"#,
    ),
    (
        "%1 = Reshape (%0)",
        r#"- 2:6 "Reshape": `Reshape` needs the attribute `new_shape`"#,
    ),
    ("%1 = Reshap (%0)", r#"- 2:6 "Reshap": unknown op `Reshap`"#),
    (
        "%1 = BinOp(Ad, %0, %0)",
        r#"- 2:12 "Ad": `Ad` is not an op of two operands"#,
    ),
    (
        "%1 = BinOp(Relu, %0)",
        r#"- 2:12 "Relu": `Relu` is not an op of two operands"#,
    ),
    (
        "%1 = Sum (%0) {axis=[1]}",
        r#"- 2:16 "axis": `Sum` has no attribute `axis`"#,
    ),
    (
        "%1 = Sum (%0) {axes=[1], axes=[2]}",
        r#"- 2:26 "axes=[2]": attribute `axes` is given twice"#,
    ),
    (
        "%1 = Sum (%0, [1]) {axes=[2]}",
        r#"- 2:21 "axes=[2]": attribute `axes` is given twice"#,
    ),
    (
        "%1 = Sum (%0, [1], true, 2)",
        r#"- 2:26 "2": `Sum` takes `axes`, `keepdims` in parentheses besides its operands"#,
    ),
    (
        "%1 = Sum (%0, axes=[1])",
        r#"- 2:15 "axes": `Sum` takes `axes`, `keepdims` in parentheses besides its operands"#,
    ),
    (
        "%1 = Add (0, 0)",
        r#"- 2:11 "0": expected an operand of `Add` such as `%0`, found `0`"#,
    ),
    (
        "%1 = Sum ([1], %0)",
        r#"- 2:16 "%0": operand %0 follows an attribute"#,
    ),
    (
        "%1 = Sum (%0 [1])",
        r#"- 2:14 "[": expected `,` or `)`, found `[`"#,
    ),
    (
        "%1 = Sum (%0, 1)",
        r#"- 2:15 "1": expected `[` and integers, found `1`"#,
    ),
    (
        "%1 = Sum (%0, [1 2])",
        r#"- 2:18 "2": expected `,` or `]`, found `2`"#,
    ),
    (
        "%1 = Sum (%0, [_])",
        r#"E1005 2:16 "_": `_` is not an integer of 64 bits"#,
    ),
    (
        "%1 = Sum (%0, [1",
        r#"- 2:17 "": expected `,` or `]`, found the end of the line"#,
    ),
    (
        "%1 = Sum (%0) {keepdims=1}",
        r#"- 2:25 "1": expected `true` or `false`, found `1`"#,
    ),
    (
        "%1 = Sum (%0) {",
        r#"- 2:6 "Sum": `Sum` has no body, found 1"#,
    ),
    (
        "%1 = Sum (%0) : f32[4]",
        r#"- 2:17 "f32": expected a type such as `tensor<f32[4, 6]>`, found `f32`"#,
    ),
    (
        "%1 = Sum (%0) : tensor<f31[4]>",
        r#"- 2:24 "f31": unknown dtype `f31`"#,
    ),
    (
        "%1 = Sum (%0) : tensor<f32>",
        r#"- 2:27 ">": expected `[` and a shape, found `>`"#,
    ),
    (
        "%1 = Sum (%0) : tensor<f32[3x]>",
        r#"E1005 2:28 "3x": `3x` is not an integer of 64 bits"#,
    ),
    (
        "%1 = Sum (%0) : tensor<f32[B?]>",
        r#"E1002 2:29 "?": illegal character `?` in an identifier"#,
    ),
    (
        "%1 = Sum (%0) : tensor<f32[]>, tensor<f32[]>",
        r#"- 2:6 "Sum": types are declared for 2 values, but the line defines 1"#,
    ),
    (
        "%1 = Sum (%0) # {axes=[1]}\n%2 = Sum (%0) x",
        r#"- 3:15 "x": expected the end of the line, found `x`"#,
    ),
    (
        "%1, %2 = Sum (%0)",
        r#"- 2:10 "Sum": `Sum` defines one value, but 2 stand before `=`"#,
    ),
    (
        "Sum (%0)",
        r#"- 2:1 "Sum": `Sum` defines one value, but 0 stand before `=`"#,
    ),
    (
        "%1 = test.store (%0) {at=1}",
        r#"- 2:6 "test.store": `test.store` defines no value, but 1 stand before `=`"#,
    ),
    (
        "%1 = Sum (%7)",
        r#"E4001 2:11 "%7": %1 uses %7, which no line above defines"#,
    ),
    (
        "%1 = Add (%7)",
        r#"E2007 2:1 "%1 = Add (%7)": `Add` takes 2 operands (lhs, rhs), found 1"#,
    ),
    (
        "%1 = Neg (%1)",
        r#"E4001 2:11 "%1": %1 uses %1, which no line above defines"#,
    ),
    (
        "test.store (%7) {at=1}",
        r#"E4001 2:13 "%7": `test.store` uses %7, which no line above defines"#,
    ),
    ("%0 = Sum (%0)", r#"E4002 2:1 "%0": %0 is defined twice"#),
    (
        "%1, %1 = test.choose (%0) {\n} {\n}",
        r#"E4002 2:5 "%1": %1 is defined twice"#,
    ),
    (
        "%1 = %0",
        r#"- 2:6 "%": expected the name of an op, found `%`"#,
    ),
    (
        "%x = Sum (%0)",
        r#"- 2:1 "%x": expected an id such as `%0`, found `%x`"#,
    ),
    (
        "%1x = Sum (%0)",
        r#"- 2:1 "%1x": expected an id such as `%0`, found `%1x`"#,
    ),
    (
        "%9223372036854775808 = Sum (%0)",
        r#"E1005 2:1 "%9223372036854775808": `%9223372036854775808` is not an id of at most 9223372036854775807"#,
    ),
    (
        "%1 Sum (%0)",
        r#"- 2:4 "Sum": expected `=` or `,`, found `Sum`"#,
    ),
    (
        "+1",
        r#"- 2:1 "+1": expected the name of an op, found `+1`"#,
    ),
    (
        "outputs: %0 %0",
        r#"- 2:13 "%": expected `,` or the end of the line, found `%`"#,
    ),
    (
        "outputs: 0",
        r#"- 2:10 "0": expected an id such as `%0`, found `0`"#,
    ),
    (
        "outputs: %0, %5",
        r#"E4003 2:14 "%5": output 1 is %5, which no line above defines"#,
    ),
    (
        "%1 = Conv2d (%0, %0) {padding=full}",
        r#"- 2:31 "full": expected `valid`, `same` or `[[top, bottom], [left, right]]`, found `full`"#,
    ),
    (
        "%1 = Conv2d (%0, %0) {padding=[1, 1]}",
        r#"- 2:32 "1": expected two pairs, `[[top, bottom], [left, right]]`, found `1`"#,
    ),
    (
        "%1 = Slice (%0, [1:2, 3])",
        r#"- 2:24 "]": expected `:` and the end of the range, found `]`"#,
    ),
    (
        "%1 = Slice (%0, [:2])",
        r#"- 2:18 ":": expected an integer, found `:`"#,
    ),
    (
        "%1 = Input {name=x, role=weight}",
        r#"- 2:26 "weight": expected `param` or `input`, found `weight`"#,
    ),
    (
        "%1 = ConstTensor : tensor<f32[2]>",
        r#"- 2:6 "ConstTensor": `ConstTensor` needs the attribute `data`"#,
    ),
    (
        "%1 = ConstTensor {data=[1], fill=1} : tensor<f32[2]>",
        r#"- 2:29 "fill=1": a constant has either `data` or `fill`, not both"#,
    ),
    (
        "%1 = ConstTensor {data=[1]}",
        r#"E4004 2:6 "ConstTensor": a constant needs a dtype"#,
    ),
    (
        "%1 = ConstTensor {data=[1], dtype=i32} : tensor<f32[1]>",
        r#"E2001 2:29 "dtype=i32": attribute `dtype` says i32, the declared type f32"#,
    ),
    (
        "%1 = ConstTensor {data=[1], shape=[1]} : tensor<f32[1, 1]>",
        r#"E2001 2:29 "shape=[1]": attribute `shape` says [1], the declared type [1, 1]"#,
    ),
    (
        "%1 = ConstTensor([[1],[2]]) : tensor<f32[1, 2]>",
        r#"E3010 2:18 "[[1],[2]]": the data has shape [2, 1], the constant [1, 2]"#,
    ),
    (
        "%1 = ConstTensor(1) : tensor<f32[1]>",
        r#"E3010 2:18 "1": the data has shape [], the constant [1]"#,
    ),
    (
        "%1 = ConstTensor([[1],[2,3]]) : tensor<f32[2, 2]>",
        r#"E3010 2:27 "]": the data is ragged: a list of 2 beside one of 1"#,
    ),
    (
        "%1 = ConstTensor([[1],2]) : tensor<f32[2, 1]>",
        r#"E3010 2:23 "2": the data is ragged: an element stands among lists"#,
    ),
    (
        "%1 = ConstTensor([1,[2]]) : tensor<f32[2]>",
        r#"E3010 2:21 "[": the data is ragged: a list stands among elements"#,
    ),
    (
        "%1 = ConstTensor([1,[]]) : tensor<f32[2]>",
        r#"E3010 2:21 "[": the data is ragged: a list stands among elements"#,
    ),
    (
        "%1 = ConstTensor([1, 300]) : tensor<u8[2]>",
        r#"E4005 2:22 "300": `300` does not fit u8"#,
    ),
    (
        "%1 = ConstTensor([1, 1.5]) : tensor<u8[2]>",
        r#"E1005 2:22 "1.5": `1.5` is not an integer"#,
    ),
    (
        "%1 = ConstTensor([1,,2]) : tensor<u8[2]>",
        r#"- 2:21 ",": expected an integer, found `,`"#,
    ),
    (
        "%1 = ConstTensor([1) : tensor<u8[2]>",
        r#"- 2:20 ")": expected an element, `,` or `]`, found `)`"#,
    ),
    (
        "%1 = Input {name=x, } : tensor<f32[1,2,]>\n%2 = Input {, name=y}",
        r#"- 3:13 ",": expected the name of an attribute, found `,`"#,
    ),
];

#[test]
fn each_line_has_its_one_error() {
    for (line, expected) in LINES {
        let text = format!("%0 = ConstI64(1)\n{line}");
        assert_eq!(errors(&text), [*expected], "{line}");
    }
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
    assert_eq!(
        errors(text),
        [
            r#"- 1:6 "Inptu": unknown op `Inptu`"#,
            r#"E4001 3:15 "%9": %2 uses %9, which no line above defines"#,
            r#"- 5:15 "[": `Neg` takes no attribute in parentheses besides its operands"#,
        ]
    );
}

#[test]
fn an_id_defined_further_down_is_shown() {
    let text = "%1 = Neg (%12)\n%12 = ConstI64(1)\noutputs: %1";
    let found = try_parse(text).err().expect("an error");
    let error = found.first_error().expect("an error");
    assert_eq!(error.code, Some(Code(4001)));
    assert_eq!(
        error.related,
        [(Span::new(15, 18), "it is defined here".to_owned())]
    );
    assert_eq!(
        error.context,
        [
            ("instruction", "%1".to_owned()),
            ("operand", "%12".to_owned())
        ]
    );
    assert_eq!(
        error.help.as_deref(),
        Some("a value can be used only below the line that defines it")
    );
}

#[test]
fn a_second_definition_shows_the_first() {
    let found = try_parse("%07 = ConstI64(1)\n%7 = ConstI64(1)")
        .err()
        .expect("an error");
    let error = found.first_error().expect("an error");
    assert_eq!(
        (error.span, error.related[0].0),
        (Span::new(18, 20), Span::new(0, 3))
    );
}

#[test]
fn help_names_what_was_meant() {
    let help = |text: &str| try_parse(text).err()?.first_error()?.help.clone();
    let cases = [
        ("%0 = Matmull(%1)", "did you mean `MatMul`?"),
        (
            "%0 = ConstI64(1)\n%1 = Sum(%0) {axs=[1]}",
            "did you mean `axes`?",
        ),
        (
            "%0 = ConstI64(1)\n%1 = Sum(%0) {dimension=1}",
            "it has `axes`, `keepdims`",
        ),
        (
            "%0 = ConstI64(1)\n%1 = Neg(%0) {dimension=1}",
            "it has no attributes",
        ),
        (
            "%0 = Input {name=x} : tensor<fp32[2]>",
            "did you mean `f32`?",
        ),
        (
            "%0 = Add(0, 1)",
            "value 0 is written `%0`; the number 0 is a constant that a line above defines, as in `%9 = ConstI64 {value=0}`",
        ),
        (
            "%0 = ConstI64(1)\n%1 = Sum(%0, axes=[1])",
            "named attributes stand in braces, as in `{axes=...}`",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(help(text).as_deref(), Some(expected), "{text}");
    }
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
