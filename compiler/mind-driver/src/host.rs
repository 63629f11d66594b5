//! What a tool may touch of the world.
//!
//! Every tool is a function `run(args, host) -> exit code`. The binaries pass a host backed by the
//! process; the lit runner passes one that captures, so that a whole suite runs in one process.

use std::io::{self, BufRead, Read};
use std::ops::Deref;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// The bytes of a file, wherever they are.
pub trait FileBytes: Deref<Target = [u8]> + Send + Sync {
    /// Lets the system take back the memory that bytes of the file were read into; what is needed again is read
    /// again.
    fn release(&self) {}
}

impl FileBytes for Vec<u8> {}

/// The bytes of a file that a host gives.
pub type Contents = Box<dyn FileBytes>;

/// How a tool talks to its user on standard error.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// In colour.
    pub color: bool,
    /// Without notes, warnings and progress.
    pub quiet: bool,
    /// Whether a line can be written again from its start.
    pub redraws: bool,
}

/// How far a long work is.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Steps that are done.
    pub done: Arc<AtomicU64>,
    /// Steps in all.
    pub all: u64,
}

/// The time since some fixed moment, monotonic.
pub type Clock = Box<dyn Fn() -> Duration + Send + Sync>;

/// Work that goes on until this is dropped.
pub type Work = Box<dyn std::any::Any>;

/// What a process may take before it is ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChildLimits {
    /// Time.
    pub time: Duration,
    /// Bytes of memory, where the system can limit them.
    pub memory: u64,
}

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProcessEnd {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It was ended because its time was up.
    TimedOut,
}

/// A process that has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rerun {
    /// All that it wrote to standard output.
    pub stdout: Vec<u8>,
    /// How it ended.
    pub end: ProcessEnd,
}

/// Files, and standard input.
pub trait FileSystem {
    /// Reads a file, giving up with an error once more than `limit` bytes have come.
    ///
    /// # Errors
    ///
    /// What the file system reports, and [`io::ErrorKind::FileTooLarge`] past the limit.
    fn read(&mut self, path: &Path, limit: u64) -> io::Result<Vec<u8>>;

    /// Reads the regular file `below` the folder `root`, with the same limit, and opens nothing outside of the
    /// folder.
    ///
    /// # Errors
    ///
    /// Those of [`names_below`]; a symbolic link that leads out of the folder, a folder, pipe or device; what the
    /// file system reports.
    fn read_below(&mut self, root: &Path, below: &Path, limit: u64) -> io::Result<Vec<u8>> {
        names_below(below)?;
        self.read(&root.join(below), limit)
    }

    /// The bytes of a large file, not copied where the system can help it. Nothing may change the file meanwhile.
    ///
    /// # Errors
    ///
    /// What the file system reports.
    fn map(&mut self, path: &Path) -> io::Result<Contents> {
        Ok(Box::new(self.read(path, u64::MAX)?))
    }

    /// As [`FileSystem::map`], of a file `below` the folder `root` as [`FileSystem::read_below`] opens it.
    ///
    /// # Errors
    ///
    /// Those of [`FileSystem::read_below`].
    fn map_below(&mut self, root: &Path, below: &Path) -> io::Result<Contents> {
        Ok(Box::new(self.read_below(root, below, u64::MAX)?))
    }

