//! Products of byte matrices in memory, on AMX tiles and in the interpreter.

use mind_ir::tensor::Buffer;
use mind_ir::types::DType;
use mind_vir::disassemble;
use mind_vir::ir::{Addr, ByteProduct, Function, IndexOp, Lane, LoopKind, Signature, WordRows};
use mind_vir::kernel::assemble;
use mind_vir::target::Isa;

use crate::harness::{self, Input};
use crate::samples::Random;

/// A product to test, with the gap in bytes between rows of each matrix.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Rows, columns and words.
    pub extents: [u32; 3],
    pub signs: [bool; 2],
    pub gaps: [u32; 3],
}

impl Case {
    /// Returns the bytes of a row and the number of rows, for the result and both operands.
    fn rows(&self) -> [(u32, u32); 3] {
        let [rows, columns, words] = self.extents;
        [(4 * columns, rows), (4 * words, rows), (4 * columns, words)]
    }

    /// Returns the bytes of each matrix, without the gap after the last row.
    fn bytes(&self) -> [usize; 3] {
        let mut bytes = [0; 3];
        for (at, (row, count)) in self.rows().into_iter().enumerate() {
            bytes[at] = ((row + self.gaps[at]) * (count - 1) + row) as usize;
        }
        bytes
    }

    pub fn function(&self) -> Function {
        let mut signature = Signature::new("byte_product", 16);
        let bytes = self.bytes();
        let starts = bytes.map(|bytes| signature.buffer(bytes));
        let mut b = signature.body();
        let [to, lhs, rhs] = std::array::from_fn(|at| WordRows {
            start: Addr::at(starts[at]),
            stride: self.rows()[at].0 + self.gaps[at],
        });
        let [rows, columns, words] = self.extents;
        b.byte_product(ByteProduct {
            to,
            lhs,
            rhs,
            rows,
            columns,
            words,
            signs: self.signs,
        });
        b.finish()
    }

    /// Returns an arbitrary result and random operands, half of whose bytes are extreme.
    pub fn inputs(&self, random: &mut Random) -> [Input; 3] {
        let mut byte = || match random.below(2) {
            0 => random.pick(&[0x00, 0x01, 0x7f, 0x80, 0xff]),
            _ => random.bits() as u8,
        };
        let bytes = self.bytes();
        let bytes = bytes.map(|count| (0..count).map(|_| byte()).collect::<Vec<u8>>());
        bytes.map(|bytes| Input::Elements(DType::U8, bytes))
    }

    /// Returns the result by the definition.
    fn reference(&self, inputs: &[Input; 3]) -> Vec<u8> {
        let [to, lhs, rhs] = inputs.each_ref().map(|input| match input {
            Input::Elements(_, bytes) => bytes,
            Input::Index(_) => unreachable!("matrices"),
        });
        let strides: [usize; 3] =
            std::array::from_fn(|at| (self.rows()[at].0 + self.gaps[at]) as usize);
        let number = |byte: u8, is_signed: bool| {
            if is_signed {
                i64::from(byte as i8)
            } else {
                i64::from(byte)
            }
        };
        let ([rows, columns, words], mut result) = (self.extents.map(|x| x as usize), to.clone());
        for row in 0..rows {
            for column in 0..columns {
                let terms = (0..4 * words).map(|term| {
                    let x = lhs[row * strides[1] + term];
                    let y = rhs[term / 4 * strides[2] + 4 * column + term % 4];
                    number(x, self.signs[0]) * number(y, self.signs[1])
                });
                let sum = terms.sum::<i64>() as u32;
                let place = row * strides[0] + 4 * column;
                result[place..place + 4].copy_from_slice(&sum.to_le_bytes());
            }
        }
        result
    }

