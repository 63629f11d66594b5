//! What goes wrong when passes run on a module.

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

/// A pipeline and what it needs.
pub(super) struct Optimiser<'a> {
    pub(super) session: &'a Session,
    pub(super) pipeline: &'a Pipeline,
    pub(super) rewriting: &'a RewriteOptions,
    pub(super) shared: &'a RunCache,
    pub(super) verify: VerifyConfig,
}

/// What a case is doing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// Reading the module.
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
    /// What it is called in a report, and in messages where it is a pass.
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

/// Why a case did not come to its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    /// It panicked.
    Panicked(Phase),
    /// A pass left a module that breaks a rule.
    Invalid(Phase),
    /// A pass did not find its fixpoint.
    NotConverged(Phase),
    /// A pass or an engine does not take the module, which is no fault.
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
    /// The word for it in a report; that of a process that died is never written.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Stop::Panicked(_) => "panicked",
            Stop::Invalid(_) => "invalid",
            Stop::NotConverged(_) => "not-converged",
            Stop::Refused | Stop::Died(..) => "refused",
        }
    }

    /// What it was doing, as a report has it.
    pub(super) fn phase(&self) -> &str {
        match self {
            Stop::Panicked(phase) | Stop::Invalid(phase) | Stop::NotConverged(phase) => {
                phase.text()
            }
            Stop::Refused | Stop::Died(..) => "",
        }
    }

    /// The line of a report.
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

    /// Whether it is a crash: of the passes, or of the engine that runs what they made.
    pub(super) fn is_crash(&self) -> bool {
        match self {
            Stop::Panicked(phase)
            | Stop::Invalid(phase)
            | Stop::NotConverged(phase)
            | Stop::Died(phase, _) => matches!(phase, Phase::Pass(_) | Phase::Engine),
            Stop::Refused => false,
        }
    }

    /// Whether the module was optimised and then has no results.
    pub(super) fn is_without_results(&self) -> bool {
        match self {
            // An engine that is slower than the interpreter is not wrong.
            Stop::Died(_, ProcessEnd::TimedOut) => false,
            Stop::Panicked(phase) | Stop::Died(phase, _) => *phase == Phase::Engine,
            Stop::Invalid(_) | Stop::NotConverged(_) | Stop::Refused => false,
        }
    }
}

impl Optimiser<'_> {
    /// The module after the passes.
    ///
    /// # Errors
    ///
    /// The pass that stopped them, and how.
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

/// What runs the module after the passes.
pub(super) enum Runner {
    Interpreter,
    Code(Box<Engine>),
    /// Something else, for tests.
    #[cfg(test)]
    Other(fn(&Graph, &Arrays) -> Result<Vec<Tensor>, String>),
}

impl Runner {
    /// Machine code for this machine.
    ///
    /// # Errors
    ///
    /// An engine that the machine does not have.
    pub(super) fn compiler() -> Result<Runner, Diagnostics> {
        Ok(Runner::Code(Box::new(Engine::new(&Config::default())?)))
    }

    /// Where the results of `after` differ from those that the interpreter gives for `before`; `None` if they
    /// agree, or one of them cannot be run. `begins` is called with each phase as it begins.
    ///
    /// # Errors
    ///
    /// A panic of the engine.
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

    /// Sets `refused` where the engine does not take the module.
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

/// Whether arrays can be made up for the module.
fn can_run(g: &Graph) -> bool {
    mind_interp::random_inputs(g, 1, Extents::default()).is_ok()
}
