//! The process as host of a tool: its streams, files and clock.

mod child;
mod memory;
mod out_of_memory;
mod ticker;
mod unfinished;

use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Once;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mind_driver::disk::{self, Disk, partial_name};
use mind_driver::host::{
    self, ChildLimits, Clock, Contents, FileSystem, Host, ProcessEnd, Progress, Rerun, Style, Tool,
    Work,
};
use ticker::Ticker;
use unfinished::Unfinished;

/// Runs `tool` with the arguments and streams of this process.
pub fn main(tool: Tool) -> ExitCode {
    let args: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    ExitCode::from(run(tool, &args, None))
}

/// Runs `tool` with these arguments and the streams of this process. Returns its exit code.
///
/// `itself` is the program that runs the tool again, followed by its first arguments; `None` for the program of this
/// process.
pub fn run(tool: Tool, args: &[String], itself: Option<Vec<OsString>>) -> u8 {
    let mut host = ProcessHost {
        started: Instant::now(),
        itself,
        stdout: io::BufWriter::new(io::stdout()),
        stderr: io::stderr(),
        scratch: None,
        scratch_files: Vec::new(),
        style: Style::default(),
    };
    silence_expected_panics();
    out_of_memory::exit_without_memory();
    memory::keep_freed();
    let code = tool(args, &mut host);
    if let Some(folder) = &host.scratch {
        // A failed cleanup is not a failure of the tool.
        let _ = fs::remove_dir_all(folder);
    }
    match host.stdout.flush() {
        Ok(()) => code,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => code,
        Err(error) => {
            // Write errors of standard error cannot be reported anywhere.
            let _ = writeln!(host.stderr, "error: standard output: {error}");
            1
        }
    }
}

/// Suppresses the message of panics that a tool expects and catches.
pub fn silence_expected_panics() {
    static SILENCED: Once = Once::new();
    SILENCED.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !mind_driver::expected_panic::is_expected() {
                usual(info);
            }
        }));
    });
}

struct ProcessHost {
    started: Instant,
    /// The program that runs this tool again, if it is not the program of this process.
    itself: Option<Vec<OsString>>,
    /// The folder for scratch files, once it is created.
    scratch: Option<PathBuf>,
    /// The scratch files.
    scratch_files: Vec<PathBuf>,
    stdout: io::BufWriter<io::Stdout>,
    stderr: io::Stderr,
    style: Style,
}

impl FileSystem for ProcessHost {
    fn read(&mut self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        Disk.read(path, limit)
    }

    fn read_below(&mut self, root: &Path, below: &Path, limit: u64) -> io::Result<Vec<u8>> {
        Disk.read_below(root, below, limit)
    }

    fn map(&mut self, path: &Path) -> io::Result<Contents> {
        Disk.map(path)
    }

    fn map_below(&mut self, root: &Path, below: &Path) -> io::Result<Contents> {
        Disk.map_below(root, below)
    }

    fn list(&mut self, folder: &Path) -> io::Result<Vec<String>> {
        Disk.list(folder)
    }

    fn read_stdin(&mut self, limit: u64) -> io::Result<Vec<u8>> {
        Disk.read_stdin(limit)
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        match &self.scratch {
            Some(folder) if path.starts_with(folder) => self.write_scratch(path, bytes),
            Some(_) | None => {
                let _unfinished = Unfinished::new(&partial_name(path));
                Disk.write(path, bytes)
            }
        }
    }

    fn create_dir(&mut self, path: &Path) -> io::Result<()> {
        Disk.create_dir(path)
    }

    fn write_package(&mut self, folder: &Path, files: &[(&Path, &[u8])]) -> io::Result<()> {
        let mut unfinished = Vec::new();
        disk::write_package(folder, files, &mut |path| {
            unfinished.push(Unfinished::new(path))
        })
    }
}

impl Host for ProcessHost {
    fn expect_memory(&mut self, bytes: usize) {
        // The thread runs in the background.
        drop(memory::provide(bytes));
    }

    fn scratch_dir(&mut self) -> io::Result<PathBuf> {
        if let Some(folder) = &self.scratch {
            return Ok(folder.clone());
        }
        let parent = std::env::temp_dir();
        let name = |number: u32| format!("mind-{}-{number}", std::process::id());
        let mut number = 0;
        let folder = loop {
            let folder = parent.join(name(number));
            match fs::create_dir(&folder) {
                Ok(()) => break folder,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        };
        Unfinished::new(&folder).keep();
        self.scratch = Some(folder.clone());
        Ok(folder)
    }

    fn shell(&mut self, command: &str, time: Duration) -> io::Result<ProcessEnd> {
        child::shell(command, time)
    }

    fn rerun(&mut self, args: &[&str], stdin: &[u8], limits: &ChildLimits) -> io::Result<Rerun> {
        child::rerun(self.itself.as_deref(), args, stdin, limits)
    }

    fn stdout(&mut self) -> &mut dyn Write {
        &mut self.stdout
    }

    /// Flushes standard output first, because both streams may go to the same terminal.
    fn stderr(&mut self) -> &mut dyn Write {
        // A closed pipe is the reader's choice, not an error.
        let _ = self.stdout.flush();
        &mut self.stderr
    }

    fn wall_clock(&self) -> Option<Duration> {
        SystemTime::now().duration_since(UNIX_EPOCH).ok()
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn clock(&self) -> Clock {
        let started = self.started;
        Box::new(move || started.elapsed())
    }

    #[cfg(unix)]
    fn cpu(&self) -> Option<Duration> {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the call only writes to its argument.
        let status = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
        let seconds = u64::try_from(time.tv_sec).ok()?;
        let nanos = u32::try_from(time.tv_nsec).ok()?;
        (status == 0).then(|| Duration::new(seconds, nanos))
    }

    fn stderr_is_terminal(&self) -> bool {
        self.stderr.is_terminal()
    }

    fn stdout_is_terminal(&self) -> bool {
        io::stdout().is_terminal()
    }

    fn stdin_is_terminal(&self) -> bool {
        io::stdin().is_terminal()
    }

    fn variable(&self, name: &str) -> Option<String> {
        let value = std::env::var_os(name)?;
        Some(value.to_string_lossy().into_owned())
    }

    fn available_memory(&self) -> Option<u64> {
        memory::available()
    }

    fn working(&mut self, what: &str) -> Work {
        self.ticking(what, None)
    }

    fn working_through(&mut self, what: &str, progress: Progress) -> Work {
        self.ticking(what, Some(progress))
    }

    fn read_line(&mut self, limit: u64) -> io::Result<Option<String>> {
        self.stdout.flush()?;
        host::read_line(&mut io::stdin().lock(), limit)
    }

    fn style(&self) -> Style {
        self.style
    }

    fn set_style(&mut self, style: Style) {
        self.style = style;
    }
}

impl ProcessHost {
    fn ticking(&self, what: &str, progress: Option<Progress>) -> Work {
        if self.style.quiet {
            Box::new(())
        } else {
            let redraws = self.style.redraws;
            Box::new(Ticker::start(what, progress, redraws, io::stderr()))
        }
    }

    /// Writes a scratch file. It is not written atomically, because nothing reads it before it is complete.
    fn write_scratch(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if !self.scratch_files.iter().any(|own| own == path) {
            Unfinished::new(path).keep();
            self.scratch_files.push(path.to_owned());
        }
        fs::write(path, bytes)
    }
}
