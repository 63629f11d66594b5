//! Thread pool that runs the tasks of a kernel in parallel.
//!
//! - [`Pool`]: persistent threads and the jobs they run.
//! - [`share`]: assignment of tasks to threads.

mod shared;
mod spin;

use std::ops::Range;
use std::sync::Arc;
use std::thread::JoinHandle;

use shared::{Shared, Task};

/// Persistent threads among which tasks are divided.
///
/// The thread that calls [`run`](Pool::run) takes part, so a pool of one thread spawns none. Idle workers spin for some
/// tens of microseconds and sleep after that.
///
/// A pool can be used from several threads concurrently: one caller gets the workers; other callers, and tasks that
/// call `run` themselves, run their tasks serially. A forked child also runs its tasks serially, because it has only
/// the forking thread.
#[derive(Debug)]
pub struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    /// The process that started the threads.
    process: u32,
}

impl Pool {
    /// Creates a pool of `threads` threads, including the caller of [`run`](Pool::run); 0 counts as 1.
    ///
    /// The pool is smaller if the system refuses to start a thread; [`threads`](Pool::threads) returns the actual
    /// number.
    pub fn new(threads: usize) -> Pool {
        let wanted = threads.max(1);
        let mut handles = Vec::new();
        let mut starting = Vec::new();
        for share in 1..wanted {
            // The shared state is sent to the workers once their number is known.
            let (sender, receiver) = std::sync::mpsc::channel::<Arc<Shared>>();
            let builder = std::thread::Builder::new().name(format!("mind-pool-{share}"));
            let spawned = builder.spawn(move || {
                if let Ok(shared) = receiver.recv() {
                    shared.work(share);
                }
            });
            let Ok(handle) = spawned else { break };
            handles.push(handle);
            starting.push(sender);
        }
        let sleepers = handles.iter().map(|handle| handle.thread().clone());
        let shared = Arc::new(Shared::new(sleepers.collect()));
        for sender in starting {
            // The receiver waits for exactly this message.
            let _ = sender.send(Arc::clone(&shared));
        }
        Pool {
            shared,
            workers: handles,
            process: std::process::id(),
        }
    }

    /// Returns the number of threads, including the caller.
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Calls `task` once for each number below `tasks` and returns when all calls have returned.
    ///
    /// Thread `n` of `t` runs the tasks [`share(tasks, t, n)`](share) in ascending order, where `t` is the smaller of
    /// the number of threads and the number of tasks. If a thread has not started its share when the caller has
    /// finished its own, the caller takes that share, so a busy machine does not delay the call. Work that needs
    /// per-thread memory is therefore run with one task per thread: with `tasks` = [`threads`](Pool::threads), task `n`
    /// runs share `n` and has memory `n` exclusively, whichever thread runs it.
    ///
    /// # Panics
    ///
    /// If a task panics. The remaining tasks of its share are skipped, the other shares are run, and then the panic of
    /// the lowest share resumes in the caller.
    pub fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        let parts = self.threads().min(tasks);
        if parts <= 1 || !self.shared.try_begin() {
            (0..tasks).for_each(task);
            return;
        }
        self.shared.run(Task::new(task, tasks, parts));
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // A forked child has the handles but not the threads: joining one would wait forever.
            std::mem::forget(std::mem::take(&mut self.workers));
            return;
        }
        self.shared.stop();
        for worker in self.workers.drain(..) {
            // Workers catch the panics of tasks and do not panic themselves.
            let _ = worker.join();
        }
    }
}

/// Returns the tasks of one of `parts` threads that share `tasks` tasks: a contiguous range. The sizes of the shares
/// differ by at most one; for example 7 tasks in 3 parts are 0..3, 3..5 and 5..7.
///
/// # Panics
///
/// If `parts` is 0.
pub fn share(tasks: usize, parts: usize, part: usize) -> Range<usize> {
    let (each, left) = (tasks / parts, tasks % parts);
    let start = part * each + part.min(left);
    start..start + each + usize::from(part < left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_consecutive_and_even() {
        for tasks in 0..40 {
            for parts in 1..9 {
                let mut next = 0;
                for part in 0..parts {
                    let range = share(tasks, parts, part);
                    assert_eq!(range.start, next);
                    let length = range.len();
                    assert!(length == tasks / parts || length == tasks.div_ceil(parts));
                    next = range.end;
                }
                assert_eq!(next, tasks);
            }
        }
    }

    /// Waits for a child for up to ten seconds; returns its status, or `None` if it was still running and was killed.
    #[cfg(unix)]
    fn wait(child: libc::pid_t) -> Option<libc::c_int> {
        let mut status = 0;
        for _ in 0..1000 {
            // SAFETY: the pid is a child of this process, and the status outlives the call.
            if unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } == child {
                return Some(status);
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        // SAFETY: as above.
        unsafe {
            libc::kill(child, libc::SIGKILL);
            libc::waitpid(child, &mut status, 0);
        }
        None
    }

    #[test]
    #[cfg(unix)]
    fn a_forked_child_runs_tasks_and_drops_the_pool() {
        use std::panic::{AssertUnwindSafe, catch_unwind};
        use std::sync::atomic::{AtomicUsize, Ordering};

        let pool = Pool::new(3);
        let work = |pool: &Pool| {
            let done = AtomicUsize::new(0);
            pool.run(7, &|_| {
                done.fetch_add(1, Ordering::Relaxed);
            });
            done.into_inner()
        };
        assert_eq!(work(&pool), 7);
        // SAFETY: the child calls the function under test, on memory of its own, and exits without destructors.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let ran = catch_unwind(AssertUnwindSafe(|| {
                let done = work(&pool);
                drop(pool);
                done == 7
            }));
            // SAFETY: only exits the child.
            unsafe { libc::_exit(i32::from(!matches!(ran, Ok(true)))) };
        }
        assert_eq!(wait(child), Some(0));
        assert_eq!(work(&pool), 7);
    }
}
