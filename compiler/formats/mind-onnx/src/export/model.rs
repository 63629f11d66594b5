//! Encodes a model, with a unique name for each value.

use mind_diag::{Code, Diagnostic, Diagnostics, Span};
use mind_ir::Graph;
use mind_ir::types::{Dim, TypeView};
use prost::Message;
use prost::bytes::Bytes;
use rustc_hash::{FxHashMap, FxHashSet};

use super::draft::{AttrDraft, Callee, GraphDraft, NodeDraft, Val};
use super::emit::Emit;
use super::functions::IR_VERSION;
use super::kernels;
use super::options::{ExportOptions, Exported};
use crate::interface;
use crate::operators::OWN;
use crate::proto::{
    AttributeProto, AttributeType, DimensionProto, GraphProto, ModelProto, NodeProto,
    OperatorSetIdProto, StringStringEntryProto, TensorProto, TensorShapeProto, TensorTypeProto,
    TypeProto, ValueInfoProto, dimension,
};
use crate::tensor::{Constant, element_type};

/// The first version of the format that supports each version of the operator set.
const IR_VERSIONS: &[(i64, i64)] = &[
    (13, 7),
    (15, 8),
    (19, 9),
    (21, 10),
    (23, 11),
    (24, 12),
    (25, 13),
];

/// Minimum size in bytes of constants in the external file, if there is one.
const EXTERNAL_BYTES: usize = 1 << 10;

/// Alignment of constants in the external file.
const ALIGNMENT: usize = 64;

/// Maximum size in bytes of a protobuf file.
const MODEL_LIMIT: usize = i32::MAX as usize;

/// Returns the message for the type of a value.
pub(super) fn type_proto(g: &Graph, ty: TypeView<'_>) -> TypeProto {
    let dims = ty.shape.iter().map(|&dim| DimensionProto {
        value: match dim {
            Dim::Fixed(extent) => Some(dimension::Value::DimValue(extent)),
            Dim::Symbol(symbol) => Some(dimension::Value::DimParam(g.name(symbol).to_owned())),
            Dim::Dynamic => None,
        },
    });
    let shape = TensorShapeProto {
        dim: dims.collect(),
    };
    TypeProto {
        tensor_type: Some(TensorTypeProto {
            elem_type: element_type(ty.dtype),
            shape: Some(shape),
        }),
        ..TypeProto::default()
    }
}

/// Returns the message for a tensor.
fn stored(constant: Constant) -> TensorProto {
    TensorProto {
        dims: constant.shape.iter().map(|&extent| extent as i64).collect(),
        data_type: element_type(constant.dtype),
        raw_data: constant.bytes,
        ..TensorProto::default()
    }
}

/// Returns the files of a model.
///
/// # Errors
///
/// If the model exceeds the size limit of the format.
pub(super) fn assembled(
    e: Emit<'_>,
    graph: GraphDraft,
    options: &ExportOptions,
) -> Result<Exported, Diagnostics> {
    let notes = kernels::notes(&e.without_kernel);
    let mut names = Names::new(e.names);
    let mut graph = names.graph(graph);
    "module".clone_into(&mut graph.name);
    let mut data = options.data_file.as_ref().map(|file| Beside {
        file,
        bytes: Vec::new(),
    });
    for (own, constant) in e.initialisers {
        let mut tensor = match &mut data {
            Some(data) if constant.bytes.len() >= EXTERNAL_BYTES => data.stored(&constant),
            _ => stored(constant),
        };
        names.of(own).clone_into(&mut tensor.name);
        graph.initializer.push(tensor);
    }
    let mut functions = e.functions;
    functions.sort_by_key(|function| function.name);
    let set = |domain: &str, version| OperatorSetIdProto {
        domain: domain.to_owned(),
        version,
    };
    let mut opset_import = vec![set("", options.opset)];
    let mut versions = IR_VERSIONS.iter().rev();
    let ir_version = versions.find(|(opset, _)| *opset <= options.opset);
    let mut ir_version = ir_version.map_or(0, |own| own.1);
    if !functions.is_empty() {
        opset_import.push(set(OWN, 1));
        ir_version = ir_version.max(IR_VERSION);
    }
    let mut model = ModelProto {
        ir_version,
        producer_name: "mind-opt".to_owned(),
        graph: Some(graph),
        opset_import,
        functions: functions
            .iter()
            .map(|function| function.proto(options.opset))
            .collect(),
        ..ModelProto::default()
    };
    interface::describe(e.g, &mut model);
    let size = model.encoded_len();
    if size > MODEL_LIMIT {
        let message = format!(
            "the model has {size} bytes, expected at most {MODEL_LIMIT}, which a file of ONNX holds; `--external-data` \
             writes the weights to a file beside it"
        );
        return Err(Diagnostic::error(Span::FILE, message)
            .code(Code(6004))
            .into());
    }
    Ok(Exported {
        model: model.encode_to_vec(),
        data: data.map(|data| data.bytes),
        notes,
    })
}

