//! Optimisation pipelines and their reports.

use std::sync::Arc;

use mind_diag::{Diagnostic, Severity, SourceFile, Span};
use mind_driver::admission::refusals;
use mind_driver::explain::{Explain, Story};
use mind_driver::failure;
use mind_driver::history::Record;
use mind_driver::session::{LEVELS, PASSES};
use mind_ir::Graph;
use mind_ir::listener::{Listener, Rewrite};
use mind_ir::verify::VerifyConfig;
use mind_pass::{
    Changed, Instrument, Manager, Pipeline, PipelineEvent, RewriteOptions, RuleSource, RunCache,
    Statistics, parse_pipeline,
};
use mind_transforms::rules;

pub use mind_pass::RuleCounts;
pub use mind_rules::FastMath;

use crate::error::{Error, invalid, refused};
use crate::module::{Format, Module, session};

/// An optimisation level. Results stay bit-identical at all levels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Level {
    /// Verification only.
    O0,
    /// Canonicalization, CSE and DCE.
    O1,
    /// As [`O1`](Level::O1), and e-graph folding and fusion.
    O2,
    /// As [`O2`](Level::O2), folding twice.
    O3,
}

impl Level {
    /// Returns its pass pipeline.
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

/// A pass pipeline with its rewrite rules.
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
    rewriting: RewriteOptions,
    shared: RunCache,
    missed: bool,
}

impl Optimizer {
    /// Creates a pipeline from text, for example `canonicalize,fold{max-iters=8},fuse`.
    ///
    /// # Errors
    ///
    /// Errors if the text is not a pipeline.
    pub fn new(pipeline: &str) -> Result<Optimizer, Error> {
        let parsed = parse_pipeline(pipeline, &PASSES);
        let pipeline = parsed.map_err(|found| refused("<pipeline>", pipeline, found))?;
        Ok(Optimizer {
            pipeline,
            rewriting: RewriteOptions::default(),
            shared: RunCache::default(),
            missed: false,
        })
    }

    /// Creates the pipeline of a level.
    pub fn level(level: Level) -> Optimizer {
        Optimizer::new(level.pipeline()).expect("the pipelines of levels can be read")
    }

    /// Adds the rules in `text`, after checking their soundness: both sides of each rule are evaluated on many inputs.
    /// `name` is the name of the file in diagnostics.
    ///
    /// # Errors
    ///
    /// Returns all errors of the text. Errors with a counterexample if a rule is unsound for its class.
    pub fn rules(mut self, name: &str, text: &str) -> Result<Optimizer, Error> {
        self.rewriting.rules.push(RuleSource {
            name: name.to_owned(),
            text: text.to_owned(),
        });
        self.check_rules()?;
        Ok(self)
    }

    /// Enables rules of these classes, which may change results.
    pub fn fast_math(mut self, classes: FastMath) -> Optimizer {
        let names = classes.names().into_iter().map(str::to_owned);
        self.rewriting.fast_math = names.collect();
        self
    }

    /// Disables a rule or pattern.
    pub fn disable(mut self, rule: &str) -> Optimizer {
        self.rewriting.disabled.push(rule.to_owned());
        self
    }

    /// Also reports rules that did not fire, with the reasons. Finding the reasons takes time.
    pub fn missed(mut self) -> Optimizer {
        self.missed = true;
        self
    }

    fn check_rules(&mut self) -> Result<(), Error> {
        self.shared = RunCache::default();
        let made = rules(&session().registry, &self.rewriting);
        let broken = made.err().map(|errors| errors.0).unwrap_or_default();
        let broken = broken.into_iter();
        let mut all = broken
            .map(|source| (source.file, source.diagnostics))
            .chain(refusals(&self.rewriting, session()));
        match all.next() {
            Some((file, diagnostics)) => Err(Error::Rejected(crate::Rejected {
                diagnostics,
                file: file.into(),
            })),
            None => Ok(()),
        }
    }

