//! Convolutions with groups, in both layouts, forward and transposed.

use mind_core::ops::conv::Conv2d;
use mind_core::ops::convolution::{Conv, ConvTranspose, Layout, SumType};
use mind_core::ops::shape::Transpose;
use mind_ir::attr::{Attr, Padding};
use mind_ir::eval::EvalError;
use mind_ir::opdef::Op;
use mind_ir::tensor::{Element, Num, Tensor};
use mind_ir::types::DType;
use mind_ir::with_num;

use crate::elements::{assert_same, at, indices, of, sample};
use crate::run::{FOLD, OPEN, RUN};

/// A convolution of channels-last operands, tap by tap.
struct Case {
    input: Vec<usize>,
    /// Forward `[k.., C / groups, F]`, backward `[k.., F / groups, C]`.
    filter: Vec<usize>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
    pads: Vec<i64>,
    more: Vec<i64>,
    groups: usize,
}

impl Case {
    fn spatial(&self) -> usize {
        self.strides.len()
    }

    fn forward(&self, layout: Layout) -> Vec<Attr<'_>> {
        let (strides, dilations, pads) = (&self.strides, &self.dilations, &self.pads);
        let groups = self.groups as i64;
        Conv::attrs(layout, strides, dilations, pads, groups, SumType::Same)
    }

    fn backward(&self, layout: Layout) -> Vec<Attr<'_>> {
        let (strides, dilations, pads) = (&self.strides, &self.dilations, &self.pads);
        let groups = self.groups as i64;
        let same = SumType::Same;
        ConvTranspose::attrs(layout, strides, dilations, pads, &self.more, groups, same)
    }

    fn window(&self, at: usize) -> i64 {
        (self.filter[at] as i64 - 1) * self.dilations[at] + 1
    }

    /// Computes each element as a chain over padded taps, then the channels of its group.
    fn convolved<T: Num>(&self, x: &Tensor, w: &Tensor) -> Tensor {
        let s = self.spatial();
        let (each, filters) = (self.filter[s], self.filter[s + 1]);
        let mut shape = self.input.clone();
        for at in 0..s {
            let long = self.input[at + 1] as i64 + self.pads[at] + self.pads[s + at];
            shape[at + 1] = ((long - self.window(at)) / self.strides[at] + 1) as usize;
        }
        shape[s + 1] = filters;
        let element = |index: Vec<usize>| {
            let first = index[s + 1] / (filters / self.groups) * each;
            let mut sum = T::Acc::ZERO;
            for tap in indices(&self.filter[..=s]) {
                let mut read: Option<Vec<usize>> = Some(vec![index[0]]);
                for at in 0..s {
                    let place = index[at + 1] as i64 * self.strides[at]
                        + tap[at] as i64 * self.dilations[at]
                        - self.pads[at];
                    let inside = (0..self.input[at + 1] as i64).contains(&place);
                    read = read.filter(|_| inside);
                    read.iter_mut().for_each(|read| read.push(place as usize));
                }
                let x = read.map_or(T::ZERO, |mut read| {
                    read.push(first + tap[s]);
                    at::<T>(x, &read)
                });
                let place = [&tap[..], &[index[s + 1]]].concat();
                sum = x.widen().fma(at::<T>(w, &place).widen(), sum);
            }
            T::narrow(sum)
        };
        of(&shape, &indices(&shape).map(element).collect::<Vec<T>>())
    }

    /// Computes each element as a chain over the taps that meet an element of the input, then the channels of its
    /// group.
    fn spread<T: Num>(&self, x: &Tensor, w: &Tensor) -> Tensor {
        let s = self.spatial();
        let (out, channels) = (self.filter[s], self.filter[s + 1]);
        let each = channels / self.groups;
        let mut shape = self.input.clone();
        for at in 0..s {
            let long = (self.input[at + 1] as i64 - 1) * self.strides[at] + self.window(at);
            shape[at + 1] = (long + self.more[at] - self.pads[at] - self.pads[s + at]) as usize;
        }
        shape[s + 1] = out * self.groups;
        let element = |index: Vec<usize>| {
            let (group, filter) = (index[s + 1] / out, index[s + 1] % out);
            let mut sum = T::Acc::ZERO;
            for tap in indices(&self.filter[..s]) {
                let read = (0..s).map(|at| {
                    let place =
                        index[at + 1] as i64 + self.pads[at] - tap[at] as i64 * self.dilations[at];
                    let element = place / self.strides[at];
                    let meets = place >= 0
                        && place % self.strides[at] == 0
                        && element < self.input[at + 1] as i64;
                    meets.then_some(element as usize)
                });
                let Some(read) = read.collect::<Option<Vec<usize>>>() else {
                    continue;
                };
                for channel in group * each..(group + 1) * each {
                    let read = [&[index[0]][..], &read, &[channel]].concat();
                    let place = [&tap[..], &[filter, channel]].concat();
                    let (x, w) = (at::<T>(x, &read), at::<T>(w, &place));
                    sum = x.widen().fma(w.widen(), sum);
                }
            }
            T::narrow(sum)
        };
        of(&shape, &indices(&shape).map(element).collect::<Vec<T>>())
    }
}

