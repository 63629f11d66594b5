//! Matrix products against their definition in docs/numerics.md.

use mind_ir::tensor::{Buffer, Element, Num};
use mind_ir::types::DType;
use mind_ir::with_num;
use mind_jit::lower;
use mind_jit::lower::product::{
    Lhs, Operands, Packing, Panels, Parts, Product, Region, Rhs, Schedule, pack, product,
};
use mind_vir::ir::{Builder, Function, Signature, Value};
use mind_vir::target::TargetInfo;

use crate::harness::{self, Input};
use crate::samples::{Random, mild};

const DTYPES: [DType; 12] = [
    DType::F32,
    DType::F64,
    DType::F16,
    DType::BF16,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
];

/// Layout of the second operand of a test.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Lie {
    Rows,
    Columns,
    /// Packed from rows.
    Panels,
    /// Packed from columns and widened.
    WidePanels,
}

/// A product to test: its extents and layout, and optionally a fixed schedule.
#[derive(Clone, Copy, Debug)]
struct Case {
    dtype: DType,
    extents: (usize, usize, usize),
    lie: Lie,
    /// Whether the first operand is transposed.
    is_transposed: bool,
    schedule: Option<Schedule>,
}

/// Gap in elements between the rows of an operand.
const GAP: usize = 3;

impl Case {
    fn lanes(&self, target: &TargetInfo) -> u32 {
        target.lanes(lower::compute_lane(self.dtype).bits())
    }

    fn lhs(&self) -> Lhs {
        let (m, _, k) = self.extents;
        let (row_stride, k_stride) = if self.is_transposed {
            (1, m + GAP)
        } else {
            (k + GAP, 1)
        };
        Lhs {
            row_stride,
            k_stride,
        }
    }

    /// Returns the strides of the second operand before packing: of columns, and of terms.
    fn strides(&self) -> (usize, usize) {
        let (_, n, k) = self.extents;
        match self.lie {
            Lie::Rows | Lie::Panels => (1, n + GAP),
            Lie::Columns | Lie::WidePanels => (k + GAP, 1),
        }
    }

    fn product(&self, target: &TargetInfo) -> Product {
        let (m, n, k) = self.extents;
        let (n_stride, k_stride) = self.strides();
        let rhs = match self.lie {
            Lie::Rows | Lie::Panels => Rhs::Rows { k_stride },
            Lie::Columns | Lie::WidePanels => Rhs::Columns { n_stride },
        };
        let is_packed = matches!(self.lie, Lie::Panels | Lie::WidePanels);
        let schedule = self
            .schedule
            .unwrap_or_else(|| Schedule::choose(target, self.dtype, (m, n, k), rhs, is_packed));
        let mut panels = schedule.packed;
        if self.lie == Lie::WidePanels && self.dtype.size() == 2 && self.dtype.is_float() {
            panels = panels.map(|panels| Panels {
                dtype: DType::F32,
                ..panels
            });
        }
        Product {
            dtype: self.dtype,
            m,
            n,
            k,
            lhs: self.lhs(),
            rhs: panels.filter(|_| is_packed).map_or(rhs, Rhs::Panels),
            parts: Parts::Whole,
            schedule,
        }
    }
}

/// `out = round(lhs * rhs)`, for a range of rows and a range of columns.
pub fn kernel(p: &Product, lanes: u32) -> Function {
    let mut signature = Signature::new("product", lanes);
    let [lhs, rhs, out] = std::array::from_fn(|_| signature.ptr());
    let bounds: [Value; 4] = std::array::from_fn(|_| signature.index());
    let mut b = signature.body();
    let region = Region {
        rows: (bounds[0], bounds[1]),
        columns: (bounds[2], bounds[3]),
    };
    let at = Operands { lhs, rhs };
    product(&mut b, p, at, region, &mut |b, coord, sum| {
        let addr = coord.addr(b, out, p.n, lower::storage_lane(p.dtype));
        lower::store(b, p.dtype, sum, addr, coord.column.count);
    });
    b.finish()
}