    fn check(&self, random: &mut Random) {
        let (function, inputs) = (self.function(), self.inputs(random));
        let wanted = Buffer::from_bytes(DType::U8, &self.reference(&inputs));
        let (_, meant) = harness::interpret(&function, &inputs);
        assert!(wanted.same_bits(&meant[0]), "{self:?} as it is interpreted");
        for target in harness::targets_with_amx() {
            if let Some(compiled) = harness::compiled(&function, &target) {
                harness::check(&function, &compiled, &inputs);
            }
        }
    }
}

const SIGNS: [[bool; 2]; 4] = [[false, false], [false, true], [true, false], [true, true]];

#[test]
fn products_of_all_sizes_and_signs_are_exact_and_stay_in_their_matrices() {
    let mut random = Random::new(61);
    let sizes = [1, 2, 15, 16, 17, 31, 32];
    let words = [1, 3, 15, 16, 17, 32, 33, 48, 63, 65, 96, 130];
    for rows in sizes {
        for columns in sizes {
            let words = random.pick(&words);
            for words in [words, random.below(130) as u32 + 1] {
                let gaps = std::array::from_fn(|_| random.pick(&[0, 3, 64, 100]));
                let signs = random.pick(&SIGNS);
                let extents = [rows, columns, words];
                let case = Case {
                    extents,
                    signs,
                    gaps,
                };
                case.check(&mut random);
            }
        }
    }
    for words in words {
        for signs in SIGNS {
            let case = Case {
                extents: [32, 32, words],
                signs,
                gaps: [0; 3],
            };
            case.check(&mut random);
        }
    }
}

#[test]
fn sums_that_32_bits_do_not_hold_wrap() {
    let case = Case {
        extents: [2, 3, 17_000],
        signs: [false, false],
        gaps: [0; 3],
    };
    let full = case.bytes().map(|bytes| vec![0xff; bytes]);
    let inputs = full.map(|bytes| Input::Elements(DType::U8, bytes));
    let function = case.function();
    let wanted = Buffer::from_bytes(DType::U8, &case.reference(&inputs));
    for target in harness::targets_with_amx() {
        let (_, meant) = match harness::compiled(&function, &target) {
            Some(compiled) => harness::check(&function, &compiled, &inputs),
            None => harness::interpret(&function, &inputs),
        };
        assert!(wanted.same_bits(&meant[0]));
    }
}

/// Returns a loop of two rounds, each with products of two shapes, of one, and of two again.
fn in_loops() -> (Function, [Input; 3]) {
    const ROUND: i64 = 20 * 64;
    let mut signature = Signature::new("byte_products", 16);
    let sizes = [6 * ROUND as usize, ROUND as usize, 16 * 64];
    let [to, lhs, rhs] = sizes.map(|bytes| signature.buffer(bytes));
    let mut b = signature.body();
    let word_rows = |start: Addr| WordRows { start, stride: 64 };
    for (first, row_counts) in [(0, &[16, 4][..]), (2, &[9]), (4, &[9, 11])] {
        let bounds = (b.index(first), b.index(first + 2));
        b.repeat(LoopKind::Whole, bounds, 1, &[], |b, round| {
            let size = b.index(ROUND);
            let place = b.index_op(IndexOp::Mul, round.index, size);
            let start = b.address(Addr::element(to, place, Lane::I8));
            let mut below = 0;
            for &rows in row_counts {
                b.byte_product(ByteProduct {
                    to: word_rows(Addr::at(start).plus(64 * below)),
                    lhs: word_rows(Addr::at(lhs).plus(64 * below)),
                    rhs: word_rows(Addr::at(rhs)),
                    rows,
                    columns: 16,
                    words: 16,
                    signs: [true, first == 0],
                });
                below += rows as i32;
            }
            Vec::new()
        });
    }
    let mut random = Random::new(62);
    let inputs = sizes.map(|bytes| {
        let bytes = (0..bytes).map(|_| random.bits() as u8);
        Input::Elements(DType::U8, bytes.collect())
    });
    (b.finish(), inputs)
}

