//! Every diagnostic code has a test that shows its help.

use std::collections::BTreeSet;

use mind_diag::CATALOGUE;

/// Returns the codes of errors for which the check lines of `text` show a help below the error.
fn shown_with_help(text: &str) -> BTreeSet<String> {
    let (mut shown, mut open) = (BTreeSet::new(), None);
    for line in text.lines() {
        let code = line
            .split_once("error[")
            .and_then(|(_, rest)| rest.split_once(']'));
        if let Some((code, _)) = code {
            open = Some(code.to_owned());
        } else if line.contains("help: ") {
            shown.extend(open.take());
        }
    }
    shown
}

#[test]
fn every_code_has_a_lit_test_that_shows_its_help() {
    let folder = xtask::root().join("lit_tests");
    let mut shown = BTreeSet::new();
    for extension in ["test", "core", "mic", "mic2", "mil"] {
        for path in crate::files(&folder, extension) {
            let text = std::fs::read(&path).expect("a test of the repository");
            shown.extend(shown_with_help(&String::from_utf8_lossy(&text)));
        }
    }
    let missing: Vec<String> = CATALOGUE
        .iter()
        .map(|info| info.code.to_string())
        .filter(|code| !shown.contains(code))
        .collect();
    assert!(
        missing.is_empty(),
        "no test in lit_tests shows an error with a help for {}; see lit_tests/mind-diag",
        missing.join(", ")
    );
}

#[test]
fn a_help_belongs_to_the_error_above_it() {
    let text =
        "# CHECK: error[E2007]: a\n# CHECK: error[E3001]: b\n# CHECK: help: c\n# CHECK: help: d\n";
    assert_eq!(shown_with_help(text), BTreeSet::from(["E3001".to_owned()]));
}
