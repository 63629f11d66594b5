//! A program as one C file.

use std::fmt::Write;

use crate::program::{Axis, Call, Gather, IndexType, Region, Step, Stop, Transfer};

use super::check::{Storage, Used};
use super::function::function;
use super::module::{EmitError, Module};
use super::prelude::prelude;
use super::shared::SharedFunctions;

/// Alignment of constant data and scratch memory, in bytes.
const ALIGN: usize = 64;

/// The function that steps are written to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Writing {
    /// The public function, which also binds subprograms.
    Entry,
    /// A subprogram, which is bound before it runs.
    Subprogram,
}

/// Returns a file of these bodies, preceded by the functions that they call.
pub fn written(functions: &SharedFunctions, bodies: &[String]) -> String {
    let text = functions.text() + &bodies.concat();
    format!("{}{text}", prelude(&text))
}

impl Module<'_> {
    /// Returns the text of the file.
    ///
    /// Its public function is `int NAME(const void *const *inputs, void *const *outputs)`. It returns the bits of the
    /// [`Status`](crate::ir::Status) and of [`Stop`](crate::program::Stop), 0 on success. A comment at the top
    /// documents inputs and outputs. The function is not reentrant if it uses scratch memory, because that is static.
    /// Buffers need no alignment. Unused functions and data are omitted.
    ///
    /// # Errors
    ///
    /// Errors if a function is invalid, or if a call does not fit its callee.
    pub fn write(&self) -> Result<String, EmitError> {
        let (comment, body) = self.sections()?;
        Ok(format!("{comment}\n{}{body}", prelude(&body)))
    }

    /// Returns the text of the file without shared functions; [`written`] joins several of them.
    ///
    /// # Errors
    ///
    /// As [`write`](Module::write).
    pub fn body(&self) -> Result<String, EmitError> {
        let (comment, body) = self.sections()?;
        Ok(format!("\n{comment}{body}"))
    }

    /// Returns the comment about the public function, and the code.
    fn sections(&self) -> Result<(String, String), EmitError> {
        let used = self.check(&self.steps)?;
        let mut body = self.code(&used)?;
        self.entry(&used, &mut body);
        if self.has_main {
            self.main(&mut body);
        }
        let has_memory = used.memory || used.subprograms.contains(&true);
        Ok((self.comment(has_memory), body))
    }

    /// Returns the data, memory, functions and subprograms that the steps use.
    pub(super) fn code(&self, used: &Used) -> Result<String, EmitError> {
        let mut code = String::new();
        if used.constants {
            self.constants(&mut code);
        }
        if used.memory {
            let bytes = self.memory.bytes().max(1);
            code += &format!(
                "\nstatic _Alignas({ALIGN}) unsigned char {}_scratch[{bytes}];\n",
                self.name
            );
        }
        code += &self.sort_memory();
        let functions = self.functions.iter().zip(&used.functions);
        for (callee, _) in functions.filter(|(callee, is_used)| **is_used && !callee.is_shared) {
            code.push('\n');
            function(callee.function, &callee.name, &mut code)?;
        }
        let subprograms = self.subprograms.iter().zip(&used.subprograms);
        for (subprogram, _) in subprograms.filter(|(_, is_used)| **is_used) {
            code += &subprogram.text;
        }
        Ok(code)
    }

    fn comment(&self, has_scratch: bool) -> String {
        let mut more = String::new();
        if !self.subprograms.is_empty() {
            more += &format!(
                " * Or with {}: a loop takes more than MIND_MAX_STEPS steps.\n",
                Stop::TOO_MANY_STEPS
            );
        }
        if self.checks_extents(&self.steps) {
            more += &format!(
                " * Or with {}: an array of extents holds others than the result's.\n",
                Stop::OTHER_EXTENTS
            );
        }
        let mut text = format!(
            "/*\n * int {}(const void *const *inputs, void *const *outputs)\n *\n * Returns 0, or a sum of: \
             1 an integer was divided by zero, 2 the smallest integer was divided by -1; 4 an index was out of bounds.\n\
             {more} \
             * Or 8, and nothing is done: compiled for x86-64 without MIND_ANY_CPU, it needs AVX2 and FMA.\n",
            self.name
        );
        if has_scratch {
            text += " * Not to be run twice at once: intermediate results are in static memory.\n";
        }
        for (kind, ports) in [("inputs", &self.inputs), ("outputs", &self.outputs)] {
            for (number, port) in ports.iter().enumerate() {
                let extents: Vec<String> = port.shape.iter().map(usize::to_string).collect();
                let (name, dtype) = (plain(&port.name), port.dtype);
                text += &format!(
                    " * {kind}[{number}]  {name}: {dtype}[{}], {} bytes\n",
                    extents.join(", "),
                    port.bytes()
                );
            }
        }
        text + " */\n"
    }

    /// Writes the constants as words; the last one is padded with zeros.
    fn constants(&self, out: &mut String) {
        let count = self.constants.len().div_ceil(4).max(1);
        *out += &format!(
            "\nstatic const _Alignas({ALIGN}) uint32_t {}_constants[{count}] = {{",
            self.name
        );
        if self.constants.is_empty() {
            *out += "0";
        }
        for (at, bytes) in self.constants.chunks(4).enumerate() {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            let start = if at % 8 == 0 { "\n    " } else { " " };
            // Writing to a string is infallible.
            let _ = write!(out, "{start}{:#x},", u32::from_le_bytes(word));
        }
        *out += "\n};\n";
    }

    fn entry(&self, used: &Used, out: &mut String) {
        let name = &self.name;
        *out += &format!(
            "\nint {name}(const void *const *inputs, void *const *outputs);\n\
             \nint {name}(const void *const *inputs, void *const *outputs)\n{{\n    \
             if (MIND_LACKS_CPU) {{\n        return {};\n    }}\n    \
             uint64_t status = 0;\n",
            Stop::PROCESSOR_LACKS
        );
        self.body_of(&self.steps, used, Writing::Entry, out);
    }

    /// Writes the part of a function that runs `steps`, after its status is declared.
    pub(super) fn body_of(&self, steps: &[&Step], used: &Used, writing: Writing, out: &mut String) {
        for (is_used, name) in [(used.inputs, "inputs"), (used.outputs, "outputs")] {
            if !is_used {
                *out += &format!("    (void){name};\n");
            }
        }
        self.statements(steps, writing, out);
        *out += "    return (int)status;\n}\n";
    }

    pub(super) fn statements(&self, steps: &[&Step], writing: Writing, out: &mut String) {
        for step in steps {
            match step {
                Step::Call(call) => self.call(call, out),
                Step::Gather(gather) => self.gather(gather, out),
                Step::Transfer(Transfer { from, to }) => {
                    let bytes = from.bytes;
                    let [from, to] = [from, to].map(|region| self.address(region));
                    *out += &format!("    memcpy({to}, {from}, {bytes});\n");
                }
                Step::Control(control) => self.control(control, writing, out),
                Step::Evaluate(call) => self.routine(call, out),
            }
        }
    }

    /// Writes a call in a loop nest over the indexed dimensions of the grid; ranges are not split.
    fn call(&self, call: &Call, out: &mut String) {
        let mut args: Vec<String> = call.args.iter().map(|arg| self.address(arg)).collect();
        let mut loops = Vec::new();
        for axis in &call.grid {
            match *axis {
                Axis::Each(extent) => {
                    args.push(format!("t{}", loops.len()));
                    loops.push(extent);
                }
                Axis::Range { extent, .. } => {
                    args.extend(["INT64_C(0)".to_owned(), format!("INT64_C({extent})")]);
                }
            }
        }
        if call.has_scratch {
            args.push(self.static_memory(self.memory.scratch_start()));
        }
        let indent = |depth: usize| " ".repeat(4 * (depth + 1));
        for (depth, extent) in loops.iter().enumerate() {
            *out += &format!(
                "{}for (int64_t t{depth} = 0; t{depth} < INT64_C({extent}); ++t{depth}) {{\n",
                indent(depth)
            );
        }
        let symbol = &self.functions[call.kernel].name;
        *out += &format!(
            "{}status |= {symbol}({});\n",
            indent(loops.len()),
            args.join(", ")
        );
        for depth in (0..loops.len()).rev() {
            *out += &format!("{}}}\n", indent(depth));
        }
    }

    /// Writes the copies of a gather, after the bounds checks of its indices.
    fn gather(&self, gather: &Gather, out: &mut String) {
        let [data, indices, result] =
            [gather.data, gather.indices, gather.result].map(|region| self.address(&region));
        let Gather {
            outer,
            extent,
            count,
            slice,
            ..
        } = gather;
        let (ty, bytes) = match gather.index_dtype {
            IndexType::I32 => ("int32_t", 4),
            IndexType::I64 => ("int64_t", 8),
        };
        let lines = [
            format!("for (int64_t i = 0; i < INT64_C({count}); ++i) {{"),
            format!("    {ty} at;"),
            format!("    memcpy(&at, {indices} + {bytes} * i, {bytes});"),
            format!("    if (at < 0 || at >= INT64_C({extent})) {{"),
            format!(
                "        return (int)(status | {});",
                Stop::INDEX_OUT_OF_BOUNDS
            ),
            "    }".to_owned(),
            format!("    for (int64_t g = 0; g < INT64_C({outer}); ++g) {{"),
            format!(
                "        memcpy({result} + (g * {count} + i) * {slice}, {data} + (g * {extent} + at) * {slice}, {slice});"
            ),
            "    }".to_owned(),
            "}".to_owned(),
        ];
        for line in lines {
            *out += &format!("    {line}\n");
        }
    }

    /// Returns the address of the first byte of `region`.
    pub(super) fn address(&self, region: &Region) -> String {
        let offset = region.offset as usize;
        let base = match self.storage(region.base).0 {
            Storage::Input(number) => format!("(unsigned char *)inputs[{number}]"),
            Storage::Output(number) => format!("(unsigned char *)outputs[{number}]"),
            Storage::Constants => format!("(unsigned char *){}_constants", self.name),
            Storage::Static(start) => return self.static_memory(start + offset),
        };
        moved(base, offset)
    }

    pub(super) fn static_memory(&self, offset: usize) -> String {
        moved(format!("{}_scratch", self.name), offset)
    }

    fn main(&self, out: &mut String) {
        *out += "\n#include <stdio.h>\n\nint main(void)\n{\n";
        for (kind, ports) in [("input", &self.inputs), ("output", &self.outputs)] {
            for (number, port) in ports.iter().enumerate() {
                let bytes = port.bytes().max(1);
                *out += &format!(
                    "    static _Alignas({ALIGN}) unsigned char {kind}{number}[{bytes}];\n"
                );
            }
        }
        for (number, port) in self.inputs.iter().enumerate() {
            let bytes = port.bytes();
            *out += &format!(
                "    if (fread(input{number}, 1, {bytes}, stdin) != {bytes}) {{\n        return 125;\n    }}\n"
            );
        }
        let list = |kind: &str, count: usize| {
            // An array in C is not empty.
            let names: Vec<String> = (0..count).map(|at| format!("{kind}{at}")).collect();
            if names.is_empty() {
                "0".to_owned()
            } else {
                names.join(", ")
            }
        };
        *out += &format!(
            "    const void *const inputs[] = {{{}}};\n    void *const outputs[] = {{{}}};\n    \
             const int status = {}(inputs, outputs);\n",
            list("input", self.inputs.len()),
            list("output", self.outputs.len()),
            self.name
        );
        for (number, port) in self.outputs.iter().enumerate() {
            let bytes = port.bytes();
            *out += &format!(
                "    if (fwrite(output{number}, 1, {bytes}, stdout) != {bytes}) {{\n        return 125;\n    }}\n"
            );
        }
        *out += "    return status;\n}\n";
    }
}

/// Returns `base` plus an offset in bytes.
fn moved(base: String, offset: usize) -> String {
    match offset {
        0 => base,
        offset => format!("{base} + {offset}"),
    }
}

/// Returns `text` without comment delimiters and control characters.
pub(crate) fn plain(text: &str) -> String {
    let escaped = text.escape_default().to_string();
    escaped.replace("*/", "* /").replace("/*", "/ *")
}
