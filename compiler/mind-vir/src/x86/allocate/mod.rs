//! Registers for most functions.
//!
//! Machine code is in SSA form, and its blocks stand in an order in which definitions come before all that they reach. A
//! register that is free where a value is defined therefore stays free for it as long as the value lives, and one walk
//! over the code gives each value a register for life. General values for which there are too few live on the stack,
//! except what innermost loops read. Where that is not enough nothing is assigned: splitting lives is regalloc2's. The
//! output has the form of regalloc2's, so that its checker reads it.

mod assign;
mod liveness;
mod moves;
mod pregs;
mod spills;

use regalloc2::{Function as _, Inst, MachineEnv, Output, RegClass};

use super::machine::Machine;
use assign::Assignment;
use liveness::Liveness;
use pregs::Pregs;
use spills::Spills;

/// Registers for all values of `machine`; `None` where those of `env` do not suffice.
pub(super) fn allocate(machine: &Machine, env: &MachineEnv) -> Option<Output> {
    // What instructions overwrite on their way is left alone throughout: few do.
    let insts = (0..machine.num_insts()).map(Inst::new);
    let clobbered = insts.map(|inst| Pregs::from(machine.inst_clobbers(inst)));
    let clobbered = clobbered.fold(Pregs::default(), |all, each| all | each);
    let usable = Pregs::usable(env).without(clobbered);
    let mut liveness = Liveness::of(machine);
    let spills = Spills::of(machine, usable.count(RegClass::Int), &mut liveness)?;
    let among = (usable, Pregs::preferred(env));
    let assignment = Assignment::of(machine, among, &liveness, &spills)?;
    Some(Output {
        num_spillslots: spills.count,
        edits: assignment.edits,
        allocs: assignment.allocs,
        inst_alloc_offsets: machine.operand_starts(),
        ..Output::default()
    })
}

#[cfg(test)]
mod tests {
    use regalloc2::checker::Checker;
    use regalloc2::{Block, Edit, Function as _, Operand, VReg};

    use super::super::machine::{Condition, Node, Test, fixed_def};
    use super::super::registers::{self, RDI};
    use super::*;

    /// A function of AVX2: `count` values of `class`, then a loop that reads the first `read` of them in each round, and
    /// all behind it.
    fn function(class: RegClass, count: usize, read: usize) -> (Machine, MachineEnv) {
        let mut machine = Machine::default();
        let entry = machine.new_block(&[]);
        machine.open(entry);
        let arguments = machine.new_vreg(RegClass::Int);
        machine.push(Node::Entry, &[fixed_def(arguments, RDI)]);
        let values: Vec<VReg> = (0..count).map(|_| machine.new_vreg(class)).collect();
        for &value in &values {
            machine.push(
                Node::Entry,
                &[Operand::reg_use(arguments), Operand::reg_def(value)],
            );
        }
        let carried: Vec<VReg> = (0..3).map(|_| machine.new_vreg(class)).collect();
        let (body, latch, exit) = (
            machine.new_block(&carried[..2]),
            machine.new_block(&[]),
            machine.new_block(&[]),
        );
        machine.is_header[body.index()] = true;
        machine.end(entry, Node::Jump, &[], &[(body, &values[..2])]);
        machine.open(body);
        for &value in &values[..read] {
            machine.push(Node::Entry, &[Operand::reg_use(value)]);
        }
        // What replaces the second parameter needs a copy of it, beside an operand that is read for the last time.
        let last = machine.new_vreg(class);
        machine.push(Node::Entry, &[Operand::reg_def(last)]);
        let replaced = [
            Operand::reg_use(carried[1]),
            Operand::reg_use(last),
            Operand::reg_reuse_def(carried[2], 0),
        ];
        machine.push(Node::Entry, &replaced);
        let succs: [(Block, &[VReg]); 2] = [(latch, &[]), (exit, &[])];
        let node = Node::Branch(Test::Compare(Condition::Less, Some(1)));
        machine.end(body, node, &[Operand::reg_use(carried[1])], &succs);
        machine.open(latch);
        // The parameters change places.
        let swapped = [carried[2], carried[0]];
        machine.end(latch, Node::Jump, &[], &[(body, &swapped)]);
        machine.open(exit);
        for &value in &values {
            machine.push(Node::Entry, &[Operand::reg_use(value)]);
        }
        machine.end(exit, Node::Return, &[], &[]);
        (machine, registers::environment(16, false))
    }

    fn allocated(class: RegClass, count: usize, read: usize) -> Option<Output> {
        let (machine, env) = function(class, count, read);
        let output = allocate(&machine, &env)?;
        let mut checker = Checker::new(&machine, &env);
        checker.prepare(&output);
        checker
            .run()
            .expect("each operand is what it is said to be");
        let body = Block::new(1);
        let loads = output.block_insts_and_edits(&machine, body);
        let is_load = |step: &regalloc2::InstOrEdit<'_>| match step {
            regalloc2::InstOrEdit::Edit(Edit::Move { from, .. }) => from.is_stack(),
            regalloc2::InstOrEdit::Inst(_) => false,
        };
        assert_eq!(
            loads.filter(is_load).count(),
            0,
            "the innermost loop loads nothing"
        );
        assert_eq!(machine.num_insts(), output.inst_alloc_offsets.len());
        Some(output)
    }

    #[test]
    fn values_stay_in_registers_as_long_as_there_are_any() {
        for class in [RegClass::Int, RegClass::Float] {
            for (count, read) in [(2, 0), (4, 4), (10, 3), (10, 10)] {
                let output = allocated(class, count, read).expect("enough registers");
                assert_eq!(output.num_spillslots, 0, "{class:?}, {count} values");
            }
        }
    }

    #[test]
    fn general_values_that_no_innermost_loop_reads_are_spilled() {
        for (count, read) in [(14, 2), (30, 2), (30, 8)] {
            let output = allocated(RegClass::Int, count, read).expect("enough registers");
            let least = count + 3 - 14;
            assert!(
                output.num_spillslots >= least,
                "{count} values: {}",
                output.num_spillslots
            );
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(allocated(RegClass::Int, 30, 20).is_none());
        assert!(allocated(RegClass::Float, 30, 2).is_none());
    }
}
