//! The types of recurrent layer.

use crate::MilOp;
use crate::ops::recurrent::{GRU, LSTM, RNN};

/// The states and gates of a recurrent layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recurrence {
    /// A hidden state.
    Rnn,
    /// A hidden state, with a reset and an update gate.
    Gru,
    /// A hidden state and a cell state, with input, forget and output gates.
    Lstm,
}

impl Recurrence {
    /// Every type of layer.
    pub const ALL: [Recurrence; 3] = [Recurrence::Rnn, Recurrence::Gru, Recurrence::Lstm];

    /// Returns the type of layer of the op called `name`; `None` for another op.
    pub fn named(name: &str) -> Option<Recurrence> {
        let mut all = Recurrence::ALL.into_iter();
        all.find(|kind| kind.row().name == name)
    }

    /// Returns the row of the op.
    pub fn row(self) -> &'static MilOp {
        match self {
            Recurrence::Rnn => &RNN,
            Recurrence::Gru => &GRU,
            Recurrence::Lstm => &LSTM,
        }
    }

    /// Returns the number of rows of weights per unit.
    pub fn gates(self) -> usize {
        match self {
            Recurrence::Rnn => 1,
            Recurrence::Gru => 3,
            Recurrence::Lstm => 4,
        }
    }
}
