//! Runs lists, pipelines and commands.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::ShellError;
use super::builtin::{self, Builtin, Surroundings, assign};
use super::parse::{Command, Join, List, Pipeline, Redirect, parse};
use super::redirect::{Streams, check_conflicts};
use mind_driver::host::Style;

use crate::config::Config;
use crate::sandbox::Sandbox;
use crate::tool::{CommandHost, Exit, Sink, call, call_filecheck};

/// A shell for the commands of one test.
#[derive(Debug)]
pub struct Shell<'a> {
    config: &'a Config,
    sandbox: &'a Sandbox,
    surroundings: Surroundings,
    /// All commands that ran, by pipeline.
    pub trace: Vec<Vec<CommandRun>>,
}

/// A command that ran.
#[derive(Debug, Clone)]
pub struct CommandRun {
    /// The words of the command, including `not` and `env`.
    pub written: Vec<String>,
    /// The program's name and arguments.
    pub argv: Vec<String>,
    /// The file that standard input was redirected from, if any.
    pub input: Option<PathBuf>,
    /// Whether it ran under `not`.
    pub negated: bool,
    /// The end of the program itself.
    pub exit: Exit,
    /// Whether that counts as success.
    pub success: bool,
    /// Everything written to standard output, regardless of redirections.
    pub stdout: Vec<u8>,
    /// Everything written to standard error.
    pub stderr: Vec<u8>,
}

/// The outcome that `not` requires of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Demand {
    Success,
    Failure,
    Crash,
}

impl Demand {
    fn met(self, exit: Exit) -> bool {
        match (self, exit) {
            (Demand::Success, Exit::Code(code)) => code == 0,
            (Demand::Failure, Exit::Code(code)) => code != 0,
            (Demand::Crash, Exit::Code(_)) => false,
            (demand, Exit::Crash) => demand == Demand::Crash,
        }
    }
}

/// A command without the prefixes before the program's name.
struct Prepared {
    argv: Vec<String>,
    env: Option<BTreeMap<String, String>>,
    demand: Demand,
}

impl<'a> Shell<'a> {
    /// Returns a shell in the test's scratch folder, with strict variable scopes in FileCheck.
    pub fn new(config: &'a Config, sandbox: &'a Sandbox) -> Shell<'a> {
        let env = [("FILECHECK_OPTS".to_owned(), "--enable-var-scope".to_owned())].into();
        let surroundings = Surroundings {
            cwd: sandbox.dir().to_owned(),
            env,
        };
        Shell {
            config,
            sandbox,
            surroundings,
            trace: vec![],
        }
    }

    /// Runs a list and returns whether it succeeded.
    ///
    /// # Errors
    ///
    /// Unsupported syntax or an unknown command, after which the rest of the list is not run.
    pub fn run(&mut self, list: &List) -> Result<bool, ShellError> {
        let mut success = self.pipeline(&list.first)?;
        for (join, pipeline) in &list.rest {
            let runs = match join {
                Join::Always => true,
                Join::Success => success,
                Join::Failure => !success,
            };
            if runs {
                success = self.pipeline(pipeline)?;
            }
        }
        Ok(success)
    }

    /// Runs the commands one after another; one failure fails the pipeline.
    fn pipeline(&mut self, pipeline: &Pipeline) -> Result<bool, ShellError> {
        check_conflicts(pipeline)?;
        let mut piped = vec![];
        let mut success = true;
        self.trace.push(vec![]);
        for command in &pipeline.commands {
            let run;
            (run, piped) = self.command(command, piped, pipeline.commands.len() > 1)?;
            success &= run.success;
            self.trace.last_mut().expect("pushed above").push(run);
        }
        Ok(success)
    }

    /// Runs one command and returns the input of the next one.
    fn command(
        &mut self,
        command: &Command,
        piped: Vec<u8>,
        in_pipe: bool,
    ) -> Result<(CommandRun, Vec<u8>), ShellError> {
        let Prepared { argv, env, demand } = prepare(&command.words, &self.surroundings.env)?;
        let (name, args) = (argv[0].as_str(), &argv[1..]);
        let filecheck_options = env
            .as_ref()
            .unwrap_or(&self.surroundings.env)
            .get("FILECHECK_OPTS")
            .cloned()
            .unwrap_or_default();
        let builtin = builtin::find(name);
        if let Some(builtin) = builtin {
            check_builtin(name, builtin, env.is_some(), demand, in_pipe)?;
            check_redirects(name, builtin, &command.redirects)?;
            check_diff(&argv, in_pipe || !command.redirects.is_empty())?;
        }
        if name != "cd" && !self.surroundings.cwd.is_dir() {
            let path = self.surroundings.cwd.display().to_string();
            return Err(ShellError::File {
                path,
                problem: "no such folder to run in".to_owned(),
            });
        }
        let mut streams = Streams::open(
            &command.redirects,
            piped,
            &self.surroundings.cwd,
            self.sandbox,
        )?;
        let (config, sandbox) = (self.config, self.sandbox);
        let shell = move |line: &str, cwd: &Path| run_line(config, sandbox, line, cwd);
        let mut host = CommandHost {
            cwd: self.surroundings.cwd.clone(),
            sandbox: self.sandbox,
            stdin: std::mem::take(&mut streams.stdin),
            stdout: Sink::new(streams.stdout.clone()),
            stderr: Sink::new(streams.stderr.clone()),
            shell: Some(&shell),
            tool: None,
            env: env.unwrap_or_else(|| self.surroundings.env.clone()),
            style: Style::default(),
        };
        let exit = match (builtin, self.config.tool(name)) {
            (Some(Builtin::Filter(run)), _) => Exit::Code(run(args, &mut host)?),
            (Some(Builtin::Action(run)), _) => {
                Exit::Code(run(args, &mut host, &mut self.surroundings)?)
            }
            (None, Some(tool)) => call(tool, args, &mut host),
            (None, None) if is_filecheck(name) => {
                call_filecheck(args, &filecheck_options, &mut host)
            }
            (None, None) => return Err(ShellError::UnknownCommand(name.to_owned())),
        };
        let (stdout, stderr) = (host.stdout.into_seen(), host.stderr.into_seen());
        streams.close()?;
        let run = CommandRun {
            written: command.words.clone(),
            input: streams.input.clone(),
            negated: demand != Demand::Success,
            exit,
            success: demand.met(exit),
            stdout,
            stderr,
            argv,
        };
        Ok((run, streams.pipe.take()))
    }
}

