//! Expressions, in the order of precedence of jinja2.

use super::{Parser, expr, filter_expr};
use crate::ast::{Args, Binary, Choice, Comparison, Constant, Expr, ExprKind, Filter, Test, Unary};
use crate::error::{Error, Result, Span};
use crate::lexer::Token;
use crate::{filters, tests};

impl Parser {
    /// An expression, or several as a tuple; without a choice if `choice` is false. `ends` are the names that may
    /// follow.
    pub(super) fn tuple(&mut self, choice: bool, ends: &[&str]) -> Result<Expr> {
        self.tuple_of(choice, ends, false)
    }

    fn tuple_of(&mut self, choice: bool, ends: &[&str], in_parentheses: bool) -> Result<Expr> {
        let start = self.span();
        let mut all = Vec::new();
        let mut is_tuple = false;
        loop {
            if self.is_tuple_end(ends) {
                break;
            }
            all.push(match choice {
                true => self.expression()?,
                false => self.nested(Parser::or)?,
            });
            if !self.skip_sign(",") {
                break;
            }
            is_tuple = true;
        }
        if !is_tuple {
            if let Some(own) = all.pop() {
                return Ok(own);
            }
            if !in_parentheses {
                return Err(self.unexpected("an expression"));
            }
        }
        let span = start.to(self.last());
        Ok(expr(ExprKind::Tuple(all), span))
    }

    fn is_tuple_end(&self, ends: &[&str]) -> bool {
        match self.peek() {
            Some(Token::PrintEnd | Token::BlockEnd | Token::Sign(")")) => true,
            Some(Token::Name(own)) => ends.contains(&own.as_str()),
            _ => false,
        }
    }

    /// An expression.
    pub(super) fn expression(&mut self) -> Result<Expr> {
        self.nested(Parser::choice)
    }

    fn choice(&mut self) -> Result<Expr> {
        let mut then = self.or()?;
        while self.skip_name("if") {
            self.link()?;
            let condition = self.or()?;
            let otherwise = match self.skip_name("else") {
                true => Some(self.expression()?),
                false => None,
            };
            let span = then.span.to(self.last());
            let own = Choice {
                condition,
                then,
                otherwise,
            };
            then = expr(ExprKind::Choice(Box::new(own)), span);
        }
        Ok(then)
    }

