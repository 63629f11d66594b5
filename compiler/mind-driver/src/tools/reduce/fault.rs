//! What goes wrong when passes run on a module.

use std::fmt;

use mind_interp::{Arrays, Extents, bind};
use mind_ir::Graph;
use mind_ir::tensor::Tensor;
use mind_ir::verify::VerifyConfig;
use mind_pass::{Failure, Instrument, Manager, Pipeline, Rewriting, Shared, Statistics};

use crate::engine::Engine;
use crate::equivalence::{interpreted, same_runs};
use crate::expected_panic;
use crate::session::Session;
use crate::tools::run::compiled::Compiled;

/// A pipeline and what it needs.
pub(super) struct Optimiser<'a> {
    pub(super) session: &'a Session,
    pub(super) pipeline: &'a Pipeline,
    pub(super) rewriting: &'a Rewriting,
    pub(super) shared: &'a Shared,
    pub(super) verify: VerifyConfig,
}

/// Why passes did not end with a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    /// A pass panicked.
    Panicked(&'static str),
    /// A pass left a module that breaks a rule.
    Invalid(&'static str),
    /// A pass did not find its fixpoint.
    NotConverged(&'static str),
    /// A pass does not take the module, which is no fault.
    Refused,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Panicked(pass) => write!(f, "`{pass}` crashes"),
            Stop::Invalid(pass) => write!(f, "`{pass}` leaves a module that breaks a rule"),
            Stop::NotConverged(pass) => write!(f, "`{pass}` does not come to an end"),
            Stop::Refused => f.write_str("a pass refuses the module"),
        }
    }
}

impl Optimiser<'_> {
    /// What was asked of rewriting, as flags with a blank before each.
    pub(super) fn rewriting_flags(&self) -> String {
        let Rewriting {
            rules,
            fast_math,
            only,
            disabled,
            unchecked,
        } = self.rewriting;
        let rules = rules
            .iter()
            .map(|source| format!(" --rules={}", source.name));
        let lists = [
            ("fast-math", fast_math),
            ("only-rule", only),
            ("disable-rule", disabled),
            ("allow-unchecked-rule", unchecked),
        ];
        let lists = lists.iter().filter(|(_, names)| !names.is_empty());
        let lists = lists.map(|(flag, names)| format!(" --{flag}={}", names.join(",")));
        rules.chain(lists).collect()
    }

    /// The module after the passes.
    ///
    /// Errors: the pass that stopped them, and how.
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
            let name = step.pass.name;
            let alone = Pipeline {
                steps: vec![step.clone()],
            };
            let run = || manager.run(&alone, &mut g, &mut statistics, watch);
            match expected_panic::catch(run) {
                None => return Err(Stop::Panicked(name)),
                Some(Err(failure)) => return Err(stop(failure, name)),
                Some(Ok(())) => {}
            }
        }
        Ok(g)
    }
}

fn stop(failure: Failure, pass: &'static str) -> Stop {
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
    /// Where the results of `after` differ from those that the interpreter gives for `before`; none where they
    /// agree, or one of them cannot be run.
    pub(super) fn difference(&self, before: &Graph, after: &Graph) -> Option<String> {
        let refused = std::cell::Cell::new(false);
        let execute = |g: &Graph, arrays: &Arrays| self.execute(g, arrays, &refused);
        let differing = same_runs(before, after, &execute).err();
        differing.filter(|_| !refused.get() && can_run(before))
    }

    /// Sets `refused` where the engine does not take the module.
    fn execute(
        &self,
        g: &Graph,
        arrays: &Arrays,
        refused: &std::cell::Cell<bool>,
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
                compiled.run(arrays).map_err(|why| why.to_string())?;
                Ok(compiled.results())
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
