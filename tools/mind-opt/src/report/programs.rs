//! Comparison of the compiled programs of the module before and after the passes.

use std::fmt::Write;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use mind_draw::escape;
use mind_driver::engine::{Config, Engine};
use mind_driver::session::{PASSES, Session};
use mind_interp::{Arrays, Bound, Extents, bind, random_inputs};
use mind_ir::Graph;
use mind_ir::listener::NoopListener;
use mind_ir::verify::VerifyConfig;
use mind_jit::program::{BoundProgram, Port, Program};
use mind_loops::memory::is_kernel;
use mind_pass::{Manager, RewriteOptions, RunCache, Statistics, parse_pipeline};
use mind_transforms::{Known, specialize};
use mind_vir::program::Step;

use super::sections::duration;
use super::subject::Subject;

/// Limit in bytes on each value of a module that is run.
const MOST_BYTES: u64 = 1 << 28;

/// Number of runs of a program; fewer if they take longer than [`LONG`].
const RUNS: usize = 21;
const LONG: Duration = Duration::from_millis(200);

/// Size and cost of a program.
struct Cost {
    /// Kernel calls per run.
    kernels: usize,
    /// Nanoseconds on one thread, by the cost model for dividing kernels among threads.
    modelled: u64,
    /// Bytes of the workspace.
    memory: u64,
    /// Median time of a run on one thread.
    time: Duration,
}

/// Returns a table of the costs before and after the passes.
pub(super) fn section(subject: &Subject<'_>) -> String {
    let recording = subject.recording;
    let (Some(first), Some(last)) = (&recording.first, &recording.last) else {
        return String::new();
    };
    let costs = Bench::new(subject.now).and_then(|bench| {
        let (before, extents) = bench.cost(first)?;
        let (after, _) = bench.cost(last)?;
        Ok((before, after, extents))
    });
    let (before, after, extents) = match costs {
        Ok(costs) => costs,
        Err(why) => {
            let why = escape(&why);
            return format!("<p class=\"dim\">Programs are not compared: {why}.</p>\n");
        }
    };
    let mut out = String::from(
        "<h2>The program</h2>\n<table>\n<thead><tr><th></th><th class=\"number\">as it was read</th>\
         <th class=\"number\">after the passes</th></tr></thead>\n<tbody>\n",
    );
    let mut row = |what: &str, cells: [String; 2]| {
        let [before, after] = cells;
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "<tr><td>{what}</td><td class=\"number\">{before}</td><td class=\"number\">{after}</td></tr>"
        );
    };
    let costs = [&before, &after];
    row("kernels", costs.map(|cost| cost.kernels.to_string()));
    row(
        "modelled cost",
        costs.map(|cost| duration(Duration::from_nanos(cost.modelled))),
    );
    row(
        "a run, measured on one thread",
        costs.map(|cost| duration(cost.time)),
    );
    row(
        "memory of results in between",
        costs.map(|cost| format!("{} bytes", cost.memory)),
    );
    out.push_str("</tbody></table>\n");
    if !extents.is_empty() {
        let _ = writeln!(out, "<p class=\"dim\">For {}.</p>", escape(&extents));
    }
    out
}

/// Compiles and runs modules for the table.
struct Bench<'n> {
    session: Session,
    engine: Engine,
    now: &'n dyn Fn() -> Duration,
}

