//! Matches one step of a recurrent layer in the region of a scan.

use mind_core::ops::contract::MatMul;
use mind_core::ops::control::{Scan, block, yields};
use mind_core::ops::elementwise::{Add, Maximum, Minimum, Mul, Relu, Sigmoid, Sub, Tanh};
use mind_core::ops::index::Slice;
use mind_ir::ValueId;
use mind_ir::graph::Graph;
use mind_ir::opdef::Op;
use mind_ir::types::DType;
use mind_mil::recurrence::Recurrence;

use crate::compose::{self, number};
use crate::shapes::{made, shape};

/// The computation of a recurrent layer in one step.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Cell {
    pub(crate) kind: Recurrence,
    pub(crate) units: i64,
    /// Gate, cell and output activations.
    pub(crate) words: [&'static str; 3],
    pub(crate) clip: Option<f64>,
    /// Whether the gates have peephole connections to the cell state.
    pub(crate) looks: bool,
    /// Whether the reset gate is applied after the product of the hidden state.
    pub(crate) resets_after: bool,
    /// For each gate of MIL, the index of that gate in the input projection.
    pub(crate) order: Vec<usize>,
    /// The indices of a GRU's reset and update gates in the hidden-state projection.
    pub(crate) past: [usize; 2],
}

/// The arguments of the region.
struct Region<'g> {
    g: &'g Graph,
    units: i64,
    states: Vec<ValueId>,
    /// The input projection: products of the input with the weights, plus the bias.
    inside: ValueId,
    fixed: Vec<ValueId>,
}

/// An LSTM gate: its activation, its index in the projection, the clip of its sum, and whether it has a peephole.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Gate {
    word: &'static str,
    at: usize,
    clip: Option<f64>,
    looks: bool,
}

/// A GRU gate: its activation, and its indices in the projections of the input and of the hidden state.
#[derive(Clone, Copy, PartialEq, Debug)]
struct GruGate {
    word: &'static str,
    inside: usize,
    past: usize,
}

/// Returns the indices if they are a permutation of `0..n`.
fn permutation(places: &[usize]) -> Option<Vec<usize>> {
    (0..places.len())
        .all(|at| places.contains(&at))
        .then(|| places.to_vec())
}

/// Returns the cell that the region of a scan computes, if the hidden state is its only output.
pub(crate) fn of(g: &Graph, scan: Scan) -> Option<Cell> {
    let carried = scan.carried(g) as usize;
    let arguments: Vec<ValueId> = g.arguments(block(g, scan.id(), 0)).into_iter().collect();
    let next = yields(g, scan.id(), 0);
    let plain = scan.scanned(g) == 1
        && (1..=2).contains(&carried)
        && next.len() == carried + 1
        && next[carried] == next[0]
        && scan
            .in_axes(g)
            .iter()
            .chain(scan.out_axes(g))
            .all(|&axis| axis == 0);
    plain.then_some(())?;
    let units = *shape(g, arguments[0])?.get(1)?;
    (units > 0).then_some(())?;
    let region = Region {
        g,
        units,
        states: arguments[..carried].to_vec(),
        inside: arguments[carried],
        fixed: arguments[carried + 1..].to_vec(),
    };
    match (carried, region.fixed.len()) {
        (1, 1) => region.rnn(next[0]),
        (1, 2 | 3) => region.gru(next[0]),
        (2, 1 | 2) => region.lstm(next[0], next[1]),
        _ => None,
    }
}

/// Returns the operands of a binary op in both orders.
fn both<T: Op>(g: &Graph, value: ValueId) -> Option<[[ValueId; 2]; 2]> {
    let op = made::<T>(g, value)?;
    let &[x, y] = g.operands(op.id()) else {
        return None;
    };
    Some([[x, y], [y, x]])
}

/// Returns the result of `find` for the operands of a binary op, in the first order for which it succeeds.
fn either<T: Op, R>(
    g: &Graph,
    value: ValueId,
    find: impl FnMut([ValueId; 2]) -> Option<R>,
) -> Option<R> {
    both::<T>(g, value)?.into_iter().find_map(find)
}

