//! Every error of a mic@1 text, with its span and message.

use mind_snapshot::snapshot;
use mind_text::Format;

use crate::rendered;

/// Renders the errors of each text.
fn texts(texts: &[&str]) -> String {
    rendered(Format::Mic1, texts)
}

/// Renders the errors of each line after nodes 0 and 1; it is line 6.
fn lines(lines: &[&str]) -> String {
    let above = "mic@1\nS0 \"x\"\nT0 [f32;4]\nN0 input S0 T0\nN1 input S0 T0\n";
    let text = |line: &&str| format!("{above}{line}\nO N0\n");
    rendered(Format::Mic1, lines.iter().map(text))
}

#[test]
fn the_header() {
    snapshot!(texts(&[
        "",
        "N0 relu N1",
        "mic@2\n",
        "mic@1.0\n",
        "mic@1 N0\n",
    ]));
}

#[test]
fn lines_of_no_kind() {
    snapshot!(lines(&["X0 f32", "mic@1", "\r \n", "ON1",]));
}

#[test]
fn names() {
    snapshot!(lines(&[
        "S x",
        "S0 \"y\"",
        "S1",
        "S1 x",
        "S1 \"",
        "S1 \"abc",
        "S1 \"a\\x\"",
        "S1 \"a\" b",
        "S1 \"a\"b",
    ]));
}

#[test]
fn types() {
    let shape = vec!["1"; 32].join(",");
    crate::canonical(
        Format::Mic1,
        &format!("mic@1\nS0 \"x\"\nT0 [f32;{shape}]\nN0 input S0 T0\nO N0\n"),
    );
    snapshot!(lines(&[
        "T f32",
        "T-1 f32",
        "T0 f32",
        "T1",
        "T1 f31",
        "T1 [f31;2]",
        "T1 [f32]",
        "T1 [f32",
        "T1 [f32;",
        "T1 [f32;2",
        "T1 [f32;2,",
        "T1 [f32;2 3]",
        "T1 [f32;,]",
        "T1 [f32;2,]",
        "T1 [f32;3x]",
        "T1 [f32;1e3]",
        "T1 [f32;9223372036854775808]",
        "T1 [f32;a-b]",
        "T1 [f32;+3]",
        "T1 [f32;2]x",
        "T1 f32 4",
        &format!("T1 [f32;1{}]", ",1".repeat(32)),
    ]));
}

#[test]
fn node_ids() {
    snapshot!(lines(&[
        "N relu N0",
        "Nx relu N0",
        "N2x relu N0",
        "N-2 relu N0",
        "N1 relu N0",
        "N18446744073709551615 relu N0",
        "N9223372036854775808 relu N0",
    ]));
}

#[test]
fn kinds() {
    snapshot!(lines(&["N2", "N2 reul N0", "N2 Add N0 N1", "N2 fused N0",]));
}

#[test]
fn operands() {
    snapshot!(lines(&[
        "N2 add",
        "N2 add N0",
        "N2 add N0 N1 N0 T0",
        "N2 relu T0",
        "N2 concat ax=0",
        "N2 slice 0:1",
        "N2 add N0 Nx",
        "N2 add N0 x",
        "N2 add N0 N7",
        "N2 relu N2",
        "N2 relu N0x",
    ]));
}

#[test]
fn attributes() {
    snapshot!(lines(&[
        "N2 relu N0 x",
        "N2 relu N0 [1]",
        "N2 relu N0 1",
        "N2 relu N0 kd=1",
        "N2 sum N0 dk=1",
        "N2 sum N0 kd",
        "N2 sum N0 kd =1",
        "N2 sum N0 kd=",
        "N2 sum N0 kd=2",
        "N2 sum N0 kd=1 kd=1",
        "N2 sum N0 [0] [1]",
        "N2 sum N0 [0]kd=1",
        "N2 sum N0 [0",
        "N2 sum N0 [",
        "N2 sum N0 [0,",
        "N2 sum N0 [0,]",
        "N2 sum N0 [x]",
        "N2 sum N0 [0 1]",
        "N2 sum N0 [1.0]",
        "N2 gather N0 N1 ax=x",
        "N2 gather N0 N1 ax=",
        "N2 concat N0 N1",
        "N2 split N0 ax=0",
        "N2 sum_all N0 kd=1",
    ]));
}

#[test]
fn lists_that_are_required_and_target_shapes() {
    snapshot!(lines(&[
        "N2 reshape N0",
        "N2 squeeze N0 T0",
        "N2 expand N0",
        "N2 index N0",
        "N2 index N0 [0:1]",
        "N2 reshape N0 4",
        "N2 squeeze N0 4",
        "N2 reshape N0 [?]",
        "N2 reshape N0 [3x]",
        &format!("N2 reshape N0 [1{}]", ",1".repeat(32)),
    ]));
}

#[test]
fn windows() {
    snapshot!(lines(&[
        "N2 conv2d N0 N1 s=[",
        "N2 conv2d N0 N1 p=full",
        "N2 conv2d N0 N1 p=[[1,1]]",
        "N2 conv2d N0 N1 p=[[1,1],[1]]",
        "N2 conv2d N0 N1 p=[[1],[1,1,1]]",
        "N2 conv2d N0 N1 p=[1,1]",
        "N2 conv2d N0 N1 p=[[[1]]]",
    ]));
}

