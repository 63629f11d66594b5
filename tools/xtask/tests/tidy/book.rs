//! The book contains every page, and all links resolve.

use std::path::{Path, PathBuf};

fn pages() -> Vec<PathBuf> {
    super::files(&xtask::root().join("docs"), "md")
}

#[test]
fn every_page_stands_in_the_summary() {
    let docs = xtask::root().join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).expect("docs/SUMMARY.md");
    for page in pages() {
        let name = page
            .strip_prefix(&docs)
            .expect("below docs")
            .to_string_lossy()
            .into_owned();
        if name != "SUMMARY.md" {
            assert!(
                summary.contains(&format!("({name})")),
                "docs/SUMMARY.md does not name {name}"
            );
        }
    }
}

#[test]
fn links_between_pages_lead_somewhere() {
    let root = xtask::root();
    let more = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root.join(name));
    for page in pages().into_iter().chain(more) {
        let text = std::fs::read_to_string(&page).expect("a page");
        let folder = page.parent().expect("a page lies in a folder");
        for target in links(&text) {
            let path = target.split('#').next().unwrap_or_default();
            let there = path.is_empty() || exists(folder, path);
            assert!(there, "{}: `{target}` leads nowhere", page.display());
        }
    }
}

/// mdBook converts each link to a `.md` file to a page link, which is valid only for the book's own files.
#[test]
fn links_from_the_book_to_markdown_stay_in_it() {
    let docs = xtask::root().join("docs").canonicalize().expect("docs");
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("a page");
        let folder = page.parent().expect("a page lies in a folder");
        for target in links(&text) {
            let path = target.split('#').next().unwrap_or_default();
            let there = folder.join(path).canonicalize();
            let inside = there.is_ok_and(|there| there.starts_with(&docs));
            assert!(
                inside || !path.ends_with(".md"),
                "{}: `{target}` is not a page of the book: link to its folder",
                page.display()
            );
        }
    }
}

fn exists(folder: &Path, path: &str) -> bool {
    folder.join(path).exists()
}

/// Returns the targets of `[text](target)` outside of code, except links to other sites.
fn links(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            code = !code;
        }
        let parts =
            line.split("](")
                .skip(usize::from(!code))
                .take(if code { 0 } else { usize::MAX });
        found.extend(parts.filter_map(|rest| rest.split(')').next()));
    }
    found.retain(|target| !target.contains("://") && !target.contains([' ', '`', '"']));
    found
}
