//! Parser of terms, types and expressions.

use mind_diag::Diagnostic;

use super::ast::{DimAst, Expr, Operand, Term, TypeAst};
use super::cursor::{Parsed, Parser, name};
use super::lex::TokenKind;

impl<'s> Parser<'_, 's> {
    /// Parses an expression over attributes, shapes and extents.
    pub(super) fn expr(&mut self) -> Parsed<Expr<'s>> {
        let token = self.peek();
        match token.kind {
            TokenKind::Value => {
                let name = name(self.next());
                Ok(if self.eat("..") {
                    Expr::Values(name)
                } else {
                    Expr::Value(name)
                })
            }
            TokenKind::Attr => Ok(Expr::Attr(name(self.next()))),
            TokenKind::DType => Ok(Expr::DType(name(self.next()))),
            TokenKind::Rest => Ok(Expr::Rest(name(self.next()))),
            TokenKind::Number => Ok(Expr::Number(name(self.next()))),
            TokenKind::Word => {
                let name = name(self.next());
                match self.eat("(") {
                    true => Ok(Expr::Call {
                        name,
                        arguments: self.list(")")?,
                    }),
                    false => Ok(Expr::Word(name)),
                }
            }
            TokenKind::Sign if token.text == "[" => {
                self.next();
                Ok(Expr::List(token.span, self.list("]")?))
            }
            TokenKind::Sign | TokenKind::Text | TokenKind::End => {
                Err(self.unexpected("an expression"))
            }
        }
    }

    /// Parses comma-separated expressions up to and including `end`.
    fn list(&mut self, end: &str) -> Parsed<Vec<Expr<'s>>> {
        let mut items = Vec::new();
        while !self.eat(end) {
            if !items.is_empty() {
                self.expect(",")?;
            }
            items.push(self.nested(Self::expr)?);
        }
        Ok(items)
    }

    /// Parses a term of a pattern or a replacement.
    pub(super) fn term(&mut self) -> Parsed<Term<'s>> {
        let token = self.peek();
        match token.kind {
            TokenKind::Value => {
                let name = name(self.next());
                if self.eat("@") {
                    let term = Box::new(self.nested(Self::term)?);
                    return Ok(Term::Named { name, term });
                }
                let ty = if self.eat(":") {
                    Some(self.ty()?)
                } else {
                    None
                };
                Ok(Term::Value { name, ty })
            }
            TokenKind::Word if matches!(token.text, "like" | "scalar") => {
                self.next();
                self.expect("(")?;
                let value = match self.peek().kind {
                    TokenKind::Value => name(self.next()),
                    _ => return Err(self.unexpected("a value such as `?x`")),
                };
                self.expect(",")?;
                let number = self.nested(Self::expr)?;
                self.expect(")")?;
                Ok(Term::Like {
                    span: token.span,
                    scalar: token.text == "scalar",
                    value,
                    number,
                })
            }
            TokenKind::Word if token.text == "any" => {
                self.next();
                self.expect("(")?;
                let mut terms = vec![self.nested(Self::term)?];
                while !self.eat(")") {
                    self.expect(",")?;
                    terms.push(self.nested(Self::term)?);
                }
                Ok(Term::Any {
                    span: token.span,
                    terms,
                })
            }
            TokenKind::Word if token.text == "near" => {
                self.next();
                self.expect("(")?;
                let number = self.number()?;
                self.expect(")")?;
                Ok(Term::Near {
                    span: token.span,
                    number,
                })
            }
            TokenKind::Word if !self.at_rule() => self.op_term(),
            TokenKind::Rest => {
                let message = format!("`..{}` is a list of extents, not of values", token.text);
                let help = format!("any number of operands are written `?{}..`", token.text);
                Err(Box::new(Diagnostic::error(token.span, message).help(help)))
            }
            _ => Err(self.unexpected("a value such as `?x` or an op such as `core.add(...)`")),
        }
    }

    fn operand(&mut self) -> Parsed<Operand<'s>> {
        let term = self.term()?;
        Ok(match (self.eat(".."), term) {
            (false, term) => Operand::One(term),
            (true, Term::Value { name, ty: None }) => Operand::List(name),
            (true, term) => Operand::Each(term),
        })
    }

    fn op_term(&mut self) -> Parsed<Term<'s>> {
        let name = name(self.next());
        self.expect("(")?;
        let mut operands = Vec::new();
        while !self.eat(")") {
            if !operands.is_empty() {
                self.expect(",")?;
            }
            operands.push(self.nested(Self::operand)?);
        }
        let mut attrs = Vec::new();
        if self.eat("{") {
            while !self.eat("}") {
                if !attrs.is_empty() {
                    self.expect(",")?;
                }
                let attr = self.word("an attribute's name")?;
                self.expect("=")?;
                attrs.push((attr, self.expr()?));
            }
        }
        Ok(Term::Op {
            name,
            operands,
            attrs,
        })
    }

    fn ty(&mut self) -> Parsed<TypeAst<'s>> {
        let dtype = match self.peek().kind {
            TokenKind::DType => Some(name(self.next())),
            _ if self.is("[") => None,
            _ => return Err(self.unexpected("a type such as `'t` or `'t[m, n]`")),
        };
        if !self.eat("[") {
            return Ok(TypeAst { dtype, dims: None });
        }
        let mut dims = Vec::new();
        while !self.eat("]") {
            if !dims.is_empty() {
                self.expect(",")?;
            }
            dims.push(match self.peek().kind {
                TokenKind::Word => DimAst::Named(name(self.next())),
                TokenKind::Rest => DimAst::Rest(name(self.next())),
                TokenKind::Number => match self.peek().text.parse() {
                    Ok(extent) => {
                        self.next();
                        DimAst::Fixed(extent)
                    }
                    Err(_) => return Err(self.unexpected("an extent")),
                },
                _ => return Err(self.unexpected("an extent")),
            });
        }
        Ok(TypeAst {
            dtype,
            dims: Some(dims),
        })
    }
}
