//! Docs and comments are plain technical English.

/// Phrases that are not used, and what to write.
const BANNED: &[(&str, &str)] = &[
    ("by way of", "through, with"),
    ("taken apart", "split"),
    ("; none where", "; `None` if"),
    ("; none when", "; `None` if"),
    ("anyhow", "regardless"),
    ("told against", "relative to"),
    ("puts down", "stores, stages"),
    ("asks ahead", "prefetches"),
    ("gives out", "returns"),
    ("worth a look", "may match"),
    ("stops to act", "no longer fires"),
    ("whatever follows from", "what depends on"),
    ("for whoever", "for"),
];

#[test]
fn phrases_that_read_as_if_translated_are_not_used() {
    let root = xtask::root();
    let this = root.join("tools/xtask/tests/tidy/wording.rs");
    let mut found = Vec::new();
    for extension in ["rs", "md"] {
        for path in super::files(&root, extension) {
            if path == this {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a text");
            for (number, line) in (1..).zip(text.lines()) {
                let low = line.to_lowercase();
                let phrases = BANNED.iter().filter(|(phrase, _)| low.contains(phrase));
                found.extend(phrases.map(|(phrase, instead)| {
                    format!("{}:{number}: `{phrase}`; write {instead}", path.display())
                }));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// `Errors:` is a line of an op's documentation, next to `Shapes:` and `Source:`; functions have rustdoc's `# Errors`.
#[test]
fn functions_have_sections_for_errors() {
    let mut found = Vec::new();
    for path in super::files(&xtask::root(), "rs") {
        let text = std::fs::read_to_string(&path).expect("a text");
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        for block in lines.split(|line| !line.starts_with("///") && !line.starts_with("//!")) {
            let has = |word: &str| {
                block
                    .iter()
                    .any(|line| line[3..].trim_start().starts_with(word))
            };
            if has("Errors:") && !has("Source:") && !has("Shapes:") {
                found.push(format!("{}: {}", path.display(), block[0]));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
