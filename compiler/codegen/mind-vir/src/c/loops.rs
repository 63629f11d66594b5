//! Loops of a function, and loop-carried values.

use crate::ir::{Addr, Carried, Loop, LoopKind, Type, Value};

use super::plan::Piece;
use super::writer::Writer;

impl<'f> Writer<'f, '_> {
    pub(super) fn repeat(&mut self, node: &'f Loop, body: &[Piece<'f>]) {
        let carried = node.carried.iter().copied();
        let facts = self.facts;
        let carried: Vec<Carried> = carried.filter(|it| facts.is_live(it.param)).collect();
        self.first_round(&carried);
        let (lower, upper) = (self.name(node.lower), self.name(node.upper));
        let (last, step) = (node.last, node.step);
        let bound = match node.kind {
            LoopKind::Whole => format!("mind_bound({upper}, {step})"),
            LoopKind::Rest => upper,
        };
        self.line(format_args!("int64_t {last} = {lower};"));
        let head = format!("for (const int64_t e = {bound}; {last} < e; {last} += {step})");
        self.braced(format_args!("{head}"), |this| {
            if this.facts.is_live(node.index) {
                this.line(format_args!("const int64_t {} = {last};", node.index));
            }
            this.pieces(body);
            this.next_round(&carried);
        });
    }

    /// Declares loop-carried values with their initial values.
    fn first_round(&mut self, carried: &[Carried]) {
        let (vectors, others): (Vec<&Carried>, Vec<_>) =
            (carried.iter()).partition(|slot| self.is_vector(slot.param));
        for slot in others {
            let (param, init) = (slot.param, slot.init);
            if self.is_root(param) {
                let address = self.address(&Addr::at(init));
                self.line(format_args!("unsigned char *{param} = {address};"));
            } else {
                let init = self.slot_value(init);
                self.line(format_args!("int64_t {param} = {init};"));
            }
        }
        for slot in &vectors {
            self.array(slot.param);
        }
        if vectors.is_empty() {
            return;
        }
        let lanes = self.function.lanes();
        self.braced(format_args!("mind_lanes(l, {lanes})"), |this| {
            for slot in vectors {
                let init = this.element(slot.init, "l");
                this.line(format_args!("a{}[l] = {init};", slot.param.index()));
            }
        });
    }

    /// An index, or the offset of a pointer.
    fn slot_value(&self, value: Value) -> String {
        match self.function.ty(value) {
            Type::Ptr => self.offset(value).unwrap_or_else(|| "0".to_owned()),
            _ => self.name(value),
        }
    }

    /// Assigns loop-carried values for the next iteration, as a parallel assignment.
    fn next_round(&mut self, carried: &[Carried]) {
        let (vectors, others): (Vec<&Carried>, Vec<_>) = (carried.iter())
            .filter(|slot| self.facts.home(slot.next) != slot.param)
            .partition(|slot| self.is_vector(slot.param));
        if !others.is_empty() {
            self.braced(format_args!(""), |this| {
                for slot in &others {
                    let (ty, next) = if this.is_root(slot.param) {
                        ("unsigned char *", this.address(&Addr::at(slot.next)))
                    } else {
                        ("int64_t ", this.slot_value(slot.next))
                    };
                    this.line(format_args!("{ty}const n{} = {next};", slot.param.index()));
                }
                for slot in &others {
                    this.line(format_args!("{} = n{};", slot.param, slot.param.index()));
                }
            });
        }
        let vectors = vectors.into_iter();
        let vectors: Vec<_> = vectors
            .filter(|slot| !self.plan.is_written_back(slot.param))
            .collect();
        if vectors.is_empty() {
            return;
        }
        let lanes = self.function.lanes();
        self.braced(format_args!("mind_lanes(l, {lanes})"), |this| {
            for slot in &vectors {
                let (ty, next) = (this.c_type(slot.param), this.element(slot.next, "l"));
                this.line(format_args!("const {ty} n{} = {next};", slot.param.index()));
            }
            for slot in &vectors {
                let param = slot.param.index();
                this.line(format_args!("a{param}[l] = n{param};"));
            }
        });
    }
}