    /// Verifies and optimises a module.
    ///
    /// # Errors
    ///
    /// Errors if the verifier or a pass rejects the module. The module is then in an unspecified state.
    pub fn run(&self, module: &mut Module) -> Result<Report, Error> {
        module.verify()?;
        let mut statistics = Statistics::default();
        let mut recorder = Recorder {
            source: &module.source,
            missed: self.missed,
            pass: "",
            passes: Vec::new(),
            remarks: Vec::new(),
            history: Vec::new(),
            missed_at: Vec::new(),
        };
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
        done.map_err(|failure| module.refused(failure::diagnostics(failure)))?;
        let Recorder {
            passes,
            remarks,
            history,
            missed_at,
            ..
        } = recorder;
        Ok(Report {
            passes,
            remarks,
            statistics,
            history: history.into(),
            missed_at,
            source: module.source.clone(),
        })
    }
}

impl Module {
    /// Optimises the module. Results stay bit-identical.
    ///
    /// ```
    /// use mind::{Level, Module};
    ///
    /// let mut module = Module::parse("mic@2\nT0 f32 4\na x T0\nr 0\nr 1\nO 2")?;
    /// let report = module.optimize(Level::O2)?;
    /// assert_eq!(module.print(mind::Format::Mic2)?, "mic@2\nT0 f32 4\na x T0\nr 0\nO 1");
    /// assert_eq!(report.rules().next().unwrap().name, "relu-relu");
    /// # Ok::<(), mind::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Errors if the verifier rejects the module.
    pub fn optimize(&mut self, level: Level) -> Result<Report, Error> {
        Optimizer::level(level).run(self)
    }

    /// Runs a pass pipeline, for example `canonicalize,fold{max-iters=8},fuse`.
    ///
    /// # Errors
    ///
    /// Errors if the text is not a pipeline, or if a pass rejects the module.
    pub fn run_passes(&mut self, pipeline: &str) -> Result<Report, Error> {
        Optimizer::new(pipeline)?.run(self)
    }
}

/// Report of an optimisation.
#[derive(Clone, Debug)]
pub struct Report {
    passes: Vec<PassReport>,
    remarks: Vec<Remark>,
    statistics: Statistics,
    history: Arc<[Record]>,
    missed_at: Vec<Missed>,
    source: Arc<SourceFile>,
}

/// A rule that did not fire.
#[derive(Clone, Debug)]
struct Missed {
    pass: &'static str,
    rule: String,
    span: Span,
    reason: String,
}

/// A pass that was run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PassReport {
    /// Its name.
    pub name: &'static str,
    /// Whether it changed the module.
    pub changed: bool,
}

/// A rewrite, or a rule that did not fire.
///
/// ```
/// use mind::{Module, Optimizer};
///
/// let mut module = Module::parse("mic@2\nT0 f32 4\na x T0\nr 0\nr 1\nO 2")?;
/// let report = Optimizer::new("canonicalize")?.run(&mut module)?;
/// let remark = &report.remarks()[0];
/// assert_eq!(remark.rules, ["relu-relu"]);
/// assert_eq!(remark.line, Some(5));
/// assert_eq!(remark.text, "core.relu %2 became core.relu %1");
/// # Ok::<(), mind::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remark {
    /// The pass.
    pub pass: &'static str,
    /// The rules or patterns that were applied, or the rule that did not fire.
    pub rules: Vec<String>,
    /// The line of the op in the module's text, from 1; `None` if the op is not in the text.
    pub line: Option<usize>,
    /// A description of the rewrite, or the reason why the rule did not fire.
    pub text: String,
    /// Whether it is a rewrite.
    pub acted: bool,
}

/// Counts of a rule or pattern in a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleReport<'r> {
    /// The pass.
    pub pass: &'r str,
    /// The rule or pattern.
    pub name: &'r str,
    /// The numbers of matches, applications and selections.
    pub counts: RuleCounts,
}

impl Report {
    /// Returns the passes in execution order.
    pub fn passes(&self) -> &[PassReport] {
        &self.passes
    }

