//! Hostile text: the result is an error or a module, never a panic, and the cost is linear in the length.

use mind_text::{Format, Limits};

use crate::{FORMATS, dump, errors, lines, read};

const LIMIT: usize = 10 * 1024 * 1024;

fn outcome(format: Format, text: &str) -> Result<(), Vec<String>> {
    let parsed = FORMATS.parse(format, text, 0, &Limits::default());
    parsed.map(|_| ()).map_err(|found| {
        for error in found.iter() {
            let (start, end) = (error.span.start as usize, error.span.end as usize);
            let marked = text
                .get(start..end)
                .expect("a span lies on character boundaries");
            assert!(!marked.contains('\n'), "{marked:?} spans lines");
        }
        lines(text, &found)
    })
}

#[test]
fn the_limit_on_bytes_comes_first_and_is_inclusive() {
    for format in [Format::Mic1, Format::Mic2] {
        let text = "(".repeat(LIMIT + 1);
        assert_eq!(
            outcome(format, &text).unwrap_err(),
            ["0:0 the text has 10485761 bytes, the limit is 10485760"]
        );
        let shown = format!("'{}…'", "(".repeat(40));
        let found = outcome(format, &text[1..]).unwrap_err();
        assert_eq!(
            found,
            [format!(
                "1:1 expected the header 'mic@{}', found {shown}",
                if format == Format::Mic1 { 1 } else { 2 }
            )]
        );
        let header = if format == Format::Mic1 {
            "mic@1\n"
        } else {
            "mic@2\n"
        };
        let mut text = format!("{header}T0 f32\n");
        text.push_str(if format == Format::Mic1 {
            "N0 input \"x\" T0\nO N0\n#"
        } else {
            "a x T0\nO 0\n#"
        });
        text.push_str(&"x".repeat(LIMIT - text.len()));
        assert_eq!(outcome(format, &text), Ok(()));
    }
}

#[test]
fn single_lines_of_megabytes() {
    for tail in ["(", "[", "0 ", "N0 ", "\"", "1,", "é", "T", "-", "[[", "\\"] {
        for head in [
            "mic@1\nN0 ",
            "mic@1\nS0 \"",
            "mic@1\nT0 [f32;",
            "mic@1\nT0 [f32;4]\nN0 const.tensor [",
            "mic@1\nN0 add ",
            "mic@1\n",
            "mic@1\nN0 conv2d N0 N0 p=[",
        ] {
            let text = format!("{head}{}", tail.repeat(300_000));
            assert!(outcome(Format::Mic1, &text).is_err() || tail == "T");
        }
        for head in [
            "mic@2\n",
            "mic@2\nT0 f32 ",
            "mic@2\nm ",
            "mic@2\na ",
            "mic@2\nS ",
            "mic@2\nO ",
            "mic@2\ncat ",
        ] {
            let text = format!("{head}{}", tail.repeat(300_000));
            assert!(outcome(Format::Mic2, &text).is_err());
        }
    }
}

#[test]
fn many_bad_lines_are_reported_up_to_a_bound() {
    let text = format!("mic@2\n{}", "foo 1\n".repeat(900_000));
    assert_eq!(outcome(Format::Mic2, &text).unwrap_err().len(), 200);
    let text = format!("mic@1\n{}", "N0 foo N1\n".repeat(90_000));
    assert_eq!(outcome(Format::Mic1, &text).unwrap_err().len(), 200);
}

#[test]
fn the_limit_on_nodes_is_inclusive() {
    let mic2 = |nodes: usize| format!("mic@2\nT0 f32\na x T0\n{}O 0", "r 0\n".repeat(nodes - 1));
    assert_eq!(outcome(Format::Mic2, &mic2(100_000)), Ok(()));
    assert_eq!(
        outcome(Format::Mic2, &mic2(100_001)).unwrap_err(),
        ["100003:1 more than 100000 values"]
    );
    let mic1 = |nodes: usize| {
        let nodes: String = (1..nodes).map(|id| format!("N{id} relu N0\n")).collect();
        format!("mic@1\nT0 f32\nN0 input \"x\" T0\n{nodes}O N0\n")
    };
    assert_eq!(outcome(Format::Mic1, &mic1(100_000)), Ok(()));
    assert_eq!(
        outcome(Format::Mic1, &mic1(100_001)).unwrap_err(),
        ["100003:1 more than 100000 nodes"]
    );
}

#[test]
fn the_limit_on_lines_is_inclusive() {
    let text = |lines: usize| format!("mic@2\nT0 f32\na x T0\n{}O 0", "\n".repeat(lines - 4));
    assert_eq!(outcome(Format::Mic2, &text(1_000_000)), Ok(()));
    assert_eq!(
        outcome(Format::Mic2, &text(1_000_001)).unwrap_err(),
        ["1000001:1 more than 1000000 lines"]
    );
    let text = |lines: usize| {
        format!(
            "mic@1\nT0 f32\nN0 input \"x\" T0\n{}O N0\n",
            "\n".repeat(lines - 4)
        )
    };
    assert_eq!(outcome(Format::Mic1, &text(1_000_000)), Ok(()));
    assert_eq!(
        outcome(Format::Mic1, &text(1_000_001)).unwrap_err(),
        ["1000001:1 more than 1000000 lines"]
    );
}

