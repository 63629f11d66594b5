//! Extents and arrays that a user gives for the inputs of a model.

use std::fmt::Display;

use mind_diag::Code;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::DType;

use crate::Refusal;

/// Returns the constant of an input that `array` is bound to. `extents` are those of the input if its rank is known, `None`
/// for each that may have any value; `declared` is its type in messages.
///
/// # Errors
///
/// E2001 if the array has another element type or another shape. The bits of `bf16` may come as `u16`, because NumPy has
/// no such type.
pub fn bound_constant(
    array: &Tensor,
    dtype: DType,
    extents: Option<&[Option<i64>]>,
    declared: impl Display,
) -> Result<Tensor, Refusal> {
    let mut constant = array.clone();
    if (dtype, constant.dtype()) == (DType::BF16, DType::U16) {
        let bits = Buffer::from_shared(dtype, constant.buffer().shared_bytes());
        constant = Tensor::new(constant.shape().to_vec(), bits);
    }
    let fits = |(wanted, &found): (&Option<i64>, &usize)| match wanted {
        Some(wanted) => *wanted == found as i64,
        None => true,
    };
    let shape = constant.shape();
    let is_shape =
        |all: &[Option<i64>]| all.len() == shape.len() && all.iter().zip(shape).all(fits);
    if constant.dtype() == dtype && extents.is_none_or(is_shape) {
        return Ok(constant);
    }
    let found = format!("{}{shape:?}", constant.dtype());
    let what = "the array that is bound to it";
    Err(Refusal::declared(what, found, declared))
}

/// Returns a refusal for each name of `given` that the model does not have, in alphabetical order. The message is `missing`,
/// for example "the model has no dimension", then the name and `known`, which lists the names that it has.
pub fn unknown_names<'n>(
    given: impl Iterator<Item = &'n str>,
    is_known: impl Fn(&str) -> bool,
    missing: &str,
    known: &str,
) -> Vec<Refusal> {
    let mut unknown: Vec<&str> = given.filter(|name| !is_known(name)).collect();
    unknown.sort_unstable();
    let refusal = |name: &str| Refusal::new(Code(4206), format!("{missing} `{name}`; {known}"));
    unknown.into_iter().map(refusal).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_has_the_type_of_its_input() {
        let array = Tensor::of(vec![2, 1], vec![0x3f80u16, 0]);
        let bound = |dtype, extents| bound_constant(&array, dtype, extents, "bf16[2, n]");
        let constant = bound(DType::BF16, Some(&[Some(2), None])).expect("bits of bf16");
        assert_eq!(constant.dtype(), DType::BF16);
        assert!(bound(DType::U16, None).is_ok());
        for (dtype, extents) in [
            (DType::F32, None),
            (DType::U16, Some(&[Some(3), None][..])),
            (DType::U16, Some(&[Some(2)][..])),
        ] {
            let refusal = bound(dtype, extents).expect_err("another type");
            assert_eq!(refusal.code(), Code(2001), "{refusal}");
        }
    }

    #[test]
    fn unknown_names_are_sorted() {
        let given = ["b", "n", "a"].into_iter();
        let found = unknown_names(given, |name| name == "n", "no dimension", "it has `n`");
        let found: Vec<&str> = found.iter().map(Refusal::message).collect();
        assert_eq!(
            found,
            [
                "no dimension `a`; it has `n`",
                "no dimension `b`; it has `n`"
            ]
        );
    }
}
