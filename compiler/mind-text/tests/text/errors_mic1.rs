//! Every error of a mic@1 text, with its place and message.

use mind_text::Format;

use crate::errors;

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(errors(Format::Mic1, text), expected, "{text}");
}

/// Checks a line below nodes 0 and 1; it is line 6.
#[track_caller]
fn line(line: &str, expected: &str) {
    let above = "mic@1\nS0 \"x\"\nT0 [f32;4]\nN0 input S0 T0\nN1 input S0 T0\n";
    check(&format!("{above}{line}\nO N0\n"), &[expected]);
}

#[test]
fn the_header() {
    check(
        "",
        &["0:0 expected the header 'mic@1', found the end of the text"],
    );
    check(
        "N0 relu N1",
        &["1:1 expected the header 'mic@1', found 'N0'"],
    );
    check(
        "mic@2\n",
        &["1:1 unsupported version 'mic@2', expected 'mic@1'"],
    );
    check(
        "mic@1.0\n",
        &["1:1 unsupported version 'mic@1.0', expected 'mic@1'"],
    );
    check(
        "mic@1 N0\n",
        &["1:7 expected the end of the line, found 'N0'"],
    );
}

#[test]
fn lines_of_no_kind() {
    line(
        "X0 f32",
        "6:1 expected a line of kind S, T, N or O, found 'X0'",
    );
    line(
        "mic@1",
        "6:1 expected a line of kind S, T, N or O, found 'mic@1'",
    );
    line(
        "\r \n",
        "6:1 expected a line of kind S, T, N or O, found '\\r'",
    );
    line(
        "ON1",
        "6:1 expected a line of kind S, T, N or O, found 'ON1'",
    );
}

#[test]
fn names() {
    line("S x", "6:1 expected a name such as S0, found 'S'");
    line("S0 \"y\"", "6:1 S0 is declared twice");
    line("S1", "6:2 expected a text in quotes");
    line("S1 x", "6:4 expected a text in quotes");
    line("S1 \"", "6:4 E1003 string without closing quote");
    line("S1 \"abc", "6:4 E1003 string without closing quote");
    line("S1 \"a\\x\"", "6:6 E1004 unknown escape '\\x'");
    line("S1 \"a\" b", "6:8 expected the end of the line, found 'b'");
    line("S1 \"a\"b", "6:7 expected the end of the line, found 'b'");
}

#[test]
fn types() {
    line("T f32", "6:1 expected a type such as T0, found 'T'");
    line("T-1 f32", "6:1 expected a type such as T0, found 'T-1'");
    line("T0 f32", "6:1 T0 is declared twice");
    line("T1", "6:2 expected a type such as f32 or [f32;2,3]");
    line("T1 f31", "6:4 unknown dtype 'f31'");
    line("T1 [f31;2]", "6:5 unknown dtype 'f31'");
    line(
        "T1 [f32]",
        "6:8 expected ';' behind the dtype, as in [f32;2,3]",
    );
    line("T1 [f32", "6:4 '[' is not closed");
    line("T1 [f32;", "6:4 '[' is not closed");
    line("T1 [f32;2", "6:4 '[' is not closed");
    line("T1 [f32;2,", "6:4 '[' is not closed");
    line("T1 [f32;2 3]", "6:11 expected ',' or ']', found '3'");
    line(
        "T1 [f32;,]",
        "6:9 expected a dimension: an integer, a symbol or '?'",
    );
    line(
        "T1 [f32;2,]",
        "6:11 expected a dimension: an integer, a symbol or '?'",
    );
    line("T1 [f32;3x]", "6:9 E1005 expected an integer, found '3x'");
    line("T1 [f32;1e3]", "6:9 E1005 expected an integer, found '1e3'");
    line(
        "T1 [f32;9223372036854775808]",
        "6:9 E1005 expected an integer, found '9223372036854775808'",
    );
    line("T1 [f32;a-b]", "6:10 E1002 illegal character '-' in 'a-b'");
    line("T1 [f32;+3]", "6:9 E1002 illegal character '+' in '+3'");
    line(
        "T1 [f32;2]x",
        "6:11 expected the end of the line, found 'x'",
    );
    line("T1 f32 4", "6:8 expected the end of the line, found '4'");
    let shape = vec!["1"; 32].join(",");
    crate::canonical(
        Format::Mic1,
        &format!("mic@1\nS0 \"x\"\nT0 [f32;{shape}]\nN0 input S0 T0\nO N0\n"),
    );
    line(
        &format!("T1 [f32;1{}]", ",1".repeat(32)),
        "6:73 more than 32 dimensions",
    );
}

