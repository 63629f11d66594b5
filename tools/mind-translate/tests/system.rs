//! Tests on the system's files and processes: packages whose paths leave their folder, and shared libraries.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const MODULE: &str = "%0 = Input {name=x} : tensor<f32[16]>
%1 = ConstTensor {data=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16], dtype=f32, shape=[16]} : tensor<f32[16]>
%2 = Add (%0, %1)
outputs: %2
";

const MODEL: &str = "Data/com.apple.CoreML/model.mlmodel";
const WEIGHTS: &str = "Data/com.apple.CoreML/weights/weight.bin";

/// The parts of a package that may be links: files, and folders that contain some of them.
const PARTS: [&str; 5] = [
    "Manifest.json",
    "Data",
    MODEL,
    "Data/com.apple.CoreML/weights",
    WEIGHTS,
];

/// Returns an empty folder for the test called `name`.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Runs the tool in `folder`; it must terminate.
fn translate(folder: &Path, args: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mind-translate"))
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool starts");
    let started = Instant::now();
    while child.try_wait().expect("a status").is_none() {
        if started.elapsed() > Duration::from_secs(60) {
            child.kill().expect("our own child");
            panic!("{args:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().expect("its output")
}

fn run(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let output = translate(folder, args);
    let text = String::from_utf8(output.stderr).expect("text");
    (output.status.code(), text)
}

const PACK: &[&str] = &["--to", "mlpackage", "-o", "b.mlpackage", "a.mlpackage"];

/// Returns a package `a.mlpackage` with weights, in a folder of its own.
fn packed(name: &str) -> PathBuf {
    let folder = folder(name);
    fs::write(folder.join("m.core"), MODULE).expect("a module");
    let args = ["--to", "mlpackage", "-o", "a.mlpackage", "m.core"];
    assert_eq!(run(&folder, &args), (Some(0), String::new()));
    folder
}

fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("mkfifo starts").success());
}

/// Moves `below` out of the package; returns its new path.
fn moved_out(folder: &Path, below: &str) -> PathBuf {
    let outside = folder.join("outside");
    fs::rename(folder.join("a.mlpackage").join(below), &outside).expect("a file to move");
    outside
}

#[test]
fn links_out_of_the_package_are_not_followed() {
    for (at, below) in PARTS.into_iter().enumerate() {
        let folder = packed(&format!("link-{at}"));
        let outside = moved_out(&folder, below);
        symlink(outside, folder.join("a.mlpackage").join(below)).expect("a link");
        let (code, text) = run(&folder, PACK);
        assert_eq!(code, Some(1), "{below}");
        assert!(
            text.contains("a symbolic link leads out of the folder"),
            "{below}: {text}"
        );
        assert!(!folder.join("b.mlpackage").exists(), "{below}");
    }
}

#[test]
fn links_inside_of_the_package_are_followed() {
    let folder = packed("link-inside");
    let package = folder.join("a.mlpackage");
    let kept = package.join("Data/com.apple.CoreML/weights/kept.bin");
    fs::rename(package.join(WEIGHTS), kept).expect("a file to move");
    symlink("kept.bin", package.join(WEIGHTS)).expect("a link");
    symlink("a.mlpackage", folder.join("link.mlpackage")).expect("a link");
    let args = ["--to", "mlpackage", "-o", "b.mlpackage", "link.mlpackage"];
    assert_eq!(run(&folder, &args), (Some(0), String::new()));
    let bytes = |name: &str| fs::read(folder.join(name).join(WEIGHTS)).expect("weights");
    assert_eq!(bytes("a.mlpackage"), bytes("b.mlpackage"));
}

#[test]
fn only_regular_files_are_read() {
    for (at, below) in ["Manifest.json", MODEL, WEIGHTS].into_iter().enumerate() {
        let folder = packed(&format!("pipe-{at}"));
        let file = folder.join("a.mlpackage").join(below);
        fs::remove_file(&file).expect("a file");
        pipe(&file);
        let (code, text) = run(&folder, PACK);
        assert_eq!(code, Some(1), "{below}");
        assert!(text.contains("not a regular file"), "{below}: {text}");

        fs::remove_file(&file).expect("a pipe");
        fs::create_dir(&file).expect("a folder");
        let (code, text) = run(&folder, PACK);
        assert_eq!(code, Some(1), "{below}");
        assert!(text.contains("is a directory"), "{below}: {text}");
    }
}

#[test]
fn weights_of_a_text_stay_in_its_folder() {
    let folder = packed("text");
    let output = translate(&folder, &["--to", "mil", "a.mlpackage"]);
    fs::create_dir(folder.join("text")).expect("a folder");
    fs::write(folder.join("text/m.mil"), output.stdout).expect("a text");
    let args = ["--to", "mlpackage", "-o", "b.mlpackage", "text/m.mil"];
    symlink(
        folder.join("a.mlpackage/Data/com.apple.CoreML/weights"),
        folder.join("text/weights"),
    )
    .expect("a link");
    let (code, text) = run(&folder, &args);
    assert_eq!(code, Some(1));
    assert!(
        text.contains("E4115") && text.contains("leads out of the folder"),
        "{text}"
    );

    fs::remove_file(folder.join("text/weights")).expect("a link");
    fs::create_dir(folder.join("text/weights")).expect("a folder");
    pipe(&folder.join("text/weights/weight.bin"));
    let (code, text) = run(&folder, &args);
    assert_eq!(code, Some(1));
    assert!(
        text.contains("E4115") && text.contains("not a regular file"),
        "{text}"
    );
}

#[test]
fn nothing_outside_of_the_package_is_written() {
    for (at, below) in PARTS.into_iter().enumerate() {
        let folder = packed(&format!("write-{at}"));
        let outside = moved_out(&folder, below);
        let before = listing(&outside);
        symlink(&outside, folder.join("a.mlpackage").join(below)).expect("a link");
        let args = ["--to", "mlpackage", "-o", "a.mlpackage", "m.core"];
        let (code, text) = run(&folder, &args);
        assert_eq!((code, text), (Some(0), String::new()), "{below}");
        assert_eq!(listing(&outside), before, "{below}");
        let written = fs::symlink_metadata(folder.join("a.mlpackage").join(below));
        assert!(
            !written.expect("it is written anew").is_symlink(),
            "{below}"
        );
    }
}

/// Returns the paths below `path` with their modification times.
fn listing(path: &Path) -> Vec<(PathBuf, std::time::SystemTime)> {
    let changed = fs::metadata(path).and_then(|found| found.modified());
    let mut found = vec![(path.to_owned(), changed.expect("a time"))];
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a folder") {
            found.extend(listing(&entry.expect("an entry").path()));
        }
    }
    found.sort();
    found
}

