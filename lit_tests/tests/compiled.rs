//! Compiled modules compute what the interpreter computes: every op, dtype and shape, and drawn modules; on
//! every instruction set of this machine, with one thread and with two.

use std::num::NonZero;

use mind_driver::engine::{Config, Engine};
use mind_driver::session::Session;
use mind_generate::cases::{Case, all, gathers};
use mind_generate::{module, shrink};
use mind_interp::{
    Arrays, Bound, Extents, RunConfig, bind, compare, random_inputs, run, special_inputs,
};
use mind_ir::Graph;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::DType;
use mind_ir::verify::{VerifyConfig, verify};
use mind_jit::program::{Port, Program};
use mind_jit::target::Isa;
use mind_text::{Format, Limits};

/// How many modules are drawn; `MIND_MODULES` asks for another number.
const MODULES: u64 = 300;

/// The engines of this machine: each instruction set, and two threads for the widest.
fn engines() -> Vec<Engine> {
    let engine = |isa: Isa, threads: usize| {
        let config = Config {
            isa: Some(isa),
            threads: NonZero::new(threads),
        };
        Engine::new(&config).expect("an instruction set of this machine")
    };
    let available = Isa::ALL.into_iter().filter(|isa| isa.is_available());
    let mut engines: Vec<Engine> = available.map(|isa| engine(isa, 1)).collect();
    engines.push(engine(Isa::detect(), 2));
    engines
}

/// What runs modules in every way.
struct Bench {
    session: Session,
    engines: Vec<Engine>,
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

    /// Runs a module as it is, lowered to loops, and compiled by every engine.
    ///
    /// Errors: the first difference.
    fn check(&self, g: &Graph, arrays: &Arrays) -> Result<(), String> {
        let bound = bind(g, arrays, Extents::default()).map_err(|errors| format!("{errors:?}"))?;
        let expected = run(g, &bound, &RunConfig::default());
        for (index, engine) in self.engines.iter().enumerate() {
            let name = format!(
                "{}, {} threads",
                engine.target().isa,
                engine.pool().threads()
            );
            let low = match lower(engine, g, &bound) {
                Ok(low) => low,
                // An index that is out of bounds in every run is found when lowering.
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
            let program = engine
                .program(&low)
                .map_err(|found| format!("{name}: {found:?}"))?;
            same(&expected, execute(program, arrays)).map_err(|why| format!("{name}: {why}"))?;
        }
        Ok(())
    }
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

fn execute(program: std::sync::Arc<Program>, arrays: &Arrays) -> Result<Vec<Tensor>, String> {
    let bytes = |ports: &[Port]| -> Vec<Vec<u8>> {
        let arrays = ports.iter().map(|port| &arrays[&port.name]);
        arrays.map(|array| array.buffer().to_bytes()).collect()
    };
    let (params, inputs) = (bytes(program.params()), bytes(program.inputs()));
    let params: Vec<&[u8]> = params.iter().map(Vec::as_slice).collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let bound = program.bind(&params).map_err(|why| why.to_string())?;
    let mut outputs: Vec<Vec<u8>> = program
        .outputs()
        .iter()
        .map(|port| vec![0xa5; port.bytes()])
        .collect();
    let mut views: Vec<&mut [u8]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
    bound
        .run(&inputs, &mut views)
        .map_err(|why| why.to_string())?;
    let results = program.outputs().iter().zip(&outputs);
    Ok(results
        .map(|(port, bytes)| Tensor::new(port.shape.clone(), Buffer::from_bytes(port.dtype, bytes)))
        .collect())
}

/// The module of one case; `weight` makes the last input a weight.
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
    text + &format!("%9 = {}\noutputs: %9\n", case.op)
}

#[test]
fn every_op_dtype_and_shape() {
    let bench = Bench::new();
    let mut ran = 0;
    let mut check = |case: &Case, dtype: DType, indices: DType| {
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
                ran += 1;
            }
        }
    };
    for &dtype in DType::ALL {
        all().iter().for_each(|case| check(case, dtype, dtype));
        for case in gathers() {
            check(&case, dtype, DType::I32);
            check(&case, dtype, DType::I64);
        }
    }
    assert!(ran > 5000, "only {ran} cases ran");
}

#[test]
fn drawn_modules() {
    let bench = Bench::new();
    let asked = std::env::var("MIND_MODULES").ok();
    let count = asked.map_or(MODULES, |count| {
        count.parse().expect("MIND_MODULES is a number")
    });
    for seed in 0..count {
        let mut g = module(seed, &mind_generate::Config::default());
        let found = verify(&mut g, &VerifyConfig::default());
        assert!(!found.has_errors(), "module {seed} is not valid: {found:?}");
        let fails = |g: &Graph| {
            let arrays =
                special_inputs(g, seed, Extents::default()).map_err(|why| format!("{why:?}"))?;
            bench.check(g, &arrays)
        };
        if fails(&g).is_err() {
            let small = shrink(&g, &mut |g| fails(g).is_err());
            let text = bench
                .session
                .formats
                .print(Format::Core, &small)
                .unwrap_or_default();
            panic!("module {seed}: {}\n{text}", fails(&small).unwrap_err());
        }
    }
}
