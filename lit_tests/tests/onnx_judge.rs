//! The backend tests of the package onnx, in both engines.
//!
//! `MIND_ONNX` names a Python with that package. Without it the group is reported as not run; `MIND_ONNX_REQUIRED=1`
//! makes that a failure. Each test is run with its own tolerances; inputs that an operator needs to know are bound as
//! constants. If that Python has ONNX Runtime, too, the operators of its domain are compared with it. `onnx_not_passed.txt`
//! lists the tests that do not pass, with the reason, and `onnx_counts.txt` how many of each operator do; see
//! docs/testing.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};
use mind_cli::{MemoryHost, npz};
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::DType;
use mind_ir::with_num;

fn main() {
    let arguments = Arguments::from_args();
    let python = std::env::var("MIND_ONNX").ok();
    let required = std::env::var("MIND_ONNX_REQUIRED").is_ok_and(|value| value == "1");
    let name = "backend_tests_of_onnx";
    let trial = match python {
        Some(python) => Trial::test(name, move || judged(&python)),
        None if required => Trial::test(name, || {
            Err(Failed::from("`MIND_ONNX` names no Python with onnx"))
        }),
        None => Trial::test(format!("{name} (not run: MIND_ONNX is not set)"), || Ok(()))
            .with_ignored_flag(true),
    };
    libtest_mimic::run(&arguments, vec![trial]).exit();
}

fn judged(python: &str) -> Result<(), Failed> {
    let folder = std::env::temp_dir().join(format!("mind-onnx-{}", std::process::id()));
    let outcome = judge_in(python, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    outcome.map_err(Failed::from)
}

fn judge_in(python: &str, folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|why| why.to_string())?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/onnx_judge.py");
    let status = Command::new(python).arg(script).arg(folder).status();
    if !status.map_err(|why| format!("{python}: {why}"))?.success() {
        return Err(format!("{script} failed"));
    }
    let read =
        |name: &str| std::fs::read(folder.join(name)).map_err(|why| format!("{name}: {why}"));
    let tests = String::from_utf8_lossy(&read("tests")?).into_owned();
    let mut counts: BTreeMap<(String, &str), usize> = BTreeMap::new();
    let mut passed = BTreeSet::new();
    let mut not_passed = String::new();
    for line in tests.lines() {
        let case = Case::of(line).ok_or_else(|| format!("unreadable: {line}"))?;
        let found = match &case.no_tensors {
            Some(why) => Err(why.clone()),
            None => case
                .engines()
                .iter()
                .try_for_each(|engine| case.run(engine, &read)),
        };
        let state = if found.is_ok() { "pass" } else { "do not" };
        *counts.entry((case.group.clone(), state)).or_default() += 1;
        match found {
            Ok(()) => {
                passed.insert(case.number);
            }
            // Writing to a string cannot fail.
            Err(why) => {
                let _ = writeln!(not_passed, "{} {}: {why}", case.group, case.name);
            }
        }
    }
    for ((group, state), count) in counts {
        println!("{group}: {count} {state}");
    }
    mind_snapshot::check_file(
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/onnx_not_passed.txt"),
        not_passed,
    );
    let operators = String::from_utf8_lossy(&read("operators")?).into_owned();
    mind_snapshot::check_file(
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/onnx_counts.txt"),
        by_operator(&operators, &passed),
    );
    Ok(())
}

/// How many tests of each operator pass, and how many do not: a line of the operator and both numbers, tabs between them.
fn by_operator(operators: &str, passed: &BTreeSet<String>) -> String {
    let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for line in operators.lines() {
        let Some((operator, test)) = line.rsplit_once('\t') else {
            continue;
        };
        let operator = operator.trim_start().replace('\t', ".");
        let own = counts.entry(operator).or_default();
        own[usize::from(!passed.contains(test))] += 1;
    }
    let lines = counts.iter();
    lines
        .map(|(operator, [pass, fail])| format!("{operator}\t{pass}\t{fail}\n"))
        .collect()
}

/// A test: a model, what it is given and what it gives.
struct Case {
    number: String,
    group: String,
    name: String,
    relative: f64,
    absolute: f64,
    /// Why it has values that are no tensors of numbers.
    no_tensors: Option<String>,
    /// The number of sets of data.
    sets: usize,
    inputs: Vec<String>,
    /// The names of the outputs, and whether they are bits of bfloat16.
    outputs: Vec<(String, bool)>,
}

impl Case {
    fn of(line: &str) -> Option<Case> {
        let mut fields = line.split('\t');
        let mut next = || fields.next().map(str::to_owned);
        let (number, group, name) = (next()?, next()?, next()?);
        let (relative, absolute) = (next()?.parse().ok()?, next()?.parse().ok()?);
        let sets = next()?;
        let arrays: Vec<&str> = fields.collect();
        let named = |kind: &str| {
            let own = arrays
                .iter()
                .filter_map(|own| own.strip_prefix(kind)?.rsplit_once(':'));
            own.map(|(name, ty)| (name.to_owned(), ty == "bfloat16"))
                .collect::<Vec<_>>()
        };
        Some(Case {
            number,
            group,
            name,
            relative,
            absolute,
            no_tensors: (sets == "-").then(|| arrays.concat()),
            sets: sets.parse().unwrap_or(0),
            inputs: named("i:").into_iter().map(|(name, _)| name).collect(),
            outputs: named("o:"),
        })
    }

