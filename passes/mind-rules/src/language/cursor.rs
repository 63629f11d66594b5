//! The token cursor of the parser.

use mind_diag::Diagnostic;

use super::ast::Name;
use super::lex::{Token, TokenKind};

/// The deepest nesting of terms and conditions.
const MAX_DEPTH: usize = 32;

/// The result of parsing a node.
pub(super) type Parsed<T> = Result<T, Box<Diagnostic>>;

/// The parser: a cursor over the tokens.
pub(super) struct Parser<'t, 's> {
    tokens: &'t [Token<'s>],
    at: usize,
    pub(super) depth: usize,
}

impl<'t, 's> Parser<'t, 's> {
    /// Creates a parser at the first of `tokens`, of which the last is the end token.
    pub(super) fn new(tokens: &'t [Token<'s>]) -> Parser<'t, 's> {
        Parser {
            tokens,
            at: 0,
            depth: 0,
        }
    }

    /// Returns the index of the next token.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Returns the next token without consuming it.
    pub(super) fn peek(&self) -> Token<'s> {
        self.tokens[self.at]
    }

    /// Consumes and returns the next token; the end token is never consumed.
    pub(super) fn next(&mut self) -> Token<'s> {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Returns whether the next token is this sign or word.
    pub(super) fn is(&self, text: &str) -> bool {
        let token = self.peek();
        matches!(token.kind, TokenKind::Sign | TokenKind::Word) && token.text == text
    }

    /// Consumes the next token if it is this sign or word.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.is(text);
        if found {
            self.next();
        }
        found
    }

    /// Consumes the next token; errors if it is not this sign or word.
    pub(super) fn expect(&mut self, text: &str) -> Parsed<Token<'s>> {
        if self.is(text) {
            Ok(self.next())
        } else {
            Err(self.unexpected(&format!("`{text}`")))
        }
    }

    /// Returns the error for an unexpected token.
    pub(super) fn unexpected(&self, expected: &str) -> Box<Diagnostic> {
        let token = self.peek();
        let message = match token.kind {
            TokenKind::End => format!("expected {expected}, found the end of the file"),
            kind => format!("expected {expected}, found `{}{}`", kind.mark(), token.text),
        };
        let error = Diagnostic::error(token.span, message);
        Box::new(match self.suggestion(expected) {
            Some(help) => error.help(help),
            None => error,
        })
    }

    /// Returns a help for a common mistake: the next token where `expected` should be.
    fn suggestion(&self, expected: &str) -> Option<&'static str> {
        let token = self.peek();
        Some(match (expected, token.kind, token.text) {
            ("`rule` or `fusion`", ..) => {
                "a rule is `rule name`, its clauses, and `pattern => replacement`"
            }
            ("`=>`", TokenKind::Sign, "=" | "==" | ">" | ">=")
            | ("`=>`", TokenKind::Number, "-") => {
                "the sides of a rule have `=>` between them, or `<=>` where both directions hold"
            }
            ("`=>`", ..) => {
                "a rule is `pattern => replacement`; clauses such as `where` come before it"
            }
            ("`(`", ..) => {
                "ops are written with operands, as in `core.neg(?x)`, and values as `?x`"
            }
            ("a comparison", ..) => "as in `rank(?x) == 2`, or a predicate such as `is_float(?x)`",
            (
                "the next `rule`",
                TokenKind::Word,
                "where" | "class" | "engine" | "phase" | "for" | "let",
            ) => "clauses come before the pattern",
            ("the next `rule`", ..) => "a rule ends with its right side, or with `source \"...\"`",
            (_, TokenKind::Number, _) if expected.contains("an op such as") => {
                "a number is matched as a value under a condition, `?c` with `where is_splat(?c, 1.0)`; the \
                 right side makes one with `like(?x, 1.0)`"
            }
            (_, TokenKind::Attr, _) if expected.contains("an op such as") => {
                "`$` names attributes, as in `{axes=$a}`; values are written `?x`"
            }
            _ => return None,
        })
    }

    /// Consumes a word.
    pub(super) fn word(&mut self, expected: &str) -> Parsed<Name<'s>> {
        match self.peek().kind {
            TokenKind::Word => Ok(name(self.next())),
            _ => Err(self.unexpected(expected)),
        }
    }

    /// Returns the end of the last consumed token.
    pub(super) fn end(&self) -> u32 {
        let before = self.at.checked_sub(1).map(|at| self.tokens[at]);
        before.map_or(0, |token| token.span.end)
    }

    /// Returns whether the next token starts a rule.
    pub(super) fn at_rule(&self) -> bool {
        let named = self
            .tokens
            .get(self.at + 1)
            .is_some_and(|next| next.kind == TokenKind::Word);
        named && (self.is("rule") || self.is("fusion"))
    }

    /// Skips to the next rule.
    pub(super) fn skip_to_rule(&mut self) {
        while self.peek().kind != TokenKind::End && !self.at_rule() {
            self.next();
        }
    }

    /// Runs `parse` one level deeper; errors past the depth limit, which protects the stack.
    pub(super) fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} deep");
            let error = Diagnostic::error(self.peek().span, message);
            return Err(Box::new(error.help("split the rule into several")));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Consumes a number or `inf`.
    pub(super) fn number(&mut self) -> Parsed<Name<'s>> {
        match self.peek() {
            Token {
                kind: TokenKind::Number,
                ..
            } => Ok(name(self.next())),
            Token {
                kind: TokenKind::Word,
                text: "inf",
                ..
            } => Ok(name(self.next())),
            _ => Err(self.unexpected("a number")),
        }
    }
}

/// Returns the token as a name.
pub(super) fn name<'s>(token: Token<'s>) -> Name<'s> {
    Name {
        text: token.text,
        span: token.span,
    }
}