/// Permutes the dimensions.
fn transposed(x: &Tensor, order: &[i64]) -> Tensor {
    RUN.get(Transpose::DEF, &Transpose::attrs(order), &[x])
}

/// Converts channels-last images to channels-first.
fn first(x: &Tensor) -> Tensor {
    let last = x.rank() as i64 - 1;
    let order: Vec<i64> = [0, last].into_iter().chain(1..last).collect();
    transposed(x, &order)
}

/// Converts channels-last filters to channels-first.
fn filter_first(w: &Tensor) -> Tensor {
    let last = w.rank() as i64 - 1;
    let order: Vec<i64> = [last, last - 1].into_iter().chain(0..last - 1).collect();
    transposed(w, &order)
}

fn cases() -> Vec<Case> {
    let case = |input: &[usize], filter: &[usize], lists: [&[i64]; 4], groups| Case {
        input: input.to_vec(),
        filter: filter.to_vec(),
        strides: lists[0].to_vec(),
        dilations: lists[1].to_vec(),
        pads: lists[2].to_vec(),
        more: lists[3].to_vec(),
        groups,
    };
    vec![
        case(&[2, 7, 4], &[3, 4, 4], [&[1], &[1], &[0, 0], &[0]], 1),
        case(&[1, 7, 4], &[3, 2, 4], [&[2], &[2], &[1, 2], &[1]], 2),
        case(
            &[2, 5, 4, 4],
            &[3, 2, 1, 4],
            [&[1, 1], &[1, 1], &[1, 0, 1, 1], &[0, 0]],
            4,
        ),
        case(
            &[1, 5, 6, 4],
            &[2, 3, 2, 4],
            [&[2, 1], &[1, 2], &[1, 2, 0, 1], &[0, 1]],
            2,
        ),
        case(
            &[1, 3, 4, 3, 2],
            &[2, 2, 2, 2, 2],
            [&[1, 2, 1], &[1, 1, 2], &[0, 1, 1, 1, 0, 1], &[0, 0, 0]],
            1,
        ),
        case(
            &[1, 2, 3, 3, 4],
            &[2, 1, 2, 1, 4],
            [&[3, 1, 2], &[1, 1, 1], &[1, 0, 1, 1, 0, 0], &[2, 0, 1]],
            4,
        ),
    ]
}

#[test]
fn every_dtype_and_layout_is_one_chain_per_element() {
    for &dtype in DType::ALL {
        with_num!(dtype, T => {
            for case in cases() {
                let (x, w) = (sample::<T>(&case.input, 7), sample::<T>(&case.filter, 9));
                let (fx, fw) = (first(&x), filter_first(&w));
                let what = format!("{dtype} {:?} {:?}", case.input, case.filter);
                let expected = case.convolved::<T>(&x, &w);
                let last = case.forward(Layout::Nhwc);
                assert_same(&RUN.get(Conv::DEF, &last, &[&x, &w]), &expected, &what);
                assert_same(&OPEN.get(Conv::DEF, &last, &[&x, &w]), &expected, &what);
                let found = RUN.get(Conv::DEF, &case.forward(Layout::Nchw), &[&fx, &fw]);
                assert_same(&found, &first(&expected), &what);
                let expected = case.spread::<T>(&x, &w);
                let last = case.backward(Layout::Nhwc);
                assert_same(&RUN.get(ConvTranspose::DEF, &last, &[&x, &w]), &expected, &what);
                assert_same(&OPEN.get(ConvTranspose::DEF, &last, &[&x, &w]), &expected, &what);
                let found = RUN.get(ConvTranspose::DEF, &case.backward(Layout::Nchw), &[&fx, &fw]);
                assert_same(&found, &first(&expected), &what);
            }
        }, else {});
    }
}

