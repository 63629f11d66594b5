//! Views of dictionaries.

use std::cmp::Ordering;

use crate::value::{Dict, Value};

/// The part of a dictionary that a view shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum View {
    Keys,
    Values,
    Items,
}

impl View {
    /// The type in Python.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            View::Keys => "dict_keys",
            View::Values => "dict_values",
            View::Items => "dict_items",
        }
    }

    /// The elements in the order of insertion.
    pub(crate) fn elements(self, own: &Dict) -> Vec<Value> {
        own.iter().map(|pair| self.element(pair)).collect()
    }

    fn element(self, (key, value): &(Value, Value)) -> Value {
        match self {
            View::Keys => key.clone(),
            View::Values => value.clone(),
            View::Items => Value::tuple([key.clone(), value.clone()]),
        }
    }

    fn contains(self, own: &Dict, element: &Value) -> bool {
        match (self, element) {
            (View::Keys, key) => own.get(key).is_some(),
            (View::Values, value) => own.iter().any(|(_, own)| own.equals(value)),
            (View::Items, Value::Tuple(pair)) => match &**pair {
                [key, value] => own.get(key).is_some_and(|own| own.equals(value)),
                _ => false,
            },
            (View::Items, _) => false,
        }
    }

    fn is_subset(self, own: &Dict, (other_view, other): (View, &Dict)) -> bool {
        let is_in = |pair| other_view.contains(other, &self.element(pair));
        own.len() <= other.len() && own.iter().all(is_in)
    }
}

/// The order of two views as sets, by inclusion. Returns `None` if neither includes the other.
pub(crate) fn order(left: (View, &Dict), right: (View, &Dict)) -> Option<Ordering> {
    let is_subset = left.0.is_subset(left.1, right);
    match left.1.len().cmp(&right.1.len()) {
        Ordering::Equal => is_subset.then_some(Ordering::Equal),
        Ordering::Less => is_subset.then_some(Ordering::Less),
        Ordering::Greater => right
            .0
            .is_subset(right.1, left)
            .then_some(Ordering::Greater),
    }
}
