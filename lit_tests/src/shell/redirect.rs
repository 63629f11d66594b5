//! Redirections of a command's file descriptors.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::ShellError;
use super::parse::{Pipeline, Redirect, Target};
use crate::sandbox::Sandbox;
use crate::tool::Shared;

/// The streams of one command after its redirections.
#[derive(Debug)]
pub struct Streams {
    /// The file that standard input is redirected from, if any.
    pub input: Option<PathBuf>,
    /// The contents of standard input.
    pub stdin: Vec<u8>,
    /// Standard output.
    pub stdout: Shared,
    /// Standard error.
    pub stderr: Shared,
    /// The input of the next command of the pipeline.
    pub pipe: Shared,
    files: Vec<(PathBuf, Shared)>,
}

/// The target of a descriptor while redirections are processed.
#[derive(Debug, Clone)]
enum Route {
    Pipe,
    Log,
    File(Target),
}

impl Streams {
    /// Applies redirections from left to right, then opens the files, because `>` must truncate its file before the
    /// command runs.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or must not be written.
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

    /// Writes the redirected output to its files.
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

/// Rejects a file that is opened twice in a pipeline, or written and used elsewhere in it, because LLVM's lit runs all
/// commands concurrently.
///
/// # Errors
///
/// If there is such a file.
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

/// Returns the file that a redirection opens, and whether it is written.
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
