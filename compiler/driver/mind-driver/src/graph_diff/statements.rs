//! Texts of the ops of a module.

use std::collections::HashMap;

use crate::formats::{Format, Formats};
use mind_ir::opdef::Trait;
use mind_ir::{Graph, OpId};
use mind_text::is_interface_line;

/// The Core text of a module, split by op.
pub(super) struct Statements {
    of: HashMap<OpId, String>,
}

impl Statements {
    pub(super) fn of(formats: &Formats, g: &Graph) -> Statements {
        let text = formats.print(Format::Core, g).unwrap_or_default();
        let mut texts: Vec<String> = Vec::new();
        for line in text.lines().skip_while(|line| is_interface_line(line)) {
            let starts = line.starts_with('%') || line.starts_with("outputs");
            match texts.last_mut() {
                Some(last) if !starts => {
                    last.push('\n');
                    last.push_str(line);
                }
                _ => texts.push(line.to_owned()),
            }
        }
        let of = g.ops(g.body()).zip(texts);
        Statements { of: of.collect() }
    }

    /// Appends the lines of `op` with a marker.
    pub(super) fn push(&self, lines: &mut Vec<String>, mark: char, op: OpId) {
        let text = self.of.get(&op).map_or("", String::as_str);
        lines.extend(text.lines().map(|line| format!("{mark}{line}")));
    }
}

/// Returns whether `op` is the terminator.
pub(super) fn is_end(g: &Graph, op: OpId) -> bool {
    g.def(op).has(Trait::Terminator)
}
