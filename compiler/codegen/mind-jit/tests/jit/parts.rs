//! Products of elements that consist of several integers, against their definition.

use mind_ir::tensor::Buffer;
use mind_ir::types::DType;
use mind_jit::lower::product::{Lhs, Packing, Parts, Product, Rhs, Schedule};
use mind_vir::target::TargetInfo;

use crate::harness::{self, Input};
use crate::products::{kernel, packed};
use crate::samples::Random;

/// A product to test: its extents, and whether its right-hand side is packed.
#[derive(Clone, Copy, Debug)]
struct Case {
    parts: Parts,
    extents: (usize, usize, usize),
    is_packed: bool,
}

impl Case {
    /// The terms of the right-hand side's columns are contiguous, as after lowering.
    fn product(&self, target: &TargetInfo) -> Product {
        let (m, n, k) = self.extents;
        let columns = Rhs::Columns { n_stride: k };
        let in_matrices = Schedule::in_matrices(target, self.parts, self.extents, columns);
        let schedule = in_matrices.filter(|_| self.is_packed);
        let schedule = schedule.unwrap_or_else(|| {
            Schedule::choose(target, DType::I32, (m, n, k), columns, self.is_packed)
        });
        let panels = schedule.packed.filter(|_| self.is_packed);
        Product {
            dtype: DType::I32,
            m,
            n,
            k,
            lhs: Lhs {
                row_stride: k,
                k_stride: 1,
            },
            rhs: panels.map_or(columns, Rhs::Panels),
            parts: self.parts,
            schedule,
        }
    }

    fn reference(&self, lhs: &[i32], rhs: &[i32]) -> Vec<i32> {
        let (m, n, k) = self.extents;
        let places = (0..m).flat_map(|row| (0..n).map(move |column| (row, column)));
        let sums = places.map(|(row, column)| {
            let terms = lhs[row * k..][..k].iter().zip(&rhs[column * k..][..k]);
            let terms = terms.map(|(&x, &y)| term(self.parts, x, y));
            terms.fold(0, i32::wrapping_add)
        });
        sums.collect()
    }
}

/// Returns the sum of the products of the integers in two elements.
fn term(parts: Parts, x: i32, y: i32) -> i32 {
    let ([x0, x1, x2, x3], y_bytes) = (x.to_le_bytes(), y.to_le_bytes());
    let bytes = [x0, x1, x2, x3].into_iter().zip(y_bytes);
    match parts {
        Parts::Whole => x.wrapping_mul(y),
        Parts::Halves => {
            let low = i32::from(x as i16) * i32::from(y as i16);
            low.wrapping_add((x >> 16) * (y >> 16))
        }
        Parts::UnsignedBySigned => bytes.map(|(x, y)| i32::from(x) * i32::from(y as i8)).sum(),
        Parts::SignedByUnsigned => bytes.map(|(x, y)| i32::from(x as i8) * i32::from(y)).sum(),
    }
}

/// Returns elements of random bytes, half of which are extreme.
fn elements(count: usize, random: &mut Random) -> Vec<i32> {
    let mut byte = || match random.below(2) {
        0 => random.pick(&[0x00, 0x01, 0x7f, 0x80, 0xff]),
        _ => random.bits() as u8,
    };
    let elements = (0..count).map(|_| i32::from_le_bytes(std::array::from_fn(|_| byte())));
    elements.collect()
}

fn input(elements: &[i32]) -> Input {
    let bytes = elements.iter().flat_map(|element| element.to_le_bytes());
    Input::Elements(DType::I32, bytes.collect())
}

/// Checks a product in tasks of `rows` rows.
fn check(case: &Case, target: &TargetInfo, rows: usize, random: &mut Random) {
    let ((m, n, k), p) = (case.extents, case.product(target));
    let lanes = target.lanes(32);
    let code = kernel(&p, lanes);
    let Some(compiled) = harness::compiled(&code, target) else {
        return;
    };
    let (lhs, rhs) = (elements(m * k, random), elements(n * k, random));
    let mut given = input(&rhs);
    if let Rhs::Panels(panels) = p.rhs {
        let packing = Packing {
            dtype: DType::I32,
            n,
            k,
            n_stride: k,
            k_stride: 1,
            panels,
        };
        given = packed(&packing, given, target, lanes);
    }
    let (below, _) = p.grain(lanes);
    let rows = rows.next_multiple_of(below);
    let parts = (0..m.max(1))
        .step_by(rows)
        .map(|row| [row, (row + rows).min(m), 0, n]);
    let operands = [input(&lhs), given];
    let found = harness::in_parts((&code, &compiled), operands, (DType::I32, m * n), parts);
    let wanted = Buffer::I32(case.reference(&lhs, &rhs).into());
    assert!(wanted.same_bits(&found), "{case:?} on {target:?}");
}

#[test]
fn integers_in_elements_are_multiplied_alike_on_every_target() {
    let mut random = Random::new(12);
    let targets = [
        harness::targets(),
        harness::targets_with_vnni(),
        harness::targets_with_amx(),
    ];
    let extents = [
        (0, 17, 3),
        (1, 16, 1),
        (1, 70, 9),
        (4, 33, 0),
        (5, 1, 7),
        (13, 37, 11),
        (29, 65, 70),
    ];
    for target in targets.concat() {
        for &parts in Parts::ALL {
            for extents in extents {
                for is_packed in [false, true] {
                    let case = Case {
                        parts,
                        extents,
                        is_packed,
                    };
                    check(&case, &target, usize::MAX >> 16, &mut random);
                }
            }
        }
    }
}

#[test]
fn products_of_bytes_in_matrix_registers_are_right_at_all_edges() {
    let mut random = Random::new(13);
    let edges = [15, 16, 17, 31, 32, 33, 63, 64, 65];
    for target in harness::targets_with_amx() {
        for rows in [8].into_iter().chain(edges) {
            for _ in 0..4 {
                let columns = random.pick(&edges) - random.below(2) * 14;
                let case = Case {
                    parts: random.pick(&[Parts::UnsignedBySigned, Parts::SignedByUnsigned]),
                    extents: (rows, columns, 1 + random.below(50)),
                    is_packed: true,
                };
                assert!(case.product(&target).schedule.uses_amx, "{case:?}");
                check(&case, &target, random.pick(&[1, 64]), &mut random);
            }
        }
    }
}
