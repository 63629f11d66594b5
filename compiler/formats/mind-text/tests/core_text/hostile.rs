//! Hostile input.

use mind_diag::{Diagnostics, SourceFile};
use proptest::prelude::*;

use crate::generate::module;
use crate::{errors, parse, print, try_parse};

/// Asserts that `text` parses to a module that prints and parses again, or gives errors inside of lines.
fn survives(text: &str) {
    match try_parse(text) {
        Ok(g) => {
            let printed = print(&g);
            assert_eq!(print(&parse(&printed)), printed);
        }
        Err(found) => {
            assert!(found.has_errors());
            let file = SourceFile::new("m", text);
            for diagnostic in found.iter() {
                let (start, end) = (diagnostic.span.start as usize, diagnostic.span.end as usize);
                let marked = text.get(start..end).expect("whole characters");
                assert!(!marked.contains('\n'), "{diagnostic:?}");
                assert!(!diagnostic.message.is_empty());
                mind_diag::render_text(&Diagnostics::from(diagnostic.clone()), &file, false);
            }
        }
    }
}

/// Words and signs of the format, to be combined at random.
const TOKENS: &[&str] = &[
    "%",
    "%0",
    "%1",
    "%2",
    "%9",
    "=",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ",",
    ":",
    "#",
    "\"",
    "\\",
    "\n",
    "\n",
    "\n",
    " ",
    "?",
    "_",
    "-1",
    "0",
    "7",
    "1.5",
    "1e999",
    "nan",
    "Input",
    "Sum",
    "BinOp",
    "Add",
    "ConstTensor",
    "Slice",
    "Conv2d",
    "Custom",
    "Fused",
    "test.choose",
    "outputs:",
    "yield:",
    "args:",
    "name",
    "axes",
    "data",
    "fill",
    "shape",
    "dtype",
    "kind",
    "tensor",
    "f32",
    "i8",
    "B",
    "é",
    "\u{feff}",
    "\r",
    "\t",
    "\0",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text(text in any::<String>()) {
        survives(&text);
    }

    #[test]
    fn any_tokens(picks in prop::collection::vec(0..TOKENS.len(), 0..80)) {
        let text: String = picks.into_iter().map(|pick| TOKENS[pick]).collect();
        survives(&text);
    }

    #[test]
    fn mutated_modules(
        decisions in prop::collection::vec(any::<u32>(), 0..300),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..TOKENS.len(), 0..4usize), 1..6),
    ) {
        let mut text: Vec<char> = print(&module(decisions)).chars().collect();
        for (place, token, removed) in edits {
            let at = place.index(text.len() + 1);
            let end = (at + removed).min(text.len());
            text.splice(at..end, TOKENS[token].chars());
        }
        survives(&text.into_iter().collect::<String>());
    }

    #[test]
    fn lines_in_another_order(
        decisions in prop::collection::vec(any::<u32>(), 0..300),
        swaps in prop::collection::vec(any::<(prop::sample::Index, prop::sample::Index)>(), 1..4),
    ) {
        let text = print(&module(decisions));
        let mut lines: Vec<&str> = text.lines().collect();
        if !lines.is_empty() {
            for (a, b) in swaps {
                let (a, b) = (a.index(lines.len()), b.index(lines.len()));
                lines.swap(a, b);
            }
        }
        survives(&lines.join("\n"));
    }
}

#[test]
fn deep_lists_and_bodies_do_not_recurse() {
    let deep = "[".repeat(100_000);
    let text = format!("%0 = ConstTensor({deep}) : tensor<f32[]>");
    assert_eq!(
        errors(&text),
        [r#"- 1:50 "[": lists are nested deeper than 32 levels"#]
    );
    let lists = format!(
        "%0 = ConstTensor({}1{}) : tensor<f32[]>",
        "[".repeat(32),
        "]".repeat(32)
    );
    assert!(errors(&lists)[0].starts_with("E3010 1:18"));
    survives("ૐ{");
    survives(&"{".repeat(100_000));
    survives(&"{\n".repeat(100_000));
    survives(&"}\n".repeat(100_000));
    survives(&"%0 = Fused() {\n".repeat(60_000));
    survives(&format!(
        "%0 = ConstI64(1)\n{}",
        "%1 = Fused(%0, k) {\n".repeat(60_000)
    ));
}

#[test]
fn numbers_in_the_text_cost_nothing() {
    survives(
        "%9223372036854775807 = ConstI64(1)\n%9223372036854775806 = Neg (%9223372036854775807)\noutputs: %9223372036854775806",
    );
    survives("%0 = ConstTensor {fill=0} : tensor<f64[9223372036854775807, 9223372036854775807]>");
    survives("%0 = ConstTensor {data=[1]} : tensor<f64[9223372036854775807, 9223372036854775807]>");
    survives(&format!("%{} = ConstI64(1)", "9".repeat(1_000_000)));
    survives(&format!("%0 = ConstI64({})", "9".repeat(1_000_000)));
}

#[test]
fn hundreds_of_thousands_of_mistakes_are_counted() {
    let word = "x".repeat(60);
    let text = format!("%0 = {word}\n").repeat(90_000);
    let found = try_parse(&text).err().expect("errors");
    assert_eq!(
        (found.iter().len(), found.dropped()),
        (Diagnostics::KEPT, 90_000 - Diagnostics::KEPT)
    );
    survives(&"%0 = ConstI64(1)\n".repeat(100_000));
    let undefined: String = (0..90_000)
        .map(|id| format!("%{id} = Neg (%{})\n", id + 1_000_000))
        .collect();
    survives(&undefined);
}

#[test]
fn long_lines_are_read_once() {
    let ids = vec!["%0"; 1_000_000].join(",");
    survives(&format!(
        "%0 = ConstI64(1)\n%1 = Concat({ids}, 0)\noutputs: {ids}"
    ));
    survives(&format!("{ids} = ConstI64(1)"));
    survives(&format!("# {}", "é".repeat(1_000_000)));
    survives(&format!(
        "%0 = Input {{name=\"{}\"}}",
        "\\n".repeat(1_000_000)
    ));
    survives(&format!(
        "%0 = ConstTensor([{}]) : tensor<i8[1000000]>",
        vec!["1"; 1_000_000].join(", ")
    ));
}
