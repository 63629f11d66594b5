//! Imports `Einsum`.

use indexmap::IndexSet;
use mind_convert::{EmitCore, Refusal};
use mind_core::ops::dot_general::DotGeneral;
use mind_core::ops::index::Slice;
use mind_core::ops::reduce::Sum;
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;

use super::Operator;
use crate::import::emit::{Emit, One};
use crate::import::node::Node;

pub(super) const ROWS: &[Operator] = &[Operator::one("Einsum", &[12], einsum)];

/// The label of an index: a letter, or a dimension of the ellipsis, counted from the last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Label {
    Open(usize),
    Letter(char),
}

/// A value with labelled dimensions.
struct Labelled {
    value: ValueId,
    labels: Vec<Label>,
}

/// Returns the labels in a term, whose ellipsis covers `open` dimensions.
fn labels(term: &str, open: usize) -> Result<Vec<Label>, Refusal> {
    let unreadable = || {
        Refusal::value(
            "equation",
            format_args!("a term \"{term}\""),
            "terms of letters and one `...`",
        )
    };
    let mut found = Vec::new();
    let mut rest = term.trim();
    while let Some(first) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("...") {
            found.extend((0..open).rev().map(Label::Open));
            rest = after;
        } else if first.is_ascii_alphabetic() {
            found.push(Label::Letter(first));
            rest = &rest[1..];
        } else if first == ' ' {
            rest = &rest[1..];
        } else {
            return Err(unreadable());
        }
    }
    Ok(found)
}

/// Returns the refusal of a term whose number of labels differs from the rank of its input.
fn wrong_term(e: &Emit<'_>, term: &str, value: ValueId) -> Refusal {
    let letters = term.chars().filter(char::is_ascii_alphabetic).count();
    let expected = format!("{} (the indices of \"{}\")", letters, term.trim());
    Refusal::rank("an input".to_owned(), e.g().type_text(value), expected)
}

fn einsum(n: &mut Node<'_, '_, '_>) -> One {
    let equation = n
        .word("equation")?
        .ok_or_else(|| Refusal::missing("equation"))?;
    let (inputs, output) = match equation.split_once("->") {
        Some((inputs, output)) => (inputs, Some(output)),
        None => (equation, None),
    };
    let terms: Vec<&str> = inputs.split(',').collect();
    let values = n.all()?;
    if terms.len() != values.len() {
        return Err(Refusal::length(
            "equation",
            terms.len(),
            values.len(),
            "1 term for each input",
        ));
    }
    let mut operands = Vec::with_capacity(values.len());
    for (&value, term) in values.iter().zip(&terms) {
        let letters = term.chars().filter(char::is_ascii_alphabetic).count();
        let open = n.e.rank(value).checked_sub(letters);
        let open = open.ok_or_else(|| wrong_term(&n.e, term, value))?;
        let labels = labels(term, open)?;
        if labels.len() != n.e.rank(value) {
            return Err(wrong_term(&n.e, term, value));
        }
        operands.push(diagonal(&mut n.e, Labelled { value, labels })?);
    }
    let wanted = match output {
        Some(term) => {
            let open = operands.iter().flat_map(|own| &own.labels);
            let open = open
                .filter(|own| matches!(own, Label::Open(_)))
                .collect::<IndexSet<_>>();
            labels(term, open.len())?
        }
        None => implied(&operands),
    };
    let mut operands = operands.into_iter();
    let first = operands
        .next()
        .ok_or_else(|| Refusal::operands(0, "1 or more"))?;
    let rest: Vec<Labelled> = operands.collect();
    let mut product = first;
    for (at, next) in rest.iter().enumerate() {
        let later = rest[at + 1..].iter().flat_map(|own| &own.labels);
        let kept: Vec<Label> = wanted.iter().chain(later).copied().collect();
        product = multiplied(&mut n.e, product, next, &kept)?;
    }
    let product = summed(&mut n.e, product, &wanted)?;
    let place = |label: &Label| product.labels.iter().position(|own| own == label);
    let order: Option<Vec<i64>> = wanted.iter().map(|own| Some(place(own)? as i64)).collect();
    let order = order.ok_or_else(|| {
        let expected = "a result whose indices are all in its terms";
        Refusal::value("equation", format_args!("\"{equation}\""), expected)
    })?;
    n.e.transpose(product.value, &order)
}

/// Returns the labels of an implicit result: those that occur once, with the ellipsis first and the letters in
/// alphabetical order.
fn implied(operands: &[Labelled]) -> Vec<Label> {
    let all: Vec<Label> = operands
        .iter()
        .flat_map(|own| own.labels.iter().copied())
        .collect();
    let once = |label: &&Label| all.iter().filter(|own| own == label).count() == 1;
    let (mut open, mut letters): (Vec<Label>, Vec<Label>) = (Vec::new(), Vec::new());
    for &label in &all {
        match label {
            Label::Open(_) if !open.contains(&label) => open.push(label),
            Label::Letter(_) if once(&&label) => letters.push(label),
            Label::Open(_) | Label::Letter(_) => {}
        }
    }
    open.sort_unstable_by(|a, b| b.cmp(a));
    letters.sort_unstable();
    [open, letters].concat()
}