    /// The names of what a folder holds, ascending.
    ///
    /// # Errors
    ///
    /// What the file system reports; [`io::ErrorKind::Unsupported`] where there are no folders.
    fn list(&mut self, folder: &Path) -> io::Result<Vec<String>> {
        let _ = folder;
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    /// Reads standard input to its end, with the same limit.
    ///
    /// # Errors
    ///
    /// What cannot be read.
    fn read_stdin(&mut self, limit: u64) -> io::Result<Vec<u8>>;

    /// Replaces a file's contents as a whole: a reader sees the old bytes or the new ones.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Creates a folder and those above it; one that is there stays as it is.
    ///
    /// # Errors
    ///
    /// A folder that cannot be made.
    fn create_dir(&mut self, path: &Path) -> io::Result<()>;

    /// Writes a folder of files, named by their paths in it, in the place of an older one.
    ///
    /// # Errors
    ///
    /// What the file system reports.
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
    /// Standard output.
    fn stdout(&mut self) -> &mut dyn io::Write;

    /// Standard error.
    fn stderr(&mut self) -> &mut dyn io::Write;

    /// Announces that a process with several threads will allocate about `bytes` bytes soon.
    fn expect_memory(&mut self, bytes: usize) {
        let _ = bytes;
    }

    /// An empty folder for files that nobody keeps; the same one on every call.
    ///
    /// # Errors
    ///
    /// What the file system reports; a host may have no such place.
    fn scratch_dir(&mut self) -> io::Result<PathBuf> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    /// Runs a command line of the shell until it ends, or its time is up: then it is ended, with the processes that it
    /// started. What it prints is not shown.
    ///
    /// # Errors
    ///
    /// It could not be started; a host may have no shell.
    fn shell(&mut self, command: &str, time: Duration) -> io::Result<ProcessEnd> {
        let _ = (command, time);
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    /// Runs this program once more, in a process of its own, with these arguments and this standard input; what it
    /// writes to standard error is not shown.
    ///
    /// # Errors
    ///
    /// It could not be started; a host may have no processes.
    fn rerun(&mut self, args: &[&str], stdin: &[u8], limits: &ChildLimits) -> io::Result<Rerun> {
        let _ = (args, stdin, limits);
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    /// Time since some fixed moment, monotonic.
    fn now(&self) -> Duration;

    /// The clock of [`now`](Host::now), to be read by what runs on its own; here one that stands still.
    fn clock(&self) -> Clock {
        let now = self.now();
        Box::new(move || now)
    }

    /// Time since the beginning of 1970, UTC; `None` where that is not known.
    fn wall_clock(&self) -> Option<Duration> {
        None
    }

    /// The processor time that the process has taken so far, on all threads; `None` if that is not known.
    fn cpu(&self) -> Option<Duration> {
        None
    }

    /// The bytes of memory that the process may still take; `None` where that is not known.
    fn available_memory(&self) -> Option<u64> {
        None
    }

    /// Whether standard error is a terminal, where colour and progress may be shown.
    fn stderr_is_terminal(&self) -> bool;

    /// Whether standard output is a terminal.
    fn stdout_is_terminal(&self) -> bool {
        false
    }

    /// Whether standard input is a terminal, where nothing comes until someone types it.
    fn stdin_is_terminal(&self) -> bool {
        false
    }

    /// The value of an environment variable.
    fn variable(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// Tells the user now and then that `what` goes on, until the result is dropped.
    fn working(&mut self, what: &str) -> Work {
        let _ = what;
        Box::new(())
    }

    /// As [`Host::working`], with how far it is.
    fn working_through(&mut self, what: &str, progress: Progress) -> Work {
        let _ = progress;
        self.working(what)
    }

    /// Reads a line of standard input without its end, once it is there; `None` behind the last one.
    ///
    /// # Errors
    ///
    /// What cannot be read, [`io::ErrorKind::InvalidData`] for what is not UTF-8,
    /// [`io::ErrorKind::FileTooLarge`] past the limit; a host may read no lines.
    fn read_line(&mut self, limit: u64) -> io::Result<Option<String>> {
        let _ = limit;
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    /// How the tool talks, once its command line was read.
    fn style(&self) -> Style {
        Style::default()
    }

    /// Sets what [`style`](Host::style) returns.
    fn set_style(&mut self, style: Style) {
        let _ = style;
    }
}

/// Reads a line for [`Host::read_line`].
///
/// # Errors
///
/// Those of it.
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

/// Checks that a path consists of names alone, so that it leads nowhere but below the folder that it is relative to.
///
/// # Errors
///
/// [`io::ErrorKind::InvalidInput`] for an empty or absolute path and for one with `.` or `..`.
pub fn names_below(path: &Path) -> io::Result<()> {
    let named = |part: Component<'_>| matches!(part, Component::Normal(_));
    if path.as_os_str().is_empty() || !path.components().all(named) {
        let message = "the path leads out of the folder";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    Ok(())
}

/// A tool's entry point: arguments without the program's name in, exit code out.
pub type Tool = fn(args: &[String], host: &mut dyn Host) -> u8;
