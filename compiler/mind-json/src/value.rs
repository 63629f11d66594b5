//! Values and what they are asked for.

use mind_diag::Span;

/// A JSON value and where it stands.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    /// Its place; [`Span::FILE`] when it was not read from a text.
    pub span: Span,
    /// What it is.
    pub kind: Kind,
}

/// What a value is.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
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
    /// Where the key stands, quotes included.
    pub key_span: Span,
    /// Its value.
    pub value: Value,
}

impl Member {
    /// A member that was not read from a text.
    pub fn new(key: impl Into<String>, value: impl Into<Value>) -> Member {
        Member {
            key: key.into(),
            key_span: Span::FILE,
            value: value.into(),
        }
    }
}

impl Value {
    /// `null`, not read from a text.
    pub const NULL: Value = Value {
        span: Span::FILE,
        kind: Kind::Null,
    };

    /// An object that was not read from a text.
    pub fn object<K: Into<String>, V: Into<Value>>(
        members: impl IntoIterator<Item = (K, V)>,
    ) -> Value {
        let members = members.into_iter();
        Kind::Object(
            members
                .map(|(key, value)| Member::new(key, value))
                .collect(),
        )
        .into()
    }

    /// An array that was not read from a text.
    pub fn array<V: Into<Value>>(values: impl IntoIterator<Item = V>) -> Value {
        Kind::Array(values.into_iter().map(Into::into).collect()).into()
    }

    /// The value of `key`; `None` if this is no object or has no such key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let found = self.members()?.iter().find(|member| member.key == key);
        found.map(|member| &member.value)
    }

    /// The members of an object.
    pub fn members(&self) -> Option<&[Member]> {
        match &self.kind {
            Kind::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The elements of an array.
    pub fn elements(&self) -> Option<&[Value]> {
        match &self.kind {
            Kind::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The text of a string.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }

    /// A truth value.
    pub fn truth(&self) -> Option<bool> {
        match self.kind {
            Kind::Bool(truth) => Some(truth),
            _ => None,
        }
    }

    /// An integer that is written without fraction and exponent and fits.
    pub fn integer(&self) -> Option<i64> {
        match &self.kind {
            Kind::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// A number as the nearest double; one too large for that is none.
    pub fn real(&self) -> Option<f64> {
        match &self.kind {
            Kind::Number(text) => text.parse().ok().filter(|real: &f64| real.is_finite()),
            _ => None,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        self.kind == Kind::Null
    }

    /// What this is, for messages: numbers, truth values and short strings as they are written, else the kind.
    pub fn describe(&self) -> String {
        const SHOWN: usize = 40;
        match &self.kind {
            Kind::Null => "null".to_owned(),
            Kind::Bool(truth) => truth.to_string(),
            Kind::Number(text) if text.len() <= SHOWN => text.clone(),
            Kind::Number(_) => "a long number".to_owned(),
            Kind::String(text) if text.len() <= SHOWN => format!("{text:?}"),
            Kind::String(_) => "a long string".to_owned(),
            Kind::Array(_) => "an array".to_owned(),
            Kind::Object(_) => "an object".to_owned(),
        }
    }
}

impl From<Kind> for Value {
    fn from(kind: Kind) -> Value {
        Value {
            span: Span::FILE,
            kind,
        }
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        Kind::Bool(truth).into()
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Kind::Number(number.to_string()).into()
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Value {
        Kind::Number(number.to_string()).into()
    }
}

impl From<f64> for Value {
    /// The shortest text that reads back as `real`; `null` for what JSON cannot say.
    fn from(real: f64) -> Value {
        if real.is_finite() {
            Kind::Number(format!("{real:?}")).into()
        } else {
            Value::NULL
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Kind::String(text.to_owned()).into()
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Kind::String(text).into()
    }
}
