//! Compiled modules compute the same as the interpreter: every op, dtype and shape, and random modules, on every
//! instruction set of this machine, with one thread and with two.

use std::cell::Cell;
use std::io::Write;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mind_driver::engine::{Config, Engine, c_text};
use mind_driver::executable::{Executable, View};
use mind_driver::formats::Format;
use mind_driver::session::{PASSES, Session};
use mind_interp::{
    Arrays, Bound, Extents, InputSpec, RunConfig, bind, compare, random_inputs, run, special_inputs,
};
use mind_ir::Graph;
use mind_ir::listener::NoopListener;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::DType;
use mind_ir::verify::{VerifyConfig, verify};
use mind_jit::program::{
    BoundProgram, PanelChoice, Port, Program, check_accesses, check_c_accesses,
};
use mind_pass::{Manager, RewriteOptions, RunCache, Statistics, parse_pipeline};
use mind_reduce::reduction::reduce;
use mind_testgen::cases::{
    Case, all, choices, gathers, placed_windows, samples, scaled, scatters, systems,
};
use mind_testgen::module;
use mind_text::Limits;
use mind_vir::guarded::{Edge, Guarded};
use mind_vir::target::{Isa, TargetInfo};

#[path = "compiled/constants.rs"]
mod constants;
#[path = "compiled/control.rs"]
mod control;
#[path = "compiled/kept.rs"]
mod kept;
#[path = "compiled/object.rs"]
mod object;
#[path = "compiled/routines.rs"]
mod routines;
#[path = "compiled/schedules.rs"]
mod schedules;
#[path = "compiled/special.rs"]
mod special;
#[path = "compiled/thresholds.rs"]
mod thresholds;
#[path = "compiled/tuned.rs"]
mod tuned;
#[path = "compiled/weights.rs"]
mod weights;

/// The number of random modules; `MIND_MODULES` overrides it.
const MODULES: u64 = 300;

/// The number of them that are exported as C.
const AS_C_MODULES: u64 = 12;

/// Returns the engines of this machine: one for each instruction set, and one with two threads for the widest.
fn engines() -> Vec<Arc<Engine>> {
    let engine = |isa: Isa, threads: usize| {
        let config = Config {
            isa: Some(isa),
            threads: NonZero::new(threads),
            ..Config::default()
        };
        Arc::new(Engine::new(&config).expect("an instruction set of this machine"))
    };
    let available = Isa::ALL.into_iter().filter(|isa| isa.is_available());
    let mut engines: Vec<Arc<Engine>> = available.map(|isa| engine(isa, 1)).collect();
    engines.push(engine(Isa::detect(), 2));
    engines
}

/// Runs modules in every engine.
struct Bench {
    session: Session,
    engines: Vec<Arc<Engine>>,
}

impl Bench {
    fn new() -> Bench {
        Bench {
            session: Session::default(),
            engines: engines(),
        }
    }

    fn read(&self, text: &str) -> Option<Graph> {
        let mut g = self
            .session
            .formats
            .parse(Format::Core, text, 0, &Limits::default())
            .ok()?;
        let found = verify(&mut g, &VerifyConfig::default());
        (!found.has_errors()).then_some(g)
    }

    /// Returns the interpreter's outputs of a module after `canonicalize`; `None` if that fails as well. Passes may
    /// remove an op that fails if no output depends on its elements: see "Errors" in docs/numerics.md.
    fn run_without_dead_ops(&self, g: &Graph, arrays: &Arrays) -> Option<Vec<Tensor>> {
        let manager = Manager {
            registry: &self.session.registry,
            verify_each: false,
            verify: VerifyConfig::default(),
            rewriting: &RewriteOptions::default(),
            shared: &RunCache::default(),
        };
        let pipeline = parse_pipeline("canonicalize", &PASSES).ok()?;
        let mut g = g.clone();
        let statistics = &mut Statistics::default();
        let ran = manager.run(&pipeline, &mut g, statistics, &mut NoopListener);
        ran.ok()?;
        let bound = bind(&g, arrays, Extents::default()).ok()?;
        run(&g, &bound, &RunConfig::default()).ok()
    }

