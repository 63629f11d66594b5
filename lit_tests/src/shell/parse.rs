//! Parser of commands, pipelines and lists.

use super::ShellError;
use super::lex::{Token, lex};

/// Pipelines joined by operators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    /// The first pipeline.
    pub first: Pipeline,
    /// The other pipelines; as in lit's shell, the operators have no precedence.
    pub rest: Vec<(Join, Pipeline)>,
}

/// When the next pipeline of a list runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// `;`
    Always,
    /// `&&`
    Success,
    /// `||`
    Failure,
}

/// Commands that each read the output of the previous one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipeline {
    /// The commands, at least one.
    pub commands: Vec<Command>,
}

/// A command's words and redirections.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// The words, at least one.
    pub words: Vec<String>,
    /// The redirections in order, which affects their meaning.
    pub redirects: Vec<Redirect>,
}

/// A redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Redirect {
    /// `< path`
    Stdin(String),
    /// `> path` or `>> path`
    Stdout(Target),
    /// `2> path` or `2>> path`
    Stderr(Target),
    /// `2>&1`
    StderrToStdout,
    /// `&> path`
    Both(String),
}

/// The target file of a redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its name.
    pub path: String,
    /// Whether output is appended to the file.
    pub append: bool,
}

/// Parses a command line.
///
/// # Errors
///
/// A command line that the shell does not support.
pub fn parse(text: &str) -> Result<List, ShellError> {
    let mut tokens = lex(text)?.into_iter().peekable();
    let mut parser = Parser {
        tokens: &mut tokens,
    };
    let first = parser.pipeline()?;
    let mut rest = vec![];
    while let Some(join) = parser.join() {
        rest.push((join, parser.pipeline()?));
    }
    Ok(List { first, rest })
}

struct Parser<'a> {
    tokens: &'a mut std::iter::Peekable<std::vec::IntoIter<Token>>,
}

impl Parser<'_> {
    fn join(&mut self) -> Option<Join> {
        let join = match self.tokens.peek()? {
            Token::Control(";") => Join::Always,
            Token::Control("&&") => Join::Success,
            Token::Control("||") => Join::Failure,
            _ => return None,
        };
        self.tokens.next();
        Some(join)
    }

    fn pipeline(&mut self) -> Result<Pipeline, ShellError> {
        let mut commands = vec![self.command()?];
        while self.tokens.next_if_eq(&Token::Control("|")).is_some() {
            commands.push(self.command()?);
        }
        Ok(Pipeline { commands })
    }

    fn command(&mut self) -> Result<Command, ShellError> {
        let mut command = Command::default();
        let place = match self.tokens.peek() {
            Some(Token::Word(word)) if !word.is_empty() => None,
            Some(Token::Word(_)) => Some("instead of `''`".to_owned()),
            Some(Token::Control(operator) | Token::Redirect(operator, _)) => {
                Some(format!("before `{operator}`"))
            }
            None => Some("at the end".to_owned()),
        };
        if let Some(place) = place {
            return Err(ShellError::Syntax {
                expected: "command",
                place,
            });
        }
        loop {
            match self
                .tokens
                .next_if(|token| !matches!(token, Token::Control(_)))
            {
                None => return Ok(command),
                Some(Token::Word(word)) => command.words.push(word),
                Some(Token::Redirect(operator, descriptor)) => {
                    let redirect = self.redirect(operator, descriptor)?;
                    command.redirects.push(redirect);
                }
                Some(Token::Control(_)) => unreachable!("excluded by the condition"),
            }
        }
    }

    fn redirect(
        &mut self,
        operator: &'static str,
        descriptor: Option<u32>,
    ) -> Result<Redirect, ShellError> {
        let path = match self.tokens.next() {
            Some(Token::Word(path)) if !path.is_empty() => path,
            _ => {
                let place = format!("after `{operator}`");
                return Err(ShellError::Syntax {
                    expected: "file name",
                    place,
                });
            }
        };
        let target = |append| Target {
            path: path.clone(),
            append,
        };
        match (operator, descriptor) {
            ("<", None) => Ok(Redirect::Stdin(path)),
            (">", None) => Ok(Redirect::Stdout(target(false))),
            (">>", None) => Ok(Redirect::Stdout(target(true))),
            (">", Some(2)) => Ok(Redirect::Stderr(target(false))),
            (">>", Some(2)) => Ok(Redirect::Stderr(target(true))),
            (">&", Some(2)) if path == "1" => Ok(Redirect::StderrToStdout),
            ("&>", None) => Ok(Redirect::Both(path)),
            _ => {
                let descriptor = descriptor.map_or_else(String::new, |number| number.to_string());
                Err(ShellError::Operator(format!(
                    "{descriptor}{operator} {path}"
                )))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_keeps_its_order() {
        let list = parse("a x | b && c ; d || e").unwrap();
        assert_eq!(list.first.commands[0].words, ["a", "x"]);
        assert_eq!(list.first.commands[1].words, ["b"]);
        let rest: Vec<_> = list
            .rest
            .iter()
            .map(|(join, next)| (*join, &*next.commands[0].words[0]))
            .collect();
        assert_eq!(
            rest,
            [
                (Join::Success, "c"),
                (Join::Always, "d"),
                (Join::Failure, "e")
            ]
        );
    }

    #[test]
    fn redirections() {
        let list = parse("a <i 2>&1 >o 2>>e &>b x").unwrap();
        let command = &list.first.commands[0];
        assert_eq!(command.words, ["a", "x"]);
        assert_eq!(
            command.redirects,
            [
                Redirect::Stdin("i".into()),
                Redirect::StderrToStdout,
                Redirect::Stdout(Target {
                    path: "o".into(),
                    append: false
                }),
                Redirect::Stderr(Target {
                    path: "e".into(),
                    append: true
                }),
                Redirect::Both("b".into()),
            ]
        );
    }

    #[test]
    fn mistakes() {
        for text in [
            "", "| a", "a |", "a &&", "a ; ; b", "a >", "a > | b", "'' a", "a 3> b", "a >& 2",
            "a 1> b",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