/// Returns the diagonal along dimensions with the same label.
fn diagonal(e: &mut Emit<'_>, mut operand: Labelled) -> Result<Labelled, Refusal> {
    loop {
        let labels = &operand.labels;
        let again = (0..labels.len()).find_map(|at| {
            let first = labels[..at].iter().position(|own| *own == labels[at])?;
            Some((first, at))
        });
        let Some((first, second)) = again else {
            return Ok(operand);
        };
        // With both dimensions merged at the end, the diagonal is every `extent + 1`-th element.
        let rank = labels.len();
        let others: Vec<usize> = (0..rank)
            .filter(|at| *at != first && *at != second)
            .collect();
        let order = others.iter().chain([&first, &second]).map(|&at| at as i64);
        let moved = e.transpose(operand.value, &order.collect::<Vec<i64>>())?;
        let shape = e.shape(moved)?;
        let extent = shape[rank - 1];
        let flat = [&shape[..rank - 2], &[extent * extent]].concat();
        let flat = e.reshape_to(moved, &flat)?;
        let (starts, ends) = (vec![0; rank - 1], vec![mind_ir::attr::OPEN_END; rank - 1]);
        let mut steps = vec![1; rank - 1];
        steps[rank - 2] = extent + 1;
        let mut own: Vec<Label> = others.iter().map(|&at| labels[at]).collect();
        own.push(labels[first]);
        operand = Labelled {
            value: Slice::with(&starts, &ends, &steps).build(e, flat)?,
            labels: own,
        };
    }
}

/// Returns the sum over the labels that are not kept.
fn summed(e: &mut Emit<'_>, operand: Labelled, kept: &[Label]) -> Result<Labelled, Refusal> {
    let lost = |at: &usize| !kept.contains(&operand.labels[*at]);
    let axes: Vec<i64> = (0..operand.labels.len())
        .filter(lost)
        .map(|at| at as i64)
        .collect();
    if axes.is_empty() {
        return Ok(operand);
    }
    let labels = operand.labels.iter().filter(|own| kept.contains(own));
    Ok(Labelled {
        labels: labels.copied().collect(),
        value: Sum::with().axes(&axes).build(e, operand.value)?,
    })
}

/// Returns the product of two operands, contracted over their common labels that are not kept.
fn multiplied(
    e: &mut Emit<'_>,
    lhs: Labelled,
    rhs: &Labelled,
    kept: &[Label],
) -> Result<Labelled, Refusal> {
    let with = |own: &[Label]| [kept, own].concat();
    let lhs = summed(e, lhs, &with(&rhs.labels))?;
    let rhs = Labelled {
        value: rhs.value,
        labels: rhs.labels.clone(),
    };
    let rhs = summed(e, rhs, &with(&lhs.labels))?;
    let place = |of: &Labelled, label: &Label| {
        let found = of.labels.iter().position(|own| own == label);
        found.map(|at| at as i64)
    };
    let shared: Vec<Label> = lhs
        .labels
        .iter()
        .copied()
        .filter(|own| rhs.labels.contains(own))
        .collect();
    let (batch, contracted): (Vec<Label>, Vec<Label>) =
        shared.into_iter().partition(|own| kept.contains(own));
    if batch.is_empty() && contracted.is_empty() && lhs.labels.is_empty() {
        let value = e.apply(ScalarFn::Mul, &[lhs.value, rhs.value])?;
        return Ok(Labelled {
            value,
            labels: rhs.labels,
        });
    }
    let places = |of: &Labelled, labels: &[Label]| -> Vec<i64> {
        labels.iter().filter_map(|label| place(of, label)).collect()
    };
    let free = |of: &Labelled| -> Vec<Label> {
        let own = of.labels.iter().copied();
        own.filter(|own| !batch.contains(own) && !contracted.contains(own))
            .collect()
    };
    let labels = [batch.clone(), free(&lhs), free(&rhs)].concat();
    let (left_batch, right_batch) = (places(&lhs, &batch), places(&rhs, &batch));
    let (left, right) = (places(&lhs, &contracted), places(&rhs, &contracted));
    let product = DotGeneral::with()
        .lhs_batch(&left_batch)
        .rhs_batch(&right_batch)
        .lhs_contract(&left)
        .rhs_contract(&right);
    Ok(Labelled {
        value: product.build(e, lhs.value, rhs.value)?,
        labels,
    })
}
