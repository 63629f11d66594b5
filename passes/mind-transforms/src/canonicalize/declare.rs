//! The macro that declares patterns.

/// Declares patterns: a type for each, and `add`, which adds them to a set.
macro_rules! patterns {
    ($($(#[doc = $doc:literal])* $view:ident = $name:literal on [$($root:ty),+] => $rewrite:expr;)*) => {
        $(
            $(#[doc = $doc])*
            struct $view;

            impl mind_rewrite::RewritePattern for $view {
                fn name(&self) -> &str {
                    $name
                }

                fn roots(&self) -> &[&'static mind_ir::opdef::OpDef] {
                    &[$(<$root as mind_ir::opdef::Op>::DEF),+]
                }

                fn rewrite(
                    &self,
                    op: mind_ir::OpId,
                    rw: &mut mind_rewrite::Rewriter<'_>,
                ) -> Result<(), mind_rewrite::MatchFailure> {
                    let rewrite: fn(
                        mind_ir::OpId,
                        &mut mind_rewrite::Rewriter<'_>,
                    ) -> Result<(), mind_rewrite::MatchFailure> = $rewrite;
                    rewrite(op, rw)
                }
            }
        )*

        /// Adds the patterns of this file.
        pub(super) fn add(set: &mut mind_rewrite::PatternSet) {
            $(set.add($view);)*
        }
    };
}
pub(in crate::canonicalize) use patterns;
