//! The parser.

mod expression;
mod frames;
mod statement;

use std::collections::BTreeSet;

use crate::MAX_DEPTH;
use crate::ast::{Body, Expr, ExprKind, Filter, MacroBody, Node};
use crate::error::{Error, Result, Span};
use crate::lexer::{Token, tokens};

/// How many operators, attributes and filters follow each other in an expression at most.
const MAX_LINKS: usize = 160;

/// A template that was read: its nodes, and its macros by their indices.
pub(crate) struct Parsed {
    pub(crate) body: Body,
    pub(crate) macros: Vec<MacroBody>,
}

/// Reads a template.
///
/// # Errors
///
/// Errors if the text is not a template.
pub(crate) fn parse(source: &str) -> Result<Parsed> {
    let mut parser = Parser {
        tokens: tokens(source)?,
        at: 0,
        depth: 0,
        links: 0,
        loops: 0,
        macros: Vec::new(),
        names: vec![Vec::new()],
        blocks: BTreeSet::new(),
        end: Span::new(source.len(), source.len()),
    };
    let body = parser.frame(&[])?;
    let mut parsed = Parsed {
        body,
        macros: parser.macros,
    };
    frames::mark_unassigned(&mut parsed);
    Ok(parsed)
}

struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
    /// How deeply statements and expressions are nested.
    depth: usize,
    /// Operators, attributes and filters that follow each other in the current expression and around it.
    links: usize,
    /// The number of loops around the current statement, within its macro.
    loops: usize,
    macros: Vec<MacroBody>,
    /// Names that the enclosing macros read, the innermost macro last.
    names: Vec<Vec<String>>,
    /// Names of the blocks so far.
    blocks: BTreeSet<String>,
    end: Span,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn peek_behind(&self) -> Option<&Token> {
        self.tokens.get(self.at + 1).map(|(token, _)| token)
    }

    fn span(&self) -> Span {
        self.tokens.get(self.at).map_or(self.end, |(_, span)| *span)
    }

    /// The span of the token that was read last.
    fn last(&self) -> Span {
        let last = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        last.map_or(self.end, |(_, span)| *span)
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(own)) if *own == sign)
    }

    fn is_name(&self, name: &str) -> bool {
        matches!(self.peek(), Some(Token::Name(own)) if own == name)
    }

    /// Skips `sign` if it is next.
    fn skip_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        self.at += usize::from(found);
        found
    }

    /// Skips `name` if it is next.
    fn skip_name(&mut self, name: &str) -> bool {
        let found = self.is_name(name);
        self.at += usize::from(found);
        found
    }

    fn unexpected(&self, expected: &str) -> Error {
        let found = match self.peek() {
            Some(token) => token.describe(),
            None => "the end of the template".to_owned(),
        };
        Error::at(self.span(), format!("found {found}, expected {expected}"))
    }

    fn expect_sign(&mut self, sign: &str) -> Result<()> {
        match self.skip_sign(sign) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{sign}`"))),
        }
    }

    fn expect(&mut self, token: &Token) -> Result<()> {
        match self.peek() {
            Some(own) if own == token => {
                self.at += 1;
                Ok(())
            }
            _ => Err(self.unexpected(&token.describe())),
        }
    }

    fn name(&mut self) -> Result<String> {
        match self.peek() {
            Some(Token::Name(own)) => {
                let own = own.clone();
                self.at += 1;
                Ok(own)
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    /// Runs `read` one level deeper.
    ///
    /// # Errors
    ///
    /// Those of `read`; too many levels.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Parser) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            return Err(Error::at(
                self.span(),
                format!("more than {MAX_DEPTH} levels of nesting"),
            ));
        }
        self.depth += 1;
        let links = self.links;
        let own = read(self);
        self.links = links;
        self.depth -= 1;
        own
    }

    /// Counts an operator, an attribute or a filter in a chain, since each makes the tree one level deeper.
    ///
    /// # Errors
    ///
    /// Too many of them.
    fn link(&mut self) -> Result<()> {
        self.links += 1;
        match self.links <= MAX_LINKS {
            true => Ok(()),
            false => Err(Error::at(
                self.span(),
                format!("more than {MAX_LINKS} operators, attributes and filters in an expression"),
            )),
        }
    }

    /// Reads the nodes of a frame as [`Parser::body`] does.
    fn frame(&mut self, ends: &[&str]) -> Result<Body> {
        let nodes = self.body(ends)?;
        Ok(Body {
            nodes,
            ..Body::default()
        })
    }

    /// Reads nodes up to a block with one of the names `ends`, whose `{%` and name are skipped. Without names, reads up
    /// to the end of the template.
    fn body(&mut self, ends: &[&str]) -> Result<Vec<Node>> {
        let start = self.last();
        let mut nodes = Vec::new();
        loop {
            let span = self.span();
            let Some(token) = self.peek() else {
                if ends.is_empty() {
                    return Ok(nodes);
                }
                let names: Vec<String> = ends.iter().map(|own| format!("`{own}`")).collect();
                let message = format!("the block has no end, expected {}", names.join(" or "));
                return Err(Error::at(start, message));
            };
            match token {
                Token::Text(text) => {
                    nodes.push(Node::Text(text.clone()));
                    self.at += 1;
                }
                Token::PrintBegin => {
                    self.at += 1;
                    let value = self.tuple(true, &[])?;
                    self.expect(&Token::PrintEnd)?;
                    nodes.push(Node::Print(value));
                }
                Token::BlockBegin => {
                    self.at += 1;
                    if matches!(self.peek(), Some(Token::Name(own)) if ends.contains(&own.as_str()))
                    {
                        self.at += 1;
                        return Ok(nodes);
                    }
                    nodes.extend(self.nested(|own| own.statement(span))?);
                }
                Token::PrintEnd
                | Token::BlockEnd
                | Token::Name(_)
                | Token::String(_)
                | Token::Int(_)
                | Token::Float(_)
                | Token::Sign(_) => return Err(self.unexpected("text or a tag")),
            }
        }
    }

    /// The name that ended a body.
    fn end_name(&self) -> &str {
        match self.tokens.get(self.at.saturating_sub(1)) {
            Some((Token::Name(own), _)) => own,
            _ => "",
        }
    }

    fn block_end(&mut self) -> Result<()> {
        self.expect(&Token::BlockEnd)
    }

    /// A name that is read, which the macros around take note of.
    fn read_name(&mut self, name: &str) {
        if let Some(own) = self.names.last_mut()
            && !own.iter().any(|own| own == name)
        {
            own.push(name.to_owned());
        }
    }
}

fn expr(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, span }
}

fn filter_expr(filter: Filter, span: Span) -> Expr {
    expr(ExprKind::Filter(Box::new(filter)), span)
}
