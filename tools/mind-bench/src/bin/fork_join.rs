//! Overhead of passing work to the threads of a pool and waiting for them.
//!
//! ```text
//! cargo run --release -p mind-bench --bin fork_join
//! ```
//!
//! Medians of 1000 calls, compared with `std::thread::scope`. *warm*: calls follow each other immediately. *asleep*: a
//! pause before each call lets the threads go to sleep. *speedup*: a purely arithmetic task per thread, relative to
//! running the same tasks sequentially; meaningless on a busy machine. *fork-join*: the time of such a call minus that
//! of a single task, the minimum and the median; if it is close to the time of a task, the caller has run more than its
//! own task.

use std::hint::black_box;
use std::time::{Duration, Instant};

use mind_jit::pool::Pool;

/// Returns the median time of `calls` calls, in microseconds.
fn median(calls: usize, mut call: impl FnMut() -> Duration) -> f64 {
    let mut times: Vec<Duration> = (0..calls).map(|_| call()).collect();
    times.sort();
    times[calls / 2].as_secs_f64() * 1e6
}

fn timed(f: impl FnOnce()) -> Duration {
    let start = Instant::now();
    f();
    start.elapsed()
}

/// Computes a chain of `steps` multiply-adds.
fn work(steps: u64) {
    let mut x = 1.0f64;
    for _ in 0..steps {
        x = black_box(x * 0.999 + 0.5);
    }
}

fn main() {
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    println!("median of 1000 calls, us; {most} processors");
    let empty: &(dyn Fn(usize) + Sync) = &|task| {
        black_box(task);
    };
    for threads in 1..=most.min(4) {
        let pool = Pool::new(threads);
        // Calls are timed in batches, because reading the clock takes as long as a call.
        let warm = median(1000, || {
            timed(|| (0..10).for_each(|_| pool.run(threads, empty)))
        }) / 10.0;
        let asleep = median(1000, || {
            std::thread::sleep(Duration::from_micros(200));
            timed(|| pool.run(threads, empty))
        });
        let scope = median(1000, || {
            timed(|| {
                std::thread::scope(|scope| {
                    (1..threads).for_each(|task| drop(scope.spawn(move || empty(task))));
                });
            })
        });
        println!("{threads} threads: warm {warm:8.3}  asleep {asleep:8.3}  scope {scope:8.3}");
        for steps in [500, 2000, 10_000, 100_000] {
            let alone = median(200, || timed(|| (0..threads).for_each(|_| work(steps))));
            let mut shared: Vec<Duration> = (0..200)
                .map(|_| timed(|| pool.run(threads, &|_| work(steps))))
                .collect();
            shared.sort();
            let [least, shared] = [0, 100].map(|at| shared[at].as_secs_f64() * 1e6);
            let spawned = median(200, || {
                timed(|| {
                    std::thread::scope(|scope| {
                        (1..threads).for_each(|_| drop(scope.spawn(|| work(steps))));
                        work(steps);
                    });
                })
            });
            println!(
                "  {threads} tasks of {:9.2} us: speedup {:.2}, scope {:.2}; fork-join {:.2} to {:.2} us",
                alone / threads as f64,
                alone / shared,
                alone / spawned,
                least - alone / threads as f64,
                shared - alone / threads as f64,
            );
        }
    }
}
