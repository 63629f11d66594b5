//! Sliding windows, which limit how many tokens a run has.

use mind_diag::{Diagnostic, Severity, Span};
use mind_json::Value;

use super::family::{Defaults, Window};
use super::reader::Reader;
use crate::codes;
use crate::config::Family;

/// Why a window limits a run.
pub(super) const WINDOW_HELP: &str =
    "every position sees all others then; windows that slide past the first are not supported";
/// The first layer with a window in families that say it by `max_window_layers`.
const MAX_WINDOW_LAYERS: usize = 28;

const LAYER_TYPES: &str = "layer_types";
const USE_WINDOW: &str = "use_sliding_window";
const WIDTH: &str = "sliding_window";

impl<'v> Reader<'v> {
    /// The positions that a run may have: no more than a window lets each of them see, which is warned of.
    pub(super) fn window(
        &mut self,
        family: Family,
        rules: &Defaults,
        context: usize,
        layers: usize,
    ) -> usize {
        let said = self.config.get(WIDTH);
        let slides = self.sliding_layer(layers);
        let width = match rules.window {
            Window::Never => {
                if let Some(value) = slides {
                    let reason = format!("layers of {} have no window", family.name());
                    self.unsupported(LAYER_TYPES, value, &reason);
                }
                return context;
            }
            Window::Asked(default) => {
                let asked = self.truth(USE_WINDOW).unwrap_or(false);
                let some = match self.get(LAYER_TYPES) {
                    Some(_) => slides.is_some(),
                    None => self.first_with_window().is_some_and(|from| from < layers),
                };
                let absent = said.is_some_and(Value::is_null);
                if let Some(value) = slides.filter(|_| !asked || absent) {
                    self.no_window(value, if asked { WIDTH } else { USE_WINDOW });
                }
                match said {
                    Some(value) if !absent && asked && some => self.natural(WIDTH, value),
                    None if asked && some => Some(default),
                    _ => None,
                }
            }
            Window::RawHfConfig(default) => match said {
                Some(value) if value.is_null() => None,
                Some(value) => self.natural(WIDTH, value),
                None => default,
            },
        };
        let span = said.map_or(self.config.span, |value| value.span);
        if width == Some(0) {
            self.push(
                codes::RANGE,
                span,
                "`sliding_window` is 0, expected at least 1",
            );
        }
        let Some(width) = width.filter(|width| *width > 0 && *width < context) else {
            return context;
        };
        let how = if said.is_some() { "" } else { " by default" };
        let message = format!(
            "`sliding_window` is {width}{how}, less than the context of {context}: a run has {width} tokens at most"
        );
        let found = Diagnostic::new(Severity::Warning, span, message).code(codes::UNSUPPORTED);
        self.found.push(found.help(WINDOW_HELP));
        width
    }

    /// The first layer that has a window, by `max_window_layers`; `None` after an error.
    fn first_with_window(&mut self) -> Option<usize> {
        let key = "max_window_layers";
        match self.get(key) {
            Some(value) => self.natural(key, value),
            None => Some(MAX_WINDOW_LAYERS),
        }
    }

    /// The first element of `layer_types` that is a sliding layer, after the list has been checked.
    fn sliding_layer(&mut self, layers: usize) -> Option<&'v Value> {
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
        let mut all = elements.iter();
        all.find(|value| value.text() == Some("sliding_attention"))
    }

    /// Reports a sliding layer where `key` says that there is no window.
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
