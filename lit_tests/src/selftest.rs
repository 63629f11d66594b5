//! Tests of the runner on its own test files in `self/`.
//!
//! The first line of each file states the expected outcome: `expect: CODE`, followed by a part of the message.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mind_cli::ToolInfo;
use mind_driver::host::Host;

use crate::config::Config;
use crate::discovery::TestFile;
use crate::semantics::Semantics;
use crate::trial::{self, Outcome};

/// Returns an empty folder for one of the runner's own tests.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let binary = std::env::current_exe().expect("a running test has a binary");
    let target = binary
        .ancestors()
        .nth(3)
        .expect("it lies in target/<profile>/deps");
    let folder = target.join("lit-self").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the target folder is writable");
    folder
}

/// Returns settings with a stand-in for `mind-opt`.
pub(crate) fn config(folder: &Path) -> Config {
    Config {
        root: folder.to_owned(),
        scratch: folder.join("scratch"),
        tools: &[ToolInfo {
            run: stand_in,
            ..mind_opt::TOOL
        }],
        features: ["x86".to_owned()].into(),
        semantics: None,
        bless: false,
        time_limit: Duration::from_secs(10),
    }
}

/// Prints its input without comments, and fails in the way that its arguments request.
fn stand_in(args: &[String], host: &mut dyn Host) -> u8 {
    let mut output = String::new();
    for arg in args {
        match arg.as_str() {
            "--canonicalize" | "--split-input-file" => {}
            "--lit-features" => output.push_str("x86 fast\n"),
            "--wrong" => output.push_str("wrong\n"),
            "--crash" => panic!("stand-in crashed"),
            "--hang" => loop {
                std::thread::park();
            },
            "--verify" if args.len() == 2 => {}
            option if option.starts_with("--out=") => {
                if let Err(error) = host.write(Path::new(&option["--out=".len()..]), b"written\n") {
                    let _ = writeln!(host.stderr(), "error: {error}");
                    return 2;
                }
            }
            file => {
                let bytes = match file {
                    "-" => host.read_stdin(u64::MAX),
                    _ => host.read(Path::new(file), 1 << 20),
                };
                let Ok(bytes) = bytes else {
                    let _ = writeln!(host.stderr(), "error: can't read {file}");
                    return 2;
                };
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let lines = text
                    .lines()
                    .filter(|line| !line.starts_with('#') || line.starts_with("# -----"));
                output.extend(lines.map(|line| format!("{line}\n")));
            }
        }
    }
    if output.contains("reject") {
        let _ = writeln!(host.stderr(), "error: rejected");
        return 1;
    }
    let written = host.stdout().write_all(output.as_bytes());
    u8::from(written.is_err())
}

/// Runs a text as a test file in its own folder.
fn run_text(name: &str, text: &str, adapt: impl FnOnce(&mut Config)) -> (Outcome, PathBuf) {
    let folder = scratch(name);
    let path = folder.join("a.test");
    fs::write(&path, text).expect("the folder was just made");
    let mut config = config(&folder);
    adapt(&mut config);
    let test = TestFile {
        name: "a.test".to_owned(),
        path: path.clone(),
    };
    (trial::run(&config, &test), path)
}

const SEMANTICS: Semantics = Semantics {
    is_pass: |arg| arg == "--canonicalize",
    compare: |pair| {
        let bare = |text: &str| {
            text.lines()
                .filter(|line| !line.starts_with('#'))
                .collect::<String>()
        };
        if bare(pair.input) == bare(pair.output) {
            Ok(())
        } else {
            Err("values differ".to_owned())
        }
    },
};

