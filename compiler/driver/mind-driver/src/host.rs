//! Interface of a tool to files, streams, processes and clocks.
//!
//! Every tool is a function `run(args, host) -> exit code`. The binaries pass a host backed by the process. The lit
//! runner passes a host that captures output, so that a whole suite runs in one process.

use std::io::{self, BufRead, Read};
use std::ops::Deref;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// The bytes of a file, in memory or mapped.
pub trait FileBytes: Deref<Target = [u8]> + Send + Sync {
    /// Lets the system reclaim the memory of a mapped file; pages that are accessed later are read from the file again.
    fn release(&self) {}
}

impl FileBytes for Vec<u8> {}

/// Contents of a file.
pub type Contents = Box<dyn FileBytes>;

/// Style of a tool's messages on standard error.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// Whether messages are coloured.
    pub color: bool,
    /// Whether notes, warnings and progress are suppressed.
    pub quiet: bool,
    /// Whether a line can be overwritten.
    pub redraws: bool,
}

/// Progress of a long task.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Number of completed steps.
    pub done: Arc<AtomicU64>,
    /// Total number of steps.
    pub all: u64,
}

/// A monotonic clock with an arbitrary epoch.
pub type Clock = Box<dyn Fn() -> Duration + Send + Sync>;

/// A progress display that ends when it is dropped.
pub type Work = Box<dyn std::any::Any>;

/// Limits of a child process, which is killed if it exceeds them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChildLimits {
    /// Wall-clock time.
    pub time: Duration,
    /// Memory in bytes, where the system supports a limit.
    pub memory: u64,
}

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProcessEnd {
    /// It exited with this code.
    Code(i32),
    /// It was killed by this signal.
    Signal(i32),
    /// It was killed because it exceeded the time limit.
    TimedOut,
}

/// Result of a child process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rerun {
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// How it ended.
    pub end: ProcessEnd,
}

/// Files and standard input.
pub trait FileSystem {
    /// Reads a file of at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// Errors as the file system reports, and with [`io::ErrorKind::FileTooLarge`] past the limit.
    fn read(&mut self, path: &Path, limit: u64) -> io::Result<Vec<u8>>;

    /// Reads the regular file `below` in the folder `root`, of at most `limit` bytes, without leaving the folder.
    ///
    /// # Errors
    ///
    /// Errors as [`names_below`], if a symbolic link leaves the folder, if it is a folder, pipe or device, and as the
    /// file system reports.
    fn read_below(&mut self, root: &Path, below: &Path, limit: u64) -> io::Result<Vec<u8>> {
        names_below(below)?;
        self.read(&root.join(below), limit)
    }

    /// Returns the contents of a large file, mapped if the system supports it. The file must not be modified meanwhile.
    ///
    /// # Errors
    ///
    /// Errors as the file system reports.
    fn map(&mut self, path: &Path) -> io::Result<Contents> {
        Ok(Box::new(self.read(path, u64::MAX)?))
    }

    /// As [`FileSystem::map`], for the file `below` in the folder `root`, opened as by [`FileSystem::read_below`].
    ///
    /// # Errors
    ///
    /// Errors as [`FileSystem::read_below`].
    fn map_below(&mut self, root: &Path, below: &Path) -> io::Result<Contents> {
        Ok(Box::new(self.read_below(root, below, u64::MAX)?))
    }

    /// Returns the names of a folder's entries, sorted.
    ///
    /// # Errors
    ///
    /// Errors as the file system reports, and with [`io::ErrorKind::Unsupported`] if the host has no folders.
    fn list(&mut self, folder: &Path) -> io::Result<Vec<String>> {
        let _ = folder;
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    /// Reads standard input to its end, of at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// Errors if it cannot be read or exceeds the limit.
    fn read_stdin(&mut self, limit: u64) -> io::Result<Vec<u8>>;

    /// Replaces a file's contents atomically: a reader sees the old contents or the new ones.
    ///
    /// # Errors
    ///
    /// Errors if the file cannot be written.
    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Creates a folder and its parents; an existing folder is left as it is.
    ///
    /// # Errors
    ///
    /// Errors if the folder cannot be created.
    fn create_dir(&mut self, path: &Path) -> io::Result<()>;

    /// Writes a package, a folder of files named by their relative paths, and replaces an older one.
    ///
    /// # Errors
    ///
    /// Errors as the file system reports.
    fn write_package(&mut self, folder: &Path, files: &[(&Path, &[u8])]) -> io::Result<()> {
        for (path, bytes) in files {
            let path = folder.join(path);
            self.create_dir(path.parent().unwrap_or(folder))?;
            self.write(&path, bytes)?;
        }
        Ok(())
    }
}

/// The files, streams and clock of a tool.
pub trait Host: FileSystem {
    /// Returns standard output.
    fn stdout(&mut self) -> &mut dyn io::Write;

