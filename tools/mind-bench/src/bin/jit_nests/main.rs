//! Speed of compiled nests compared with the same loops in intrinsics, and with copying memory.
//!
//! ```text
//! cargo rustc --release -p mind-bench --bin jit_nests -- -C target-cpu=native
//! target/release/jit_nests [FILTER [ISA]]
//! ```
//!
//! Runs of both alternate on one thread. Times are medians; `ratio` is the median of the ratios of neighbouring runs,
//! above 1 if the compiled nest is faster. Results are also compared, because the intrinsics take the same steps. The
//! percentage is relative to the speed at which this machine copies the same number of bytes. Compile time is from the
//! nest to executable pages, in a warm process.

mod functions;
mod programs;

#[cfg(target_arch = "x86_64")]
mod intrinsics;
#[cfg(target_arch = "x86_64")]
mod peers;

use std::time::Instant;

use mind_bench::median;
use mind_bench::pages::Pages;
use mind_jit::lower::nest::{self, Columns, Nest};
use mind_vir::ir::{Function, Signature};
use mind_vir::kernel::CompiledKernel;
use mind_vir::target::TargetInfo;

/// Returns `count` numbers from -4 to 4.
fn numbers(count: usize) -> Pages {
    let mut pages = Pages::new(4 * count);
    for (at, x) in pages.f32_mut().iter_mut().enumerate() {
        *x = (at % 4001) as f32 * 0.002 - 4.0;
    }
    pages
}

/// The compiled program.
enum Program {
    Rows(Nest),
    Columns(Columns),
}

/// The implementation in intrinsics: inputs, output.
type Peer = fn(&[&[f32]], &mut [f32]);

/// A row of the table.
struct Case {
    name: String,
    program: Program,
    /// Elements of each input and of the output, in units of `f32`.
    inputs: Vec<usize>,
    output: usize,
    /// Bytes read and written.
    bytes: usize,
    peer: Option<Peer>,
}

fn function(program: &Program, target: &TargetInfo) -> (Function, usize) {
    let (lanes, inputs, rows) = match program {
        Program::Rows(n) => (nest::lanes(n, target), n.inputs.len(), n.outer.first()),
        Program::Columns(c) => (
            nest::columns_lanes(c, target),
            c.inputs.len(),
            c.outer.first(),
        ),
    };
    let mut signature = Signature::new("nest", lanes);
    let inputs: Vec<_> = (0..inputs).map(|_| signature.ptr()).collect();
    let output = [signature.ptr()];
    let (begin, end) = (signature.index(), signature.index());
    let mut b = signature.body();
    match program {
        Program::Rows(n) => nest::nest(&mut b, n, &inputs, &output, (begin, end)),
        Program::Columns(c) => nest::columns(&mut b, c, &inputs, &output, (begin, end)),
    }
    (b.finish(), rows.copied().unwrap_or(1))
}

/// Returns the seconds of one call, timed in batches that are long enough for the clock.
fn time(calls: usize, call: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        call();
    }
    start.elapsed().as_secs_f64() / calls as f64
}

/// Returns the gigabytes per second of a copy that reads and writes `bytes` bytes in total.
fn copy_speed(bytes: usize) -> f64 {
    let from = numbers(bytes / 8);
    let mut to = numbers(bytes / 8);
    let mut copy = || copy(from.f32(), to.f32_mut());
    let calls = (40_000_000 / bytes).max(1);
    let times: Vec<f64> = (0..15).map(|_| time(calls, &mut copy)).collect();
    bytes as f64 / median(times) / 1e9
}

#[cfg(target_arch = "x86_64")]
fn copy(from: &[f32], to: &mut [f32]) {
    intrinsics::copy(from, to);
}

#[cfg(not(target_arch = "x86_64"))]
fn copy(from: &[f32], to: &mut [f32]) {
    to.copy_from_slice(from);
}

fn run(case: &Case, target: &TargetInfo) {
    let compile = || {
        let (function, ..) = function(&case.program, target);
        CompiledKernel::compile(&function, target.isa).expect("the nest compiles")
    };
    let compiling: Vec<f64> = (0..30).map(|_| time(1, &mut || drop(compile()))).collect();
    let (code, rows) = function(&case.program, target);
    let kernel = CompiledKernel::compile(&code, target.isa).expect("the nest compiles");
    let inputs: Vec<Pages> = case.inputs.iter().map(|&count| numbers(count)).collect();
    let output = numbers(case.output);
    let mut other = numbers(case.output);
    let memory = code.scratch().map(|scratch| Pages::new(scratch.bytes));
    let mut args: Vec<u64> = inputs.iter().map(Pages::address).collect();
    args.extend([output.address(), 0, rows as u64]);
    args.extend(memory.as_ref().map(Pages::address));
    // SAFETY: the buffers have the sizes of the case, and scratch memory is not shared.
    let mut ours = || unsafe {
        kernel.call(&args);
    };
    let slices: Vec<&[f32]> = inputs.iter().map(Pages::f32).collect();
    let mut theirs = || {
        if let Some(peer) = case.peer {
            peer(&slices, other.f32_mut());
        }
    };
    ours();
    let calls = (1e-3 / time(3, &mut ours)).ceil() as usize;
    let rounds = 31;
    let (mut times, mut ratios, mut peers) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let mine = time(calls, &mut ours);
        let their = time(calls, &mut theirs);
        times.push(mine);
        peers.push(their);
        ratios.push(their / mine);
    }
    let (mine, their, ratio) = (median(times), median(peers), median(ratios));
    let speed = case.bytes as f64 / mine / 1e9;
    let share = 100.0 * speed / copy_speed(case.bytes);
    let elements = case.inputs[0] as f64 / mine / 1e9;
    print!(
        "{:24} {:9.2} us {elements:6.2} Gelem/s {speed:7.1} GB/s {share:4.0} %  compile {:6.0} us",
        case.name,
        1e6 * mine,
        1e6 * median(compiling),
    );
    match case.peer {
        Some(_) => {
            let pairs = output.f32().iter().zip(other.f32());
            let same = pairs.clone().all(|(x, y)| x.to_bits() == y.to_bits());
            let note = if same { "" } else { "  RESULTS DIFFER" };
            println!(
                "  intrinsics {:9.2} us, ratio {ratio:5.2}{note}",
                1e6 * their
            );
        }
        None => println!(),
    }
}

fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let isa = std::env::args().nth(2).map(|name| name.parse());
    let target = match isa {
        None => TargetInfo::detect(),
        Some(Ok(isa)) => TargetInfo::detected(isa),
        Some(Err(why)) => {
            eprintln!("error: {why}");
            return;
        }
    };
    let (l1, l2, l3) = (target.l1_bytes, target.l2_bytes, target.l3_bytes);
    println!("{}, caches of {l1}, {l2} and {l3} bytes", target.isa);
    for (name, bytes) in [
        ("L1", l1 / 2),
        ("L2", l2 / 2),
        ("L3", l3 / 2),
        ("DRAM", 4 * l3),
    ] {
        println!("copying within {name}: {:.1} GB/s", copy_speed(bytes));
    }
    let mut cases = programs::cases();
    cases.extend(functions::cases());
    for case in cases.iter().filter(|case| case.name.contains(&filter)) {
        run(case, &target);
    }
}
