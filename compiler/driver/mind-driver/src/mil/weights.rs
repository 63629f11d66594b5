//! Reads the weight files of MIL programs.

use std::path::{Path, PathBuf};

use mind_coreml::blob;
use mind_diag::{Code, Diagnostic, Diagnostics};
use mind_ir::attr::{Attr, Literal};
use mind_ir::opdef::Op;
use mind_ir::{Graph, OpId};
use mind_mil::Element;
use mind_mil::structure::Const;

use crate::host::FileSystem;

const DATA: usize = Const::DEF.attr_position("data");

/// Reads the data of every constant of `g` that is stored in a weight file, relative to the folder of `module`.
///
/// # Errors
///
/// Errors with E4115 if a path leaves the folder, a file cannot be read, or the file does not hold such data at the
/// offset.
pub fn read(g: &mut Graph, module: &str, host: &mut dyn FileSystem) -> Result<(), Diagnostics> {
    let folder = match module {
        "-" => PathBuf::new(),
        module => Path::new(module)
            .parent()
            .map(Path::to_owned)
            .unwrap_or_default(),
    };
    let unread = |op: &OpId| {
        g.view::<Const>(*op)
            .is_some_and(|constant| constant.is_unread(g))
    };
    let ops: Vec<OpId> = g.walk().filter(unread).collect();
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let mut found = Diagnostics::new();
    for op in ops {
        if let Err(problem) = constant(g, op, &folder, host, &mut files) {
            let path = g.view::<Const>(op).map_or("", |own| g.name(own.path(g)));
            let message = format!("the weights in `{path}` cannot be read: {problem}");
            let error = Diagnostic::error(g.span(op), message).code(Code(4115));
            found.push(error.help(
                "the path is relative to the model's folder, which is written `@model_path`",
            ));
        }
    }
    if found.has_errors() {
        Err(found)
    } else {
        Ok(())
    }
}

fn constant(
    g: &mut Graph,
    op: OpId,
    folder: &Path,
    host: &mut dyn FileSystem,
    files: &mut Vec<(String, Vec<u8>)>,
) -> Result<(), String> {
    let Some(own) = g.view::<Const>(op) else {
        return Ok(());
    };
    let (path, offset) = (g.name(own.path(g)).to_owned(), own.offset(g));
    let element = own.element_type(g).ok_or("its element type is not known")?;
    let count = g.ty(g.result(op)).count().ok_or("its shape is not known")? as u64;
    if !files.iter().any(|(name, _)| *name == path) {
        let below = inside(&path).ok_or("the path leads out of the model's folder")?;
        let bytes = host
            .read_below(folder, Path::new(below), u64::MAX)
            .map_err(|error| error.to_string())?;
        files.push((path.clone(), bytes));
    }
    let file = files
        .iter()
        .find(|(name, _)| *name == path)
        .map(|(_, bytes)| bytes.as_slice());
    let file = file.unwrap_or_default();
    let bits = count
        .checked_mul(u64::from(element.bits()))
        .ok_or("it is too large")?;
    let data = blob::read(
        file,
        offset.try_into().map_err(|_| "its offset is negative")?,
        element,
        bits.div_ceil(8),
    );
    let data = data.map_err(|error| error.to_string())?;
    let bytes = carried(data, element, count as usize);
    let literal = Literal {
        dtype: element.carrier(),
        count: Some(count as usize),
        bytes: &bytes,
    };
    g.set_attr(op, DATA, Attr::Literal(&literal));
    Ok(())
}

/// Returns a path relative to the model's folder; `None` if it leaves the folder.
fn inside(path: &str) -> Option<&str> {
    let below = path.strip_prefix("@model_path/").unwrap_or(path);
    let leaves =
        below.contains(['\\', ':']) || below.split('/').any(|part| matches!(part, "" | "." | ".."));
    (!leaves).then_some(below)
}

/// Converts elements from the file to the dtype that carries them: unpacks sub-byte elements and sign-extends `int4`.
fn carried(data: &[u8], element: Element, count: usize) -> Vec<u8> {
    let bits = element.bits() as usize;
    if bits >= 8 {
        let mut bytes = data.to_vec();
        if cfg!(target_endian = "big") {
            bytes.chunks_mut(bits / 8).for_each(<[u8]>::reverse);
        }
        return bytes;
    }
    let bit = |place: usize| data[place / 8] >> (place % 8) & 1;
    let value = |at: usize| (0..bits).fold(0u8, |value, own| value | bit(at * bits + own) << own);
    let signed = |value: u8| match element {
        Element::Int4 if value >= 8 => value | 0xf0,
        _ => value,
    };
    let elements: Vec<u8> = (0..count).map(|at| signed(value(at))).collect();
    elements
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_in_the_folder() {
        assert_eq!(
            inside("@model_path/weights/weight.bin"),
            Some("weights/weight.bin")
        );
        for path in [
            "../w.bin",
            "/w.bin",
            "a/../../w.bin",
            "c:/w.bin",
            "a\\..\\w",
            "",
            "@model_path//w",
        ] {
            assert_eq!(inside(path), None, "{path}");
        }
    }

    #[test]
    fn narrow_elements_come_lowest_bits_first() {
        assert_eq!(carried(&[0b1000_0111], Element::Int4, 2), [7, 0xf8]);
        assert_eq!(carried(&[0b0000_0101], Element::Uint1, 3), [1, 0, 1]);
    }
}