    /// Compares the interpreter with the module lowered to loops, and with the module compiled by every engine.
    ///
    /// # Errors
    ///
    /// The first difference.
    fn check(&self, g: &Graph, arrays: &Arrays) -> Result<(), String> {
        let bound = bind(g, arrays, Extents::default()).map_err(|errors| format!("{errors:?}"))?;
        let expected = run(g, &bound, &RunConfig::default()).or_else(|error| {
            let result = self.run_without_dead_ops(g, arrays);
            result.ok_or(error)
        });
        for (index, engine) in self.engines.iter().enumerate() {
            let name = format!(
                "{}, {} threads",
                engine.target().isa,
                engine.pool().threads()
            );
            let is_cut = match engine.is_cut(g, &bound) {
                Ok(is_cut) => is_cut,
                // Extents that always contradict each other are reported before the run.
                Err(_) if expected.is_err() => return Ok(()),
                Err(found) => return Err(format!("{name}: {found:?}")),
            };
            if is_cut {
                same(&expected, in_parts(engine, g, arrays))
                    .map_err(|why| format!("{name}, in parts: {why}"))?;
                continue;
            }
            let low = match lower(engine, g, &bound) {
                Ok(low) => low,
                // An index that is always out of bounds is reported by the lowering.
                Err(_) if expected.is_err() => return Ok(()),
                Err(why) => return Err(format!("{name}: {why}")),
            };
            if index == 0 {
                let bound = bind(&low, arrays, Extents::default())
                    .map_err(|errors| format!("{errors:?}"))?;
                let found = run(&low, &bound, &RunConfig::default());
                same(&expected, found.map_err(|error| error.error.to_string()))
                    .map_err(|why| format!("loops: {why}"))?;
            }
            // Every verified module must compile; debug builds also check that the program stays in its memory.
            let program = engine
                .program(&low)
                .map_err(|found| format!("{name} has no program: {found:?}"))?;
            same(&expected, execute(&program, arrays)).map_err(|why| {
                let again = agreeing_runs(&expected, &program, arrays);
                format!(
                    "{name}: {why}; the same code was right in {again} of {REPEATS} further runs"
                )
            })?;
        }
        Ok(())
    }
}

/// The number of repetitions for code whose results differ from the interpreter.
const REPEATS: usize = 16;

/// Returns how many of several further runs agree with the interpreter. This tells wrong code from nondeterminism, for
/// example uninitialised memory, data races or hardware errors.
fn agreeing_runs(
    expected: &Result<Vec<Tensor>, mind_interp::RunError>,
    program: &Arc<Program>,
    arrays: &Arrays,
) -> usize {
    let agrees = |_: &usize| same(expected, execute(program, arrays)).is_ok();
    (0..REPEATS).filter(agrees).count()
}

/// Returns the outputs of a module with data-dependent shapes.
fn in_parts(engine: &Arc<Engine>, g: &Graph, arrays: &Arrays) -> Result<Vec<Tensor>, String> {
    let executable = Executable::new(engine.clone(), g.clone());
    let executable = executable.map_err(|found| format!("{found:?}"))?;
    let views = |specs: Vec<InputSpec<'_>>| -> Vec<View<'_>> {
        specs
            .iter()
            .map(|spec| View::of(&arrays[spec.name]))
            .collect()
    };
    let model = executable.bind(&views(executable.params()));
    let model = model.map_err(|why| why.to_string())?;
    let inputs = views(executable.inputs());
    model.run_new(&inputs).map_err(|why| why.to_string())
}

fn lower(engine: &Engine, g: &Graph, bound: &Bound<'_>) -> Result<Graph, String> {
    let mut low = g.clone();
    let lowered = engine.lower_for(&mut low, bound);
    lowered.map_err(|found| format!("{found:?}"))?;
    Ok(low)
}

fn same(
    expected: &Result<Vec<Tensor>, mind_interp::RunError>,
    found: Result<Vec<Tensor>, String>,
) -> Result<(), String> {
    match (expected, found) {
        (Ok(expected), Ok(found)) => compare(expected, &found).map_err(|differ| differ.to_string()),
        (Err(_), Err(_)) => Ok(()),
        (Ok(_), Err(why)) => Err(why),
        (Err(error), Ok(_)) => Err(format!(
            "it ran, where the interpreter finds {}",
            error.error
        )),
    }
}

