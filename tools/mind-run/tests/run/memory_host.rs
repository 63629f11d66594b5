//! Runs the tool on a host in memory.

use std::path::Path;

pub use mind_cli::MemoryHost;
use mind_cli::npz;
use mind_interp::Arrays;
use mind_ir::tensor::Tensor;

pub trait RunTool {
    /// Returns the host with arrays in `in.npz`.
    fn and_arrays<'a>(self, arrays: impl IntoIterator<Item = (&'a str, &'a Tensor)>) -> Self;

    /// Runs the tool with the words of `args`; returns the exit code.
    fn run(&mut self, args: &str) -> u8;

    /// Returns the standard output of a successful run without messages.
    fn output(&mut self, args: &str) -> String;

    /// Returns the standard error of a rejected run without output and files.
    fn rejection(&mut self, args: &str) -> String;

    /// Returns the arrays in a file.
    fn arrays(&self, path: &str) -> Arrays;
}

impl RunTool for MemoryHost {
    fn and_arrays<'a>(mut self, arrays: impl IntoIterator<Item = (&'a str, &'a Tensor)>) -> Self {
        let named = arrays
            .into_iter()
            .map(|(name, tensor)| (name.to_owned(), tensor));
        self.files
            .insert("in.npz".into(), npz::write(named).unwrap());
        self
    }

    fn run(&mut self, args: &str) -> u8 {
        let args: Vec<String> = args.split_whitespace().map(str::to_owned).collect();
        mind_run::run(&args, self)
    }

    fn output(&mut self, args: &str) -> String {
        let code = self.run(args);
        assert_eq!((code, self.error().as_str()), (0, ""));
        String::from_utf8(std::mem::take(&mut self.stdout)).unwrap()
    }

    fn rejection(&mut self, args: &str) -> String {
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

    fn arrays(&self, path: &str) -> Arrays {
        npz::read(&self.files[Path::new(path)], u64::MAX).unwrap()
    }
}
