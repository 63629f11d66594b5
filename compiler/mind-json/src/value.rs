//! JSON values and their accessors.

use mind_diag::Span;

/// A JSON value with its source span.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    /// Its span; [`Span::FILE`] if it was not parsed from text.
    pub span: Span,
    /// The value without its span.
    pub kind: ValueKind,
}

/// The value of a [`Value`].
#[derive(Clone, PartialEq, Debug)]
pub enum ValueKind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as it is written.
    Number(String),
    /// A string, without its quotes and escapes.
    String(String),
    /// An array.
    Array(Vec<Value>),
    /// An object; keys are distinct.
    Object(Vec<Member>),
}

/// A key of an object with its value.
#[derive(Clone, PartialEq, Debug)]
pub struct Member {
    /// The key.
    pub key: String,
    /// The span of the key, including quotes.
    pub key_span: Span,
    /// Its value.
    pub value: Value,
}

impl Member {
    /// Returns a member without spans.
    pub fn new(key: impl Into<String>, value: impl Into<Value>) -> Member {
        Member {
            key: key.into(),
            key_span: Span::FILE,
            value: value.into(),
        }
    }
}

impl Value {
    /// `null` without a span.
    pub const NULL: Value = Value {
        span: Span::FILE,
        kind: ValueKind::Null,
    };

    /// Returns an object without spans.
    pub fn object<K: Into<String>, V: Into<Value>>(
        members: impl IntoIterator<Item = (K, V)>,
    ) -> Value {
        let members = members.into_iter();
        ValueKind::Object(
            members
                .map(|(key, value)| Member::new(key, value))
                .collect(),
        )
        .into()
    }

    /// Returns an array without spans.
    pub fn array<V: Into<Value>>(values: impl IntoIterator<Item = V>) -> Value {
        ValueKind::Array(values.into_iter().map(Into::into).collect()).into()
    }

    /// Returns the value of `key`; `None` if this is not an object or has no such key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let found = self.members()?.iter().find(|member| member.key == key);
        found.map(|member| &member.value)
    }

    /// Returns the members; `None` if this is not an object.
    pub fn members(&self) -> Option<&[Member]> {
        match &self.kind {
            ValueKind::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Returns the elements; `None` if this is not an array.
    pub fn elements(&self) -> Option<&[Value]> {
        match &self.kind {
            ValueKind::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// Returns the text; `None` if this is not a string.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            ValueKind::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the boolean; `None` if this is not one.
    pub fn truth(&self) -> Option<bool> {
        match self.kind {
            ValueKind::Bool(truth) => Some(truth),
            _ => None,
        }
    }

    /// Returns the integer; `None` if this is not a number, is written with a fraction or exponent (for example `1.0`),
    /// or does not fit.
    pub fn integer(&self) -> Option<i64> {
        match &self.kind {
            ValueKind::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Returns the number rounded to the nearest double; `None` if this is not a number or overflows.
    pub fn real(&self) -> Option<f64> {
        match &self.kind {
            ValueKind::Number(text) => text.parse().ok().filter(|real: &f64| real.is_finite()),
            _ => None,
        }
    }

    /// Returns whether this is `null`.
    pub fn is_null(&self) -> bool {
        self.kind == ValueKind::Null
    }

    /// Describes the value in a message: numbers, booleans and short strings as they are written, otherwise the type;
    /// for example `an array`.
    pub fn describe(&self) -> String {
        const SHOWN: usize = 40;
        match &self.kind {
            ValueKind::Null => "null".to_owned(),
            ValueKind::Bool(truth) => truth.to_string(),
            ValueKind::Number(text) if text.len() <= SHOWN => text.clone(),
            ValueKind::Number(_) => "a long number".to_owned(),
            ValueKind::String(text) if text.len() <= SHOWN => format!("{text:?}"),
            ValueKind::String(_) => "a long string".to_owned(),
            ValueKind::Array(_) => "an array".to_owned(),
            ValueKind::Object(_) => "an object".to_owned(),
        }
    }
}

impl From<ValueKind> for Value {
    fn from(kind: ValueKind) -> Value {
        Value {
            span: Span::FILE,
            kind,
        }
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        ValueKind::Bool(truth).into()
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        ValueKind::Number(number.to_string()).into()
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Value {
        ValueKind::Number(number.to_string()).into()
    }
}

impl From<f64> for Value {
    /// Returns the shortest text that parses to `real`; `null` for NaN and infinities, because JSON cannot represent
    /// them.
    fn from(real: f64) -> Value {
        if real.is_finite() {
            ValueKind::Number(format!("{real:?}")).into()
        } else {
            Value::NULL
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        ValueKind::String(text.to_owned()).into()
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        ValueKind::String(text).into()
    }
}