    /// Returns standard error.
    fn stderr(&mut self) -> &mut dyn io::Write;

    /// Announces that several threads will soon allocate about `bytes` bytes.
    fn expect_memory(&mut self, bytes: usize) {
        let _ = bytes;
    }

    /// Returns a folder for temporary files, which is empty at the first call and the same at later calls.
    ///
    /// # Errors
    ///
    /// Errors as the file system reports, or if the host has no such folder.
    fn scratch_dir(&mut self) -> io::Result<PathBuf> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    /// Runs a shell command. After `time` it is killed together with its child processes. Its output is discarded.
    ///
    /// # Errors
    ///
    /// Errors if it cannot be started, or if the host has no shell.
    fn shell(&mut self, command: &str, time: Duration) -> io::Result<ProcessEnd> {
        let _ = (command, time);
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    /// Runs this program in a child process with these arguments and this standard input; its standard error is
    /// discarded.
    ///
    /// # Errors
    ///
    /// Errors if it cannot be started, or if the host has no processes.
    fn rerun(&mut self, args: &[&str], stdin: &[u8], limits: &ChildLimits) -> io::Result<Rerun> {
        let _ = (args, stdin, limits);
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    /// Returns the monotonic time since an arbitrary epoch.
    fn now(&self) -> Duration;

    /// Returns the clock of [`now`](Host::now) for use on other threads; the default is constant.
    fn clock(&self) -> Clock {
        let now = self.now();
        Box::new(move || now)
    }

    /// Returns the time since 1970-01-01 UTC, if it is known.
    fn wall_clock(&self) -> Option<Duration> {
        None
    }

    /// Returns the CPU time of the process on all threads, if it is known.
    fn cpu(&self) -> Option<Duration> {
        None
    }

    /// Returns how many bytes of memory the process may still allocate, if it is known.
    fn available_memory(&self) -> Option<u64> {
        None
    }

    /// Returns whether standard error is a terminal, which can show colour and progress.
    fn stderr_is_terminal(&self) -> bool;

    /// Returns whether standard output is a terminal.
    fn stdout_is_terminal(&self) -> bool {
        false
    }

    /// Returns whether standard input is a terminal, so that reading it waits for the user.
    fn stdin_is_terminal(&self) -> bool {
        false
    }

    /// Returns the value of an environment variable.
    fn variable(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// Shows periodically that the task `what` is running, until the result is dropped.
    fn working(&mut self, what: &str) -> Work {
        let _ = what;
        Box::new(())
    }

    /// As [`Host::working`], with its progress.
    fn working_through(&mut self, what: &str, progress: Progress) -> Work {
        let _ = progress;
        self.working(what)
    }

    /// Reads a line of standard input without its line end; returns `None` at the end of input.
    ///
    /// # Errors
    ///
    /// Errors if the input cannot be read, with [`io::ErrorKind::InvalidData`] if it is not UTF-8, with
    /// [`io::ErrorKind::FileTooLarge`] past the limit, or if the host cannot read lines.
    fn read_line(&mut self, limit: u64) -> io::Result<Option<String>> {
        let _ = limit;
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    /// Returns the style of messages, which is set after the command line was parsed.
    fn style(&self) -> Style {
        Style::default()
    }

    /// Sets the result of [`style`](Host::style).
    fn set_style(&mut self, style: Style) {
        let _ = style;
    }
}

/// Implements [`Host::read_line`] on a reader.
///
/// # Errors
///
/// Errors as [`Host::read_line`].
pub fn read_line(input: &mut dyn io::BufRead, limit: u64) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    input
        .take(limit.saturating_add(1))
        .read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.len() as u64 > limit {
        return Err(io::Error::from(io::ErrorKind::FileTooLarge));
    }
    let line = String::from_utf8(line);
    let line = line.map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why.utf8_error()))?;
    let line = line.strip_suffix('\n').unwrap_or(&line);
    Ok(Some(line.strip_suffix('\r').unwrap_or(line).to_owned()))
}

/// Checks that a path consists of plain names, so that it cannot leave the folder that it is relative to.
///
/// # Errors
///
/// Errors with [`io::ErrorKind::InvalidInput`] if the path is empty, absolute, or contains `.` or `..`.
pub fn names_below(path: &Path) -> io::Result<()> {
    let named = |part: Component<'_>| matches!(part, Component::Normal(_));
    if path.as_os_str().is_empty() || !path.components().all(named) {
        let message = "the path leads out of the folder";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    Ok(())
}

/// A tool's entry point: takes the arguments without the program's name and returns the exit code.
pub type Tool = fn(args: &[String], host: &mut dyn Host) -> u8;
