//! Runs the regression suite and the tests on documentation pages with LLVM's own lit and FileCheck.
//!
//! `MIND_LLVM_LIT` names lit, and `MIND_LLVM_BIN` the folder of FileCheck and not if they are not on the path. Without
//! the first the group is reported as not run; `MIND_LLVM_LIT_REQUIRED=1` makes that a failure. The tools must be built
//! first with `cargo build`. See docs/testing.md.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};

/// Pages whose tests need code that their reader adds; `tests/pages.rs` adds it and runs their tests, also with LLVM's
/// lit.
const EXCUSED: [(&str, &str); 2] = [
    ("add-a-pass.md", "its pass is not in the tree"),
    ("add-an-op.md", "its op is not in the tree"),
];

fn main() {
    let arguments = Arguments::from_args();
    let lit = std::env::var("MIND_LLVM_LIT").ok();
    let required = std::env::var("MIND_LLVM_LIT_REQUIRED").is_ok_and(|value| value == "1");
    let suite = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let trials = match lit {
        Some(lit) => {
            let own = lit.clone();
            vec![
                Trial::test("suite_under_llvm_lit", move || judged(&own, &suite)),
                Trial::test("tests_of_pages_under_llvm_lit", move || pages(&lit)),
            ]
        }
        None if required => vec![Trial::test("suite_under_llvm_lit", || {
            Err(Failed::from("`MIND_LLVM_LIT` names no lit"))
        })],
        None => {
            let name = "suite_under_llvm_lit (not run: MIND_LLVM_LIT is not set)";
            vec![Trial::test(name, || Ok(())).with_ignored_flag(true)]
        }
    };
    libtest_mimic::run(&arguments, trials).exit();
}

/// Runs lit on a folder of tests.
fn judged(lit: &str, folder: &Path) -> Result<(), Failed> {
    let tools = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../debug");
    let tools = tools.canonicalize().map_err(|error| error.to_string())?;
    let mut folders = vec![tools.clone()];
    folders.extend(std::env::var_os("MIND_LLVM_BIN").map(PathBuf::from));
    for tool in [
        "mind-opt",
        "mind-run",
        "mind-reduce",
        "mind-translate",
        "mind-fmt",
    ] {
        if !tools.join(tool).is_file() {
            return Err(Failed::from(format!(
                "there is no {tool}: `cargo build` first"
            )));
        }
    }
    let folders = std::env::join_paths(folders).map_err(|error| error.to_string())?;
    let output = Command::new(lit)
        .args([
            "-v",
            "--param",
            &format!("bin={}", folders.to_string_lossy()),
        ])
        .arg(folder)
        .output();
    let output = output.map_err(|error| format!("{lit}: {error}"))?;
    if output.status.success() {
        Ok(())
    } else {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Err(Failed::from(text(&output.stdout) + &text(&output.stderr)))
    }
}

/// Runs lit on the tests in documentation pages.
fn pages(lit: &str) -> Result<(), Failed> {
    let folder = std::env::temp_dir().join(format!("mind-page-tests-{}", std::process::id()));
    let judged = page_tests(&folder).and_then(|()| judged(lit, &folder));
    let _ = fs::remove_dir_all(&folder);
    judged
}

/// Writes the tests in documentation pages to a folder with the suite's configuration.
///
/// A rule that a page adds to the tree is passed to the test as a file.
fn page_tests(folder: &Path) -> Result<(), Failed> {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::create_dir_all(folder.join("inputs"))?;
    fs::copy(suite.join("lit.cfg.py"), folder.join("lit.cfg.py"))?;
    let mut count = 0;
    for entry in fs::read_dir(suite.join("../docs"))? {
        let path = entry?.path();
        let page = path.file_name().unwrap_or_default().to_string_lossy();
        if !page.ends_with(".md") {
            continue;
        }
        let text = fs::read_to_string(&path)?;
        let blocks = text.split("```").skip(1).step_by(2);
        let blocks: Vec<&str> = blocks
            .filter_map(|own| Some(own.split_once('\n')?.1))
            .collect();
        let tests: Vec<&&str> = blocks
            .iter()
            .filter(|own| own.contains("# RUN: "))
            .collect();
        let excused = EXCUSED.iter().any(|(name, _)| *name == page);
        if excused && tests.is_empty() {
            let message = format!("{page} shows no test and needs no excuse");
            return Err(Failed::from(message));
        }
        let rule = blocks.iter().find(|own| own.starts_with("rule "));
        let rules = format!("{page}.rules");
        if let Some(rule) = rule {
            fs::write(folder.join("inputs").join(&rules), rule)?;
        }
        for (number, test) in tests.iter().enumerate().filter(|_| !excused) {
            let with_rule = format!("mind-opt --rules %S/inputs/{rules} ");
            let test = match rule {
                Some(_) => test.replace("mind-opt ", &with_rule),
                None => test.to_string(),
            };
            fs::write(folder.join(format!("{page}-{number}.core")), test)?;
            count += 1;
        }
    }
    match count {
        0 => Err(Failed::from("no page shows a test")),
        _ => Ok(()),
    }
}
