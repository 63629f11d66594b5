//! The interestingness test of modules.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use mind_driver::emit::emit;
use mind_driver::formats::{Format, FormatInfo};
use mind_driver::host::{ChildLimits, Host, ProcessEnd};
use mind_driver::session::Session;
use mind_ir::Graph;
use mind_ir::verify::VerifyConfig;
use mind_mil::check::Interface;
use thiserror::Error;

use super::args::Test;
use super::case::{Case, FLAG, Outcome, Report, Setup};
use super::fault::Stop;

/// Decides which modules are interesting.
pub(super) struct Oracle<'a> {
    pub(super) test: Test,
    pub(super) format: &'static FormatInfo,
    pub(super) setup: &'a Setup,
    pub(super) session: &'a Session,
    pub(super) verify: VerifyConfig,
    pub(super) evaluate: Evaluate<'a>,
    /// The time limit of a command.
    pub(super) time: Duration,
}

/// Runs a case.
///
/// # Errors
///
/// The case could not be run.
pub(super) type Evaluate<'a> = Box<dyn Fn(&Case<'_>, &mut dyn Host) -> io::Result<Report> + 'a>;

/// Runs each case in a separate process.
pub(super) fn in_processes<'a>(setup: &'a Setup, limits: ChildLimits) -> Evaluate<'a> {
    Box::new(move |case, host| {
        let document = setup.document(case);
        let ended = host.rerun(&[FLAG], document.as_bytes(), &limits)?;
        Ok(Report::read(&ended))
    })
}

/// Why a reduction or a bisection is not possible.
#[derive(Debug, Error)]
pub(super) enum Trouble {
    #[error("the module is not interesting: {test} does not hold for it{}", instead.as_ref().map_or(String::new(), |why| format!("; {why}")))]
    NotInteresting {
        test: String,
        /// The observed behaviour.
        instead: Option<String>,
    },
    #[error("the module is interesting before any rewrite is made, so none is to blame")]
    NoRewrite,
    #[error("--test: {0}")]
    Command(io::Error),
    #[error("a case could not be run in a separate process: {0}")]
    Process(io::Error),
    #[error("{}: {error}", .path.display())]
    File { path: PathBuf, error: io::Error },
}

/// The way in which a module is interesting, so that the reduction does not slip to another fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Interest {
    /// The command succeeds.
    Command,
    /// The results differ.
    Differs,
    /// This crash occurs.
    Stopped(Stop),
}

impl<'a> Oracle<'a> {
    /// Returns a description of the test.
    pub(super) fn describe(&self) -> String {
        match &self.test {
            Test::Command(command) => format!("`{command}`"),
            Test::Crash => "`@crash`".to_owned(),
            Test::Differs => "`@differs`".to_owned(),
        }
    }

    /// Returns whether a verified module satisfies the rules of its format.
    pub(super) fn is_sound(&self, g: &Graph) -> bool {
        !matches!(self.format.text(), Some(Format::Mil | Format::MilPrimer))
            || !mind_mil::check::check(g, Interface::Any).has_errors()
    }

    /// Returns the way in which a module is interesting as input of the passes; `None` if it is not.
    ///
    /// # Errors
    ///
    /// The command or the case cannot be run.
    pub(super) fn kind(&self, g: &Graph, host: &mut dyn Host) -> Result<Option<Interest>, Trouble> {
        if let Test::Command(command) = &self.test {
            let end = self.command_end(command, g, host)?;
            return Ok((end == Some(ProcessEnd::Code(0))).then_some(Interest::Command));
        }
        Ok(self.verdict(&self.report(g, host)?))
    }

    /// Returns the error for a module that is not interesting, with the reason if something else stopped it.
    ///
    /// # Errors
    ///
    /// The case cannot be run.
    pub(super) fn not_interesting(
        &self,
        g: &Graph,
        host: &mut dyn Host,
    ) -> Result<Trouble, Trouble> {
        let instead = match &self.test {
            Test::Command(command) => match self.command_end(command, g, host)? {
                Some(ProcessEnd::TimedOut) => Some(format!(
                    "the command takes longer than {} s, see `--time-limit`",
                    self.time.as_secs()
                )),
                Some(ProcessEnd::Signal(signal)) => {
                    Some(format!("the command is ended by signal {signal}"))
                }
                Some(ProcessEnd::Code(_)) | None => None,
            },
            Test::Crash | Test::Differs => self.stopped(&self.report(g, host)?.outcome),
        };
        Ok(Trouble::NotInteresting {
            test: self.describe(),
            instead,
        })
    }

