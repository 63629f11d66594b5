//! Peak heap per op, from parsing to printing, for canonicalize, cse and dce, and for fold and fuse: `cargo run
//! --release -p mind-bench --bin memory`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mind_bench::generate::{layered, transformer};
use mind_driver::host::{FileSystem, Host};

struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is forwarded to the system allocator; only counters are added.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A host that reads one text and discards all output.
struct Sink {
    input: Vec<u8>,
    out: std::io::Sink,
}

impl FileSystem for Sink {
    fn read(&mut self, _: &Path, _: u64) -> std::io::Result<Vec<u8>> {
        Ok(std::mem::take(&mut self.input))
    }

    fn read_stdin(&mut self, limit: u64) -> std::io::Result<Vec<u8>> {
        self.read(Path::new("-"), limit)
    }

    fn write(&mut self, _: &Path, _: &[u8]) -> std::io::Result<()> {
        Ok(())
    }

    fn create_dir(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

impl Host for Sink {
    fn stdout(&mut self) -> &mut dyn std::io::Write {
        &mut self.out
    }

    fn stderr(&mut self) -> &mut dyn std::io::Write {
        &mut self.out
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn stderr_is_terminal(&self) -> bool {
        false
    }
}

fn main() {
    let clean: &[&str] = &["--canonicalize", "--cse", "--dce"];
    let rewrite: &[&str] = &["--fold", "--fuse"];
    type Generator = fn(usize) -> String;
    let models: [(&str, Generator, &[&str]); 3] = [
        ("layered", layered, clean),
        ("layered", layered, rewrite),
        ("transformer", transformer, rewrite),
    ];
    let mut table = io::stdout();
    let (model, ops, most, each) = ("model", "ops", "peak bytes", "bytes per op");
    // Write errors are ignored, because a reader may close the pipe early.
    let _ = writeln!(
        table,
        "{model:>11}  {ops:>8}  {most:>10}  {each:>12}  passes"
    );
    for (model, generate, passes) in models {
        for ops in [1_000, 10_000, 100_000] {
            let peak = peak(generate(ops), passes);
            let (each, passes) = (peak / ops, passes.join(" "));
            let _ = writeln!(
                table,
                "{model:>11}  {ops:>8}  {peak:>10}  {each:>12}  {passes}"
            );
        }
    }
}

/// Returns the peak heap size without the input, from reading it to printing the result.
fn peak(text: String, passes: &[&str]) -> usize {
    let mut host = Sink {
        input: text.into_bytes(),
        out: std::io::sink(),
    };
    let before = LIVE.load(Ordering::Relaxed) - host.input.len();
    PEAK.store(LIVE.load(Ordering::Relaxed), Ordering::Relaxed);
    let args = ["--no-input-limits"].iter().chain(passes).chain(&["-"]);
    let args: Vec<String> = args.map(|arg| (*arg).to_owned()).collect();
    assert_eq!(mind_opt::run(&args, &mut host), 0);
    PEAK.load(Ordering::Relaxed) - before
}
