//! Packages before coremltools: it must load every one, and infer the numbers that the interpreter computes.
//!
//! `MIND_COREMLTOOLS` names a Python that has it. Without it the group is reported as not run;
//! `MIND_COREMLTOOLS_REQUIRED=1` makes that a failure. See docs/testing.md.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};
use mind_driver::npz;
use mind_driver::session::Session;
use mind_generate::cases::{Case, all};
use mind_interp::{Arrays, Extents, RunConfig, bind, random_inputs, run};
use mind_ir::Graph;
use mind_ir::tensor::Tensor;
use mind_ir::verify::{VerifyConfig, verify};
use mind_mil::call::floats;
use mind_mil::check::Interface;
use mind_text::{Format, Limits};
use mind_to_mil::{Config, Layout};

/// How far coremltools, which computes in NumPy's halves op by op, may be from the interpreter.
const ERROR: f64 = 2e-2;
/// The judge, as a program for Python.
const JUDGE: &str = include_str!("coremltools_judge.py");

fn main() {
    let arguments = Arguments::from_args();
    let python = std::env::var("MIND_COREMLTOOLS").ok();
    let required = std::env::var("MIND_COREMLTOOLS_REQUIRED").is_ok_and(|value| value == "1");
    let trial = match python {
        Some(python) => Trial::test("packages_before_coremltools", move || judged(&python)),
        None if required => Trial::test("packages_before_coremltools", || {
            Err(Failed::from(
                "`MIND_COREMLTOOLS` names no Python with coremltools",
            ))
        }),
        None => Trial::test(
            "packages_before_coremltools (not run: MIND_COREMLTOOLS is not set)",
            || Ok(()),
        )
        .with_ignored_flag(true),
    };
    libtest_mimic::run(&arguments, vec![trial]).exit();
}

/// What a package was made of, and what its program computes.
struct Judged {
    module: String,
    results: Vec<Tensor>,
}

fn judged(python: &str) -> Result<(), Failed> {
    let folder = std::env::temp_dir().join(format!("mind-judges-{}", std::process::id()));
    let outcome = judge_in(python, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    outcome.map_err(Failed::from)
}

fn judge_in(python: &str, folder: &Path) -> Result<(), String> {
    let packages = packages(folder)?;
    let script = folder.join("judge.py");
    std::fs::write(&script, JUDGE).map_err(|error| error.to_string())?;
    let output = Command::new(python).arg(&script).arg(folder).output();
    let output = output.map_err(|error| format!("{python}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("ok ") || line.starts_with("refused "))
        .collect();
    if lines.len() != packages.len() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!(
            "{} packages, {} verdicts\n{errors}",
            packages.len(),
            lines.len()
        ));
    }
    let refused: Vec<&str> = lines
        .into_iter()
        .filter(|line| line.starts_with("refused "))
        .collect();
    if !refused.is_empty() {
        return Err(refused.join("\n"));
    }
    let mut compared = 0;
    for (name, judged) in &packages {
        compared += compare(folder, name, judged)?;
    }
    match compared > packages.len() / 2 {
        true => Ok(()),
        false => Err(format!(
            "only {compared} of {} packages were inferred",
            packages.len()
        )),
    }
}

/// Writes a package and its inputs for every op and shape.
fn packages(folder: &Path) -> Result<BTreeMap<String, Judged>, String> {
    let session = Session::default();
    let layouts = [("keep", Layout::Keep), ("ane", Layout::Ane)];
    let mut packages = BTreeMap::new();
    for (at, case) in all().iter().enumerate() {
        let module = module(case);
        let Ok(mut g) = session
            .formats
            .parse(Format::Core, &module, 0, &Limits::default())
        else {
            continue;
        };
        if verify(&mut g, &VerifyConfig::default()).has_errors() {
            continue;
        }
        for (word, layout) in layouts {
            let config = Config {
                layout,
                interface: Interface::Any,
                ..Config::default()
            };
            let mut low = g.clone();
            if mind_to_mil::lower(&mut low, &config).is_err() {
                continue;
            }
            let name = format!("case{at:03}-{word}");
            let package =
                mind_mlpackage::package(&low).map_err(|found| format!("{module}\n{found:?}"))?;
            write(&folder.join(format!("{name}.mlpackage")), &package)?;
            let arrays =
                random_inputs(&low, 1, Extents::default()).map_err(|error| format!("{error:?}"))?;
            let archive = npz::write(arrays.iter().map(|(name, array)| (name.clone(), array)));
            let archive = archive.map_err(|error| error.to_string())?;
            std::fs::write(folder.join(format!("{name}.in.npz")), archive)
                .map_err(|error| error.to_string())?;
            let Some(results) = results(&low, &arrays) else {
                continue;
            };
            packages.insert(
                name,
                Judged {
                    module: module.clone(),
                    results,
                },
            );
        }
    }
    Ok(packages)
}

fn module(case: &Case) -> String {
    let mut text = String::new();
    for (at, shape) in case.shapes.iter().enumerate() {
        let dims: Vec<String> = shape.iter().map(ToString::to_string).collect();
        text += &format!(
            "%{at} = Input {{name=x{at}}} : tensor<f32[{}]>\n",
            dims.join(", ")
        );
    }
    text + &format!("%9 = {}\noutputs: %9\n", case.op)
}

fn results(g: &Graph, arrays: &Arrays) -> Option<Vec<Tensor>> {
    let bound = bind(g, arrays, Extents::default()).ok()?;
    run(g, &bound, &RunConfig::default()).ok()
}

fn write(folder: &Path, package: &mind_mlpackage::Package) -> Result<(), String> {
    let data = folder.join("Data/com.apple.CoreML");
    let files: [(PathBuf, &[u8]); 3] = [
        (data.join("weights/weight.bin"), &package.weights),
        (data.join("model.mlmodel"), &package.model),
        (folder.join("Manifest.json"), package.manifest.as_bytes()),
    ];
    std::fs::create_dir_all(data.join("weights")).map_err(|error| error.to_string())?;
    files.iter().try_for_each(|(path, bytes)| {
        std::fs::write(path, bytes).map_err(|error| error.to_string())
    })
}

/// Compares what was inferred with what was computed: 1 where there was something to compare.
fn compare(folder: &Path, name: &str, judged: &Judged) -> Result<usize, String> {
    let Ok(bytes) = std::fs::read(folder.join(format!("{name}.out.npz"))) else {
        return Ok(0);
    };
    let inferred = npz::read(&bytes, 1 << 30).map_err(|error| error.to_string())?;
    for (at, result) in judged.results.iter().enumerate() {
        let Some(found) = inferred.get(&at.to_string()) else {
            return Ok(0);
        };
        let pairs = floats(result).into_iter().zip(floats(found));
        for (own, other) in pairs {
            let fits = own.is_finite() && other.is_finite();
            if fits && (own - other).abs() > ERROR * (1.0 + own.abs()) {
                return Err(format!(
                    "{name}: coremltools infers {other}, not {own}\n{}",
                    judged.module
                ));
            }
        }
    }
    Ok(1)
}
