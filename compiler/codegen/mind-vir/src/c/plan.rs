//! Division of the statements of a function into loops over lanes.
//!
//! A *piece* is a sequence of vector operations that becomes one loop over lanes, in which every value is a scalar,
//! because compilers vectorise such a loop. A value that is used outside of the piece, or by other lanes, is stored in
//! an array. The stores of a piece follow its loop, each in its own loop, so that all loads precede them even if they
//! overlap.

use crate::ir::{
    Addr, Block, ByteProduct, Function, IfAny, Loop, Merged, Op, Statement, Type, Value,
};

use super::facts::{Facts, reads};

/// A part of a block, in text order.
pub(super) enum Piece<'f> {
    /// An index, an address, or a uniform vector.
    Scalar(Value, &'f Op),
    /// A loop over lanes, and stores.
    Lanes(Lanes<'f>),
    /// A product of matrices in memory.
    ByteProduct(&'f ByteProduct),
    /// A loop of the function.
    Loop(&'f Loop, Vec<Piece<'f>>),
    /// An [`IfAny`], with its live results and its body.
    IfAny(&'f IfAny, Vec<&'f Merged>, Vec<Piece<'f>>),
}

/// Vector operations of one loop over lanes, and the stores after it.
#[derive(Default)]
pub(super) struct Lanes<'f> {
    pub(super) ops: Vec<(Value, &'f Op)>,
    pub(super) stores: Vec<Store>,
    /// Loop-carried values that are assigned at the end of the loop over lanes: `(param, next)`.
    pub(super) write_backs: Vec<(Value, Value)>,
}

/// A store, and the lanes that it writes.
pub(super) struct Store {
    pub(super) value: Value,
    pub(super) addr: Addr,
    pub(super) extent: StoreExtent,
}

/// The lanes that a store writes.
pub(super) enum StoreExtent {
    All,
    Below(Value),
    First,
}

/// The pieces of a function, and which values need arrays.
pub(super) struct Plan<'f> {
    pub(super) pieces: Vec<Piece<'f>>,
    has_array: Vec<bool>,
    /// Loop-carried values that are assigned inside of a loop over lanes.
    is_written_back: Vec<bool>,
}

impl<'f> Plan<'f> {
    pub(super) fn of(function: &'f Function, facts: &Facts) -> Plan<'f> {
        let count = function.value_count();
        let mut planner = Planner {
            function,
            facts,
            defined_in: vec![None; count],
            uses: vec![Vec::new(); count],
            last_position: 0,
            current: None,
            has_array: vec![false; count],
            is_written_back: vec![false; count],
        };
        Plan {
            pieces: planner.block(function.body()),
            has_array: planner.has_array,
            is_written_back: planner.is_written_back,
        }
    }

    /// Returns whether the lanes of a value are stored in an array.
    pub(super) fn has_array(&self, value: Value) -> bool {
        self.has_array[value.index()]
    }

    /// Returns whether a loop-carried value is assigned inside of a loop over lanes.
    pub(super) fn is_written_back(&self, param: Value) -> bool {
        self.is_written_back[param.index()]
    }
}

impl Lanes<'_> {
    fn computes(&self, value: Value) -> bool {
        self.ops.iter().any(|&(computed, _)| computed == value)
    }

    fn is_empty(&self) -> bool {
        self.ops.is_empty() && self.stores.is_empty()
    }
}

/// A use of a value; positions grow in text order.
#[derive(Clone, Copy)]
struct Use {
    position: u32,
    /// Whether lane `j` is used only for lane `j`, inside of the loop over lanes.
    is_lanewise: bool,
}

struct Planner<'f, 'a> {
    function: &'f Function,
    facts: &'a Facts,
    /// The piece that computes a vector.
    defined_in: Vec<Option<u32>>,
    uses: Vec<Vec<Use>>,
    last_position: u32,
    /// The position of the open piece.
    current: Option<u32>,
    has_array: Vec<bool>,
    is_written_back: Vec<bool>,
}

impl<'f> Planner<'f, '_> {
    fn next_position(&mut self) -> u32 {
        self.last_position += 1;
        self.last_position
    }

    fn is_varying(&self, value: Value) -> bool {
        let is_vector = matches!(self.function.ty(value), Type::Vector(_) | Type::Mask(_));
        is_vector && !self.facts.is_uniform(value)
    }

    /// Records a use of a vector at `position`, and whether it needs an array for it.
    fn uses(&mut self, value: Value, position: u32, is_lanewise: bool) {
        if !self.is_varying(value) {
            return;
        }
        let is_here = is_lanewise && self.defined_in[value.index()] == Some(position);
        let home = self.facts.home(value).index();
        self.has_array[home] |= !is_here;
        self.uses[home].push(Use {
            position,
            is_lanewise,
        });
    }

    fn block(&mut self, block: &'f Block) -> Vec<Piece<'f>> {
        let (mut pieces, mut open) = (Vec::new(), Lanes::default());
        for statement in &block.statements {
            match statement {
                Statement::Let(_, Op::Index(_)) => {}
                Statement::Let(value, _) if !self.facts.is_live(*value) => {}
                Statement::Let(value, op) => self.operation(*value, op, &mut open, &mut pieces),
                Statement::Store { value, addr, count } => {
                    let extent = count.map_or(StoreExtent::All, StoreExtent::Below);
                    self.store(*value, addr, extent, &mut open);
                }
                Statement::StoreFirst { value, addr } => {
                    self.store(*value, addr, StoreExtent::First, &mut open);
                }
                Statement::Prefetch(_) => {}
                Statement::ByteProduct(product) => {
                    self.close(&mut open, &mut pieces);
                    pieces.push(Piece::ByteProduct(product));
                }
                Statement::Loop(node) => {
                    self.close(&mut open, &mut pieces);
                    let body = self.repeat(node);
                    pieces.push(Piece::Loop(node, body));
                }
                Statement::IfAny(node) => {
                    let merged = node.merged.iter();
                    let merged: Vec<&Merged> = merged
                        .filter(|merged| self.facts.is_live(merged.result))
                        .collect();
                    if !merged.is_empty() {
                        self.close(&mut open, &mut pieces);
                        let body = self.if_any(node, &merged);
                        pieces.push(Piece::IfAny(node, merged, body));
                    }
                }
            }
        }
        self.close(&mut open, &mut pieces);
        pieces
    }

    fn close(&mut self, open: &mut Lanes<'f>, pieces: &mut Vec<Piece<'f>>) {
        self.current = None;
        if !open.is_empty() {
            pieces.push(Piece::Lanes(std::mem::take(open)));
        }
    }

    /// Returns the position of the open piece, and opens one if there is none.
    fn open_position(&mut self) -> u32 {
        match self.current {
            Some(position) => position,
            None => {
                let position = self.next_position();
                self.current = Some(position);
                position
            }
        }
    }

    fn operation(
        &mut self,
        value: Value,
        op: &'f Op,
        open: &mut Lanes<'f>,
        pieces: &mut Vec<Piece<'f>>,
    ) {
        if reads(op) && !open.stores.is_empty() {
            self.close(open, pieces);
        }
        if !self.is_varying(value) {
            // It does not depend on a varying vector, so it can precede the open piece.
            pieces.push(Piece::Scalar(value, op));
            return;
        }
        let other_lanes: &[Value] = match op {
            Op::LanesDown(operand, _) | Op::Splat(operand) => &[*operand],
            Op::Transpose { first, second, .. } => &[*first, *second],
            _ => &[],
        };
        let is_here = |operand: &Value| self.defined_in[operand.index()] == self.current;
        if self.current.is_some() && other_lanes.iter().any(is_here) {
            self.close(open, pieces);
        }
        let position = self.open_position();
        op.for_each_operand(|operand| self.uses(operand, position, other_lanes.is_empty()));
        self.defined_in[value.index()] = Some(position);
        open.ops.push((value, op));
    }

    fn store(&mut self, value: Value, addr: &Addr, extent: StoreExtent, open: &mut Lanes<'f>) {
        let position = self.open_position();
        self.uses(value, position, false);
        open.stores.push(Store {
            value,
            addr: *addr,
            extent,
        });
    }

    fn if_any(&mut self, node: &'f IfAny, merged: &[&Merged]) -> Vec<Piece<'f>> {
        let start = self.next_position();
        self.uses(node.mask, start, false);
        for merged in merged {
            self.uses(merged.otherwise, start, false);
            self.has_array[merged.result.index()] = true;
        }
        let body = self.block(&node.body);
        let end = self.next_position();
        self.uses(node.mask, end, false);
        for merged in merged {
            self.uses(merged.computed, end, false);
        }
        body
    }

    fn repeat(&mut self, node: &'f Loop) -> Vec<Piece<'f>> {
        let live = |this: &Self, value| this.facts.is_live(value);
        let start = self.next_position();
        for carried in &node.carried {
            if live(self, carried.param) && self.is_varying(carried.param) {
                self.uses(carried.init, start, false);
                self.has_array[carried.param.index()] = true;
            }
        }
        let mut body = self.block(&node.body);
        let end = self.next_position();
        for carried in &node.carried {
            if live(self, carried.param) && self.is_varying(carried.param) {
                // As the next value of another slot, a param is used at the end.
                let next = self.facts.home(carried.next);
                self.uses[next.index()].push(Use {
                    position: end,
                    is_lanewise: false,
                });
            }
        }
        for carried in &node.carried {
            if !live(self, carried.param) || !self.is_varying(carried.param) {
                continue;
            }
            let (param, next) = (carried.param, carried.next);
            let computing = body.iter_mut().find_map(|piece| match piece {
                Piece::Lanes(lanes) => lanes.computes(next).then_some(lanes),
                Piece::Scalar(..) | Piece::ByteProduct(_) | Piece::Loop(..) | Piece::IfAny(..) => {
                    None
                }
            });
            if let Some(lanes) = computing
                && self.may_write_back(param, next)
            {
                lanes.write_backs.push((param, next));
                self.is_written_back[param.index()] = true;
                continue;
            }
            let next = self.facts.home(carried.next);
            if self.is_varying(next) {
                self.has_array[next.index()] = true;
            }
        }
        body
    }

    /// Returns whether `param` can be assigned at the end of the piece that computes `next`, because the lanes of
    /// `param` are dead after it.
    fn may_write_back(&self, param: Value, next: Value) -> bool {
        let Some(position) = self.defined_in[next.index()] else {
            return false;
        };
        let mut uses = self.uses[param.index()].iter();
        uses.all(|it| it.position < position || it.position == position && it.is_lanewise)
    }
}
