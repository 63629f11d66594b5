//! External data: elements of tensors in other files than the model.

use mind_convert::Refusal;
use mind_diag::Code;
use prost::Message;
use prost::bytes::Bytes;
use rustc_hash::FxHashMap;

use crate::proto::{StringStringEntryProto, TensorProto};

/// The contents of external files by the names in the model, or why they could not be opened.
pub type Files = FxHashMap<String, Result<Bytes, String>>;

/// Returns the names of the external files of a model, relative to its folder, without duplicates. Names that lead out
/// of the folder are dropped, because reading the model refuses their tensors anyway.
pub fn files(model: &[u8]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let Ok(model) = ModelOutline::decode(model) else {
        return names;
    };
    let mut graphs: Vec<&GraphOutline> = model.graph.iter().collect();
    let functions = model.functions.iter();
    let mut nodes: Vec<&NodeOutline> = functions.flat_map(|own| &own.node).collect();
    while !graphs.is_empty() || !nodes.is_empty() {
        let mut tensors = Vec::new();
        for graph in graphs.drain(..) {
            tensors.extend(&graph.initializer);
            nodes.extend(&graph.node);
        }
        for attribute in nodes.drain(..).flat_map(|node| &node.attribute) {
            tensors.extend(&attribute.t);
            graphs.extend(&attribute.g);
        }
        for tensor in tensors {
            match Range::of(&tensor.external_data) {
                Ok(own) if !names.iter().any(|name| name == own.file) => {
                    names.push(own.file.to_owned());
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
    names
}

/// A partial decoding of the model that finds external files without copying elements.
#[derive(Clone, PartialEq, Message)]
struct ModelOutline {
    #[prost(message, optional, tag = "7")]
    graph: Option<GraphOutline>,
    #[prost(message, repeated, tag = "25")]
    functions: Vec<FunctionOutline>,
}

#[derive(Clone, PartialEq, Message)]
struct GraphOutline {
    #[prost(message, repeated, tag = "1")]
    node: Vec<NodeOutline>,
    #[prost(message, repeated, tag = "5")]
    initializer: Vec<TensorOutline>,
}

#[derive(Clone, PartialEq, Message)]
struct FunctionOutline {
    #[prost(message, repeated, tag = "7")]
    node: Vec<NodeOutline>,
}

#[derive(Clone, PartialEq, Message)]
struct NodeOutline {
    #[prost(message, repeated, tag = "5")]
    attribute: Vec<AttributeOutline>,
}

#[derive(Clone, PartialEq, Message)]
struct AttributeOutline {
    #[prost(message, optional, tag = "5")]
    t: Option<TensorOutline>,
    #[prost(message, optional, tag = "6")]
    g: Option<GraphOutline>,
}

#[derive(Clone, PartialEq, Message)]
struct TensorOutline {
    #[prost(message, repeated, tag = "13")]
    external_data: Vec<StringStringEntryProto>,
}

/// Returns whether the elements of a tensor are in an external file.
pub(crate) fn is_external(tensor: &TensorProto) -> bool {
    tensor.data_location == EXTERNAL || !tensor.external_data.is_empty()
}

const EXTERNAL: i32 = 1;

/// A range of a file.
struct Range<'a> {
    file: &'a str,
    offset: u64,
    /// `None` extends the range to the end of the file.
    length: Option<u64>,
}

impl Range<'_> {
    fn of(entries: &[StringStringEntryProto]) -> Result<Range<'_>, Refusal> {
        let get = |key: &str| {
            let mut entries = entries.iter();
            entries.find(|own| own.key == key).map(|own| &own.value[..])
        };
        let number = |key: &str| match get(key) {
            None => Ok(None),
            Some(text) => text.parse::<u64>().map(Some).map_err(|_| {
                Refusal::new(
                    Code(4115),
                    format!("the {key} of its elements is \"{text}\", expected a number of bytes"),
                )
            }),
        };
        let file = get("location").unwrap_or_default();
        if leaves(file) {
            return Err(Refusal::new(
                Code(4115),
                format!("its elements are in \"{file}\", expected a path below the model's folder"),
            ));
        }
        Ok(Range {
            file,
            offset: number("offset")?.unwrap_or(0),
            length: number("length")?,
        })
    }
}

/// Returns whether a path may lead out of the folder on any operating system.
fn leaves(path: &str) -> bool {
    path.contains(['\\', ':', '\0']) || path.split('/').any(|part| matches!(part, "" | "." | ".."))
}

/// Returns the `wanted` bytes of a tensor from an external file.
///
/// # Errors
///
/// A path that leads out of the folder, a missing file, or a range that is out of bounds or has another length.
pub(crate) fn external(tensor: &TensorProto, wanted: u64, files: &Files) -> Result<Bytes, Refusal> {
    let range = Range::of(&tensor.external_data)?;
    let name = range.file;
    let file = match files.get(name) {
        Some(Ok(file)) => file,
        Some(Err(why)) => {
            let message = format!("its elements are in `{name}`: {why}");
            return Err(Refusal::new(Code(4115), message));
        }
        None => {
            let message = format!("its elements are in `{name}`, which is not given");
            return Err(Refusal::new(Code(4115), message));
        }
    };
    let (offset, length) = (range.offset, range.length.unwrap_or(wanted));
    let end = offset.checked_add(length);
    let Some(end) = end.filter(|end| *end <= file.len() as u64) else {
        let size = file.len();
        return Err(Refusal::new(
            Code(4115),
            format!(
                "its elements are {length} bytes from {offset} on in `{name}`, which has {size}"
            ),
        ));
    };
    Ok(file.slice(offset as usize..end as usize))
}