#[test]
fn node_ids() {
    line("N relu N0", "6:1 expected a node such as N3, found 'N'");
    line("Nx relu N0", "6:1 expected a node such as N3, found 'Nx'");
    line("N2x relu N0", "6:1 expected a node such as N3, found 'N2x'");
    line("N-2 relu N0", "6:1 expected a node such as N3, found 'N-2'");
    line("N1 relu N0", "6:1 E4002 N1 is defined twice");
    line(
        "N18446744073709551615 relu N0",
        "6:1 E1005 expected a node such as N3, found 'N18446744073709551615'",
    );
    line(
        "N9223372036854775808 relu N0",
        "6:1 E1005 expected a node such as N3, found 'N9223372036854775808'",
    );
}

#[test]
fn kinds() {
    line(
        "N2",
        "6:2 expected a kind such as add, found the end of the line",
    );
    line("N2 reul N0", "6:4 unknown kind 'reul'");
    line("N2 Add N0 N1", "6:4 unknown kind 'Add'");
    line("N2 fused N0", "6:4 unknown kind 'fused'");
}

#[test]
fn operands() {
    line("N2 add", "6:1 E2007 'add' needs 2 operands, found 0");
    line("N2 add N0", "6:1 E2007 'add' needs 2 operands, found 1");
    line(
        "N2 add N0 N1 N0 T0",
        "6:1 E2007 'add' needs 2 operands, found 3",
    );
    line("N2 relu T0", "6:1 E2007 'relu' needs 1 operand, found 0");
    line(
        "N2 concat ax=0",
        "6:1 E2007 'concat' needs at least 1 operand, found 0",
    );
    line("N2 slice 0:1", "6:1 E2007 'slice' needs 1 operand, found 0");
    line(
        "N2 add N0 Nx",
        "6:11 expected a node such as N3, found 'Nx'",
    );
    line("N2 add N0 x", "6:1 E2007 'add' needs 2 operands, found 1");
    line(
        "N2 add N0 N7",
        "6:11 E4001 N2 uses N7, which is not defined on an earlier line",
    );
    line(
        "N2 relu N2",
        "6:9 E4001 N2 uses N2, which is not defined on an earlier line",
    );
    line("N2 relu N0x", "6:9 expected a node such as N3, found 'N0x'");
}

#[test]
fn attributes() {
    line("N2 relu N0 x", "6:12 unexpected 'x'");
    line("N2 relu N0 [1]", "6:12 unexpected '[1]'");
    line("N2 relu N0 1", "6:12 unexpected '1'");
    line("N2 relu N0 kd=1", "6:12 unknown attribute 'kd'");
    line("N2 sum N0 dk=1", "6:11 unknown attribute 'dk'");
    line("N2 sum N0 kd", "6:11 unexpected 'kd'");
    line("N2 sum N0 kd =1", "6:11 unexpected 'kd'");
    line(
        "N2 sum N0 kd=",
        "6:13 expected 0, 1, true or false, found the end of the line",
    );
    line(
        "N2 sum N0 kd=2",
        "6:14 expected 0, 1, true or false, found '2'",
    );
    line("N2 sum N0 kd=1 kd=1", "6:16 attribute 'kd' is given twice");
    line("N2 sum N0 [0] [1]", "6:15 unexpected '[1]'");
    line("N2 sum N0 [0]kd=1", "6:14 unexpected 'kd=1'");
    line("N2 sum N0 [0", "6:11 '[' is not closed");
    line("N2 sum N0 [", "6:11 '[' is not closed");
    line("N2 sum N0 [0,", "6:11 '[' is not closed");
    line("N2 sum N0 [0,]", "6:14 expected an integer, found ']'");
    line("N2 sum N0 [x]", "6:12 expected an integer, found 'x'");
    line("N2 sum N0 [0 1]", "6:14 expected ',' or ']', found '1'");
    line(
        "N2 sum N0 [1.0]",
        "6:12 E1005 expected an integer, found '1.0'",
    );
    line(
        "N2 gather N0 N1 ax=x",
        "6:20 expected an integer, found 'x'",
    );
    line(
        "N2 gather N0 N1 ax=",
        "6:19 expected an integer, found the end of the line",
    );
    line("N2 concat N0 N1", "6:1 'concat' needs the attribute 'ax'");
    line("N2 split N0 ax=0", "6:1 'split' needs the attribute 'n'");
    line("N2 sum_all N0 kd=1", "6:15 unexpected 'kd=1'");
}

