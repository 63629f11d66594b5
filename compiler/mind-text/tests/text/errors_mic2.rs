//! Every error of a mic@2 text, with its place and message.

use mind_text::Format;

use crate::errors;

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(errors(Format::Mic2, text), expected, "{text}");
}

/// Checks a node line below two inputs of value ids 0 and 1; it is line 6.
#[track_caller]
fn node(line: &str, expected: &str) {
    check(
        &format!("mic@2\nS B\nT0 f32 4\na x T0\na y T0\n{line}\nO 0"),
        &[expected],
    );
}

#[test]
fn the_header() {
    check(
        "",
        &["0:0 expected the header 'mic@2', found the end of the text"],
    );
    check(
        "# only\n\n",
        &["0:0 expected the header 'mic@2', found the end of the text"],
    );
    check("T0 f32\n", &["1:1 expected the header 'mic@2', found 'T0'"]);
    check(
        "\n# c\n mic@3\n",
        &["3:2 unsupported version 'mic@3', expected 'mic@2'"],
    );
    for version in ["mic@1", "mic@", "mic@21", "mic@2.1", "mic@2a"] {
        check(
            version,
            &[&format!(
                "1:1 unsupported version '{version}', expected 'mic@2'"
            )],
        );
    }
    check(
        "mic@2 x\nT0 f32\n",
        &["1:7 expected the end of the line, found 'x'"],
    );
}

#[test]
fn opcodes_are_checked_first() {
    node("foo 0 x", "6:1 unknown opcode 'foo'");
    node("M 0 1", "6:1 unknown opcode 'M'");
    node("matmul 0 1", "6:1 unknown opcode 'matmul'");
    node("5 0", "6:1 unknown opcode '5'");
    node("\rr 0", "6:1 unknown opcode '\\r'");
    node("\0", "6:1 unknown opcode '\\u{0}'");
    node("S0 x", "6:1 unknown opcode 'S0'");
    node("a1 x T0", "6:1 unknown opcode 'a1'");
}

#[test]
fn arity() {
    node("m", "6:1 E2007 'm' needs 2 inputs, found 0");
    node("m 0", "6:1 E2007 'm' needs 2 inputs, found 1");
    node("m 9", "6:1 E2007 'm' needs 2 inputs, found 1");
    node("r", "6:1 E2007 'r' needs 1 input, found 0");
    node("rshp", "6:1 E2007 'rshp' needs 1 input, found 0");
    node("gth 0", "6:1 E2007 'gth' needs 2 inputs, found 1");
    node("cat", "6:1 E2007 'cat' needs at least 1 input, found 0");
    node("cat 0", "6:1 E2007 'cat' needs at least 1 input, found 0");
}

#[test]
fn params() {
    node("m 0 1 2", "6:1 'm' takes no params, found 1");
    node("+ 0 9 1 1", "6:1 '+' takes no params, found 2");
    node("r 0 1", "6:1 'r' takes no params, found 1");
    node("s 0 1 2", "6:1 's' takes at most 1 param, found 2");
    node("gth 0 1 2 3", "6:1 'gth' takes at most 1 param, found 2");
    node("split 0", "6:1 'split' needs 2 or 3 params, found 0");
    node("split 0 1", "6:1 'split' needs 2 or 3 params, found 1");
    node(
        "split 0 1 2 1 0",
        "6:1 'split' needs 2 or 3 params, found 4",
    );
}

#[test]
fn counts_and_parts_of_split() {
    node(
        "split 0 0 0",
        "6:11 E3003 cannot split: 0 is not a positive count",
    );
    node(
        "split 0 0 -2",
        "6:11 E3003 cannot split: -2 is not a positive count",
    );
    node(
        "split 0 0 2  2",
        "6:14 E3003 cannot split: part 2 is outside the count of 2",
    );
    node(
        "split 0 0 2 -1",
        "6:13 E3003 cannot split: part -1 is outside the count of 2",
    );
}

