//! Calls of tools in this process.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use mind_driver::host::{
    ChildLimits, Clock, FileSystem, Host, ProcessEnd, Rerun, Style, Tool, read_line,
};

use crate::panics;
use crate::sandbox::Sandbox;

/// The end of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// An exit code.
    Code(u8),
    /// A panic.
    Crash,
}

impl Exit {
    /// Returns the exit code that a shell would show; for a crash it is that of an abort.
    pub fn code(self) -> u8 {
        match self {
            Exit::Code(code) => code,
            Exit::Crash => 134,
        }
    }
}

/// Bytes shared by several writers, like a file with several descriptors.
pub type Shared = Rc<RefCell<Vec<u8>>>;

/// A writer into shared bytes that also records what it wrote.
#[derive(Debug, Default)]
pub struct Sink {
    target: Shared,
    seen: Vec<u8>,
}

impl Sink {
    /// Returns a writer into `target`.
    pub fn new(target: Shared) -> Sink {
        Sink {
            target,
            seen: vec![],
        }
    }

    /// Returns everything that was written through this writer.
    pub fn into_seen(self) -> Vec<u8> {
        self.seen
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.target.borrow_mut().extend_from_slice(bytes);
        self.seen.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The environment of one command.
pub struct CommandHost<'a> {
    /// The working directory.
    pub cwd: PathBuf,
    /// The folder that it may write to.
    pub sandbox: &'a Sandbox,
    /// The contents of standard input.
    pub stdin: Vec<u8>,
    /// Standard output.
    pub stdout: Sink,
    /// Standard error.
    pub stderr: Sink,
    /// Runs a command line, for tools that take one.
    pub shell: Option<&'a RunLine<'a>>,
    /// The current tool, for tools that run themselves again.
    pub tool: Option<Tool>,
    /// Environment variables. Those of this process are not visible.
    pub env: BTreeMap<String, String>,
    /// The style of the tool's messages.
    pub style: Style,
}

/// Runs a command line in a folder and returns its exit code.
///
/// # Errors
///
/// A command that the shell does not support.
pub type RunLine<'a> = dyn Fn(&str, &Path) -> io::Result<u8> + 'a;

/// Runs a tool. A panic counts as a crash, and its message goes to standard error.
pub fn call(tool: Tool, args: &[String], host: &mut CommandHost<'_>) -> Exit {
    host.tool = Some(tool);
    guard(host, |host| tool(args, host))
}

/// Runs FileCheck with the value of `FILECHECK_OPTS`.
pub fn call_filecheck(args: &[String], options: &str, host: &mut CommandHost<'_>) -> Exit {
    guard(host, |host| {
        let stdin = std::mem::take(&mut host.stdin);
        let invocation = filecheck::Invocation {
            args,
            env_opts: Some(options),
            cwd: &host.cwd,
            stdin: &stdin,
        };
        filecheck::run(&invocation, &mut host.stdout, &mut host.stderr)
    })
}

/// The outcome of a tool that was called directly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// The end of the tool.
    pub exit: Exit,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

/// Runs a tool without a command line.
pub fn capture(tool: Tool, args: &[&str], stdin: &str, sandbox: &Sandbox) -> Captured {
    let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
    let mut host = CommandHost {
        cwd: sandbox.dir().to_owned(),
        sandbox,
        stdin: stdin.as_bytes().to_vec(),
        stdout: Sink::default(),
        stderr: Sink::default(),
        shell: None,
        tool: None,
        env: BTreeMap::new(),
        style: Style::default(),
    };
    let exit = call(tool, &args, &mut host);
    let text = |sink: Sink| String::from_utf8_lossy(&sink.into_seen()).into_owned();
    Captured {
        exit,
        stdout: text(host.stdout),
        stderr: text(host.stderr),
    }
}

fn guard<'a>(host: &mut CommandHost<'a>, body: impl FnOnce(&mut CommandHost<'a>) -> u8) -> Exit {
    match panics::catch(|| body(host)) {
        Ok(code) => Exit::Code(code),
        Err(text) => {
            host.stderr
                .write_all(text.as_bytes())
                .expect("memory takes every byte");
            Exit::Crash
        }
    }
}

impl FileSystem for CommandHost<'_> {
    fn read(&mut self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        read_limited(File::open(self.cwd.join(path))?, limit)
    }

