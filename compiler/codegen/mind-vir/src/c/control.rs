//! Control flow as C statements: `if`, `while` and `scan`.

use crate::program::{Control, Flow, Region, Slices, Step, Stop};

use super::file::Writing;
use super::module::{EmitError, Module, StaticMemory};
use super::subprogram::Subprogram;

/// Returns the size of [`StaticMemory::carried`] that steps need, in bytes.
pub fn carried_bytes<'s>(steps: impl IntoIterator<Item = &'s Step>) -> usize {
    let controls = steps.into_iter().filter_map(Step::as_control);
    controls.map(carried_by).max().unwrap_or(0)
}

/// Returns the bytes of static memory for the loop-carried values of a step.
pub(super) fn carried_by(control: &Control) -> usize {
    let room = |regions: &[Region]| regions.iter().map(room).sum::<usize>();
    match &control.flow {
        Flow::If => 0,
        // Double buffering.
        Flow::While => 2 * room(&control.operands),
        Flow::Scan { steps: 0, .. } => 0,
        // Double buffering, where the results are the second buffer.
        Flow::Scan { carried, .. } => room(&control.operands[..*carried]),
    }
}

/// Returns whether the trip count of a step can be above 0.
pub(super) fn runs(control: &Control) -> bool {
    !matches!(control.flow, Flow::Scan { steps: 0, .. })
}

/// Returns the regions that the C code of a step accesses.
pub(super) fn regions(control: &Control) -> Vec<Region> {
    let [operands, results] = [&control.operands, &control.results];
    match control.flow {
        Flow::Scan {
            steps: 0, carried, ..
        } => [operands, results]
            .map(|all| all.get(..carried).unwrap_or(&[]))
            .concat(),
        Flow::If | Flow::While | Flow::Scan { .. } => {
            [&operands[..], &control.fixed, results].concat()
        }
    }
}

/// Returns the aligned size of a value of the size of `region`.
fn room(region: &Region) -> usize {
    region.bytes.next_multiple_of(StaticMemory::ALIGN)
}

/// Returns the sizes of the arrays that subprogram `at` of a step reads, and of those that it writes.
fn arrays(control: &Control, at: usize) -> (Vec<usize>, Vec<usize>) {
    let bytes = |regions: &[Region]| {
        regions
            .iter()
            .map(|region| region.bytes)
            .collect::<Vec<_>>()
    };
    let slices = |slices: &[Slices]| slices.iter().map(|slices| slices.bytes).collect::<Vec<_>>();
    let (moving, made) = match &control.flow {
        Flow::If => (
            bytes(control.operands.get(1..).unwrap_or(&[])),
            bytes(&control.results),
        ),
        Flow::While if at == 0 => (bytes(&control.operands), vec![1]),
        Flow::While => (bytes(&control.operands), bytes(&control.results)),
        Flow::Scan {
            carried,
            inputs,
            outputs,
            ..
        } => {
            let carried = |regions: &[Region]| bytes(regions.get(..*carried).unwrap_or(&[]));
            let read = [carried(&control.operands), slices(inputs)].concat();
            (read, [carried(&control.results), slices(outputs)].concat())
        }
    };
    ([bytes(&control.fixed), moving].concat(), made)
}