/// Returns the kernel that packs a range of panels.
pub fn packing_kernel(
    lanes: u32,
    pack: impl FnOnce(&mut Builder, Value, Value, (Value, Value)),
) -> Function {
    let mut signature = Signature::new("pack", lanes);
    let (from, to) = (signature.ptr(), signature.ptr());
    let panels = (signature.index(), signature.index());
    let mut b = signature.body();
    pack(&mut b, from, to, panels);
    b.finish()
}

/// Packs the second operand `given`.
pub fn packed(packing: &Packing, given: Input, target: &TargetInfo, lanes: u32) -> Input {
    let code = packing_kernel(lanes, |b, from, to, panels| {
        pack(b, packing, from, to, panels)
    });
    let compiled = harness::compiled(&code, target.isa).expect("it can run here");
    let panels = packing.panels;
    let inputs = [
        given,
        Input::room(
            panels.dtype,
            panels.bytes(packing.n, packing.k) / panels.dtype.size(),
        ),
        Input::Index(0),
        Input::Index(packing.count() as i64),
    ];
    let (_, buffers) = harness::check(&code, &compiled, &inputs);
    Input::elements(&buffers[1])
}

/// The literal definition.
fn reference(case: &Case, lhs: &Buffer, rhs: &Buffer) -> Buffer {
    fn of<T: Num>(case: &Case, lhs: &[T], rhs: &[T]) -> Buffer {
        let ((m, n, k), strides) = (case.extents, case.lhs());
        let (n_stride, k_stride) = case.strides();
        let mut results = Vec::new();
        for row in 0..m {
            for column in 0..n {
                let mut sum = T::Acc::ZERO;
                for term in 0..k {
                    let x = lhs[row * strides.row_stride + term * strides.k_stride];
                    let y = rhs[column * n_stride + term * k_stride];
                    sum = x.widen().fma(y.widen(), sum);
                }
                results.push(T::narrow(sum));
            }
        }
        T::wrap(results)
    }
    let peek = "its dtype";
    with_num!(
        case.dtype,
        T => of::<T>(case, T::peek(lhs).expect(peek), T::peek(rhs).expect(peek)),
        else unreachable!("no products of bool")
    )
}

/// Returns the elements of a matrix of these extents and strides, without a gap at the end.
fn matrix(dtype: DType, dims: [(usize, usize); 2], random: &mut Random) -> Buffer {
    let reach = dims.iter().map(|&(extent, stride)| match extent {
        0 => None,
        _ => Some((extent - 1) * stride),
    });
    let reach: Option<usize> = reach.sum();
    mild(dtype, reach.map_or(0, |reach| reach + 1), random)
}

/// Runs a case in parts, and compares every bit.
fn check(case: &Case, target: &TargetInfo, random: &mut Random) {
    let (m, n, k) = case.extents;
    let (lanes, p) = (case.lanes(target), case.product(target));
    let code = kernel(&p, lanes);
    let Some(compiled) = harness::compiled(&code, target.isa) else {
        return;
    };
    let (n_stride, k_stride) = case.strides();
    let lhs_dims = [(m, p.lhs.row_stride), (k, p.lhs.k_stride)];
    let lhs = matrix(case.dtype, lhs_dims, random);
    let rhs = matrix(case.dtype, [(n, n_stride), (k, k_stride)], random);
    let mut given = Input::elements(&rhs);
    if let Rhs::Panels(panels) = p.rhs {
        let packing = Packing {
            dtype: case.dtype,
            n,
            k,
            n_stride,
            k_stride,
            panels,
        };
        given = packed(&packing, given, target, lanes);
    }
    let (height, width) = p.grain(lanes);
    // Two tasks in each direction, if there are enough elements.
    let cut = |extent: usize, grain: usize| {
        let middle = (extent / grain).div_ceil(2) * grain;
        [(0, middle), (middle, extent)]
    };
    let columns = cut(n, width);
    let parts = cut(m, height)
        .into_iter()
        .flat_map(|(top, bottom)| columns.map(|(left, right)| [top, bottom, left, right]));
    let operands = [Input::elements(&lhs), given];
    let found = harness::in_parts((&code, &compiled), operands, (case.dtype, m * n), parts);
    let wanted = reference(case, &lhs, &rhs);
    assert!(
        wanted.same_bits(&found),
        "{case:?} on {}: expected {wanted:?}, found {found:?}",
        target.isa
    );
}

