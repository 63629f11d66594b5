//! Packages of the tests that the package onnx has of its operators.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use mind_cli::npz;
use mind_driver::mil;
use mind_interp::{Arrays, inputs};
use mind_ir::Graph;
use mind_ir::tensor::{Num, Tensor};
use mind_ir::types::DType;
use mind_ir::verify::{VerifyConfig, verify};
use mind_ir::with_num;
use mind_mil::call::{floats, integers};
use mind_mil::check::Interface;
use mind_onnx::ImportOptions;
use mind_to_mil::{Config, Layout};

use crate::package::{first, results};
use crate::{Packages, is_stateful};

/// The script that writes the tests of the package.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/onnx_judge.py");

/// The groups of tests that are written; whole networks hold no other ops.
const GROUPS: &str = "--groups=node,simple,pytorch-operator,pytorch-converted";

/// How far the results of a program in singles may be from those of the model, in parts of the largest.
const SINGLES: f64 = 1e-3;

/// A test: its number in the folder and its name.
struct Case<'t> {
    number: &'t str,
    name: &'t str,
}

impl Packages<'_> {
    /// Returns the models of all tests that have tensors of numbers, in halves for the engine and in singles, which are
    /// also imported, optimised and written again.
    pub(crate) fn onnx(&mut self, python: &str) -> Result<(), String> {
        let folder = self.folder.join("onnx");
        std::fs::create_dir_all(&folder).map_err(|why| why.to_string())?;
        let mut command = Command::new(python);
        let status = command.arg(SCRIPT).arg(&folder).arg(GROUPS).status();
        if !status.map_err(|why| format!("{python}: {why}"))?.success() {
            return Err(format!("{SCRIPT} failed"));
        }
        let tests = std::fs::read_to_string(folder.join("tests")).map_err(|why| why.to_string())?;
        for line in tests.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let &[number, _, name, _, _, sets, ..] = &fields[..] else {
                return Err(format!("unreadable: {line}"));
            };
            // Arrays of bfloat16 are written as their bits.
            if sets == "-" || line.contains(":bfloat16") {
                continue;
            }
            let case = Case { number, name };
            if let Err(why) = self.test(&folder, &case) {
                // Writing to a string cannot fail.
                let _ = writeln!(self.not_passed, "onnx {name}: {why}");
            }
        }
        Ok(())
    }

    /// # Errors
    ///
    /// Returns why a test has no package, or whose numbers differ from the model's.
    fn test(&mut self, folder: &Path, case: &Case<'_>) -> Result<(), String> {
        let file = |end: &str| {
            let path = folder.join(format!("{}.{end}", case.number));
            std::fs::read(&path).map_err(|why| why.to_string())
        };
        let archive = npz::read(&file("0.in.npz")?, u64::MAX).map_err(|why| why.to_string())?;
        let arrays: Arrays = archive.into_iter().collect();
        let g = imported(&file("onnx")?, &arrays)?;
        let halves = Config {
            interface: Interface::Any,
            layout: Layout::Ane,
            ..Config::default()
        };
        let singles = Config {
            float: DType::F32,
            layout: Layout::Keep,
            ..halves.clone()
        };
        for (word, config) in [("fp32", singles), ("fp16", halves)] {
            let mut low = g.clone();
            mil::lower(&self.session, &mut low, &config)
                .map_err(|found| format!("not lowered to {word}: {}", first(found)))?;
            let given = |low: &Graph| taken(&g, low, &arrays);
            let name = format!("onnx-{}-{word}", case.name);
            if word == "fp32" {
                if let Err(why) = near(&g, &low, &arrays) {
                    // Writing to a string cannot fail.
                    let _ = writeln!(self.not_passed, "onnx {}: {why}", case.name);
                }
                self.again(&name, case.name, &low, "ios18", given)?;
            }
            self.add("onnx", name, case.name, low, given)?;
        }
        Ok(())
    }
}

/// Returns the module of a model, in which inputs that an operator needs to know are constants.
fn imported(model: &[u8], arrays: &Arrays) -> Result<Graph, String> {
    let shapes = arrays.iter();
    let shapes = shapes.map(|(name, own)| (name.clone(), own.shape().to_vec()));
    let mut options = ImportOptions {
        shapes: shapes.collect(),
        ..ImportOptions::default()
    };
    loop {
        match mind_onnx::read(model.to_vec().into(), &options) {
            Ok(mut g) => {
                let found = verify(&mut g, &VerifyConfig::default());
                let is_valid = !found.has_errors();
                return if is_valid { Ok(g) } else { Err(first(found)) };
            }
            Err(found) => {
                let why = first(found);
                let wanted = arrays.iter().find(|(name, _)| {
                    !options.bound.contains_key(*name)
                        && why.contains("at run time")
                        && why.contains(&format!("`{name}`"))
                });
                let Some((name, array)) = wanted else {
                    return Err(format!("not imported: {why}"));
                };
                options.bound.insert(name.clone(), array.clone());
            }
        }
    }
}

/// Returns the arrays that a program takes for those of the module that it was lowered from: of its names, dtypes and
/// shapes.
fn taken(g: &Graph, low: &Graph, arrays: &Arrays) -> Option<Arrays> {
    let renamed = mind_to_mil::renamed(g);
    let named = |legal: &str| {
        let mut pairs = renamed.iter().filter(|own| own.kind == "input");
        let own = pairs.find(|own| own.legal == legal);
        own.map_or(legal, |own| own.name).to_owned()
    };
    let each = inputs(low).into_iter().map(|program| {
        let array = converted(arrays.get(&named(program.name))?, program.ty.dtype);
        let shape = match array.shape() {
            [] => vec![1],
            shape => shape.to_vec(),
        };
        Some((program.name.to_owned(), array.with_shape(shape)))
    });
    each.collect()
}

fn converted(array: &Tensor, dtype: DType) -> Tensor {
    let shape = array.shape().to_vec();
    if array.dtype() == dtype {
        return array.clone();
    }
    with_num!(dtype, T => {
        let numbers = floats(array).into_iter().map(<T as Num>::cast_f64);
        Tensor::of(shape, numbers.collect::<Vec<T>>())
    }, else {
        let flags = integers(array).into_iter().map(|flag| flag != 0);
        Tensor::of(shape, flags.collect::<Vec<bool>>())
    })
}

/// # Errors
///
/// A program in singles that computes other numbers than its module.
fn near(g: &Graph, low: &Graph, arrays: &Arrays) -> Result<(), String> {
    let own = inputs(g).into_iter();
    let own: Arrays = own
        .filter_map(|input| Some((input.name.to_owned(), arrays.get(input.name)?.clone())))
        .collect();
    let found = taken(g, low, arrays).filter(|_| !is_stateful(low));
    let (Some(expected), Some(found)) =
        (results(g, &own), found.and_then(|own| results(low, &own)))
    else {
        return Ok(());
    };
    for (at, (expected, found)) in expected.iter().zip(&found).enumerate() {
        let (expected, found) = (floats(expected), floats(found));
        let finite = expected.iter().filter(|own| own.is_finite());
        let largest = finite.fold(1.0, |largest: f64, own| largest.max(own.abs()));
        let is_far = |(a, b): &(&f64, &f64)| {
            let near = (*a - *b).abs() <= SINGLES * largest;
            !(near || a == b || a.is_nan() && b.is_nan())
        };
        let far = expected.iter().zip(&found).filter(is_far).count();
        if far > 0 || expected.len() != found.len() {
            return Err(format!(
                "output {at}: {far} of {} numbers differ in singles",
                expected.len()
            ));
        }
    }
    Ok(())
}