    fn list(&mut self, folder: &Path) -> io::Result<Vec<String>> {
        let name = |entry: io::Result<fs::DirEntry>| {
            entry.map(|entry| entry.file_name().to_string_lossy().into_owned())
        };
        let entries = fs::read_dir(self.cwd.join(folder))?;
        let mut names = entries.map(name).collect::<io::Result<Vec<_>>>()?;
        names.sort_unstable();
        Ok(names)
    }

    fn read_stdin(&mut self, limit: u64) -> io::Result<Vec<u8>> {
        let stdin = std::mem::take(&mut self.stdin);
        read_limited(&*stdin, limit)
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let Some(path) = self.sandbox.writable(&self.cwd, path) else {
            let message = "outside the test's own folder, so it is not written: use `%t`";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        };
        fs::write(path, bytes)
    }

    fn create_dir(&mut self, path: &Path) -> io::Result<()> {
        let Some(path) = self.sandbox.writable(&self.cwd, path) else {
            let message = "outside the test's own folder, so it is not made: use `%t`";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        };
        fs::create_dir_all(path)
    }
}

impl Host for CommandHost<'_> {
    fn scratch_dir(&mut self) -> io::Result<PathBuf> {
        let folder = self.sandbox.dir().join(".scratch");
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// Commands run in this process here as well, so the limit is ignored.
    fn shell(&mut self, command: &str, _: Duration) -> io::Result<ProcessEnd> {
        match self.shell {
            Some(run) => run(command, &self.cwd).map(|code| ProcessEnd::Code(i32::from(code))),
            None => Err(io::Error::from(io::ErrorKind::Unsupported)),
        }
    }

    fn stdout(&mut self) -> &mut dyn Write {
        &mut self.stdout
    }

    fn stderr(&mut self) -> &mut dyn Write {
        &mut self.stderr
    }

    /// The tool runs in this process here as well, so the limits are ignored.
    fn rerun(&mut self, args: &[&str], stdin: &[u8], _: &ChildLimits) -> io::Result<Rerun> {
        let tool = self.tool.ok_or(io::ErrorKind::Unsupported)?;
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        let mut host = CommandHost {
            cwd: self.cwd.clone(),
            sandbox: self.sandbox,
            stdin: stdin.to_vec(),
            stdout: Sink::default(),
            stderr: Sink::default(),
            shell: self.shell,
            tool: None,
            env: self.env.clone(),
            style: Style::default(),
        };
        let end = match call(tool, &args, &mut host) {
            Exit::Code(code) => ProcessEnd::Code(i32::from(code)),
            Exit::Crash => ProcessEnd::Signal(i32::from(Exit::Crash.code()) - 128),
        };
        Ok(Rerun {
            stdout: host.stdout.into_seen(),
            end,
        })
    }

    fn read_line(&mut self, limit: u64) -> io::Result<Option<String>> {
        let mut rest = &self.stdin[..];
        let line = read_line(&mut rest, limit)?;
        self.stdin = rest.to_vec();
        Ok(line)
    }

    fn now(&self) -> Duration {
        now()
    }

    fn clock(&self) -> Clock {
        Box::new(now)
    }

    fn stderr_is_terminal(&self) -> bool {
        false
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.env.get(name).cloned()
    }

    fn style(&self) -> Style {
        self.style
    }

    fn set_style(&mut self, style: Style) {
        self.style = style;
    }
}

fn now() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

fn read_limited(source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    source
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}
