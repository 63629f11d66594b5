//! A world of a few files, captured streams and a clock that ticks when it is read.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mind_driver::host::Host;
use mind_driver::{npz, tools};
use mind_interp::Arrays;
use mind_ir::tensor::Tensor;

#[derive(Default)]
pub struct MemoryHost {
    pub files: BTreeMap<PathBuf, Vec<u8>>,
    pub stdin: Vec<u8>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub refuse_writes: bool,
    pub memory: Option<u64>,
    milliseconds: Cell<u64>,
}

impl Host for MemoryHost {
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

    fn stdout(&mut self) -> &mut dyn io::Write {
        &mut self.stdout
    }

    fn stderr(&mut self) -> &mut dyn io::Write {
        &mut self.stderr
    }

    fn available_memory(&self) -> Option<u64> {
        self.memory
    }

    fn now(&self) -> Duration {
        self.milliseconds.set(self.milliseconds.get() + 1);
        Duration::from_millis(self.milliseconds.get())
    }

    fn stderr_is_terminal(&self) -> bool {
        false
    }
}

impl MemoryHost {
    /// A host whose file `m.core` holds `module`.
    pub fn with(module: &str) -> MemoryHost {
        let mut host = MemoryHost::default();
        host.files.insert("m.core".into(), module.into());
        host
    }

    /// The same with arrays in `in.npz`.
    pub fn and_arrays<'a>(
        mut self,
        arrays: impl IntoIterator<Item = (&'a str, &'a Tensor)>,
    ) -> MemoryHost {
        let named = arrays
            .into_iter()
            .map(|(name, tensor)| (name.to_owned(), tensor));
        self.files
            .insert("in.npz".into(), npz::write(named).unwrap());
        self
    }

    /// Runs the tool with the words of `args`, and gives the exit code.
    pub fn run(&mut self, args: &str) -> u8 {
        let args: Vec<String> = args.split_whitespace().map(str::to_owned).collect();
        tools::run::run(&args, self)
    }

    /// Standard output of a run that must succeed in silence.
    pub fn output(&mut self, args: &str) -> String {
        let code = self.run(args);
        assert_eq!((code, self.error().as_str()), (0, ""));
        String::from_utf8(std::mem::take(&mut self.stdout)).unwrap()
    }

    /// What was written to standard error.
    pub fn error(&self) -> String {
        String::from_utf8(self.stderr.clone()).unwrap()
    }

    /// Standard error of a run that must be rejected, with nothing on standard output and no file.
    pub fn rejection(&mut self, args: &str) -> String {
        let files = self.files.len();
        let code = self.run(&format!("{args} --outputs out.npz"));
        assert_eq!(
            (code, self.stdout.len(), self.files.len()),
            (1, 0, files),
            "{}",
            self.error()
        );
        self.stderr.clear();
        assert_eq!((self.run(args), self.stdout.len()), (1, 0));
        self.error()
    }

    /// The arrays in a file.
    pub fn arrays(&self, path: &str) -> Arrays {
        npz::read(&self.files[Path::new(path)], u64::MAX).unwrap()
    }
}
