//! Behaviour that an earlier implementation of these formats got wrong.

use mind_text::{Format, Limits, detect};

use crate::{FORMATS, canonical, dump, errors, print, prints, read, verified, verify_errors};

const HEAD: &str = "mic@1\nT0 [f32;2,3]\nN0 input \"x\" T0\n";

#[test]
fn param_and_input_are_kinds() {
    let text = "mic@1\nS0 \"x\"\nS1 \"w\"\nT0 f32\nN0 input S0 T0\nN1 param S1 T0\nO N1\n";
    canonical(Format::Mic1, text);
}

#[test]
fn every_documented_op_parses_and_what_is_printed_reads_back() {
    for node in [
        "const.f32 1",
        "neg N0",
        "exp N0",
        "log N0",
        "sum_all N0",
        "mean_all N0",
        "expand_dims N0 [0]",
    ] {
        let graph = verified(Format::Mic1, &format!("{HEAD}N1 {node}\nO N1\n"));
        canonical(Format::Mic1, &print(Format::Mic1, &graph));
    }
    verified(
        Format::Mic1,
        "mic@1\nT0 [bool;2]\nN0 input \"x\" T0\nO N0\n",
    );
}

#[test]
fn trailing_comments_work_on_every_line_type() {
    let text = "mic@1 # a\nS0 \"#\" # b\nT0 [f32;2,3] # c\nN0 input S0 T0 # d\nN1 sum N0 [0] kd=1# e\nO N1 # f\n";
    let expected = "mic@1\nS0 \"#\"\nT0 [f32;2,3]\nN0 input S0 T0\nN1 sum N0 [0] kd=1\nO N1\n";
    prints(Format::Mic1, text, expected);
    let text = "mic@2#a\nS B#b\nT0 f32 B#c\na x T0#d\np w T0 #e\nr 0#f\nO 2 #g";
    prints(
        Format::Mic2,
        text,
        "mic@2\nS B\nT0 f32 B\na x T0\np w T0\nr 0\nO 2",
    );
}

#[test]
fn constant_data_survives() {
    canonical(
        Format::Mic1,
        "mic@1\nT0 [f32;2,2]\nN0 const.tensor [1.0,2.5,-3.0,nan] T0\nO N0\n",
    );
}

#[test]
fn all_axes_of_expand_and_all_indices_survive() {
    prints(
        Format::Mic1,
        &format!("{HEAD}N1 expand N0 [0,2,3]\nN2 index N0 [1,2]\nO N1\nO N2\n"),
        "mic@1\nS0 \"x\"\nT0 [f32;2,3]\nN0 input S0 T0\nN1 expand N0 [0,2,3]\nN2 index N0 [1,2]\nO N1\nO N2\n",
    );
}

#[test]
fn a_space_in_a_list_changes_nothing() {
    let graph = |list: &str| {
        dump(&read(
            Format::Mic1,
            &format!("{HEAD}N1 sum N0 {list}\nO N1\n"),
        ))
    };
    assert_eq!(graph("[0, 1]"), graph("[0,1]"));
    assert_ne!(graph("[0, 1]"), graph("[]"));
}

#[test]
fn kept_dimensions_written_as_true_are_kept_and_a_short_stride_list_is_an_error() {
    let graph = verified(
        Format::Mic1,
        &format!("{HEAD}N1 sum N0 [1] kd=true\nO N1\n"),
    );
    assert_eq!(graph.type_text(graph.outputs()[0]), "f32[2, 1]");
    let text = "mic@1\nT0 [f32;1,4,4,1]\nT1 [f32;2,2,1,3]\nN0 input \"x\" T0\nN1 input \"k\" T1\nN2 conv2d N0 N1 s=[3]\nO N2\n";
    let found = verify_errors(Format::Mic1, text);
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("6:1 E4010 "), "{found:?}");
}

#[test]
fn declared_types_survive() {
    let text = "mic@1\nS0 \"x\"\nT0 [i8;4]\nT1 [u64;?]\nN0 input S0 T0\nN1 relu N0 T1\nO N1\n";
    canonical(Format::Mic1, text);
    canonical(
        Format::Mic1,
        "mic@1\nS0 \"x\"\nT0 [i8;4]\nN0 input S0 T0\nN1 relu N0\nO N1\n",
    );
}

#[test]
fn an_undefined_type_or_a_duplicate_node_is_reported_at_its_line() {
    assert_eq!(
        errors(Format::Mic1, &format!("{HEAD}N1 relu N0 T5\nO N1\n")),
        ["4:12 type T5 is not declared"]
    );
    assert_eq!(
        errors(Format::Mic1, &format!("{HEAD}N0 relu N0\nO N0\n")),
        ["4:1 E4002 N0 is defined twice"]
    );
}

#[test]
fn a_lone_quote_or_open_bracket_is_an_error() {
    assert_eq!(
        errors(Format::Mic1, "mic@1\nS0 \""),
        ["2:4 E1003 string without closing quote"]
    );
    assert_eq!(
        errors(Format::Mic1, &format!("{HEAD}N1 conv2d N0 N0 s=[")),
        ["4:19 '[' is not closed"]
    );
}

#[test]
fn a_node_id_of_any_size_is_just_an_id() {
    canonical(
        Format::Mic1,
        "mic@1\nS0 \"x\"\nT0 f32\nN9000000000000000000 input S0 T0\nN0 relu N9000000000000000000\nN9223372036854775807 relu N0\nO N9223372036854775807\n",
    );
}

#[test]
fn string_tables_are_per_parse() {
    let limits = Limits {
        strings: 3,
        ..Limits::default()
    };
    for round in 0..4 {
        let text =
            format!("mic@1\nS0 \"a{round}\"\nT0 [f32;B{round},C{round}]\nN0 input S0 T0\nO N0\n");
        assert!(FORMATS.parse(Format::Mic1, &text, 0, &limits).is_ok());
    }
}

