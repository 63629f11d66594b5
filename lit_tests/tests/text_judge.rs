//! The text of packages before mlmodelc-export, which prints it as Apple's compiler does: ours must be the same.
//!
//! `MIND_MLMODELC` names its binary. Without it the group is reported as not run; `MIND_MLMODELC_REQUIRED=1` makes
//! that a failure. What it prints in its own way is left out on both sides: the version, `buildInfo`, the names of
//! constants and the order of parameters, which Apple's compiler puts in that of their names; and operations on
//! compressed weights, whose arguments Apple's compiler prints as attributes. See docs/testing.md.

use std::path::Path;
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};
use mind_driver::formats::{Format, LoadOptions};
use mind_driver::load::{parse_and_verify, verified};
use mind_driver::session::Session;
use mind_ir::Graph;
use mind_testgen::mil::programs;

fn main() {
    let arguments = Arguments::from_args();
    let binary = std::env::var("MIND_MLMODELC").ok();
    let required = std::env::var("MIND_MLMODELC_REQUIRED").is_ok_and(|value| value == "1");
    let trial = match binary {
        Some(binary) => Trial::test("texts_before_mlmodelc_export", move || judged(&binary)),
        None if required => Trial::test("texts_before_mlmodelc_export", || {
            Err(Failed::from("`MIND_MLMODELC` names no mlmodelc-export"))
        }),
        None => Trial::test(
            "texts_before_mlmodelc_export (not run: MIND_MLMODELC is not set)",
            || Ok(()),
        )
        .with_ignored_flag(true),
    };
    libtest_mimic::run(&arguments, vec![trial]).exit();
}

fn judged(binary: &str) -> Result<(), Failed> {
    let folder = std::env::temp_dir().join(format!("mind-texts-{}", std::process::id()));
    let outcome = judge_in(binary, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    outcome.map_err(Failed::from)
}

fn judge_in(binary: &str, folder: &Path) -> Result<(), String> {
    let session = Session::default();
    let (mut same, mut refused, mut differ) = (0, 0, Vec::new());
    // A list of one it prints as its element.
    let is_in_question = |op: &str| !op.starts_with("constexpr_") && op != "reshape_like";
    for program in programs().iter().filter(|own| is_in_question(own.op)) {
        for float in ["fp16", "fp32"] {
            let mut g = read(&session, &program.text(float))?;
            mind_mil::names::assign_names(&mut g);
            let Ok(package) = mind_coreml::package::package(&g) else {
                continue;
            };
            let Some(theirs) = printed(binary, folder, &package)? else {
                refused += 1;
                continue;
            };
            let limits = mind_text::Limits::default();
            let (_, back) = mind_coreml::package::read::program("m", &package.model, &limits);
            let back = verified(back, &LoadOptions::default());
            let back = back.map_err(|found| format!("{:?}", found.first_error()))?;
            let ours = session.formats.print(Format::Mil, &back);
            let ours = ours.map_err(|found| format!("{:?}", found.first_error()))?;
            if compared(&ours) == compared(&theirs) {
                same += 1
            } else {
                differ.push(format!("{}:\n{ours}\n{theirs}", program.op))
            }
        }
    }
    println!("{same} texts are the same, {refused} are refused by mlmodelc-export");
    if differ.is_empty() && same > 100 {
        Ok(())
    } else {
        Err(format!("{} differ\n{}", differ.len(), differ.join("\n")))
    }
}

fn read(session: &Session, text: &str) -> Result<Graph, String> {
    let options = LoadOptions {
        from: Some(Format::Mil.info()),
        ..LoadOptions::default()
    };
    let read = parse_and_verify(&session.formats, text, 0, &options);
    let (_, g) = read.map_err(|found| format!("{:?}\n{text}", found.first_error()))?;
    Ok(g)
}

/// Returns the text that the judge makes of a package; `None` if it refuses it.
fn printed(
    binary: &str,
    folder: &Path,
    package: &mind_coreml::package::Package,
) -> Result<Option<String>, String> {
    let data = folder.join("a.mlpackage/Data/com.apple.CoreML");
    let io = |error: std::io::Error| error.to_string();
    std::fs::create_dir_all(data.join("weights")).map_err(io)?;
    std::fs::write(data.join("model.mlmodel"), &package.model).map_err(io)?;
    std::fs::write(data.join("weights/weight.bin"), &package.weights).map_err(io)?;
    let out = folder.join("a.mlmodelc");
    let output = Command::new(binary)
        .arg(folder.join("a.mlpackage"))
        .arg(&out)
        .output()
        .map_err(|error| format!("{binary}: {error}"))?;
    if output.status.success() {
        std::fs::read_to_string(out.join("model.mil"))
            .map(Some)
            .map_err(io)
    } else {
        Ok(None)
    }
}

/// Returns the lines behind the program's attributes, without the names of constants and the order of parameters.
fn compared(text: &str) -> Vec<String> {
    let body = text.split_once("\n{\n").map_or("", |(_, body)| body);
    let unordered = |line: &str| {
        let mut words: Vec<&str> = line.split(['(', ')', ',', ' ']).collect();
        words.sort_unstable();
        words.join(" ")
    };
    let unnamed = |line: &str| match line.split_once(" = const()[name = ") {
        Some((head, rest)) => match rest.split_once(", val = ") {
            Some((_, value)) => format!("{head} = const()[val = {value}"),
            None => line.to_owned(),
        },
        None if line.trim_start().starts_with("func ") => unordered(line),
        None => line.to_owned(),
    };
    body.lines().map(unnamed).collect()
}
