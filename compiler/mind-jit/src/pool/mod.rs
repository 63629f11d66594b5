//! A pool of threads that run the tasks of a kernel side by side.
//!
//! - [`Pool`]: persistent threads, and the tasks they are given.
//! - [`share`]: which tasks a thread is given.

mod shared;
mod spin;

use std::ops::Range;
use std::sync::Arc;
use std::thread::JoinHandle;

use shared::{Shared, Task};

/// Persistent threads among which tasks are divided.
///
/// The thread that calls [`run`](Pool::run) takes part, so a pool of one has no threads of its own. The
/// others wait for the next call by spinning for some tens of microseconds, and sleep after that.
///
/// A pool can be used from several threads at once: one caller gets the threads, and the others, as well as
/// a task that calls `run` itself, do their tasks alone. So does a forked child, which has no threads but one.
#[derive(Debug)]
pub struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    /// The process that started the threads.
    process: u32,
}

impl Pool {
    /// A pool of `threads` threads, of which the caller of [`run`](Pool::run) is one; 0 counts as 1.
    ///
    /// There are fewer where the system refuses more; [`threads`](Pool::threads) says how many.
    pub fn new(threads: usize) -> Pool {
        let wanted = threads.max(1);
        let mut handles = Vec::new();
        let mut starting = Vec::new();
        for share in 1..wanted {
            // Workers learn of the shared state when it is known how many there are.
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
            // The receiver waits for just this message.
            let _ = sender.send(Arc::clone(&shared));
        }
        Pool {
            shared,
            workers: handles,
            process: std::process::id(),
        }
    }

    /// How many threads there are, that of the caller included.
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Calls `task` with each number below `tasks` once, and returns when all calls have.
    ///
    /// Thread `n` of `t` is given the tasks [`share(tasks, t, n)`](share), in ascending order, `t` being the
    /// number of threads or of tasks, whichever is less. A thread that has not started when the caller is
    /// through with its own tasks loses them to the caller, so a busy machine does not hold up a call.
    /// Work that needs memory for each thread is therefore given out as one task for each: with `tasks` =
    /// [`threads`](Pool::threads), task `n` does share `n` and has memory `n` to itself, whoever runs it.
    ///
    /// # Panics
    ///
    /// If a task does: the others of its share are left out, the other shares are run, and then the panic of
    /// the lowest share goes on in the caller.
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
            // A forked child has the handles and not the threads: joining one would wait forever.
            std::mem::forget(std::mem::take(&mut self.workers));
            return;
        }
        self.shared.stop();
        for worker in self.workers.drain(..) {
            // A worker catches the panics of tasks and has none of its own.
            let _ = worker.join();
        }
    }
}

/// The tasks of one of `parts` threads when `tasks` tasks are divided: consecutive, and as many for each as
/// for any other, give or take one.
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

    /// Waits for a child for ten seconds; returns its status, or `None` if it is still running and was ended.
    #[cfg(unix)]
    fn wait(child: libc::pid_t) -> Option<libc::c_int> {
        let mut status = 0;
        for _ in 0..1000 {
            // SAFETY: the child is one of this process, and the status outlives the call.
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
            // SAFETY: ends the child.
            unsafe { libc::_exit(i32::from(!matches!(ran, Ok(true)))) };
        }
        assert_eq!(wait(child), Some(0));
        assert_eq!(work(&pool), 7);
    }
}
