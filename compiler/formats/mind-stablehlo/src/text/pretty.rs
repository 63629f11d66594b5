//! Parses the pretty forms of StableHLO ops.
//!
//! Nearly all of them list operands, words, `name = value` and attributes before the types, so one function parses
//! them. Constants, reductions, loops and convolutions have their own.

use mind_diag::Span;

use super::cursor::{Cursor, Parsed};
use super::syntax::{Argument, Attr, Block, Op, Use};

impl<'t> Cursor<'t> {
    /// Parses an operation in a pretty form.
    pub fn pretty(&mut self, results: Vec<(&'t str, usize)>) -> Parsed<Op<'t>> {
        self.skip();
        let start = self.at;
        let name = self.word("an operation")?;
        let mut op = Op {
            name,
            span: self.span(start),
            results,
            operands: Vec::new(),
            words: Vec::new(),
            attrs: Vec::new(),
            regions: Vec::new(),
            types: Vec::new(),
        };
        match name {
            "stablehlo.constant" => self.constant(&mut op)?,
            "stablehlo.reduce" => self.reduce(&mut op)?,
            "stablehlo.while" => self.repeat(&mut op)?,
            "stablehlo.convolution" => self.convolution(&mut op)?,
            _ => self.items(&mut op)?,
        }
        self.location()?;
        Ok(op)
    }

    /// Parses operands, words and attributes, then types.
    fn items(&mut self, op: &mut Op<'t>) -> Parsed<()> {
        loop {
            match self.peek() {
                Some(b'%') => op.operands.push(self.value()?),
                Some(b',') => self.at += 1,
                Some(b'@') => {
                    let (name, _) = self.symbol()?;
                    op.attrs.push(("callee", Attr::Symbol(name)));
                }
                Some(b'"') => {
                    let (name, _) = self.string()?;
                    op.attrs.push(("name", Attr::Text(name.into_owned())));
                }
                Some(b'(') => {
                    self.at += 1;
                    self.bracketed(op)?;
                }
                Some(b'[') => {
                    let ranges = self.ranges()?;
                    op.attrs.push(("ranges", ranges));
                }
                Some(b'{') => op.attrs.extend(self.dictionary()?),
                // Shardings of Shardy.
                Some(b'<') => {
                    self.balanced()?;
                }
                Some(b':') => {
                    self.at += 1;
                    op.types = self.result_types(count(op))?;
                    return Ok(());
                }
                _ => match self.peek_word() {
                    None | Some("loc") => return self.without_types(op),
                    Some(word) => {
                        self.at += word.len();
                        if self.eat("=") {
                            let value = self.pretty_attribute()?;
                            op.attrs.push((word, value));
                        } else {
                            op.words.push(word);
                        }
                    }
                },
            }
        }
    }

    /// Parses operands and attributes up to `)`, for example `%x, k = 2)`.
    fn bracketed(&mut self, op: &mut Op<'t>) -> Parsed<()> {
        while !self.eat(")") {
            match self.peek() {
                Some(b'%') => op.operands.push(self.value()?),
                _ => {
                    let name = self.word("an operand or an attribute")?;
                    self.expect("=")?;
                    let value = self.pretty_attribute()?;
                    op.attrs.push((name, value));
                }
            }
            if !self.eat(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(())
    }

    /// Parses the end of an operation without types, because it has neither operands nor results.
    fn without_types(&mut self, op: &Op<'t>) -> Parsed<()> {
        match op.is_return() && op.operands.is_empty() {
            true => Ok(()),
            false => Err(self.unexpected("`:` and the types of the operation")),
        }
    }

    /// Parses `[0:2, 1:9:2]` to lists of starts, ends and steps.
    fn ranges(&mut self) -> Parsed<Attr<'t>> {
        self.expect("[")?;
        let mut all = Vec::new();
        while !self.eat("]") {
            let mut range = vec![self.whole_number()?];
            while self.eat(":") {
                range.push(self.whole_number()?);
            }
            all.push(Attr::List(range));
            if !self.eat(",") {
                self.expect("]")?;
                break;
            }
        }
        Ok(Attr::List(all))
    }

    pub fn whole_number(&mut self) -> Parsed<Attr<'t>> {
        self.skip();
        let start = self.at;
        let parsed = self.number_token().parse();
        let span = self.span(start);
        parsed
            .map(Attr::Int)
            .map_err(|_| self.error(span, "expected a number"))
    }

    /// Parses `dense<..> : type`, with attributes before it.
    fn constant(&mut self, op: &mut Op<'t>) -> Parsed<()> {
        if self.peek() == Some(b'{') {
            op.attrs.extend(self.dictionary()?);
        }
        let value = self.attribute()?;
        if !matches!(value, Attr::Dense(_)) {
            let span = op.span;
            return Err(self.error(span, "expected the elements of the constant, `dense<..>`"));
        }
        op.attrs.push(("value", value));
        Ok(())
    }

    /// Parses `(%x init: %a), .. applies NAME across dimensions = [..] : types`, or `reducer(..) {..}` in place of
    /// `applies`.
    fn reduce(&mut self, op: &mut Op<'t>) -> Parsed<()> {
        let mut starts = Vec::new();
        loop {
            self.expect("(")?;
            op.operands.push(self.value()?);
            if !self.keyword("init") {
                return Err(self.unexpected("`init:`"));
            }
            self.expect(":")?;
            starts.push(self.value()?);
            self.expect(")")?;
            if !self.eat(",") {
                break;
            }
        }
        op.operands.extend(starts);
        let mut applied = None;
        if self.keyword("applies") {
            self.skip();
            let start = self.at;
            let name = self.word("the op that combines elements")?;
            applied = Some((name, self.span(start)));
        }
        if !(self.keyword("across") && self.keyword("dimensions")) {
            return Err(self.unexpected("`across dimensions = [..]`"));
        }
        self.expect("=")?;
        let axes = self.attribute()?;
        op.attrs.push(("dimensions", axes));
        if self.peek() == Some(b'{') {
            op.attrs.extend(self.dictionary()?);
        }
        self.expect(":")?;
        op.types = self.result_types(count(op))?;
        if let Some((name, span)) = applied {
            op.regions.push(applies(name, span, op));
            return Ok(());
        }
        self.location()?;
        if !self.keyword("reducer") {
            return Err(self.unexpected("`reducer`"));
        }
        let (mut first, mut second) = (Vec::new(), Vec::new());
        while self.eat("(") {
            let pair = self.arguments(")")?;
            let span = op.span;
            let Ok([a, b]) = <[Argument<'t>; 2]>::try_from(pair) else {
                return Err(self.error(span, "a reducer takes pairs of elements"));
            };
            first.push(a);
            second.push(b);
        }
        first.extend(second);
        let block = self.block(first)?;
        op.regions.push(block);
        Ok(())
    }

    /// Parses `(%a = %x, ..) : types cond {..} do {..}`.
    fn repeat(&mut self, op: &mut Op<'t>) -> Parsed<()> {
        self.expect("(")?;
        let mut names = Vec::new();
        while !self.eat(")") {
            let (name, start) = self.value_name()?;
            names.push((name, self.span(start)));
            self.expect("=")?;
            op.operands.push(self.value()?);
            if !self.eat(",") {
                self.expect(")")?;
                break;
            }
        }
        if self.eat(":") {
            op.types = self.result_types(names.len())?;
        }
        if self.keyword("attributes") {
            op.attrs.extend(self.dictionary()?);
        }
        let arguments = |op: &Op<'t>| {
            let all = names.iter().zip(&op.types);
            let all = all.map(|(&(name, span), ty)| Argument {
                name,
                ty: ty.clone(),
                attrs: Vec::new(),
                label: None,
                span,
            });
            all.collect()
        };
        for word in ["cond", "do"] {
            if !self.keyword(word) {
                return Err(self.unexpected(&format!("`{word}`")));
            }
            let block = self.block(arguments(op))?;
            op.regions.push(block);
        }
        Ok(())
    }

    /// Parses `(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {..} {..} : types`.
    fn convolution(&mut self, op: &mut Op<'t>) -> Parsed<()> {
        self.expect("(")?;
        op.operands = self.uses(")")?;
        if !self.keyword("dim_numbers") {
            return Err(self.unexpected("`dim_numbers`"));
        }
        self.expect("=")?;
        self.skip();
        let start = self.at;
        self.balanced_list()?;
        let _ = self.keyword("x");
        self.balanced_list()?;
        self.expect("->")?;
        self.balanced_list()?;
        let text = &self.text[start..self.at];
        op.attrs.push(("dimension_numbers", Attr::Raw(text)));
        self.items(op)
    }

    fn balanced_list(&mut self) -> Parsed<()> {
        if self.peek() != Some(b'[') {
            return Err(self.unexpected("a list of dimensions, `[..]`"));
        }
        self.balanced()?;
        Ok(())
    }
}

/// Returns the number of results that an operation names.
fn count(op: &Op<'_>) -> usize {
    op.results.iter().map(|(_, count)| count).sum()
}

/// Returns the region that applies one op to two elements.
fn applies<'t>(name: &'t str, span: Span, op: &Op<'t>) -> Block<'t> {
    let ty = op.types.first().cloned();
    let names = ["lhs", "rhs"];
    let uses = names.map(|name| Use {
        name,
        index: 0,
        span,
    });
    let plain = |name, results, operands| Op {
        name,
        span,
        results,
        operands,
        words: Vec::new(),
        attrs: Vec::new(),
        regions: Vec::new(),
        types: ty.iter().cloned().collect(),
    };
    let result = Use {
        name: "result",
        index: 0,
        span,
    };
    let arguments = names.iter().flat_map(|name| {
        let ty = ty.clone();
        ty.map(|ty| Argument {
            name,
            ty,
            attrs: Vec::new(),
            label: None,
            span,
        })
    });
    Block {
        arguments: arguments.collect(),
        ops: vec![
            plain(name, vec![("result", 1)], uses.to_vec()),
            plain("stablehlo.return", Vec::new(), vec![result]),
        ],
    }
}