/// Runs a command line given to a tool and returns the exit code 0 or 1.
fn run_line(config: &Config, sandbox: &Sandbox, line: &str, cwd: &Path) -> io::Result<u8> {
    let unknown = |error: ShellError| io::Error::other(error.to_string());
    let mut shell = Shell::new(config, sandbox);
    shell.surroundings.cwd = cwd.to_owned();
    let succeeded = shell.run(&parse(line).map_err(unknown)?).map_err(unknown)?;
    Ok(u8::from(!succeeded))
}

/// Returns whether a command is FileCheck, under either name.
pub fn is_filecheck(name: &str) -> bool {
    name == "FileCheck" || name == "filecheck"
}

/// Consumes leading `env …`, `not` and `not --crash`.
fn prepare(words: &[String], outer: &BTreeMap<String, String>) -> Result<Prepared, ShellError> {
    let mut rest = words;
    let mut env = None;
    let mut demand = Demand::Success;
    let missing = |name: &str| ShellError::Operands {
        command: name.to_owned(),
        expected: "a command",
    };
    loop {
        match rest {
            [name, args @ ..] if name == "env" => {
                rest = assign(args, env.get_or_insert_with(|| outer.clone()));
                if rest.is_empty() {
                    return Err(missing("env"));
                }
            }
            [name, args @ ..] if name == "not" => {
                let crash = args.first().is_some_and(|flag| flag == "--crash");
                demand = match (demand, crash) {
                    (Demand::Success, true) => Demand::Crash,
                    (Demand::Success, false) => Demand::Failure,
                    (Demand::Failure, false) => Demand::Success,
                    _ => {
                        return Err(ShellError::Prefix {
                            prefix: "not",
                            command: "not --crash".to_owned(),
                        });
                    }
                };
                rest = if crash { &args[1..] } else { args };
                if rest.is_empty() {
                    return Err(missing("not"));
                }
            }
            [name, ..] if name == "!" => return Err(ShellError::Bang(name.clone())),
            _ => {
                return Ok(Prepared {
                    argv: rest.to_vec(),
                    env,
                    demand,
                });
            }
        }
    }
}

/// Rejects uses of builtins that lit's shell does not support.
fn check_builtin(
    name: &str,
    builtin: Builtin,
    own_env: bool,
    demand: Demand,
    in_pipe: bool,
) -> Result<(), ShellError> {
    let refuse = |prefix| {
        Err(ShellError::Prefix {
            prefix,
            command: name.to_owned(),
        })
    };
    match builtin {
        _ if demand == Demand::Crash => refuse("not --crash"),
        _ if own_env => refuse("env"),
        Builtin::Action(_) if in_pipe => Err(ShellError::Piped(name.to_owned())),
        _ => Ok(()),
    }
}

/// Rejects redirections that lit's shell does not support: it redirects only the output of `echo`, and no actions.
fn check_redirects(name: &str, builtin: Builtin, redirects: &[Redirect]) -> Result<(), ShellError> {
    let allowed = |redirect: &Redirect| match builtin {
        Builtin::Action(_) => false,
        Builtin::Filter(_) => name != "echo" || matches!(redirect, Redirect::Stdout(_)),
    };
    if redirects.iter().all(allowed) {
        Ok(())
    } else {
        Err(ShellError::Redirected(name.to_owned()))
    }
}

/// Rejects `diff` without `-u`, because lit's output differs from ours.
fn check_diff(argv: &[String], read_on: bool) -> Result<(), ShellError> {
    let unified = argv.iter().any(|flag| flag == "-u" || flag == "-U");
    if argv[0] == "diff" && read_on && !unified {
        let expected = "`-u` in a pipeline or with a redirection";
        return Err(ShellError::Operands {
            command: "diff".to_owned(),
            expected,
        });
    }
    Ok(())
}
