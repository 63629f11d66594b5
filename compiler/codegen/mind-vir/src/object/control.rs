//! Control flow: `if`, `while` and `scan`.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};

use crate::program::{Control, Flow, Region, Slices, Step, Stop};

use super::ALIGN;
use super::body::anywhere;
use super::driver::{Driver, ProgramItems};
use super::layout::room;

/// The addresses of the arrays of a subprogram.
type Addresses = Vec<Value>;

impl Driver<'_> {
    /// Binds the subprograms that are bound once. Their status is stored, and checked when they run.
    pub(super) fn bind_once(&mut self, items: &ProgramItems, steps: &[Step]) {
        let controls = steps.iter().filter_map(Step::as_control);
        for control in controls.filter(|control| control.is_bound_once) {
            for &program in &control.programs {
                let status = self.bind(items, control, program);
                let place = self.status_of_binding(items, program);
                self.body.ins().store(anywhere(), status, place, 0);
            }
        }
    }

    /// Appends a step that runs subprograms.
    pub(super) fn control(&mut self, items: &ProgramItems, control: &Control) {
        match &control.flow {
            Flow::If => self.choice(items, control),
            Flow::While => self.repetition(items, control),
            Flow::Scan {
                steps,
                carried,
                inputs,
                outputs,
            } => self.scan(items, control, (*steps, *carried), (inputs, outputs)),
        }
    }

    fn bound_address(&mut self, items: &ProgramItems, program: usize) -> Value {
        let at = items.layout.regions[program];
        let base = if at.is_bound_once {
            self.memory.bound
        } else {
            self.memory.workspace
        };
        self.body.moved(base, at.offset)
    }

    /// Returns the address of the bind status of a subprogram that is bound once.
    fn status_of_binding(&mut self, items: &ProgramItems, program: usize) -> Value {
        let offset = items.layout.regions[program].offset - ALIGN;
        self.body.moved(self.memory.bound, offset)
    }

    /// Binds a subprogram and returns its status.
    fn bind(&mut self, items: &ProgramItems, control: &Control, program: usize) -> Value {
        let fixed = self.addresses(items, &control.fixed);
        let weights = self.body.list(&fixed);
        let bound = self.bound_address(items, program);
        let workspace = self.body.moved(self.memory.workspace, items.layout.inner);
        let bind = items.regions[program].bind;
        self.body.invoke(bind, &[weights, bound, workspace])
    }

    /// Ensures that a subprogram is bound before its first run in this step.
    fn ready(&mut self, items: &ProgramItems, control: &Control, program: usize) {
        let status = if control.is_bound_once {
            let place = self.status_of_binding(items, program);
            let ins = self.body.ins();
            ins.load(types::I64, anywhere(), place, 0)
        } else {
            self.bind(items, control, program)
        };
        self.body.check(status);
    }

    fn run(&mut self, items: &ProgramItems, program: usize, read: &[Value], written: &[Value]) {
        let (inputs, outputs) = (self.body.list(read), self.body.list(written));
        let bound = self.bound_address(items, program);
        let workspace = self.body.moved(self.memory.workspace, items.layout.inner);
        let run = items.regions[program].run;
        let status = self.body.invoke(run, &[bound, inputs, outputs, workspace]);
        self.body.check(status);
    }

    fn addresses(&mut self, items: &ProgramItems, regions: &[Region]) -> Addresses {
        let regions = regions.iter();
        regions.map(|region| self.address(items, region)).collect()
    }

    /// Returns buffers for loop-carried values of the sizes of `regions`, after the first `skipped` bytes.
    fn carried_buffers(
        &mut self,
        items: &ProgramItems,
        skipped: u64,
        regions: &[Region],
    ) -> Addresses {
        let mut at = items.layout.carried + skipped;
        let mut buffers = Vec::with_capacity(regions.len());
        for region in regions {
            buffers.push(self.body.moved(self.memory.workspace, at));
            at += room(region);
        }
        buffers
    }

    fn copy_all(&mut self, to: &[Value], from: &[Value], regions: &[Region]) {
        for ((&to, &from), region) in to.iter().zip(from).zip(regions) {
            self.body.copy(to, from, region.bytes as u64);
        }
    }

    /// Selects `first` if `condition` holds, else `second`, element by element.
    fn either(&mut self, condition: Value, first: &[Value], second: &[Value]) -> Addresses {
        let pairs = first.iter().zip(second);
        pairs
            .map(|(&first, &second)| self.body.ins().select(condition, first, second))
            .collect()
    }

    fn choice(&mut self, items: &ProgramItems, control: &Control) {
        let read = self.addresses(items, &control.operands);
        let written = self.addresses(items, &control.results);
        let ins = self.body.ins();
        let condition = ins.load(types::I8, anywhere(), read[0], 0);
        let branch = |at: usize| {
            let (read, written) = (read[1..].to_vec(), written.clone());
            let program = control.programs[at];
            move |driver: &mut Self| {
                driver.ready(items, control, program);
                driver.run(items, program, &read, &written);
            }
        };
        self.choose(condition, branch(0), branch(1));
    }

    fn repetition(&mut self, items: &ProgramItems, control: &Control) {
        let [condition, body] = [control.programs[0], control.programs[1]];
        let initial = self.addresses(items, &control.operands);
        let results = self.addresses(items, &control.results);
        let half: u64 = control.operands.iter().map(room).sum();
        let even = self.carried_buffers(items, 0, &control.operands);
        let odd = self.carried_buffers(items, half, &control.operands);
        let goes_on = items.layout.carried + 2 * half;
        let goes_on = self.body.moved(self.memory.workspace, goes_on);
        self.copy_all(&even, &initial, &control.operands);
        self.ready(items, control, condition);

        let [header, again, after] = [(); 3].map(|()| self.body.builder.create_block());
        let step = self.body.builder.append_block_param(header, types::I64);
        let first = self.body.word(0);
        self.body.ins().jump(header, &[BlockArg::from(first)]);
        self.body.builder.switch_to_block(header);
        let is_odd = self.body.ins().band_imm(step, 1);
        let now = self.either(is_odd, &odd, &even);
        let next = self.either(is_odd, &even, &odd);
        self.run(items, condition, &now, &[goes_on]);
        let ins = self.body.ins();
        let holds = ins.load(types::I8, anywhere(), goes_on, 0);
        self.body.ins().brif(holds, again, &[], after, &[]);

        self.body.builder.switch_to_block(again);
        let most = items.max_steps as i64;
        let is_too_many = self.body.ins().icmp_imm(IntCC::Equal, step, most);
        self.body.stop_if(is_too_many, Stop::TOO_MANY_STEPS);
        let is_first = self.body.ins().icmp_imm(IntCC::Equal, step, 0);
        self.choose(
            is_first,
            |driver| driver.ready(items, control, body),
            |_| {},
        );
        self.run(items, body, &now, &next);
        let following = self.body.ins().iadd_imm(step, 1);
        self.body.ins().jump(header, &[BlockArg::from(following)]);

        self.body.builder.switch_to_block(after);
        self.copy_all(&results, &now, &control.results);
    }

    fn scan(
        &mut self,
        items: &ProgramItems,
        control: &Control,
        (steps, carried): (usize, usize),
        (inputs, outputs): (&[Slices], &[Slices]),
    ) {
        let (initial, scanned) = control.operands.split_at(carried);
        let (last, stacked) = control.results.split_at(carried);
        let from = self.addresses(items, initial);
        let to = self.addresses(items, last);
        if steps == 0 {
            self.copy_all(&to, &from, initial);
            return;
        }
        let program = control.programs[0];
        let spare = self.carried_buffers(items, 0, initial);
        let scanned = self.addresses(items, scanned);
        let stacked = self.addresses(items, stacked);
        self.ready(items, control, program);
        self.repeat(steps as u64, |driver, step| {
            // The last iteration writes to the results.
            let left = driver.body.ins().irsub_imm(step, steps as i64);
            let is_in_place = driver.body.ins().band_imm(left, 1);
            let is_first = driver.body.ins().icmp_imm(IntCC::Equal, step, 0);
            let before = driver.either(is_in_place, &spare, &to);
            let mut read = driver.either(is_first, &from, &before);
            let mut written = driver.either(is_in_place, &to, &spare);
            read.extend(driver.slices(&scanned, inputs, step, steps));
            written.extend(driver.slices(&stacked, outputs, step, steps));
            driver.run(items, program, &read, &written);
        });
    }

    /// Returns the addresses of the slices of an iteration.
    fn slices(
        &mut self,
        arrays: &[Value],
        slices: &[Slices],
        step: Value,
        steps: usize,
    ) -> Addresses {
        let mut addresses = Vec::with_capacity(arrays.len());
        for (&array, slices) in arrays.iter().zip(slices) {
            let at = if slices.is_reversed {
                self.body.ins().irsub_imm(step, steps as i64 - 1)
            } else {
                step
            };
            addresses.push(self.body.scaled(array, at, slices.bytes as i64));
        }
        addresses
    }
}
