//! Runs the commands in the documentation and compares their output.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lit_tests::sandbox::Sandbox;
use lit_tests::{Config, config, diff, page};

/// Folders that pages refer to by their paths in the repository.
const SHOWN: [&str; 2] = ["examples", "passes"];

fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of pages") {
        let path = entry.expect("an entry of the folder").path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

#[test]
fn pages_show_what_their_commands_print() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace");
    let scratch =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("docs-{}", std::process::id()));
    let config = Config {
        root: root.join("docs"),
        tools: config::TOOLS,
        features: config::features(config::TOOLS, &scratch),
        scratch: scratch.clone(),
        semantics: None,
        bless: mind_snapshot::updates(),
        time_limit: Duration::from_secs(120),
    };
    let mut found = vec![root.join("README.md")];
    pages(&config.root, &mut found);
    found.sort();
    let (mut run, mut left, mut stale) = (0, 0, String::new());
    for path in found {
        let name = path.strip_prefix(root).expect("below the workspace");
        let name = name.to_string_lossy().replace('\\', "/");
        let text = std::fs::read_to_string(&path).expect("a page");
        let sandbox = Sandbox::create(&scratch, &name).expect("a folder of its own");
        for shown in SHOWN {
            #[cfg(unix)]
            std::os::unix::fs::symlink(root.join(shown), sandbox.dir().join(shown))
                .expect("a link into the repository");
        }
        match page::refresh(&config, &sandbox, &text) {
            Err(error) => stale += &format!("{name}: {error}\n"),
            Ok(fresh) => {
                (run, left) = (run + fresh.run, left + fresh.left);
                if fresh.text != text {
                    stale += &diff::unified(&text, &fresh.text, &name, "what the commands print");
                    if config.bless {
                        std::fs::write(&path, &fresh.text).expect("the page is writable");
                    }
                }
            }
        }
    }
    let _ = std::fs::remove_dir_all(scratch);
    eprintln!("{run} commands run, {left} left alone");
    assert!(run > 20, "only {run} commands were found");
    if config.bless {
        eprint!("blessed:\n{stale}");
    } else {
        assert!(stale.is_empty(), "{stale}");
    }
}
