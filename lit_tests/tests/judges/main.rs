//! Compares packages with coremltools: it must load each one and infer the numbers that the interpreter computes.
//!
//! `MIND_COREMLTOOLS` names a Python with the package. Without it the group is reported as not run;
//! `MIND_COREMLTOOLS_REQUIRED=1` makes that a failure. `INSTA_UPDATE=always` records the inferred types of the programs
//! with one op each. See docs/testing.md.

mod again;
#[path = "../mil_round_trip/drawn.rs"]
mod drawn;
mod flexible;
mod onnx;
#[path = "../mil_round_trip/optimiser.rs"]
mod optimiser;
#[path = "../mil_round_trip/package.rs"]
mod package;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};
use mind_cli::npz;
use mind_core::ops::sort::{Sort, TopK};
use mind_driver::formats::{Format, LoadOptions};
use mind_driver::load::parse_and_verify;
use mind_driver::session::Session;
use mind_interp::{Arrays, Extents, inputs, random_inputs};
use mind_ir::Graph;
use mind_ir::tensor::Tensor;
use mind_ir::verify::{VerifyConfig, verify};
use mind_mil::Opset;
use mind_mil::call::{Call, floats};
use mind_mil::check::Interface;
use mind_mil::ops::row;
use mind_testgen::forms::forms_in;
use mind_testgen::mil::{Program, programs};
use mind_to_mil::{Config, Layout};

use optimiser::Optimiser;
use package::{read_back, results, same_bits};

/// Maximum difference between the interpreter and coremltools, which computes in NumPy's float16 op by op, relative to
/// the largest element of a result.
const ERROR: f64 = 2e-2;
/// The judge, a Python program.
const JUDGE: &str = include_str!("../coremltools_judge.py");
/// The recorded results of the judge for the programs with one op each.
const RECORD: &str = "../dialects/mind-mil/tests/signatures/inferred.json";
/// Errors that coremltools raises for correct packages, with the reason.
const FAULTS: [(&str, &str); 2] = [
    (
        "Types should have zero-rank ndarray input",
        "it infers symbols for the elements of small concatenations and cannot take one of them out",
    ),
    (
        "'float' object has no attribute 'ndim'",
        "it infers a scalar as a number of Python, and a function of it expects an array",
    ),
];
/// Programs without a package, or with a package that computes other numbers, with the reason: tests of the package
/// onnx, and programs that are imported and exported again.
const NOT_PASSED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/judges/not_passed.txt");
/// The number of random modules.
const DRAWN: u64 = 300;

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

/// The source of a package and the results of its program, if it can be run.
struct Judged {
    /// The origin of the program, for the counts.
    group: &'static str,
    source: String,
    results: Option<Vec<Tensor>>,
    /// Whether coremltools infers its values incorrectly.
    is_wrongly_inferred: bool,
    /// The expected description of input shapes, if they are flexible.
    shapes: Vec<String>,
}

