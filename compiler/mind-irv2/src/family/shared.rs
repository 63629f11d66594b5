//! How each `config.json` key that is not specific to a family is handled.
//!
//! A key that the reference (`transformers`) reads for a family is read or rejected. A key that the reference does not
//! read is ignored for a documented reason, or reported in a warning.

use std::sync::LazyLock;

use mind_json::{Limits, Value};

use super::shipped;

/// How a key is handled.
pub(crate) enum SharedKeyHandling {
    /// It is read.
    Read,
    /// Some families read it; others warn if its value is not neutral.
    ByFamily,
    /// A family that does not read it rejects values that are not neutral, for this reason.
    Refused(String),
    /// It does not change logits, for this reason.
    Ignored(String),
}

/// A key, how it is handled, and its neutral values, which mean the same as an absent key.
pub(crate) struct SharedKey {
    pub(crate) key: String,
    pub(crate) handling: SharedKeyHandling,
    unless: Vec<Value>,
}

impl SharedKey {
    /// Returns whether a value is neutral.
    pub(crate) fn is_neutral(&self, value: &Value) -> bool {
        is_one_of(value, &self.unless)
    }

    /// Returns the reason why the key has no effect, if it is ignored.
    pub(crate) fn reason(&self) -> Option<&str> {
        match &self.handling {
            SharedKeyHandling::Ignored(reason) => Some(reason),
            SharedKeyHandling::Read
            | SharedKeyHandling::ByFamily
            | SharedKeyHandling::Refused(_) => None,
        }
    }
}

/// Returns whether `value` is `null`, one of `values`, or an array of only these.
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

/// Returns every key that is not specific to a family.
pub(crate) fn shared_keys() -> &'static [SharedKey] {
    static ALL: LazyLock<Vec<SharedKey>> = LazyLock::new(|| {
        // A file of this crate, which tests parse.
        let root = mind_json::parse(shipped::config_keys(), &Limits::default());
        let root = root.unwrap_or_else(|why| panic!("config_keys.json: {why:?}"));
        read(&root)
    });
    &ALL
}

fn read(root: &Value) -> Vec<SharedKey> {
    let row = |key: &str, handling, unless: Option<&Value>| SharedKey {
        key: key.to_owned(),
        handling,
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
            .map(|key| row(key, SharedKeyHandling::Read, None)),
    );
    for member in members("by_family") {
        all.push(row(
            &member.key,
            SharedKeyHandling::ByFamily,
            Some(&member.value),
        ));
    }
    for member in members("refused") {
        let reason = member
            .value
            .get("reason")
            .and_then(Value::text)
            .unwrap_or_default();
        let handling = SharedKeyHandling::Refused(reason.to_owned());
        all.push(row(&member.key, handling, member.value.get("unless")));
    }
    for member in members("ignored") {
        for key in texts(Some(&member.value)) {
            all.push(row(
                &key,
                SharedKeyHandling::Ignored(member.key.clone()),
                None,
            ));
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
            match &row.handling {
                SharedKeyHandling::Read | SharedKeyHandling::ByFamily => {}
                SharedKeyHandling::Refused(reason) | SharedKeyHandling::Ignored(reason) => {
                    assert!(reason.len() > 10, "{}", row.key);
                }
            }
        }
    }
}