/// Runs a program on arrays that end at inaccessible pages, so that an access beyond them crashes the test.
fn execute(program: &Arc<Program>, arrays: &Arrays) -> Result<Vec<Tensor>, String> {
    let guarded = |bytes: &[u8]| Guarded::of(bytes, Edge::End).expect("memory for a test");
    let bytes = |ports: &[Port]| -> Vec<Guarded> {
        let arrays = ports.iter().map(|port| &arrays[&port.name]);
        arrays
            .map(|array| guarded(&array.buffer().to_bytes()))
            .collect()
    };
    let (params, inputs) = (bytes(program.params()), bytes(program.inputs()));
    let params: Vec<&[u8]> = params.iter().map(Guarded::bytes).collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(Guarded::bytes).collect();
    let bound = BoundProgram::new(program.clone(), &params).map_err(|why| why.to_string())?;
    let ports = program.outputs();
    let mut outputs: Vec<Guarded> = ports
        .iter()
        .map(|port| guarded(&vec![0xa5; port.bytes()]))
        .collect();
    let mut views: Vec<&mut [u8]> = outputs.iter_mut().map(Guarded::bytes_mut).collect();
    bound
        .run(&inputs, &mut views)
        .map_err(|why| why.to_string())?;
    let tensor = |(port, bytes): (&Port, &Guarded)| {
        let elements = Buffer::from_bytes(port.dtype, bytes.bytes());
        Tensor::new(port.shape.clone(), elements)
    };
    Ok(ports.iter().zip(&outputs).map(tensor).collect())
}

/// Returns the module of a case; `weight` makes the last input a weight.
fn text(case: &Case, dtype: DType, indices: DType, weight: bool) -> String {
    let mut text = String::new();
    for (at, shape) in case.shapes.iter().enumerate() {
        let dtype = if at == 1 { indices } else { dtype };
        let role = if weight && at == 1 {
            ", role=param"
        } else {
            ""
        };
        text += &format!("%{at} = Input {{name=x{at}{role}}} : tensor<{dtype}{shape:?}>\n");
    }
    text + &case.end()
}

#[test]
fn every_op_dtype_and_shape() {
    let (next, counts) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        let bench = Bench::new();
        while let Some(&dtype) = DType::ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
            let ran = every_op_and_shape(&bench, dtype);
            counts.lock().expect("no panic yet").push((dtype, ran));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let counts = counts.into_inner().expect("threads have ended");
    let texts: Vec<String> = counts
        .iter()
        .map(|(dtype, ran)| format!("{dtype} {ran}"))
        .collect();
    println!("cases: {}", texts.join(", "));
    for engine in &Bench::new().engines {
        let (isa, threads) = (engine.target().isa, engine.pool().threads());
        println!("each compiled for {isa}, {threads} threads");
    }
    let ran: usize = counts.iter().map(|(_, ran)| ran).sum();
    assert!(ran > 5000, "only {ran} cases ran");
}

/// Checks every op and shape with elements of one dtype, and returns the number of cases.
fn every_op_and_shape(bench: &Bench, dtype: DType) -> usize {
    let ran = Cell::new(0);
    let check = |case: &Case, indices: DType| {
        for weight in [false, true] {
            if weight && case.shapes.len() < 2 {
                continue;
            }
            let text = text(case, dtype, indices, weight);
            let Some(g) = bench.read(&text) else { continue };
            for (make, seed) in [
                (random_inputs as fn(&Graph, u64, Extents) -> _, 1),
                (special_inputs, 2),
            ] {
                let arrays = make(&g, seed, Extents::default()).expect("small arrays");
                if let Err(why) = bench.check(&g, &arrays) {
                    panic!("{why}\n{text}");
                }
                ran.set(ran.get() + 1);
            }
        }
    };
    let plain = all().into_iter().chain(samples()).chain(systems());
    plain.for_each(|case| check(&case, dtype));
    for case in gathers()
        .into_iter()
        .chain(scatters())
        .chain(placed_windows())
    {
        check(&case, DType::I32);
        check(&case, DType::I64);
    }
    for case in choices() {
        check(&case, DType::Bool);
    }
    for case in scaled() {
        for float in [DType::F16, DType::BF16, DType::F32, DType::F64] {
            check(&case, float);
        }
    }
    ran.get()
}