#[test]
fn slices() {
    snapshot!(lines(&[
        "N2 slice N0 [0:1]",
        "N2 slice N0 0",
        "N2 slice N0 :4",
        "N2 slice N0 0:1:",
        "N2 slice N0 0:1:1:1",
        "N2 slice N0 0:1,",
        "N2 slice N0 0:1 0:1",
    ]));
}

#[test]
fn constants() {
    snapshot!(lines(&[
        "N2 const.i64",
        "N2 const.i64 1.5",
        "N2 const.i64 x",
        "N2 const.i64 9223372036854775808",
        "N2 const.f32 1e39",
        "N2 const.f64 1e309",
        "N2 const.f32 1.5f",
        "N2 const.f32",
        "N2 const.f32 1.5 2.5",
        "N2 const.tensor T0",
        "N2 const.tensor [1]",
        "N2 const.tensor [1",
        "N2 const.tensor [[1]] T0",
        "N2 const.tensor [1,x,2] T0",
        "N2 const.tensor [1,,2] T0",
        "N2 const.tensor [1e39] T0",
        "N2 const.tensor fill= T0",
        "N2 const.tensor fill=true T0",
    ]));
}

#[test]
fn constants_of_types_that_follow() {
    snapshot!(texts(&[
        "mic@1\nN0 const.tensor [1,300] T0\nT0 [u8;2]\nO N0\n",
        "mic@1\nN0 const.tensor [true,1] T0\nT0 [bool;2]\nO N0\n",
    ]));
}

#[test]
fn input_lines() {
    snapshot!(lines(&[
        "N2 input",
        "N2 param x T0",
        "N2 param \"x T0",
        "N2 input S0",
        "N2 input \"x\" N0",
        "N2 input Sx T0",
    ]));
}

#[test]
fn types_of_nodes() {
    snapshot!(lines(&[
        "N2 relu N0 T7",
        "N2 relu N0 T",
        "N2 relu N0 T0 T0",
        "N2 sum N0 T0 kd=1",
    ]));
}

#[test]
fn outputs() {
    snapshot!(lines(&["O", "O 1", "O Nx", "O N0 N1", "O N7",]));
}

#[test]
fn a_duplicate_shows_both_places_and_a_forward_reference_its_definition() {
    snapshot!(texts(&[
        "mic@1\nT0 f32\nN0 input \"x\" T0 # first\nN0 relu N0\nO N0\n",
        "mic@1\nT0 f32\nN1 relu N0\nN0 input \"x\" T0\nO N1\n",
    ]));
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
    snapshot!(texts(&[text]));
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

#[test]
fn bodies() {
    snapshot!(lines(&[
        // No node, or a node without bodies.
        "B N2\nE N2",
        "N2 relu N0\nB N3\nE N3",
        "E N0",
        // Too few or too many bodies.
        "N2 if N0 N1\nB N3\nE N3",
        "N2 if N0 N1",
        "N2 scan N0 N1 c=1 n=1\nB N3 N4\nE N3\nB N5 N6\nE N5",
        // A missing end.
        "N2 if N0 N1\nB N3\nE N3\nB N4\nN5 relu N4",
        // Values from outside of the body, and of a body that has ended.
        "N2 scan N0 N1 c=1 n=1\nB N3 N4\nN5 add N3 N1\nE N5",
        "N2 scan N0 N1 c=1 n=1\nB N3 N4\nE N0",
        "N2 scan N0 N1 c=1 n=1\nB N3 N4\nE N3\nN5 relu N3",
        "N2 scan N0 N1 c=1 n=1\nB N3 N4\nE N3\nO N4",
        // Arguments.
        "N2 scan N0 N1 c=1 n=1\nB N3 N3\nE N3",
        "N2 scan N0 N1 c=1 n=1\nB N0 N3\nE N3",
        "N2 scan N0 N1 c=1 n=1\nB T0 N3\nE N3",
        "N2 scan N0 N1 c=1 n=1\nB N3 x\nE N3",
        "N2 scan N0 N1 c=1 n=1\nB N3 T9 N4\nE N3",
        // The bodies of a rejected node are rejected with it.
        "N2 iff N0 N1\nB N3\nN4 relu N3\nE N4\nB N5\nE N5\nN6 relu N2",
        "N2 if N0 N1 x=1\nB N3\nN4 relu N9\nE N4\nB N5\nE N5",
        // Results.
        "N2 if N0 N1 results=2\nB N3\nE N3\nB N4\nE N4\nN5 relu N2",
        "N2 if N0 N1 results=0\nB N3\nE N3\nB N4\nE N4",
        "N2 if N0 N1 results=9999999\nB N3\nE N3\nB N4\nE N4",
        "N2 relu N0 results=2",
    ]));
}

#[test]
fn bodies_nest_to_a_limit() {
    let nested = |levels: usize| {
        let mut text = "mic@1\nS0 \"x\"\nT0 [f32;4]\nN0 input S0 T0\n".to_owned();
        let mut read = 0;
        for level in 1..=levels {
            text += &format!("N{} if N{read}\nB N{}\n", 3 * level, 3 * level + 1);
            read = 3 * level + 1;
        }
        for level in (1..=levels).rev() {
            text += &format!("E\nB N{}\nE\n", 3 * level + 2);
        }
        text + "O N0\n"
    };
    crate::canonical(Format::Mic1, &nested(32));
    let found = crate::errors(Format::Mic1, &nested(33));
    assert_eq!(found, ["70:1 bodies are nested deeper than 32 levels"]);
}
