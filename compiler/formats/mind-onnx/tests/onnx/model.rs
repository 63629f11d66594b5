//! Helpers that build models.

use mind_diag::Diagnostics;
use mind_ir::Graph;
use mind_ir::opdef::Registry;
use mind_onnx::proto::{
    AttributeProto, AttributeType, DimensionProto, FunctionProto, GraphProto, ModelProto,
    NodeProto, OperatorSetIdProto, TensorProto, TensorShapeProto, TensorTypeProto, TypeProto,
    ValueInfoProto, dimension,
};
use mind_onnx::{ImportOptions, read};
use mind_text::core::Syntax;
use prost::Message;

pub const FLOAT: i32 = 1;
pub const UINT8: i32 = 2;
pub const INT32: i32 = 6;
pub const INT64: i32 = 7;
pub const BOOL: i32 = 9;

/// A fixed or named dimension.
pub enum Dim {
    Of(i64),
    Named(&'static str),
}

pub fn value(name: &str, element: i32, dims: &[Dim]) -> ValueInfoProto {
    let dims = dims.iter().map(|dim| DimensionProto {
        value: Some(match dim {
            Dim::Of(extent) => dimension::Value::DimValue(*extent),
            Dim::Named(name) => dimension::Value::DimParam((*name).to_owned()),
        }),
    });
    let shape = Some(TensorShapeProto {
        dim: dims.collect(),
    });
    let tensor_type = Some(TensorTypeProto {
        elem_type: element,
        shape,
    });
    ValueInfoProto {
        name: name.to_owned(),
        r#type: Some(TypeProto {
            tensor_type,
            ..TypeProto::default()
        }),
        doc_string: String::new(),
    }
}

pub fn floats(name: &str, dims: &[i64], elements: &[f32]) -> TensorProto {
    TensorProto {
        name: name.to_owned(),
        data_type: FLOAT,
        dims: dims.to_vec(),
        float_data: elements.to_vec(),
        ..TensorProto::default()
    }
}

pub fn ints(name: &str, dims: &[i64], elements: &[i64]) -> TensorProto {
    TensorProto {
        name: name.to_owned(),
        data_type: INT64,
        dims: dims.to_vec(),
        int64_data: elements.to_vec(),
        ..TensorProto::default()
    }
}

/// Returns a node `output, .. = Operator(input, ..)` with attributes.
pub fn node(text: &str, attribute: Vec<AttributeProto>) -> NodeProto {
    let (outputs, call) = text.split_once(" = ").expect("results");
    let (operator, inputs) = call.trim_end_matches(')').split_once('(').expect("inputs");
    let list = |text: &str| text.split(", ").map(str::to_owned).collect::<Vec<_>>();
    NodeProto {
        output: list(outputs),
        op_type: operator.to_owned(),
        input: if inputs.is_empty() {
            Vec::new()
        } else {
            list(inputs)
        },
        attribute,
        ..NodeProto::default()
    }
}

fn attribute(name: &str, kind: AttributeType) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        r#type: kind as i32,
        ..AttributeProto::default()
    }
}

pub fn int(name: &str, i: i64) -> AttributeProto {
    AttributeProto {
        i,
        ..attribute(name, AttributeType::Int)
    }
}

pub fn word(name: &str, text: &'static str) -> AttributeProto {
    AttributeProto {
        s: text.as_bytes().into(),
        ..attribute(name, AttributeType::String)
    }
}

pub fn words(name: &str, words: &[&'static str]) -> AttributeProto {
    let words = words.iter().map(|own| own.as_bytes().into());
    AttributeProto {
        strings: words.collect(),
        ..attribute(name, AttributeType::Strings)
    }
}

pub fn reals(name: &str, floats: &[f32]) -> AttributeProto {
    AttributeProto {
        floats: floats.to_vec(),
        ..attribute(name, AttributeType::Floats)
    }
}

pub fn list(name: &str, ints: &[i64]) -> AttributeProto {
    AttributeProto {
        ints: ints.to_vec(),
        ..attribute(name, AttributeType::Ints)
    }
}

pub fn graph_of(name: &str, graph: GraphProto) -> AttributeProto {
    AttributeProto {
        g: Some(graph),
        ..attribute(name, AttributeType::Graph)
    }
}

/// Returns an attribute that refers to an attribute of the function's call.
pub fn passed(name: &str, from: &str, kind: AttributeType) -> AttributeProto {
    AttributeProto {
        ref_attr_name: from.to_owned(),
        ..attribute(name, kind)
    }
}

pub fn graph(
    input: Vec<ValueInfoProto>,
    initializer: Vec<TensorProto>,
    node: Vec<NodeProto>,
    outputs: &[&str],
) -> GraphProto {
    let output = outputs.iter().map(|name| ValueInfoProto {
        name: (*name).to_owned(),
        r#type: None,
        doc_string: String::new(),
    });
    GraphProto {
        value_info: Vec::new(),
        name: "g".to_owned(),
        input,
        initializer,
        node,
        output: output.collect(),
        sparse_initializer: Vec::new(),
    }
}

pub fn opset(version: i64) -> OperatorSetIdProto {
    OperatorSetIdProto {
        domain: String::new(),
        version,
    }
}

/// Returns a model of opset 17.
pub fn model(graph: GraphProto) -> ModelProto {
    with_functions(graph, Vec::new())
}

pub fn with_functions(graph: GraphProto, functions: Vec<FunctionProto>) -> ModelProto {
    let own = OperatorSetIdProto {
        domain: "own".to_owned(),
        version: 1,
    };
    ModelProto {
        ir_version: 8,
        producer_name: "test".to_owned(),
        graph: Some(graph),
        opset_import: vec![opset(17), own],
        functions,
        ..ModelProto::default()
    }
}

pub fn imported(model: &ModelProto) -> Result<Graph, Diagnostics> {
    read(model.encode_to_vec().into(), &ImportOptions::default())
}

/// Returns the Core text of an imported model.
pub fn text(model: &ModelProto) -> String {
    let graph = imported(model).unwrap_or_else(|found| panic!("{}", messages(&found)));
    printed(&graph)
}

/// Returns the Core text of a module.
pub fn printed(graph: &Graph) -> String {
    let registry = Registry::with([mind_ir::builtin::DIALECT, mind_core::DIALECT]);
    Syntax::new(&registry).print(graph).expect("a module")
}

/// Returns the diagnostics of a model, one per line.
pub fn problems(model: &ModelProto) -> String {
    match imported(model) {
        Ok(_) => panic!("the model is read"),
        Err(found) => messages(&found),
    }
}

fn messages(found: &Diagnostics) -> String {
    let messages = found.iter().map(|own| own.message.clone());
    messages.collect::<Vec<_>>().join("\n")
}
