//! Faults of passes that run on a module.

use std::cell::{Cell, RefCell};
use std::fmt;

use mind_diag::Diagnostics;
use mind_driver::compiled::Compiled;
use mind_driver::engine::{Config, Engine};
use mind_driver::equivalence::{interpreted, same_runs};
use mind_driver::expected_panic;
use mind_driver::host::ProcessEnd;
use mind_driver::session::Session;
use mind_interp::{Arrays, Extents, bind};
use mind_ir::Graph;
use mind_ir::tensor::Tensor;
use mind_ir::verify::VerifyConfig;
use mind_pass::{Failure, Instrument, Manager, Pipeline, RewriteOptions, RunCache, Statistics};

/// A pipeline with its inputs.
pub(super) struct Optimiser<'a> {
    pub(super) session: &'a Session,
    pub(super) pipeline: &'a Pipeline,
    pub(super) rewriting: &'a RewriteOptions,
    pub(super) shared: &'a RunCache,
    pub(super) verify: VerifyConfig,
}

/// The phase of a case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// Parsing the module.
    Reading,
    /// Running this pass.
    Pass(String),
    /// Interpreting the module before the passes.
    Reference,
    /// Running the module after the passes.
    Engine,
}

const ENGINE: &str = "the engine";
const REFERENCE: &str = "the reference interpreter";

impl Phase {
    /// Returns its text in a report, and for a pass also in messages.
    pub(super) fn text(&self) -> &str {
        match self {
            Phase::Reading => "",
            Phase::Pass(name) => name,
            Phase::Reference => REFERENCE,
            Phase::Engine => ENGINE,
        }
    }

    pub(super) fn parse(text: &str) -> Phase {
        match text {
            "" => Phase::Reading,
            REFERENCE => Phase::Reference,
            ENGINE => Phase::Engine,
            pass => Phase::Pass(pass.to_owned()),
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Phase::Reading => f.write_str("the parser"),
            Phase::Pass(name) => write!(f, "`{name}`"),
            Phase::Reference | Phase::Engine => f.write_str(self.text()),
        }
    }
}

/// Why a case stopped early.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    /// It panicked.
    Panicked(Phase),
    /// A pass left an invalid module.
    Invalid(Phase),
    /// A pass did not reach its fixed point.
    NotConverged(Phase),
    /// A pass or an engine rejects the module, which is not a fault.
    Refused,
    /// Its process ended.
    Died(Phase, ProcessEnd),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Panicked(phase) => write!(f, "{phase} panics"),
            Stop::Invalid(phase) => write!(f, "{phase} leaves a module that breaks a rule"),
            Stop::NotConverged(phase) => write!(f, "{phase} does not reach a fixpoint"),
            Stop::Refused => f.write_str("the module is refused"),
            Stop::Died(phase, ProcessEnd::TimedOut) => {
                write!(f, "{phase} takes longer than `--time-limit`")
            }
            Stop::Died(phase, ProcessEnd::Signal(signal)) => {
                write!(f, "{phase} is ended by signal {signal}")
            }
            Stop::Died(phase, ProcessEnd::Code(code)) => {
                write!(f, "{phase} ends the process with code {code}")
            }
        }
    }
}

impl Stop {
    /// Returns its keyword in a report. A process that died does not write one.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Stop::Panicked(_) => "panicked",
            Stop::Invalid(_) => "invalid",
            Stop::NotConverged(_) => "not-converged",
            Stop::Refused | Stop::Died(..) => "refused",
        }
    }

    /// Returns its phase in a report.
    pub(super) fn phase(&self) -> &str {
        match self {
            Stop::Panicked(phase) | Stop::Invalid(phase) | Stop::NotConverged(phase) => {
                phase.text()
            }
            Stop::Refused | Stop::Died(..) => "",
        }
    }

    /// Parses a line of a report.
    pub(super) fn parse(word: &str, phase: &str) -> Option<Stop> {
        let phase = Phase::parse(phase);
        match word {
            "panicked" => Some(Stop::Panicked(phase)),
            "invalid" => Some(Stop::Invalid(phase)),
            "not-converged" => Some(Stop::NotConverged(phase)),
            "refused" => Some(Stop::Refused),
            _ => None,
        }
    }

    /// Returns whether it is a crash of the passes, or of the engine that runs their output.
    pub(super) fn is_crash(&self) -> bool {
        match self {
            Stop::Panicked(phase)
            | Stop::Invalid(phase)
            | Stop::NotConverged(phase)
            | Stop::Died(phase, _) => matches!(phase, Phase::Pass(_) | Phase::Engine),
            Stop::Refused => false,
        }
    }

    /// Returns whether the module was optimised but the engine failed on the output.
    pub(super) fn is_without_results(&self) -> bool {
        match self {
            // A timeout is not a fault, because an engine may be slower than the interpreter.
            Stop::Died(_, ProcessEnd::TimedOut) => false,
            Stop::Panicked(phase) | Stop::Died(phase, _) => *phase == Phase::Engine,
            Stop::Invalid(_) | Stop::NotConverged(_) | Stop::Refused => false,
        }
    }
}

