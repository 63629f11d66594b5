//! Parses modules from one line of text, for tables of cases.
//!
//! `add(x:f32[2, 3], -0.0:f32[])` is an op over operands, with `key=value` for attributes. An input has its type at its
//! first use, a splat constant at every use. `data[1, 2]:i32[2]` is a constant. `a = neg(x:f32[2]); b = abs(a) ->
//! add(a, b)` names values first.

use std::collections::HashMap;

use mind_ir::ValueId;
use mind_ir::attr::{Attr, AttrKind, Padding};
use mind_ir::graph::Graph;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::{DType, Dim};

use crate::support::{Module, def, number};

/// Returns the module that yields the expressions of `text`, which are separated by `;`.
pub fn module(text: &str) -> Graph {
    let mut parser = Parser {
        text,
        at: 0,
        module: Module::new(),
        inputs: HashMap::new(),
    };
    if text.contains("->") {
        while !text[parser.at..].starts_with("->") {
            parser.definition();
        }
        parser.at += 2;
    }
    let mut outputs = vec![parser.expr()];
    while parser.eat(';') {
        outputs.push(parser.expr());
    }
    assert_eq!(parser.at, text.len(), "{text}: unread text");
    parser.module.outputs(&outputs)
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    module: Module,
    inputs: HashMap<&'t str, ValueId>,
}

enum Value {
    Word(String),
    Int(i64),
    Bool(bool),
    Ints(Vec<i64>),
}

impl<'t> Parser<'t> {
    fn skip(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, sign: char) -> bool {
        self.skip();
        let found = self.text[self.at..].starts_with(sign);
        self.at += usize::from(found);
        self.skip();
        found
    }

    /// Parses `x = expression;` or `x:f32[2];`.
    fn definition(&mut self) {
        let start = self.at;
        let name = self.word();
        let value = match self.eat('=') {
            true => self.expr(),
            false => {
                self.at = start;
                self.expr()
            }
        };
        self.inputs.insert(name, value);
        self.eat(';');
    }

    fn word(&mut self) -> &'t str {
        self.skip();
        let rest = &self.text[self.at..];
        let word = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '-');
        let len = rest.find(word).unwrap_or(rest.len());
        assert!(len > 0, "a word at {rest}");
        self.at += len;
        &rest[..len]
    }

    fn ints(&mut self) -> Vec<i64> {
        let mut list = Vec::new();
        assert!(self.eat('['), "a list at {}", &self.text[self.at..]);
        while !self.eat(']') {
            list.push(self.word().parse().expect("an integer"));
            self.eat(',');
        }
        list
    }

    fn ty(&mut self) -> (DType, Vec<i64>) {
        let dtype = self.word();
        (
            DType::parse(dtype).unwrap_or_else(|| panic!("no dtype {dtype}")),
            self.ints(),
        )
    }

    fn expr(&mut self) -> ValueId {
        let word = self.word();
        if self.eat('(') {
            return self.op(word);
        }
        if word == "data" {
            return self.data();
        }
        if self.eat(':') {
            let (dtype, shape) = self.ty();
            if let Ok(number) = word.parse() {
                return self.module.splat(dtype, &shape, number);
            }
            let value = self.module.input(dtype, &shape);
            self.inputs.insert(word, value);
            return value;
        }
        *self
            .inputs
            .get(word)
            .unwrap_or_else(|| panic!("{}: {word} has no type", self.text))
    }

    fn data(&mut self) -> ValueId {
        let mut elements: Vec<f64> = Vec::new();
        assert!(self.eat('['), "a list at {}", &self.text[self.at..]);
        while !self.eat(']') {
            elements.push(self.word().parse().expect("a number"));
            self.eat(',');
        }
        assert!(self.eat(':'), "a type at {}", &self.text[self.at..]);
        let (dtype, shape) = self.ty();
        let bytes: Vec<u8> = elements
            .into_iter()
            .flat_map(|element| number(dtype, element).to_bytes())
            .collect();
        let shape = shape.into_iter().map(|extent| extent as usize).collect();
        let tensor = Tensor::new(shape, Buffer::from_bytes(dtype, &bytes));
        self.module.constant(&tensor)
    }

    fn op(&mut self, name: &'t str) -> ValueId {
        let (mut operands, mut written) = (Vec::new(), Vec::new());
        while !self.eat(')') {
            let start = self.at;
            let key = self.word();
            match self.eat('=') {
                true => written.push((key, self.value())),
                false => {
                    self.at = start;
                    operands.push(self.expr());
                }
            }
            self.eat(',');
        }
        let dims: Vec<Vec<Dim>> = written
            .iter()
            .map(|(_, value)| match value {
                Value::Ints(list) => list.iter().copied().map(Dim::Fixed).collect(),
                _ => Vec::new(),
            })
            .collect();
        let (name, result) = match name.rsplit_once('.') {
            Some((name, result)) => (name, result.parse().expect("the number of a result")),
            None => (name, 0),
        };
        let attrs: Vec<Attr<'_>> = def(name)
            .attrs
            .iter()
            .map(|row| {
                let given = written.iter().position(|(key, _)| *key == row.name);
                let Some(given) = given else {
                    return row.default.expect("a default");
                };
                match (&written[given].1, row.kind) {
                    (Value::Ints(_), AttrKind::Dims) => Attr::Dims(&dims[given]),
                    (Value::Ints(pads), AttrKind::Pad) => {
                        let pads = pads.as_slice().try_into().expect("four pads");
                        Attr::Padding(Padding::Custom(pads))
                    }
                    (Value::Word(word), AttrKind::Word(words)) => {
                        let known = words.iter().find(|known| *known == word);
                        Attr::Word(known.expect("a word of the set"))
                    }
                    (Value::Word(word), AttrKind::ElementType) => {
                        Attr::DType(DType::parse(word).expect("a dtype"))
                    }
                    (Value::Word(word), _) => Attr::Padding(match word.as_str() {
                        "same" => Padding::Same,
                        other => panic!("no padding {other}"),
                    }),
                    (Value::Ints(list), _) => Attr::Ints(list),
                    (Value::Int(value), _) => Attr::Int(*value),
                    (Value::Bool(value), _) => Attr::Bool(*value),
                }
            })
            .collect();
        self.module.result_of(name, result, &operands, &attrs)
    }

    fn value(&mut self) -> Value {
        if self.text[self.at..].starts_with('[') {
            return Value::Ints(self.ints());
        }
        match self.word() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            word => match word.parse() {
                Ok(number) => Value::Int(number),
                Err(_) => Value::Word(word.to_owned()),
            },
        }
    }
}
