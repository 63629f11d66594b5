//! A linear-scan register allocator that serves most functions.
//!
//! Machine code is in SSA form, and block order respects dominance. Therefore a register that is free at a definition
//! stays free for the whole live range, and one pass assigns each value a register for life. If there are too few
//! general registers, values are spilled, those used in innermost loops last. If there are too few vector registers the
//! allocator gives up, because splitting live ranges is left to regalloc2. The output has regalloc2's form, so that its
//! checker can verify it.

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

/// Assigns registers to all values of `machine`; returns `None` if those of `env` do not suffice.
pub(super) fn allocate(machine: &Machine, env: &MachineEnv) -> Option<Output> {
    // Registers that some instruction clobbers are not used at all, because few instructions clobber any.
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

    use crate::ir::{Addr, BinaryOp, Lane, LoopKind, Predicate, Signature, UnaryOp};
    use crate::target::{CodeTarget, Isa, TargetInfo};

    use super::super::machine::{Condition, Node, Test, fixed_def};
    use super::super::registers::{self, RDI};
    use super::super::select::select;
    use super::*;

    /// An AVX2 function: `count` values of `class`, a loop that reads the first `read` of them in each iteration, and
    /// reads of all of them after it.
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
        // The operand tied to the second parameter must be copied, next to an operand that dies.
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
        // The parameters are swapped.
        let swapped = [carried[2], carried[0]];
        machine.end(latch, Node::Jump, &[], &[(body, &swapped)]);
        machine.open(exit);
        for &value in &values {
            machine.push(Node::Entry, &[Operand::reg_use(value)]);
        }
        machine.end(exit, Node::Return, &[], &[]);
        (machine, registers::environment(16, false))
    }

    /// Returns the assignment, and the number of reloads in the loop.
    fn allocated(class: RegClass, count: usize, read: usize) -> Option<(Output, usize)> {
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
        let loads = loads.filter(is_load).count();
        assert_eq!(machine.num_insts(), output.inst_alloc_offsets.len());
        Some((output, loads))
    }

    #[test]
    fn values_stay_in_registers_as_long_as_there_are_any() {
        for class in [RegClass::Int, RegClass::Float] {
            for (count, read) in [(2, 0), (4, 4), (10, 3), (10, 10)] {
                let (output, loads) = allocated(class, count, read).expect("enough registers");
                assert_eq!(output.num_spillslots, 0, "{class:?}, {count} values");
                assert_eq!(loads, 0, "the innermost loop loads nothing");
            }
        }
    }

    #[test]
    fn general_values_are_spilled_those_of_innermost_loops_last() {
        for (count, read, has_loads) in [
            (14, 2, false),
            (30, 2, false),
            (30, 8, false),
            (30, 20, true),
        ] {
            let (output, loads) = allocated(RegClass::Int, count, read).expect("enough registers");
            let least = count + 3 - 14;
            assert!(
                output.num_spillslots >= least,
                "{count} values: {}",
                output.num_spillslots
            );
            assert_eq!(loads > 0, has_loads, "{count} values, {read} in the loop");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(allocated(RegClass::Float, 30, 2).is_none());
        assert!(allocated(RegClass::Float, 30, 20).is_none());
    }

    #[test]
    fn values_around_code_that_rarely_runs_have_registers_for_life() {
        for isa in [Isa::Avx2, Isa::Avx512] {
            let target = TargetInfo::of(isa);
            let mut signature = Signature::new("rare", target.lanes(32));
            let (input, output) = (signature.ptr(), signature.ptr());
            let mut b = signature.body();
            let bounds = (b.index(0), b.index(64));
            b.repeat(
                LoopKind::Whole,
                bounds,
                target.lanes(32).into(),
                &[],
                |b, round| {
                    let x = b.load(
                        Lane::F32,
                        Addr::element(input, round.index, Lane::F32),
                        None,
                    );
                    let one = b.f32(1.0);
                    let is_large = b.compare(Predicate::Lt, one, x);
                    let rare = b.if_any(is_large, &[x], |b| vec![b.unary(UnaryOp::Sqrt, x)]);
                    let sum = b.binary(BinaryOp::Add, rare[0], x);
                    b.store(sum, Addr::element(output, round.index, Lane::F32), None);
                    Vec::new()
                },
            );
            let code = CodeTarget {
                isa,
                has_vnni: false,
                has_amx: false,
            };
            let (machine, _) = select(&b.finish(), code);
            assert_ne!(
                machine.usual_first(),
                (0..machine.num_blocks())
                    .map(Block::new)
                    .collect::<Vec<_>>()
            );
            let env = registers::environment(target.vector_registers as usize, target.has_masks);
            let output = allocate(&machine, &env).expect("enough registers");
            assert_eq!(output.num_spillslots, 0, "{isa:?}");
            let mut checker = Checker::new(&machine, &env);
            checker.prepare(&output);
            checker
                .run()
                .expect("each operand is what it is said to be");
        }
    }
}