impl Optimiser<'_> {
    /// Returns the module after the passes.
    ///
    /// # Errors
    ///
    /// The failing pass, and how it failed.
    pub(super) fn run(&self, g: &Graph, watch: &mut dyn Instrument) -> Result<Graph, Stop> {
        let manager = Manager {
            registry: &self.session.registry,
            verify_each: true,
            verify: self.verify,
            rewriting: self.rewriting,
            shared: self.shared,
        };
        let (mut g, mut statistics) = (g.clone(), Statistics::default());
        for step in &self.pipeline.steps {
            let phase = || Phase::Pass(step.pass.name.to_owned());
            let alone = Pipeline {
                steps: vec![step.clone()],
            };
            let run = || manager.run(&alone, &mut g, &mut statistics, watch);
            match expected_panic::catch(run) {
                None => return Err(Stop::Panicked(phase())),
                Some(Err(failure)) => return Err(stop(failure, phase())),
                Some(Ok(())) => {}
            }
        }
        Ok(g)
    }
}

fn stop(failure: Failure, pass: Phase) -> Stop {
    use mind_pass::PassError;
    match failure {
        Failure::Invalid { .. } => Stop::Invalid(pass),
        Failure::Pass {
            error: PassError::NotConverged { .. },
            ..
        } => Stop::NotConverged(pass),
        Failure::Pass { .. } => Stop::Refused,
    }
}

/// The engine that runs the module after the passes.
pub(super) enum Runner {
    Interpreter,
    Code(Box<Engine>),
    /// Another engine, for tests.
    #[cfg(test)]
    Other(fn(&Graph, &Arrays) -> Result<Vec<Tensor>, String>),
}

impl Runner {
    /// Returns the JIT for this machine.
    ///
    /// # Errors
    ///
    /// The machine does not support the engine.
    pub(super) fn compiler() -> Result<Runner, Diagnostics> {
        Ok(Runner::Code(Box::new(Engine::new(&Config::default())?)))
    }

    /// Returns the first difference between the results of `after` and those that the interpreter computes for
    /// `before`; `None` if they agree, or one of the modules cannot be run. `begins` is called at the start of each
    /// phase.
    ///
    /// # Errors
    ///
    /// The engine panicked.
    pub(super) fn difference(
        &self,
        before: &Graph,
        after: &Graph,
        begins: &mut dyn FnMut(Phase),
    ) -> Result<Option<String>, Stop> {
        let (refused, panicked) = (Cell::new(false), Cell::new(false));
        let begins = RefCell::new(begins);
        (begins.borrow_mut())(Phase::Reference);
        let execute = |g: &Graph, arrays: &Arrays| {
            (begins.borrow_mut())(Phase::Engine);
            let results = expected_panic::catch(|| self.execute(g, arrays, &refused));
            (begins.borrow_mut())(Phase::Reference);
            results.unwrap_or_else(|| {
                panicked.set(true);
                Err("it panics".to_owned())
            })
        };
        let differing = same_runs(before, after, &execute).err();
        if panicked.get() {
            return Err(Stop::Panicked(Phase::Engine));
        }
        Ok(differing.filter(|_| !refused.get() && can_run(before)))
    }

    /// Runs the module, and sets `refused` if the engine rejects it.
    fn execute(
        &self,
        g: &Graph,
        arrays: &Arrays,
        refused: &Cell<bool>,
    ) -> Result<Vec<Tensor>, String> {
        let refuse = |why: String| {
            refused.set(true);
            why
        };
        match self {
            Runner::Interpreter => interpreted(g, arrays),
            Runner::Code(engine) => {
                let bound = bind(g, arrays, Extents::default())
                    .map_err(|errors| refuse(format!("{errors:?}")))?;
                let program = engine
                    .compile_for(g, &bound)
                    .map_err(|found| refuse(format!("{found:?}")))?;
                let compiled = Compiled::new(&program, arrays);
                let mut compiled = compiled.map_err(|why| refuse(why.to_string()))?;
                let results = compiled.run(arrays);
                let results = results.and_then(|()| compiled.take_results());
                results.map_err(|why| why.to_string())
            }
            #[cfg(test)]
            Runner::Other(run) => run(g, arrays),
        }
    }
}

/// Returns whether random inputs can be generated for the module.
fn can_run(g: &Graph) -> bool {
    mind_interp::random_inputs(g, 1, Extents::default()).is_ok()
}