#[test]
fn one_group_is_conv2d() {
    let (x, w) = (
        sample::<f32>(&[2, 5, 6, 3], 7),
        sample::<f32>(&[3, 2, 3, 9], 9),
    );
    let own = Conv::attrs(Layout::Nhwc, &[2, 1], &[], &[0, 3, 2, 1], 1, SumType::Same);
    let other = Conv2d::attrs(&[2, 1], Padding::Custom(&[0, 2, 3, 1]));
    let expected = RUN.get(Conv2d::DEF, &other, &[&x, &w]);
    assert_same(&RUN.get(Conv::DEF, &own, &[&x, &w]), &expected, "conv2d");
}

#[test]
fn taps_outside_are_zeros_forward_and_absent_backward() {
    let x = of(&[1, 1, 1], &[1.0f32]);
    let w = of(&[2, 1, 1], &[1.0f32, f32::INFINITY]);
    let forward = Conv::attrs(Layout::Nhwc, &[], &[], &[0, 1], 1, SumType::Same);
    let found = RUN.get(Conv::DEF, &forward, &[&x, &w]);
    assert_same(&found, &of(&[1, 1, 1], &[f32::NAN]), "+0 * inf");
    let backward = ConvTranspose::attrs(Layout::Nhwc, &[], &[], &[], &[], 1, SumType::Same);
    let found = RUN.get(ConvTranspose::DEF, &backward, &[&x, &w]);
    assert_same(&found, &of(&[1, 2, 1], &[1.0, f32::INFINITY]), "absent");
}

#[test]
fn sums_are_exact_in_the_dtype_asked_for() {
    let (x, w) = (
        of(&[1, 1, 2], &[200u8, 200]),
        of(&[1, 2, 1], &[-100i8, -128]),
    );
    let attrs = |dtype| Conv::attrs(Layout::Nhwc, &[], &[], &[], 1, dtype);
    let found = RUN.get(Conv::DEF, &attrs(SumType::I32), &[&x, &w]);
    assert_same(&found, &of(&[1, 1, 1], &[-45600i32]), "u8 by i8");
    let halves = |list: &[f32]| {
        let list: Vec<_> = list
            .iter()
            .map(|&x| mind_ir::tensor::rust_types::F16::from_f32(x))
            .collect();
        list
    };
    let (x, w) = (
        of(&[1, 1, 1], &halves(&[1.5])),
        of(&[1, 1, 1], &halves(&[1.0 + 1.0 / 1024.0])),
    );
    let found = RUN.get(Conv::DEF, &attrs(SumType::F32), &[&x, &w]);
    assert_same(
        &found,
        &of(&[1, 1, 1], &[1.5 + 1.5f32 / 1024.0]),
        "f16 as f32",
    );
}

#[test]
fn what_extents_hide_is_found_when_run() {
    let attrs = |groups| Conv::attrs(Layout::Nhwc, &[], &[], &[], groups, SumType::Same);
    let (x, w) = (sample::<f32>(&[1, 3, 4], 1), sample::<f32>(&[2, 1, 4], 1));
    let found = OPEN.mismatch(Conv::DEF, &attrs(2), &[&x, &w]);
    assert_eq!(
        found,
        "input has 4 channels, filter has 1 for each of 2 groups"
    );
    let w = sample::<f32>(&[2, 2, 3], 1);
    let found = OPEN.mismatch(Conv::DEF, &attrs(2), &[&x, &w]);
    assert_eq!(found, "2 groups do not divide 3 channels");
    let w = sample::<f32>(&[9, 4, 3], 1);
    let found = OPEN.mismatch(Conv::DEF, &attrs(1), &[&x, &w]);
    assert!(
        found.contains("has -5 positions along an extent of 3"),
        "{found}"
    );
}

#[test]
fn folding_refuses_overflow() {
    let (x, w) = (of(&[1, 1, 2], &[100i8, 100]), of(&[1, 2, 1], &[1i8, 1]));
    let attrs = Conv::attrs(Layout::Nhwc, &[], &[], &[], 1, SumType::Same);
    let found = FOLD.eval(Conv::DEF, &attrs, &[&x, &w]);
    assert_eq!(found.unwrap_err(), EvalError::Overflow);
}