impl Module<'_> {
    /// Checks that the subprograms of a step exist and take the arrays of the step.
    ///
    /// # Errors
    ///
    /// Errors if a subprogram does not exist, or takes other arrays.
    pub(super) fn check_control(&self, control: &Control) -> Result<(), EmitError> {
        for (at, &found) in control.programs.iter().enumerate() {
            let op = control.op;
            let Some(subprogram) = self.subprograms.get(found) else {
                let count = self.subprograms.len();
                return Err(EmitError::NoSubprogram { op, found, count });
            };
            let (read, made) = arrays(control, at);
            for (found, expected) in [(read, &subprogram.inputs), (made, &subprogram.outputs)] {
                if found != *expected {
                    return Err(EmitError::Arrays {
                        op,
                        subprogram: format!("`{}`", subprogram.name),
                        found,
                        expected: expected.clone(),
                    });
                }
            }
        }
        Ok(())
    }

    /// Returns the subprograms that are bound once, when the module is bound, each with its step.
    pub(super) fn bound_once(&self) -> impl Iterator<Item = (&Control, usize)> {
        let controls = self.steps.iter().filter_map(|step| step.as_control());
        let controls = controls.filter(|control| control.is_bound_once && runs(control));
        let programs = controls.flat_map(|control| {
            control
                .programs
                .iter()
                .map(move |&program| (control, program))
        });
        programs.filter(|&(_, program)| self.subprograms[program].bind.is_some())
    }

    /// Writes the statements of a step.
    pub(super) fn control(&self, control: &Control, writing: Writing, out: &mut String) {
        let binds = !(control.is_bound_once && writing == Writing::Subprogram);
        let mut lines = Lines {
            module: self,
            control,
            binds,
            depth: 1,
            out,
        };
        match &control.flow {
            Flow::If => lines.choice(),
            Flow::While => lines.repetition(),
            Flow::Scan {
                steps,
                carried,
                inputs,
                outputs,
            } => {
                lines.scan(*steps, *carried, inputs, outputs);
            }
        }
    }

    /// Returns the call that binds a subprogram, if there is anything to bind.
    pub(super) fn bind(&self, control: &Control, program: usize) -> Vec<String> {
        let Some(bind) = &self.subprograms[program].bind else {
            return Vec::new();
        };
        let fixed = control.fixed.iter().map(|region| self.address(region));
        vec![
            "{".to_owned(),
            format!("    const void *const bound[] = {{{}}};", list(fixed)),
            format!("    {bind}_status = (uint64_t){bind}(bound);"),
            "}".to_owned(),
        ]
    }
}

/// An initialiser list, which must not be empty.
fn list(elements: impl IntoIterator<Item = String>) -> String {
    let elements: Vec<String> = elements.into_iter().collect();
    if elements.is_empty() {
        "0".to_owned()
    } else {
        elements.join(", ")
    }
}

/// The lines of a step.
struct Lines<'m, 'o> {
    module: &'m Module<'m>,
    control: &'m Control,
    /// Whether this function binds subprograms.
    binds: bool,
    depth: usize,
    out: &'o mut String,
}

impl Lines<'_, '_> {
    fn line(&mut self, line: &str) {
        *self.out += &format!("{}{line}\n", "    ".repeat(self.depth));
    }

    /// Opens braces, and closes them after `body`.
    fn braced(&mut self, head: &str, body: impl FnOnce(&mut Self)) {
        self.line(&format!("{head}{{"));
        self.depth += 1;
        body(self);
        self.depth -= 1;
        self.line("}");
    }

    fn addresses(&self, regions: &[Region]) -> Vec<String> {
        regions
            .iter()
            .map(|region| self.module.address(region))
            .collect()
    }

    /// Writes the bind call of subprogram `at`, if this function binds it.
    fn bind(&mut self, at: usize) {
        if self.binds {
            for line in self.module.bind(self.control, self.control.programs[at]) {
                self.line(&line);
            }
        }
    }

    /// Writes a call of subprogram `at`, and a return if it fails.
    fn run(&mut self, at: usize, read: Vec<String>, written: Vec<String>) {
        let fixed = self.addresses(&self.control.fixed);
        let name = &self.subprogram(at).name;
        let call = format!("status |= (uint64_t){name}(read, written);");
        self.braced("", |this| {
            let (read, written) = (list(fixed.into_iter().chain(read)), list(written));
            this.line(&format!("const void *const read[] = {{{read}}};"));
            this.line(&format!("void *const written[] = {{{written}}};"));
            this.line(&call);
        });
        self.braced("if (status != 0) ", |this| this.line("return (int)status;"));
    }

    fn subprogram(&self, at: usize) -> &Subprogram {
        &self.module.subprograms[self.control.programs[at]]
    }

    fn copy(&mut self, to: &str, from: &str, bytes: usize) {
        self.line(&format!("memcpy({to}, {from}, {bytes});"));
    }

    /// Returns the addresses of loop-carried values in static memory, after those of `before`.
    fn carried_addresses(&self, before: &[Region], carried: &[Region]) -> Vec<String> {
        let start = self.module.memory.carried_start() + before.iter().map(room).sum::<usize>();
        let addresses = carried.iter().scan(start, |at, region| {
            let offset = *at;
            *at += room(region);
            Some(self.module.static_memory(offset))
        });
        addresses.collect()
    }

