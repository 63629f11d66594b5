//! Whether a module is interesting.

use std::path::PathBuf;

use mind_diag::Diagnostics;
use mind_ir::Graph;
use mind_ir::listener::Silent;
use mind_ir::verify::VerifyConfig;
use mind_mil::check::Interface;
use mind_text::Format;
use thiserror::Error;

use super::args::{Args, EngineKind, Test};
use super::fault::{Optimiser, Runner, Stop};
use crate::emit::emit;
use crate::engine::{Config, Engine};
use crate::host::Host;
use crate::session::Session;

/// Tells which modules are interesting.
pub(super) struct Oracle<'a> {
    pub(super) test: Test,
    pub(super) format: Format,
    pub(super) runner: Runner,
    pub(super) optimiser: &'a Optimiser<'a>,
}

/// Why nothing can be told.
#[derive(Debug, Error)]
pub(super) enum Trouble {
    #[error("the module is not interesting: {0} does not hold for it")]
    NotInteresting(String),
    #[error("the module is interesting before any rewrite is made, so none is to blame")]
    NoRewrite,
    #[error("--test: {0}")]
    Command(std::io::Error),
    #[error("{}: {error}", .path.display())]
    File {
        path: PathBuf,
        error: std::io::Error,
    },
}

/// In which way a module is interesting, so that another fault is not taken for it.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Any,
    Stopped(Stop),
}

impl<'a> Oracle<'a> {
    /// What the command line asks for, for candidates in `format`.
    ///
    /// Errors: an engine that the machine does not have.
    pub(super) fn new(
        args: &Args,
        format: Format,
        optimiser: &'a Optimiser<'a>,
    ) -> Result<Oracle<'a>, Diagnostics> {
        let runner = match args.engine {
            EngineKind::Interp => Runner::Interpreter,
            EngineKind::Jit => Runner::Code(Box::new(Engine::new(&Config::default())?)),
        };
        Ok(Oracle {
            test: args.test.clone(),
            format,
            runner,
            optimiser,
        })
    }

    pub(super) fn session(&self) -> &'a Session {
        self.optimiser.session
    }

    pub(super) fn verify(&self) -> VerifyConfig {
        self.optimiser.verify
    }

    /// What is looked for, in words.
    pub(super) fn describe(&self) -> String {
        match &self.test {
            Test::Command(command) => format!("`{command}`"),
            Test::Crash => "`@crash`".to_owned(),
            Test::Differs => "`@differs`".to_owned(),
        }
    }

    /// Whether a verified module keeps the rules of its format.
    pub(super) fn is_sound(&self, g: &Graph) -> bool {
        !matches!(self.format, Format::Mil | Format::MilPrimer)
            || !mind_mil::check::check(g, Interface::Any).has_errors()
    }

    /// Whether a module is interesting as the passes' input.
    ///
    /// Errors: the command cannot be run.
    pub(super) fn holds(&self, g: &Graph, host: &mut dyn Host) -> Result<bool, Trouble> {
        match &self.test {
            Test::Command(command) => self.command_holds(command, g, host),
            Test::Crash | Test::Differs => {
                Ok(self.result_holds(g, &self.optimiser.run(g, &mut Silent)))
            }
        }
    }

    /// As [`holds`](Oracle::holds), in the same way as another module.
    pub(super) fn holds_as(
        &self,
        kind: &Kind,
        g: &Graph,
        host: &mut dyn Host,
    ) -> Result<bool, Trouble> {
        Ok(self.holds(g, host)? && self.kind(g) == *kind)
    }

    /// In which way an interesting module is so.
    pub(super) fn kind(&self, g: &Graph) -> Kind {
        match self.test {
            Test::Crash => self
                .optimiser
                .run(g, &mut Silent)
                .err()
                .map_or(Kind::Any, Kind::Stopped),
            Test::Command(_) | Test::Differs => Kind::Any,
        }
    }

    /// Whether what the passes made of `input` is interesting.
    ///
    /// Errors: the command cannot be run.
    pub(super) fn output_holds(
        &self,
        input: &Graph,
        output: &Result<Graph, Stop>,
        host: &mut dyn Host,
    ) -> Result<bool, Trouble> {
        match (&self.test, output) {
            (Test::Command(command), Ok(output)) => self.command_holds(command, output, host),
            (Test::Command(_), Err(_)) => Ok(false),
            (Test::Crash | Test::Differs, output) => Ok(self.result_holds(input, output)),
        }
    }

    fn result_holds(&self, input: &Graph, output: &Result<Graph, Stop>) -> bool {
        match (&self.test, output) {
            (Test::Crash, Err(stop)) => *stop != Stop::Refused,
            (Test::Differs, Ok(output)) => self.runner.difference(input, output).is_some(),
            _ => false,
        }
    }

    fn command_holds(
        &self,
        command: &str,
        g: &Graph,
        host: &mut dyn Host,
    ) -> Result<bool, Trouble> {
        let Ok(emitted) = emit(&self.session().formats, g, self.format, None) else {
            return Ok(false);
        };
        let folder = host.scratch_dir().map_err(Trouble::Command)?;
        let path = folder.join(candidate_name(emitted.format));
        let written = host.write(&path, emitted.text.as_bytes());
        written.map_err(|error| Trouble::File {
            path: path.clone(),
            error,
        })?;
        let path = quoted(&path.to_string_lossy());
        let line = match command.contains("{}") {
            true => command.replace("{}", &path),
            false => format!("{command} {path}"),
        };
        Ok(host.shell(&line).map_err(Trouble::Command)? == 0)
    }
}

fn candidate_name(format: Format) -> &'static str {
    match format {
        Format::Mic1 => "candidate.mic",
        Format::Mic2 => "candidate.mic2",
        Format::Core => "candidate.core",
        Format::Mil | Format::MilPrimer => "candidate.mil",
    }
}

/// A word of the shell's language.
fn quoted(path: &str) -> String {
    format!("'{}'", path.replace('\'', "'\\''"))
}