impl Region<'_> {
    fn cell(&self, kind: Recurrence, words: [&'static str; 3]) -> Cell {
        Cell {
            kind,
            units: self.units,
            words,
            clip: None,
            looks: false,
            resets_after: false,
            order: (0..kind.gates()).collect(),
            past: [0, 1],
        }
    }

    /// Matches the product of `x` with the fixed operand `at`.
    fn product(&self, value: ValueId, x: ValueId, at: usize) -> Option<()> {
        let product = made::<MatMul>(self.g, value)?;
        let fits = product.lhs(self.g) == x && product.rhs(self.g) == self.fixed[at];
        fits.then_some(())
    }

    /// Returns the activations that `value` may be, each with its operand. `linear` applied to `value` itself is always
    /// among them.
    fn functions(&self, value: ValueId) -> Vec<(&'static str, ValueId)> {
        let g = self.g;
        let own = |word: &'static str, input: Option<ValueId>| input.map(|input| (word, input));
        let composed = || {
            let found = compose::found(g, g.defining_op(value)?, DType::F32)?;
            let near = |name: &str, expected: f32| found.number(name) == Some(f64::from(expected));
            let word = match found.name() {
                "softsign" => "softsign",
                "relu6" => "relu6",
                "sigmoid_hard" if near("alpha", 0.2) && near("beta", 0.5) => "sigmoid_hard",
                "scaled_tanh" if near("alpha", 1.7159) && near("beta", 0.666_666_7) => {
                    "scaled_tanh"
                }
                _ => return None,
            };
            Some((word, found.first()?))
        };
        let all = [
            own("sigmoid", made::<Sigmoid>(g, value).map(|own| own.input(g))),
            own("tanh", made::<Tanh>(g, value).map(|own| own.input(g))),
            own("relu", made::<Relu>(g, value).map(|own| own.input(g))),
            composed(),
            Some(("linear", value)),
        ];
        all.into_iter().flatten().collect()
    }

    /// Returns the index of the gate that `value` is within `all`, a projection of several gates.
    fn part(&self, value: ValueId, all: ValueId) -> Option<usize> {
        let extents = shape(self.g, all)?;
        if value == all {
            return (extents.last() == Some(&self.units)).then_some(0);
        }
        let slice = made::<Slice>(self.g, value).filter(|slice| slice.input(self.g) == all)?;
        let (starts, ends) = (slice.starts(self.g), slice.ends(self.g));
        let last = extents.len().checked_sub(1)?;
        let whole = (0..last).all(|at| starts[at] == 0 && ends[at] == extents[at]);
        let plain = slice.steps(self.g).iter().all(|&step| step == 1);
        let fits = starts[last] % self.units == 0 && ends[last] == starts[last] + self.units;
        let at = usize::try_from(starts[last] / self.units).ok()?;
        (whole && plain && fits).then_some(at)
    }

    fn rnn(&self, next: ValueId) -> Option<Cell> {
        let find = |(word, sum): (&'static str, ValueId)| {
            either::<Add, ()>(self.g, sum, |[inside, past]| {
                (inside == self.inside).then(|| self.product(past, self.states[0], 0))?
            })?;
            Some(self.cell(Recurrence::Rnn, ["sigmoid", "tanh", word]))
        };
        self.functions(next).into_iter().find_map(find)
    }

    /// Matches a GRU whose next hidden state is `next`.
    fn gru(&self, next: ValueId) -> Option<Cell> {
        let (g, h) = (self.g, self.states[0]);
        either::<Add, Cell>(g, next, |[new, kept]| {
            let update = either::<Mul, ValueId>(g, kept, |[gate, own]| (own == h).then_some(gate))?;
            either::<Mul, Cell>(g, new, |[rest, new]| {
                let rest = made::<Sub>(g, rest)?;
                let is_rest = number(g, rest.lhs(g)) == Some(1.0) && rest.rhs(g) == update;
                is_rest.then_some(())?;
                self.gru_new(new, &self.gru_gate(update)?)
            })
        })
    }

    /// Returns the GRU gate that `value` is, computed from slices of both projections.
    fn gru_gate(&self, value: ValueId) -> Option<GruGate> {
        let find = |(word, sum): (&'static str, ValueId)| {
            either::<Add, GruGate>(self.g, sum, |[inside, past]| {
                let all = made::<Slice>(self.g, past)?.input(self.g);
                self.product(all, self.states[0], 0)?;
                Some(GruGate {
                    word,
                    inside: self.part(inside, self.inside)?,
                    past: self.part(past, all)?,
                })
            })
        };
        self.functions(value).into_iter().find_map(find)
    }

    /// Matches the new state of a GRU, in which a second gate next to `update` resets the hidden state.
    fn gru_new(&self, value: ValueId, update: &GruGate) -> Option<Cell> {
        let (g, h) = (self.g, self.states[0]);
        let resets = |value: ValueId, other: ValueId| {
            let reset = |[reset, own]: [ValueId; 2]| (own == other).then_some(reset);
            let reset = self.gru_gate(either::<Mul, ValueId>(g, value, reset)?)?;
            (reset.word == update.word).then_some(reset)
        };
        let past = |past: ValueId| {
            if let Some(product) = made::<MatMul>(g, past) {
                (self.fixed.len() == 2 && product.rhs(g) == self.fixed[1]).then_some(())?;
                return Some((false, resets(product.lhs(g), h)?));
            }
            either::<Mul, _>(g, past, |[_, own]| {
                let biased = either::<Add, ValueId>(g, own, |[product, bias]| {
                    (self.fixed.get(2) == Some(&bias)).then_some(product)
                });
                (biased.is_some() == (self.fixed.len() == 3)).then_some(())?;
                self.product(biased.unwrap_or(own), h, 1)?;
                Some((true, resets(past, own)?))
            })
        };
        let find = |(word, sum): (&'static str, ValueId)| {
            either::<Add, Cell>(g, sum, |[inside, own]| {
                let new = self.part(inside, self.inside)?;
                let (resets_after, reset) = past(own)?;
                Some(Cell {
                    resets_after,
                    order: permutation(&[reset.inside, new, update.inside])?,
                    past: [reset.past, update.past],
                    ..self.cell(Recurrence::Gru, [update.word, "tanh", word])
                })
            })
        };
        let cell = self.functions(value).into_iter().find_map(find)?;
        permutation(&cell.past)?;
        Some(cell)
    }

    fn lstm(&self, next: ValueId, cell: ValueId) -> Option<Cell> {
        let (g, c) = (self.g, self.states[1]);
        let (take, new, keep) = either::<Add, _>(g, cell, |[new, kept]| {
            let keep = either::<Mul, ValueId>(g, kept, |[keep, own]| (own == c).then_some(keep))?;
            let keep = self.lstm_gate(keep, c)?;
            either::<Mul, _>(g, new, |[take, new]| {
                let (take, new) = (self.lstm_gate(take, c)?, self.lstm_gate(new, c)?);
                Some((take, new, keep))
            })
        })?;
        let (give, outer) = either::<Mul, _>(g, next, |[give, shown]| {
            let mut shown = self.functions(shown).into_iter();
            let (outer, _) = shown.find(|(_, input)| *input == cell)?;
            Some((self.lstm_gate(give, cell)?, outer))
        })?;
        let alike = |gate: &Gate| gate.word == take.word && gate.looks == take.looks;
        let clips = [keep, give, new].iter().all(|gate| gate.clip == take.clip);
        let looks = take.looks == (self.fixed.len() == 2) && !new.looks;
        ([keep, give].iter().all(alike) && clips && looks).then_some(())?;
        let own = self.cell(Recurrence::Lstm, [take.word, new.word, outer]);
        Some(Cell {
            clip: take.clip,
            looks: take.looks,
            order: permutation(&[take.at, keep.at, give.at, new.at])?,
            ..own
        })
    }

    /// Returns the LSTM gate that `value` is. It may have a peephole to `cell` with the weights at its own index.
    fn lstm_gate(&self, value: ValueId, cell: ValueId) -> Option<Gate> {
        let find = |(word, sum): (&'static str, ValueId)| {
            let (sum, clip) = match self.clipped(sum) {
                Some((sum, clip)) => (sum, Some(clip)),
                None => (sum, None),
            };
            let looked = either::<Add, (ValueId, usize)>(self.g, sum, |[own, look]| {
                either::<Mul, _>(self.g, look, |[weights, of]| {
                    let all = *self.fixed.get(1)?;
                    (of == cell).then_some(())?;
                    Some((own, self.part(weights, all)?))
                })
            });
            let own = looked.map_or(sum, |(own, _)| own);
            let all = made::<Slice>(self.g, own).map_or(own, |slice| slice.input(self.g));
            either::<Add, ()>(self.g, all, |[inside, past]| {
                (inside == self.inside).then(|| self.product(past, self.states[0], 0))?
            })?;
            let at = self.part(own, all)?;
            let fits = looked.is_none_or(|(_, weights)| weights == at);
            fits.then_some(Gate {
                word,
                at,
                clip,
                looks: looked.is_some(),
            })
        };
        self.functions(value).into_iter().find_map(find)
    }

    /// Returns the operand and the bound of a clip to `-bound..=bound`.
    fn clipped(&self, value: ValueId) -> Option<(ValueId, f64)> {
        let g = self.g;
        either::<Minimum, _>(g, value, |[inner, most]| {
            let most = number(g, most)?;
            either::<Maximum, _>(g, inner, |[x, least]| {
                (number(g, least)? == -most).then_some((x, most))
            })
        })
    }
}
