//! The thread pool with callers that are concurrent, late or repeated, and with tasks that panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Duration;

use mind_jit::pool::{Pool, share};

fn counters(count: usize) -> Vec<AtomicUsize> {
    (0..count).map(|_| AtomicUsize::new(0)).collect()
}

#[test]
fn each_task_runs_once_and_what_it_wrote_can_be_read() {
    for threads in [0, 1, 2, 3, 8] {
        let pool = Pool::new(threads);
        assert_eq!(pool.threads(), threads.max(1));
        for tasks in [0, 1, 2, 3, 7, 8, 100] {
            let runs = counters(tasks);
            // Relaxed, so that only the pool orders the writes before the reads.
            pool.run(tasks, &|task| {
                runs[task].fetch_add(1, Relaxed);
            });
            let runs: Vec<usize> = runs.iter().map(|runs| runs.load(Relaxed)).collect();
            assert_eq!(runs, vec![1; tasks], "{tasks} tasks on {threads} threads");
        }
    }
}

#[test]
fn tasks_of_a_share_run_in_order_on_one_thread() {
    let pool = Pool::new(3);
    for _ in 0..50 {
        let seen = Mutex::new(Vec::new());
        pool.run(20, &|task| {
            seen.lock().unwrap().push((task, thread::current().id()));
        });
        let seen = seen.into_inner().unwrap();
        for part in 0..3 {
            let range = share(20, 3, part);
            let mine: Vec<_> = seen
                .iter()
                .filter(|(task, _)| range.contains(task))
                .collect();
            assert!(
                mine.windows(2)
                    .all(|pair| pair[0].0 < pair[1].0 && pair[0].1 == pair[1].1)
            );
        }
    }
}

#[test]
fn tasks_run_side_by_side() {
    let pool = Pool::new(4);
    for _ in 0..100 {
        // The barrier blocks until all four tasks run, so each needs a thread of its own.
        let barrier = Barrier::new(4);
        pool.run(4, &|_| {
            barrier.wait();
        });
    }
}

#[test]
fn sleeping_threads_are_woken() {
    let pool = Pool::new(2);
    for _ in 0..20 {
        thread::sleep(Duration::from_micros(300));
        let barrier = Barrier::new(2);
        pool.run(2, &|_| {
            barrier.wait();
        });
    }
}

#[test]
fn a_caller_that_has_to_wait_long_is_woken() {
    let pool = Pool::new(2);
    for _ in 0..10 {
        let (barrier, done) = (Barrier::new(2), AtomicUsize::new(0));
        pool.run(2, &|task| {
            barrier.wait();
            thread::sleep(Duration::from_micros(500 * task as u64));
            done.fetch_add(1, Relaxed);
        });
        assert_eq!(done.load(Relaxed), 2);
    }
}

#[test]
fn callers_that_come_at_once_all_get_their_work_done() {
    let pool = Pool::new(3);
    thread::scope(|scope| {
        for caller in 0..4 {
            let pool = &pool;
            scope.spawn(move || {
                for round in 0..2000 {
                    let tasks = (caller * 7 + round) % 9;
                    let sum = AtomicUsize::new(0);
                    pool.run(tasks, &|task| {
                        sum.fetch_add(task + 1, Relaxed);
                    });
                    assert_eq!(sum.load(Relaxed), tasks * (tasks + 1) / 2);
                }
            });
        }
    });
}

#[test]
fn a_task_may_use_the_pool_itself() {
    let pool = Pool::new(3);
    let runs = counters(12);
    pool.run(3, &|outer| {
        pool.run(4, &|inner| {
            runs[4 * outer + inner].fetch_add(1, Relaxed);
        });
    });
    assert!(runs.iter().all(|runs| runs.load(Relaxed) == 1));
}

#[test]
fn the_panic_of_the_lowest_share_goes_on_in_the_caller_and_the_pool_stays_usable() {
    let pool = Pool::new(4);
    for round in 0..200 {
        // Four shares of three tasks, of which the second panics.
        let runs = counters(12);
        let panicking = [1 + 3 * (round % 2), 10];
        let caught = catch_unwind(AssertUnwindSafe(|| {
            pool.run(12, &|task| {
                runs[task].fetch_add(1, Relaxed);
                if panicking.contains(&task) {
                    // Unlike `panic!`, this does not print a message.
                    std::panic::resume_unwind(Box::new(task));
                }
            });
        }));
        let payload = caught.expect_err("two tasks panic");
        assert_eq!(payload.downcast_ref(), Some(&panicking[0]));
        for (task, runs) in runs.iter().enumerate() {
            let is_left_out = panicking.contains(&task.wrapping_sub(1));
            assert_eq!(runs.load(Relaxed), usize::from(!is_left_out), "task {task}");
        }
    }
    let runs = AtomicUsize::new(0);
    pool.run(10, &|_| {
        runs.fetch_add(1, Relaxed);
    });
    assert_eq!(runs.into_inner(), 10);
}

#[test]
fn pools_end_while_their_threads_spin_or_sleep() {
    for pause in [0, 200] {
        for _ in 0..50 {
            let pool = Pool::new(3);
            pool.run(3, &|_| {});
            thread::sleep(Duration::from_micros(pause));
            drop(pool);
        }
    }
}
