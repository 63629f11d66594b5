//! Results whose extents are data, as C statements.

use super::Arrays;
use super::block::{Block, sum};
use super::element::{index, write as stored};
use crate::program::{Elements, Extents, Stop};
use mind_ir::types::DType;

/// Writes a check of the extents, then the elements.
pub(super) fn write(extents: &Extents, (read, written): Arrays<'_>, block: &mut Block<'_>) {
    let given = read.last().expect("a checked step reads extents");
    for (at, extent) in extents.extents.iter().enumerate() {
        let own = format!("{given} + {}", at * extents.index.size());
        let own = index(extents.index, &own);
        refuse_if(&format!("{own} != INT64_C({extent})"), block);
    }
    let result = &written[0];
    match &extents.elements {
        Elements::Same { count, size } => {
            let wanted = extents.count();
            if *count != wanted {
                refuse_if(&format!("INT64_C({count}) != INT64_C({wanted})"), block);
            }
            let bytes = wanted.min(*count) * size;
            block.line(format_args!("memcpy({result}, {}, {bytes});", read[0]));
        }
        Elements::Stretched { size, strides, .. } => {
            let from = |names: &[String]| {
                let terms = names.iter().zip(strides);
                sum(terms.map(|(name, &stride)| (name.as_str(), stride)))
            };
            each(extents, block, |names| {
                let from = from(names);
                format!(
                    "memcpy({result} + n * {size}, {} + ({from}) * {size}, {size});",
                    read[0]
                )
            });
        }
        Elements::Indices { dtype, axis } => {
            let to = format!("{result} + n * {}", dtype.size());
            each(extents, block, |names| indexed(*dtype, &to, &names[*axis]));
        }
    }
}

/// Writes a return that is taken if `condition` holds.
fn refuse_if(condition: &str, block: &mut Block<'_>) {
    block.open(format_args!("if ({condition}) {{"));
    block.line(format_args!(
        "return (int)(status | {});",
        Stop::OTHER_EXTENTS
    ));
    block.close(1);
}

/// Writes a statement for each element; `n` is its number.
fn each(extents: &Extents, block: &mut Block<'_>, statement: impl FnOnce(&[String]) -> String) {
    let rank = extents.extents.len();
    let names: Vec<String> = (0..rank).map(|at| format!("i{at}")).collect();
    block.open("{");
    block.line("int64_t n = 0;");
    for (name, &extent) in names.iter().zip(&extents.extents) {
        block.count(name, extent);
    }
    block.line(statement(&names));
    block.line("++n;");
    block.close(rank + 1);
}

/// Returns the statement that stores the index `at`, rounded only once.
fn indexed(dtype: DType, to: &str, at: &str) -> String {
    match dtype {
        // An index too large for f16 becomes infinite there; smaller ones are exact in f32.
        DType::F16 | DType::F32 => stored(dtype, to, &format!("(float){at}")),
        DType::BF16 => stored(dtype, to, &format!("mind_odd_f32((double){at})")),
        DType::F64 => stored(dtype, to, &format!("(double){at}")),
        DType::I8 | DType::I16 | DType::I32 | DType::I64 | DType::Bool => stored(dtype, to, at),
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => stored(dtype, to, at),
    }
}
