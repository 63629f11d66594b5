//! Lexer of command lines.

use super::ShellError;

/// A token of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// A word with its quotes removed.
    Word(String),
    /// `|`, `||`, `&&` or `;`.
    Control(&'static str),
    /// A redirection operator, and the file descriptor before it.
    Redirect(&'static str, Option<u32>),
}

/// Splits a command line into tokens, with the quoting rules of lit's internal shell.
///
/// # Errors
///
/// A missing quote, an escape at either end, an unquoted `*` or `?`, or an unsupported operator.
pub fn lex(text: &str) -> Result<Vec<Token>, ShellError> {
    let mut lexer = Lexer { rest: text };
    let mut tokens = vec![];
    loop {
        lexer.rest = lexer.rest.trim_start();
        match lexer.rest.chars().next() {
            None => return Ok(tokens),
            Some(first) => tokens.push(lexer.token(first)?),
        }
    }
}

/// The operators, longest first.
const OPERATORS: [&str; 13] = [
    "||", "&&", "&>", ">&", ">>", "<&", "<<", "<>", "|", "&", ";", ">", "<",
];

struct Lexer<'a> {
    rest: &'a str,
}

impl Lexer<'_> {
    fn token(&mut self, first: char) -> Result<Token, ShellError> {
        match first {
            '|' | '&' | ';' | '<' | '>' => self.operator(None),
            '\\' => Err(ShellError::LeadingEscape),
            _ => self.word(),
        }
    }

    fn operator(&mut self, descriptor: Option<u32>) -> Result<Token, ShellError> {
        let operator = OPERATORS
            .into_iter()
            .find(|operator| self.rest.starts_with(operator));
        let operator = operator.expect("called in front of one");
        self.rest = &self.rest[operator.len()..];
        match operator {
            "|" | "||" | "&&" | ";" => Ok(Token::Control(operator)),
            ">" | ">>" | "<" | "&>" | ">&" => Ok(Token::Redirect(operator, descriptor)),
            _ => Err(ShellError::Operator(operator.to_owned())),
        }
    }

    fn word(&mut self) -> Result<Token, ShellError> {
        let mut word = String::new();
        while let Some(next) = self.rest.chars().next() {
            match next {
                '|' | '&' | ';' => break,
                '<' | '>' => match word.parse() {
                    Ok(descriptor) => return self.operator(Some(descriptor)),
                    Err(_) => break,
                },
                _ if next.is_whitespace() => break,
                '*' | '?' => return Err(ShellError::Glob(next)),
                '\'' => {
                    let (quoted, rest) = self.rest[1..]
                        .split_once('\'')
                        .ok_or(ShellError::Quote('\''))?;
                    word.push_str(quoted);
                    self.rest = rest;
                }
                '"' => self.double_quoted(&mut word)?,
                '\\' => {
                    let escaped = self.rest[1..]
                        .chars()
                        .next()
                        .ok_or(ShellError::TrailingEscape)?;
                    word.push(escaped);
                    self.rest = &self.rest[1 + escaped.len_utf8()..];
                }
                _ => {
                    word.push(next);
                    self.rest = &self.rest[next.len_utf8()..];
                }
            }
        }
        Ok(Token::Word(word))
    }

    /// In double quotes, `\` escapes `"`, `\` and `$`, and is literal before other characters.
    fn double_quoted(&mut self, word: &mut String) -> Result<(), ShellError> {
        let mut chars = self.rest[1..].char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[1 + at + 1..];
                    return Ok(());
                }
                '\\' => match chars.next() {
                    Some((_, escaped @ ('"' | '\\' | '$'))) => word.push(escaped),
                    Some((_, other)) => word.extend(['\\', other]),
                    None => return Err(ShellError::Quote('"')),
                },
                _ => word.push(c),
            }
        }
        Err(ShellError::Quote('"'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let tokens = lex(text).unwrap().into_iter();
        let words = tokens.map(|token| match token {
            Token::Word(word) => word,
            Token::Control(operator) => format!("[{operator}]"),
            Token::Redirect(operator, None) => format!("[{operator}]"),
            Token::Redirect(operator, Some(descriptor)) => format!("[{descriptor}{operator}]"),
        });
        words.collect()
    }

    #[test]
    fn quotes() {
        assert_eq!(words(r#"a 'b "c' "d 'e""#), ["a", "b \"c", "d 'e"]);
        assert_eq!(
            words(r#"x"\"\\\$\n" '\n' a\ b\""#),
            [r#"x"\$\n"#, r"\n", "a b\""]
        );
        assert_eq!(words("a '' 'p q'r\"s\""), ["a", "", "p qrs"]);
        assert_eq!(words("'*' \"?\" a\\*"), ["*", "?", "a*"]);
    }

    #[test]
    fn operators() {
        assert_eq!(
            words("a|b||c;d&&e"),
            ["a", "[|]", "b", "[||]", "c", "[;]", "d", "[&&]", "e"]
        );
        assert_eq!(
            words("a 2>&1 2>b >>c <d &>e"),
            [
                "a", "[2>&]", "1", "[2>]", "b", "[>>]", "c", "[<]", "d", "[&>]", "e"
            ]
        );
        assert_eq!(
            words("a2>b --x=2 >c"),
            ["a2", "[>]", "b", "--x=2", "[>]", "c"]
        );
    }

    #[test]
    fn refusals() {
        assert_eq!(lex("a 'b"), Err(ShellError::Quote('\'')));
        assert_eq!(lex("a \"b\\"), Err(ShellError::Quote('"')));
        assert_eq!(lex("a b\\"), Err(ShellError::TrailingEscape));
        assert_eq!(lex("a \\b"), Err(ShellError::LeadingEscape));
        assert_eq!(lex("a *.mic"), Err(ShellError::Glob('*')));
        assert_eq!(lex("a & b"), Err(ShellError::Operator("&".into())));
        assert_eq!(lex("a << b"), Err(ShellError::Operator("<<".into())));
    }
}
