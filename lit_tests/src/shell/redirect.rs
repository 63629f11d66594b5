//! Where a command's descriptors lead.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::ShellError;
use super::parse::{Pipeline, Redirect, Target};
use crate::sandbox::Sandbox;
use crate::tool::Shared;

/// The descriptors of one command, with its redirections applied.
#[derive(Debug)]
pub struct Streams {
    /// The file that standard input comes from, if one was named.
    pub input: Option<PathBuf>,
    /// All of standard input.
    pub stdin: Vec<u8>,
    /// Standard output.
    pub stdout: Shared,
    /// Standard error.
    pub stderr: Shared,
    /// What the next command of the pipeline reads.
    pub pipe: Shared,
    files: Vec<(PathBuf, Shared)>,
}

/// Where descriptors lead while redirections are read.
#[derive(Debug, Clone)]
enum Route {
    Pipe,
    Log,
    File(Target),
}

impl Streams {
    /// Applies redirections from left to right, then opens the files, so that `>` empties its file before
    /// the command runs.
    ///
    /// # Errors
    ///
    /// A file that can't be read, or may not be written.
    pub fn open(
        redirects: &[Redirect],
        piped: Vec<u8>,
        cwd: &Path,
        sandbox: &Sandbox,
    ) -> Result<Streams, ShellError> {
        let (mut input, mut out, mut err) = (None, Route::Pipe, Route::Log);
        let mut joined = false;
        for redirect in redirects {
            match redirect {
                Redirect::Stdin(path) => input = Some(path),
                Redirect::Stdout(target) => (out, joined) = (Route::File(target.clone()), false),
                Redirect::Stderr(target) => (err, joined) = (Route::File(target.clone()), false),
                Redirect::StderrToStdout => (err, joined) = (out.clone(), true),
                Redirect::Both(path) => {
                    out = Route::File(Target {
                        path: path.clone(),
                        append: false,
                    });
                    (err, joined) = (out.clone(), true);
                }
            }
        }
        let mut streams = Streams {
            input: input.map(|path| cwd.join(path)),
            stdin: piped,
            stdout: Shared::default(),
            stderr: Shared::default(),
            pipe: Shared::default(),
            files: vec![],
        };
        streams.stdout = streams.route(out, cwd, sandbox)?;
        streams.stderr = if joined {
            Rc::clone(&streams.stdout)
        } else {
            streams.route(err, cwd, sandbox)?
        };
        if let Some(path) = &streams.input {
            streams.stdin = if path == Path::new(NULL) {
                vec![]
            } else {
                fs::read(path).map_err(|error| file_error(path, &error))?
            };
        }
        Ok(streams)
    }

    /// Writes to the files what the command sent there.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn close(&self) -> Result<(), ShellError> {
        for (path, bytes) in &self.files {
            let file = OpenOptions::new().append(true).open(path);
            let written = file.and_then(|mut file| file.write_all(&bytes.borrow()));
            written.map_err(|error| file_error(path, &error))?;
        }
        Ok(())
    }

    fn route(&mut self, route: Route, cwd: &Path, sandbox: &Sandbox) -> Result<Shared, ShellError> {
        let target = match route {
            Route::Pipe => return Ok(Rc::clone(&self.pipe)),
            Route::Log => return Ok(Shared::default()),
            Route::File(target) if target.path == NULL => return Ok(Shared::default()),
            Route::File(target) => target,
        };
        let path = sandbox.writable(cwd, Path::new(&target.path));
        let path = path.ok_or(ShellError::Outside(target.path))?;
        let open = OpenOptions::new()
            .create(true)
            .write(true)
            .append(target.append)
            .truncate(!target.append)
            .open(&path);
        open.map_err(|error| file_error(&path, &error))?;
        let bytes = Shared::default();
        self.files.push((path, Rc::clone(&bytes)));
        Ok(bytes)
    }
}

/// Refuses a file that is opened twice in a pipeline, or written and named elsewhere in it: LLVM's lit
/// starts all commands at once.
///
/// # Errors
///
/// The file.
pub fn check_conflicts(pipeline: &Pipeline) -> Result<(), ShellError> {
    let redirects = pipeline
        .commands
        .iter()
        .flat_map(|command| &command.redirects);
    let mut opened = HashSet::new();
    for (path, writes) in redirects
        .filter_map(opened_file)
        .filter(|(path, _)| *path != NULL)
    {
        let mut words = pipeline.commands.iter().flat_map(|command| &command.words);
        if !opened.insert(path) || writes && words.any(|word| word.ends_with(path)) {
            return Err(ShellError::Conflict(path.to_owned()));
        }
    }
    Ok(())
}

/// The file a redirection opens, and whether to write it.
fn opened_file(redirect: &Redirect) -> Option<(&str, bool)> {
    match redirect {
        Redirect::Stdin(path) => Some((path, false)),
        Redirect::Stdout(target) | Redirect::Stderr(target) => Some((&target.path, true)),
        Redirect::Both(path) => Some((path, true)),
        Redirect::StderrToStdout => None,
    }
}

const NULL: &str = "/dev/null";

fn file_error(path: &Path, error: &std::io::Error) -> ShellError {
    ShellError::File {
        path: path.display().to_string(),
        problem: error.to_string(),
    }
}
