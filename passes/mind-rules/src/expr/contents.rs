//! Properties of the elements of constants.

use mind_ir::tensor::{FloatNum, Num, Tensor};
use mind_ir::types::DType;
use mind_ir::{with_float, with_num};

use crate::attr_value::AttrValue;
use crate::constant::Constant;

/// An arithmetic progression of integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Progression {
    pub(super) first: i64,
    /// Positive; 1 for a single integer.
    pub(super) step: i64,
    pub(super) last: i64,
}

/// Returns the elements of `constant`, which has `count` elements, as an ascending progression from 0 or above; `None`
/// if they are not one.
pub(super) fn progression(constant: &Constant, count: Option<i64>) -> Option<Progression> {
    if constant.splat && count != Some(1) {
        return None;
    }
    let list = integers(constant)?;
    let (&first, &last) = (list.first()?, list.last()?);
    let step = match list.as_slice() {
        [a, b, ..] => b.checked_sub(*a)?,
        _ => 1,
    };
    let even = list
        .windows(2)
        .all(|pair| pair[1].checked_sub(pair[0]) == Some(step));
    (first >= 0 && step > 0 && even).then_some(Progression { first, step, last })
}

/// Returns the elements of an integer constant; of a splat, its one element.
pub(super) fn integers(constant: &Constant) -> Option<Vec<i64>> {
    fn all<T: Num>(data: &Tensor) -> Option<Vec<i64>> {
        let element = |element: &T| i64::try_from(element.to_i128()?).ok();
        data.elements::<T>().iter().map(element).collect()
    }
    with_num!(constant.data.dtype(), T => all::<T>(&constant.data), else None)
}

/// Returns the element of an integer constant with one element.
pub(super) fn integer(constant: &Constant) -> Option<i64> {
    match *integers(constant)?.as_slice() {
        [integer] => Some(integer),
        _ => None,
    }
}

/// Returns whether the one element of `data` has the bits of `wanted` converted to its dtype.
pub(super) fn element_equals(data: &Tensor, wanted: &AttrValue) -> bool {
    fn float<T: FloatNum>(data: &Tensor, wanted: f64) -> bool {
        data.elements::<T>()[0].to_f64().to_bits() == wanted.to_bits()
    }
    fn int<T: Num>(data: &Tensor, wanted: &AttrValue) -> bool {
        let AttrValue::Int(wanted) = wanted else {
            return false;
        };
        data.elements::<T>()[0].to_i128() == Some(i128::from(*wanted))
    }
    let number = match wanted {
        AttrValue::Int(value) => *value as f64,
        AttrValue::Float(bits) => f64::from_bits(*bits),
        _ => return false,
    };
    if data.dtype() == DType::Bool {
        let element = i64::from(data.elements::<bool>()[0]);
        return *wanted == AttrValue::Int(element);
    }
    with_float!(data.dtype(), T => float::<T>(data, number), else
        with_num!(data.dtype(), T => int::<T>(data, wanted), else false))
}

/// Returns whether the one element is an integer 2^k.
pub(super) fn is_one_bit(data: &Tensor) -> bool {
    fn int<T: Num>(data: &Tensor) -> bool {
        let element = data.elements::<T>()[0].to_i128();
        element.is_some_and(|element| element.count_ones() == 1)
    }
    data.dtype().is_int() && with_num!(data.dtype(), T => int::<T>(data), else false)
}

/// Returns whether the one element is 2^k or -2^k, and it and its reciprocal are normal numbers.
pub(super) fn is_power_of_two(data: &Tensor) -> bool {
    fn float<T: FloatNum>(data: &Tensor) -> bool {
        let value = data.elements::<T>()[0].to_f64();
        let reciprocal = T::from_f64(1.0 / value).to_f64();
        let format = T::DTYPE.float_format().expect("a float");
        let smallest = 2f64.powi(1 - format.bias());
        let normal = |x: f64| x.is_finite() && x.abs() >= smallest;
        bare_mantissa(value) && normal(value) && normal(reciprocal)
    }
    with_float!(data.dtype(), T => float::<T>(data), else false)
}

/// Returns whether every element is positive and finite.
pub(super) fn all_positive(data: &Tensor) -> bool {
    fn float<T: FloatNum>(data: &Tensor) -> bool {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        data.elements::<T>().iter().all(|x| positive(x.to_f64()))
    }
    fn int<T: Num>(data: &Tensor) -> bool {
        data.elements::<T>().iter().all(|&x| x > T::ZERO)
    }
    with_float!(data.dtype(), T => float::<T>(data), else
        with_num!(data.dtype(), T => int::<T>(data), else false))
}

