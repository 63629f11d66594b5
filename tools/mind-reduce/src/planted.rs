//! Tests that find faults planted in a pass and in an engine.

use std::io;
use std::path::Path;
use std::time::Duration;

use mind_core::ops::elementwise::{Add, Exp, Sub};
use mind_diag::SourceFile;
use mind_driver::equivalence::interpreted;
use mind_driver::formats::{Format, LoadOptions};
use mind_driver::host::{FileSystem, Host, ProcessEnd, Rerun};
use mind_driver::load::parse_and_verify;
use mind_driver::session::Session;
use mind_interp::Arrays;
use mind_ir::Graph;
use mind_ir::builder::Builder;
use mind_ir::listener::{Rewrite, Step as Reason};
use mind_ir::opdef::Op;
use mind_ir::tensor::Tensor;
use mind_ir::verify::{Profile, VerifyConfig};
use mind_irv2::graph::document::Padding;
use mind_pass::{
    Changed, Options, Pass, PassCx, PassError, PassInfo, Pipeline, RewriteOptions, Step,
};

use super::args::{EngineKind, Test};
use super::case::{self, Case, CaseTask, Report, Setup};
use super::fault::{Phase, Runner, Stop};
use super::oracle::{Interest, Oracle};
use super::suspect;
use crate::reduction::{Config, reduce};

const MODULE: &str = "\
%0 = Input {name=x} : tensor<f32[8, 16]>
%1 = Input {name=y} : tensor<f32[16]>
%2 = Relu (%0) : tensor<f32[8, 16]>
%3 = Sub (%2, %1) : tensor<f32[8, 16]>
%4 = Tanh (%3) : tensor<f32[8, 16]>
%5 = Exp (%4) : tensor<f32[8, 16]>
%6 = Sub (%5, %2) : tensor<f32[8, 16]>
%7 = Sum (%6) {axes=[1]} : tensor<f32[8]>
outputs: %7, %4
";

/// A pass that replaces `Sub` by `Add`, one rewrite at a time.
struct Wrong;

impl Pass for Wrong {
    fn run(&self, g: &mut Graph, cx: &mut PassCx<'_>) -> Result<Changed, PassError> {
        let ops: Vec<_> = g.walk().filter(|&op| g.is::<Sub>(op)).collect();
        for op in ops {
            if !cx.watch.admit(&["sub-is-add"]) {
                continue;
            }
            let operands = g.operands(op).to_vec();
            let sum = Builder::before(g, op)
                .create(Add::DEF, &operands, &[])
                .expect("a sum");
            let (old, new) = (g.result(op), g.result(sum));
            g.replace_all_uses(old, new);
            let steps = [Reason::built_in("sub-is-add", g.span(op))];
            let rewrite = Rewrite {
                op,
                values: &[new],
                helpers: &[],
                steps: &steps,
                cost: None,
            };
            cx.watch.applied(g, &rewrite);
            g.erase(op);
        }
        Ok(Changed::Yes)
    }
}

/// A pass that panics at `Exp`.
struct Crashing;

impl Pass for Crashing {
    fn run(&self, g: &mut Graph, _: &mut PassCx<'_>) -> Result<Changed, PassError> {
        assert!(!g.walk().any(|op| g.is::<Exp>(op)), "a planted crash");
        Ok(Changed::No)
    }
}

const fn row(name: &'static str, make: fn(&Options) -> Box<dyn Pass>) -> PassInfo {
    PassInfo {
        name,
        alias: None,
        summary: "Is wrong",
        example: "",
        options: &[],
        enters_regions: false,
        make,
    }
}

static WRONG: PassInfo = row("wrong", |_| Box::new(Wrong));
static CRASHING: PassInfo = row("crashing", |_| Box::new(Crashing));

/// An engine with wrong results for modules with a `Tanh`.
fn wrong_engine(g: &Graph, arrays: &Arrays) -> Result<Vec<Tensor>, String> {
    let mut results = interpreted(g, arrays)?;
    if g.walk().any(|op| g.def(op).name == "core.tanh") {
        results[0] = Tensor::of(vec![1], vec![1.0f32]);
    }
    Ok(results)
}

struct Nowhere;

impl FileSystem for Nowhere {
    fn read(&mut self, _: &Path, _: u64) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn read_stdin(&mut self, _: u64) -> io::Result<Vec<u8>> {
        Ok(Vec::new())
    }