    /// Returns the rewrites in order, together with the rules that did not fire if [enabled](Optimizer::missed).
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }

    /// Returns the counts of all rules.
    pub fn rules(&self) -> impl Iterator<Item = RuleReport<'_>> {
        let all = self.statistics.rules();
        all.map(|(pass, name, counts)| RuleReport { pass, name, counts })
    }

    /// Explains the rewrites that led to a value of `module`, which must be the optimised module. `asked` is the name
    /// of a value in Core text, for example `%7`, an output, for example `out:0`, a rule and a line of the text, for
    /// example `rule@12`, or empty for every value that a rewrite created.
    ///
    /// ```
    /// use mind::{Level, Module};
    ///
    /// let mut module = Module::parse("mic@2\nT0 f32 4\na x T0\nr 0\nr 1\nO 2")?;
    /// let report = module.optimize(Level::O2)?;
    /// let text = report.explain(&module, "out:0")?;
    /// assert!(text.contains("core.relu %2 at <text>:5 -> core.relu %1"), "{text}");
    /// assert!(report.explain(&module, "relu-relu@5")?.contains("acted"));
    /// assert!(report.explain(&module, "%9").is_err());
    /// # Ok::<(), mind::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Errors if the module lacks the value.
    pub fn explain(&self, module: &Module, asked: &str) -> Result<String, Error> {
        let mut explain = Explain::parse(asked, &RewriteOptions::default());
        for missed in &self.missed_at {
            let Missed {
                pass,
                rule,
                span,
                reason,
            } = missed;
            explain.missed(&self.source, pass, rule, *span, reason);
        }
        let story = Story::new(&self.source, &self.history, &module.graph, Format::Core);
        let explained = story.explain(&explain);
        explained.map_err(|why| invalid("<explain>", asked, why))
    }

    /// Returns the counters of passes as (pass, counter, count).
    pub fn counters(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        self.statistics.iter()
    }
}

/// Records the events of a pipeline.
struct Recorder<'s> {
    source: &'s SourceFile,
    missed: bool,
    pass: &'static str,
    passes: Vec<PassReport>,
    remarks: Vec<Remark>,
    history: Vec<Record>,
    missed_at: Vec<Missed>,
}

impl Recorder<'_> {
    fn push(&mut self, rules: Vec<String>, span: Span, text: String, acted: bool) {
        let (line, _) = self.source.position(span);
        self.remarks.push(Remark {
            pass: self.pass,
            rules,
            line: (line > 0).then_some(line),
            text,
            acted,
        });
    }
}

impl Listener for Recorder<'_> {
    fn applied(&mut self, g: &Graph, rewrite: &Rewrite<'_>) {
        let record = Record::new(self.pass, g, rewrite);
        let rules = record.steps.iter().map(|step| step.rule.clone()).collect();
        let text = format!("{} became {}", record.from, record.to);
        self.push(rules, record.span, text, true);
        self.history.push(record);
    }

    fn observes_missed(&self, _: &str) -> bool {
        self.missed
    }

    fn noted(&mut self, note: &Diagnostic) {
        if note.severity == Severity::Warning || self.missed {
            self.push(Vec::new(), note.span, note.message.clone(), false);
        }
    }

    fn missed(&mut self, span: Span, rule: &str, reason: &str) {
        self.push(vec![rule.to_owned()], span, reason.to_owned(), false);
        self.missed_at.push(Missed {
            pass: self.pass,
            rule: rule.to_owned(),
            span,
            reason: reason.to_owned(),
        });
    }
}

impl Instrument for Recorder<'_> {
    fn event(&mut self, event: PipelineEvent<'_>, _: &Graph) {
        match event {
            PipelineEvent::Before(pass) => self.pass = pass.name,
            PipelineEvent::After(pass, changed) => self.passes.push(PassReport {
                name: pass.name,
                changed: changed == Changed::Yes,
            }),
            PipelineEvent::Verified(_) => {}
        }
    }
}
