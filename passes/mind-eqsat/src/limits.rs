//! Limits on the search. All are counts, so that results do not depend on the machine's speed.

/// How far the search goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The least number of ops in a region, where more follow.
    pub region_least: usize,
    /// The most ops in a region.
    pub region_most: usize,
    /// Rounds of simplification.
    pub simplify_rounds: usize,
    /// Rounds of moving layouts where nothing convolves: products read through a transpose that is near.
    pub layout_rounds: usize,
    /// Rounds of moving layouts where something convolves: transposes move through the whole network to its borders.
    pub convolution_layout_rounds: usize,
    /// Rounds of simplification and of moving layouts after ops were merged.
    pub merge_rounds: usize,
    /// Rounds of regrouping sums and products, where that is allowed.
    pub reassociate_rounds: usize,
    /// Rounds of looking for forms that a fusion names, when fusing.
    pub idiom_rounds: usize,
    /// E-nodes per op of a region, beyond which no rule acts on it any more.
    pub growth: usize,
    /// Matches of one rule in one round, per op of a region.
    pub matches: usize,
    /// The most ops in a fused group.
    pub group_ops: usize,
    /// The most operands of a fused group.
    pub group_operands: usize,
    /// The most fusions proposed around one op.
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