fn judged(python: &str) -> Result<(), Failed> {
    let folder = std::env::temp_dir().join(format!("mind-judges-{}", std::process::id()));
    let outcome = judge_in(python, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    outcome.map_err(Failed::from)
}

fn judge_in(python: &str, folder: &Path) -> Result<(), String> {
    let mut packages = Packages {
        folder,
        session: Session::default(),
        optimiser: Optimiser::new(),
        judged: BTreeMap::new(),
        not_passed: String::new(),
        unread: Vec::new(),
    };
    packages.cases()?;
    packages.programs()?;
    packages.suite()?;
    packages.drawn()?;
    packages.flexible()?;
    packages.onnx(python)?;
    let (unread, not_passed) = (packages.unread, packages.not_passed);
    let packages = packages.judged;
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
    let refused: Vec<String> = lines
        .into_iter()
        .filter_map(|line| line.strip_prefix("refused "))
        .filter(|line| !is_fault(line))
        .map(|line| {
            let name = line.split(':').next().unwrap_or("");
            let source = packages.get(name).map_or("", |judged| &judged.source);
            format!("{line}\n{source}")
        })
        .collect();
    let mut counts: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    let mut wrong = String::new();
    for (word, lines) in [("read back by us", &unread), ("loaded", &refused)] {
        if !lines.is_empty() {
            wrong += &format!("{} not {word}\n{}\n", lines.len(), lines.join("\n"));
        }
    }
    for (name, judged) in &packages {
        let count = counts.entry(judged.group).or_default();
        count[0] += 1;
        let prefix = format!("shapes {name} ");
        let described = said.lines().filter_map(|line| line.strip_prefix(&prefix));
        let described: Vec<&str> = described.collect();
        if described != judged.shapes {
            wrong += &format!(
                "{name}: {:?} is described, not {:?}\n",
                described, judged.shapes
            );
        }
        match compare(folder, name, judged) {
            Ok(compared) => count[1] += compared,
            Err(why) => wrong += &format!("{why}\n"),
        }
    }
    let broken = said.lines().filter(|line| line.starts_with("uninferred "));
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for line in broken {
        *reasons
            .entry(line.split(": ").nth(1).unwrap_or(""))
            .or_default() += 1;
    }
    for (reason, count) in &reasons {
        println!("{count} packages whose value inference breaks off: {reason}");
    }
    for (group, [loaded, compared]) in &counts {
        println!("{group}: {loaded} packages loaded, {compared} agree numerically");
    }
    if mind_snapshot::updates() {
        record(folder, &packages)?;
    }
    mind_snapshot::check_file(NOT_PASSED, not_passed);
    let compared: usize = counts.values().map(|[_, compared]| compared).sum();
    if wrong.is_empty() && compared > packages.len() / 3 {
        Ok(())
    } else {
        Err(format!(
            "{compared} of {} packages agree\n{wrong}",
            packages.len()
        ))
    }
}

/// Returns whether an error is a fault of coremltools itself; each is shown.
fn is_fault(line: &str) -> bool {
    let fault = FAULTS.iter().find(|(message, _)| line.contains(message));
    if let Some((_, reason)) = fault {
        println!("a fault of coremltools ({reason}): {line}");
    }
    fault.is_some()
}

/// Writes packages with their inputs.
struct Packages<'f> {
    folder: &'f Path,
    session: Session,
    optimiser: Optimiser,
    judged: BTreeMap<String, Judged>,
    /// The lines of [`NOT_PASSED`].
    not_passed: String,
    /// Packages that our importer rejects, or whose program computes other bits.
    unread: Vec<String>,
}