#[test]
fn a_dimension_is_an_integer_an_identifier_or_a_question_mark() {
    for dim in ["3x", "1e3", "-", "a.b", "??", "é", "\"B\""] {
        assert_eq!(
            errors(Format::Mic1, &format!("mic@1\nT0 [f32;{dim}]\nO N0\n")).len(),
            2,
            "{dim}"
        );
        assert_eq!(
            errors(Format::Mic2, &format!("mic@2\nT0 f32 {dim}\na x T0\nO 0")).len(),
            1,
            "{dim}"
        );
    }
}

#[test]
fn params_of_every_opcode_survive() {
    let text = "\
mic@2
T0 f32 4 6
T1 i64 2
a x T0
a i T1
s 0 0
t 0 1 0
sum 0 1
mean 0 0
max 0 0 1
cat 0 0 1
split 0 1 3 2
gth 0 1 1
O 9";
    canonical(Format::Mic2, text);
    verified(Format::Mic2, text);
}

#[test]
fn concatenation_gains_no_input_and_what_is_printed_reads_back() {
    let text =
        "mic@2\nT0 f32 4 6\nT1 i64 2\na x T0\na i T1\ncat 0 0 1\ngth 2 1 0\nsplit 3 0 2\nO 4";
    let mut round = text.to_owned();
    for _ in 0..3 {
        round = print(Format::Mic2, &read(Format::Mic2, &round));
        assert_eq!(round, text);
    }
}

#[test]
fn a_word_that_is_no_integer_is_not_skipped() {
    assert_eq!(
        errors(Format::Mic2, "mic@2\nT0 f32\na x T0\n+ 0 foo 0\nO 1"),
        ["4:5 expected an integer, found 'foo'"]
    );
}

#[test]
fn text_behind_the_output_a_missing_output_and_a_lone_header_are_errors() {
    assert_eq!(
        errors(Format::Mic2, "mic@2\nT0 f32\na x T0\nO 0\nr 0\n"),
        ["5:1 nothing may follow the output"]
    );
    assert_eq!(
        errors(Format::Mic2, "mic@2\nT0 f32\na x T0\n"),
        ["3:1 E4003 the module has no output"]
    );
    assert_eq!(
        errors(Format::Mic2, "mic@2\n"),
        ["1:1 E4003 the module has no output"]
    );
    assert_eq!(
        verify_errors(Format::Mic1, "mic@1\n"),
        ["0:0 E4003 the module has no output"]
    );
}

#[test]
fn a_comment_behind_a_type_is_no_dimension_and_symbols_are_declared() {
    canonical(
        Format::Mic2,
        &print(
            Format::Mic2,
            &read(Format::Mic2, "mic@2\nT0 f32 4 # B ?\na x T0\nO 0"),
        ),
    );
    assert_eq!(
        errors(Format::Mic2, "mic@2\nT0 f32 4 B\nS B\na x T0\nO 0"),
        ["2:10 symbol 'B' is not declared"]
    );
}

#[test]
fn every_value_has_a_verified_type() {
    let graph = verified(
        Format::Mic2,
        "mic@2\nT0 f16 8 4\na x T0\nt 0\nm 0 1\nsum 2 0\nO 3",
    );
    let types: Vec<String> = graph
        .ops(graph.body())
        .flat_map(|op| graph.results(op))
        .map(|value| graph.type_text(value))
        .collect();
    assert_eq!(types, ["f16[8, 4]", "f16[4, 8]", "f16[8, 8]", "f16[8]"]);
}

#[test]
fn negative_axes_mean_the_same_to_parser_verifier_and_printer() {
    for axes in ["-1", "0 -1", "-2"] {
        let text = format!("mic@2\nT0 f32 8 4\na x T0\nsum 0 {axes}\nO 1");
        canonical(Format::Mic2, &text);
        verified(Format::Mic2, &text);
    }
    let graph = verified(Format::Mic2, "mic@2\nT0 f32 8 4\na x T0\nsum 0 -1\nO 1");
    assert_eq!(graph.type_text(graph.outputs()[0]), "f32[8]");
    let found = verify_errors(Format::Mic2, "mic@2\nT0 f32 8 4\na x T0\nsum 0 -3\nO 1");
    assert_eq!(found, ["4:1 E3004 axis -3 is outside rank 2"]);
}

#[test]
fn an_op_that_a_format_lacks_is_refused_by_name() {
    let graph = verified(Format::Mic1, &format!("{HEAD}N1 neg N0\nO N1\n"));
    let found = FORMATS.print(Format::Mic2, &graph).unwrap_err();
    let message = &found.first_error().unwrap().message;
    assert_eq!(
        message,
        "'neg' (value 1) cannot be written in mic@2: it has no opcode"
    );
}

#[test]
fn ids_are_matched_whole() {
    let text = "mic@1\nT0 f32\nN1 input \"x\" T0\nN2 relu N10\nO N2\n";
    assert_eq!(
        errors(Format::Mic1, text),
        ["4:9 E4001 N2 uses N10, which is not defined on an earlier line"]
    );
}

#[test]
fn versions_are_matched_whole_below_leading_comments() {
    assert_eq!(detect("# a comment\n\nmic@2\n"), Some(Format::Mic2));
    canonical(
        Format::Mic2,
        &print(
            Format::Mic2,
            &read(Format::Mic2, "# c\n\nmic@2\nT0 f32\na x T0\nO 0"),
        ),
    );
    assert_eq!(
        errors(Format::Mic2, "mic@21\nT0 f32\na x T0\nO 0"),
        ["1:1 unsupported version 'mic@21', expected 'mic@2'"]
    );
}
