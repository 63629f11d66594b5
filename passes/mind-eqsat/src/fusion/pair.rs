//! The form and name of two clusters together, as far as their own ones determine them.

use mind_ir::kernel::{KernelForm, POSITIONS, PRODUCT_AND_ROWS, TWO_PRODUCTS, WIDER};
use mind_ir::types::Dim;

use super::cluster::Cluster;
use crate::report::MissedReason;

/// Returns the form and space of two clusters together; `None` if their own forms do not determine them.
///
/// # Errors
///
/// Errors if the two have no common form.
pub(super) fn known_form<'g>(
    clusters: &[&Cluster<'g>],
) -> Option<Result<(KernelForm, &'g [Dim]), MissedReason>> {
    let [a, b] = *clusters else { return None };
    let (first, second) = if a.position < b.position {
        (a, b)
    } else {
        (b, a)
    };
    let clash = |clash| Some(Err(MissedReason::Form(clash)));
    let products = |form| matches!(form, KernelForm::Contraction | KernelForm::Attention);
    match (first.form?, second.form?) {
        // The product comes first, so it reads nothing of the other cluster.
        (form @ (KernelForm::Elementwise | KernelForm::Contraction), KernelForm::Elementwise) => {
            if first.space != second.space {
                clash(POSITIONS)
            } else if form == KernelForm::Contraction && second.width > first.width {
                clash(WIDER)
            } else {
                Some(Ok((form, first.space)))
            }
        }
        (first, second) if products(first) && products(second) => clash(TWO_PRODUCTS),
        (KernelForm::Rows, second) if products(second) => clash(PRODUCT_AND_ROWS),
        (first, KernelForm::Rows) if products(first) => clash(PRODUCT_AND_ROWS),
        _ => None,
    }
}

/// Returns the name of the group of `clusters`: that of the clusters that have its form.
///
/// # Errors
///
/// Errors for two normalisations, because one would lose its name.
pub(super) fn name<'g>(
    form: KernelForm,
    clusters: &[&Cluster<'g>],
) -> Result<Option<&'g str>, MissedReason> {
    let same = clusters.iter().filter(|cluster| cluster.form == Some(form));
    let mut names = same.filter_map(|cluster| cluster.name);
    let first = names.next();
    match (names.find(|name| Some(*name) != first), form) {
        (Some(_), KernelForm::Rows) => {
            Err(MissedReason::Form("two normalisations keep their names"))
        }
        (Some(_), _) => Ok(None),
        (None, _) => Ok(first),
    }
}
