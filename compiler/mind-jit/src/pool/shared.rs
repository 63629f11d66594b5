//! What the threads of a pool share, and the protocol between them.
//!
//! A call is a *job*, and jobs are numbered from 1. A job is divided into shares, one for each thread; share
//! 0 is that of the caller. Each share has a ticket with the number of the last job for which somebody took
//! it. Taking is a compare-and-swap from the job before to this one, so each share of each job is run by just
//! one thread: its own, or the caller if that comes first. A worker that saw an old job number finds its
//! ticket further on and takes nothing.
//!
//! Why the job can be read without a lock: the caller writes it before it publishes the number (release),
//! and a worker reads it after it has seen the number (acquire) and taken a share. From then on the job
//! stays: the caller waits until `pending` is 0, which the worker lowers (release) when it is through, and
//! only then (acquire) writes the next one.
//!
//! Why no wake-up is lost: a sleeper announces itself and then looks again; who has news publishes it and
//! then looks for sleepers. Both are sequentially consistent, so at least one of them sees the other. A
//! thread that is woken for nothing looks and sleeps again.

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

/// What a job does.
#[derive(Clone, Copy)]
pub(super) struct Task {
    /// Alive until the last share of the job is through.
    call: *const (dyn Fn(usize) + Sync),
    tasks: usize,
    parts: usize,
}

impl Task {
    /// `tasks` calls in `parts` shares.
    pub(super) fn new(call: &(dyn Fn(usize) + Sync), tasks: usize, parts: usize) -> Task {
        let call: *const (dyn Fn(usize) + Sync + '_) = call;
        // SAFETY: only the lifetime changes, and nothing is called after `Shared::run` returns, which
        // borrows `call` for longer.
        let call: *const (dyn Fn(usize) + Sync) = unsafe { std::mem::transmute(call) };
        Task { call, tasks, parts }
    }
}

/// A value with cache lines of its own, two of them, since processors fetch lines in pairs.
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
    /// The number of the job that was published last.
    job: Padded<AtomicU64>,
    /// Shares of the job that are not through.
    pending: Padded<AtomicUsize>,
    /// Whether a caller has the threads.
    is_busy: Padded<AtomicBool>,
    /// The job.
    task: UnsafeCell<Option<Task>>,
    /// For each share the last job for which it was taken; that of the caller is not used.
    tickets: Vec<Padded<AtomicU64>>,
    /// Worker `n` has share `n + 1`.
    workers: Vec<Worker>,
    /// Whether the caller sleeps.
    is_awaited: AtomicBool,
    /// The caller, if it sleeps.
    caller: Mutex<Option<Thread>>,
    /// The panic of the lowest share that had one.
    panic: Mutex<Option<(usize, Payload)>>,
}

// SAFETY: `task` is written by the caller that holds `is_busy`, while no share of a job is taken, and read by
// threads that have taken one; see above. What it points to is `Sync`.
unsafe impl Sync for Shared {}
// SAFETY: as above; nothing is bound to the thread that made it.
unsafe impl Send for Shared {}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let jobs = self.job.0.load(Relaxed);
        (f.debug_struct("Shared").field("jobs", &jobs)).finish_non_exhaustive()
    }
}

/// The value behind a lock; no code panics while it holds one.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// The state of a pool with these workers.
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

    /// Whether the threads are free; if so, the calling thread has them, and must call `run`.
    pub(super) fn try_begin(&self) -> bool {
        let taken = self
            .is_busy
            .0
            .compare_exchange(false, true, Acquire, Relaxed);
        taken.is_ok()
    }

    /// Runs all shares of `task`, on the threads and on this one.
    ///
    /// The panic of a task goes on here, after everything is through.
    pub(super) fn run(&self, task: Task) {
        let job = self.job.0.load(Relaxed) + 1;
        // SAFETY: all shares of the last job are through, and nobody takes one of this before it is published.
        unsafe { *self.task.get() = Some(task) };
        self.pending.0.store(task.parts, Relaxed);
        for ticket in &self.tickets[task.parts..] {
            // There is no such share in this job.
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

    /// Whether nobody else has taken this share of the job.
    fn take(&self, share: usize, job: u64) -> bool {
        let ticket = &self.tickets[share].0;
        // A job is published when its number can be seen; the ticket itself carries nothing else.
        let taken = ticket.compare_exchange(job - 1, job, Relaxed, Relaxed);
        taken.is_ok()
    }

    /// Runs the tasks of a share, keeps a panic, and says that the share is through.
    fn run_share(&self, task: Task, part: usize) {
        // SAFETY: the share is not through, so the caller still borrows what it was called with.
        let call = unsafe { &*task.call };
        let tasks = share(task.tasks, task.parts, part);
        // What a panic leaves half done is the caller's, in which the panic goes on.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| tasks.for_each(call))) {
            let mut first = locked(&self.panic);
            if first.as_ref().is_none_or(|&(lowest, _)| part < lowest) {
                *first = Some((part, payload));
            }
        }
        let before = self.pending.0.fetch_sub(1, SeqCst);
        if before == 1 && self.is_awaited.load(SeqCst) {
            // By now the caller may be gone and another may sleep, which looks and goes on sleeping.
            if let Some(caller) = locked(&self.caller).take() {
                caller.unpark();
            }
        }
    }

    /// Returns when all shares are through.
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

    /// What worker `share - 1` does until the pool ends.
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

    /// The number of the last job, once it is another than `seen`.
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

    /// Tells all workers to end. No job is running.
    pub(super) fn stop(&self) {
        self.job.0.store(STOP, SeqCst);
        for worker in &self.workers {
            worker.thread.unpark();
        }
    }
}
