//! Compiled workloads with random arrays.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mind_diag::Diagnostics;
use mind_driver::engine::Engine;
use mind_driver::formats::LoadOptions;
use mind_driver::load::parse_and_verify;
use mind_driver::session::Session;
use mind_interp::{Arrays, Extents, inputs, random_inputs};
use mind_ir::Graph;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::TypeView;
use mind_jit::program::{BoundProgram, Port, Program, RunError, Simulated};
use mind_vir::guarded::{Edge, Guarded};
use smallvec::SmallVec;

use super::Workload;
use mind_jit::peaks::Probe;

/// Why a workload was not measured.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The compiler rejected the module.
    #[error("{}", first(.0))]
    Rejected(Diagnostics),
    /// A run failed.
    #[error(transparent)]
    Stopped(#[from] RunError),
    /// The arrays are too large to be generated.
    #[error("its arrays are too large to be made up")]
    TooLarge,
}

fn first(found: &Diagnostics) -> &str {
    let error = found.first_error();
    error.map_or("rejected without a reason", |error| error.message.as_str())
}

/// Returns the verified module of a workload.
///
/// # Errors
///
/// The errors of the parser or the verifier.
pub fn graph(workload: &Workload) -> Result<Graph, Failure> {
    let session = Session::default();
    let read = parse_and_verify(&session.formats, &workload.text, 0, &LoadOptions::default());
    read.map(|(_, graph)| graph).map_err(Failure::Rejected)
}

/// Returns the bytes of all inputs, weights and outputs of a verified module with static shapes.
pub fn interface_bytes(g: &Graph) -> u64 {
    let bytes = |ty: TypeView<'_>| ty.count().unwrap_or(0) as u64 * ty.dtype.size() as u64;
    let inputs: u64 = inputs(g).iter().map(|input| bytes(input.ty)).sum();
    let outputs: u64 = g.outputs().iter().map(|&output| bytes(g.ty(output))).sum();
    inputs + outputs
}

/// A compiled workload.
#[derive(Debug)]
pub struct Code {
    pub(super) program: Arc<Program>,
}

impl Code {
    /// Compiles a verified module with static shapes.
    ///
    /// # Errors
    ///
    /// An op cannot be compiled.
    pub fn compile(engine: &Engine, g: &Graph) -> Result<Code, Failure> {
        let mut lowered = g.clone();
        engine.lower(&mut lowered).map_err(Failure::Rejected)?;
        let program = engine.program(&lowered).map_err(Failure::Rejected)?;
        Ok(Code { program })
    }

    /// Simulates a run on `threads` threads; returns `None` if its time is data-dependent.
    pub fn simulate(&self, threads: usize) -> Option<Simulated> {
        self.program.simulate(threads)
    }

    /// Binds weights and runs the program once.
    ///
    /// # Errors
    ///
    /// The run failed.
    pub fn run_on(&self, arrays: &Arrays) -> Result<Vec<Tensor>, Failure> {
        let mut ready = Ready::new(self, arrays)?;
        ready.run()?;
        let ports = self.program.outputs().iter().zip(&ready.outputs);
        let tensors = ports.map(|(port, bytes)| {
            let elements = Buffer::from_bytes(port.dtype, bytes.bytes());
            Tensor::new(port.shape.clone(), elements)
        });
        Ok(tensors.collect())
    }
}

/// A program with weights and arrays, which can run repeatedly.
pub(super) struct Ready {
    bound: BoundProgram,
    inputs: Vec<Guarded>,
    outputs: Vec<Guarded>,
}

impl Ready {
    pub(super) fn new(code: &Code, arrays: &Arrays) -> Result<Ready, RunError> {
        let program = &code.program;
        let given = |port: &Port| arrays[&port.name].buffer().as_bytes();
        let params: Vec<&[u8]> = program.params().iter().map(given).collect();
        let input = |port| {
            let mut array = memory(given(port).len())?;
            array.bytes_mut().copy_from_slice(given(port));
            Ok(array)
        };
        let inputs: Result<_, RunError> = program.inputs().iter().map(input).collect();
        let outputs = program.outputs().iter().map(|port| memory(port.bytes()));
        Ok(Ready {
            bound: BoundProgram::new(program.clone(), &params)?,
            inputs: inputs?,
            outputs: outputs.collect::<Result<_, RunError>>()?,
        })
    }

