//! The kinds of recurrent layer.

use crate::MilOp;
use crate::ops::recurrent::{GRU, LSTM, RNN};

/// Which states and gates a recurrent layer has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recurrence {
    /// A hidden state.
    Rnn,
    /// A hidden state, which one gate resets and another one updates.
    Gru,
    /// A hidden state and a cell, with gates that take, keep and give.
    Lstm,
}

impl Recurrence {
    /// Every kind.
    pub const ALL: [Recurrence; 3] = [Recurrence::Rnn, Recurrence::Gru, Recurrence::Lstm];

    /// The kind of layer that the op called `name` is; `None` for another op.
    pub fn named(name: &str) -> Option<Recurrence> {
        let mut all = Recurrence::ALL.into_iter();
        all.find(|kind| kind.row().name == name)
    }

    /// The row of the op.
    pub fn row(self) -> &'static MilOp {
        match self {
            Recurrence::Rnn => &RNN,
            Recurrence::Gru => &GRU,
            Recurrence::Lstm => &LSTM,
        }
    }

    /// How many rows of weights there are for each unit.
    pub fn gates(self) -> usize {
        match self {
            Recurrence::Rnn => 1,
            Recurrence::Gru => 3,
            Recurrence::Lstm => 4,
        }
    }
}