    fn write(&mut self, _: &Path, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn create_dir(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

impl Host for Nowhere {
    fn stdout(&mut self) -> &mut dyn io::Write {
        unreachable!("nothing is printed")
    }

    fn stderr(&mut self) -> &mut dyn io::Write {
        unreachable!("nothing is printed")
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn stderr_is_terminal(&self) -> bool {
        false
    }
}

/// Calls `body` with an oracle for `test` that runs `pass` and `runner` in this process.
fn with_oracle<T>(
    pass: Option<&'static PassInfo>,
    runner: Runner,
    test: Test,
    body: impl FnOnce(&Oracle<'_>) -> T,
) -> T {
    let session = Session::default();
    let step = |pass| Step {
        pass,
        options: Options::new(pass, &[]),
    };
    let setup = Setup {
        pipeline: Pipeline {
            steps: pass.map(step).into_iter().collect(),
        },
        rewriting: RewriteOptions::default(),
        task: match test {
            Test::Command(_) => CaseTask::Output,
            Test::Crash => CaseTask::Passes,
            Test::Differs => CaseTask::Results,
        },
        engine: EngineKind::Interp,
        profile: Profile::default(),
        padding: Padding::default(),
    };
    let evaluate = |case: &Case<'_>, _: &mut dyn Host| {
        let mut stdout = Vec::new();
        case::evaluate(&setup, case, &runner, &mut stdout);
        let end = ProcessEnd::Code(0);
        Ok(Report::read(&Rerun { stdout, end }))
    };
    body(&Oracle {
        test,
        format: Format::Core.info(),
        setup: &setup,
        session: &session,
        verify: VerifyConfig::default(),
        evaluate: Box::new(evaluate),
        time: Duration::from_secs(1),
    })
}

fn module(oracle: &Oracle<'_>) -> Graph {
    let formats = &oracle.session.formats;
    let parsed = parse_and_verify(formats, MODULE, 0, &LoadOptions::default());
    parsed.unwrap_or_else(|found| panic!("{found:?}")).1
}

/// Returns the way in which a module is interesting, if it is.
fn kind(oracle: &Oracle<'_>, g: &Graph) -> Option<Interest> {
    oracle.kind(g, &mut Nowhere).expect("no command is run")
}

/// Returns the reduced module.
fn left(oracle: &Oracle<'_>) -> String {
    let g = module(oracle);
    let first = kind(oracle, &g);
    assert!(first.is_some());
    let mut holds = |g: &Graph| kind(oracle, g) == first;
    let small = reduce(&g, &Config::default(), &mut holds).graph;
    let text = oracle.session.formats.print(Format::Core, &small);
    text.expect("core ops")
}

#[test]
fn a_pass_that_changes_results() {
    let left = with_oracle(Some(&WRONG), Runner::Interpreter, Test::Differs, left);
    let expected =
        "%1 = Input {name=y} : tensor<f32[]>\n%3 = Sub (%1, %1) : tensor<f32[]>\noutputs: %3";
    assert_eq!(left, expected);
}

#[test]
fn a_pass_that_crashes() {
    let left = with_oracle(Some(&CRASHING), Runner::Interpreter, Test::Crash, left);
    let lines: Vec<&str> = left.lines().collect();
    assert_eq!(lines.len(), 3, "{left}");
    assert!(
        lines[1].contains("Exp") && lines[1].contains("f32[]"),
        "{left}"
    );
}

#[test]
fn an_engine_that_computes_something_else() {
    let left = with_oracle(None, Runner::Other(wrong_engine), Test::Differs, left);
    let lines: Vec<&str> = left.lines().collect();
    assert_eq!(lines.len(), 3, "{left}");
    assert!(
        lines[1].contains("Tanh") && lines[1].contains("f32[]"),
        "{left}"
    );
}

#[test]
fn an_engine_that_panics_has_no_results() {
    let panics: fn(&Graph, &Arrays) -> Result<Vec<Tensor>, String> = |_, _| panic!("planted");
    let found = with_oracle(None, Runner::Other(panics), Test::Differs, |oracle| {
        kind(oracle, &module(oracle))
    });
    assert_eq!(
        found,
        Some(Interest::Stopped(Stop::Panicked(Phase::Engine)))
    );
}

#[test]
fn sound_passes_and_engines_are_not_interesting() {
    let holds = |oracle: &Oracle<'_>| kind(oracle, &module(oracle)).is_some();
    let (interpreter, differs) = (Runner::Interpreter, Test::Differs);
    assert!(!with_oracle(None, interpreter, differs, holds));
    let (interpreter, crash) = (Runner::Interpreter, Test::Crash);
    assert!(!with_oracle(Some(&WRONG), interpreter, crash, holds));
    let engine = Runner::compiler().expect("an engine");
    assert!(!with_oracle(None, engine, Test::Differs, holds));
}

#[test]
fn a_crash_is_no_difference_of_results() {
    with_oracle(
        Some(&CRASHING),
        Runner::Interpreter,
        Test::Differs,
        |oracle| {
            let g = module(oracle);
            assert_eq!(kind(oracle, &g), None);
            let why = oracle.not_interesting(&g, &mut Nowhere).expect("a reason");
            assert_eq!(
                why.to_string(),
                "the module is not interesting: `@differs` does not hold for it; `crashing` panics, which \
                 `--test @crash` looks for"
            );
        },
    );
}

#[test]
fn the_first_bad_rewrite_is_named() {
    let text = with_oracle(Some(&WRONG), Runner::Interpreter, Test::Differs, |oracle| {
        let file = SourceFile::new("m.core", MODULE);
        let found = suspect::first_bad(&file, None, oracle, &mut Nowhere);
        found
            .unwrap_or_else(|trouble| panic!("{trouble}"))
            .text("mind-opt m.core")
    });
    let expected = "rewrite 1 of 2 is the first bad one\n  wrong: sub-is-add: core.sub %3 at m.core:4 -> core.add %8\n\
                    replay: mind-opt m.core\n";
    assert_eq!(text, expected);
}

#[test]
fn a_fault_without_rewrites_is_blamed_on_none() {
    with_oracle(
        Some(&CRASHING),
        Runner::Interpreter,
        Test::Crash,
        |oracle| {
            let file = SourceFile::new("m.core", MODULE);
            let found = suspect::first_bad(&file, None, oracle, &mut Nowhere);
            assert!(found.is_err_and(|trouble| trouble.to_string().contains("before any rewrite")));
        },
    );
}
