//! Errors are documented in the section that rustdoc has for them.

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