    fn or(&mut self) -> Result<Expr> {
        let mut left = self.and()?;
        while self.skip_name("or") {
            self.link()?;
            let right = self.and()?;
            let span = left.span.to(right.span);
            left = expr(ExprKind::Or(Box::new([left, right])), span);
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Expr> {
        let mut left = self.not()?;
        while self.skip_name("and") {
            self.link()?;
            let right = self.not()?;
            let span = left.span.to(right.span);
            left = expr(ExprKind::And(Box::new([left, right])), span);
        }
        Ok(left)
    }

    fn not(&mut self) -> Result<Expr> {
        let start = self.span();
        if !self.skip_name("not") {
            return self.compare();
        }
        let own = self.nested(Parser::not)?;
        let span = start.to(own.span);
        Ok(expr(ExprKind::Unary(Unary::Not, Box::new(own)), span))
    }

    fn compare(&mut self) -> Result<Expr> {
        let first = self.sum()?;
        let mut others = Vec::new();
        while let Some(operator) = self.comparison() {
            others.push((operator, self.sum()?));
        }
        if others.is_empty() {
            return Ok(first);
        }
        let span = first.span.to(self.last());
        Ok(expr(ExprKind::Compare(Box::new(first), others), span))
    }

    fn comparison(&mut self) -> Option<Comparison> {
        let (own, len) = match self.peek()? {
            Token::Sign("==") => (Comparison::Equal, 1),
            Token::Sign("!=") => (Comparison::NotEqual, 1),
            Token::Sign("<") => (Comparison::Less, 1),
            Token::Sign("<=") => (Comparison::LessEqual, 1),
            Token::Sign(">") => (Comparison::Greater, 1),
            Token::Sign(">=") => (Comparison::GreaterEqual, 1),
            Token::Name(own) if own == "in" => (Comparison::In, 1),
            Token::Name(own) if own == "not" => match self.peek_behind() {
                Some(Token::Name(own)) if own == "in" => (Comparison::NotIn, 2),
                _ => return None,
            },
            _ => return None,
        };
        self.at += len;
        Some(own)
    }

    /// Operands between one of the operators.
    fn chain(
        &mut self,
        operators: &[(&str, Binary)],
        operand: fn(&mut Parser) -> Result<Expr>,
    ) -> Result<Expr> {
        let mut left = operand(self)?;
        while let Some((sign, operator)) = operators.iter().find(|(sign, _)| self.is_sign(sign)) {
            self.expect_sign(sign)?;
            self.link()?;
            let right = operand(self)?;
            let span = left.span.to(right.span);
            left = expr(ExprKind::Binary(*operator, Box::new([left, right])), span);
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<Expr> {
        let operators = [("+", Binary::Add), ("-", Binary::Sub)];
        self.chain(&operators, Parser::concat)
    }

    fn concat(&mut self) -> Result<Expr> {
        let first = self.product()?;
        if !self.is_sign("~") {
            return Ok(first);
        }
        let start = first.span;
        let mut all = vec![first];
        while self.skip_sign("~") {
            all.push(self.product()?);
        }
        Ok(expr(ExprKind::Concat(all), start.to(self.last())))
    }

    fn product(&mut self) -> Result<Expr> {
        let operators = [
            ("*", Binary::Mul),
            ("/", Binary::Div),
            ("//", Binary::FloorDiv),
            ("%", Binary::Rem),
        ];
        self.chain(&operators, Parser::power)
    }

    /// Powers, from left to right as in jinja2.
    fn power(&mut self) -> Result<Expr> {
        self.chain(&[("**", Binary::Pow)], |own| own.unary(true))
    }

    fn unary(&mut self, filters: bool) -> Result<Expr> {
        let start = self.span();
        let operator = match self.peek() {
            Some(Token::Sign("-")) => Some(Unary::Minus),
            Some(Token::Sign("+")) => Some(Unary::Plus),
            _ => None,
        };
        let own = match operator {
            Some(operator) => {
                self.at += 1;
                let own = self.nested(|own| own.unary(false))?;
                let span = start.to(own.span);
                expr(ExprKind::Unary(operator, Box::new(own)), span)
            }
            None => self.primary()?,
        };
        let own = self.postfix(own)?;
        match filters {
            true => self.filtered(own),
            false => Ok(own),
        }
    }

    fn primary(&mut self) -> Result<Expr> {
        let span = self.span();
        let Some(token) = self.peek().cloned() else {
            return Err(self.unexpected("an expression"));
        };
        let constant = match token {
            Token::Name(name) => {
                self.at += 1;
                match name.as_str() {
                    "true" | "True" => Constant::Bool(true),
                    "false" | "False" => Constant::Bool(false),
                    "none" | "None" => Constant::None,
                    _ => {
                        self.read_name(&name);
                        return Ok(expr(ExprKind::Name(name), span));
                    }
                }
            }
            Token::String(mut text) => {
                self.at += 1;
                while let Some(Token::String(more)) = self.peek() {
                    text.push_str(more);
                    self.at += 1;
                }
                Constant::Text(text)
            }
            Token::Int(own) => {
                self.at += 1;
                Constant::Int(own)
            }
            Token::Float(own) => {
                self.at += 1;
                Constant::Float(own)
            }
            Token::Sign("(") => {
                self.at += 1;
                let own = self.nested(|own| own.tuple_of(true, &[], true))?;
                self.expect_sign(")")?;
                return Ok(own);
            }
            Token::Sign("[") => {
                self.at += 1;
                let all = self.list("]")?;
                return Ok(expr(ExprKind::List(all), span.to(self.last())));
            }
            Token::Sign("{") => {
                self.at += 1;
                let pairs = self.pairs()?;
                return Ok(expr(ExprKind::Dict(pairs), span.to(self.last())));
            }
            _ => return Err(self.unexpected("an expression")),
        };
        Ok(expr(ExprKind::Constant(constant), span.to(self.last())))
    }

    /// Expressions between commas, up to `end`.
    fn list(&mut self, end: &str) -> Result<Vec<Expr>> {
        let mut all = Vec::new();
        while !self.is_sign(end) {
            if !all.is_empty() {
                self.expect_sign(",")?;
                if self.is_sign(end) {
                    break;
                }
            }
            all.push(self.expression()?);
        }
        self.expect_sign(end)?;
        Ok(all)
    }

    fn pairs(&mut self) -> Result<Vec<(Expr, Expr)>> {
        let mut all = Vec::new();
        while !self.is_sign("}") {
            if !all.is_empty() {
                self.expect_sign(",")?;
                if self.is_sign("}") {
                    break;
                }
            }
            let key = self.expression()?;
            self.expect_sign(":")?;
            all.push((key, self.expression()?));
        }
        self.expect_sign("}")?;
        Ok(all)
    }

    /// Parses the attributes, items and calls that follow `own`.
    fn postfix(&mut self, mut own: Expr) -> Result<Expr> {
        loop {
            own = match self.peek() {
                Some(Token::Sign(".")) => self.attribute(own)?,
                Some(Token::Sign("[")) => self.item(own)?,
                Some(Token::Sign("(")) => self.call(own)?,
                _ => return Ok(own),
            };
            self.link()?;
        }
    }

    /// Parses the filters, tests and calls that follow `own`.
    fn filtered(&mut self, mut own: Expr) -> Result<Expr> {
        loop {
            own = match self.peek() {
                Some(Token::Sign("|")) => {
                    self.at += 1;
                    let start = own.span;
                    let filter = self.filter(Some(own))?;
                    filter_expr(filter, start.to(self.last()))
                }
                Some(Token::Name(name)) if name == "is" => self.test(own)?,
                Some(Token::Sign("(")) => self.call(own)?,
                _ => return Ok(own),
            };
            self.link()?;
        }
    }

    fn attribute(&mut self, own: Expr) -> Result<Expr> {
        self.expect_sign(".")?;
        let span = self.span();
        let kind = match self.peek() {
            Some(Token::Name(name)) => ExprKind::Attribute(Box::new(own), name.clone()),
            Some(Token::Int(at)) => {
                let at = expr(ExprKind::Constant(Constant::Int(*at)), span);
                ExprKind::Item(Box::new(own), Box::new(at))
            }
            _ => return Err(self.unexpected("the name of an attribute")),
        };
        self.at += 1;
        Ok(expr(kind, span))
    }

    fn item(&mut self, own: Expr) -> Result<Expr> {
        let start = self.span();
        self.expect_sign("[")?;
        if self.is_slice() {
            let bounds = self.bounds()?;
            self.expect_sign("]")?;
            let span = start.to(self.last());
            return Ok(expr(ExprKind::Slice(Box::new(own), bounds), span));
        }
        let mut all = vec![self.expression()?];
        if self.is_sign(":") {
            let first = all.pop().map(Box::new);
            let mut bounds = self.bounds()?;
            bounds[0] = first;
            self.expect_sign("]")?;
            let span = start.to(self.last());
            return Ok(expr(ExprKind::Slice(Box::new(own), bounds), span));
        }
        let mut is_tuple = false;
        while self.skip_sign(",") {
            is_tuple = true;
            if self.is_sign("]") {
                break;
            }
            all.push(self.expression()?);
        }
        self.expect_sign("]")?;
        let span = start.to(self.last());
        let key = match all.pop() {
            Some(key) if !is_tuple => key,
            last => {
                all.extend(last);
                expr(ExprKind::Tuple(all), span)
            }
        };
        Ok(expr(ExprKind::Item(Box::new(own), Box::new(key)), span))
    }

    fn is_slice(&self) -> bool {
        self.is_sign(":")
    }

    /// `:stop:step`, each of which may be absent.
    fn bounds(&mut self) -> Result<[Option<Box<Expr>>; 3]> {
        let mut bounds = [None, None, None];
        for bound in &mut bounds[1..] {
            if !self.skip_sign(":") {
                break;
            }
            if !self.is_sign(":") && !self.is_sign("]") {
                *bound = Some(Box::new(self.expression()?));
            }
        }
        Ok(bounds)
    }

    fn call(&mut self, own: Expr) -> Result<Expr> {
        let start = own.span;
        let args = self.args()?;
        let span = start.to(self.last());
        Ok(expr(ExprKind::Call(Box::new(own), args), span))
    }

    /// The arguments of a call in parentheses.
    pub(super) fn args(&mut self) -> Result<Args> {
        self.expect_sign("(")?;
        let mut args = Args::default();
        let mut is_first = true;
        while !self.is_sign(")") {
            if !is_first {
                self.expect_sign(",")?;
                if self.is_sign(")") {
                    break;
                }
            }
            is_first = false;
            self.arg(&mut args)?;
        }
        self.expect_sign(")")?;
        Ok(args)
    }

    fn arg(&mut self, args: &mut Args) -> Result<()> {
        let span = self.span();
        let invalid = |what: &str| Err(Error::at(span, format!("{what} cannot be here")));
        if self.skip_sign("*") {
            if args.list.is_some() || args.dict.is_some() {
                return invalid("a list of arguments");
            }
            args.list = Some(Box::new(self.expression()?));
        } else if self.skip_sign("**") {
            if args.dict.is_some() {
                return invalid("a second dictionary of arguments");
            }
            args.dict = Some(Box::new(self.expression()?));
        } else if let (Some(Token::Name(name)), Some(Token::Sign("="))) =
            (self.peek(), self.peek_behind())
        {
            let name = name.clone();
            self.at += 2;
            if args.dict.is_some() {
                return invalid("an argument behind `**`");
            }
            let value = self.expression()?;
            args.named.push((name, value));
        } else {
            if args.list.is_some() || args.dict.is_some() || !args.named.is_empty() {
                return invalid("an argument without a name behind one with a name");
            }
            args.positional.push(self.expression()?);
        }
        Ok(())
    }

    fn dotted(&mut self) -> Result<String> {
        let mut name = self.name()?;
        while self.skip_sign(".") {
            name.push('.');
            name.push_str(&self.name()?);
        }
        Ok(name)
    }

    /// Parses a filter after `|`.
    pub(super) fn filter(&mut self, value: Option<Expr>) -> Result<Filter> {
        let start = self.span();
        let name = self.dotted()?;
        if filters::named(&name).is_none() {
            let span = start.to(self.last());
            return Err(Error::at(span, format!("no filter is called `{name}`")));
        }
        let args = match self.is_sign("(") {
            true => self.args()?,
            false => Args::default(),
        };
        Ok(Filter { value, name, args })
    }

    fn test(&mut self, value: Expr) -> Result<Expr> {
        let start = value.span;
        self.at += 1;
        let is_negated = self.skip_name("not");
        let at = self.span();
        let name = self.dotted()?;
        if tests::named(&name).is_none() {
            let span = at.to(self.last());
            return Err(Error::at(span, format!("no test is called `{name}`")));
        }
        let args = if self.is_sign("(") {
            self.args()?
        } else if self.has_operand()? {
            let own = self.primary()?;
            Args {
                positional: vec![self.postfix(own)?],
                ..Args::default()
            }
        } else {
            Args::default()
        };
        let span: Span = start.to(self.last());
        let own = Test { value, name, args };
        let own = expr(ExprKind::Test(Box::new(own)), span);
        Ok(match is_negated {
            true => expr(ExprKind::Unary(Unary::Not, Box::new(own)), span),
            false => own,
        })
    }

    /// Whether an operand without parentheses follows the name of a test.
    fn has_operand(&self) -> Result<bool> {
        Ok(match self.peek() {
            Some(Token::Name(own)) if own == "is" => {
                return Err(Error::at(self.span(), "tests cannot be chained with `is`"));
            }
            Some(Token::Name(own)) => !matches!(own.as_str(), "else" | "or" | "and"),
            Some(Token::String(_) | Token::Int(_) | Token::Float(_)) => true,
            Some(Token::Sign(own)) => matches!(*own, "[" | "{"),
            _ => false,
        })
    }
}
