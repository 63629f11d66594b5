//! Parser of rule files.

use mind_diag::{Diagnostics, Span};

use super::ast::{Body, Clause, CondAst, Expr, Name, OpEntry, RuleAst, Term};
use super::cursor::{Parsed, Parser, name};
use super::lex::{Token, TokenKind, lex, lex_from};

/// Parses the rules of `text`; a rule with a syntax error is reported and skipped.
pub(crate) fn parse<'s>(text: &'s str, found: &mut Diagnostics) -> Vec<RuleAst<'s>> {
    rules(&lex(text, found), found)
}

/// Parses the rules of `text` from the byte `at` on; spans refer to the whole text.
pub(crate) fn parse_from<'s>(
    text: &'s str,
    at: usize,
    found: &mut Diagnostics,
) -> Vec<RuleAst<'s>> {
    rules(&lex_from(text, at, found), found)
}

fn rules<'s>(tokens: &[Token<'s>], found: &mut Diagnostics) -> Vec<RuleAst<'s>> {
    let mut parser = Parser::new(tokens);
    let mut rules = Vec::new();
    while parser.peek().kind != TokenKind::End {
        match parser.rule() {
            Ok(rule) => rules.push(rule),
            Err(error) => {
                found.push(*error);
                parser.skip_to_rule();
            }
        }
    }
    rules
}

impl<'s> Parser<'_, 's> {
    fn rule(&mut self) -> Parsed<RuleAst<'s>> {
        self.depth = 0;
        let fusion = self.is("fusion");
        if !fusion && !self.is("rule") {
            let error = self.unexpected("`rule` or `fusion`");
            self.next();
            return Err(error);
        }
        let head = self.at();
        let start = self.next().span.start;
        let mut rule = RuleAst {
            span: Span::FILE,
            name: self.word("the rule's name")?,
            clauses: vec![(Clause::Head, head)],
            class: None,
            engine: None,
            phase: None,
            kind: None,
            lets: Vec::new(),
            ops: Vec::new(),
            condition: None,
            condition_span: Span::FILE,
            sides: Span::FILE,
            body: Body::Fusion(Term::Value {
                name: Name {
                    text: "",
                    span: Span::FILE,
                },
                ty: None,
            }),
            source: None,
        };
        while self.clause(&mut rule)? {}
        let sides = self.peek().span.start;
        rule.clauses.push((Clause::Sides, self.at()));
        let lhs = self.term()?;
        rule.body = match fusion {
            true => Body::Fusion(lhs),
            false => {
                let both = self.eat("<=>");
                if !both {
                    self.expect("=>")?;
                }
                Body::Rewrite {
                    lhs,
                    rhs: self.term()?,
                    both,
                }
            }
        };
        rule.sides = Span::new(sides, self.end());
        let source = self.at();
        if self.eat("source") {
            rule.clauses.push((Clause::Source, source));
            rule.source = match self.peek().kind {
                TokenKind::Text => Some(name(self.next())),
                _ => return Err(self.unexpected("a string")),
            };
        }
        rule.span = Span::new(start, self.end());
        if self.peek().kind == TokenKind::End || self.at_rule() {
            Ok(rule)
        } else {
            Err(self.unexpected("the next `rule`"))
        }
    }

    /// Parses a clause before the sides of the rule; returns false if the next token does not start one.
    fn clause(&mut self, rule: &mut RuleAst<'s>) -> Parsed<bool> {
        let keyword = self.peek();
        if keyword.kind != TokenKind::Word {
            return Ok(false);
        }
        let at = self.at();
        let clause = match keyword.text {
            "class" => {
                self.next();
                let mut words = vec![self.word("a class")?];
                if self.eat("(") {
                    words.push(self.number()?);
                    self.expect(")")?;
                }
                while self.eat(",") {
                    words.push(self.word("a class")?);
                }
                rule.class = Some(words);
                Clause::Class
            }
            "engine" => {
                self.next();
                rule.engine = Some(self.word("`greedy`, `egraph` or `both`")?);
                Clause::Engine
            }
            "phase" => {
                self.next();
                rule.phase = Some(self.word("`simplify`, `layout` or `reassociate`")?);
                Clause::Phase
            }
            "kind" => {
                self.next();
                rule.kind = Some(self.word("the kind of the group")?);
                Clause::Kind
            }
            "let" => {
                self.next();
                let value = match self.peek().kind {
                    TokenKind::Value => name(self.next()),
                    _ => return Err(self.unexpected("a value such as `?x`")),
                };
                self.expect("=")?;
                rule.lets.push((value, self.term()?));
                Clause::Let
            }
            "for" => {
                self.next();
                self.expect("op")?;
                self.expect("in")?;
                rule.ops.push(self.op_entry()?);
                while self.eat(",") {
                    rule.ops.push(self.op_entry()?);
                }
                Clause::For
            }
            "where" => {
                self.next();
                let start = self.peek().span.start;
                rule.condition = Some(self.any()?);
                rule.condition_span = Span::new(start, self.end());
                Clause::Where
            }
            _ => return Ok(false),
        };
        rule.clauses.push((clause, at));
        Ok(true)
    }

    fn op_entry(&mut self) -> Parsed<OpEntry<'s>> {
        Ok(OpEntry {
            excluded: self.eat("not"),
            name: self.word("an op or a trait")?,
        })
    }

    fn any(&mut self) -> Parsed<CondAst<'s>> {
        let mut parts = vec![self.all()?];
        while self.eat("or") {
            parts.push(self.all()?);
        }
        Ok(if parts.len() == 1 {
            parts.remove(0)
        } else {
            CondAst::Any(parts)
        })
    }

    fn all(&mut self) -> Parsed<CondAst<'s>> {
        let mut parts = vec![self.not()?];
        while self.eat("and") {
            parts.push(self.not()?);
        }
        Ok(if parts.len() == 1 {
            parts.remove(0)
        } else {
            CondAst::All(parts)
        })
    }

    fn not(&mut self) -> Parsed<CondAst<'s>> {
        if self.eat("not") {
            let inner = self.nested(Self::not)?;
            return Ok(CondAst::Not(Box::new(inner)));
        }
        if self.eat("(") {
            let inner = self.nested(Self::any)?;
            self.expect(")")?;
            return Ok(inner);
        }
        let lhs = self.expr()?;
        let token = self.peek();
        let comparison = matches!(token.text, "==" | "!=" | "<" | "<=" | ">" | ">=");
        if token.kind == TokenKind::Sign && comparison {
            let sign = name(self.next());
            return Ok(CondAst::Compare {
                sign,
                lhs,
                rhs: self.expr()?,
            });
        }
        match lhs {
            Expr::Call { name, arguments } if !self.is("=") => {
                Ok(CondAst::Predicate { name, arguments })
            }
            _ if self.is("=") => {
                let error = *self.unexpected("a comparison");
                Err(Box::new(error.did_you_mean("==")))
            }
            _ => Err(self.unexpected("a comparison")),
        }
    }
}