#[test]
fn inputs_are_defined_above() {
    node(
        "m 0 2",
        "6:5 E4001 input 2 is not defined yet (values so far: 0..2)",
    );
    node(
        "m 2 0",
        "6:3 E4001 input 2 is not defined yet (values so far: 0..2)",
    );
    node(
        "m -1 0",
        "6:3 E4001 input -1 is not defined yet (values so far: 0..2)",
    );
    node(
        "cat 0 7 0",
        "6:7 E4001 input 7 is not defined yet (values so far: 0..2)",
    );
    node(
        "rshp 7 4",
        "6:6 E4001 input 7 is not defined yet (values so far: 0..2)",
    );
    node(
        "r 9223372036854775807",
        "6:3 E4001 input 9223372036854775807 is not defined yet (values so far: 0..2)",
    );
    check(
        "mic@2\nr 0\nO 0",
        &["2:3 E4001 input 0 is not defined yet (values so far: none)"],
    );
}

#[test]
fn every_word_of_a_node_is_an_integer() {
    node("m 0 x", "6:5 expected an integer, found 'x'");
    node("m 0,1", "6:3 E1005 expected an integer, found '0,1'");
    node("m 0 +1", "6:5 expected an integer, found '+1'");
    node("sum 0 1.0", "6:7 E1005 expected an integer, found '1.0'");
    node("sum 0 [1]", "6:7 expected an integer, found '[1]'");
    node("t 0 -", "6:5 E1005 expected an integer, found '-'");
    node(
        "r 9223372036854775808",
        "6:3 E1005 expected an integer, found '9223372036854775808'",
    );
    node(
        "r 18446744073709551615",
        "6:3 E1005 expected an integer, found '18446744073709551615'",
    );
    node("rshp 0 1e3", "6:8 E1005 expected a dimension, found '1e3'");
    node("r 0\r1", "6:4 expected an integer, found '\\r'");
}

#[test]
fn dimensions() {
    node("rshp 0 N", "6:8 symbol 'N' is not declared");
    node("rshp 0 ?", "6:8 a target dimension cannot be '?'");
    node("rshp 0 B$", "6:9 E1002 illegal character '$' in 'B$'");
    node("rshp 0 ?4", "6:8 E1002 illegal character '?' in '?4'");
    let dims = "1 ".repeat(33);
    check(
        &format!("mic@2\nT0 f32 {dims}\nO 0"),
        &[
            "2:72 more than 32 dimensions",
            "3:3 E4003 output 0 is not defined (values so far: none)",
        ],
    );
    node(&format!("rshp 0 {dims}"), "6:72 more than 32 dimensions");
    let type_of_rank = |rank: usize| format!("mic@2\nT0 f32{}\na x T0\nO 0", " 1".repeat(rank));
    crate::canonical(Format::Mic2, &type_of_rank(32));
    check(&type_of_rank(33), &["2:72 more than 32 dimensions"]);
    check(
        "mic@2\nT0 f32 3x\na x T0\nO 0",
        &["2:8 E1005 expected a dimension, found '3x'"],
    );
    check(
        "mic@2\nT0 f32 B\na x T0\nO 0",
        &["2:8 symbol 'B' is not declared"],
    );
    check(
        "mic@2\nT0 f32 B B\nT1 f32 B\na x T1\nO 0",
        &["2:8 symbol 'B' is not declared"],
    );
    check(
        "mic@2\nT0 f32 é\na x T0\nO 0",
        &["2:8 E1002 illegal character 'é' in 'é'"],
    );
}

#[test]
fn types() {
    check(
        "mic@2\nT1 f32\na x T0\nO 0",
        &["2:1 expected type 'T0', found 'T1'"],
    );
    check(
        "mic@2\nT0 f32\nT2 f32\nT3 f32\na x T3\nO 0",
        &["3:1 expected type 'T1', found 'T2'"],
    );
    check(
        "mic@2\nT0 f32\nT0 f32\na x T0\nO 0",
        &["3:1 expected type 'T1', found 'T0'"],
    );
    check(
        "mic@2\nT0x f32\na x T0\nO 0",
        &["2:1 expected type 'T0', found 'T0x'"],
    );
    check(
        "mic@2\nT\na x T0\nO 0",
        &["2:1 expected type 'T0', found 'T'"],
    );
    check(
        "mic@2\nT0\na x T0\nO 0",
        &["2:2 expected a dtype, found the end of the line"],
    );
    check("mic@2\nT0 F32\na x T0\nO 0", &["2:4 unknown dtype 'F32'"]);
    check(
        "mic@2\nT0 [f32;4]\na x T0\nO 0",
        &["2:4 unknown dtype '[f32;4]'"],
    );
}

