//! `mind-fmt` over the modules of the regression suite.

use std::path::{Path, PathBuf};

use mind_cli::MemoryHost;

/// The modules below `folder` with the mark that begins their comments.
fn modules(folder: &Path) -> Vec<(PathBuf, &'static str)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder of the suite") {
        let path = entry.expect("an entry").path();
        match path.extension().and_then(|own| own.to_str()) {
            _ if path.is_dir() => found.extend(modules(&path)),
            Some("mic" | "mic2" | "core") => found.push((path, "#")),
            Some("mil") => found.push((path, "//")),
            _ => {}
        }
    }
    found.sort();
    found
}

fn formatted(text: &str, flags: &[&str]) -> Option<String> {
    let mut host = MemoryHost::default();
    host.stdin = text.as_bytes().to_vec();
    let args: Vec<String> = flags
        .iter()
        .chain(&["-"])
        .map(|&arg| arg.to_owned())
        .collect();
    let code = mind_fmt::run(&args, &mut host);
    (code == 0).then(|| String::from_utf8(host.stdout).expect("text"))
}

#[test]
fn every_comment_of_the_suite_is_kept_and_nothing_else_is_said() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lit_tests");
    let (mut kept, mut refused) = (0, Vec::new());
    for (path, mark) in modules(&suite) {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        // Some modules are wrong on purpose.
        let Some(bare) = formatted(&text, &["--drop-comments"]) else {
            continue;
        };
        let Some(now) = formatted(&text, &[]) else {
            refused.push(path);
            continue;
        };
        let comments = text
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with(mark));
        for comment in comments {
            let count = |text: &str| text.lines().filter(|line| line.trim() == comment).count();
            assert_eq!(count(&now), count(&text), "{}: {comment}", path.display());
            kept += 1;
        }
        assert_eq!(
            formatted(&now, &[]).as_ref(),
            Some(&now),
            "{}",
            path.display()
        );
        assert_eq!(
            formatted(&now, &["--drop-comments"]),
            Some(bare),
            "{}",
            path.display()
        );
    }
    assert!(kept > 1000, "{kept} comments");
    assert!(refused.is_empty(), "{refused:?}");
}

/// A quadratic scan of these texts takes hours.
#[test]
fn long_lines_without_tokens_take_linear_time() {
    for unit in ["\0", "\\", "é", "%0 ", "“"] {
        assert_eq!(formatted(&unit.repeat(1 << 21), &[]), None, "{unit:?}");
    }
    for unit in ["\0", "\\", "“a”"] {
        let rules = format!("rule r {}", unit.repeat(1 << 16));
        assert_eq!(formatted(&rules, &[]), None, "{unit:?}");
    }
}
