//! Statements.

use super::Parser;
use crate::ast::{Body, Expr, Filter, For, If, MacroBody, MacroNode, Node, Target};
use crate::error::{Error, Result, Span};
use crate::lexer::Token;

/// Tags of jinja2 that need other templates, which there are none of.
const OF_LOADERS: [&str; 4] = ["extends", "include", "import", "from"];

impl Parser {
    /// The statement whose name is next, in the block that begins at `start`.
    pub(super) fn statement(&mut self, start: Span) -> Result<Vec<Node>> {
        let span = self.span();
        let name = self.name()?;
        let node = match name.as_str() {
            "if" => self.if_block()?,
            "for" => self.for_block()?,
            "set" => self.set()?,
            "with" => self.with()?,
            "macro" => self.macro_block()?,
            "call" => self.call_block()?,
            "filter" => self.filter_block(start)?,
            "generation" => self.scope("endgeneration")?,
            "block" => self.block()?,
            "autoescape" => self.autoescape()?,
            "print" => return self.print(),
            "break" | "continue" => {
                if self.loops == 0 {
                    return Err(Error::at(span, format!("`{name}` is not in a loop")));
                }
                self.block_end()?;
                match name.as_str() {
                    "break" => Node::Break,
                    _ => Node::Continue,
                }
            }
            other if OF_LOADERS.contains(&other) => {
                let message = format!("`{other}` needs another template, and there is none");
                return Err(Error::at(span, message));
            }
            other => {
                let message = format!("no statement is called `{other}`");
                return Err(Error::at(span, message));
            }
        };
        Ok(vec![node])
    }

    fn if_block(&mut self) -> Result<Node> {
        let mut branches = Vec::new();
        let mut otherwise = Vec::new();
        loop {
            let condition = self.tuple(false, &[])?;
            self.block_end()?;
            let body = self.body(&["elif", "else", "endif"])?;
            branches.push((condition, body));
            match self.end_name() {
                "elif" => continue,
                "else" => {
                    self.block_end()?;
                    otherwise = self.body(&["endif"])?;
                }
                _ => {}
            }
            self.block_end()?;
            return Ok(Node::If(Box::new(If {
                branches,
                otherwise,
            })));
        }
    }

    fn for_block(&mut self) -> Result<Node> {
        let target = self.target(&["in"])?;
        if !self.skip_name("in") {
            return Err(self.unexpected("`in`"));
        }
        let iterable = self.tuple(false, &["recursive", "if"])?;
        let condition = match self.skip_name("if") {
            true => Some(self.expression()?),
            false => None,
        };
        let is_recursive = self.skip_name("recursive");
        self.block_end()?;
        self.loops += 1;
        let body = self.frame(&["endfor", "else"]);
        self.loops -= 1;
        let body = body?;
        let otherwise = match self.end_name() {
            "else" => {
                self.block_end()?;
                self.frame(&["endfor"])?
            }
            _ => Body::default(),
        };
        self.block_end()?;
        Ok(Node::For(Box::new(For {
            target,
            iterable,
            condition,
            body,
            otherwise,
            is_recursive,
        })))
    }

    /// Reads the target of an assignment, up to a name of `ends`.
    fn target(&mut self, ends: &[&str]) -> Result<Target> {
        let start = self.span();
        let mut all = Vec::new();
        let mut is_tuple = false;
        loop {
            let is_end = match self.peek() {
                Some(Token::Name(own)) => ends.contains(&own.as_str()),
                Some(Token::Sign(own)) => *own != "(",
                _ => true,
            };
            if is_end {
                break;
            }
            all.push(self.one_target()?);
            if !self.skip_sign(",") {
                break;
            }
            is_tuple = true;
        }
        match all.pop() {
            Some(own) if !is_tuple => Ok(own),
            Some(last) => {
                all.push(last);
                Ok(Target::Tuple(all, start.to(self.last())))
            }
            None => Err(self.unexpected("the name of a variable")),
        }
    }

    fn one_target(&mut self) -> Result<Target> {
        if self.skip_sign("(") {
            let own = self.nested(|own| own.target(&[]))?;
            self.expect_sign(")")?;
            return Ok(own);
        }
        let span = self.span();
        let name = self.name()?;
        if matches!(
            name.as_str(),
            "true" | "True" | "false" | "False" | "none" | "None"
        ) {
            return Err(Error::at(span, format!("`{name}` cannot be assigned to")));
        }
        if self.skip_sign(".") {
            let attribute = self.name()?;
            let span = span.to(self.last());
            return Ok(Target::Attribute(name, attribute, span));
        }
        Ok(Target::Name(name))
    }

    fn set(&mut self) -> Result<Node> {
        let target = self.target(&[])?;
        if self.skip_sign("=") {
            let value = self.tuple(true, &[])?;
            self.block_end()?;
            return Ok(Node::Set(target, value));
        }
        let filters = self.filters()?;
        self.block_end()?;
        let body = self.frame(&["endset"])?;
        self.block_end()?;
        Ok(Node::SetBlock(target, filters, body))
    }

