//! Rules for reading experts from the configuration of a family.

use mind_json::Value;

use crate::read::field::{Reader, present};

/// The keys that describe experts in the configuration of a family.
pub(crate) struct ExpertRule {
    /// The number of experts in a layer.
    pub(crate) count: Count,
    /// The number of experts that compute a token.
    pub(crate) per_token: Count,
    /// The width of each expert; that of the MLP if absent.
    pub(crate) width: Option<Count>,
    /// The width of the shared expert, which computes every token.
    pub(crate) shared_width: Option<Count>,
    /// The key that states whether routing weights are normalised to a sum of 1, and its default.
    pub(crate) shares: (Option<String>, bool),
    /// The key that lists layers without experts.
    pub(crate) dense_layers: Option<String>,
    /// The key of a number n: the last of every n layers has experts.
    pub(crate) step: Option<String>,
}

/// A number: the keys that may state it, and the default.
pub(crate) struct Count {
    pub(crate) keys: Vec<String>,
    pub(crate) default: usize,
}

impl ExpertRule {
    /// Returns every key that is read.
    pub(super) fn keys(&self) -> impl Iterator<Item = &String> {
        let counts = [
            Some(&self.count),
            Some(&self.per_token),
            self.width.as_ref(),
        ];
        let counts = counts.into_iter().chain([self.shared_width.as_ref()]);
        let counts = counts.flatten().flat_map(|own| &own.keys);
        let others = [&self.shares.0, &self.dense_layers, &self.step];
        counts.chain(others.into_iter().flatten())
    }
}

/// Reads the member `experts` of `family.json`.
pub(super) fn read(root: &Value, r: &mut Reader) -> Option<ExpertRule> {
    let value = present(root, "experts")?;
    if value.members().is_none() {
        r.wrong("experts", value, "an object");
        return None;
    }
    r.foreign(
        value,
        &[
            "count",
            "per_token",
            "width",
            "shared_width",
            "shares",
            "dense_layers",
            "step",
        ],
    );
    r.required(value, "count")?;
    r.required(value, "per_token")?;
    let shares = present(value, "shares").unwrap_or(&Value::NULL);
    r.foreign(shares, &["key", "default"]);
    let owned = |value: &Value, key: &str, r: &mut Reader| {
        r.maybe_text(value, key).map(|(text, _)| text.to_owned())
    };
    Some(ExpertRule {
        count: count(value, "count", r)?,
        per_token: count(value, "per_token", r)?,
        width: count(value, "width", r),
        shared_width: count(value, "shared_width", r),
        shares: (
            owned(shares, "key", r),
            r.maybe_truth(shares, "default").unwrap_or(false),
        ),
        dense_layers: owned(value, "dense_layers", r),
        step: owned(value, "step", r),
    })
}

fn count(value: &Value, key: &str, r: &mut Reader) -> Option<Count> {
    let own = present(value, key)?;
    if own.members().is_none() {
        r.wrong(key, own, "an object");
        return None;
    }
    r.foreign(own, &["keys", "default"]);
    let default = r.required(own, "default")?;
    Some(Count {
        keys: r.texts(own, "keys"),
        default: r.natural("default", default)?,
    })
}
