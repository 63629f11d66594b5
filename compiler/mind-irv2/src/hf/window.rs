//! Reads sliding windows of attention.

use mind_diag::{Diagnostic, Span};
use mind_json::Value;

use super::reader::Reader;
use crate::attributes::Layers;
use crate::codes;
use crate::family::{Family, WindowLayers, WindowRule};

const LAYER_TYPES: &str = "layer_types";
const WIDTH: &str = "sliding_window";

/// The window of a model's attention.
pub(super) struct Window {
    /// The number of positions that a query sees, including its own; 0 without a window.
    pub(super) width: usize,
    /// The layers that have it.
    pub(super) layers: Layers,
}

impl Window {
    const NONE: Window = Window {
        width: 0,
        layers: Layers::NONE,
    };
}

impl<'v> Reader<'v> {
    /// Returns the window of attention; `None` after an error. A window as large as the context is dropped, unless its
    /// layers also differ in other ways.
    pub(super) fn window(
        &mut self,
        family: Family,
        context: usize,
        layers: usize,
    ) -> Option<Window> {
        let Some(rule) = &family.rules().window else {
            if let Some(value) = self.sliding_types(layers).and_then(|all| all.first) {
                let reason = format!("layers of {} have no window", family.name());
                self.unsupported(LAYER_TYPES, value, &reason);
            }
            return Some(Window::NONE);
        };
        let key = rule.key.as_str();
        let given = self.config.get(key);
        let types = if rule.types {
            self.sliding_types(layers)
        } else {
            None
        };
        let asked = match &rule.asked_by {
            Some(key) => self.truth(key).unwrap_or(false),
            None => true,
        };
        let is_null = given.is_some_and(Value::is_null);
        let first = types.as_ref().and_then(|own| own.first);
        if let (Some(value), Some(asked_by)) = (first.filter(|_| !asked || is_null), &rule.asked_by)
        {
            self.no_window(value, if asked { key } else { asked_by });
        }
        let own = match types {
            Some(types) => types.layers,
            None => self.layers_by_rule(rule, layers)?,
        };
        let width = match given {
            Some(value) if !is_null && asked && !own.is_empty() => self.natural(key, value),
            None if asked && !own.is_empty() => rule.default,
            _ => None,
        };
        let span = given.map_or(self.config.span, |value| value.span);
        if width == Some(0) && !rule.both_sides {
            let message = format!("`{key}` is 0, expected at least 1");
            self.push(codes::RANGE, span, message);
        }
        let width = match rule.both_sides {
            true => width.map(|width| width / 2 + 1),
            false => width,
        };
        let has_other_effects = family.rules().window_has_other_effects();
        match width.filter(|&width| width < context || has_other_effects) {
            Some(width) => {
                self.places.push((WIDTH, span));
                Some(Window { width, layers: own })
            }
            None => Some(Window::NONE),
        }
    }

    /// Returns the layers with a window for a configuration that does not list them; `None` after an error.
    fn layers_by_rule(&mut self, rule: &WindowRule, layers: usize) -> Option<Layers> {
        let mut given = |key: &str, default: usize| match self.get(key) {
            Some(value) => self.natural(key, value),
            None => Some(default),
        };
        let layers = match &rule.below {
            Some((key, default)) => given(key, *default)?.min(layers),
            None => layers,
        };
        Some(match &rule.layers {
            WindowLayers::All => Layers::of(0..layers),
            WindowLayers::From(key, default) => {
                let first = given(key, *default)?;
                Layers::of(first.min(layers)..layers)
            }
            WindowLayers::Period(key, default) | WindowLayers::FirstOfPeriod(key, default) => {
                let period = match key {
                    Some(key) => given(key, *default)?.max(1),
                    None => *default,
                };
                let last = usize::from(matches!(rule.layers, WindowLayers::Period(..)));
                Layers::of((0..layers).filter(|layer| !(layer + last).is_multiple_of(period)))
            }
        })
    }

    /// Checks `layer_types`, and returns the layers for which it states a window; `None` without the list.
    fn sliding_types(&mut self, layers: usize) -> Option<Sliding<'v>> {
        let types = self.get(LAYER_TYPES)?;
        let Some(elements) = types.elements() else {
            let message = format!("`{LAYER_TYPES}` is {}, expected an array", types.describe());
            self.push(codes::KIND, types.span, message);
            return None;
        };
        if elements.len() != layers {
            let found = elements.len();
            let message = format!(
                "the length of `{LAYER_TYPES}` is {found}, but `num_hidden_layers` is {layers}"
            );
            let place = self.place("num_layers");
            let found = Diagnostic::error(types.span, message).code(codes::CONTRADICTION);
            self.found
                .push(found.related(place, "`num_hidden_layers` is here"));
        }
        let known =
            |value: &&Value| matches!(value.text(), Some("full_attention" | "sliding_attention"));
        if let Some(value) = elements.iter().find(|value| !known(value)) {
            let reason = "layers attend to everything or through a window";
            self.unsupported(LAYER_TYPES, value, reason);
        }
        let slides = |value: &Value| value.text() == Some("sliding_attention");
        let all = elements.iter().enumerate();
        let layers = all.filter(|(_, value)| slides(value)).map(|(at, _)| at);
        Some(Sliding {
            layers: Layers::of(layers),
            first: elements.iter().find(|value| slides(value)),
        })
    }

    /// Reports a layer with a window although `key` states that there is none.
    fn no_window(&mut self, layer: &Value, key: &str) {
        let found = self.config.get(key);
        let value = found.map_or("absent".to_owned(), Value::describe);
        let message =
            format!("`{LAYER_TYPES}` has a layer \"sliding_attention\", but `{key}` is {value}");
        let place = found.map_or(Span::FILE, |value| value.span);
        let error = Diagnostic::error(layer.span, message).code(codes::CONTRADICTION);
        self.found.push(match found {
            Some(_) => error.related(place, format!("`{key}` is here")),
            None => error,
        });
    }
}

/// The layers with a window in a list.
struct Sliding<'v> {
    layers: Layers,
    /// The first element of these layers.
    first: Option<&'v Value>,
}
