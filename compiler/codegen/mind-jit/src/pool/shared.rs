//! State shared by the threads of a pool, and the protocol between them.
//!
//! A call is a *job*, and jobs are numbered from 1. A job is divided into shares, one per thread; share 0 belongs to
//! the caller. Each share has a ticket: the number of the last job for which the share was claimed. A share is claimed
//! with a compare-and-swap from the previous job number to the current one, so each share of each job is run by exactly
//! one thread: its own, or the caller if that comes first. A worker with an outdated job number fails the
//! compare-and-swap and claims nothing.
//!
//! The job is read without a lock. The caller writes it before it publishes the number (release), and a worker reads it
//! after it has loaded the number (acquire) and claimed a share. The job is not overwritten while it runs, because the
//! caller waits until `pending` is 0: workers decrement it when they finish (release), and only after that (acquire)
//! the caller writes the next job.
//!
//! No wake-up is lost, because a sleeper sets its flag and then rechecks the condition, while the other side changes
//! the condition and then checks the flag. Both are sequentially consistent, so at least one of them sees the other. A
//! spurious wake-up rechecks and sleeps again.

use std::any::Any;
use std::cell::UnsafeCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};

use super::share;
use super::spin::spin_until;

/// The job number that tells workers to end.
const STOP: u64 = u64::MAX;

/// The work of a job.
#[derive(Clone, Copy)]
pub(super) struct Task {
    /// Valid until the last share of the job has finished.
    call: *const (dyn Fn(usize) + Sync),
    tasks: usize,
    parts: usize,
}

impl Task {
    /// Creates a task of `tasks` calls in `parts` shares.
    pub(super) fn new(call: &(dyn Fn(usize) + Sync), tasks: usize, parts: usize) -> Task {
        let call: *const (dyn Fn(usize) + Sync + '_) = call;
        // SAFETY: only the lifetime changes, and nothing is called after `Shared::run` returns, which borrows `call`
        // for longer.
        let call: *const (dyn Fn(usize) + Sync) = unsafe { std::mem::transmute(call) };
        Task { call, tasks, parts }
    }
}

/// A value padded to two cache lines, because processors prefetch lines in pairs; avoids false sharing.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Padded<T>(T);

/// A thread of the pool other than the caller.
struct Worker {
    thread: Thread,
    is_asleep: Padded<AtomicBool>,
}

type Payload = Box<dyn Any + Send>;

/// The state of a pool.
pub(super) struct Shared {
    /// The number of the last published job.
    job: Padded<AtomicU64>,
    /// Unfinished shares of the job.
    pending: Padded<AtomicUsize>,
    /// Whether a caller holds the workers.
    is_busy: Padded<AtomicBool>,
    /// The job.
    task: UnsafeCell<Option<Task>>,
    /// Per share, the last job for which it was claimed; the entry of the caller is unused.
    tickets: Vec<Padded<AtomicU64>>,
    /// Worker `n` runs share `n + 1`.
    workers: Vec<Worker>,
    /// Whether the caller is asleep.
    is_awaited: AtomicBool,
    /// The caller, if it is asleep.
    caller: Mutex<Option<Thread>>,
    /// The panic of the lowest share that panicked.
    panic: Mutex<Option<(usize, Payload)>>,
}

// SAFETY: `task` is written by the caller that holds `is_busy`, while no share of a job is claimed, and read by threads
// that have claimed one; see the module documentation. Its pointee is `Sync`.
unsafe impl Sync for Shared {}
// SAFETY: as above; nothing is bound to the thread that created it.
unsafe impl Send for Shared {}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let jobs = self.job.0.load(Relaxed);
        (f.debug_struct("Shared").field("jobs", &jobs)).finish_non_exhaustive()
    }
}

