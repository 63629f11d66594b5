//! What is known of a shipped rule without reading it.

use crate::ruleset::rule_info::Engine;

/// A shipped rule. Ops are bits: the first one of the index's list is bit 0.
pub(super) struct Row {
    pub(super) name: &'static str,
    /// Which of the files it stands in, from 0.
    pub(super) file: usize,
    /// The bytes of the file that it stands in.
    pub(super) text: (usize, usize),
    /// The line of its name, from 1.
    pub(super) line: usize,
    pub(super) engine: Engine,
    /// The words of its class.
    pub(super) class: &'static [&'static str],
    pub(super) forms: &'static [FormRow],
}

/// A form of a rule: a direction of it, for one of its ops.
pub(super) struct FormRow {
    /// The ops of its left side.
    pub(super) needs: u128,
    /// The ops of its right side.
    pub(super) makes: u128,
}
