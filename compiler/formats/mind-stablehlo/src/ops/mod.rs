//! The table of ops, with the import of each.

mod body;
mod contract;
mod control;
mod convolution;
mod elementwise;
mod gather;
mod index;
mod missing;
mod normalize;
mod reduce;
mod scatter;
mod select;
mod shape;
mod solve;
mod sort;
mod special;
mod window;

use mind_ir::scalar::ScalarFn;

pub(crate) use missing::{missing, refusal};

use crate::import::emit::{Many, One};
use crate::import::node::Node;
use crate::import::value::{Value, Values};

/// The table entry of an op.
pub(crate) struct Row {
    name: &'static str,
    import: Import,
    /// Whether operations on small known integers are folded.
    pub folds: bool,
}

/// The import of an op.
#[derive(Clone, Copy)]
enum Import {
    /// A scalar function.
    Scalar(ScalarFn),
    /// One result, element by element.
    Pointwise(fn(&mut Node<'_, '_, '_>) -> One),
    /// One result.
    One(fn(&mut Node<'_, '_, '_>) -> One),
    /// Several results.
    Many(fn(&mut Node<'_, '_, '_>) -> Many),
    /// Results that may be known.
    Values(fn(&mut Node<'_, '_, '_>) -> Values),
}

impl Row {
    const fn new(name: &'static str, import: Import) -> Row {
        Row {
            name,
            import,
            folds: false,
        }
    }

    const fn scalar(name: &'static str, function: ScalarFn) -> Row {
        Row::new(name, Import::Scalar(function)).folding()
    }

    const fn pointwise(name: &'static str, import: fn(&mut Node<'_, '_, '_>) -> One) -> Row {
        Row::new(name, Import::Pointwise(import)).folding()
    }

    const fn one(name: &'static str, import: fn(&mut Node<'_, '_, '_>) -> One) -> Row {
        Row::new(name, Import::One(import))
    }

    const fn many(name: &'static str, import: fn(&mut Node<'_, '_, '_>) -> Many) -> Row {
        Row::new(name, Import::Many(import))
    }

    const fn values(name: &'static str, import: fn(&mut Node<'_, '_, '_>) -> Values) -> Row {
        Row::new(name, Import::Values(import))
    }

    const fn folding(self) -> Row {
        Row {
            folds: true,
            ..self
        }
    }

    /// Returns whether the op is elementwise.
    pub fn is_pointwise(&self) -> bool {
        match self.import {
            Import::Scalar(_) | Import::Pointwise(_) => true,
            Import::One(_) | Import::Many(_) => false,
            Import::Values(_) => {
                matches!(
                    self.name,
                    "stablehlo.compare" | "stablehlo.constant" | "call" | "func.call"
                )
            }
        }
    }

    /// Emits an operation and returns its results.
    pub fn import(&self, n: &mut Node<'_, '_, '_>) -> Values {
        let values = match self.import {
            Import::Scalar(function) => vec![n.apply(function)?],
            Import::Pointwise(import) | Import::One(import) => vec![import(n)?],
            Import::Many(import) => import(n)?,
            Import::Values(import) => return import(n),
        };
        Ok(values.into_iter().map(Value::Op).collect())
    }
}

/// The rows by family.
const FAMILIES: &[&[Row]] = &[
    contract::ROWS,
    control::ROWS,
    convolution::ROWS,
    elementwise::ROWS,
    gather::ROWS,
    index::ROWS,
    normalize::ROWS,
    reduce::ROWS,
    scatter::ROWS,
    select::ROWS,
    shape::ROWS,
    solve::ROWS,
    sort::ROWS,
    special::ROWS,
    window::ROWS,
];

/// Returns the row of an op.
pub(crate) fn find(name: &str) -> Option<&'static Row> {
    let mut rows = FAMILIES.iter().copied().flatten();
    rows.find(|row| row.name == name)
}

/// Returns the names of all imported ops in ascending order.
pub fn op_names() -> Vec<&'static str> {
    let rows = FAMILIES.iter().copied().flatten();
    let mut names: Vec<&str> = rows.map(|row| row.name).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_op_has_one_row() {
        let names = op_names();
        let repeated = names.windows(2).find(|pair| pair[0] == pair[1]);
        assert_eq!(repeated, None);
    }
}
