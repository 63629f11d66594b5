//! A host for tests, with files in memory, captured streams and a clock that ticks when it is read.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mind_driver::host::{Clock, FileSystem, Host, read_line};

/// A host with files and streams in memory.
#[derive(Default)]
pub struct MemoryHost {
    /// All files.
    pub files: BTreeMap<PathBuf, Vec<u8>>,
    /// Standard input.
    pub stdin: Vec<u8>,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// Whether writes fail because the disk is full.
    pub refuse_writes: bool,
    /// The available memory in bytes, if known.
    pub memory: Option<u64>,
    /// The time since 1970-01-01 UTC, if known.
    pub wall_clock: Option<Duration>,
    milliseconds: Arc<AtomicU64>,
}

impl FileSystem for MemoryHost {
    fn read(&mut self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let bytes = self.files.get(path).cloned();
        let bytes = bytes.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        if bytes.len() as u64 > limit {
            Err(io::Error::from(io::ErrorKind::FileTooLarge))
        } else {
            Ok(bytes)
        }
    }

    fn read_stdin(&mut self, _: u64) -> io::Result<Vec<u8>> {
        Ok(self.stdin.clone())
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if self.refuse_writes {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        self.files.insert(path.to_owned(), bytes.to_owned());
        Ok(())
    }

    fn create_dir(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

impl Host for MemoryHost {
    fn stdout(&mut self) -> &mut dyn io::Write {
        &mut self.stdout
    }

    fn stderr(&mut self) -> &mut dyn io::Write {
        &mut self.stderr
    }

    fn available_memory(&self) -> Option<u64> {
        self.memory
    }

    fn read_line(&mut self, limit: u64) -> io::Result<Option<String>> {
        let mut rest = &self.stdin[..];
        let line = read_line(&mut rest, limit)?;
        self.stdin = rest.to_vec();
        Ok(line)
    }

    fn wall_clock(&self) -> Option<Duration> {
        self.wall_clock
    }

    fn now(&self) -> Duration {
        tick(&self.milliseconds)
    }

    fn clock(&self) -> Clock {
        let milliseconds = self.milliseconds.clone();
        Box::new(move || tick(&milliseconds))
    }

    fn stderr_is_terminal(&self) -> bool {
        false
    }
}

fn tick(milliseconds: &AtomicU64) -> Duration {
    Duration::from_millis(milliseconds.fetch_add(1, Ordering::Relaxed) + 1)
}

impl MemoryHost {
    /// Creates a host with a file `m.core` that contains `module`.
    pub fn with(module: &str) -> MemoryHost {
        let mut host = MemoryHost::default();
        host.files.insert("m.core".into(), module.into());
        host
    }

    /// Returns the contents of standard error.
    pub fn error(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}