/// Locks a mutex and ignores poisoning, because no code panics while it holds one of these locks.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Creates the state of a pool with these workers.
    pub(super) fn new(workers: Vec<Thread>) -> Shared {
        let sleepers = workers.into_iter().map(|thread| Worker {
            thread,
            is_asleep: Padded::default(),
        });
        let workers: Vec<Worker> = sleepers.collect();
        Shared {
            job: Padded::default(),
            pending: Padded::default(),
            is_busy: Padded::default(),
            task: UnsafeCell::new(None),
            tickets: (0..=workers.len()).map(|_| Padded::default()).collect(),
            workers,
            is_awaited: AtomicBool::new(false),
            caller: Mutex::new(None),
            panic: Mutex::new(None),
        }
    }

    /// Tries to reserve the workers. If it returns true, the calling thread holds them and must call `run`.
    pub(super) fn try_begin(&self) -> bool {
        let taken = self
            .is_busy
            .0
            .compare_exchange(false, true, Acquire, Relaxed);
        taken.is_ok()
    }

    /// Runs all shares of `task`, on the workers and on this thread.
    ///
    /// The panic of a task resumes here once all shares have finished.
    pub(super) fn run(&self, task: Task) {
        let job = self.job.0.load(Relaxed) + 1;
        // SAFETY: all shares of the previous job have finished, and none of this job can be claimed before it is
        // published.
        unsafe { *self.task.get() = Some(task) };
        self.pending.0.store(task.parts, Relaxed);
        for ticket in &self.tickets[task.parts..] {
            // This job does not have the share.
            ticket.0.store(job, Relaxed);
        }
        self.job.0.store(job, SeqCst);
        for worker in &self.workers[..task.parts - 1] {
            if worker.is_asleep.0.load(SeqCst) {
                worker.thread.unpark();
            }
        }
        self.run_share(task, 0);
        for share in 1..task.parts {
            if self.take(share, job) {
                self.run_share(task, share);
            }
        }
        self.wait_for_all();
        let panic = locked(&self.panic).take();
        self.is_busy.0.store(false, Release);
        if let Some((_, payload)) = panic {
            resume_unwind(payload);
        }
    }

    /// Claims a share of the job; returns false if another thread has claimed it.
    fn take(&self, share: usize, job: u64) -> bool {
        let ticket = &self.tickets[share].0;
        // Relaxed, because the job is published through its number; the ticket carries no other data.
        let taken = ticket.compare_exchange(job - 1, job, Relaxed, Relaxed);
        taken.is_ok()
    }

    /// Runs the tasks of a share, records a panic, and marks the share as finished.
    fn run_share(&self, task: Task, part: usize) {
        // SAFETY: the share has not finished, so the caller still borrows the closure.
        let call = unsafe { &*task.call };
        let tasks = share(task.tasks, task.parts, part);
        // Unwind safe, because the panic resumes in the caller, which owns all state that it may leave inconsistent.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| tasks.for_each(call))) {
            let mut first = locked(&self.panic);
            if first.as_ref().is_none_or(|&(lowest, _)| part < lowest) {
                *first = Some((part, payload));
            }
        }
        let before = self.pending.0.fetch_sub(1, SeqCst);
        if before == 1 && self.is_awaited.load(SeqCst) {
            // The caller may have returned by now and another one may be asleep; that one rechecks and goes on
            // sleeping.
            if let Some(caller) = locked(&self.caller).take() {
                caller.unpark();
            }
        }
    }

    /// Waits until all shares have finished.
    fn wait_for_all(&self) {
        if spin_until(|| self.pending.0.load(Acquire) == 0) {
            return;
        }
        loop {
            *locked(&self.caller) = Some(thread::current());
            self.is_awaited.store(true, SeqCst);
            if self.pending.0.load(SeqCst) == 0 {
                break;
            }
            thread::park();
        }
        self.is_awaited.store(false, SeqCst);
    }

    /// Worker loop of `share`; returns when the pool stops.
    pub(super) fn work(&self, share: usize) {
        let mut seen = 0;
        loop {
            seen = self.next_job(share, seen);
            if seen == STOP {
                return;
            }
            if self.take(share, seen) {
                // SAFETY: the share was taken, so the job was published and stays until it is through.
                let task = unsafe { *self.task.get() };
                if let Some(task) = task {
                    self.run_share(task, share);
                }
            }
        }
    }

    /// Waits for a job number other than `seen` and returns it.
    fn next_job(&self, share: usize, seen: u64) -> u64 {
        if !spin_until(|| self.job.0.load(Acquire) != seen) {
            let is_asleep = &self.workers[share - 1].is_asleep.0;
            is_asleep.store(true, SeqCst);
            while self.job.0.load(SeqCst) == seen {
                thread::park();
            }
            is_asleep.store(false, Relaxed);
        }
        self.job.0.load(Acquire)
    }

    /// Tells all workers to exit. No job may be running.
    pub(super) fn stop(&self) {
        self.job.0.store(STOP, SeqCst);
        for worker in &self.workers {
            worker.thread.unpark();
        }
    }
}