#[test]
fn lists_that_are_required_and_target_shapes() {
    line(
        "N2 reshape N0",
        "6:1 'reshape' needs a list of its new shape",
    );
    line("N2 squeeze N0 T0", "6:1 'squeeze' needs a list of its axes");
    line("N2 expand N0", "6:1 'expand' needs a list of its axes");
    line("N2 index N0", "6:1 'index' needs a list of its indices");
    line(
        "N2 index N0 [0:1]",
        "6:14 E1005 expected an integer, found '0:1'",
    );
    line(
        "N2 reshape N0 4",
        "6:15 expected a list such as [2,-1], found '4'",
    );
    line(
        "N2 squeeze N0 4",
        "6:15 expected a list such as [1,2], found '4'",
    );
    line("N2 reshape N0 [?]", "6:16 a target dimension cannot be '?'");
    line(
        "N2 reshape N0 [3x]",
        "6:16 E1005 expected an integer, found '3x'",
    );
    line(
        &format!("N2 reshape N0 [1{}]", ",1".repeat(32)),
        "6:80 more than 32 dimensions",
    );
}

#[test]
fn windows() {
    line("N2 conv2d N0 N1 s=[", "6:19 '[' is not closed");
    line("N2 conv2d N0 N1 p=full", "6:19 unknown padding 'full'");
    line(
        "N2 conv2d N0 N1 p=[[1,1]]",
        "6:19 E4010 expected two pairs of pads",
    );
    line(
        "N2 conv2d N0 N1 p=[[1,1],[1]]",
        "6:19 E4010 expected two pairs of pads",
    );
    line(
        "N2 conv2d N0 N1 p=[[1],[1,1,1]]",
        "6:19 E4010 expected two pairs of pads",
    );
    line(
        "N2 conv2d N0 N1 p=[1,1]",
        "6:20 expected a list such as [1,1], found '1,1]'",
    );
    line(
        "N2 conv2d N0 N1 p=[[[1]]]",
        "6:21 expected an integer, found '[1]]]'",
    );
}

#[test]
fn slices() {
    line(
        "N2 slice N0 [0:1]",
        "6:13 expected start:end:step, found '[0:1]'",
    );
    line("N2 slice N0 0", "6:13 expected start:end:step, found '0'");
    line("N2 slice N0 :4", "6:13 expected start:end:step, found ':4'");
    line(
        "N2 slice N0 0:1:",
        "6:13 expected start:end:step, found '0:1:'",
    );
    line(
        "N2 slice N0 0:1:1:1",
        "6:13 expected start:end:step, found '0:1:1:1'",
    );
    line(
        "N2 slice N0 0:1,",
        "6:16 expected start:end:step, found the end of the line",
    );
    line("N2 slice N0 0:1 0:1", "6:17 unexpected '0:1'");
}

#[test]
fn constants() {
    line("N2 const.i64", "6:1 'const.i64' needs a value");
    line(
        "N2 const.i64 1.5",
        "6:14 E1005 expected an integer, found '1.5'",
    );
    line("N2 const.i64 x", "6:14 unexpected 'x'");
    line(
        "N2 const.i64 9223372036854775808",
        "6:14 E1005 expected an integer, found '9223372036854775808'",
    );
    line("N2 const.f32 1e39", "6:14 E4005 '1e39' overflows f32");
    line("N2 const.f64 1e309", "6:14 E4005 '1e309' overflows f64");
    line(
        "N2 const.f32 1.5f",
        "6:14 E1005 expected a number, found '1.5f'",
    );
    line(
        "N2 const.f32",
        "6:12 E1005 expected a number, found the end of the line",
    );
    line("N2 const.f32 1.5 2.5", "6:18 unexpected '2.5'");
    line(
        "N2 const.tensor T0",
        "6:17 expected the elements of a constant",
    );
    line(
        "N2 const.tensor [1]",
        "6:1 E4004 the type of N2 must be declared",
    );
    line("N2 const.tensor [1", "6:17 '[' is not closed");
    line(
        "N2 const.tensor [[1]] T0",
        "6:18 the elements of a constant are one flat list",
    );
    line(
        "N2 const.tensor [1,x,2] T0",
        "6:20 E1005 'x' is not an element of f32",
    );
    line(
        "N2 const.tensor [1,,2] T0",
        "6:19 E1005 '' is not an element of f32",
    );
    line(
        "N2 const.tensor [1e39] T0",
        "6:18 E4005 '1e39' does not fit f32",
    );
    line(
        "N2 const.tensor fill= T0",
        "6:21 E1005 '' is not an element of f32",
    );
    line(
        "N2 const.tensor fill=true T0",
        "6:22 E1005 'true' is not an element of f32",
    );
    check(
        "mic@1\nN0 const.tensor [1,300] T0\nT0 [u8;2]\nO N0\n",
        &["2:20 E4005 '300' does not fit u8"],
    );
    check(
        "mic@1\nN0 const.tensor [true,1] T0\nT0 [bool;2]\nO N0\n",
        &["2:23 E1005 '1' is not an element of bool"],
    );
}

