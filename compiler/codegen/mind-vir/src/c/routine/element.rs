//! Elements of any dtype in memory, as expressions.

use mind_ir::types::DType;

use crate::program::IndexType;

/// Returns the type of computations: for floats that of their accumulator, for integers one that holds all of them.
pub(super) const fn c_type(dtype: DType) -> &'static str {
    match dtype {
        DType::F16 | DType::BF16 | DType::F32 => "float",
        DType::F64 => "double",
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => "int64_t",
        DType::U8 | DType::U16 | DType::U32 | DType::U64 | DType::Bool => "uint64_t",
    }
}

/// An expression for the element at `at`.
pub(super) fn read(dtype: DType, at: &str) -> String {
    match dtype {
        DType::F16 => format!("mind_half_to_f32(mind_load_u16({at}))"),
        DType::BF16 => format!("mind_f32((uint32_t)mind_load_u16({at}) << 16)"),
        DType::F32 => format!("mind_load_f32({at})"),
        DType::F64 => format!("mind_load_f64({at})"),
        DType::I8 => format!("(int8_t)mind_load_u8({at})"),
        DType::I16 => format!("(int16_t)mind_load_u16({at})"),
        DType::I32 => format!("(int32_t)mind_load_u32({at})"),
        DType::I64 => format!("(int64_t)mind_load_u64({at})"),
        DType::U8 | DType::Bool => format!("mind_load_u8({at})"),
        DType::U16 => format!("mind_load_u16({at})"),
        DType::U32 => format!("mind_load_u32({at})"),
        DType::U64 => format!("mind_load_u64({at})"),
    }
}

/// A statement that stores `x`, rounded or wrapped, to `at`.
pub(super) fn write(dtype: DType, at: &str, x: &str) -> String {
    match dtype {
        DType::F16 => format!("mind_store_u16({at}, mind_f32_to_half({x}));"),
        DType::BF16 => format!("mind_store_u16({at}, mind_f32_to_bf16({x}));"),
        DType::F32 => format!("mind_store_f32({at}, (float)({x}));"),
        DType::F64 => format!("mind_store_f64({at}, {x});"),
        DType::I8 | DType::U8 => format!("mind_store_u8({at}, (uint8_t)({x}));"),
        DType::I16 | DType::U16 => format!("mind_store_u16({at}, (uint16_t)({x}));"),
        DType::I32 | DType::U32 => format!("mind_store_u32({at}, (uint32_t)({x}));"),
        DType::I64 | DType::U64 => format!("mind_store_u64({at}, (uint64_t)({x}));"),
        DType::Bool => format!("mind_store_u8({at}, ({x}) != 0);"),
    }
}

/// An expression for the index at `at`.
pub(super) fn index(index: IndexType, at: &str) -> String {
    match index {
        IndexType::I32 => read(DType::I32, at),
        IndexType::I64 => read(DType::I64, at),
    }
}

/// Returns the name of the function that computes the sort key of an element.
pub(super) const fn key(dtype: DType) -> &'static str {
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
