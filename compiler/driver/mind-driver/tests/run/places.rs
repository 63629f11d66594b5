//! Spans of errors in texts with a byte order mark, carriage returns and tabs.

use mind_diag::{Diagnostics, SourceFile};
use mind_driver::canonical::{Comments, format_rules};
use mind_driver::formats::LoadOptions;
use mind_driver::load::load_module;
use mind_driver::session::Session;

/// Each text format with one error, marked by `<<` and `>>`.
const TEXTS: [&str; 6] = [
    "# Core\n%0 = Input {name=x} : tensor<f32[4]>\n%1 = <<Rleu>> (%0)\noutputs: %1\n",
    "mic@1\n# n\nT0 f32\nN0 input \"x\" T0\nN1 <<rleu>> N0\nO N1\n",
    "mic@2\n# n\nT0 f32 4\na x T0\n<<rr>> 0\nO 1\n",
    "program(1.3)\n[]\n{\n  func main<ios18>(tensor<fp16, [4]> x) {\n    // n\n    tensor<fp16, [4]> y = <<rleu>>(x = x);\n  } -> (y);\n}\n",
    "# rules\nrule a\n  class exact\n  where rank(?x) <<=>> 2\n  ?x => ?x\n",
    "{\n  \"version\": 2,\n  \"nodes\": [1, <<]>>\n}\n",
];

/// Returns the errors of a text, and the file that their spans refer to.
fn mistakes(text: &str) -> (SourceFile, Diagnostics) {
    if text.contains("class") {
        let found = format_rules(text, Comments::Keep).expect_err("a mistake");
        return (SourceFile::new("m", text), found);
    }
    let session = Session::default();
    let options = LoadOptions::default();
    let rejected = load_module(&session.formats, "m", text.to_owned().into(), &options);
    let rejected = rejected.err().expect("a mistake");
    (rejected.file, rejected.diagnostics)
}

#[test]
fn marks_line_ends_and_tabs_do_not_move_a_place() {
    let with_mark = |text: &str| format!("\u{feff}{text}");
    let with_returns = |text: &str| text.replace('\n', "\r\n");
    let with_tabs = |text: &str| text.replace("  ", "\t").replace(' ', "\t");
    let all = |text: &str| with_mark(&with_returns(&with_tabs(text)));
    let changes: [&dyn Fn(&str) -> String; 5] =
        [&str::to_owned, &with_mark, &with_returns, &with_tabs, &all];
    for marked in TEXTS {
        for (number, change) in changes.iter().enumerate() {
            let changed = change(marked);
            let start = changed.find("<<").expect("a mark");
            let text = changed.replace("<<", "").replace(">>", "");
            let (file, found) = mistakes(&text);
            let first = found.first_error().expect("an error");
            let expected = text[..start].matches('\n').count() + 1;
            let case = format!("change {number} of {text:?}: {}", first.message);
            assert_eq!(file.position(first.span).0, expected, "{case}");
            assert_eq!(first.span.start as usize, start, "{case}");
            assert!(first.way_out().is_some(), "{case}");
        }
    }
}
