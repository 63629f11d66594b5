//! Runs the backend tests of the package onnx in both engines.
//!
//! `MIND_ONNX` names a Python with that package. Without it the groups are reported as not run; `MIND_ONNX_REQUIRED=1`
//! makes that a failure. Each test has its own tolerances; inputs that an operator must know at import are bound as
//! constants. If that Python has ONNX Runtime as well, the operators of its domain are compared with it, and the table
//! of its kernels is measured. `MIND_ONNX_OLD` names a folder with versions 1.2 to 1.8 of the package, whose node tests
//! are run as well; some of them are recorded and run without any installation.
//!
//! `onnx_not_passed.txt` and `onnx_old_not_passed.txt` list the tests that do not pass, with the reason, and
//! `onnx_counts.txt` and `onnx_old_counts.txt` the numbers of passing tests by operator; see docs/testing.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::io::Cursor;
use std::path::Path;
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};
use mind_cli::{MemoryHost, npz};
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::DType;
use mind_ir::with_num;
use zip::ZipArchive;

/// The folder of the recorded files.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/");

/// Names of tests of old versions that are recorded, because their semantics changed or were defined later.
const RECORDED: &[&str] = &[
    "test_averagepool_2d_same_lower",
    "test_batchnorm_example",
    "test_clip_default_inbounds",
    "test_cumsum_1d_exclusive",
    "test_dropout_default",
    "test_dropout_random",
    "test_gemm_broadcast",
    "test_hardmax_one_hot",
    "test_logsoftmax_default_axis",
    "test_maxunpool_export_with_output_shape",
    "test_nonzero_example",
    "test_constant_pad",
    "test_reduce_sum_keepdims_example",
    "test_resize_downsample_linear",
    "test_resize_downsample_nearest",
    "test_resize_upsample_linear",
    "test_resize_upsample_nearest",
    "test_scan_sum",
    "test_scatter_with_axis",
    "test_slice_default_axes",
    "test_softmax_axis_0",
    "test_split_equal_parts_1d",
    "test_squeeze",
    "test_top_k",
    "test_unsqueeze",
    "test_upsample_nearest",
];

fn main() {
    let arguments = Arguments::from_args();
    let python = std::env::var("MIND_ONNX").ok();
    let old = std::env::var("MIND_ONNX_OLD").ok();
    let trials = vec![
        judge(
            "backend_tests_of_onnx",
            "MIND_ONNX",
            python.clone().map(|python| (python, None)),
        ),
        judge(
            "node_tests_of_onnx_1_2_to_1_8",
            "MIND_ONNX_OLD",
            python
                .clone()
                .zip(old)
                .map(|(python, old)| (python, Some(old))),
        ),
        with(
            "kernels_of_onnx_runtime",
            "MIND_ONNX",
            python.map(|python| move || kernels(&python)),
        ),
        Trial::test("recorded_node_tests", || recorded().map_err(Failed::from)),
    ];
    libtest_mimic::run(&arguments, trials).exit();
}

/// Returns a trial that runs if `variable` is set; setting the variable with the suffix `_REQUIRED` makes it fail
/// otherwise.
fn with(
    name: &str,
    variable: &str,
    run: Option<impl FnOnce() -> Result<(), String> + Send + 'static>,
) -> Trial {
    let required = std::env::var(format!("{variable}_REQUIRED")).is_ok_and(|value| value == "1");
    let missing = format!("{variable} is not set");
    match run {
        Some(run) => Trial::test(name, || run().map_err(Failed::from)),
        None if required => Trial::test(name, || Err(Failed::from(missing))),
        None => {
            Trial::test(format!("{name} (not run: {missing})"), || Ok(())).with_ignored_flag(true)
        }
    }
}

fn judge(name: &str, variable: &str, with_packages: Option<(String, Option<String>)>) -> Trial {
    let run = with_packages.map(|(python, old)| {
        move || {
            let kind = if old.is_some() { "old" } else { "new" };
            let folder =
                std::env::temp_dir().join(format!("mind-onnx-{kind}-{}", std::process::id()));
            let outcome = judge_in(&python, &folder, old.as_deref());
            let _ = std::fs::remove_dir_all(&folder);
            outcome
        }
    });
    with(name, variable, run)
}