    /// Returns how a case stopped, if it is not in the expected way.
    pub(super) fn stopped(&self, outcome: &Outcome) -> Option<String> {
        let Outcome::Stopped(stop) = outcome else {
            return None;
        };
        if stop.is_crash() && self.test == Test::Differs {
            Some(format!("{stop}, which `--test @crash` looks for"))
        } else {
            Some(stop.to_string())
        }
    }

    /// Returns the report of a module's case; a module that cannot be printed is rejected.
    fn report(&self, g: &Graph, host: &mut dyn Host) -> Result<Report, Trouble> {
        let Ok(emitted) = emit(&self.session.formats, g, self.format, None) else {
            return Ok(Report {
                made: 0,
                last: None,
                outcome: Outcome::Stopped(Stop::Refused),
            });
        };
        let case = Case {
            name: "candidate",
            text: &emitted.text,
            from: Some(emitted.format.info()),
            limit: None,
        };
        (self.evaluate)(&case, host).map_err(Trouble::Process)
    }

    /// Returns the way in which a report is interesting. A command has to run on the output of the passes instead.
    fn verdict(&self, report: &Report) -> Option<Interest> {
        let wanted = |stop: &Stop| match self.test {
            Test::Command(_) => false,
            Test::Crash => stop.is_crash(),
            Test::Differs => stop.is_without_results(),
        };
        match &report.outcome {
            Outcome::Stopped(stop) if wanted(stop) => Some(Interest::Stopped(stop.clone())),
            Outcome::Differs if self.test == Test::Differs => Some(Interest::Differs),
            Outcome::Done(_) | Outcome::Differs | Outcome::Stopped(_) => None,
        }
    }

    /// Returns the way in which the output of the passes is interesting; `None` if it is not.
    ///
    /// # Errors
    ///
    /// The command cannot be run.
    pub(super) fn output_kind(
        &self,
        report: &Report,
        host: &mut dyn Host,
    ) -> Result<Option<Interest>, Trouble> {
        match (&self.test, &report.outcome) {
            (Test::Command(command), Outcome::Done(output)) => {
                let (format, text) = output.split_once('\n').unwrap_or_default();
                let format = Format::parse(format)
                    .or(self.format.text())
                    .unwrap_or(Format::Core);
                let end = command_end(command, format, text, self.time, host)?;
                Ok((end == ProcessEnd::Code(0)).then_some(Interest::Command))
            }
            (Test::Command(_) | Test::Crash | Test::Differs, _) => Ok(self.verdict(report)),
        }
    }

    /// Returns how the command ends for a module; `None` if the module cannot be printed.
    fn command_end(
        &self,
        command: &str,
        g: &Graph,
        host: &mut dyn Host,
    ) -> Result<Option<ProcessEnd>, Trouble> {
        match emit(&self.session.formats, g, self.format, None) {
            Ok(emitted) => {
                command_end(command, emitted.format, &emitted.text, self.time, host).map(Some)
            }
            Err(_) => Ok(None),
        }
    }
}

fn command_end(
    command: &str,
    format: Format,
    text: &str,
    time: Duration,
    host: &mut dyn Host,
) -> Result<ProcessEnd, Trouble> {
    let folder = host.scratch_dir().map_err(Trouble::Command)?;
    let path = folder.join("candidate").with_extension(format.extension());
    let written = host.write(&path, text.as_bytes());
    written.map_err(|error| Trouble::File {
        path: path.clone(),
        error,
    })?;
    let path = mind_cli::shell_word(&path.to_string_lossy());
    let line = match command.contains("{}") {
        true => command.replace("{}", &path),
        false => format!("{command} {path}"),
    };
    host.shell(&line, time).map_err(Trouble::Command)
}
