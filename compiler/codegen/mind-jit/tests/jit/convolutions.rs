//! Convolutions against their definition in docs/numerics.md.

use mind_ir::tensor::{Buffer, Element, Num};
use mind_ir::types::DType;
use mind_ir::with_num;
use mind_jit::lower;
use mind_jit::lower::product::{Conv, Operands, Packing, Rhs, conv};
use mind_vir::ir::{Function, Signature};
use mind_vir::target::{Isa, TargetInfo};

use crate::harness::{self, Input};
use crate::products;
use crate::samples::{Random, mild};

/// The extents of a convolution.
#[derive(Clone, Copy, Debug)]
struct ConvShape {
    input: (usize, usize, usize),
    taps: (usize, usize),
    filters: usize,
    strides: (usize, usize),
    /// Top, left, bottom and right.
    padding: [usize; 4],
}

const fn shape(
    input: (usize, usize, usize),
    taps: (usize, usize),
    filters: usize,
    strides: (usize, usize),
    padding: [usize; 4],
) -> ConvShape {
    ConvShape {
        input,
        taps,
        filters,
        strides,
        padding,
    }
}

const SHAPES: [ConvShape; 11] = [
    shape((5, 7, 3), (3, 3), 11, (1, 1), [1, 1, 1, 1]),
    shape((6, 9, 2), (2, 3), 17, (2, 3), [0, 1, 1, 2]),
    shape((9, 8, 1), (5, 5), 6, (1, 1), [0; 4]),
    shape((4, 13, 5), (1, 1), 9, (1, 1), [0; 4]),
    shape((7, 7, 4), (7, 7), 8, (2, 2), [3, 3, 3, 3]),
    shape((3, 1, 2), (1, 3), 40, (1, 1), [0, 1, 0, 1]),
    shape((2, 2, 1), (1, 1), 1, (3, 3), [2, 2, 0, 0]),
    shape((1, 6, 3), (3, 2), 5, (1, 1), [2, 0, 2, 0]),
    shape((1, 37, 2), (1, 3), 19, (1, 1), [0; 4]),
    // Images that are as wide as the filters.
    shape((39, 1, 3), (3, 1), 18, (1, 1), [1, 0, 1, 0]),
    shape((31, 3, 2), (4, 3), 11, (2, 1), [0; 4]),
];

impl ConvShape {
    fn output(&self) -> (usize, usize) {
        let ((height, width, _), [top, left, bottom, right]) = (self.input, self.padding);
        let rows = (height + top + bottom - self.taps.0) / self.strides.0 + 1;
        let columns = (width + left + right - self.taps.1) / self.strides.1 + 1;
        (rows, columns)
    }

    fn conv(&self, dtype: DType, target: &TargetInfo, is_packed: bool) -> Conv {
        let lies = Rhs::Rows {
            k_stride: self.filters,
        };
        let rows = lower::product::Schedule::choose(target, dtype, (1, 1, 1), lies, false);
        let mut c = Conv {
            dtype,
            input: self.input,
            taps: self.taps,
            filters: self.filters,
            strides: self.strides,
            padding: (self.padding[0], self.padding[1]),
            output: self.output(),
            rhs: lies,
            schedule: rows,
        }
        .concatenated_lines();
        c.schedule = c.schedule(target, lies, is_packed);
        if is_packed {
            c.rhs = Rhs::Panels(c.schedule.packed.expect("constants are packed"));
        }
        c
    }
}

fn kernel(c: &Conv, lanes: u32) -> Function {
    let mut signature = Signature::new("conv", lanes);
    let [lhs, rhs, out] = std::array::from_fn(|_| signature.ptr());
    let (positions, filters) = (
        (signature.index(), signature.index()),
        (signature.index(), signature.index()),
    );
    let mut b = signature.body();
    let at = Operands { lhs, rhs };
    conv(&mut b, c, at, positions, filters, &mut |b, coord, sum| {
        let addr = coord.addr(b, out, c.filters, lower::storage_lane(c.dtype));
        lower::store(b, c.dtype, sum, addr, coord.column.count);
    });
    b.finish()
}

