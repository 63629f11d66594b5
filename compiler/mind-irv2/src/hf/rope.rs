//! Reads the rotary embeddings of a `config.json`, which may describe them in several places.

use mind_diag::{Diagnostic, Severity};
use mind_json::Value;

use super::reader::Reader;
use crate::codes;
use crate::config::RopeScaling;
use crate::family::Family;
use crate::rope::{DEFAULT_THETA, ORIGINAL_CONTEXT, contradiction, keys, means_the_same, scaling};

/// The keys of objects that describe the rotation, of `transformers` 5 and of earlier releases.
const NESTED: [&str; 2] = ["rope_parameters", "rope_scaling"];
/// Keys that are in this object or next to it.
const THETA: &str = "rope_theta";
const PARTIAL: &str = "partial_rotary_factor";

/// The rotation of heads.
pub(super) struct Rotation {
    /// The base of the frequencies.
    pub(super) theta: f64,
    /// The scaling of the frequencies.
    pub(super) scaling: RopeScaling,
    /// The rotated share of each head.
    pub(super) share: f64,
    /// The base in layers with a window, if the family has one.
    pub(super) local: Option<f64>,
}

/// A value, with the path of its key.
type RawHfConfig<'v> = (String, &'v Value);

impl<'v> Reader<'v> {
    /// Returns the rotation of `family`, if it has one, for a context of `positions`; the outer `None` follows an
    /// error.
    pub(super) fn rope(
        &mut self,
        family: Family,
        positions: Option<usize>,
    ) -> Option<Option<Rotation>> {
        let Some(rule) = &family.rules().rotation else {
            return Some(None);
        };
        let by_type = self.by_type(rule.local.is_some());
        let object = match by_type {
            Some((key, [whole, _])) => Some((key, whole)),
            None => self.rope_object()?,
        };
        let nested = |key: &str| {
            let (own, value) = object?;
            let value = value.get(key).filter(|value| !value.is_null())?;
            Some((format!("{own}.{key}"), value))
        };
        let flat = |key: &str| Some((key.to_owned(), self.get(key)?));
        let own = family.rules().keys_of(THETA).and_then(<[String]>::first);
        let own = own.and_then(|key| flat(key));
        let theta = [flat(THETA), flat("rope_base"), own, nested(THETA)];
        let share_key = rule.share_key.as_deref();
        let share = [flat(share_key.unwrap_or(PARTIAL)), nested(PARTIAL)];
        let context = self.get(ORIGINAL_CONTEXT);
        let default = family.rules().default_of(THETA).unwrap_or(DEFAULT_THETA);
        let theta = self.agreed(THETA, theta, default)?;
        let share = self.agreed(PARTIAL, share, rule.share)?;
        let local = match &rule.local {
            Some((key, default)) => {
                let nested = by_type.and_then(|(_, [_, sliding])| sliding.get(THETA));
                match self.get(key).or(nested) {
                    Some(value) => Some(self.number(key, value)?),
                    None => Some(*default),
                }
            }
            None => None,
        };
        let scaling = match object.map(|(_, value)| scaling(value, context, positions.unwrap_or(1)))
        {
            Some(Ok(scaling)) => scaling,
            Some(Err(found)) => {
                self.found.push(*found);
                return None;
            }
            None => RopeScaling::None,
        };
        if let Some((key, value)) = object {
            self.unread_members(key, value, scaling);
            let name = scaling.name();
            if scaling != RopeScaling::None && !rule.scalings.iter().any(|own| own == name) {
                let reason = format!("{} has no such rotation", family.name());
                self.unsupported(key, value, &reason);
            }
        }
        let share = if rule.partial {
            share
        } else {
            self.share_of(family, share, scaling)
        };
        Some(Some(Rotation {
            theta,
            scaling,
            share,
            local,
        }))
    }

