//! Reads the attributes and the activation that steps of a plan need.

use super::reader::Reader;
use crate::attributes::{Activation, Attributes};
use crate::family::{Base, Family, How};

impl Reader<'_> {
    /// Returns the attributes that steps read; `None` after an error.
    pub(super) fn attributes(&mut self, family: Family, hidden_size: usize) -> Option<Attributes> {
        let mut attributes = Attributes::default();
        for rule in &family.rules().numbers {
            let asked = rule.asked_by.iter().find(|key| self.get(key).is_some());
            let is_read = match asked {
                Some(key) => self.truth(key)?,
                None => rule.asked,
            };
            if !is_read {
                continue;
            }
            let given = rule
                .key
                .as_deref()
                .and_then(|key| Some((key, self.at(key)?)));
            let number = match given {
                Some((_, value)) if value.is_null() => None,
                Some((_, value)) if !rule.words.is_empty() => {
                    let is_one = rule
                        .words
                        .iter()
                        .any(|own| Some(own.as_str()) == value.text());
                    Some(f64::from(u8::from(is_one)))
                }
                Some((key, _)) if rule.how == How::Truth => {
                    Some(f64::from(u8::from(self.truth(key)?)))
                }
                Some((key, value)) => Some(self.number(key, value)?),
                None => match rule.value {
                    Base::Value(value) => Some(value),
                    Base::HiddenSize => Some(hidden_size as f64),
                    Base::Neutral => None,
                },
            };
            let made = number.map(|number| match rule.how {
                How::Same | How::Truth => number,
                How::Inverse => 1.0 / number,
                How::Root => number.sqrt(),
                How::InverseRoot => 1.0 / number.sqrt(),
                How::Next => number + 1.0,
            });
            if let Some((_, value)) = given {
                self.places.push((rule.attribute.key(), value.span));
            }
            attributes.set(rule.attribute, made.unwrap_or(rule.attribute.neutral()));
        }
        Some(attributes)
    }

    /// Returns the activation function of the MLP; `None` after an error.
    pub(super) fn activation(&mut self, family: Family) -> Option<Activation> {
        let Some(rule) = &family.rules().activation else {
            return Some(Activation::default());
        };
        let given = rule.keys.iter().find_map(|key| Some((key, self.get(key)?)));
        let Some((key, value)) = given else {
            return Some(rule.default);
        };
        let own = rule
            .words
            .iter()
            .find(|(word, _)| Some(word.as_str()) == value.text());
        if own.is_none() {
            let words: Vec<&str> = rule.words.iter().map(|(word, _)| word.as_str()).collect();
            let reason = format!("activations of {} are {}", family.name(), words.join(", "));
            self.unsupported(key, value, &reason);
        }
        own.map(|(_, activation)| *activation)
    }
}
