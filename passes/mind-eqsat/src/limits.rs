//! Limits of the search. All are counts, so that results do not depend on the machine's speed.

/// Limits of the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The least number of ops in a region, except the last.
    pub region_least: usize,
    /// The most ops in a region.
    pub region_most: usize,
    /// The most rounds of the simplification phase.
    pub simplify_rounds: usize,
    /// The most rounds of the layout phase in regions without convolutions, where products read through nearby
    /// transposes.
    pub layout_rounds: usize,
    /// The most rounds of the layout phase in regions with convolutions, where transposes move through the whole
    /// network to its borders.
    pub convolution_layout_rounds: usize,
    /// The most rounds of simplification and layout after ops were merged.
    pub merge_rounds: usize,
    /// The most rounds of reassociating sums and products, if that is allowed.
    pub reassociate_rounds: usize,
    /// The most rounds of rewriting to forms that a fusion rule names, when fusing.
    pub idiom_rounds: usize,
    /// The most e-nodes per op of a region. The search ends at this limit.
    pub growth: usize,
    /// The most matches of one rule in one round, per op of a region.
    pub matches: usize,
    /// The most ops in a fused group.
    pub group_ops: usize,
    /// The most operands of a fused group.
    pub group_operands: usize,
    /// The most fusion candidates around one op.
    pub proposals: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            region_least: 300,
            region_most: 800,
            simplify_rounds: 8,
            layout_rounds: 4,
            convolution_layout_rounds: 16,
            merge_rounds: 2,
            reassociate_rounds: 2,
            idiom_rounds: 2,
            growth: 12,
            matches: 4,
            group_ops: 64,
            group_operands: 24,
            proposals: 24,
        }
    }
}