#[test]
fn symbols() {
    check(
        "mic@2\nS\nO 0",
        &[
            "2:1 expected a symbol, found the end of the line",
            "3:3 E4003 output 0 is not defined (values so far: none)",
        ],
    );
    let end = "T0 f32\na x T0\nO 0";
    check(
        &format!("mic@2\nS 1\n{end}"),
        &["2:3 E1002 '1' is not a symbol: it starts with a digit"],
    );
    check(
        &format!("mic@2\nS B-C\n{end}"),
        &["2:4 E1002 illegal character '-' in 'B-C'"],
    );
    check(
        &format!("mic@2\nS B C\n{end}"),
        &["2:5 expected the end of the line, found 'C'"],
    );
}

#[test]
fn inputs() {
    let check = |line: &str, expected: &str| {
        check(&format!("mic@2\nT0 f32\n{line}\nr 0\nO 1"), &[expected]);
    };
    check("a", "3:1 expected a name, found the end of the line");
    check(
        "p 1x T0",
        "3:3 E1002 '1x' is not a name: it starts with a digit",
    );
    check("p \"x\" T0", "3:3 E1002 expected a name, found '\"x\"'");
    check(
        "a x",
        "3:3 E4004 expected a type such as T0, found the end of the line",
    );
    check(
        "a x f32",
        "3:5 E4004 expected a type such as T0, found 'f32'",
    );
    check("a x T", "3:5 E4004 expected a type such as T0, found 'T'");
    check(
        "a x T0x",
        "3:5 E4004 expected a type such as T0, found 'T0x'",
    );
    check("a x T1", "3:5 type T1 is not declared");
    check(
        "a x T18446744073709551615",
        "3:5 E4004 expected a type such as T0, found 'T18446744073709551615'",
    );
    check("a x T0 T0", "3:8 expected the end of the line, found 'T0'");
}

#[test]
fn outputs() {
    let inputs = "mic@2\nT0 f32\na x T0\n";
    check(inputs, &["3:1 E4003 the module has no output"]);
    check("mic@2", &["1:1 E4003 the module has no output"]);
    check("mic@2\n# x\n", &["2:1 E4003 the module has no output"]);
    for (line, expected) in [
        ("O", "4:1 expected a value id, found the end of the line"),
        ("O x", "4:3 expected a value id, found 'x'"),
        (
            "O 1",
            "4:3 E4003 output 1 is not defined (values so far: 0..1)",
        ),
        (
            "O -1",
            "4:3 E4003 output -1 is not defined (values so far: 0..1)",
        ),
        ("O 0 0", "4:5 expected the end of the line, found '0'"),
        ("O 0\nr 0", "5:1 nothing may follow the output"),
        ("O 0\nO 0\nO 0", "5:1 nothing may follow the output"),
    ] {
        check(&format!("{inputs}{line}"), &[expected]);
    }
}

#[test]
fn all_errors_are_found_and_one_mistake_gives_one() {
    let text = "mic@2\nT0 f32 4\nT1 f33\na x T0\na y T1\nfoo 0\nm 2 0 1\n+ 2 3\nr 9\nO 5";
    check(
        text,
        &[
            "3:4 unknown dtype 'f33'",
            "6:1 unknown opcode 'foo'",
            "7:1 'm' takes no params, found 1",
            "9:3 E4001 input 9 is not defined yet (values so far: 0..5)",
        ],
    );
}

#[test]
fn help_names_what_was_meant() {
    let help = |text: &str| {
        let found = crate::FORMATS
            .parse(Format::Mic2, text, 0, &Default::default())
            .map(drop)
            .unwrap_err();
        found
            .first_error()
            .and_then(|error| error.help.clone())
            .unwrap_or_default()
    };
    assert_eq!(help("mic@2\nT0 f23\n"), "did you mean `f32`?");
    assert_eq!(
        help("mic@2\nT0 f32\na x T0\nsoum 0\nO 1"),
        "did you mean `sum`?"
    );
    assert_eq!(help("mic@2\nT0 f32 B\na x T0\nO 0"), "add `S B` above");
    assert_eq!(help("mic@2\na x T0\nO 0"), "add `T0 <dtype> <dims>` above");
    assert_eq!(
        help("mic@2\nT0 f32\na x T7\nO 0"),
        "the types so far are T0 to T0"
    );
    assert_eq!(
        help("mic@2\nT0 f32\na x T0\nsplit 0\nO 1"),
        "the params are: axis, count, part"
    );
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
