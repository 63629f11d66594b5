//! The rule files that ship with the compiler.

/// The rule files that ship with the compiler, by name. One place in memory, which tells them from copies.
pub static SHIPPED: &[(&str, &str)] = &[
    (
        "identities.rules",
        include_str!("../../rules/identities.rules"),
    ),
    ("signs.rules", include_str!("../../rules/signs.rules")),
    (
        "activations.rules",
        include_str!("../../rules/activations.rules"),
    ),
    (
        "comparisons.rules",
        include_str!("../../rules/comparisons.rules"),
    ),
    ("choices.rules", include_str!("../../rules/choices.rules")),
    ("logic.rules", include_str!("../../rules/logic.rules")),
    ("casts.rules", include_str!("../../rules/casts.rules")),
    (
        "functions.rules",
        include_str!("../../rules/functions.rules"),
    ),
    ("shapes.rules", include_str!("../../rules/shapes.rules")),
    (
        "transposes.rules",
        include_str!("../../rules/transposes.rules"),
    ),
    ("slices.rules", include_str!("../../rules/slices.rules")),
    ("pads.rules", include_str!("../../rules/pads.rules")),
    (
        "reversals.rules",
        include_str!("../../rules/reversals.rules"),
    ),
    ("joins.rules", include_str!("../../rules/joins.rules")),
    ("rotary.rules", include_str!("../../rules/rotary.rules")),
    ("gathers.rules", include_str!("../../rules/gathers.rules")),
    (
        "contractions.rules",
        include_str!("../../rules/contractions.rules"),
    ),
    ("products.rules", include_str!("../../rules/products.rules")),
    ("merges.rules", include_str!("../../rules/merges.rules")),
    (
        "convolutions.rules",
        include_str!("../../rules/convolutions.rules"),
    ),
    ("layouts.rules", include_str!("../../rules/layouts.rules")),
    (
        "stretches.rules",
        include_str!("../../rules/stretches.rules"),
    ),
    (
        "positions.rules",
        include_str!("../../rules/positions.rules"),
    ),
    ("argmax.rules", include_str!("../../rules/argmax.rules")),
    ("sorts.rules", include_str!("../../rules/sorts.rules")),
    ("windows.rules", include_str!("../../rules/windows.rules")),
    (
        "reductions.rules",
        include_str!("../../rules/reductions.rules"),
    ),
    (
        "reassociation.rules",
        include_str!("../../rules/reassociation.rules"),
    ),
    (
        "approximations.rules",
        include_str!("../../rules/approximations.rules"),
    ),
    ("fusions.rules", include_str!("../../rules/fusions.rules")),
];