#[test]
fn input_lines() {
    line(
        "N2 input",
        "6:8 E4004 expected a name such as S0 or \"x\", found the end of the line",
    );
    line(
        "N2 param x T0",
        "6:10 E4004 expected a name such as S0 or \"x\", found 'x'",
    );
    line("N2 param \"x T0", "6:10 E1003 string without closing quote");
    line("N2 input S0", "6:1 E4004 the type of N2 must be declared");
    line("N2 input \"x\" N0", "6:14 unexpected 'N0'");
    line(
        "N2 input Sx T0",
        "6:10 expected a name such as S0, found 'Sx'",
    );
}

#[test]
fn types_of_nodes() {
    line("N2 relu N0 T7", "6:12 type T7 is not declared");
    line("N2 relu N0 T", "6:12 expected a type such as T0, found 'T'");
    line(
        "N2 relu N0 T0 T0",
        "6:15 expected the end of the line, found 'T0'",
    );
    line(
        "N2 sum N0 T0 kd=1",
        "6:14 expected the end of the line, found 'kd=1'",
    );
}

#[test]
fn outputs() {
    line(
        "O",
        "6:1 expected a node such as N3, found the end of the line",
    );
    line("O 1", "6:3 expected a node such as N3, found '1'");
    line("O Nx", "6:3 expected a node such as N3, found 'Nx'");
    line("O N0 N1", "6:6 expected the end of the line, found 'N1'");
    line("O N7", "6:3 E4003 output N7 is not defined");
}

#[test]
fn a_duplicate_shows_both_places_and_a_forward_reference_its_definition() {
    let related = |text: &str| {
        let found = crate::FORMATS
            .parse(Format::Mic1, text, 0, &Default::default())
            .map(drop)
            .unwrap_err();
        let error = found.first_error().unwrap().clone();
        let place = |(span, message): &(mind_diag::Span, String)| {
            format!(
                "{} {message}",
                &text[span.start as usize..span.end as usize]
            )
        };
        error.related.iter().map(place).collect::<Vec<_>>()
    };
    let text = "mic@1\nT0 f32\nN0 input \"x\" T0 # first\nN0 relu N0\nO N0\n";
    assert_eq!(
        related(text),
        ["N0 input \"x\" T0 N0 is first defined here"]
    );
    let text = "mic@1\nT0 f32\nN1 relu N0\nN0 input \"x\" T0\nO N1\n";
    assert_eq!(related(text), ["N0 input \"x\" T0 N0 is defined here"]);
}

#[test]
fn all_errors_are_found_in_text_order_and_one_mistake_gives_one() {
    let text = "\
mic@1
S0 \"x
T0 [f32;4]
T1 [f33;4]
N0 input S0 T0
N1 input \"y\" T1
N2 input \"z\" T9
N3 reul N2
N4 add N3 N0
N5 add N4 N99
N6 relu N5
O N6
O N98
";
    check(
        text,
        &[
            "2:4 E1003 string without closing quote",
            "4:5 unknown dtype 'f33'",
            "7:14 type T9 is not declared",
            "8:4 unknown kind 'reul'",
            "10:11 E4001 N5 uses N99, which is not defined on an earlier line",
            "13:3 E4003 output N98 is not defined",
        ],
    );
}

#[test]
fn the_promised_one_line_form() {
    let text =
        "mic@1\nT0 f32\n\n#\nN0 input \"x\" T0\nN1 relu N0\nN2 relu N0\nN3 relu N0\nN4 add N3 N7\n";
    let found = crate::FORMATS
        .parse(Format::Mic1, text, 0, &Default::default())
        .map(drop)
        .unwrap_err();
    let error = mind_text::first_error(text, 0, &found).unwrap();
    assert_eq!(
        error.one_line(Format::Mic1),
        "mic:9: error: N4 uses N7, which is not defined on an earlier line"
    );
}
