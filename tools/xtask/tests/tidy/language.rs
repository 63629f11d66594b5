//! The language of comments, measured per crate: docs/style.md has the rules, this test some rates.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A rate per 1000 comment lines.
struct Idiom {
    name: &'static str,
    /// The words or phrases to count.
    phrases: &'static [&'static str],
    bound: Bound,
}

enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

const IDIOMS: [Idiom; 6] = [
    Idiom {
        name: "what",
        phrases: &["what"],
        bound: Bound::AtMost(15.0),
    },
    Idiom {
        name: "stands, lies, behind, beside",
        phrases: &["stand", "stands", "stood", "lies", "behind", "beside"],
        bound: Bound::AtMost(4.0),
    },
    Idiom {
        name: "is no",
        phrases: &["is no", "are no"],
        bound: Bound::AtMost(2.0),
    },
    Idiom {
        name: "returns",
        phrases: &["return", "returns"],
        bound: Bound::AtLeast(15.0),
    },
    Idiom {
        name: "because",
        phrases: &["because", "since"],
        bound: Bound::AtLeast(6.0),
    },
    Idiom {
        name: "for example",
        phrases: &["for example", "e.g."],
        bound: Bound::AtLeast(4.0),
    },
];

/// Crates with fewer comment lines have no lower bounds, because one sentence more would decide.
const FEW_LINES: usize = 100;

#[test]
fn comments_use_the_terms_of_the_field() {
    let root = xtask::root();
    let mut wrong = Vec::new();
    for (name, lines) in comments_by_crate(&root) {
        let broken = broken_rates(&lines);
        wrong.extend(broken.iter().map(|rate| format!("{name}: {rate}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the comment lines of each crate, in lower case and without their markers.
fn comments_by_crate(root: &Path) -> BTreeMap<String, Vec<String>> {
    let mut crates: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in super::files(root, "rs") {
        let Some(name) = crate_of(root, &path) else {
            continue;
        };
        let text = fs::read_to_string(&path).expect("a source file");
        let lines = text.lines().map(str::trim_start);
        let comments = lines.filter(|line| line.starts_with("//"));
        let words = comments.map(|line| line.trim_start_matches(['/', '!']).trim().to_lowercase());
        let crate_lines = crates.entry(name).or_default();
        crate_lines.extend(words.filter(|line| !line.is_empty()));
    }
    crates
}

/// Returns the innermost folder with a manifest around a source file, relative to `root`; `examples` for files without
/// a crate.
fn crate_of(root: &Path, path: &Path) -> Option<String> {
    let mut folders = path.ancestors().skip(1);
    let folder = folders.find(|folder| folder.join("Cargo.toml").exists())?;
    let name = folder.strip_prefix(root).ok()?;
    let name = name.to_string_lossy();
    Some(if name.is_empty() { "examples" } else { &*name }.to_owned())
}

/// Returns the rates that `lines` do not meet, in words.
fn broken_rates(lines: &[String]) -> Vec<String> {
    let mut broken = Vec::new();
    for idiom in &IDIOMS {
        let count: usize = lines.iter().map(|line| occurrences(line, idiom)).sum();
        let rate = 1000.0 * count as f64 / lines.len() as f64;
        let (holds, word, limit) = match idiom.bound {
            Bound::AtMost(limit) => (rate <= limit, "at most", limit),
            Bound::AtLeast(limit) => (rate >= limit || lines.len() < FEW_LINES, "at least", limit),
        };
        if !holds {
            let name = idiom.name;
            broken.push(format!(
                "{rate:.1} of `{name}` in 1000 comment lines, expected {word} {limit}; see docs/style.md"
            ));
        }
    }
    broken
}

/// Returns how often the phrases of `idiom` occur in a line, as whole words.
fn occurrences(line: &str, idiom: &Idiom) -> usize {
    let is_whole = |at: usize, phrase: &str| {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let before = line[..at].chars().next_back();
        let after = line[at + phrase.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    };
    let phrases = idiom.phrases.iter();
    let found = phrases.flat_map(|phrase| {
        let places = line.match_indices(phrase);
        places.filter(move |(at, _)| is_whole(*at, phrase))
    });
    found.count()
}

#[test]
fn phrases_are_counted_as_whole_words() {
    let what = &IDIOMS[0];
    assert_eq!(occurrences("what it does, and what not", what), 2);
    assert_eq!(occurrences("whatever somewhat", what), 0);
    let example = &IDIOMS[5];
    assert_eq!(
        occurrences("an extent, e.g. 3; for example `B`", example),
        2
    );
}

#[test]
fn a_crate_that_does_not_meet_a_rate_is_named() {
    let lines = vec!["what a layer makes of its tokens".to_owned(); FEW_LINES];
    let broken = broken_rates(&lines);
    assert_eq!(broken.len(), 4, "{broken:?}");
    assert!(broken[0].contains("1000.0 of `what`"), "{broken:?}");
}
