//! Parsing rule files.

use mind_diag::{Diagnostic, Diagnostics, Span};

use super::ast::{Body, CondAst, DimAst, Expr, Name, RuleAst, Term, TypeAst};
use super::lex::{Kind, Token, lex};

/// The deepest nesting of terms and conditions.
const MAX_DEPTH: usize = 32;

/// The rules of `text`; what is wrong is reported, and the rule it stands in left out.
pub(crate) fn parse<'s>(text: &'s str, found: &mut Diagnostics) -> Vec<RuleAst<'s>> {
    let tokens = lex(text, found);
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0 };
    let mut rules = Vec::new();
    while parser.peek().kind != Kind::End {
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

type Parsed<T> = Result<T, Box<Diagnostic>>;

struct Parser<'t, 's> {
    tokens: &'t [Token<'s>],
    at: usize,
    depth: usize,
}

impl<'s> Parser<'_, 's> {
    fn peek(&self) -> Token<'s> {
        self.tokens[self.at]
    }

    fn next(&mut self) -> Token<'s> {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn is(&self, text: &str) -> bool {
        let token = self.peek();
        matches!(token.kind, Kind::Sign | Kind::Word) && token.text == text
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.is(text);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, text: &str) -> Parsed<Token<'s>> {
        match self.is(text) {
            true => Ok(self.next()),
            false => Err(self.unexpected(&format!("`{text}`"))),
        }
    }

    fn unexpected(&self, expected: &str) -> Box<Diagnostic> {
        let token = self.peek();
        let message = match token.kind {
            Kind::End => format!("expected {expected}, found the end of the file"),
            _ => format!("expected {expected}, found `{}`", token.text),
        };
        Box::new(Diagnostic::error(token.span, message))
    }

    fn word(&mut self, expected: &str) -> Parsed<Name<'s>> {
        match self.peek().kind {
            Kind::Word => Ok(name(self.next())),
            _ => Err(self.unexpected(expected)),
        }
    }

    fn skip_to_rule(&mut self) {
        while self.peek().kind != Kind::End && !self.is("rule") && !self.is("fusion") {
            self.next();
        }
    }

    /// Guards the stack against deep nesting.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} deep");
            return Err(Box::new(Diagnostic::error(self.peek().span, message)));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn rule(&mut self) -> Parsed<RuleAst<'s>> {
        self.depth = 0;
        let fusion = self.is("fusion");
        if !fusion && !self.is("rule") {
            let error = self.unexpected("`rule` or `fusion`");
            self.next();
            return Err(error);
        }
        self.next();
        let mut rule = RuleAst {
            name: self.word("the rule's name")?,
            class: None,
            engine: None,
            phase: None,
            kind: None,
            ops: Vec::new(),
            condition: None,
            body: Body::Fusion(Term::Value { name: Name { text: "", span: Span::FILE }, ty: None }),
        };
        while self.clause(&mut rule)? {}
        let lhs = self.term()?;
        rule.body = match fusion {
            true => Body::Fusion(lhs),
            false => {
                let both = self.eat("<=>");
                if !both {
                    self.expect("=>")?;
                }
                Body::Rewrite { lhs, rhs: self.term()?, both }
            }
        };
        if self.eat("source") {
            match self.peek().kind {
                Kind::Text => self.next(),
                _ => return Err(self.unexpected("a string")),
            };
        }
        match self.peek().kind == Kind::End || self.is("rule") || self.is("fusion") {
            true => Ok(rule),
            false => Err(self.unexpected("the next `rule`")),
        }
    }

    /// One clause before the rule's terms; false when there is none.
    fn clause(&mut self, rule: &mut RuleAst<'s>) -> Parsed<bool> {
        let keyword = self.peek();
        if keyword.kind != Kind::Word {
            return Ok(false);
        }
        match keyword.text {
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
            }
            "engine" => {
                self.next();
                rule.engine = Some(self.word("`greedy`, `egraph` or `both`")?);
            }
            "phase" => {
                self.next();
                rule.phase = Some(self.word("`simplify`, `layout` or `reassociate`")?);
            }
            "kind" => {
                self.next();
                rule.kind = Some(self.word("what the group is called")?);
            }
            "for" => {
                self.next();
                self.expect("op")?;
                self.expect("in")?;
                rule.ops.push(self.word("an op")?);
                while self.eat(",") {
                    rule.ops.push(self.word("an op")?);
                }
            }
            "where" => {
                self.next();
                rule.condition = Some(self.any()?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn any(&mut self) -> Parsed<CondAst<'s>> {
        let mut parts = vec![self.all()?];
        while self.eat("or") {
            parts.push(self.all()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { CondAst::Any(parts) })
    }

    fn all(&mut self) -> Parsed<CondAst<'s>> {
        let mut parts = vec![self.not()?];
        while self.eat("and") {
            parts.push(self.not()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { CondAst::All(parts) })
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
        if token.kind == Kind::Sign && comparison {
            let sign = name(self.next());
            return Ok(CondAst::Compare { sign, lhs, rhs: self.expr()? });
        }
        match lhs {
            Expr::Call { name, arguments } => Ok(CondAst::Predicate { name, arguments }),
            _ => Err(self.unexpected("a comparison")),
        }
    }

    fn expr(&mut self) -> Parsed<Expr<'s>> {
        let token = self.peek();
        match token.kind {
            Kind::Value => Ok(Expr::Value(name(self.next()))),
            Kind::Attr => Ok(Expr::Attr(name(self.next()))),
            Kind::DType => Ok(Expr::DType(name(self.next()))),
            Kind::Rest => Ok(Expr::Rest(name(self.next()))),
            Kind::Number => Ok(Expr::Number(name(self.next()))),
            Kind::Word => {
                let name = name(self.next());
                match self.eat("(") {
                    true => Ok(Expr::Call { name, arguments: self.list(")")? }),
                    false => Ok(Expr::Word(name)),
                }
            }
            Kind::Sign if token.text == "[" => {
                self.next();
                Ok(Expr::List(token.span, self.list("]")?))
            }
            Kind::Sign | Kind::Text | Kind::End => Err(self.unexpected("an expression")),
        }
    }

    /// Expressions up to `end`, which is eaten.
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

    fn term(&mut self) -> Parsed<Term<'s>> {
        let token = self.peek();
        match token.kind {
            Kind::Value => {
                let name = name(self.next());
                if self.eat("@") {
                    let term = Box::new(self.nested(Self::term)?);
                    return Ok(Term::Named { name, term });
                }
                let ty = match self.eat(":") {
                    true => Some(self.ty()?),
                    false => None,
                };
                Ok(Term::Value { name, ty })
            }
            Kind::Word if token.text == "like" => {
                self.next();
                self.expect("(")?;
                let value = match self.peek().kind {
                    Kind::Value => name(self.next()),
                    _ => return Err(self.unexpected("a value such as `?x`")),
                };
                self.expect(",")?;
                let number = self.number()?;
                self.expect(")")?;
                Ok(Term::Like { span: token.span, value, number })
            }
            Kind::Word => self.op_term(),
            Kind::Rest => {
                let message = format!("`..{}`: any number of operands cannot be matched", token.text);
                let help = "write one rule for each number of operands, as in `core.concat(?x, ?y)`";
                Err(Box::new(Diagnostic::error(token.span, message).help(help)))
            }
            _ => Err(self.unexpected("a value such as `?x` or an op such as `core.add(...)`")),
        }
    }

    fn op_term(&mut self) -> Parsed<Term<'s>> {
        let name = name(self.next());
        self.expect("(")?;
        let mut operands = Vec::new();
        while !self.eat(")") {
            if !operands.is_empty() {
                self.expect(",")?;
            }
            operands.push(self.nested(Self::term)?);
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
        Ok(Term::Op { name, operands, attrs })
    }

    fn ty(&mut self) -> Parsed<TypeAst<'s>> {
        let dtype = match self.peek().kind {
            Kind::DType => Some(name(self.next())),
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
                Kind::Word => DimAst::Named(name(self.next())),
                Kind::Rest => DimAst::Rest(name(self.next())),
                Kind::Number => match self.peek().text.parse() {
                    Ok(extent) => {
                        self.next();
                        DimAst::Fixed(extent)
                    }
                    Err(_) => return Err(self.unexpected("an extent")),
                },
                _ => return Err(self.unexpected("an extent")),
            });
        }
        Ok(TypeAst { dtype, dims: Some(dims) })
    }

    fn number(&mut self) -> Parsed<Name<'s>> {
        match self.peek() {
            Token { kind: Kind::Number, .. } => Ok(name(self.next())),
            Token { kind: Kind::Word, text: "inf", .. } => Ok(name(self.next())),
            _ => Err(self.unexpected("a number")),
        }
    }
}

fn name<'s>(token: Token<'s>) -> Name<'s> {
    Name { text: token.text, span: token.span }
}