    /// Returns the objects that describe the rotation in layers without and with a window, if the family has both.
    fn by_type(&mut self, has_both: bool) -> Option<(&'static str, [&'v Value; 2])> {
        let key = NESTED[0];
        let object = self.get(key).filter(|_| has_both)?;
        let [whole, sliding] = ["full_attention", "sliding_attention"].map(|own| object.get(own));
        let (whole, sliding) = (whole?, sliding?);
        let kind = sliding
            .get("rope_type")
            .filter(|kind| kind.text() != Some("default"));
        if let Some(kind) = kind {
            self.unsupported(
                "rope_type",
                kind,
                "rotations in layers with a window are not stretched",
            );
        }
        Some((key, [whole, sliding]))
    }

    /// Returns the object that describes the rotation, if there is one; the outer `None` follows an error.
    fn rope_object(&mut self) -> Option<Option<(&'static str, &'v Value)>> {
        let mut objects = Vec::new();
        for key in NESTED {
            objects.extend(self.get(key).map(|value| (key, value)));
        }
        for &(key, value) in &objects {
            let mut members = value.members().unwrap_or_default().iter();
            if members.any(|member| member.value.members().is_some()) {
                self.unsupported(key, value, "layers have one kind of rotation");
                return None;
            }
        }
        if let [one, two] = objects[..]
            && let Some(found) = differing(one, two)
        {
            self.found.push(found);
            return None;
        }
        Some(objects.first().copied())
    }

    /// Returns the number on which all places of a key agree, or `default` if it is absent; `None` after an error.
    fn agreed<const N: usize>(
        &mut self,
        key: &'static str,
        given: [Option<RawHfConfig<'v>>; N],
        default: f64,
    ) -> Option<f64> {
        let mut given = given.into_iter().flatten();
        let Some((first, value)) = given.next() else {
            return Some(default);
        };
        self.places.push((key, value.span));
        let number = self.number(&first, value)?;
        for (other, own) in given {
            if !means_the_same(value, own) {
                let found = contradiction((&first, value), (&other, own));
                self.found.push(found);
                return None;
            }
        }
        Some(number)
    }

    /// Returns the rotated share of a head in a family that only rotates whole heads, and reports other shares.
    fn share_of(&mut self, family: Family, share: f64, scaling: RopeScaling) -> f64 {
        if share == 1.0 {
            return share;
        }
        let span = self.place(PARTIAL);
        let name = family.name();
        if scaling == RopeScaling::None {
            let message =
                format!("`{PARTIAL}` is {share}, which {name} does not read: whole heads rotate");
            let found = Diagnostic::new(Severity::Warning, span, message);
            self.found.push(found.code(codes::UNKNOWN_KEY));
        } else {
            let message = format!(
                "`{PARTIAL}` is {share}, which is not supported: {name} has no stretched rotation of a part of a head"
            );
            self.push(codes::UNSUPPORTED, span, message);
        }
        1.0
    }

    /// Warns of members that this type of rotation does not read.
    fn unread_members(&mut self, key: &str, value: &Value, scaling: RopeScaling) {
        let beside = [THETA, PARTIAL];
        for member in value.members().unwrap_or_default() {
            let own = member.key.as_str();
            if keys(scaling).contains(&own) || beside.contains(&own) || member.value.is_null() {
                continue;
            }
            let message =
                format!("`{key}.{own}` is not read: this kind of rotation has no such key");
            let found = Diagnostic::new(Severity::Warning, member.key_span, message);
            self.found.push(found.code(codes::UNKNOWN_KEY));
        }
    }
}

/// Returns an error about the first member in which two objects differ.
fn differing(
    (one, first): (&'static str, &Value),
    (two, second): (&'static str, &Value),
) -> Option<Diagnostic> {
    let own = |value: &'_ Value, key: &str| -> Option<String> {
        let named = match key {
            "type" | "rope_type" => value.get("rope_type").or_else(|| value.get("type")),
            key => value.get(key),
        };
        let named = named.filter(|value| !value.is_null())?;
        Some(
            named
                .real()
                .map_or_else(|| named.print(), |real| real.to_string()),
        )
    };
    let members = [first, second].map(|value| value.members().unwrap_or_default());
    let mut keys = members
        .into_iter()
        .flatten()
        .map(|member| member.key.as_str());
    let key = keys.find(|key| own(first, key) != own(second, key))?;
    let place = |value: &Value| value.get(key).map_or(value.span, |value| value.span);
    let message = format!("`{one}` and `{two}` say different things of `{key}`");
    let found = Diagnostic::error(place(first), message).code(codes::CONTRADICTION);
    let found = found.related(place(second), format!("`{two}` is here"));
    Some(found.help("one of the two objects is enough"))
}
