//! Checks exported models with third-party tools: the checker of the package onnx, ONNX Runtime and the reference
//! evaluator.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use mind_cli::npz;
use mind_interp::{Arrays, Extents, random_inputs};
use mind_onnx::{DEFAULT_OPSET, ExportOptions};

use crate::sources::{Source, sources};

/// The number of random modules.
const DRAWN: u64 = 300;

/// The record of models that a judge rejects or computes differently.
const RECORD: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/onnx_written/not_passed.txt"
);

/// Checks exported models with all judges.
///
/// # Errors
///
/// A model that the checker rejects.
pub fn check(python: &str) -> Result<(), String> {
    let kept = std::env::var("MIND_ONNX_FOLDER").ok();
    let own = std::env::temp_dir().join(format!("mind-onnx-written-{}", std::process::id()));
    let folder = kept.as_ref().map_or(&*own, |kept| Path::new(kept));
    let outcome = check_in(python, folder);
    if kept.is_none() {
        let _ = std::fs::remove_dir_all(folder);
    }
    outcome
}

fn check_in(python: &str, folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|why| why.to_string())?;
    let mut groups = BTreeMap::new();
    for source in sources(DRAWN) {
        let name = format!("{}-{}", source.group, source.name);
        if written(folder, &name, &source)? {
            groups.insert(name, source.group);
        }
    }
    let verdicts = verdicts(python, folder)?;
    let mut counts: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    let (mut record, mut refused) = (String::new(), Vec::new());
    for line in verdicts.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[name, judge, verdict, why] = &fields[..] else {
            return Err(format!("unreadable: {line}"));
        };
        let group = groups.get(name).copied().unwrap_or("");
        *counts.entry((group, judge, verdict)).or_default() += 1;
        if judge == "checker" && verdict != "ok" {
            refused.push(format!("{name}: {why}"));
        }
        if matches!(verdict, "refused" | "differs" | "crashed") {
            // Writing to a string cannot fail.
            let _ = writeln!(record, "{judge}, {name}: {verdict}: {why}");
        }
    }
    for ((group, judge, verdict), count) in counts {
        println!("{group}, {judge}: {count} {verdict}");
    }
    if !refused.is_empty() {
        return Err(refused.join("\n"));
    }
    mind_snapshot::check_file(RECORD, record);
    Ok(())
}

/// Returns the verdicts of each judge on each model, one per line. If a judge crashes, it is started again with the
/// next model.
fn verdicts(python: &str, folder: &Path) -> Result<String, String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/onnx_written/judge.py");
    let (mut all, mut first) = (String::new(), String::new());
    loop {
        let output = Command::new(python)
            .arg(script)
            .arg(folder)
            .arg(&first)
            .output();
        let output = output.map_err(|why| format!("{python}: {why}"))?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut begun = None;
        for line in said.lines() {
            match line.strip_suffix(" begins") {
                Some(name) => begun = Some(name),
                None => all += &format!("{line}\n"),
            }
        }
        match begun {
            _ if output.status.success() => return Ok(all),
            Some(name) => {
                all += &format!("{name}\tONNX Runtime\tcrashed\tthe process ends\n");
                // The next name in order.
                first = format!("{name}~");
            }
            None => return Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }
}

/// Writes a model with its inputs and outputs; returns whether it could be exported.
fn written(folder: &Path, name: &str, source: &Source) -> Result<bool, String> {
    let options = ExportOptions {
        opset: DEFAULT_OPSET,
        ..ExportOptions::default()
    };
    let Ok(written) = mind_onnx::write(&source.graph, &options) else {
        return Ok(false);
    };
    let store = |end: &str, bytes: &[u8]| {
        std::fs::write(folder.join(format!("{name}.{end}")), bytes).map_err(|why| why.to_string())
    };
    store("onnx", &written.model)?;
    let arrays = random_inputs(&source.graph, 1, Extents::default()).ok();
    let results = arrays
        .as_ref()
        .and_then(|arrays| crate::round_trip::results(&source.graph, arrays).ok());
    if let (Some(arrays), Some(results)) = (arrays, results) {
        let name = |at| match source.graph.interface.output_name(at) {
            Some(name) => name.to_owned(),
            None => format!("out{at}"),
        };
        let results = results.into_iter().enumerate();
        let results: Arrays = results.map(|(at, own)| (name(at), own)).collect();
        for (end, arrays) in [("in.npz", &arrays), ("out.npz", &results)] {
            let pairs = arrays.iter().map(|(name, own)| (name.clone(), own));
            store(end, &npz::write(pairs).map_err(|why| why.to_string())?)?;
        }
    }
    Ok(true)
}