/// Returns whether a multiplication by `first` and then by `then` equals one by their product.
///
/// `first` is ±2^k with k ≥ 0, so the first multiplication does not round; `then` is at least 1 in magnitude, so an
/// overflow stays infinite; and the product is finite. For example, 4 and 1.5 combine, 0.5 and 3 do not.
pub(super) fn scales_exactly(first: &Tensor, then: &Tensor) -> bool {
    fn float<T: FloatNum>(first: &Tensor, then: &Tensor) -> bool {
        let element = |data: &Tensor| data.elements::<T>()[0].to_f64();
        let (first, then) = (element(first), element(then));
        bare_mantissa(first)
            && first.abs() >= 1.0
            && then.abs() >= 1.0
            && T::from_f64(first * then).to_f64().is_finite()
    }
    first.dtype() == then.dtype()
        && with_float!(first.dtype(), T => float::<T>(first, then), else false)
}

/// Returns whether the matrix is square with 1 on the diagonal and +0 elsewhere.
pub(super) fn is_identity(constant: &Constant) -> bool {
    fn float<T: FloatNum>(data: &Tensor, wanted: impl Fn(usize) -> bool) -> bool {
        let one = 1f64.to_bits();
        let bits = data.elements::<T>().iter().map(|x| x.to_f64().to_bits());
        let mut pairs = bits.enumerate();
        pairs.all(|(at, bits)| bits == if wanted(at) { one } else { 0 })
    }
    fn int<T: Num>(data: &Tensor, wanted: impl Fn(usize) -> bool) -> bool {
        let mut pairs = data.elements::<T>().iter().enumerate();
        pairs.all(|(at, &x)| x == if wanted(at) { T::ONE } else { T::ZERO })
    }
    let data = &constant.data;
    let &[rows, columns] = data.shape() else {
        return false;
    };
    if constant.splat || rows != columns {
        return false;
    }
    let diagonal = |at: usize| at / columns == at % columns;
    with_float!(data.dtype(), T => float::<T>(data, diagonal), else
        with_num!(data.dtype(), T => int::<T>(data, diagonal), else false))
}

/// Returns whether the number is normal in `f64` and a power of two in magnitude.
fn bare_mantissa(value: f64) -> bool {
    value.is_normal() && value.to_bits() & ((1 << 52) - 1) == 0
}

/// Returns the one element of `data` as an attribute; `None` for an integer that does not fit in 64 bits.
pub(super) fn number(data: &Tensor) -> Option<AttrValue> {
    fn float<T: FloatNum>(data: &Tensor) -> Option<AttrValue> {
        let element = data.elements::<T>().first()?;
        Some(AttrValue::Float(element.to_f64().to_bits()))
    }
    fn int<T: Num>(data: &Tensor) -> Option<AttrValue> {
        let element = data.elements::<T>().first()?.to_i128()?;
        i64::try_from(element).ok().map(AttrValue::Int)
    }
    with_float!(data.dtype(), T => float::<T>(data), else
        with_num!(data.dtype(), T => int::<T>(data), else None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mind_ir::Ty;

    fn list(elements: Vec<i64>) -> Constant {
        Constant {
            ty: Ty::new(0),
            splat: false,
            data: Tensor::of(vec![elements.len()], elements),
        }
    }

    #[test]
    fn progressions_ascend_by_equal_steps_from_zero_on() {
        let found = progression(&list(vec![1, 4, 7]), Some(3));
        let expected = Progression {
            first: 1,
            step: 3,
            last: 7,
        };
        assert_eq!(found, Some(expected));
        for other in [vec![1, 2, 4], vec![2, 1], vec![-1, 0], vec![3, 3], vec![]] {
            assert_eq!(progression(&list(other.clone()), None), None, "{other:?}");
        }
        let splat = Constant {
            splat: true,
            ..list(vec![4])
        };
        assert!(progression(&splat, Some(1)).is_some());
        assert_eq!(progression(&splat, Some(2)), None);
    }

    #[test]
    fn scales_combine_only_without_rounding_twice() {
        let holds = |a: f32, b: f32| scales_exactly(&Tensor::scalar(a), &Tensor::scalar(b));
        assert!(holds(4.0, 1.5) && holds(-2.0, -1.0));
        assert!(!holds(0.5, 3.0) && !holds(3.0, 2.0) && !holds(2.0, 0.5));
        assert!(!holds(2.0, f32::MAX));
    }
}
