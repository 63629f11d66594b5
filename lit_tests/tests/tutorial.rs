//! The tutorial's program: what the page shows of it is what it says and prints.

use std::path::Path;

#[allow(dead_code, reason = "its `main` is that of the example")]
#[path = "../../examples/tutorial.rs"]
mod example;

/// A fenced block: what stands behind the fence, and its lines.
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

#[test]
fn code_on_the_page_is_that_of_the_example() {
    let page = page();
    let mut shown = 0;
    for Fence { head, lines } in fences(&page) {
        if let Some(path) = head.strip_prefix("rust ") {
            let file = std::fs::read_to_string(root().join(path)).expect("an example");
            let code = lines.join("\n");
            assert!(file.contains(&code), "{path} does not hold:\n{code}");
            shown += 1;
        }
    }
    assert_eq!(shown, 2);
}

#[test]
fn the_example_prints_what_the_page_shows() {
    let page = page();
    let output = fences(&page)
        .into_iter()
        .find(|fence| fence.head == "output");
    let shown = output.expect("an output").lines.join("\n") + "\n";
    assert_eq!(example::report().expect("the example runs"), shown);
}
