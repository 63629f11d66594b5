//! Recurrent layers.

use crate::element::Element::Fp32;
use crate::element::Elements;
use crate::eval;
use crate::infer;
use crate::row::mil_ops;
use crate::signature::{B, F, S, arg, fixed};

mil_ops! {
    /// A recurrent layer over a sequence.
    GRU = "gru" {
        shapes: "as declared",
        since: [
            Ios15 => [
                arg("x", Elements::of(&[Fp32])).of(1), arg("initial_h", Elements::of(&[Fp32])).of(1),
                fixed("weight_ih", Elements::of(&[Fp32])).of(1),
                fixed("weight_hh", Elements::of(&[Fp32])).of(1),
                fixed("bias", Elements::of(&[Fp32])).of(1).optional(), fixed("direction", S).optional(),
                fixed("output_sequence", B).optional(), fixed("recurrent_activation", S).optional(),
                fixed("activation", S).optional(),
            ],
            Ios17 => [
                arg("x", F).of(1), arg("initial_h", F).of(1), fixed("weight_ih", F).of(1),
                fixed("weight_hh", F).of(1), fixed("bias", F).of(1).optional(),
                fixed("direction", S).optional(), fixed("output_sequence", B).optional(),
                fixed("recurrent_activation", S).optional(), fixed("activation", S).optional(),
            ],
            Ios18 => [
                arg("x", F).of(1), arg("initial_h", F).of(1), fixed("weight_ih", F).of(1),
                fixed("weight_hh", F).of(1), fixed("bias", F).of(1).optional(),
                fixed("direction", S).optional(), fixed("output_sequence", B).optional(),
                fixed("recurrent_activation", S).optional(), fixed("activation", S).optional(),
                fixed("reset_after", B).optional(), fixed("input_bias", F).of(1).optional(),
            ],
        ],
        results: Many,
        infer: infer::elementwise::declared,
        eval: eval::recurrent::layer,
    }

    /// A recurrent layer over a sequence.
    LSTM = "lstm" {
        shapes: "as declared",
        since: [
            Ios15 => [
                arg("x", Elements::of(&[Fp32])).of(1), arg("initial_h", Elements::of(&[Fp32])).of(1),
                arg("initial_c", Elements::of(&[Fp32])).of(1),
                fixed("weight_ih", Elements::of(&[Fp32])).of(1),
                fixed("weight_hh", Elements::of(&[Fp32])).of(1),
                fixed("bias", Elements::of(&[Fp32])).of(1).optional(),
                fixed("peephole", Elements::of(&[Fp32])).of(1).optional(),
                fixed("weight_ih_back", Elements::of(&[Fp32])).of(1).optional(),
                fixed("weight_hh_back", Elements::of(&[Fp32])).of(1).optional(),
                fixed("bias_back", Elements::of(&[Fp32])).of(1).optional(),
                fixed("peephole_back", Elements::of(&[Fp32])).of(1).optional(),
                fixed("direction", S).optional(), fixed("output_sequence", B).optional(),
                fixed("recurrent_activation", S).optional(), fixed("cell_activation", S).optional(),
                fixed("activation", S).optional(), fixed("clip", Elements::of(&[Fp32])).of(1).optional(),
            ],
            Ios17 => [
                arg("x", F).of(1), arg("initial_h", F).of(1), arg("initial_c", F).of(1),
                fixed("weight_ih", F).of(1), fixed("weight_hh", F).of(1), fixed("bias", F).of(1).optional(),
                fixed("peephole", F).of(1).optional(), fixed("weight_ih_back", F).of(1).optional(),
                fixed("weight_hh_back", F).of(1).optional(), fixed("bias_back", F).of(1).optional(),
                fixed("peephole_back", F).of(1).optional(), fixed("direction", S).optional(),
                fixed("output_sequence", B).optional(), fixed("recurrent_activation", S).optional(),
                fixed("cell_activation", S).optional(), fixed("activation", S).optional(),
                fixed("clip", F).of(1).optional(),
            ],
        ],
        results: Many,
        infer: infer::elementwise::declared,
        eval: eval::recurrent::layer,
    }

    /// A recurrent layer over a sequence.
    RNN = "rnn" {
        shapes: "as declared",
        since: [
            Ios15 => [
                arg("x", Elements::of(&[Fp32])).of(1), arg("initial_h", Elements::of(&[Fp32])).of(1),
                fixed("weight_ih", Elements::of(&[Fp32])).of(1),
                fixed("weight_hh", Elements::of(&[Fp32])).of(1),
                fixed("bias", Elements::of(&[Fp32])).of(1).optional(), fixed("direction", S).optional(),
                fixed("output_sequence", B).optional(), fixed("activation", S).optional(),
            ],
            Ios17 => [
                arg("x", F).of(1), arg("initial_h", F).of(1), fixed("weight_ih", F).of(1),
                fixed("weight_hh", F).of(1), fixed("bias", F).of(1).optional(),
                fixed("direction", S).optional(), fixed("output_sequence", B).optional(),
                fixed("activation", S).optional(),
            ],
        ],
        results: Many,
        infer: infer::elementwise::declared,
        eval: eval::recurrent::layer,
    }
}