#[test]
fn every_dtype_in_every_layout_follows_the_stated_order() {
    let mut random = Random::new(7);
    for target in harness::targets() {
        for dtype in DTYPES {
            for lie in [Lie::Rows, Lie::Columns, Lie::Panels, Lie::WidePanels] {
                for (extents, is_transposed) in [((7, 13, 5), false), ((5, 37, 11), true)] {
                    let case = Case {
                        dtype,
                        extents,
                        lie,
                        is_transposed,
                        schedule: None,
                    };
                    check(&case, &target, &mut random);
                }
            }
        }
    }
}

#[test]
fn every_shape_follows_the_stated_order() {
    let mut random = Random::new(8);
    let shapes = [
        (0, 5, 3),
        (5, 0, 3),
        (4, 9, 0),
        (1, 1, 1),
        (1, 1, 29),
        (1, 97, 17),
        (2, 64, 8),
        (3, 8, 16),
        (8, 24, 7),
        (13, 17, 19),
        (31, 33, 4),
    ];
    for target in harness::targets() {
        for extents in shapes {
            for lie in [Lie::Rows, Lie::Columns, Lie::Panels] {
                let case = Case {
                    dtype: DType::F32,
                    extents,
                    lie,
                    is_transposed: false,
                    schedule: None,
                };
                check(&case, &target, &mut random);
            }
        }
    }
}

#[test]
fn no_schedule_changes_a_bit() {
    let mut random = Random::new(9);
    for target in harness::targets() {
        for dtype in [DType::F32, DType::F16, DType::I32] {
            let tiles = [(1, 1, 1), (6, 2, 3), (9, 4, 7)];
            let blocks = [(1, 1, 1), (4, 100, 5), (100, 9, 8), (2, 3, 100)];
            for (at, (mc, nc, kc)) in blocks.into_iter().enumerate() {
                let (rows, vectors, unroll) = tiles[at % 3];
                let mut case = Case {
                    dtype,
                    extents: (11, 45, 23),
                    lie: random.pick(&[Lie::Rows, Lie::Columns, Lie::Panels, Lie::WidePanels]),
                    is_transposed: random.below(2) == 0,
                    schedule: None,
                };
                let width = case.lanes(&target) as usize;
                case.schedule = Some(Schedule {
                    rows,
                    vectors,
                    unroll,
                    mc,
                    nc,
                    kc,
                    stages_lhs: random.below(2) == 0,
                    stages_rhs: random.below(2) == 0,
                    prefetches_rhs: random.below(2) == 0,
                    stages_output: random.below(2) == 0,
                    packed: Some(Panels { width, dtype }),
                    uses_amx: false,
                });
                check(&case, &target, &mut random);
            }
        }
    }
}

#[test]
fn a_schedule_that_cannot_be_followed_is_refused_with_what_could() {
    let panels = Panels {
        width: 24,
        dtype: DType::F32,
    };
    let schedule = Schedule {
        rows: 4,
        vectors: 2,
        unroll: 4,
        mc: 8,
        nc: 64,
        kc: 256,
        stages_lhs: false,
        stages_rhs: false,
        prefetches_rhs: false,
        stages_output: false,
        packed: None,
        uses_amx: false,
    };
    let error = schedule.check(8, &Rhs::Panels(panels));
    assert_eq!(
        error.expect_err("16 is not a multiple of 24").to_string(),
        "a tile has 16 columns, expected a multiple of the panel width 24"
    );
    let error = Schedule {
        rows: 0,
        ..schedule
    };
    let error = error.check(8, &Rhs::Rows { k_stride: 1 });
    assert_eq!(
        error.expect_err("no rows").to_string(),
        "`rows` of a product is 0; expected 1 to 64"
    );
}
