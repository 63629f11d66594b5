//! Saturation: rounds of matching and applying rules.

pub(crate) mod apply;
pub(crate) mod changed_classes;
pub(crate) mod class_nodes;
pub(crate) mod merge;
pub(crate) mod phases;