#[test]
fn the_limit_on_strings_is_inclusive() {
    let mic1 = |count: usize| {
        let names: String = (0..count).map(|id| format!("S{id} \"{id}\"\n")).collect();
        format!("mic@1\n{names}T0 f32\nN0 input S0 T0\nO N0\n")
    };
    assert_eq!(outcome(Format::Mic1, &mic1(100_000)), Ok(()));
    assert_eq!(
        outcome(Format::Mic1, &mic1(100_001)).unwrap_err(),
        ["100002:9 more than 100000 names and symbols"]
    );
    let mic2 = |count: usize| {
        let names: String = (1..count).map(|id| format!("S s{id}\n")).collect();
        format!("mic@2\n{names}T0 f32\na x T0\nO 0")
    };
    assert_eq!(outcome(Format::Mic2, &mic2(100_000)), Ok(()));
    assert_eq!(
        outcome(Format::Mic2, &mic2(100_001)).unwrap_err(),
        ["100003:3 more than 100000 names and symbols"]
    );
}

#[test]
fn products_of_extents_may_overflow_here_but_not_wrap_later() {
    let text = "mic@2\nT0 f32 9223372036854775807 9223372036854775807\na x T0\nrshp 0 -1\nO 1";
    let _ = crate::verify_errors(Format::Mic2, text);
    let text = "mic@1\nT0 [i8;9223372036854775807,16]\nN0 const.tensor fill=1 T0\nN1 const.tensor [1] T0\nO N0\nO N1\n";
    assert_eq!(crate::verify_errors(Format::Mic1, text).len(), 2);
}

#[test]
fn ids_in_any_order_cost_the_same() {
    let ids: Vec<u64> = (0..50_000u64)
        .map(|id| id * 0x1_0000_0001 % 0x7fff_ffff_ffff_ffff)
        .rev()
        .collect();
    let nodes: String = ids
        .windows(2)
        .map(|pair| format!("N{} relu N{}\n", pair[1], pair[0]))
        .collect();
    let text = format!(
        "mic@1\nT0 f32\nN{} input \"x\" T0\n{nodes}O N{}\n",
        ids[0], ids[49_999]
    );
    assert_eq!(outcome(Format::Mic1, &text), Ok(()));
}

#[test]
fn every_truncation_of_a_module_ends_in_a_result_or_errors() {
    let mic1 = "mic@1\nS0 \"a\\n\"\nT0 [f32;2,B,?]\nT1 [u8;2]\nN0 input S0 T0\nN1 const.tensor [1,2] T1\nN2 slice N0 0:1:1,1:,0:2 T0\nN3 conv2d N0 N0 p=[[1,2],[3,4]] s=[1,1]\nN4 sum N0 [0,-1] kd=1 T0\nO N4\n";
    let mic2 = "mic@2\nS B\nT0 f32 2 B ?\na x T0\nrshp 0 B -1\nsplit 1 0 2 1\ncat 0 1 -1\nO 3";
    dump(&read(Format::Mic1, mic1));
    dump(&read(Format::Mic2, mic2));
    for (format, text) in [(Format::Mic1, mic1), (Format::Mic2, mic2)] {
        for end in 0..text.len() {
            let _ = outcome(format, &text[..end]);
            let _ = outcome(format, &text[end..]);
        }
    }
}

#[test]
fn white_space_that_is_no_blank_is_part_of_a_word_at_every_place() {
    let mic1 = "mic@1\nT0 [f32;2,3]\nT1 f32 4 4\nN0 input \"x\" T0\nN1 sum N0 axes=[1]\nO N1\n";
    let mic2 = "mic@2\nT0 f32 2 3\nT1 f32[4]\na x T0\nrl 0\nsplit 0 1 2\nO 1\n";
    let core = "%0 = Input {name=x} : tensor<f32[2, 3]>\n%1 = Relu (%0)\noutputs: %1\n";
    for (format, text) in [
        (Format::Mic1, mic1),
        (Format::Mic2, mic2),
        (Format::Core, core),
    ] {
        for space in [
            "\u{b}", "\u{c}", "\r", "\u{85}", "\u{a0}", "\u{2028}", "\0\u{c}",
        ] {
            for at in 0..=text.len() {
                // Inserts the word, and replaces the rest of the line by it.
                let (before, rest) = text.split_at(at);
                let line = rest.find('\n').unwrap_or(rest.len());
                let _ = outcome(format, &format!("{before}{space}{rest}"));
                let _ = outcome(format, &format!("{before}{space}{}", &rest[line..]));
            }
        }
    }
}

#[test]
fn spans_count_from_the_base_of_a_larger_file() {
    let text = "mic@2\nfoo\nO 0";
    let found = FORMATS
        .parse(Format::Mic2, text, 1000, &Limits::default())
        .map(drop)
        .unwrap_err();
    assert_eq!(
        found.first_error().unwrap().span,
        mind_diag::Span::new(1006, 1009)
    );
    let found = FORMATS
        .parse(Format::Mic1, "mic@1", u32::MAX - 2, &Limits::none())
        .map(drop)
        .unwrap_err();
    assert_eq!(
        found.first_error().unwrap().message,
        "the text has 5 bytes, the limit is 2"
    );
    assert_eq!(errors(Format::Mic2, text), ["2:1 unknown opcode 'foo'"]);
}
