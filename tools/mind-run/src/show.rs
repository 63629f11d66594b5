//! Outputs as text and as JSON.

use std::fmt::Write;

use mind_interp::{Scalar, fingerprint};
use mind_ir::Graph;
use mind_ir::tensor::Tensor;
use serde_json::{Value, json};

/// Limit on the elements of a tensor that is printed in full.
const WHOLE: usize = 64;

/// Number of positions printed at either end of an axis of a larger tensor.
const EDGE: usize = 3;

/// Limit on the elements printed of a tensor, unless `--full` is set.
const BOUND: usize = 1000;

/// Formats each output with name, type, checksum and elements; large outputs are elided unless `full`.
pub(super) fn text(g: &Graph, results: &[Tensor], full: bool) -> String {
    let mut text = String::new();
    for (at, tensor) in results.iter().enumerate() {
        let (name, dtype, shape) = (shown(&g.output_text(at)), tensor.dtype(), tensor.shape());
        text += &format!("{name}: {dtype}{shape:?} {}\n", checksum(tensor));
        // An empty tensor may have any number of empty rows.
        let (empty, few) = (tensor.count() == 0, tensor.count() <= WHOLE);
        let whole = !empty && (full || few);
        let edge = if whole { usize::MAX } else { EDGE };
        let left = if full && !empty { usize::MAX } else { BOUND };
        let mut elements = Elements {
            tensor,
            edge,
            left,
            text: &mut text,
        };
        elements.axis(0, 0, tensor.count());
        text.push('\n');
    }
    text
}

/// Escapes a name with control characters, so that it fits on one line.
fn shown(name: &str) -> String {
    if name.contains(char::is_control) {
        name.escape_debug().to_string()
    } else {
        name.to_owned()
    }
}

/// Returns the tensor's fingerprint, with the name of the hash.
fn checksum(tensor: &Tensor) -> String {
    format!("fnv1a:{:016x}", fingerprint(tensor))
}

/// Writes elements as nested lists.
struct Elements<'a> {
    tensor: &'a Tensor,
    edge: usize,
    left: usize,
    text: &'a mut String,
}

impl Elements<'_> {
    /// Prints the `count` elements from `start` on, which share the indices of the axes before `axis`.
    fn axis(&mut self, axis: usize, start: usize, count: usize) {
        let Some(&extent) = self.tensor.shape().get(axis) else {
            self.left = self.left.saturating_sub(1);
            let element = Scalar::at(self.tensor, start);
            write!(self.text, "{element}").expect("writing to a string succeeds");
            return;
        };
        self.text.push('[');
        if extent == 0 {
            self.left = self.left.saturating_sub(1);
        }
        let step = count.checked_div(extent).unwrap_or(0);
        let innermost = axis + 1 == self.tensor.rank();
        let mut index = 0;
        while index < extent {
            if index > 0 {
                self.text.push(',');
                self.separate(axis, innermost);
            }
            if self.left == 0 {
                self.text.push_str("...");
                break;
            }
            if index == self.edge && extent - index > self.edge {
                self.text.push_str("...");
                index = extent - self.edge;
                continue;
            }
            self.axis(axis + 1, start + index * step, step);
            index += 1;
        }
        self.text.push(']');
    }

    /// Separates elements by a space, and rows by a line end and indentation.
    fn separate(&mut self, axis: usize, innermost: bool) {
        if innermost {
            self.text.push(' ')
        } else {
            self.text.push('\n');
            self.text.extend(std::iter::repeat_n(' ', axis + 1));
        }
    }
}

/// Formats a JSON object on one line: for each output name, dtype, shape, checksum and elements in row-major order, at
/// most 1000 unless `full`. NaN and infinities are strings.
pub(super) fn json(g: &Graph, results: &[Tensor], full: bool) -> String {
    let outputs = results.iter().zip(array_names(g)).enumerate();
    let outputs: Vec<Value> = outputs
        .map(|(index, (tensor, array))| {
            let shown = if full {
                tensor.count()
            } else {
                tensor.count().min(BOUND)
            };
            let data: Vec<Value> = (0..shown)
                .map(|at| element(Scalar::at(tensor, at)))
                .collect();
            json!({
                "name": g.output_text(index),
                "array": array,
                "dtype": tensor.dtype().name(),
                "shape": tensor.shape(),
                "checksum": checksum(tensor),
                "data": data,
                "elided": tensor.count() - shown,
            })
        })
        .collect();
    format!("{}\n", json!({ "outputs": outputs }))
}

/// Returns the names of the outputs in an archive, in order: their names, or `out0`, `out1` and so on by position.
pub(super) fn array_names(g: &Graph) -> Vec<String> {
    let interface = &g.interface;
    let name = |at: usize| match interface.output_name(at) {
        Some(name) => name.to_owned(),
        None => {
            let mut name = format!("out{at}");
            while interface.output_position(&name).is_some() {
                name.push('_');
            }
            name
        }
    };
    (0..g.outputs().len()).map(name).collect()
}

/// Converts an element to JSON, exactly for its dtype.
fn element(scalar: Scalar) -> Value {
    let text = scalar.to_string();
    match serde_json::from_str(&text) {
        Ok(value) => value,
        Err(_) => Value::String(text),
    }
}