#[test]
fn registers_have_the_shape_of_each_product_in_and_behind_loops() {
    let (function, inputs) = in_loops();
    for target in harness::targets_with_amx() {
        if let Some(compiled) = harness::compiled(&function, &target) {
            harness::check(&function, &compiled, &inputs);
        }
    }
}

/// Returns how often each word occurs in a text.
fn counts<const N: usize>(text: &str, words: [&str; N]) -> [usize; N] {
    words.map(|word| text.matches(word).count())
}

#[test]
fn code_multiplies_in_matrix_registers_and_releases_them() {
    let instructions = [
        "ldtilecfg",
        "tilezero",
        "tileloadd",
        "tdpbusd",
        "tilestored",
        "tilerelease",
    ];
    let listed = |words: u32| {
        let case = Case {
            extents: [32, 32, words],
            signs: [false, true],
            gaps: [0; 3],
        };
        let [target] = harness::targets_with_amx()[..] else {
            panic!("one target has matrix registers");
        };
        let code = assemble(&case.function(), &target).expect("it assembles");
        counts(&disassemble(&code), instructions)
    };
    // Each part of a matrix is loaded once per step; one of four is loaded twice if a shorter step needs separate
    // registers.
    assert_eq!(listed(16), [1, 4, 4, 4, 4, 1]);
    assert_eq!(listed(7), [1, 4, 4, 4, 4, 1]);
    assert_eq!(listed(23), [1, 4, 10, 8, 4, 1]);
    // A loop of two steps.
    assert_eq!(listed(16 * 100), [1, 4, 8, 8, 4, 1]);
}

#[test]
fn registers_are_configured_before_loops_whose_products_have_one_shape() {
    let product = |rows: &[u32]| {
        let mut signature = Signature::new("loop", 16);
        let [to, lhs, rhs] = [1 << 12; 3].map(|bytes| signature.buffer(bytes));
        let mut b = signature.body();
        let bounds = (b.index(0), b.index(5));
        b.repeat(LoopKind::Whole, bounds, 1, &[], |b, _| {
            for &rows in rows {
                let [to, lhs, rhs] = [to, lhs, rhs].map(|start| WordRows {
                    start: Addr::at(start),
                    stride: 64,
                });
                b.byte_product(ByteProduct {
                    to,
                    lhs,
                    rhs,
                    rows,
                    columns: 16,
                    words: 16,
                    signs: [true; 2],
                });
            }
            Vec::new()
        });
        let target = harness::targets_with_amx()[0];
        disassemble(&assemble(&b.finish(), &target).expect("it assembles"))
    };
    // The loop starts at the last aligned jump target.
    let one = product(&[16, 16]);
    assert_eq!(counts(&one, ["ldtilecfg", "tilerelease"]), [1, 1]);
    let configured = one.find("ldtilecfg").zip(one.find("tilezero"));
    assert!(configured.is_some_and(|(first, then)| first < then));
    let several = product(&[16, 8]);
    assert_eq!(counts(&several, ["ldtilecfg", "tilerelease"]), [2, 1]);
}

#[test]
fn targets_without_matrix_registers_refuse_products_of_bytes() {
    let case = Case {
        extents: [4, 4, 4],
        signs: [true; 2],
        gaps: [0; 3],
    };
    let function = case.function();
    for target in harness::targets() {
        if target.isa == Isa::Avx512 {
            let refused = assemble(&function, &target).expect_err("no such instructions");
            assert_eq!(
                refused.to_string(),
                "avx512 multiplies no matrices of bytes in registers; expected a target with AMX"
            );
        }
    }
}

#[test]
fn the_text_of_a_product_says_all_of_it() {
    let case = Case {
        extents: [3, 5, 2],
        signs: [true, false],
        gaps: [0, 1, 2],
    };
    let expected = "func byte_product<16>(v0: ptr[60], v1: ptr[26], v2: ptr[42]) {\n  \
                    byte-product.su [v0] by 20, [v1] by 9, [v2] by 22: 3 rows, 5 columns, 2 words\n}\n";
    assert_eq!(case.function().to_string(), expected);
}