    pub(super) fn run(&mut self) -> Result<(), RunError> {
        let inputs: SmallVec<[&[u8]; 8]> = self.inputs.iter().map(Guarded::bytes).collect();
        let outputs = self.outputs.iter_mut().map(Guarded::bytes_mut);
        let mut outputs: SmallVec<[&mut [u8]; 8]> = outputs.collect();
        self.bound.run(&inputs, &mut outputs)
    }
}

/// Allocates zeros that are aligned to a cache line.
fn memory(bytes: usize) -> Result<Guarded, RunError> {
    Guarded::zeroed(bytes, 64, Edge::End).map_err(|_| RunError::OutOfMemory { bytes })
}

/// The times of a workload.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Compile time, from a verified module to code.
    pub compile: Duration,
    /// Time of binding weights.
    pub bind: Duration,
    /// Median time of one run.
    pub run: Duration,
    /// Quartiles of the time of one run.
    pub quartiles: [Duration; 2],
    /// Floating-point operations that the machine could have done in the time of one run, at its peak: the median.
    pub possible_flops: Option<f64>,
}

/// The effort of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The minimal number of samples.
    pub samples: usize,
    /// The minimal total time.
    pub time: Duration,
}

/// Shorter runs are measured in batches of this length, because reading the clock takes time too.
pub(super) const BATCH: Duration = Duration::from_micros(100);

/// A compiled and bound workload, which can be timed repeatedly.
pub struct Timed {
    ready: Ready,
    /// Number of runs per sample.
    batch: u32,
    /// Compile time, from a verified module to code.
    compile: Duration,
    /// Time of binding weights.
    bind: Duration,
}

impl Timed {
    /// Compiles a workload, binds random weights and runs it until its pages are mapped.
    ///
    /// # Errors
    ///
    /// The module is rejected; a run failed.
    pub fn new(engine: &Engine, workload: &Workload) -> Result<Timed, Failure> {
        let graph = graph(workload)?;
        let arrays = random_inputs(&graph, 1, Extents::default()).map_err(|_| Failure::TooLarge)?;
        let started = Instant::now();
        let code = Code::compile(engine, &graph)?;
        let compile = started.elapsed();
        let started = Instant::now();
        let mut ready = Ready::new(&code, &arrays)?;
        let bind = started.elapsed();
        // The first run touches new pages; the second one determines the batch size.
        ready.run()?;
        let started = Instant::now();
        ready.run()?;
        let once = started.elapsed().max(Duration::from_nanos(100));
        let batch = (BATCH.as_nanos() / once.as_nanos()).max(1) as u32;
        Ok(Timed {
            ready,
            batch,
            compile,
            bind,
        })
    }

    /// Returns the times of one run in ascending order. `after` is called after each sample.
    ///
    /// # Errors
    ///
    /// A run failed.
    pub fn samples(
        &mut self,
        effort: Effort,
        mut after: impl FnMut(Duration),
    ) -> Result<Vec<Duration>, Failure> {
        let mut samples = Vec::new();
        let started = Instant::now();
        while samples.len() < effort.samples || started.elapsed() < effort.time {
            let sample = Instant::now();
            for _ in 0..self.batch {
                self.ready.run()?;
            }
            let run = sample.elapsed() / self.batch;
            samples.push(run);
            after(run);
        }
        samples.sort();
        Ok(samples)
    }
}

/// Compiles a workload and times runs of it. Weights are bound once.
///
/// # Errors
///
/// The module is rejected; a run failed.
pub fn measure(engine: &Engine, workload: &Workload, effort: Effort) -> Result<Times, Failure> {
    let mut timed = Timed::new(engine, workload)?;
    let probe = Probe::short(engine.target().isa);
    let mut possible = Vec::new();
    let samples = timed.samples(effort, |run| {
        if let Some(probe) = &probe {
            possible.push(probe.flops(engine.pool()) * run.as_secs_f64());
        }
    })?;
    possible.sort_by(f64::total_cmp);
    let at = |share: usize| samples[samples.len() * share / 4];
    Ok(Times {
        compile: timed.compile,
        bind: timed.bind,
        run: at(2),
        quartiles: [at(1), at(3)],
        possible_flops: possible.get(possible.len() / 2).copied(),
    })
}
