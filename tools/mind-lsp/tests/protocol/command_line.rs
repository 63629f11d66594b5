//! Starting the server from the command line.

use std::process::{Command, Stdio};

/// Returns the exit code, standard output and standard error of the server with `args` and an empty standard input.
fn run(args: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_mind-lsp"))
        .args(args)
        .stdin(Stdio::null())
        .output()
        .expect("the server starts");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn help_and_version_are_told() {
    let (code, help, errors) = run(&["--help"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    for part in [
        "Language Server Protocol",
        "--stdio",
        "Exit status: 0 after",
    ] {
        assert!(help.contains(part), "{help}");
    }
    for flag in ["--version", "-V"] {
        let version = format!("mind-lsp {}\n", env!("CARGO_PKG_VERSION"));
        assert_eq!(run(&[flag]), (Some(0), version, String::new()));
    }
}

#[test]
fn mistakes_are_told_apart_from_what_an_editor_reads() {
    for mistake in [&["--stdin"][..], &["model.mic"]] {
        let (code, output, errors) = run(mistake);
        assert_eq!((code, output.as_str()), (Some(2), ""), "{mistake:?}");
        assert!(errors.contains(mistake[0]), "{errors}");
        assert!(errors.contains("Usage: mind-lsp"), "{errors}");
    }
}

#[test]
fn without_a_transport_the_streams_are_it() {
    assert_eq!(run(&[]).0, Some(1), "nothing was said, shutdown neither");
}