    /// The engines that run it. Whole networks take the interpreter minutes, and its ops are those of the other groups.
    fn engines(&self) -> &'static [&'static str] {
        match &self.group[..] {
            "real" => &["jit"],
            _ => &["jit", "interp"],
        }
    }

    /// Runs the model in an engine on each set of data and compares.
    fn run(
        &self,
        engine: &str,
        read: &dyn Fn(&str) -> Result<Vec<u8>, String>,
    ) -> Result<(), String> {
        (0..self.sets).try_for_each(|set| self.run_on(set, engine, read))
    }

    fn run_on(
        &self,
        set: usize,
        engine: &str,
        read: &dyn Fn(&str) -> Result<Vec<u8>, String>,
    ) -> Result<(), String> {
        let file = |end: &str| read(&format!("{}.{end}", self.number));
        let archive = |bytes: &[u8]| npz::read(bytes, u64::MAX).map_err(|why| why.to_string());
        let (model, given) = (file("onnx")?, file(&format!("{set}.in.npz"))?);
        let arrays = archive(&given)?;
        let mut bound: BTreeSet<&str> = BTreeSet::new();
        let results = loop {
            let mut host = MemoryHost::default();
            host.files.insert("m.onnx".into(), model.clone());
            host.files.insert("all.npz".into(), given.clone());
            let left = arrays.iter().filter(|(name, _)| !bound.contains(&name[..]));
            let left = npz::write(left.map(|(name, array)| (name.clone(), array)));
            host.files
                .insert("in.npz".into(), left.map_err(|why| why.to_string())?);
            let mut words: Vec<String> =
                ["--engine", engine, "--threads", "1", "--inputs", "in.npz"]
                    .into_iter()
                    .chain(["--outputs", "out.npz", "m.onnx"])
                    .map(str::to_owned)
                    .collect();
            words.extend(bound.iter().map(|name| format!("--bind={name}=all.npz")));
            if mind_run::run(&words, &mut host) == 0 {
                break archive(&host.files[Path::new("out.npz")])?;
            }
            let why = host.error();
            let wanted = self.inputs.iter().find(|name| {
                !bound.contains(&name[..])
                    && why.contains("at run time")
                    && why.contains(&format!("`{name}`"))
            });
            match wanted {
                Some(name) => bound.insert(name),
                None => return Err(first_line(&why)),
            };
        };
        let wanted = archive(&file(&format!("{set}.out.npz"))?)?;
        for (name, is_bf16) in &self.outputs {
            let (Some(found), Some(wanted)) = (results.get(name), wanted.get(name)) else {
                return Err(format!("{name} is missing"));
            };
            self.compare(&numbers(found, *is_bf16), &numbers(wanted, *is_bf16))
                .map_err(|why| format!("{engine}: {name}: {why}"))?;
        }
        Ok(())
    }

    fn compare(&self, found: &Numbers, wanted: &Numbers) -> Result<(), String> {
        if (found.dtype, &found.shape) != (wanted.dtype, &wanted.shape) {
            let (a, b) = ((found.dtype, &found.shape), (wanted.dtype, &wanted.shape));
            return Err(format!("{}{:?} is not {}{:?}", a.0, a.1, b.0, b.1));
        }
        let pairs = found.elements.iter().zip(&wanted.elements);
        let is_far = |(a, b): &(&f64, &f64)| {
            let near = (*a - *b).abs() <= self.absolute + self.relative * b.abs();
            !(near || a == b || a.is_nan() && b.is_nan())
        };
        let far = pairs.filter(is_far).count();
        match far {
            0 => Ok(()),
            far => Err(format!("{far} of {} numbers differ", wanted.elements.len())),
        }
    }
}

/// The first line of what a tool says of an error, without the names of files.
fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// The elements of an array, exactly.
struct Numbers {
    dtype: DType,
    shape: Vec<usize>,
    elements: Vec<f64>,
}

fn numbers(array: &Tensor, is_bf16: bool) -> Numbers {
    use mind_ir::tensor::Num;
    let shape = array.shape().to_vec();
    let tensor = match is_bf16 {
        true => Tensor::new(
            shape.clone(),
            Buffer::from_bytes(DType::BF16, array.buffer().as_bytes()),
        ),
        false => array.clone(),
    };
    let dtype = tensor.dtype();
    let elements = with_num!(dtype, T => tensor.elements::<T>().iter().map(|own| own.to_f64()).collect(), else {
        tensor.elements::<bool>().iter().map(|&own| f64::from(u8::from(own))).collect::<Vec<f64>>()
    });
    Numbers {
        dtype,
        shape,
        elements,
    }
}
