//! The process as a tool's host: its streams, files and clock.

mod below;
mod child;
mod memory;
mod out_of_memory;
mod package;
mod ticker;
mod unfinished;

use std::fs::{self, File};
use std::io::{self, IsTerminal, Read, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use memmap2::Mmap;
use mind_driver::host::{
    ChildLimits, Contents, FileBytes, Host, ProcessEnd, Rerun, Style, Tool, Work,
};
use ticker::Ticker;
use unfinished::Unfinished;

/// Runs `tool` with the arguments and streams of this process.
pub fn main(tool: Tool) -> ExitCode {
    let args: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let mut host = ProcessHost {
        started: Instant::now(),
        stdout: io::BufWriter::new(io::stdout()),
        stderr: io::stderr(),
        scratch: None,
        scratch_files: Vec::new(),
        style: Style::default(),
    };
    silence_expected_panics();
    let code = tool(&args, &mut host);
    if let Some(folder) = &host.scratch {
        // What is left behind is no failure of the tool.
        let _ = fs::remove_dir_all(folder);
    }
    match host.stdout.flush() {
        Ok(()) => ExitCode::from(code),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(code),
        Err(error) => {
            // Standard error has nowhere to report its own failures to.
            let _ = writeln!(host.stderr, "error: standard output: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Panics that a tool expects and catches are not told to the user.
fn silence_expected_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !mind_driver::expected_panic::is_expected() {
            usual(info);
        }
    }));
}

/// A file that the system reads where its bytes are looked at.
struct Mapped(Mmap);

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl FileBytes for Mapped {
    #[cfg(unix)]
    fn release(&self) {
        // SAFETY: the map is of a file and is never written, so that pages that are dropped are read anew.
        let advised = unsafe { self.0.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
        // Advice that is not taken costs memory and nothing else.
        let _ = advised;
    }
}

struct ProcessHost {
    started: Instant,
    /// The folder for files that nobody keeps, once it is made.
    scratch: Option<PathBuf>,
    /// The files written there.
    scratch_files: Vec<PathBuf>,
    stdout: io::BufWriter<io::Stdout>,
    stderr: io::Stderr,
    style: Style,
}

impl Host for ProcessHost {
    fn read(&mut self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        read_up_to(file, limit)
    }

    fn read_below(&mut self, root: &Path, below: &Path, limit: u64) -> io::Result<Vec<u8>> {
        read_up_to(below::open(root, below)?, limit)
    }

    fn map(&mut self, path: &Path) -> io::Result<Contents> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        if !metadata.is_file() || metadata.len() == 0 {
            return Ok(Box::new(read_up_to(file, u64::MAX)?));
        }
        // SAFETY: the map is read alone; that nothing changes the file meanwhile is the caller's promise.
        Ok(Box::new(Mapped(unsafe { Mmap::map(&file)? })))
    }

    fn list(&mut self, folder: &Path) -> io::Result<Vec<String>> {
        let name = |entry: io::Result<fs::DirEntry>| {
            entry.map(|entry| entry.file_name().to_string_lossy().into_owned())
        };
        let mut names = fs::read_dir(folder)?
            .map(name)
            .collect::<io::Result<Vec<_>>>()?;
        names.sort_unstable();
        Ok(names)
    }

    fn read_stdin(&mut self, limit: u64) -> io::Result<Vec<u8>> {
        read_up_to(io::stdin().lock(), limit)
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if path.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        let special = fs::metadata(path).is_ok_and(|existing| !existing.is_file());
        if special {
            return fs::write(path, bytes);
        }
        if self
            .scratch
            .as_ref()
            .is_some_and(|folder| path.starts_with(folder))
        {
            return self.write_scratch(path, bytes);
        }
        let partial = partial_name(path);
        let _unfinished = Unfinished::new(&partial);
        let written = fs::write(&partial, bytes).and_then(|()| fs::rename(&partial, path));
        if written.is_err() {
            // Best effort: the error that matters is the one already in hand.
            let _ = fs::remove_file(&partial);
        }
        written
    }

    fn create_dir(&mut self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn write_package(&mut self, folder: &Path, files: &[(&Path, &[u8])]) -> io::Result<()> {
        package::write(folder, files)
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
        child::rerun(args, stdin, limits)
    }

    fn stdout(&mut self) -> &mut dyn Write {
        &mut self.stdout
    }

    /// What was printed before comes first where both streams lead to one place.
    fn stderr(&mut self) -> &mut dyn Write {
        // A closed pipe is the reader's choice, not an error.
        let _ = self.stdout.flush();
        &mut self.stderr
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    #[cfg(unix)]
    fn cpu(&self) -> Option<Duration> {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the call writes the place that it is given, and nothing else.
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
        if self.style.quiet {
            Box::new(())
        } else {
            Box::new(Ticker::start(what, self.style.redraws, io::stderr()))
        }
    }

    fn style(&self) -> Style {
        self.style
    }

    fn set_style(&mut self, style: Style) {
        self.style = style;
    }
}

impl ProcessHost {
    /// Writes a file that nobody keeps, and nobody reads before it is whole.
    fn write_scratch(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if !self.scratch_files.iter().any(|own| own == path) {
            Unfinished::new(path).keep();
            self.scratch_files.push(path.to_owned());
        }
        fs::write(path, bytes)
    }
}

/// A name beside `path`, for the bytes that are not all there yet.
fn partial_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".partial-{}", std::process::id()));
    path.with_file_name(name)
}

fn read_up_to(source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("more than the limit of {limit} bytes"),
        ));
    }
    Ok(bytes)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Bytes of the map of `file` that are in memory.
    fn resident(file: &Path) -> u64 {
        let text = fs::read_to_string("/proc/self/smaps").expect("the maps of this process");
        let name = file.display().to_string();
        let own = text.lines().skip_while(|line| !line.ends_with(&name));
        let found = own.into_iter().find(|line| line.starts_with("Rss:"));
        let kilobytes = found.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        1024 * kilobytes.unwrap_or(0u64)
    }

    #[test]
    fn memory_of_a_mapped_file_can_be_given_back() {
        let file = std::env::temp_dir().join(format!("mind-host-mapped-{}", std::process::id()));
        let bytes: Vec<u8> = (0..1 << 20).map(|at: u32| at as u8).collect();
        fs::write(&file, &bytes).expect("a file");
        // SAFETY: nothing changes the file.
        let map = unsafe { Mmap::map(&File::open(&file).expect("the file")) };
        let mapped = Mapped(map.expect("a map"));
        assert!(*mapped == *bytes);
        assert_eq!(resident(&file), 1 << 20);
        mapped.release();
        assert_eq!(resident(&file), 0);
        assert!(*mapped == *bytes);
        fs::remove_file(&file).expect("the file is ours");
    }
}