#[test]
fn a_pipe_in_a_package_is_replaced_with_it() {
    let folder = packed("write-pipe");
    let file = folder.join("a.mlpackage").join(WEIGHTS);
    fs::remove_file(&file).expect("a file");
    pipe(&file);
    let args = ["--to", "mlpackage", "-o", "a.mlpackage", "m.core"];
    assert_eq!(run(&folder, &args), (Some(0), String::new()));
    assert!(fs::metadata(&file).expect("weights").is_file());
}

#[test]
fn the_linker_of_the_system_makes_a_shared_library_or_nothing_is_written() {
    let folder = folder("shared library");
    fs::write(folder.join("m.core"), MODULE).expect("a module");
    let args = ["--to", "so", "m.core", "-o", "m.so"];
    let broken = Command::new(env!("CARGO_BIN_EXE_mind-translate"))
        .args(args)
        .current_dir(&folder)
        .env("CC", "false")
        .output()
        .expect("the tool starts");
    assert_eq!(broken.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&broken.stderr),
        "error: m.so: `false -shared` ended with exit code 1\n  = help: `--to object` needs no linker\n"
    );
    let files = |folder: &Path| {
        let files = fs::read_dir(folder).expect("the folder");
        let mut names: Vec<_> = files
            .map(|file| file.expect("a file").file_name())
            .collect();
        names.sort_unstable();
        names
    };
    assert_eq!(files(&folder), ["m.core"]);
    assert_eq!(run(&folder, &args), (Some(0), String::new()));
    assert_eq!(files(&folder), ["m.core", "m.h", "m.so"]);
    let header = fs::read_to_string(folder.join("m.h")).expect("a header");
    assert!(header.contains("int module_run("), "{header}");
}