impl Packages<'_> {
    /// Adds every op and shape of core, in both layouts.
    fn cases(&mut self) -> Result<(), String> {
        for (at, source) in forms_in(&["f32", "i32", "bool"]).iter().enumerate() {
            if let Some((_, g)) = self.read(source, Some(Format::Core)) {
                self.lowered("case", &format!("{at:04}"), source, &g)?;
            }
        }
        Ok(())
    }

    /// Adds MIL programs with one op each.
    fn programs(&mut self) -> Result<(), String> {
        for (at, program) in programs().iter().enumerate() {
            for float in ["fp16", "fp32"] {
                let source = program.text(float);
                let Some((_, g)) = self.read(&source, Some(Format::Mil)) else {
                    return Err(format!("not a program:\n{source}"));
                };
                let name = format!("program-{}", program_name(at, program, float));
                self.again(&name, &source, &g, program.opset, arrays)?;
                self.add("program", name.clone(), &source, g, arrays)?;
                // The same form in the other opsets that have it.
                for opset in Opset::ALL.iter().filter(|own| own.tag() != program.opset) {
                    let source = program.text_in(float, opset.tag());
                    if let Some((_, g)) = self.read(&source, Some(Format::Mil)) {
                        let name = format!("{name}-{}", opset.tag());
                        self.add("program by opset", name, &source, g, arrays)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds every module of the regression suite that can be lowered, or that is MIL already.
    fn suite(&mut self) -> Result<(), String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let found = lit_tests::discovery::find(root).map_err(|error| error.to_string())?;
        for test in found.tests {
            let text = std::fs::read_to_string(&test.path).map_err(|error| error.to_string())?;
            let parts = text
                .split("\n# -----")
                .chain(text.split("\n// -----").skip(1));
            for (at, source) in parts.enumerate() {
                let source = match (at, source.split_once('\n')) {
                    (1.., Some((_, rest))) => rest,
                    _ => source,
                };
                let Some((format, g)) = self.read(source, None) else {
                    continue;
                };
                let name = format!("{}-{at}", test.name.replace(['/', '.'], "_"));
                match format {
                    Format::Mil | Format::MilPrimer => {
                        self.add("suite", format!("suite-{name}"), source, g, random)?;
                    }
                    _ => self.lowered("suite", &name, source, &g)?,
                }
            }
        }
        Ok(())
    }

    /// Adds random modules.
    fn drawn(&mut self) -> Result<(), String> {
        for seed in 0..DRAWN {
            let mut g = drawn::module(seed);
            if verify(&mut g, &VerifyConfig::default()).has_errors() {
                return Err(format!("module {seed} is not valid"));
            }
            if sorts_nan(&g) {
                continue;
            }
            let (name, source) = (format!("{seed:03}"), format!("module {seed}"));
            self.lowered("drawn", &name, &source, &g)?;
            let mut low = g.clone();
            if mind_to_mil::lower(&mut low, &drawn::singles()).is_ok() {
                self.add(
                    "drawn",
                    format!("drawn-{name}-singles"),
                    &source,
                    low,
                    random,
                )?;
            }
        }
        Ok(())
    }

    fn read(&self, source: &str, from: Option<Format>) -> Option<(Format, Graph)> {
        let options = LoadOptions {
            from: from.map(Format::info),
            ..LoadOptions::default()
        };
        let (format, g) = parse_and_verify(&self.session.formats, source, 0, &options).ok()?;
        Some((format.text().unwrap_or(Format::Core), g))
    }

    /// Adds a module lowered in both layouts, where possible.
    fn lowered(
        &mut self,
        group: &'static str,
        name: &str,
        source: &str,
        g: &Graph,
    ) -> Result<(), String> {
        for (word, layout) in [("keep", Layout::Keep), ("ane", Layout::Ane)] {
            let config = Config {
                layout,
                interface: Interface::Any,
                ..Config::default()
            };
            let mut low = g.clone();
            if mind_to_mil::lower(&mut low, &config).is_ok() {
                let name = format!("{group}-{name}-{word}");
                self.add(group, name, source, low, random)?;
            }
        }
        Ok(())
    }

    /// Adds a program that a package can describe, with the arrays that it is run on.
    fn add(
        &mut self,
        group: &'static str,
        name: String,
        source: &str,
        mut g: Graph,
        arrays: impl Fn(&Graph) -> Option<Arrays>,
    ) -> Result<(), String> {
        mind_mil::names::assign_names(&mut g);
        let Ok(package) = mind_coreml::package::package(&g) else {
            return Ok(());
        };
        write(&self.folder.join(format!("{name}.mlpackage")), &package)?;
        let arrays = arrays(&g).filter(|_| !is_stateful(&g));
        let results = arrays.as_ref().and_then(|arrays| results(&g, arrays));
        self.compare_read(&name, &g, arrays.as_ref(), results.as_deref());
        if let (Some(arrays), Some(_)) = (&arrays, &results) {
            let archive = npz::write(arrays.iter().map(|(name, array)| (name.clone(), array)));
            let archive = archive.map_err(|error| error.to_string())?;
            let path = self.folder.join(format!("{name}.in.npz"));
            std::fs::write(path, archive).map_err(|error| error.to_string())?;
        }
        let judged = Judged {
            group,
            source: source.to_owned(),
            results,
            is_wrongly_inferred: is_wrongly_inferred(&g),
            shapes: Vec::new(),
        };
        self.judged.insert(name, judged);
        Ok(())
    }
}

impl Packages<'_> {
    /// Records a package that our own importer rejects, or that computes other bits after reading it back.
    fn compare_read(
        &mut self,
        name: &str,
        g: &Graph,
        arrays: Option<&Arrays>,
        expected: Option<&[Tensor]>,
    ) {
        let why = match read_back(g) {
            None => return,
            Some(Err(why)) => why,
            Some(Ok(again)) => {
                let Some(arrays) = arrays else { return };
                if same_bits(expected, results(&again, arrays).as_deref()) {
                    return;
                }
                "it computes other bits".to_owned()
            }
        };
        self.unread.push(format!("{name}: {why}"));
    }
}

fn is_stateful(g: &Graph) -> bool {
    inputs(g)
        .iter()
        .any(|input| mind_mil::call::is_state(g, g.result(input.op)))
}

fn program_name(at: usize, program: &Program, float: &str) -> String {
    format!("{at:03}-{}-{float}", program.op)
}

fn random(g: &Graph) -> Option<Arrays> {
    random_inputs(g, 1, Extents::default()).ok()
}

/// Returns whether a module with a sort has NaN in its outputs. MIL does not define the order of NaN, so that such results
/// cannot be compared.
fn sorts_nan(g: &Graph) -> bool {
    let sorts = g.walk().any(|op| g.is::<Sort>(op) || g.is::<TopK>(op));
    let is_nan = |tensor: &Tensor| floats(tensor).iter().any(|number| number.is_nan());
    sorts
        && random(g)
            .and_then(|arrays| results(g, &arrays))
            .is_some_and(|results| results.iter().any(is_nan))
}

/// Returns the arrays that a program of one op prescribes.
fn arrays(g: &Graph) -> Option<Arrays> {
    let array = |input: mind_interp::InputSpec<'_>| {
        let shape = input.ty.static_shape()?.into_iter();
        let shape = shape.map(|extent| extent as usize).collect();
        let tensor = Program::tensor(input.name, input.ty.dtype, shape);
        Some((input.name.to_owned(), tensor))
    };
    inputs(g).into_iter().map(array).collect()
}

fn write(folder: &Path, package: &mind_coreml::package::Package) -> Result<(), String> {
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

fn inferred(folder: &Path, name: &str) -> Option<Arrays> {
    let bytes = std::fs::read(folder.join(format!("{name}.out.npz"))).ok()?;
    npz::read(&bytes, 1 << 30).ok()
}

/// Returns whether coremltools infers values of a program incorrectly: it ignores `interleave`, applies only one of
/// several updates at the same position, and returns the last of equal integers first.
fn is_wrongly_inferred(g: &Graph) -> bool {
    g.walk().any(|op| {
        let Some(Ok(call)) = row(g.def(op)).map(|row| Call::bind(row, op, g)) else {
            return false;
        };
        match g.def(op).short_name() {
            "concat" => call.flag("interleave"),
            "scatter_along_axis" => call.word("mode") != "update",
            "argsort" | "topk" => !call.ty("x").dtype.is_float(),
            _ => false,
        }
    })
}

/// Compares the inferred values with the computed ones; returns 1 if there were any.
fn compare(folder: &Path, name: &str, judged: &Judged) -> Result<usize, String> {
    let (Some(results), Some(inferred)) = (&judged.results, inferred(folder, name)) else {
        return Ok(0);
    };
    if judged.is_wrongly_inferred {
        return Ok(0);
    }
    for (at, result) in results.iter().enumerate() {
        let Some(found) = inferred.get(&at.to_string()) else {
            return Ok(0);
        };
        let numbers = floats(result);
        let finite = numbers.iter().filter(|own| own.is_finite());
        let largest = finite.fold(1.0, |largest: f64, own| largest.max(own.abs()));
        for (own, other) in numbers.into_iter().zip(floats(found)) {
            let fits = own.is_finite() && other.is_finite();
            if fits && (own - other).abs() > ERROR * (1.0 + largest) {
                return Err(format!(
                    "{name}: coremltools infers {other}, not {own}\n{}",
                    judged.source
                ));
            }
        }
    }
    Ok(1)
}

/// Writes the inferred types of the programs with one op each in `fp32`, by position.
fn record(folder: &Path, packages: &BTreeMap<String, Judged>) -> Result<(), String> {
    let mut text = "{\n".to_owned();
    for (at, program) in programs().iter().enumerate() {
        let name = format!("program-{}", program_name(at, program, "fp32"));
        let inferred = inferred(folder, &name).unwrap_or_default();
        let judged = packages.get(&name);
        if inferred.is_empty() || judged.is_none_or(|own| own.is_wrongly_inferred) {
            continue;
        }
        let lists = inferred.values().map(|tensor| {
            let numbers: Vec<String> = floats(tensor)
                .iter()
                .map(|x| format!("{}", *x as f32))
                .collect();
            format!("[{}]", numbers.join(", "))
        });
        let lists: Vec<String> = lists.collect();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  \"{at:03}-{}\": [{}],",
            program.op,
            lists.join(", ")
        );
    }
    let text = format!("{}\n}}\n", text.trim_end().trim_end_matches(','));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(RECORD);
    std::fs::write(path, text).map_err(|error| error.to_string())
}
