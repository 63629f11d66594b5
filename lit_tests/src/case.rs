//! A parsed test file.

use std::fs;

use thiserror::Error;

use crate::config::Config;
use crate::discovery::TestFile;
use crate::features::{FeatureError, evaluate};
use crate::sandbox::Sandbox;
use crate::script::{Script, ScriptError};
use crate::shell::{List, ShellError, parse};
use crate::substitution::{Command, SubstitutionError, Substitutions};

/// A parsed test file.
#[derive(Debug)]
pub struct Case<'a> {
    /// The run's settings.
    pub config: &'a Config,
    /// The test.
    pub test: &'a TestFile,
    /// The file's text. Bytes that are not UTF-8 matter only to the tools.
    pub text: String,
    /// Its keyword lines.
    pub script: Script,
    /// The test's scratch folder.
    pub sandbox: Sandbox,
    /// The substitutions after all definitions.
    pub substitutions: Substitutions,
    /// The commands to run, substituted and parsed.
    pub commands: Vec<(Command, List)>,
}

/// An error in a file before any command runs.
#[derive(Debug, Error)]
pub enum Unreadable {
    /// It cannot be read, or its scratch folder cannot be made.
    #[error("{0}")]
    File(#[from] std::io::Error),
    /// A keyword line.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// A substitution.
    #[error(transparent)]
    Substitution(#[from] SubstitutionError),
    /// A command.
    #[error("line {line}: {error}")]
    Shell {
        /// Its 1-based line.
        line: usize,
        /// Its syntax error.
        error: ShellError,
    },
}

impl<'a> Case<'a> {
    /// Reads a test file and parses its commands.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or directives or commands that cannot be parsed.
    pub fn read(config: &'a Config, test: &'a TestFile) -> Result<Case<'a>, Unreadable> {
        let text = String::from_utf8_lossy(&fs::read(&test.path)?).into_owned();
        let script = Script::parse(&text)?;
        let sandbox = Sandbox::create(&config.scratch, &test.name)?;
        let mut substitutions = Substitutions::new(&test.path, sandbox.dir(), &config.features);
        let mut commands = vec![];
        for command in substitutions.commands(&script.directives)? {
            // An `%if` may leave an empty command.
            if !command.text.is_empty() {
                let list = parse(&command.text);
                let list = list.map_err(|error| Unreadable::Shell {
                    line: command.line,
                    error,
                })?;
                commands.push((command, list));
            }
        }
        Ok(Case {
            config,
            test,
            text,
            script,
            sandbox,
            substitutions,
            commands,
        })
    }

    /// Returns the substituted commands.
    pub fn substituted(&self) -> Vec<Command> {
        self.commands
            .iter()
            .map(|(command, _)| command.clone())
            .collect()
    }

    /// Returns why the file is not run here; `None` if it is.
    ///
    /// # Errors
    ///
    /// A feature expression that cannot be parsed.
    pub fn unsupported(&self) -> Result<Option<String>, FeatureError> {
        for expression in &self.script.requires {
            if !evaluate(expression, &self.config.features)? {
                return Ok(Some(format!("requires {expression}")));
            }
        }
        for expression in &self.script.unsupported {
            if evaluate(expression, &self.config.features)? {
                return Ok(Some(format!("unsupported with {expression}")));
            }
        }
        Ok(None)
    }

    /// Returns whether the file is marked as failing here.
    ///
    /// # Errors
    ///
    /// A feature expression that cannot be parsed.
    pub fn expected_to_fail(&self) -> Result<bool, FeatureError> {
        let mut expected = false;
        for expression in &self.script.xfail {
            expected |= expression == "*" || evaluate(expression, &self.config.features)?;
        }
        Ok(expected)
    }
}
