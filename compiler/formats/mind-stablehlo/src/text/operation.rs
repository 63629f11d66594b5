//! Parses operations and blocks: the generic form of MLIR, and the common parts of pretty forms.

use super::cursor::{Cursor, Parsed};
use super::syntax::{Argument, Attr, Block, Op, Type, Use};

impl<'t> Cursor<'t> {
    /// Parses `%name: type {attributes} loc(..), ..` up to `close`.
    pub fn arguments(&mut self, close: &str) -> Parsed<Vec<Argument<'t>>> {
        let mut arguments = Vec::new();
        while !self.eat(close) {
            let (name, start) = self.value_name()?;
            let span = self.span(start);
            self.expect(":")?;
            let ty = self.ty()?;
            let attrs = match self.peek() {
                Some(b'{') => self.dictionary()?,
                _ => Vec::new(),
            };
            let label = self.location()?;
            arguments.push(Argument {
                name,
                ty,
                attrs,
                label,
                span,
            });
            if !self.eat(",") {
                self.expect(close)?;
                break;
            }
        }
        Ok(arguments)
    }

    /// Parses `{ ^bb0(arguments): operations }`; `arguments` are given if the form declares them elsewhere.
    pub fn block(&mut self, arguments: Vec<Argument<'t>>) -> Parsed<Block<'t>> {
        self.expect("{")?;
        self.deeper(|c| {
            let mut block = Block {
                arguments,
                ops: Vec::new(),
            };
            if c.eat("^") {
                c.word("the name of a block")?;
                if c.eat("(") {
                    block.arguments = c.arguments(")")?;
                }
                c.expect(":")?;
            }
            while !c.eat("}") {
                if c.peek() == Some(b'^') {
                    return Err(
                        c.unexpected("an operation; regions of several blocks are not supported")
                    );
                }
                block.ops.push(c.operation()?);
            }
            Ok(block)
        })
    }

    /// Parses an operation.
    pub fn operation(&mut self) -> Parsed<Op<'t>> {
        let mut results = Vec::new();
        while self.peek() == Some(b'%') {
            let (name, start) = self.value_name()?;
            let mut count = 1;
            if self.eat(":") {
                let token = self.number_token();
                let parsed: Result<u16, _> = token.parse();
                let span = self.span(start);
                count = parsed
                    .map_err(|_| self.error(span, "expected the number of results"))?
                    .into();
            }
            results.push((name, count));
            if !self.eat(",") {
                self.expect("=")?;
                break;
            }
        }
        if self.peek() == Some(b'"') {
            self.generic(results)
        } else {
            self.pretty(results)
        }
    }

    /// Parses `"name"(operands) <{properties}> ({regions}) {attributes} : types`.
    fn generic(&mut self, results: Vec<(&'t str, usize)>) -> Parsed<Op<'t>> {
        let inside = self.at + 1;
        let (_, span) = self.string()?;
        let name = &self.text[inside..self.at - 1];
        self.expect("(")?;
        let operands = self.uses(")")?;
        let mut attrs = Vec::new();
        if self.eat("<{") {
            attrs = self.entries("}")?;
            self.expect(">")?;
        }
        let mut regions = Vec::new();
        if self.eat("(") {
            while !self.eat(")") {
                regions.push(self.block(Vec::new())?);
                if !self.eat(",") {
                    self.expect(")")?;
                    break;
                }
            }
        }
        if self.peek() == Some(b'{') {
            attrs.extend(self.dictionary()?);
        }
        self.expect(":")?;
        self.types()?;
        self.expect("->")?;
        let types = self.types()?;
        self.location()?;
        Ok(Op {
            name,
            span,
            results,
            operands,
            words: Vec::new(),
            attrs,
            regions,
            types,
        })
    }

    /// Parses values up to `close`.
    pub fn uses(&mut self, close: &str) -> Parsed<Vec<Use<'t>>> {
        let mut uses = Vec::new();
        while !self.eat(close) {
            uses.push(self.value()?);
            if !self.eat(",") {
                self.expect(close)?;
                break;
            }
        }
        Ok(uses)
    }

    /// Parses the types after `:` of a form with `count` results and returns the result types: those of a function
    /// type, one type for all, or those at the end of a list of operand and result types.
    pub fn result_types(&mut self, count: usize) -> Parsed<Vec<Type<'t>>> {
        if self.peek() == Some(b'(') {
            self.types()?;
            self.expect("->")?;
            return self.types();
        }
        let mut listed = vec![self.ty()?];
        while self.eat(",") {
            listed.push(self.ty()?);
        }
        if self.eat("->") {
            return self.types();
        }
        if listed.len() == count {
            return Ok(listed);
        }
        Ok(listed.pop().into_iter().collect())
    }

    /// Parses an attribute of a pretty form: `[..]` and `[..] x [..]`, or a generic one.
    pub fn pretty_attribute(&mut self) -> Parsed<Attr<'t>> {
        // The types after `:` belong to the operation, not to the number.
        if let Some(b'-' | b'0'..=b'9') = self.peek() {
            return self.whole_number();
        }
        let first = self.attribute()?;
        if matches!(first, Attr::List(_)) && self.keyword("x") {
            let second = self.attribute()?;
            return Ok(Attr::Pair(Box::new((first, second))));
        }
        Ok(first)
    }
}
