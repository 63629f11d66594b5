//! Every error of a mic@2 text, with its span and message.

use mind_snapshot::snapshot;
use mind_text::Format;

use crate::rendered;

/// Renders the errors of each text.
fn texts(texts: &[&str]) -> String {
    rendered(Format::Mic2, texts)
}

/// Renders the errors of each node line after two inputs of value ids 0 and 1; it is line 6.
fn nodes(lines: &[&str]) -> String {
    let text = |line: &&str| format!("mic@2\nS B\nT0 f32 4\na x T0\na y T0\n{line}\nO 0");
    rendered(Format::Mic2, lines.iter().map(text))
}

#[test]
fn the_header() {
    snapshot!(texts(&[
        "",
        "# only\n\n",
        "T0 f32\n",
        "\n# c\n mic@3\n",
        "mic@1",
        "mic@",
        "mic@21",
        "mic@2.1",
        "mic@2a",
        "mic@2 x\nT0 f32\n",
    ]));
}

#[test]
fn opcodes_are_checked_first() {
    snapshot!(nodes(&[
        "foo 0 x",
        "M 0 1",
        "matmul 0 1",
        "5 0",
        "\rr 0",
        "\0",
        "S0 x",
        "a1 x T0",
    ]));
}

#[test]
fn arity() {
    snapshot!(nodes(&[
        "m", "m 0", "m 9", "r", "rshp", "gth 0", "cat", "cat 0",
    ]));
}

#[test]
fn params() {
    snapshot!(nodes(&[
        "m 0 1 2",
        "+ 0 9 1 1",
        "r 0 1",
        "s 0 1 2",
        "gth 0 1 2 3",
        "split 0",
        "split 0 1",
        "split 0 1 2 1 0",
    ]));
}

#[test]
fn counts_and_parts_of_split() {
    snapshot!(nodes(&[
        "split 0 0 0",
        "split 0 0 -2",
        "split 0 0 2  2",
        "split 0 0 2 -1",
    ]));
}

#[test]
fn inputs_are_defined_above() {
    snapshot!(nodes(&[
        "m 0 2",
        "m 2 0",
        "m -1 0",
        "cat 0 7 0",
        "rshp 7 4",
        "r 9223372036854775807",
    ]));
}

#[test]
fn inputs_where_nothing_is_defined() {
    snapshot!(texts(&["mic@2\nr 0\nO 0",]));
}

#[test]
fn every_word_of_a_node_is_an_integer() {
    snapshot!(nodes(&[
        "m 0 x",
        "m 0,1",
        "m 0 +1",
        "sum 0 1.0",
        "sum 0 [1]",
        "t 0 -",
        "r 9223372036854775808",
        "r 18446744073709551615",
        "rshp 0 1e3",
        "r 0\r1",
    ]));
}

#[test]
fn target_dimensions() {
    let dims = "1 ".repeat(33);
    snapshot!(nodes(&[
        "rshp 0 N",
        "rshp 0 ?",
        "rshp 0 B$",
        "rshp 0 ?4",
        &format!("rshp 0 {dims}"),
    ]));
}

#[test]
fn dimensions() {
    let dims = "1 ".repeat(33);
    let type_of_rank = |rank: usize| format!("mic@2\nT0 f32{}\na x T0\nO 0", " 1".repeat(rank));
    crate::canonical(Format::Mic2, &type_of_rank(32));
    snapshot!(texts(&[
        &format!("mic@2\nT0 f32 {dims}\nO 0"),
        &type_of_rank(33),
        "mic@2\nT0 f32 3x\na x T0\nO 0",
        "mic@2\nT0 f32 B\na x T0\nO 0",
        "mic@2\nT0 f32 B B\nT1 f32 B\na x T1\nO 0",
        "mic@2\nT0 f32 é\na x T0\nO 0",
    ]));
}

#[test]
fn types() {
    snapshot!(texts(&[
        "mic@2\nT1 f32\na x T0\nO 0",
        "mic@2\nT0 f32\nT2 f32\nT3 f32\na x T3\nO 0",
        "mic@2\nT0 f32\nT0 f32\na x T0\nO 0",
        "mic@2\nT0x f32\na x T0\nO 0",
        "mic@2\nT\na x T0\nO 0",
        "mic@2\nT0\na x T0\nO 0",
        "mic@2\nT0 F32\na x T0\nO 0",
        "mic@2\nT0 [f32;4]\na x T0\nO 0",
    ]));
}

#[test]
fn symbols() {
    let end = "T0 f32\na x T0\nO 0";
    snapshot!(texts(&[
        "mic@2\nS\nO 0",
        &format!("mic@2\nS 1\n{end}"),
        &format!("mic@2\nS B-C\n{end}"),
        &format!("mic@2\nS B C\n{end}"),
    ]));
}

#[test]
fn inputs() {
    let lines = [
        "a",
        "p 1x T0",
        "p \"x\" T0",
        "a x",
        "a x f32",
        "a x T",
        "a x T0x",
        "a x T1",
        "a x T18446744073709551615",
        "a x T0 T0",
    ];
    let text = |line| format!("mic@2\nT0 f32\n{line}\nr 0\nO 1");
    snapshot!(rendered(Format::Mic2, lines.map(text)));
}

#[test]
fn outputs() {
    snapshot!(texts(&["mic@2\nT0 f32\na x T0\n", "mic@2", "mic@2\n# x\n"]));
}

#[test]
fn output_lines() {
    let lines = [
        "O",
        "O x",
        "O 1",
        "O -1",
        "O 0 0",
        "O 0\nr 0",
        "O 0\nO 0\nO 0",
    ];
    let text = |line| format!("mic@2\nT0 f32\na x T0\n{line}");
    snapshot!(rendered(Format::Mic2, lines.map(text)));
}

#[test]
fn all_errors_are_found_and_one_mistake_gives_one() {
    snapshot!(texts(&[
        "mic@2\nT0 f32 4\nT1 f33\na x T0\na y T1\nfoo 0\nm 2 0 1\n+ 2 3\nr 9\nO 5",
    ]));
}

#[test]
fn help_names_what_was_meant() {
    snapshot!(texts(&[
        "mic@2\nT0 f23\n",
        "mic@2\nT0 f32\na x T0\nsoum 0\nO 1",
        "mic@2\nT0 f32 B\na x T0\nO 0",
        "mic@2\na x T0\nO 0",
        "mic@2\nT0 f32\na x T7\nO 0",
        "mic@2\nT0 f32\na x T0\nsplit 0\nO 1",
    ]));
}

#[test]
fn the_promised_one_line_form() {
    let text = "mic@2\nT0 f32 4\na x T0\na y T0\n# m\nm 0\nO 2";
    let found = crate::FORMATS
        .parse(Format::Mic2, text, 0, &Default::default())
        .map(drop)
        .unwrap_err();
    let error = mind_text::first_error(text, 0, &found).unwrap();
    assert_eq!(
        error.one_line(Format::Mic2),
        "mic@2:6: error: 'm' needs 2 inputs, found 1"
    );
    let text = "mic@2\nT0 f16 128 128\nT1 f16 128\na X T0\np W T0\np b T1\nm 0 1\n+ 9 2\nO 4";
    let found = crate::FORMATS
        .parse(Format::Mic2, text, 700, &Default::default())
        .map(drop)
        .unwrap_err();
    let error = mind_text::first_error(text, 700, &found).unwrap();
    assert_eq!(
        error.one_line(Format::Mic2),
        "mic@2:8: error: input 9 is not defined yet (values so far: 0..4)"
    );
}