/// Measures the kernels of ONNX Runtime again.
fn kernels(python: &str) -> Result<(), String> {
    let script = format!("{FOLDER}onnx_kernels.py");
    let output = Command::new(python).arg(&script).output();
    let output = output.map_err(|why| format!("{python}: {why}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let table = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../compiler/formats/mind-onnx/src/export/kernels.tsv"
    );
    mind_snapshot::check_file(table, String::from_utf8_lossy(&output.stdout).into_owned());
    Ok(())
}

/// Reads a file of a test by name.
type ReadFile<'a> = dyn Fn(&str) -> Result<Vec<u8>, String> + 'a;

/// Runs the recorded tests, whose files are byte arrays in an archive.
fn recorded() -> Result<(), String> {
    let path = format!("{FOLDER}onnx_old_recorded.npz");
    let archive = std::fs::read(&path).map_err(|why| format!("{path}: {why}"))?;
    let files = npz::read(&archive, u64::MAX).map_err(|why| why.to_string())?;
    let read = |name: &str| {
        let found = files.get(name).ok_or_else(|| format!("{name} is missing"));
        found.map(|own| own.elements::<u8>().to_vec())
    };
    let tests = String::from_utf8_lossy(&read("tests")?).into_owned();
    let cases = tests
        .lines()
        .map(|line| Case::of(line).ok_or_else(|| format!("unreadable: {line}")));
    let cases: Vec<Case> = cases.collect::<Result<_, _>>()?;
    let ran: BTreeSet<&str> = cases.iter().map(|case| &case.name[..]).collect();
    if let Some(missing) = RECORDED.iter().find(|name| !ran.contains(**name)) {
        return Err(format!("{missing} is not recorded"));
    }
    let failed = cases.iter().filter_map(|case| {
        let found = case.run_all(&read);
        found
            .err()
            .map(|why| format!("{} {}: {why}", case.group, case.name))
    });
    let failed: Vec<String> = failed.collect();
    if failed.is_empty() {
        Ok(())
    } else {
        Err(failed.join("\n"))
    }
}

/// Records passing tests: their lines and files.
fn record<'l>(lines: impl Iterator<Item = &'l str>, read: &ReadFile<'_>) -> Result<(), String> {
    let mut files: BTreeMap<String, Tensor> = BTreeMap::new();
    let bytes = |own: Vec<u8>| Tensor::of(vec![own.len()], own);
    let mut tests = String::new();
    for line in lines {
        let case = Case::of(line).ok_or_else(|| format!("unreadable: {line}"))?;
        tests += &format!("{line}\n");
        let sets =
            (0..case.sets).flat_map(|set| [format!("{set}.in.npz"), format!("{set}.out.npz")]);
        for end in sets.chain(["onnx".to_owned()]) {
            let name = format!("{}.{end}", case.number);
            files.insert(name.clone(), bytes(read(&name)?));
        }
    }
    files.insert("tests".to_owned(), bytes(tests.into_bytes()));
    let pairs = files.iter().map(|(name, own)| (name.clone(), own));
    let archive = npz::write(pairs).map_err(|why| why.to_string())?;
    std::fs::write(format!("{FOLDER}onnx_old_recorded.npz"), archive).map_err(|why| why.to_string())
}