impl<'n> Bench<'n> {
    /// Creates an engine with one thread.
    ///
    /// # Errors
    ///
    /// Errors if this build has no code generator for the processor.
    fn new(now: &'n dyn Fn() -> Duration) -> Result<Bench<'n>, String> {
        let config = Config {
            threads: NonZero::new(1),
            ..Config::default()
        };
        Ok(Bench {
            session: Session::default(),
            engine: Engine::new(&config).map_err(|found| found.to_string())?,
            now,
        })
    }

    /// Returns the cost of a module, lowered to loops without other passes, and the shapes used for inputs with unknown
    /// extents.
    ///
    /// # Errors
    ///
    /// Errors if the module cannot be compiled, or is too large to be run.
    fn cost(&self, g: &Graph) -> Result<(Cost, String), String> {
        let types = g.walk().flat_map(|op| g.results(op));
        let bytes = types.map(|value| {
            let ty = g.ty(value);
            ty.count()
                .map_or(0, |count| count as u64 * ty.dtype.size() as u64)
        });
        if bytes.max().is_some_and(|most| most > MOST_BYTES) {
            return Err("a value is large".to_owned());
        }
        let arrays = random_inputs(g, 0, Extents::default());
        let arrays = arrays.map_err(|_| "its inputs are large".to_owned())?;
        let bound = bind(g, &arrays, Extents::default());
        let bound = bound.map_err(|_| "random inputs do not match it".to_owned())?;
        let low = self.lowered(g, &bound)?;
        let program = self.engine.program(&low);
        let program = program.map_err(|found| found.to_string())?;
        let calls = program.steps().iter().filter_map(|step| match step {
            Step::Call(call) => Some(call),
            Step::Gather(_) | Step::Transfer(_) | Step::Evaluate(_) | Step::Control(_) => None,
        });
        let (kernels, modelled) = calls.fold((0, 0u64), |(count, sum), call| {
            (count + 1, sum.saturating_add(call.cost))
        });
        let open = mind_interp::inputs(g).into_iter();
        let open = open.filter(|input| input.ty.count().is_none());
        let open = open.map(|input| format!("{}{:?}", input.name, arrays[input.name].shape()));
        let open: Vec<String> = open.collect();
        let cost = Cost {
            kernels,
            modelled,
            memory: program.workspace_bytes(),
            time: self.time(program, &arrays)?,
        };
        Ok((cost, open.join(", ")))
    }

    /// Specialises the module to the bound arrays and lowers it to loops.
    fn lowered(&self, g: &Graph, bound: &Bound<'_>) -> Result<Graph, String> {
        let mut low = g.clone();
        if low.ops(low.body()).any(|op| is_kernel(&low, op)) {
            return Ok(low);
        }
        let known = Known {
            symbol: &|sym| bound.dims().get(sym).map(|extent| extent as i64),
            input: &|op, axis| bound.tensor(op).map(|tensor| tensor.shape()[axis] as i64),
        };
        let done = specialize(&mut low, &known, &VerifyConfig::default());
        done.map_err(|found| found.to_string())?;
        let manager = Manager {
            registry: &self.session.registry,
            verify_each: false,
            verify: VerifyConfig::default(),
            rewriting: &RewriteOptions::default(),
            shared: &RunCache::default(),
        };
        let pipeline = parse_pipeline("lower-to-loops", &PASSES);
        let pipeline = pipeline.map_err(|found| found.to_string())?;
        let mut statistics = Statistics::default();
        let ran = manager.run(&pipeline, &mut low, &mut statistics, &mut NoopListener);
        ran.map_err(|failure| mind_driver::failure::diagnostics(failure).to_string())?;
        Ok(low)
    }

    /// Returns the median time of a run on `arrays`.
    fn time(&self, program: Arc<Program>, arrays: &Arrays) -> Result<Duration, String> {
        let bytes = |ports: &[Port]| -> Result<Vec<Vec<u8>>, String> {
            let arrays = ports.iter().map(|port| arrays.get(&*port.name));
            let arrays = arrays.map(|own| own.map(|own| own.buffer().to_bytes().to_vec()));
            let found: Option<Vec<Vec<u8>>> = arrays.collect();
            found.ok_or_else(|| "an input has no name".to_owned())
        };
        let (inputs, params) = (bytes(program.inputs())?, bytes(program.params())?);
        let mut outputs: Vec<Vec<u8>> = program
            .outputs()
            .iter()
            .map(|port| vec![0; port.bytes()])
            .collect();
        let params: Vec<&[u8]> = params.iter().map(|own| &own[..]).collect();
        let inputs: Vec<&[u8]> = inputs.iter().map(|own| &own[..]).collect();
        let bound = BoundProgram::new(program, &params).map_err(|why| why.to_string())?;
        let mut outputs: Vec<&mut [u8]> = outputs.iter_mut().map(|own| &mut own[..]).collect();
        let mut times = Vec::with_capacity(RUNS);
        let start = (self.now)();
        // The first run warms caches.
        for _ in 0..=RUNS {
            let before = (self.now)();
            let done = bound.run(&inputs, &mut outputs);
            done.map_err(|why| why.to_string())?;
            times.push((self.now)().saturating_sub(before));
            if (self.now)().saturating_sub(start) > LONG {
                break;
            }
        }
        if times.len() > 1 {
            times.remove(0);
        }
        times.sort_unstable();
        Ok(times[times.len() / 2])
    }
}
