//! Running this program again, and command lines of the shell.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use mind_driver::host::{ChildLimits, ProcessEnd, Rerun};

use crate::unfinished::Group;

/// Runs this program, or `itself`, with other arguments until it ends, or its time is up.
///
/// # Errors
///
/// It could not be started, or its end could not be waited for.
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
        // The error that matters is the one already in hand.
        let _ = child.kill().and_then(|()| child.wait());
    }
    ended
}

fn talk(child: &mut Child, stdin: &[u8], limits: &ChildLimits) -> io::Result<Rerun> {
    let missing = || io::Error::other("a process without streams");
    let mut input = child.stdin.take().ok_or_else(missing)?;
    let mut output = child.stdout.take().ok_or_else(missing)?;
    thread::scope(|scope| {
        // A process that ends without reading is a result, not an error.
        scope.spawn(move || input.write_all(stdin));
        let (sender, receiver) = mpsc::channel();
        scope.spawn(move || {
            let mut bytes = Vec::new();
            let read = output.read_to_end(&mut bytes).map(|_| bytes);
            // The receiver lives until this thread has ended.
            let _ = sender.send(read);
        });
        // Standard output is closed when the process ends, however it does.
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

/// Runs a command line of the shell until it ends, or its time is up: then its group of processes is ended.
///
/// # Errors
///
/// It could not be started, or its end could not be waited for.
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
    // Most commands are short, and none waits long for being looked at.
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(end(status));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            group.end();
            // The group is the child's; elsewhere than on Unix there is none.
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

/// Limits what the process may map, and keeps it from leaving its memory in a file when it crashes.
#[cfg(unix)]
fn limit_memory(command: &mut Command, bytes: u64) {
    use std::os::unix::process::CommandExt;
    let limit = move || {
        for (what, most) in [(libc::RLIMIT_AS, bytes), (libc::RLIMIT_CORE, 0)] {
            // A limit larger than an address is no limit.
            let most = libc::rlim_t::try_from(most).unwrap_or(libc::RLIM_INFINITY);
            let limit = libc::rlimit {
                rlim_cur: most,
                rlim_max: most,
            };
            // SAFETY: the call reads the place that it is given, and nothing else. A system that does not take the
            // limit runs the process without it.
            let _ = unsafe { libc::setrlimit(what, &limit) };
        }
        // SAFETY: the call reads nothing of this process. A case ends with the process that waits for it.
        #[cfg(target_os = "linux")]
        let _ = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        Ok(())
    };
    // SAFETY: between fork and exec, the closure makes system calls alone and takes no memory.
    unsafe { command.pre_exec(limit) };
}

#[cfg(not(unix))]
fn limit_memory(_: &mut Command, _: u64) {}