fn judge_in(python: &str, folder: &Path, old: Option<&str>) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|why| why.to_string())?;
    let script = format!("{FOLDER}onnx_judge.py");
    let mut command = Command::new(python);
    let status = command.arg(&script).arg(folder).args(old).status();
    if !status.map_err(|why| format!("{python}: {why}"))?.success() {
        return Err(format!("{script} failed"));
    }
    let read =
        |name: &str| std::fs::read(folder.join(name)).map_err(|why| format!("{name}: {why}"));
    let tests = String::from_utf8_lossy(&read("tests")?).into_owned();
    let mut counts: BTreeMap<(String, &str), usize> = BTreeMap::new();
    let mut passed = BTreeSet::new();
    // The first test of each name is recorded.
    let mut recorded: BTreeMap<String, &str> = BTreeMap::new();
    let mut not_passed = String::new();
    for line in tests.lines() {
        let case = Case::of(line).ok_or_else(|| format!("unreadable: {line}"))?;
        let found = case.run_all(&read);
        let state = if found.is_ok() { "pass" } else { "do not" };
        *counts.entry((case.group.clone(), state)).or_default() += 1;
        match found {
            Ok(()) => {
                passed.insert(case.number);
                if RECORDED.contains(&&case.name[..]) {
                    recorded.entry(case.name).or_insert(line);
                }
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
    let prefix = if old.is_some() { "onnx_old" } else { "onnx" };
    mind_snapshot::check_file(format!("{FOLDER}{prefix}_not_passed.txt"), not_passed);
    let operators = String::from_utf8_lossy(&read("operators")?).into_owned();
    let counted = by_operator(&operators, &passed);
    mind_snapshot::check_file(format!("{FOLDER}{prefix}_counts.txt"), counted);
    let is_recording = std::env::var("INSTA_UPDATE").is_ok_and(|value| value == "always");
    match old {
        Some(_) if is_recording => record(recorded.into_values(), &read),
        Some(_) | None => Ok(()),
    }
}

/// Returns the numbers of passing and failing tests by operator, with one tab-separated line for each.
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

/// A test: a model with its inputs and expected outputs.
struct Case {
    number: String,
    group: String,
    name: String,
    relative: f64,
    absolute: f64,
    /// Why some of its values are not numeric tensors.
    no_tensors: Option<String>,
    /// The number of data sets.
    sets: usize,
    inputs: Vec<String>,
    /// The names of the outputs, and whether they are stored as bfloat16 bits.
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

    /// Returns the engines that run it. Whole networks are not interpreted, because that takes minutes and the other
    /// groups cover their ops.
    fn engines(&self) -> &'static [&'static str] {
        match &self.group[..] {
            "real" => &["jit"],
            _ => &["jit", "interp"],
        }
    }

    /// Runs the model in each engine on each data set and compares.
    fn run_all(&self, read: &ReadFile<'_>) -> Result<(), String> {
        if let Some(why) = &self.no_tensors {
            return Err(why.clone());
        }
        let mut engines = self.engines().iter();
        engines.try_for_each(|engine| self.run(engine, read))
    }

    /// Runs the model in one engine on each data set and compares.
    fn run(&self, engine: &str, read: &ReadFile<'_>) -> Result<(), String> {
        (0..self.sets).try_for_each(|set| self.run_on(set, engine, read))
    }

    fn run_on(&self, set: usize, engine: &str, read: &ReadFile<'_>) -> Result<(), String> {
        let file = |end: &str| read(&format!("{}.{end}", self.number));
        let archive = |bytes: &[u8]| npz::read(bytes, u64::MAX).map_err(|why| why.to_string());
        let (model, given) = (file("onnx")?, file(&format!("{set}.in.npz"))?);
        let arrays = archive(&given)?;
        let mut bound: BTreeSet<&str> = BTreeSet::new();
        let (names, results) = loop {
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
                let written = &host.files[Path::new("out.npz")];
                break (array_names(written)?, archive(written)?);
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
        for (at, (name, is_bf16)) in self.outputs.iter().enumerate() {
            let found = names.get(at).and_then(|own| results.get(own));
            let (Some(found), Some(wanted)) = (found, wanted.get(name)) else {
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

/// Returns the names of the arrays in an archive in file order, which is the order of the outputs.
fn array_names(bytes: &[u8]) -> Result<Vec<String>, String> {
    let failed = |why: zip::result::ZipError| why.to_string();
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(failed)?;
    let mut names = Vec::new();
    for at in 0..archive.len() {
        let member = archive.by_index(at).map_err(failed)?;
        let name = member.name().map_err(failed)?;
        names.push(name.trim_end_matches(".npy").to_owned());
    }
    Ok(names)
}

/// Returns the first error in a tool's output, or else its first line, without file names.
fn first_line(text: &str) -> String {
    let error = text.lines().find(|line| line.starts_with("error"));
    let line = error.or_else(|| text.lines().next()).unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// The exact elements of an array.
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
