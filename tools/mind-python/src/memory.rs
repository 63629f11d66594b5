//! Tools that run on in-memory files.

use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use mind_cli::MemoryHost;
use mind_driver::host::{Clock, FileSystem, Host, Tool};

/// The outcome of a tool.
pub(crate) struct Outcome {
    pub(crate) code: u8,
    /// Standard output.
    pub(crate) shown: String,
    /// Standard error.
    pub(crate) errors: String,
    own: MemoryHost,
}

impl Outcome {
    /// Returns a file that the tool wrote, as text.
    pub(crate) fn text(&self, path: &str) -> String {
        let bytes = self.own.files.get(Path::new(path));
        bytes.map_or_else(String::new, |bytes| {
            String::from_utf8_lossy(bytes).into_owned()
        })
    }
}

/// Runs a tool on files by name, with environment variables.
pub(crate) fn run(
    tool: Tool,
    args: &[String],
    files: Vec<(&str, Vec<u8>)>,
    variables: Vec<(&'static str, String)>,
) -> Outcome {
    let mut host = Timed {
        own: MemoryHost::default(),
        began: Instant::now(),
        variables,
    };
    let files = files.into_iter().map(|(name, bytes)| (name.into(), bytes));
    host.own.files.extend(files);
    let code = tool(args, &mut host);
    Outcome {
        code,
        shown: String::from_utf8_lossy(&host.own.stdout).into_owned(),
        errors: host.own.error(),
        own: host.own,
    }
}

/// An in-memory host with the machine's clock.
struct Timed {
    own: MemoryHost,
    began: Instant,
    variables: Vec<(&'static str, String)>,
}

impl FileSystem for Timed {
    fn read(&mut self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        self.own.read(path, limit)
    }

    fn read_stdin(&mut self, limit: u64) -> io::Result<Vec<u8>> {
        self.own.read_stdin(limit)
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.own.write(path, bytes)
    }

    fn create_dir(&mut self, path: &Path) -> io::Result<()> {
        self.own.create_dir(path)
    }
}

impl Host for Timed {
    fn stdout(&mut self) -> &mut dyn Write {
        self.own.stdout()
    }

    fn stderr(&mut self) -> &mut dyn Write {
        self.own.stderr()
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn clock(&self) -> Clock {
        let began = self.began;
        Box::new(move || began.elapsed())
    }

    fn stderr_is_terminal(&self) -> bool {
        false
    }

    fn variable(&self, name: &str) -> Option<String> {
        let found = self.variables.iter().find(|(own, _)| *own == name);
        found.map(|(_, value)| value.clone())
    }
}
