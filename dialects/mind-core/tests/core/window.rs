//! Reductions of windows.

use mind_core::ops::window::ReduceWindow;
use mind_ir::attr::Attr;
use mind_ir::eval::EvalError;
use mind_ir::opdef::Op;
use mind_ir::scalar::Reduction;
use mind_ir::tensor::{Element, Num, Tensor};
use mind_ir::types::DType;
use mind_ir::with_num;

use crate::elements::{assert_same, at, indices, of, sample};
use crate::run::{FOLD, OPEN, RUN};

/// The attributes of windows, one entry for each dimension.
struct Lists {
    window: Vec<i64>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
    low: Vec<i64>,
    high: Vec<i64>,
}

impl Lists {
    fn attrs(&self, kind: Reduction, count_padding: bool) -> Vec<Attr<'_>> {
        let Lists {
            window,
            strides,
            dilations,
            low,
            high,
        } = self;
        ReduceWindow::attrs(window, strides, dilations, low, high, kind, count_padding)
    }

    /// Returns the elements under the window at each position, row-major.
    fn windows<T: Num>(&self, x: &Tensor) -> (Vec<usize>, Vec<Vec<T>>) {
        let rank = x.rank();
        let span = |at: usize| (self.window[at] - 1) * self.dilations[at] + 1;
        let length = |at: usize| x.shape()[at] as i64 + self.low[at] + self.high[at];
        let shape = (0..rank).map(|at| {
            let starts = (0..).map(|p| p * self.strides[at]);
            starts
                .take_while(|start| start + span(at) <= length(at))
                .count()
        });
        let shape: Vec<usize> = shape.collect();
        let window: Vec<usize> = self.window.iter().map(|&taps| taps as usize).collect();
        let elements = |position: Vec<usize>| {
            let taps = indices(&window).filter_map(|tap| {
                let place = (0..rank).map(|at| {
                    let place = position[at] as i64 * self.strides[at]
                        + tap[at] as i64 * self.dilations[at]
                        - self.low[at];
                    usize::try_from(place)
                        .ok()
                        .filter(|&place| place < x.shape()[at])
                });
                place
                    .collect::<Option<Vec<usize>>>()
                    .map(|index| at::<T>(x, &index))
            });
            taps.collect()
        };
        let windows = indices(&shape).map(elements).collect();
        (shape, windows)
    }
}

fn check<T: Num>(extents: &[usize], lists: &Lists) {
    let x = sample::<T>(extents, 5);
    let (shape, windows) = lists.windows::<T>(&x);
    let taps: i64 = lists.window.iter().product();
    let chain = |window: &[T], start: T::Acc, step: fn(T::Acc, T::Acc) -> T::Acc| {
        window.iter().fold(start, |sum, x| step(sum, x.widen()))
    };
    for &kind in Reduction::ALL {
        for count_padding in [false, true] {
            let is_exact = T::IS_FLOAT || count_padding || windows.iter().all(|w| !w.is_empty());
            if kind == Reduction::Mean && !is_exact {
                continue;
            }
            let result = |window: &Vec<T>| match kind {
                Reduction::Max => window.iter().fold(T::LOWEST, |best, &x| best.maximum(x)),
                Reduction::Min => window.iter().fold(T::HIGHEST, |best, &x| best.minimum(x)),
                Reduction::Sum => T::narrow(chain(window, T::Acc::ZERO, T::Acc::add)),
                Reduction::Prod => T::narrow(chain(window, T::Acc::ONE, T::Acc::mul)),
                Reduction::Mean => {
                    let count = if count_padding {
                        taps as usize
                    } else {
                        window.len()
                    };
                    let sum = chain(window, T::Acc::ZERO, T::Acc::add);
                    T::narrow(sum.div(T::Acc::from_count(count)).expect("not 0"))
                }
            };
            let expected = of(&shape, &windows.iter().map(result).collect::<Vec<T>>());
            let attrs = lists.attrs(kind, count_padding);
            let what = format!("{} {extents:?} {attrs:?}", T::DTYPE);
            for setup in [&RUN, &OPEN] {
                let found = setup.get(ReduceWindow::DEF, &attrs, &[&x]);
                assert_same(&found, &expected, &what);
            }
        }
    }
}

#[test]
fn every_dtype_and_kind_is_a_chain_over_the_taps_inside() {
    let lists = |window: &[i64], [strides, dilations, low, high]: [&[i64]; 4]| Lists {
        window: window.to_vec(),
        strides: strides.to_vec(),
        dilations: dilations.to_vec(),
        low: low.to_vec(),
        high: high.to_vec(),
    };
    for &dtype in DType::ALL {
        with_num!(dtype, T => {
            check::<T>(&[], &lists(&[], [&[], &[], &[], &[]]));
            check::<T>(&[7], &lists(&[3], [&[2], &[2], &[3], &[4]]));
            check::<T>(&[4, 5], &lists(&[2, 3], [&[1, 1], &[1, 1], &[0, 0], &[0, 0]]));
            check::<T>(&[2, 5, 4], &lists(&[1, 3, 2], [&[1, 2, 3], &[1, 1, 2], &[0, 1, 2], &[0, 2, 1]]));
            check::<T>(&[3, 0], &lists(&[2, 2], [&[1, 1], &[1, 1], &[1, 2], &[0, 2]]));
        }, else {});
    }
}

#[test]
fn of_no_tap_there_is_an_identity_and_no_integer_mean() {
    let lists = Lists {
        window: vec![1],
        strides: vec![1],
        dilations: vec![1],
        low: vec![1],
        high: vec![0],
    };
    let get = |x: &Tensor, kind| RUN.eval(ReduceWindow::DEF, &lists.attrs(kind, false), &[x]);
    let x = of(&[1], &[-0.0f32]);
    let expected = [
        (Reduction::Max, f32::NEG_INFINITY, -0.0),
        (Reduction::Min, f32::INFINITY, -0.0),
        (Reduction::Sum, 0.0, 0.0),
        (Reduction::Prod, 1.0, -0.0),
        (Reduction::Mean, f32::NAN, 0.0),
    ];
    for (kind, nothing, own) in expected {
        let found = get(&x, kind).expect("floats have a result");
        assert_same(&found, &of(&[2], &[nothing, own]), kind.name());
    }
    let found = get(&of(&[1], &[3i32]), Reduction::Mean);
    assert_eq!(found.unwrap_err(), EvalError::Division { lhs: 0, rhs: 0 });
}

#[test]
fn folding_refuses_overflow() {
    let attrs = |kind| ReduceWindow::attrs(&[2], &[], &[], &[], &[], kind, false);
    let x = of(&[2], &[100i8, 100]);
    for kind in [Reduction::Sum, Reduction::Prod, Reduction::Mean] {
        let found = FOLD.eval(ReduceWindow::DEF, &attrs(kind), &[&x]);
        assert_eq!(found.unwrap_err(), EvalError::Overflow, "{kind:?}");
    }
    let found = FOLD.get(ReduceWindow::DEF, &attrs(Reduction::Max), &[&x]);
    assert_same(&found, &of(&[1], &[100i8]), "max");
}

#[test]
fn results_too_large_are_refused_before_they_are_made() {
    let attrs = ReduceWindow::attrs(&[1], &[], &[], &[1 << 60], &[], Reduction::Sum, false);
    let x = of(&[1], &[1.0f32]);
    let found = RUN.eval(ReduceWindow::DEF, &attrs, &[&x]);
    assert!(
        matches!(found, Err(EvalError::TooLarge { .. })),
        "{found:?}"
    );
}
