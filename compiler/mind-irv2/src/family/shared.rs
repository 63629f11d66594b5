//! What becomes of the keys of a `config.json` that no family alone reads.
//!
//! A key that the reference (`transformers`) reads for a family is read or refused; what it does not read is passed
//! over for a written reason, or named in a warning.

use std::sync::LazyLock;

use mind_json::{Limits, Value};

use super::shipped;

/// What becomes of a key.
pub(crate) enum Becomes {
    /// It is read.
    Read,
    /// Some families read it; another one warns of a value that says something.
    ByFamily,
    /// A value that says something is refused for this reason, by a family that does not read it.
    Refused(String),
    /// It changes no logit, for this reason.
    Ignored(String),
}

/// A key, what becomes of it, and which values say nothing, as the absent key does.
pub(crate) struct SharedKey {
    pub(crate) key: String,
    pub(crate) becomes: Becomes,
    unless: Vec<Value>,
}

impl SharedKey {
    /// Whether a value says nothing.
    pub(crate) fn says_nothing(&self, value: &Value) -> bool {
        is_one_of(value, &self.unless)
    }

    /// Why the key changes nothing, if it does not.
    pub(crate) fn reason(&self) -> Option<&str> {
        match &self.becomes {
            Becomes::Ignored(reason) => Some(reason),
            Becomes::Read | Becomes::ByFamily | Becomes::Refused(_) => None,
        }
    }
}

/// Whether `value` is `null`, one of `values`, or an array of them alone.
pub(crate) fn is_one_of(value: &Value, values: &[Value]) -> bool {
    let is_one = |value: &Value| {
        let mut all = values.iter();
        all.any(|own| crate::rope::means_the_same(value, own))
    };
    let elements = value.elements();
    value.is_null()
        || is_one(value)
        || elements.is_some_and(|all| !values.is_empty() && all.iter().all(is_one))
}

/// Every key that families share.
pub(crate) fn shared_keys() -> &'static [SharedKey] {
    static ALL: LazyLock<Vec<SharedKey>> = LazyLock::new(|| {
        // A file of this crate, which a test reads.
        let root = mind_json::parse(shipped::config_keys(), &Limits::default());
        let root = root.unwrap_or_else(|why| panic!("config_keys.json: {why:?}"));
        read(&root)
    });
    &ALL
}

fn read(root: &Value) -> Vec<SharedKey> {
    let row = |key: &str, becomes, unless: Option<&Value>| SharedKey {
        key: key.to_owned(),
        becomes,
        unless: unless
            .and_then(Value::elements)
            .unwrap_or_default()
            .to_vec(),
    };
    let members = |key: &str| root.get(key).and_then(Value::members).unwrap_or_default();
    let texts = |value: Option<&Value>| -> Vec<String> {
        let elements = value.and_then(Value::elements).unwrap_or_default().iter();
        elements
            .filter_map(Value::text)
            .map(str::to_owned)
            .collect()
    };
    let mut all = Vec::new();
    all.extend(
        texts(root.get("read"))
            .iter()
            .map(|key| row(key, Becomes::Read, None)),
    );
    for member in members("by_family") {
        all.push(row(&member.key, Becomes::ByFamily, Some(&member.value)));
    }
    for member in members("refused") {
        let reason = member
            .value
            .get("reason")
            .and_then(Value::text)
            .unwrap_or_default();
        let becomes = Becomes::Refused(reason.to_owned());
        all.push(row(&member.key, becomes, member.value.get("unless")));
    }
    for member in members("ignored") {
        for key in texts(Some(&member.value)) {
            all.push(row(&key, Becomes::Ignored(member.key.clone()), None));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_stands_once_and_every_reason_says_something() {
        let all = shared_keys();
        assert!(all.len() > 90);
        for (at, row) in all.iter().enumerate() {
            let others = &all[at + 1..];
            assert!(
                others.iter().all(|other| other.key != row.key),
                "{}",
                row.key
            );
            match &row.becomes {
                Becomes::Read | Becomes::ByFamily => {}
                Becomes::Refused(reason) | Becomes::Ignored(reason) => {
                    assert!(reason.len() > 10, "{}", row.key);
                }
            }
        }
    }
}
