//! Child processes: this program with other arguments, and shell commands.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use mind_driver::host::{ChildLimits, ProcessEnd, Rerun};

use crate::unfinished::Group;

/// Runs this program, or `itself`, with other arguments until it ends or exceeds its time limit.
///
/// # Errors
///
/// The process could not be started or waited for.
pub(crate) fn rerun(
    itself: Option<&[OsString]>,
    args: &[&str],
    stdin: &[u8],
    limits: &ChildLimits,
) -> io::Result<Rerun> {
    let mut command = match itself {
        Some([program, first @ ..]) => {
            let mut command = Command::new(program);
            command.args(first);
            command
        }
        Some([]) | None => Command::new(std::env::current_exe()?),
    };
    command
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    limit_memory(&mut command, limits.memory);
    let mut child = command.spawn()?;
    let ended = talk(&mut child, stdin, limits);
    if ended.is_err() {
        // The original error is returned, so errors of the cleanup are ignored.
        let _ = child.kill().and_then(|()| child.wait());
    }
    ended
}

fn talk(child: &mut Child, stdin: &[u8], limits: &ChildLimits) -> io::Result<Rerun> {
    let missing = || io::Error::other("a process without streams");
    let mut input = child.stdin.take().ok_or_else(missing)?;
    let mut output = child.stdout.take().ok_or_else(missing)?;
    thread::scope(|scope| {
        // A process that ends without reading its input is a result, not an error.
        scope.spawn(move || input.write_all(stdin));
        let (sender, receiver) = mpsc::channel();
        scope.spawn(move || {
            let mut bytes = Vec::new();
            let read = output.read_to_end(&mut bytes).map(|_| bytes);
            // The receiver lives until this thread has ended.
            let _ = sender.send(read);
        });
        // Standard output is closed when the process ends, in whatever way.
        if let Ok(read) = receiver.recv_timeout(limits.time) {
            let stdout = read?;
            let end = end(child.wait()?);
            return Ok(Rerun { stdout, end });
        }
        child.kill()?;
        child.wait()?;
        let stdout = receiver.recv().map_err(io::Error::other)??;
        Ok(Rerun {
            stdout,
            end: ProcessEnd::TimedOut,
        })
    })
}

/// Runs a shell command until it ends or exceeds its time limit, in which case its process group is killed.
///
/// # Errors
///
/// The process could not be started or waited for.
pub(crate) fn shell(command: &str, time: Duration) -> io::Result<ProcessEnd> {
    let (shell, flag) = if cfg!(windows) {
        ("cmd", "/C")
    } else {
        ("sh", "-c")
    };
    let mut shell = Command::new(shell);
    shell
        .args([flag, command])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    let mut child = shell.spawn()?;
    let group = Group::new(&child);
    let deadline = Instant::now() + time;
    // Polls with increasing pauses, because most commands are short.
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(end(status));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            group.end();
            // Process groups exist only on Unix; elsewhere the child itself is killed.
            let _ = child.kill();
            child.wait()?;
            return Ok(ProcessEnd::TimedOut);
        }
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

#[cfg(unix)]
fn end(status: ExitStatus) -> ProcessEnd {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => ProcessEnd::Code(code),
        (None, Some(signal)) => ProcessEnd::Signal(signal),
        (None, None) => ProcessEnd::Code(-1),
    }
}

#[cfg(not(unix))]
fn end(status: ExitStatus) -> ProcessEnd {
    ProcessEnd::Code(status.code().unwrap_or(-1))
}

/// Limits the address space of the process, and disables core dumps.
#[cfg(unix)]
fn limit_memory(command: &mut Command, bytes: u64) {
    use std::os::unix::process::CommandExt;
    let limit = move || {
        for (what, most) in [(libc::RLIMIT_AS, bytes), (libc::RLIMIT_CORE, 0)] {
            // A limit that exceeds the address range is unlimited.
            let most = libc::rlim_t::try_from(most).unwrap_or(libc::RLIM_INFINITY);
            let limit = libc::rlimit {
                rlim_cur: most,
                rlim_max: most,
            };
            // SAFETY: the call only reads its argument. If the system does not support the limit, the process runs
            // without it.
            let _ = unsafe { libc::setrlimit(what, &limit) };
        }
        // SAFETY: the call reads no memory of this process. A case is killed when the waiting process ends.
        #[cfg(target_os = "linux")]
        let _ = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        Ok(())
    };
    // SAFETY: between fork and exec, the closure only makes system calls and does not allocate.
    unsafe { command.pre_exec(limit) };
}

#[cfg(not(unix))]
fn limit_memory(_: &mut Command, _: u64) {}