/// The literal definition.
fn reference(shape: &ConvShape, input: &Buffer, filter: &Buffer) -> Buffer {
    fn of<T: Num>(shape: &ConvShape, input: &[T], filter: &[T]) -> Buffer {
        let (height, width, channels) = shape.input;
        let (rows, columns) = shape.output();
        let mut results = Vec::new();
        for row in 0..rows {
            for column in 0..columns {
                for f in 0..shape.filters {
                    let mut sum = T::Acc::ZERO;
                    for y in 0..shape.taps.0 {
                        for x in 0..shape.taps.1 {
                            for channel in 0..channels {
                                let line =
                                    (row * shape.strides.0 + y).checked_sub(shape.padding[0]);
                                let place =
                                    (column * shape.strides.1 + x).checked_sub(shape.padding[1]);
                                let tap = match (line, place) {
                                    (Some(line), Some(place)) if line < height && place < width => {
                                        input[(line * width + place) * channels + channel].widen()
                                    }
                                    _ => T::Acc::ZERO,
                                };
                                let term = (y * shape.taps.1 + x) * channels + channel;
                                sum = tap.fma(filter[term * shape.filters + f].widen(), sum);
                            }
                        }
                    }
                    results.push(T::narrow(sum));
                }
            }
        }
        T::wrap(results)
    }
    let peek = "its dtype";
    with_num!(
        input.dtype(),
        T => of::<T>(shape, T::peek(input).expect(peek), T::peek(filter).expect(peek)),
        else unreachable!("no convolutions of bool")
    )
}

/// Returns the filters in the layout that the convolution reads.
fn packed(c: &Conv, filter: Input, target: &TargetInfo, lanes: u32) -> Input {
    let Rhs::Panels(panels) = c.rhs else {
        return filter;
    };
    let packing = Packing {
        dtype: c.dtype,
        n: c.filters,
        k: c.terms(),
        n_stride: 1,
        k_stride: c.filters,
        panels,
    };
    products::packed(&packing, filter, target, lanes)
}

fn check(shape: &ConvShape, c: &Conv, target: &TargetInfo, random: &mut Random) {
    let lanes = target.lanes(lower::compute_lane(c.dtype).bits());
    let code = kernel(c, lanes);
    let Some(compiled) = harness::compiled(&code, target.isa) else {
        return;
    };
    let (height, width, channels) = shape.input;
    let input = mild(c.dtype, height * width * channels, random);
    let filter = mild(c.dtype, c.terms() * c.filters, random);
    let rhs = packed(c, Input::elements(&filter), target, lanes);
    let (rows, columns) = shape.output();
    // Two tasks in each direction, if there are enough positions.
    let (positions, grain) = c.positions();
    let (middle, cut) = (
        positions.div_ceil(2).next_multiple_of(grain).min(positions),
        c.filters / c.grain(lanes) * c.grain(lanes),
    );
    let parts = [(0, middle), (middle, positions)]
        .into_iter()
        .flat_map(|(first, end)| [[first, end, 0, cut], [first, end, cut, c.filters]]);
    let operands = [Input::elements(&input), rhs];
    let result = (c.dtype, rows * columns * c.filters);
    let found = harness::in_parts((&code, &compiled), operands, result, parts);
    let wanted = reference(shape, &input, &filter);
    assert!(
        wanted.same_bits(&found),
        "{shape:?} of {} on {}: expected {wanted:?}, found {found:?}",
        c.dtype,
        target.isa
    );
}

#[test]
fn every_shape_follows_the_stated_order() {
    let mut random = Random::new(10);
    for target in harness::targets() {
        for shape in SHAPES {
            for is_packed in [false, true] {
                let c = shape.conv(DType::F32, &target, is_packed);
                check(&shape, &c, &target, &mut random);
            }
        }
    }
}

#[test]
fn images_as_wide_as_their_windows_are_one_line() {
    let target = TargetInfo::of(Isa::Portable);
    let output = |shape: &ConvShape| shape.conv(DType::F32, &target, true).output;
    assert_eq!(output(&SHAPES[9]), (1, 39));
    assert_eq!(output(&SHAPES[10]), (1, 14));
    assert_eq!(output(&SHAPES[5]), (3, 1), "its windows read padding");
}

#[test]
fn every_dtype_follows_the_stated_order() {
    let mut random = Random::new(11);
    for target in harness::targets() {
        for &dtype in DType::ALL.iter().filter(|&&dtype| dtype != DType::Bool) {
            for shape in &SHAPES[..2] {
                let c = shape.conv(dtype, &target, random.below(2) == 0);
                check(shape, &c, &target, &mut random);
            }
        }
    }
}

#[test]
fn no_size_of_blocks_changes_a_bit() {
    let mut random = Random::new(12);
    for target in harness::targets() {
        for (rows, mc) in [(1, 1), (4, 100), (30, 9)] {
            let mut c = SHAPES[0].conv(DType::F32, &target, true);
            (c.schedule.rows, c.schedule.mc) = (rows, mc);
            check(&SHAPES[0], &c, &target, &mut random);
        }
    }
}
