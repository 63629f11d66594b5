//! The tutorial's programs match the page: their source and their output.

use std::path::Path;

#[allow(dead_code, reason = "its `main` is that of the example")]
#[path = "../../examples/from_rust.rs"]
mod from_rust;
#[allow(dead_code, reason = "its `main` is that of the example")]
#[path = "../../examples/tutorial.rs"]
mod tutorial;

/// A fenced block: its info string and its lines.
struct Fence<'t> {
    head: &'t str,
    lines: Vec<&'t str>,
}

fn fences(text: &str) -> Vec<Fence<'_>> {
    let (mut all, mut open): (Vec<Fence<'_>>, Option<Fence<'_>>) = (Vec::new(), None);
    for line in text.lines() {
        match (line.strip_prefix("```"), open.as_mut()) {
            (Some(_), Some(_)) => all.extend(open.take()),
            (Some(head), None) => {
                open = Some(Fence {
                    head,
                    lines: Vec::new(),
                })
            }
            (None, Some(fence)) => fence.lines.push(line),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "every block is closed");
    all
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn page() -> String {
    std::fs::read_to_string(root().join("docs/tutorial.md")).expect("the tutorial")
}

/// Pages whose Rust code `--test pages` inserts into a copy of the tree, compiles and runs, and one page that shows
/// single lines to insert.
const INSERTED: [&str; 3] = ["add-a-pass.md", "add-an-op.md", "add-a-rule.md"];

#[test]
fn rust_on_pages_is_that_of_an_example() {
    let mut shown = 0;
    for entry in std::fs::read_dir(root().join("docs")).expect("the pages") {
        let path = entry.expect("a page").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        if !name.ends_with(".md") {
            continue;
        }
        let page = std::fs::read_to_string(&path).expect("a page");
        for Fence { head, lines } in fences(&page) {
            let Some(example) = head.strip_prefix("rust") else {
                continue;
            };
            if example.is_empty() && INSERTED.contains(&name.as_str()) {
                continue;
            }
            let file = std::fs::read_to_string(root().join(example.trim()));
            let file = file.unwrap_or_else(|_| panic!("{name}: `{head}` names no example"));
            let code = lines.join("\n");
            assert!(
                file.contains(&code),
                "{name}: {example} does not hold:\n{code}"
            );
            shown += 1;
        }
    }
    assert!(shown >= 10, "{shown} blocks are shown");
}

#[test]
fn the_examples_print_what_the_page_shows() {
    let page = page();
    let shown = |path: &str| {
        let fences = fences(&page).into_iter();
        let mut outputs = fences.filter(|fence| fence.head.strip_prefix("output ") == Some(path));
        outputs.next().expect("an output").lines.join("\n") + "\n"
    };
    let printed = tutorial::report().expect("the example runs");
    assert_eq!(printed, shown("examples/tutorial.rs"));
    let printed = from_rust::report().expect("the example runs");
    assert_eq!(printed, shown("examples/from_rust.rs"));
}
