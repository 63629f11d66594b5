//! Passes that end their process in different ways, reduced by the tool as a process.
//!
//! The test is also the tool: when called with the tool's arguments, it runs with the planted passes.

use std::hint::black_box;
use std::process::{Command, ExitCode, Output};
use std::time::Duration;

use mind_core::ops::elementwise::{Add, Exp, Sub};
use mind_ir::Graph;
use mind_ir::builder::Builder;
use mind_ir::listener::{Rewrite, Step};
use mind_ir::opdef::Op;
use mind_pass::{Changed, Options, Pass, PassCx, PassError, PassInfo, PassRegistry};

const MODULE: &str = "\
%0 = Input {name=x} : tensor<f32[8, 16]>
%1 = Tanh (%0) : tensor<f32[8, 16]>
%2 = Exp (%1) : tensor<f32[8, 16]>
%3 = Sub (%2, %1) : tensor<f32[8, 16]>
outputs: %3, %1
";

/// A pass that calls this function at `Exp`.
struct Fault(fn());

impl Pass for Fault {
    fn run(&self, g: &mut Graph, _: &mut PassCx<'_>) -> Result<Changed, PassError> {
        if g.walk().any(|op| g.is::<Exp>(op)) {
            (self.0)();
        }
        Ok(Changed::No)
    }
}

/// Replaces each `Sub` by `Add`, and ends the process before the second rewrite.
struct DiesAtSecond;

impl Pass for DiesAtSecond {
    fn run(&self, g: &mut Graph, cx: &mut PassCx<'_>) -> Result<Changed, PassError> {
        let ops: Vec<_> = g.walk().filter(|&op| g.is::<Sub>(op)).collect();
        for (index, op) in ops.into_iter().enumerate() {
            if !cx.watch.admit(&["sub-is-add"]) {
                continue;
            }
            if index == 1 {
                std::process::abort();
            }
            let operands = g.operands(op).to_vec();
            let sum = Builder::before(g, op).create(Add::DEF, &operands, &[]);
            let (old, new) = (g.result(op), g.result(sum.expect("a sum")));
            g.replace_all_uses(old, new);
            let rewrite = Rewrite {
                op,
                values: &[new],
                helpers: &[],
                steps: &[Step::built_in("sub-is-add", g.span(op))],
                cost: None,
            };
            cx.watch.applied(g, &rewrite);
            g.erase(op);
        }
        Ok(Changed::Yes)
    }
}

fn segfault() {
    let nowhere = std::ptr::without_provenance_mut::<u8>(8);
    // SAFETY: none, because the invalid write is the fault.
    unsafe { nowhere.write_volatile(1) };
}

fn overflow_the_stack() {
    fn deeper(depth: u64) -> u64 {
        let frame = black_box([depth; 512]);
        if frame[7] == u64::MAX {
            return 0;
        }
        1 + deeper(frame[7] + 1)
    }
    black_box(deeper(0));
}

fn take_all_memory() {
    let mut taken = Vec::new();
    loop {
        taken.push(black_box(vec![1u8; 16 << 20]));
    }
}

fn hang() {
    loop {
        std::thread::sleep(Duration::from_secs(60));
    }
}

const fn row(name: &'static str, make: fn(&Options) -> Box<dyn Pass>) -> PassInfo {
    PassInfo {
        name,
        alias: None,
        summary: "Ends the process",
        example: "",
        options: &[],
        enters_regions: false,
        make,
    }
}

static FAULTS: &[PassInfo] = &[
    row("segfault", |_| Box::new(Fault(segfault))),
    row("abort", |_| Box::new(Fault(|| std::process::abort()))),
    row("exit", |_| Box::new(Fault(|| std::process::exit(0)))),
    row("overflow", |_| Box::new(Fault(overflow_the_stack))),
    row("memory", |_| Box::new(Fault(take_all_memory))),
    row("panic", |_| Box::new(Fault(|| panic!("planted")))),
    row("hang", |_| Box::new(Fault(hang))),
];

static PASSES: PassRegistry =
    PassRegistry::new(&[FAULTS, &[row("dies-at-second", |_| Box::new(DiesAtSecond))]]);

/// Runs the tool on a module.
fn reduce(module: &str, args: &[&str]) -> Output {
    let folder = std::env::temp_dir();
    let path = folder.join(format!("mind-reduce-faults-{}.core", std::process::id()));
    std::fs::write(&path, module).expect("a file");
    let this = std::env::current_exe().expect("this program");
    let mut command = Command::new(this);
    if !args.iter().any(|arg| arg.starts_with("--test=")) {
        command.arg("--test=@crash");
    }
    command
        .args(args)
        .args(["--time-limit=1", "--memory-limit=512M"]);
    let output = command.arg(&path).output();
    std::fs::remove_file(path).expect("the file is ours");
    output.expect("a process")
}