/// Each file in `self/` has the outcome that its first line states.
#[test]
fn files_end_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("self");
    let config = Config {
        root: folder.clone(),
        ..config(&scratch("files"))
    };
    let mut wrong = vec![];
    let mut count = 0;
    for entry in fs::read_dir(&folder).expect("the folder is there") {
        let path = entry.expect("it can be listed").path();
        if path.extension().is_none_or(|extension| extension != "test") {
            continue;
        }
        count += 1;
        let text = fs::read_to_string(&path).expect("the files are text");
        let first = text.lines().next().unwrap_or_default();
        let (_, expected) = first
            .split_once("expect: ")
            .unwrap_or_else(|| panic!("{path:?} says nothing"));
        let (code, message) = expected.split_once(' ').unwrap_or((expected, ""));
        let name = path
            .file_name()
            .expect("a file has a name")
            .to_string_lossy()
            .into_owned();
        let verdict = trial::run(
            &config,
            &TestFile {
                name,
                path: path.clone(),
            },
        )
        .verdict;
        if verdict.code() != code || !verdict.message().contains(message) {
            wrong.push(format!(
                "{}: expected {expected}\n{verdict:?}",
                path.display()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(count > 30, "only {count} files found");
}

#[test]
fn features_come_from_the_tool() {
    let (tools, folder) = (config(Path::new("")).tools, scratch("features"));
    let expected = ["fast", "x86"].map(str::to_owned).into();
    assert_eq!(crate::config::features(tools, &folder), expected);
    assert_eq!(crate::config::features(&[], &folder), [].into());
}

#[test]
fn a_failure_is_short_and_names_command_and_replay() {
    let text = "RUN: cat %s | not mind-opt --crash 'a b' | cat\n";
    let (outcome, path) = run_text("report", text, |_| {});
    let file = path.display();
    let message = outcome.verdict.message().replace(&file.to_string(), "FILE");
    let lines: Vec<&str> = message.lines().collect();
    assert_eq!(lines[0], "RUN line 1 failed: `mind-opt` crashed");
    assert_eq!(lines[1], "  cat FILE | not mind-opt --crash 'a b' | cat");
    assert_eq!(lines[2], "mind-opt says:");
    assert!(
        lines[3].contains("panicked at") && lines[4] == "stand-in crashed",
        "{message}"
    );
    assert_eq!(
        lines[5],
        "again: cargo test -p lit-tests --test lit -- --exact a.test"
    );
    assert_eq!(lines.len(), 6);
}

#[test]
fn transformations_are_evaluated() {
    let with = |config: &mut Config| config.semantics = Some(SEMANTICS);
    let (outcome, _) = run_text("same", "# RUN: mind-opt --canonicalize %s\n1\n", with);
    assert_eq!((outcome.verdict.code(), outcome.compared), ("PASS", 1));
    let (outcome, _) = run_text("stdin", "# RUN: mind-opt --canonicalize - < %s\n1\n", with);
    assert_eq!((outcome.verdict.code(), outcome.compared), ("PASS", 1));
    let (outcome, _) = run_text(
        "differs",
        "# RUN: mind-opt --canonicalize --wrong %s > %t\n1\n",
        with,
    );
    assert_eq!(outcome.verdict.code(), "FAIL");
    assert!(outcome.verdict.message().contains("values differ"));
    let text =
        "# RUN: mind-opt --canonicalize --wrong %s\n# SEMANTICS: skip, shows a wrong answer\n1\n";
    let (outcome, _) = run_text("skip", text, with);
    assert_eq!(outcome.verdict.code(), "PASS");
    assert_eq!(
        outcome.semantics_skip.as_deref(),
        Some("shows a wrong answer")
    );
    for unchecked in [
        "mind-opt --wrong %s",
        "not mind-opt --canonicalize --wrong %s",
        "mind-opt --canonicalize --wrong %s || true",
        "echo 2 > %t && mind-opt --canonicalize %t",
    ] {
        let input = if unchecked.contains("--canonicalize --wrong") {
            "reject"
        } else {
            "1"
        };
        let (outcome, _) = run_text("unchecked", &format!("# RUN: {unchecked}\n{input}\n"), with);
        assert_eq!(
            (outcome.verdict.code(), outcome.compared),
            ("PASS", 0),
            "{unchecked}"
        );
    }
}

/// Returns a file with the generated block `block` between handwritten checks.
fn golden(command: &str, block: &str) -> String {
    format!(
        "# RUN: mind-opt %s | FileCheck %s\n# RUN: mind-opt %s | FileCheck %s --check-prefix=HAND\n\
         # HAND: 1\n# HAND-NEXT: 2\n\n# AUTOGENERATED-BY: {command}\n{block}\n1\n2\n\n3 [[x\n"
    )
}

#[test]
fn blessing_rewrites_the_block_alone() {
    let block = "# CHECK: 1\n# CHECK-NEXT: 2\n";
    let (outcome, path) = run_text("stale", &golden("mind-opt %s", block), |_| {});
    assert_eq!(outcome.verdict.code(), "FAIL");
    assert!(
        outcome.verdict.message().contains("INSTA_UPDATE=always"),
        "{:?}",
        outcome.verdict
    );
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        golden("mind-opt %s", block),
        "no rewriting unasked"
    );

    for block in [block, "", "# CHECK: nothing of that\n# CHECK-EMPTY:\n"] {
        let (outcome, path) = run_text("bless", &golden("mind-opt %s", block), |config| {
            config.bless = true
        });
        assert_eq!(outcome.verdict.code(), "PASS", "{:?}", outcome.verdict);
        let generated =
            "# CHECK:      1\n# CHECK-NEXT: 2\n# CHECK-EMPTY:\n# CHECK-NEXT{LITERAL}: 3 [[x\n";
        // The input begins with the empty line that ends the block.
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            golden("mind-opt %s", generated)
        );
        assert!(
            outcome
                .blessed
                .unwrap()
                .contains("+# CHECK-NEXT{LITERAL}: 3 [[x")
        );
    }
}

#[test]
fn blessing_is_refused_for_wrong_output() {
    let bless = |config: &mut Config| (config.bless, config.semantics) = (true, Some(SEMANTICS));
    let check = |command: &str, input: &str, expected: &str| {
        let text = golden(command, "# CHECK: 1\n") + input;
        let (outcome, path) = run_text("refused", &text, bless);
        assert_eq!(outcome.verdict.code(), "UNRESOLVED");
        assert!(
            outcome.verdict.message().contains(expected),
            "{:?}",
            outcome.verdict
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "{command}");
    };
    check(
        "cat %s | mind-opt --canonicalize --wrong -",
        "",
        "give `%s` to `mind-opt` itself",
    );
    check(
        "mind-opt --canonicalize --wrong %s",
        "",
        "computes something else: mind-opt",
    );
    check(
        "echo reject",
        "",
        "`mind-opt --verify` rejects the output:\nerror: rejected",
    );
    check(
        "mind-opt %s",
        "reject",
        "the banner's command failed:\nerror: rejected",
    );
    check(
        "mind-opt %s | FileCheck %s",
        "",
        "a banner names the command without FileCheck",
    );
    check("echo RUN: x", "", "the output holds `RUN:`");
    check("true", "", "the output is empty");
}

#[test]
fn blessing_leaves_unbannered_files_alone() {
    let text = "# RUN: mind-opt %s | FileCheck %s\n# CHECK: 7\n1\n";
    let (outcome, path) = run_text("unbannered", text, |config| config.bless = true);
    assert_eq!(outcome.verdict.code(), "FAIL");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}
