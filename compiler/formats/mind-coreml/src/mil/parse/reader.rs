//! Token reader with the helpers that all grammar rules share.

use mind_diag::{Diagnostic, Diagnostics, Span};

use crate::mil::lex::{ARROW, Kind, Lexer, Token};
use crate::mil::spelling::Spelling;
use crate::mil::syntax::Name;
use crate::mil::{MAX_NESTING, Parsed};
use mind_text::Limits;
use mind_text::{Entity, Role, SourceMap};

/// Token reader.
pub(super) struct Reader<'t> {
    lexer: Lexer<'t>,
    pub(super) spelling: Spelling,
    pub(super) limits: Limits,
    /// Statements so far.
    pub(super) statements: usize,
    found: Diagnostics,
    /// Receives the names of the text, if given.
    map: Option<&'t mut SourceMap>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(
        lexer: Lexer<'t>,
        limits: &Limits,
        spelling: Spelling,
        map: Option<&'t mut SourceMap>,
    ) -> Reader<'t> {
        Reader {
            lexer,
            spelling,
            limits: *limits,
            statements: 0,
            found: Diagnostics::new(),
            map,
        }
    }

    /// Returns the diagnostics and the map of names.
    pub(super) fn finish(mut self) -> (Diagnostics, Option<&'t mut SourceMap>) {
        std::mem::take(&mut self.lexer.found)
            .into_iter()
            .for_each(|error| self.found.push(error));
        (self.found, self.map)
    }

    /// Records that a word is a dtype.
    pub(super) fn note_dtype(&mut self, name: Name<'_>) {
        if let Some(map) = &mut self.map {
            map.record(name.span, Entity::DType, Role::Reference);
        }
    }

    pub(super) fn report(&mut self, error: Diagnostic) {
        self.found.push(error);
    }

    pub(super) fn peek(&self) -> Token<'t> {
        self.lexer.peek()
    }

    pub(super) fn bump(&mut self) -> Token<'t> {
        self.lexer.bump()
    }

    pub(super) fn eat(&mut self, mark: u8) -> bool {
        self.lexer.eat(mark)
    }

    pub(super) fn at(&self, mark: u8) -> bool {
        self.peek().kind == Kind::Mark(mark)
    }

    /// Returns whether the next token is `word`.
    pub(super) fn at_word(&self, word: &str) -> bool {
        self.peek().kind == Kind::Word && self.peek().text == word
    }

    /// Returns the error for the next token, where `what` was expected.
    pub(super) fn expected<T>(&self, what: &str) -> Parsed<T> {
        let next = self.peek();
        let message = format!("expected {what}, found {}", next.shown());
        Err(Box::new(Diagnostic::error(next.span, message)))
    }

    /// Consumes `mark`.
    pub(super) fn mark(&mut self, mark: u8) -> Parsed<Span> {
        let span = self.peek().span;
        match self.eat(mark) {
            true => Ok(span),
            false if mark == ARROW => self.expected("`->`"),
            false => self.expected(&format!("`{}`", char::from(mark))),
        }
    }

    /// Consumes the keyword `word`.
    pub(super) fn keyword(&mut self, word: &str) -> Parsed<Span> {
        if self.at_word(word) {
            Ok(self.bump().span)
        } else {
            self.expected(&format!("`{word}`"))
        }
    }

    /// Consumes a word.
    pub(super) fn word(&mut self, what: &str) -> Parsed<Name<'t>> {
        match self.peek().kind {
            Kind::Word => {
                let token = self.bump();
                Ok(Name {
                    text: token.text,
                    span: token.span,
                })
            }
            _ => self.expected(what),
        }
    }

    /// Skips to the end of a statement: after the next `;` outside of brackets, or before a `}` that closes the block.
    pub(super) fn recover(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.peek().kind {
                Kind::End => return,
                Kind::Mark(b'{' | b'(' | b'[') => depth += 1,
                Kind::Mark(b'}') if depth == 0 => return,
                Kind::Mark(b'}' | b')' | b']') => depth = depth.saturating_sub(1),
                Kind::Mark(b';') if depth == 0 => {
                    self.bump();
                    return;
                }
                _ => {}
            }
            self.bump();
        }
    }

    /// Returns an error if `depth` exceeds [`MAX_NESTING`].
    pub(super) fn check_depth(&self, depth: usize, what: &str) -> Parsed<()> {
        if depth < MAX_NESTING {
            return Ok(());
        }
        let message = format!("{what} nest more than {MAX_NESTING} deep");
        Err(Box::new(Diagnostic::error(self.peek().span, message)))
    }
}
