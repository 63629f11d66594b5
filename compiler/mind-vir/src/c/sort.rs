//! Sorts as statements of C: a key for each element, and one function that sorts keys.

use mind_ir::types::DType;

use crate::program::{Evaluate, Sorting, Step};

use super::module::{EmitError, Module};

/// The function that makes the key of an element: keys are in the order of the elements.
fn key(dtype: DType) -> &'static str {
    match dtype {
        DType::F16 => "mind_key_f16",
        DType::BF16 => "mind_key_bf16",
        DType::F32 => "mind_key_f32",
        DType::F64 => "mind_key_f64",
        DType::I8 => "mind_key_i8",
        DType::I16 => "mind_key_i16",
        DType::I32 => "mind_key_i32",
        DType::I64 => "mind_key_i64",
        DType::U8 | DType::Bool => "mind_load_u8",
        DType::U16 => "mind_load_u16",
        DType::U32 => "mind_load_u32",
        DType::U64 => "mind_load_u64",
    }
}

impl Module<'_> {
    /// Checks that C can say a step that is no kernel, and that its arrays have the bytes of what it reads and writes.
    ///
    /// # Errors
    ///
    /// It is no sort, or one of other arrays.
    pub(super) fn check_sort(&self, call: &Evaluate) -> Result<(), EmitError> {
        let op = call.op;
        let Some(Sorting {
            dtype,
            extents: [outer, extent, inner],
            kept,
            ..
        }) = call.sorting
        else {
            return Err(EmitError::NoC { op });
        };
        let (size, lines) = (dtype.size(), outer * inner);
        let expected = vec![lines * extent * size, lines * kept * size, lines * kept * 8];
        let regions = call.operands.iter().chain(&call.results);
        let found: Vec<usize> = regions.map(|region| region.bytes).collect();
        if found == expected && kept <= extent {
            return Ok(());
        }
        let subprogram = "sort".to_owned();
        Err(EmitError::Arrays {
            op,
            subprogram,
            found,
            expected,
        })
    }

    /// The memory that sorts need: keys and indices, twice as many as the most elements that are sorted together.
    pub(super) fn sort_memory(&self) -> String {
        let sorts = self.steps.iter().filter_map(|step| match step {
            Step::Evaluate(call) => call.sorting,
            Step::Call(_) | Step::Gather(_) | Step::Transfer(_) | Step::Control(_) => None,
        });
        let most = sorts
            .map(|Sorting { extents, .. }| 2 * extents[1].max(1))
            .max();
        most.map_or_else(String::new, |count| {
            let name = &self.name;
            format!(
                "\nstatic uint64_t {name}_keys[{count}];\nstatic int64_t {name}_indices[{count}];\n"
            )
        })
    }

    /// A sort of each line of elements.
    pub(super) fn sort(&self, call: &Evaluate, out: &mut String) {
        let Some(sorting) = call.sorting else {
            unreachable!("`check` refuses what has no C");
        };
        let Sorting {
            dtype,
            extents: [outer, extent, inner],
            kept,
            is_descending,
        } = sorting;
        let (name, size, lines) = (&self.name, dtype.size(), outer * inner);
        let [from, values, indices] = [call.operands[0], call.results[0], call.results[1]]
            .map(|region| self.address(&region));
        let (key, inner) = (key(dtype), inner.max(1));
        let direction = if is_descending { "~" } else { "" };
        let text = [
            format!("for (int64_t line = 0; line < INT64_C({lines}); ++line) {{"),
            format!("    const int64_t outer = line / {inner}, inner = line % {inner};"),
            format!(
                "    const unsigned char *const from = {from} + (outer * {extent} * {inner} + inner) * {size};"
            ),
            format!("    for (int64_t i = 0; i < INT64_C({extent}); ++i) {{"),
            format!(
                "        {name}_keys[i] = {direction}(uint64_t){key}(from + i * {inner} * {size});"
            ),
            format!("        {name}_indices[i] = i;"),
            "    }".to_owned(),
            format!("    mind_sort({name}_keys, {name}_indices, INT64_C({extent}));"),
            format!("    for (int64_t i = 0; i < INT64_C({kept}); ++i) {{"),
            format!("        const int64_t to = (outer * {kept} + i) * {inner} + inner;"),
            format!(
                "        memcpy({values} + to * {size}, from + {name}_indices[i] * {inner} * {size}, {size});"
            ),
            format!("        memcpy({indices} + to * 8, {name}_indices + i, 8);"),
            "    }".to_owned(),
            "}".to_owned(),
        ];
        for line in text {
            *out += &format!("    {line}\n");
        }
    }
}
