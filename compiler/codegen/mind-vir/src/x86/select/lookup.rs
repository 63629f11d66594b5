//! Look-ups of narrow integers in a table that fills a vector register.

use regalloc2::VReg;

use crate::ir::{Lane, ShiftOp, Value};
use crate::mach::Lookup;

use super::super::codes;
use super::super::machine::Mem;
use super::{Rm, Select};

impl Select<'_> {
    /// Returns the pool offsets of all tables, and how often each is read.
    pub(super) fn tables_needed(&mut self) -> Vec<(u32, u32)> {
        let mut tables: Vec<(u32, u32)> = Vec::new();
        for (_, lookup) in self.uses.lookups() {
            let offset = self.table(lookup);
            match tables.iter_mut().find(|(known, _)| *known == offset) {
                Some((_, reads)) => *reads += 1,
                None => tables.push((offset, 1)),
            }
        }
        tables
    }

    fn table(&mut self, lookup: Lookup) -> u32 {
        let entries = self.full_bytes() as usize / Lane::F32.bytes() as usize;
        let numbers = lookup.table(entries).into_iter();
        self.pool
            .vector(numbers.flat_map(f32::to_le_bytes).collect())
    }

    /// Returns the register assigned to the table at `offset`.
    pub(super) fn table_register(&mut self, offset: u32) -> VReg {
        let vreg = self.new_vector();
        self.tables.insert(offset, vreg);
        vreg
    }

    pub(super) fn look_up(&mut self, value: Value, lookup: Lookup) {
        let mut places = self.reg(lookup.word);
        if lookup.from > 0 {
            places = self.shifted(ShiftOp::Shr, Lane::I32, places, lookup.from);
        }
        let offset = self.table(lookup);
        let table = match self.tables.get(&offset) {
            Some(&vreg) => Rm::Reg(vreg),
            None => Rm::Mem(Mem::pool(offset)),
        };
        let result = self.two(codes::PERMUTE_F32, places, table);
        self.bind(value, result);
    }
}
