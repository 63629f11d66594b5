//! Reads the experts of a `config.json`.

use super::reader::Reader;
use crate::attributes::Layers;
use crate::codes;
use crate::experts::Experts;
use crate::family::{Count, Family};

impl Reader<'_> {
    /// Returns the experts of a model, if it has some; the outer `None` follows an error. `width` is that of its MLP.
    pub(super) fn experts(
        &mut self,
        family: Family,
        width: usize,
        layers: usize,
    ) -> Option<Option<Experts>> {
        let Some(rule) = &family.rules().experts else {
            return Some(None);
        };
        let count = self.count_of(&rule.count)?;
        if count == 0 {
            return Some(None);
        }
        let own = match &rule.width {
            Some(own) => self.count_of(own)?,
            None => width,
        };
        let shared_width = match &rule.shared_width {
            Some(own) => self.count_of(own)?,
            None => 0,
        };
        let (key, default) = &rule.shares;
        let normalised = key.as_deref().and_then(|key| self.truth(key));
        let listed = match &rule.dense_layers {
            Some(key) => self.layers_of(key)?,
            None => Layers::NONE,
        };
        let step = rule.step.as_deref();
        let step = match step.and_then(|key| Some((key, self.get(key)?))) {
            Some((key, value)) => self.natural(key, value)?,
            None => 1,
        };
        let is_dense =
            |layer: &usize| listed.has(*layer) || step == 0 || !(layer + 1).is_multiple_of(step);
        if (0..layers).all(|layer| is_dense(&layer)) {
            return Some(None);
        }
        Some(Some(Experts {
            count,
            per_token: self.count_of(&rule.per_token)?,
            width: own,
            shared_width,
            normalised: normalised.unwrap_or(*default),
            dense_layers: Layers::of((0..layers).filter(is_dense)),
        }))
    }

    /// Returns a number that one of several keys gives, or its default.
    fn count_of(&mut self, own: &Count) -> Option<usize> {
        for key in &own.keys {
            if let Some(value) = self.get(key) {
                return self.natural(key, value);
            }
        }
        Some(own.default)
    }

    /// Returns the layers that an array lists.
    fn layers_of(&mut self, key: &str) -> Option<Layers> {
        let Some(value) = self.get(key) else {
            return Some(Layers::NONE);
        };
        let numbers = value.elements().map(|all| all.iter());
        let numbers = numbers.map(|all| all.map(|own| usize::try_from(own.integer()?).ok()));
        let Some(numbers) = numbers.and_then(Iterator::collect::<Option<Vec<usize>>>) else {
            let message = format!(
                "`{key}` is {}, expected an array of layers",
                value.describe()
            );
            self.push(codes::KIND, value.span, message);
            return None;
        };
        Some(Layers::of(numbers))
    }
}
