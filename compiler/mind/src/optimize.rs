//! Optimising modules, and what came of it.

use mind_driver::session::{LEVELS, PASSES};
use mind_ir::Graph;
use mind_ir::listener::Listener;
use mind_ir::verify::VerifyConfig;
use mind_pass::{
    Changed, Failure, Instrument, Manager, PassError, Pipeline, Rewriting, RuleSource, Shared,
    Stage, Statistics, parse_pipeline,
};
use mind_transforms::rules;

pub use mind_eqsat::FastMath;
pub use mind_pass::RuleCounts;

use crate::error::{Error, refused};
use crate::module::{Module, error, session};

/// A named pipeline. Each keeps every bit of the results.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Level {
    /// Checks the module and changes nothing.
    O0,
    /// Canonical forms, without what is computed twice or never used.
    O1,
    /// As [`O1`](Level::O1), and e-graph folding and fusion.
    O2,
    /// As [`O2`](Level::O2), folding twice.
    O3,
}

impl Level {
    /// The passes that it runs.
    pub fn pipeline(self) -> &'static str {
        let index = match self {
            Level::O0 => 0,
            Level::O1 => 1,
            Level::O2 => 2,
            Level::O3 => 3,
        };
        LEVELS[index].pipeline
    }
}

/// Passes to run, with the rules that they rewrite by.
///
/// ```
/// use mind::{Module, Optimizer};
///
/// let rules = "\
/// rule maximum-neg
///   class exact
///   core.maximum(?x, core.neg(?x)) => core.abs(?x)
/// ";
/// let optimizer = Optimizer::new("fold")?.rules("mine.rules", rules)?;
/// let mut module = Module::parse(
///     "%0 = Input {name=x} : tensor<f32[4]>\n%1 = Neg (%0)\n%2 = Maximum (%0, %1)\noutputs: %2",
/// )?;
/// let report = optimizer.run(&mut module)?;
/// assert!(module.to_string().contains("Abs"), "{module}");
/// assert!(report.rules().any(|rule| rule.name == "maximum-neg" && rule.counts.chosen == 1));
/// # Ok::<(), mind::Error>(())
/// ```
pub struct Optimizer {
    pipeline: Pipeline,
    rewriting: Rewriting,
    shared: Shared,
}

impl Optimizer {
    /// Runs the passes of a pipeline, written as in `canonicalize,fold{max-iters=8},fuse`.
    ///
    /// # Errors
    ///
    /// A pipeline that cannot be read.
    pub fn new(pipeline: &str) -> Result<Optimizer, Error> {
        let parsed = parse_pipeline(pipeline, &PASSES);
        let pipeline = parsed.map_err(|found| refused("<pipeline>", pipeline, found))?;
        Ok(Optimizer {
            pipeline,
            rewriting: Rewriting::default(),
            shared: Shared::default(),
        })
    }

    /// Runs the passes of a level.
    pub fn level(level: Level) -> Optimizer {
        Optimizer::new(level.pipeline()).expect("the pipelines of levels can be read")
    }

    /// Rewrites by the rules in `text`, too. `name` is that of the file in diagnostics.
    ///
    /// # Errors
    ///
    /// All that is wrong with the rules.
    pub fn rules(mut self, name: &str, text: &str) -> Result<Optimizer, Error> {
        self.rewriting.rules.push(RuleSource {
            name: name.to_owned(),
            text: text.to_owned(),
        });
        self.check_rules()?;
        Ok(self)
    }

    /// Lets rules of these classes act, too, which may change bits.
    pub fn fast_math(mut self, classes: FastMath) -> Optimizer {
        let names = classes.names().into_iter().map(str::to_owned);
        self.rewriting.fast_math = names.collect();
        self
    }

    /// Switches a rule or pattern off.
    pub fn disable(mut self, rule: &str) -> Optimizer {
        self.rewriting.disabled.push(rule.to_owned());
        self
    }

    fn check_rules(&mut self) -> Result<(), Error> {
        self.shared = Shared::default();
        let made = rules(&session().registry, &self.rewriting);
        let Err(errors) = made else { return Ok(()) };
        match errors.0.into_iter().next() {
            Some(source) => Err(Error::Rejected(crate::Rejected {
                diagnostics: source.diagnostics,
                file: source.file.into(),
            })),
            None => Ok(()),
        }
    }

    /// Verifies and optimises a module.
    ///
    /// # Errors
    ///
    /// A module that breaks rules of its ops, a pass that refuses it. The module is then not to be used.
    pub fn run(&self, module: &mut Module) -> Result<Report, Error> {
        module.verify()?;
        let mut statistics = Statistics::default();
        let mut recorder = Recorder::default();
        let manager = Manager {
            registry: &session().registry,
            verify_each: cfg!(debug_assertions),
            verify: VerifyConfig::default(),
            rewriting: &self.rewriting,
            shared: &self.shared,
        };
        let done = manager.run(
            &self.pipeline,
            &mut module.graph,
            &mut statistics,
            &mut recorder,
        );
        done.map_err(|failure| match failure {
            Failure::Pass { pass, error } => match error {
                PassError::Rejected(found) => module.refused(*found),
                PassError::Invalid(found) => module.refused(found),
                why @ PassError::NotConverged { .. } => {
                    module.refused(self::error(format!("{pass}: {why}")))
                }
            },
            Failure::Invalid { found, .. } => module.refused(found),
        })?;
        Ok(Report {
            passes: recorder.passes,
            statistics,
        })
    }
}

/// What optimising came to.
#[derive(Clone, Debug)]
pub struct Report {
    passes: Vec<PassReport>,
    statistics: Statistics,
}

/// A pass that was run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PassReport {
    /// Its name.
    pub name: &'static str,
    /// Whether it changed the module.
    pub changed: bool,
}

/// What came of a rule or pattern in a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleReport<'r> {
    /// The pass.
    pub pass: &'r str,
    /// The rule or pattern.
    pub name: &'r str,
    /// How often it matched, acted and was chosen.
    pub counts: RuleCounts,
}

impl Report {
    /// The passes, in the order in which they ran.
    pub fn passes(&self) -> &[PassReport] {
        &self.passes
    }

    /// What came of each rule.
    pub fn rules(&self) -> impl Iterator<Item = RuleReport<'_>> {
        let all = self.statistics.rules();
        all.map(|(pass, name, counts)| RuleReport { pass, name, counts })
    }

    /// The counters of passes: (pass, counter, count).
    pub fn counters(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        self.statistics.iter()
    }
}

/// Keeps what a pipeline reports.
#[derive(Default)]
struct Recorder {
    passes: Vec<PassReport>,
}

impl Listener for Recorder {}

impl Instrument for Recorder {
    fn stage(&mut self, stage: Stage<'_>, _: &Graph) {
        if let Stage::After(pass, changed) = stage {
            self.passes.push(PassReport {
                name: pass.name,
                changed: changed == Changed::Yes,
            });
        }
    }
}