    fn choice(&mut self) {
        let (read, written) = (
            self.addresses(&self.control.operands),
            self.addresses(&self.control.results),
        );
        let predicate = format!("if (*({}) != 0) ", read[0]);
        let branch = |this: &mut Self, at: usize| {
            this.bind(at);
            this.run(at, read[1..].to_vec(), written.clone());
        };
        self.line(&format!("{predicate}{{"));
        self.depth += 1;
        branch(self, 0);
        self.depth -= 1;
        self.braced("} else ", |this| branch(this, 1));
    }

    fn repetition(&mut self) {
        let control = self.control;
        let (initial, results) = (
            self.addresses(&control.operands),
            self.addresses(&control.results),
        );
        let even = self.carried_addresses(&[], &control.operands);
        let odd = self.carried_addresses(&control.operands, &control.operands);
        let either = |first: &[String], second: &[String]| -> Vec<String> {
            let pairs = first.iter().zip(second);
            pairs
                .map(|(first, second)| format!("is_odd ? {first} : {second}"))
                .collect()
        };
        let (now, next) = (either(&odd, &even), either(&even, &odd));
        (0..2).for_each(|at| self.bind(at));
        for ((to, from), region) in even.iter().zip(&initial).zip(&control.operands) {
            self.copy(to, from, region.bytes);
        }
        self.braced("for (uint64_t step = 0;; ++step) ", |this| {
            this.line("const int is_odd = (int)(step % 2);");
            this.line("unsigned char goes_on = 0;");
            this.run(0, now.clone(), vec!["&goes_on".to_owned()]);
            this.braced("if (goes_on == 0) ", |this| {
                for ((to, from), region) in results.iter().zip(&now).zip(&control.results) {
                    this.copy(to, from, region.bytes);
                }
                this.line("break;");
            });
            this.braced("if (step == MIND_MAX_STEPS) ", |this| {
                let stop = Stop::TOO_MANY_STEPS;
                this.line(&format!("return (int)(status | {stop});"));
            });
            this.run(1, now, next);
        });
    }

    fn scan(&mut self, steps: usize, carried: usize, inputs: &[Slices], outputs: &[Slices]) {
        let control = self.control;
        let (initial, scanned) = control.operands.split_at(carried);
        let (last, stacked) = control.results.split_at(carried);
        let spare = self.carried_addresses(&[], initial);
        let (from, to) = (self.addresses(initial), self.addresses(last));
        if steps == 0 {
            for ((to, from), region) in to.iter().zip(&from).zip(initial) {
                self.copy(to, from, region.bytes);
            }
            return;
        }
        let slices = |this: &Self, regions: &[Region], slices: &[Slices]| -> Vec<String> {
            let pairs = this.addresses(regions).into_iter().zip(slices);
            pairs
                .map(|(base, slices)| slice(&base, *slices, steps))
                .collect()
        };
        let (read, written) = (
            slices(self, scanned, inputs),
            slices(self, stacked, outputs),
        );
        let addresses = from.iter().zip(&to).zip(&spare);
        let now = addresses
            .map(|((from, to), spare)| format!("step == 0 ? {from} : in_place ? {spare} : {to}"));
        let next = to
            .iter()
            .zip(&spare)
            .map(|(to, spare)| format!("in_place ? {to} : {spare}"));
        let (read, written) = (now.chain(read).collect(), next.chain(written).collect());
        self.bind(0);
        self.braced(
            &format!("for (int64_t step = 0; step < INT64_C({steps}); ++step) "),
            |this| {
                if carried > 0 {
                    // The last iteration writes to the results.
                    this.line(&format!(
                        "const int in_place = (int)((INT64_C({steps}) - step) % 2);"
                    ));
                }
                this.run(0, read, written);
            },
        );
    }
}

/// Returns the address of the slice of an iteration.
fn slice(base: &str, Slices { bytes, is_reversed }: Slices, steps: usize) -> String {
    let at = if is_reversed {
        format!("(INT64_C({}) - step)", steps - 1)
    } else {
        "step".to_owned()
    };
    format!("{base} + {at} * {bytes}")
}