    /// `| name(args)`, any number of times.
    fn filters(&mut self) -> Result<Vec<Filter>> {
        let mut all = Vec::new();
        while self.skip_sign("|") {
            all.push(self.filter(None)?);
        }
        Ok(all)
    }

    fn with(&mut self) -> Result<Node> {
        let mut pairs = Vec::new();
        while self.peek() != Some(&Token::BlockEnd) {
            if !pairs.is_empty() {
                self.expect_sign(",")?;
            }
            let target = self.one_target()?;
            self.expect_sign("=")?;
            pairs.push((target, self.expression()?));
        }
        self.block_end()?;
        let body = self.frame(&["endwith"])?;
        self.block_end()?;
        Ok(Node::With(pairs, body))
    }

    fn scope(&mut self, end: &str) -> Result<Node> {
        self.block_end()?;
        let body = self.inner_body(end)?;
        self.block_end()?;
        Ok(Node::Scope(body))
    }

    /// A body that no loop around it can be left from.
    fn inner_body(&mut self, end: &str) -> Result<Body> {
        let loops = std::mem::take(&mut self.loops);
        let body = self.frame(&[end]);
        self.loops = loops;
        body
    }

    fn block(&mut self) -> Result<Node> {
        let span = self.span();
        let name = self.name()?;
        if !self.blocks.insert(name.clone()) {
            return Err(Error::at(span, format!("block `{name}` is defined twice")));
        }
        let is_scoped = self.skip_name("scoped");
        let _is_required = self.skip_name("required");
        self.block_end()?;
        let body = self.inner_body("endblock")?;
        self.skip_name(&name);
        self.block_end()?;
        Ok(Node::Block(body, is_scoped))
    }

    fn autoescape(&mut self) -> Result<Node> {
        let span = self.span();
        if !(self.skip_name("false") || self.skip_name("False")) {
            return Err(Error::at(
                span,
                "`autoescape` is supported with `false` alone",
            ));
        }
        self.block_end()?;
        let body = self.frame(&["endautoescape"])?;
        self.block_end()?;
        Ok(Node::Scope(body))
    }

    fn print(&mut self) -> Result<Vec<Node>> {
        let mut all = Vec::new();
        while self.peek() != Some(&Token::BlockEnd) {
            if !all.is_empty() {
                self.expect_sign(",")?;
            }
            all.push(Node::Print(self.expression()?));
        }
        self.block_end()?;
        Ok(all)
    }

    /// Parameters in parentheses, with their defaults.
    fn parameters(&mut self) -> Result<Vec<(String, Option<Expr>)>> {
        let mut all: Vec<(String, Option<Expr>)> = Vec::new();
        self.expect_sign("(")?;
        while !self.is_sign(")") {
            if !all.is_empty() {
                self.expect_sign(",")?;
            }
            let span = self.span();
            let name = self.name()?;
            if self.skip_sign("=") {
                all.push((name, Some(self.expression()?)));
            } else if all.last().is_some_and(|(_, default)| default.is_some()) {
                let message =
                    format!("`{name}` has no default, but the parameter in front of it has one");
                return Err(Error::at(span, message));
            } else {
                all.push((name, None));
            }
        }
        self.expect_sign(")")?;
        Ok(all)
    }

    /// The body of a macro up to `end`, which is not read.
    fn macro_body(
        &mut self,
        name: Option<String>,
        parameters: Vec<(String, Option<Expr>)>,
        end: &str,
    ) -> Result<MacroNode> {
        self.names.push(Vec::new());
        let body = self.inner_body(end);
        let names = self.names.pop().unwrap_or_default();
        let body = body?;
        let reads = ["varargs", "kwargs", "caller"].map(|own| {
            names.iter().any(|name| name == own) && parameters.iter().all(|(name, _)| name != own)
        });
        for name in &names {
            self.read_name(name);
        }
        let index = self.macros.len();
        self.macros.push(MacroBody {
            name,
            parameters,
            body,
            reads,
        });
        Ok(MacroNode { index })
    }

    fn macro_block(&mut self) -> Result<Node> {
        let name = self.name()?;
        let parameters = self.parameters()?;
        self.block_end()?;
        let own = self.macro_body(Some(name), parameters, "endmacro")?;
        self.block_end()?;
        Ok(Node::Macro(own))
    }

    fn call_block(&mut self) -> Result<Node> {
        let parameters = match self.is_sign("(") {
            true => self.parameters()?,
            false => Vec::new(),
        };
        let call = self.expression()?;
        if !matches!(call.kind, crate::ast::ExprKind::Call(..)) {
            return Err(Error::at(call.span, "`call` needs a call"));
        }
        self.block_end()?;
        let caller = self.macro_body(None, parameters, "endcall")?;
        self.block_end()?;
        Ok(Node::CallBlock(caller, call))
    }

    fn filter_block(&mut self, start: Span) -> Result<Node> {
        let mut filters = vec![self.filter(None)?];
        filters.extend(self.filters()?);
        self.block_end()?;
        let body = self.frame(&["endfilter"])?;
        self.block_end()?;
        Ok(Node::FilterBlock(filters, body, start))
    }
}