/// Returns a number that an environment variable may override.
fn asked(name: &str, otherwise: u64) -> u64 {
    let asked = std::env::var(name).ok();
    asked.map_or(otherwise, |number| {
        number
            .parse()
            .unwrap_or_else(|_| panic!("{name} is a number"))
    })
}

/// Checks `count` random modules, or as many as `MIND_MODULES` says, with seeds from `MIND_SEED` on. Panics with
/// minimised modules for which `check` fails.
fn draw(
    bench: &Bench,
    (count, config): (u64, &mind_testgen::Config),
    check: &dyn Fn(&Graph, &Arrays) -> Result<(), String>,
) {
    /// Maximum number of failures that are shown.
    const MOST: usize = 5;
    let first = asked("MIND_SEED", 0);
    let mut failures = Vec::new();
    for seed in first..first + asked("MIND_MODULES", count) {
        let mut g = module(seed, config);
        let found = verify(&mut g, &VerifyConfig::default());
        assert!(!found.has_errors(), "module {seed} is not valid: {found:?}");
        let fails = |g: &Graph| {
            let arrays =
                special_inputs(g, seed, Extents::default()).map_err(|why| format!("{why:?}"))?;
            let checked = catch_unwind(AssertUnwindSafe(|| check(g, &arrays)));
            checked.unwrap_or_else(|_| Err("it panicked".to_owned()))
        };
        if let Err(first) = fails(&g) {
            let small = reduce(&g, &Default::default(), &mut |g| fails(g).is_err()).graph;
            let text = bench.session.formats.print(Format::Core, &small);
            let now = fails(&small).err();
            let now = now.unwrap_or_else(|| "its smallest form did not fail again".to_owned());
            let text = text.unwrap_or_default();
            failures.push(format!("module {seed}: {first}\nthen: {now}\n{text}"));
            if failures.len() == MOST {
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn drawn_modules() {
    let bench = Bench::new();
    let config = mind_testgen::Config::default();
    draw(&bench, (MODULES, &config), &|g, arrays| {
        bench.check(g, arrays)
    });
}

/// Modules with extents of 0 and 1, for which kernels have no elements, one element or strided elements.
const NARROW: &[&str] = &[
    "%0 = Input {name=x} : tensor<f32[2, 1]>\n%1 = Input {name=y} : tensor<f32[2, 1]>\n\
     %2 = Concat (%0, %1) {axis=1}\noutputs: %2",
    "%0 = Input {name=x} : tensor<i32[1, 2, 1]>\n%1 = Concat (%0, %0) {axis=2}\n%2 = Transpose (%1)\noutputs: %2",
    "%0 = Input {name=x} : tensor<f16[5, 3]>\n%1 = Slice (%0) {starts=[0, 1], ends=[5, 2], steps=[1, 1]}\n\
     %2 = Slice (%0) {starts=[0, 2], ends=[5, 3], steps=[1, 1]}\n%3 = Concat (%2, %1, %2) {axis=-1}\noutputs: %3",
    "%0 = Input {name=x} : tensor<f32[2, 3]>\n%1 = Slice (%0) {starts=[0, 0], ends=[2, 0], steps=[1, 1]}\n\
     %2 = Concat (%1, %1) {axis=1}\n%3 = Concat (%1, %0) {axis=1}\n%4 = Neg (%0)\noutputs: %2, %3, %4",
    "%0 = Input {name=x} : tensor<f32[1, 1]>\n%1 = Slice (%0) {starts=[0, 0], ends=[0, 0], steps=[1, 1]}\n\
     %2 = Sum (%1)\n%3 = Max (%1)\n%4 = LayerNorm (%1)\noutputs: %2, %3, %4",
    "%0 = Input {name=x} : tensor<f32[1, 1]>\n%1 = Slice (%0) {starts=[0, 0], ends=[0, 0], steps=[1, 1]}\n\
     %2 = Softmax (%1) {axis=0}\n%3 = Gelu (%1)\n%4 = Sum (%1) {axes=[0]}\noutputs: %2, %3, %4",
    "%0 = Input {name=x} : tensor<f64[3, 4]>\n%1 = Slice (%0) {starts=[0, 0], ends=[3, 0], steps=[1, 1]}\n\
     %2 = Sum (%1) {axes=[1], keepdims=true}\n%3 = Mean (%1) {axes=[1]}\n%4 = Softmax (%1) {axis=1}\noutputs: %2, %3, %4",
    "%0 = Input {name=x} : tensor<f32[3, 4]>\n%1 = Slice (%0) {starts=[0, 0], ends=[3, 0], steps=[1, 1]}\n\
     %2 = Transpose (%1)\n%3 = MatMul (%1, %2)\n%4 = MatMul (%2, %0)\n%5 = Add (%3, %3)\noutputs: %3, %4, %5",
    "%0 = Input {name=q} : tensor<f32[2, 12, 1]>\n%1 = Input {name=k} : tensor<f32[1, 1, 12]>\n\
     %2 = Input {name=v} : tensor<f32[1, 12, 1]>\n%3 = MatMul (%0, %1)\n%4 = Softmax (%3) {axis=-1}\n\
     %5 = MatMul (%4, %2)\noutputs: %5",
    "%0 = Input {name=q} : tensor<f32[2, 16, 3]>\n%1 = Input {name=k} : tensor<f32[3, 16]>\n\
     %2 = Input {name=v, role=param} : tensor<f32[2, 16, 1]>\n%3 = MatMul (%0, %1)\n%4 = Softmax (%3) {axis=-1}\n\
     %5 = MatMul (%4, %2)\noutputs: %5",
    "%0 = Input {name=x} : tensor<f32[8, 3]>\n%1 = Input {name=i} : tensor<i32[2]>\n\
     %2 = Slice (%0) {starts=[0, 0], ends=[4, 3], steps=[1, 1]}\n%3 = Gather (%2, %1) {axis=1}\n\
     %4 = Slice (%0) {starts=[0, 0], ends=[8, 3], steps=[2, 1]}\n%5 = Gather (%4, %1) {axis=0}\n\
     %6 = Transpose (%0)\n%7 = Gather (%6, %1) {axis=0}\noutputs: %3, %5, %7",
    "%0 = Input {name=x} : tensor<f32[8, 3]>\n%1 = Input {name=i} : tensor<i64[4]>\n\
     %2 = Slice (%1) {starts=[1], ends=[3], steps=[1]}\n%3 = Gather (%0, %2) {axis=1}\n\
     %4 = Slice (%1) {starts=[0], ends=[0], steps=[1]}\n%5 = Gather (%0, %4) {axis=0}\n\
     %6 = Slice (%0) {starts=[0, 0], ends=[8, 0], steps=[1, 1]}\n%7 = Gather (%6, %1) {axis=0}\noutputs: %3, %5, %7",
    "%0 = Input {name=x} : tensor<f32[2, 3]>\n%1 = Input {name=w} : tensor<f32[6, 8]>\n\
     %2 = Slice (%1) {starts=[0, 0], ends=[6, 8], steps=[2, 2]}\n%3 = MatMul (%0, %2)\n%4 = Relu (%3)\noutputs: %4",
    "%0 = Input {name=x} : tensor<f32[1, 5, 4, 3]>\n%1 = Input {name=f} : tensor<f32[3, 2, 3, 2]>\n\
     %2 = Slice (%1) {starts=[0, 0, 0, 0], ends=[2, 2, 3, 2], steps=[1, 1, 1, 1]}\n\
     %3 = Slice (%0) {starts=[0, 0, 0, 0], ends=[1, 4, 4, 3], steps=[1, 1, 1, 1]}\n\
     %4 = Conv2d (%3, %2)\n%5 = Conv2d (%3, %1) {padding=same}\noutputs: %4, %5",
    "%0 = Input {name=x} : tensor<f32[1, 3, 1, 2]>\n%1 = Input {name=f} : tensor<f32[1, 1, 2, 1]>\n\
     %2 = Conv2d (%0, %1)\n%3 = Input {name=b} : tensor<f32[3, 1, 1]>\n%4 = Sub (%2, %3)\noutputs: %4",
    "%0 = Input {name=q} : tensor<f32[5, 2]>\n%1 = Input {name=k} : tensor<f32[2, 7]>\n\
     %2 = Input {name=v} : tensor<f32[7, 4]>\n%3 = MatMul (%0, %1)\n%4 = Softmax (%3) {axis=-1}\n\
     %5 = MatMul (%4, %2)\n%6 = Exp (%5)\noutputs: %5, %6, %5",
    "%0 = Input {name=x} : tensor<i32[3, 1, 1, 0]>\n%1 = Input {name=f} : tensor<i32[1, 3, 0, 1]>\n\
     %2 = Conv2d (%0, %1) {padding=[[1, 2], [1, 2]]}\noutputs: %2",
    "%0 = Input {name=x} : tensor<f32[1, 1, 1, 2]>\n\
     %1 = ConstTensor {dtype=f32, fill=0.0, shape=[2, 1, 2, 1]} : tensor<f32[2, 1, 2, 1]>\n\
     %2 = Conv2d (%0, %1)\n%3 = Slice (%2) {starts=[0, 0, 0, 0], ends=[1, 0, 1, 0], steps=[1, 1, 1, 1]}\n\
     outputs: %3",
    "%0 = Input {name=q} : tensor<f32[1, 1]>\n%1 = Input {name=k} : tensor<f32[1, 0]>\n\
     %2 = Input {name=v} : tensor<f32[0, 5]>\n%3 = MatMul (%0, %1)\n%4 = Softmax (%3) {axis=-1}\n\
     %5 = MatMul (%4, %2)\noutputs: %5",
    "%0 = Input {name=x} : tensor<f32[0, 3, 7, 2]>\n%1 = Input {name=y} : tensor<f32[0, 1, 2, 8]>\n\
     %2 = MatMul (%0, %1)\n%3 = Sum (%2)\noutputs: %2, %3",
];

#[test]
fn narrow_and_empty_modules() {
    let bench = Bench::new();
    for text in NARROW {
        let g = bench
            .read(text)
            .unwrap_or_else(|| panic!("not valid: {text}"));
        let arrays = random_inputs(&g, 1, Extents::default()).expect("small arrays");
        if let Err(why) = bench.check(&g, &arrays) {
            panic!("{why}\n{text}");
        }
    }
}

/// Modules whose programs are too large for the check in debug builds.
const LARGE: &[&str] = &[
    "%0 = Input {name=x} : tensor<f32[40, 700]>\n%1 = Input {name=w, role=param} : tensor<f32[700, 1100]>\n\
     %2 = Input {name=b} : tensor<f32[1100]>\n%3 = MatMul (%0, %1)\n%4 = Add (%3, %2)\n%5 = Gelu (%4)\noutputs: %5",
    "%0 = Input {name=q} : tensor<f32[6, 310, 64]>\n%1 = Input {name=k} : tensor<f32[6, 64, 1100]>\n\
     %2 = Input {name=v} : tensor<f32[6, 1100, 64]>\n%3 = MatMul (%0, %1)\n%4 = Softmax (%3) {axis=-1}\n\
     %5 = MatMul (%4, %2)\noutputs: %5",
    "%0 = Input {name=x} : tensor<f32[1, 117, 115, 33]>\n%1 = Input {name=f, role=param} : tensor<f32[3, 3, 33, 20]>\n\
     %2 = Conv2d (%0, %1) {padding=same, strides=[2, 1]}\n%3 = Relu (%2)\noutputs: %3",
    "%0 = Input {name=x} : tensor<bf16[731, 1053]>\n%1 = Transpose (%0)\n%2 = LayerNorm (%1)\n\
     %3 = Sum (%1) {axes=[0]}\n%4 = Slice (%0) {starts=[1, 3], ends=[731, 1000], steps=[2, 3]}\n\
     %5 = Concat (%4, %4) {axis=1}\noutputs: %2, %3, %5",
    "%0 = Input {name=t} : tensor<f64[20000, 31]>\n%1 = Input {name=i} : tensor<i64[900]>\n\
     %2 = Gather (%0, %1) {axis=0}\n%3 = Exp (%0)\n%4 = Sum (%3) {axes=[1]}\noutputs: %2, %4",
];

#[test]
fn large_programs_stay_in_their_memory() {
    let bench = Bench::new();
    for text in LARGE {
        let g = bench
            .read(text)
            .unwrap_or_else(|| panic!("not valid: {text}"));
        let arrays = random_inputs(&g, 1, Extents::default()).expect("arrays");
        let bound = bind(&g, &arrays, Extents::default()).expect("they fit");
        let low = lower(&bench.engines[0], &g, &bound).expect("it has loops");
        for isa in Isa::ALL {
            for panels in [PanelChoice::Best, PanelChoice::Shared] {
                let checked = check_accesses(&low, &TargetInfo::of(isa), panels);
                checked.unwrap_or_else(|why| panic!("{isa}: {why}\n{text}"));
            }
        }
        check_c_accesses(&low).unwrap_or_else(|why| panic!("as C: {why}\n{text}"));
    }
}

/// Returns the results of a module exported as C and compiled by the C compiler that links this test.
fn run_as_c(
    bench: &Bench,
    g: &Graph,
    arrays: &Arrays,
    folder: &Path,
) -> Result<Vec<Tensor>, String> {
    let text =
        c_text(&bench.session, g.clone(), "module", true).map_err(|found| format!("{found:?}"))?;
    run_c(&text, g, arrays, folder)
}

/// Returns the results of the C program `text`, which reads the inputs of `g` and writes its outputs.
fn run_c(text: &str, g: &Graph, arrays: &Arrays, folder: &Path) -> Result<Vec<Tensor>, String> {
    run_linked(text, &[], g, arrays, folder)
}

/// Returns the results as [`run_c`] does, of a program linked with these object files.
fn run_linked(
    text: &str,
    objects: &[PathBuf],
    g: &Graph,
    arrays: &Arrays,
    folder: &Path,
) -> Result<Vec<Tensor>, String> {
    let (source, program) = (folder.join("module.c"), folder.join("module"));
    let failed = |why: std::io::Error| why.to_string();
    std::fs::write(&source, text).map_err(failed)?;
    let flags = ["-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o"];
    let sanitizers = [
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        "-g",
    ];
    let is_sanitized = asked("MIND_SANITIZE", 0) != 0;
    let built = Command::new("cc")
        .args(sanitizers.iter().filter(|_| is_sanitized))
        .args(flags)
        .arg(&program)
        .arg(&source)
        .args(objects)
        .output()
        .map_err(failed)?;
    if !built.status.success() {
        let said = String::from_utf8_lossy(&built.stderr);
        return Err(format!("{BROKEN}: {said}"));
    }
    let mut run = Command::new(&program);
    let mut run = run
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let given: Vec<u8> = mind_interp::inputs(g)
        .iter()
        .flat_map(|input| arrays[input.name].buffer().to_bytes())
        .collect();
    let mut stdin = run.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || stdin.write_all(&given));
    let output = run.wait_with_output().map_err(failed)?;
    writer
        .join()
        .expect("writing does not panic")
        .map_err(failed)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return match output.status.code() {
            // Status bits of failed runs: an undefined quotient, an index out of bounds, too many steps, or other
            // extents.
            Some(status @ 1..=63) if status & 8 == 0 && said.is_empty() => {
                Err(format!("status {}", output.status))
            }
            _ => Err(format!("{BROKEN} with {}: {said}", output.status)),
        };
    }
    let mut rest = &output.stdout[..];
    let results = g.outputs().iter().map(|&value| {
        let (dtype, shape) = (
            g.ty(value).dtype,
            g.ty(value).static_shape().expect("a known shape"),
        );
        let shape: Vec<usize> = shape.into_iter().map(|extent| extent as usize).collect();
        let (bytes, left) = rest.split_at(shape.iter().product::<usize>() * dtype.size());
        rest = left;
        Tensor::new(shape, Buffer::from_bytes(dtype, bytes))
    });
    Ok(results.collect())
}

/// The beginning of the message for a program that does not compile, or that ends abnormally.
const BROKEN: &str = "the program broke";

const AS_C: [&str; 5] = [
    "%0 = Input {name=x} : tensor<f16[3, 70]>\n%1 = Softmax (%0) {axis=-1}\n%2 = LayerNorm (%0)\noutputs: %1, %2",
    "%0 = Input {name=x} : tensor<bf16[5, 7]>\n%1 = Input {name=w, role=param} : tensor<bf16[7, 9]>\n\
     %2 = MatMul (%0, %1)\n%3 = Gelu (%2)\n%4 = Transpose (%3)\noutputs: %4",
    "%0 = Input {name=x} : tensor<i32[6, 5]>\n%1 = Input {name=i} : tensor<i64[2]>\n%2 = Gather (%0, %1) {axis=1}\n\
     %3 = Sum (%2) {axes=[0]}\n%4 = Mul (%3, %3)\noutputs: %2, %4",
    "%0 = Input {name=x} : tensor<f64[4, 3]>\n%1 = Input {name=y} : tensor<f64[2, 3]>\n%2 = Concat (%0, %1) {axis=0}\n\
     %3 = Tanh (%2)\n%4 = Mean (%3) {axes=[0]}\noutputs: %3, %4",
    "%0 = Input {name=x} : tensor<u8[1, 6, 6, 3]>\n%1 = Input {name=f} : tensor<u8[3, 3, 3, 4]>\n\
     %2 = Conv2d (%0, %1) {padding=same, strides=[2, 1]}\noutputs: %2",
];

/// Compares the module as C with the interpreter.
///
/// # Errors
///
/// The first difference, C that does not compile, or a program that ends abnormally.
fn check_as_c(bench: &Bench, g: &Graph, arrays: &Arrays, folder: &Path) -> Result<(), String> {
    let bound = bind(g, arrays, Extents::default()).map_err(|errors| format!("{errors:?}"))?;
    let expected = run(g, &bound, &RunConfig::default());
    let found = run_as_c(bench, g, arrays, folder);
    match &found {
        Err(why) if why.starts_with(BROKEN) => Err(why.clone()),
        _ => same(&expected, found),
    }
}

/// A temporary folder for programs.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("mind-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for a program");
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn written_as_c() {
    let (bench, folder) = (Bench::new(), Folder::new("as-c"));
    let examples = ["attention.core", "convnet.core"].map(|name| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../examples")
            .join(name);
        std::fs::read_to_string(path).expect("an example")
    });
    let texts = AS_C.iter().map(|text| text.to_string()).chain(examples);
    for (seed, text) in texts.enumerate() {
        let g = bench
            .read(&text)
            .unwrap_or_else(|| panic!("not valid: {text}"));
        let arrays = random_inputs(&g, seed as u64, Extents::default()).expect("small arrays");
        if let Err(why) = check_as_c(&bench, &g, &arrays, &folder.0) {
            panic!("{why}\n{text}");
        }
    }
}

#[test]
fn drawn_modules_written_as_c() {
    let (bench, folder) = (Bench::new(), Folder::new("drawn-as-c"));
    let config = mind_testgen::Config {
        symbols: false,
        ..mind_testgen::Config::default()
    };
    draw(&bench, (AS_C_MODULES, &config), &|g, arrays| {
        check_as_c(&bench, g, arrays, &folder.0)
    });
}

#[test]
fn places_that_clash_or_lack_are_refused() {
    let bench = Bench::new();
    let module = |first: &str, second: &str, output: &str| {
        format!(
            "%0 = Input {{name=x}} : tensor<f32[64]>\n\
             %1 = loops.nest (%0) {{at=[{first}], dims=[64]}} {{\n  args: %2\n  %3 = Exp (%2)\n  yield: %3\n}}\n\
             %4 = loops.nest (%0) {{at=[{second}], dims=[64]}} {{\n  args: %5\n  %6 = Neg (%5)\n  yield: %6\n}}\n\
             %7 = loops.nest (%1, %4) {{at=[-1], dims=[64]}} {{\n  args: %8, %9\n  %10 = Add (%8, %9)\n  yield: %10\n}}\n\
             outputs: {output}"
        )
    };
    let refused = |text: String| {
        let g = bench
            .read(&text)
            .unwrap_or_else(|| panic!("not valid: {text}"));
        let program = bench.engines[0].program(&g);
        let found = program.err().map(|found| format!("{found:?}"));
        found.unwrap_or_default()
    };
    assert_eq!(refused(module("0", "256", "%7")), "");
    assert!(refused(module("0", "128", "%7")).contains("%4 overlaps %1, which is still live"));
    assert!(refused(module("-1", "256", "%7")).contains("%1 has no offset and is not an output"));
    assert_eq!(refused(module("0", "256", "%7, %7")), "");
    assert!(
        refused(module("0", "256", "%7, %0"))
            .contains("output %0 is not a complete result of a kernel")
    );
}