/// Each fault is found, reduced to the op that causes it, and does not end the tool.
fn every_fault_is_reduced() {
    for fault in FAULTS.iter().map(|fault| fault.name) {
        let pipeline = format!("--pass-pipeline={fault}");
        // A hanging case takes its whole time limit, so only a few are run.
        let trials = if fault == "hang" {
            "--trials=3"
        } else {
            "--trials=1000"
        };
        let output = reduce(MODULE, &[&pipeline, trials]);
        let (left, notes) = texts(&output);
        assert!(output.status.success(), "{fault}: {notes}");
        assert!(left.contains("Exp"), "{fault}: {left}");
        let most = if fault == "hang" { 5 } else { 3 };
        assert!(left.lines().count() <= most, "{fault}: {left}");
    }
}

/// Other faults than the expected one are reported.
fn other_ends_are_named() {
    let ends = [
        ("segfault", "`segfault` is ended by signal 11, which"),
        ("exit", "`exit` ends the process with code 0, which"),
        ("hang", "`hang` takes longer than `--time-limit`, which"),
    ];
    for (fault, said) in ends {
        let pipeline = format!("--pass-pipeline={fault}");
        let output = reduce(MODULE, &["--test=@differs", &pipeline]);
        let (_, notes) = texts(&output);
        assert_eq!(output.status.code(), Some(1), "{fault}: {notes}");
        assert!(notes.contains(said), "{fault}: {notes}");
    }
}

/// A rewrite that ends the process before it is made is found by its number.
fn a_rewrite_that_dies_is_found() {
    let module = "%0 = Input {name=x} : tensor<f32[]>\n%1 = Sub (%0, %0)\n%2 = Sub (%1, %0)\n%3 = Sub (%2, %0)\noutputs: %3\n";
    let output = reduce(module, &["--pass-pipeline=dies-at-second", "--bisect"]);
    let (found, notes) = texts(&output);
    assert!(
        found.starts_with("rewrite 2 of 2 is the first bad one\n"),
        "{found}{notes}"
    );
}

/// A command that exceeds its time is killed together with its child processes, and the candidate is rejected.
#[cfg(unix)]
fn a_command_has_its_time() {
    let started = std::time::Instant::now();
    let groups = std::env::temp_dir().join(format!("mind-reduce-groups-{}", std::process::id()));
    let hang = format!("echo $$ >> {}; sleep 600 & wait", groups.display());
    let test = format!("--test=if grep -q Sub {{}}; then true; else {hang}; fi");
    let output = reduce(MODULE, &[&test, "--trials=6"]);
    let (left, notes) = texts(&output);
    assert!(
        output.status.success() && left.contains("Sub"),
        "{left}{notes}"
    );
    let output = reduce(MODULE, &[&format!("--test={hang}; true")]);
    let (_, notes) = texts(&output);
    assert_eq!(output.status.code(), Some(1), "{notes}");
    let said = "the command takes longer than 1 s, see `--time-limit`";
    assert!(notes.contains(said), "{notes}");
    assert!(started.elapsed() < Duration::from_secs(120));
    let list = std::fs::read_to_string(&groups).expect("a list");
    std::fs::remove_file(groups).expect("the file is ours");
    assert!(list.lines().count() >= 2, "{list}");
    for group in list.lines() {
        let mut probe = Command::new("sh");
        let probe = probe.args(["-c", &format!("kill -0 -- -{group} 2> /dev/null")]);
        assert!(!probe.status().expect("a shell").success(), "{group} lives");
    }
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

fn main() -> ExitCode {
    let is_tool = |arg: String| arg.starts_with("--test=") || arg == "--case";
    if std::env::args().nth(1).is_some_and(is_tool) {
        let is_planted = |arg: String| arg.starts_with("--pass-pipeline=") || arg == "--case";
        if !std::env::args().any(is_planted) {
            return mind_host::main(mind_reduce::run);
        }
        return mind_host::main(|args, host| mind_reduce::run_with(&PASSES, args, host));
    }
    every_fault_is_reduced();
    other_ends_are_named();
    a_rewrite_that_dies_is_found();
    #[cfg(unix)]
    a_command_has_its_time();
    ExitCode::SUCCESS
}
