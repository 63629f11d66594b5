//! Parses attributes.

use super::cursor::{Cursor, Parsed};
use super::dense::{Dense, Elements};
use super::syntax::{Attr, Type};

impl<'t> Cursor<'t> {
    /// Parses `{name = value, ..}`.
    pub fn dictionary(&mut self) -> Parsed<Vec<(&'t str, Attr<'t>)>> {
        self.expect("{")?;
        self.deeper(|c| c.entries("}"))
    }

    /// Parses `name = value, ..` up to `close`.
    pub fn entries(&mut self, close: &str) -> Parsed<Vec<(&'t str, Attr<'t>)>> {
        let mut entries = Vec::new();
        while !self.eat(close) {
            let name = match self.peek() {
                Some(b'"') => {
                    let start = self.at + 1;
                    self.string()?;
                    &self.text[start..self.at - 1]
                }
                _ => self.word("the name of an attribute")?,
            };
            let value = match self.eat("=") {
                true => self.attribute()?,
                false => Attr::Bool(true),
            };
            entries.push((name, value));
            if !self.eat(",") {
                self.expect(close)?;
                break;
            }
        }
        Ok(entries)
    }

    /// Parses the value of an attribute.
    pub fn attribute(&mut self) -> Parsed<Attr<'t>> {
        self.deeper(Cursor::attribute_here)
    }

    fn attribute_here(&mut self) -> Parsed<Attr<'t>> {
        let start = self.at;
        match self.peek() {
            Some(b'[') => {
                self.at += 1;
                let mut list = Vec::new();
                while !self.eat("]") {
                    list.push(self.attribute()?);
                    if !self.eat(",") {
                        self.expect("]")?;
                        break;
                    }
                }
                Ok(Attr::List(list))
            }
            Some(b'{') => Ok(Attr::Fields(self.dictionary()?)),
            Some(b'"') => Ok(Attr::Text(self.string()?.0.into_owned())),
            Some(b'@') => {
                let (name, _) = self.symbol()?;
                Ok(Attr::Symbol(name))
            }
            Some(b'#') => self.named(),
            Some(b'(' | b'<') => {
                self.balanced()?;
                Ok(Attr::Raw(self.text[start..self.at].trim()))
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word_attribute(),
        }
    }

    fn word_attribute(&mut self) -> Parsed<Attr<'t>> {
        self.skip();
        let start = self.at;
        let word = self.word("the value of an attribute")?;
        match word {
            "true" => Ok(Attr::Bool(true)),
            "false" => Ok(Attr::Bool(false)),
            "array" => self.array(),
            "dense" | "dense_resource" => Ok(Attr::Dense(self.dense(word)?)),
            "tensor" => {
                self.at = start;
                self.ty()?;
                Ok(Attr::Raw(&self.text[start..self.at]))
            }
            word => Ok(Attr::Word(word)),
        }
    }

    /// Parses `#stablehlo.gather<offset_dims = [1], ..>` or `#stablehlo<precision DEFAULT>`.
    fn named(&mut self) -> Parsed<Attr<'t>> {
        self.skip();
        let start = self.at;
        self.at += 1;
        self.word("the name of an attribute")?;
        if self.peek() != Some(b'<') {
            return Ok(Attr::Raw(&self.text[start..self.at]));
        }
        let inside = self.balanced()?;
        let end = self.at;
        if inside
            .split_once('=')
            .is_some_and(|(name, _)| is_name(name))
        {
            self.at = end - 1 - inside.len();
            let fields = self.entries(">")?;
            return Ok(Attr::Fields(fields));
        }
        match inside.split_ascii_whitespace().next_back() {
            Some(word) if is_name(word) => Ok(Attr::Word(word)),
            _ => Ok(Attr::Raw(inside.trim())),
        }
    }

    /// Parses a number with an optional type.
    fn number(&mut self) -> Parsed<Attr<'t>> {
        self.skip();
        let start = self.at;
        let token = self.number_token();
        let span = self.span(start);
        let typed = self.peek() == Some(b':');
        if typed {
            self.at += 1;
            self.ty()?;
        }
        let unread = || self.error(span, format!("`{token}` is not a number"));
        match token.parse() {
            Ok(whole) => Ok(Attr::Int(whole)),
            Err(_) => token.parse().map(Attr::Float).map_err(|_| unread()),
        }
    }

    /// Returns the letters, digits and signs of a number.
    pub fn number_token(&mut self) -> &'t str {
        self.skip();
        let start = self.at;
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            let follows_exponent = self.at > start
                && matches!(bytes[self.at - 1], b'e' | b'E')
                && !self.text[start..self.at].starts_with("0x");
            let is_sign = matches!(byte, b'-' | b'+') && (self.at == start || follows_exponent);
            if !(byte.is_ascii_alphanumeric() || byte == b'.' || is_sign) {
                break;
            }
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// Parses `array<i64: 1, 2>`.
    fn array(&mut self) -> Parsed<Attr<'t>> {
        self.expect("<")?;
        self.ty()?;
        let mut list = Vec::new();
        if self.eat(":") {
            loop {
                list.push(self.attribute()?);
                if !self.eat(",") {
                    break;
                }
            }
        }
        self.expect(">")?;
        Ok(Attr::List(list))
    }

    /// Parses the elements and the type that follow `dense` or `dense_resource`.
    fn dense(&mut self, word: &str) -> Parsed<Dense<'t>> {
        let start = self.at;
        self.expect("<")?;
        let elements = if word == "dense_resource" {
            Elements::Resource(self.word("the name of a resource")?)
        } else {
            self.elements()?
        };
        self.expect(">")?;
        self.expect(":")?;
        let Type::Tensor(ty) = self.ty()? else {
            let span = self.span(start);
            return Err(self.error(span, "these elements are of no type of tensors"));
        };
        Ok(Dense { elements, ty })
    }

    fn elements(&mut self) -> Parsed<Elements<'t>> {
        match self.peek() {
            Some(b'>') => Ok(Elements::List {
                shape: vec![0],
                tokens: Vec::new(),
            }),
            Some(b'"') => match self.string()?.0 {
                std::borrow::Cow::Borrowed(hex) => Ok(Elements::Hex(hex)),
                std::borrow::Cow::Owned(_) => Err(self.unexpected("digits in hexadecimal")),
            },
            Some(b'[') => {
                let (mut shape, mut tokens) = (Vec::new(), Vec::new());
                self.nested(0, &mut shape, &mut tokens)?;
                let shape = shape.into_iter().flatten().collect();
                Ok(Elements::List { shape, tokens })
            }
            Some(b'(') => Err(self.unexpected("a number; complex ones are not supported")),
            _ => match self.number_token() {
                "" => Err(self.unexpected("elements")),
                token => Ok(Elements::Splat(token)),
            },
        }
    }

    /// Parses `[..]` at `level` of a nested list; `shape` collects the number of entries of each level.
    fn nested(
        &mut self,
        level: usize,
        shape: &mut Vec<Option<usize>>,
        tokens: &mut Vec<&'t str>,
    ) -> Parsed<()> {
        let start = self.at;
        self.expect("[")?;
        if shape.len() == level {
            shape.push(None);
        }
        let mut count = 0;
        while !self.eat("]") {
            if self.peek() == Some(b'[') {
                self.deeper(|c| c.nested(level + 1, shape, tokens))?;
            } else {
                match self.number_token() {
                    "" => return Err(self.unexpected("an element")),
                    token => tokens.push(token),
                }
            }
            count += 1;
            if !self.eat(",") {
                self.expect("]")?;
                break;
            }
        }
        if shape[level].is_some_and(|known| known != count) {
            let span = self.span(start);
            return Err(self.error(span, "lists of one tensor have different lengths"));
        }
        shape[level] = Some(count);
        Ok(())
    }
}

fn is_name(text: &str) -> bool {
    let text = text.trim();
    let word = |own: char| own.is_ascii_alphanumeric() || own == '_';
    !text.is_empty() && text.chars().all(word)
}