/// The external data file.
struct Beside<'a> {
    file: &'a str,
    bytes: Vec<u8>,
}

impl Beside<'_> {
    fn stored(&mut self, constant: &Constant) -> TensorProto {
        let start = self.bytes.len().next_multiple_of(ALIGNMENT);
        self.bytes.resize(start, 0);
        self.bytes.extend_from_slice(&constant.bytes);
        let entry = |key: &str, value: String| StringStringEntryProto {
            key: key.to_owned(),
            value,
        };
        let empty = Constant {
            bytes: Bytes::new(),
            ..constant.clone()
        };
        TensorProto {
            external_data: vec![
                entry("location", self.file.to_owned()),
                entry("offset", start.to_string()),
                entry("length", constant.bytes.len().to_string()),
            ],
            data_location: 1,
            ..stored(empty)
        }
    }
}

/// Assigns unique names.
struct Names {
    wanted: Vec<String>,
    given: Vec<Option<String>>,
    taken: FxHashSet<String>,
    /// The last suffix of each name that was requested repeatedly.
    numbers: FxHashMap<String, usize>,
}

impl Names {
    fn new(wanted: Vec<String>) -> Names {
        Names {
            given: vec![None; wanted.len()],
            wanted,
            taken: FxHashSet::default(),
            numbers: FxHashMap::default(),
        }
    }

    /// Returns the name of a value: the preferred one, with a numeric suffix if that is taken.
    fn of(&mut self, own: Val) -> &str {
        let at = own.index();
        if self.given[at].is_none() {
            let name = self.free(at);
            self.given[at] = Some(name);
        }
        self.given[at].as_deref().unwrap_or_default()
    }

    fn free(&mut self, at: usize) -> String {
        // An empty name would denote an omitted input.
        let wanted = match &self.wanted[at][..] {
            "" => "v",
            wanted => wanted,
        };
        if self.taken.insert(wanted.to_owned()) {
            return wanted.to_owned();
        }
        let number = self.numbers.entry(wanted.to_owned()).or_default();
        loop {
            *number += 1;
            let name = format!("{wanted}_{number}");
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }

    fn optional(&mut self, own: Option<Val>) -> String {
        own.map_or(String::new(), |own| self.of(own).to_owned())
    }

    fn info(&mut self, own: Val, ty: Option<TypeProto>) -> ValueInfoProto {
        ValueInfoProto {
            name: self.of(own).to_owned(),
            r#type: ty,
            doc_string: String::new(),
        }
    }

    fn graph(&mut self, draft: GraphDraft) -> GraphProto {
        // Inputs and outputs are named first, so that they keep their names.
        let inputs = draft.inputs.into_iter();
        let input = inputs.map(|(own, ty)| self.info(own, Some(ty))).collect();
        let outputs = draft.outputs.into_iter();
        let output = outputs.map(|(own, ty)| self.info(own, ty)).collect();
        let nodes = draft.nodes.into_iter();
        GraphProto {
            name: "graph".to_owned(),
            input,
            output,
            node: nodes.map(|node| self.node(node)).collect(),
            ..GraphProto::default()
        }
    }

    fn node(&mut self, draft: NodeDraft) -> NodeProto {
        let input = draft.inputs.iter().map(|&own| self.optional(own)).collect();
        let output: Vec<String> = draft
            .outputs
            .iter()
            .map(|&own| self.optional(own))
            .collect();
        let attrs = draft.attrs.into_iter();
        NodeProto {
            name: output.first().cloned().unwrap_or_default(),
            input,
            output,
            op_type: draft.callee.name().to_owned(),
            domain: match draft.callee {
                Callee::Operator(_) => String::new(),
                Callee::Function(_) => OWN.to_owned(),
            },
            attribute: attrs.map(|(name, own)| self.attribute(name, own)).collect(),
        }
    }

    fn attribute(&mut self, name: &str, draft: AttrDraft) -> AttributeProto {
        let kind = |kind: AttributeType| AttributeProto {
            name: name.to_owned(),
            r#type: kind as i32,
            ..AttributeProto::default()
        };
        match draft {
            AttrDraft::Int(i) => AttributeProto {
                i,
                ..kind(AttributeType::Int)
            },
            AttrDraft::Float(f) => AttributeProto {
                f,
                ..kind(AttributeType::Float)
            },
            AttrDraft::Word(word) => AttributeProto {
                s: word.into_bytes().into(),
                ..kind(AttributeType::String)
            },
            AttrDraft::Ints(ints) => AttributeProto {
                ints,
                ..kind(AttributeType::Ints)
            },
            AttrDraft::Graph(graph) => AttributeProto {
                g: Some(self.graph(graph)),
                ..kind(AttributeType::Graph)
            },
        }
    }
}
