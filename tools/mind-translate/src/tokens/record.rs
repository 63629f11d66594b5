//! A module in the JSON form of the specification's instructions.

use mind_ir::attr::{Attr, Literal, Padding};
use mind_ir::opdef::Trait;
use mind_ir::tensor::Element;
use mind_ir::types::{DType, shape_text};
use mind_ir::{BlockId, Graph, OpId, ValueId, with_dtype};
use serde_json::{Map, Value, json};

/// Converts a module to an object with `operations` and `outputs`.
pub(super) fn module(g: &Graph) -> Value {
    json!({"operations": operations(g, g.body()), "outputs": labels(g, g.outputs())})
}

fn operations(g: &Graph, block: BlockId) -> Vec<Value> {
    let ops = g.ops(block).filter(|&op| !g.def(op).has(Trait::Terminator));
    ops.map(|op| operation(g, op)).collect()
}

fn operation(g: &Graph, op: OpId) -> Value {
    let def = g.def(op);
    let mut record = Map::new();
    let results: Vec<ValueId> = g.results(op).into_iter().collect();
    match results[..] {
        [result] => {
            record.insert("value_id".to_owned(), json!(g.label(result)));
            record.insert("result_type".to_owned(), json!(g.type_text(result)));
        }
        _ => {
            let types: Vec<String> = results.iter().map(|&value| g.type_text(value)).collect();
            record.insert("value_ids".to_owned(), json!(labels(g, &results)));
            record.insert("result_types".to_owned(), json!(types));
        }
    }
    record.insert(
        "opcode".to_owned(),
        json!(def.names.core.unwrap_or(def.name)),
    );
    record.insert("operands".to_owned(), json!(labels(g, g.operands(op))));
    let rows = g.attrs(op).iter().zip(def.attrs);
    let said = rows.filter(|(attr, row)| row.default.as_ref() != Some(*attr));
    let attributes: Map<String, Value> = said
        .map(|(attr, row)| (row.name.to_owned(), attribute(g, attr)))
        .collect();
    record.insert("attributes".to_owned(), Value::Object(attributes));
    for &region in g.regions(op) {
        let block = g.block(region);
        let arguments: Vec<ValueId> = g.arguments(block).into_iter().collect();
        let yields = g
            .terminator(block)
            .map_or(Vec::new(), |end| labels(g, g.operands(end)));
        let body = json!({"arguments": labels(g, &arguments), "operations": operations(g, block), "outputs": yields});
        record.insert("body".to_owned(), body);
    }
    Value::Object(record)
}

fn labels(g: &Graph, values: &[ValueId]) -> Vec<u64> {
    values.iter().map(|&value| g.label(value)).collect()
}

fn attribute(g: &Graph, attr: &Attr<'_>) -> Value {
    match *attr {
        Attr::Int(value) => json!(value),
        Attr::Bool(value) => json!(value),
        Attr::DType(dtype) => json!(dtype.name()),
        Attr::Word(word) => json!(word),
        Attr::Float(bits) => json!(f64::from_bits(bits)),
        Attr::Str(sym) => json!(g.name(sym)),
        Attr::Ints(list) => json!(list),
        Attr::Dims(list) => json!(shape_text(list, g.symbols())),
        Attr::Padding(Padding::Valid) => json!("valid"),
        Attr::Padding(Padding::Same) => json!("same"),
        Attr::Padding(Padding::Custom(pads)) => json!(pads),
        Attr::Literal(literal) => elements(literal),
    }
}

fn elements(literal: &Literal<'_>) -> Value {
    let values: Vec<Value> = match literal.dtype {
        DType::Bool => bool::read(literal.bytes)
            .into_iter()
            .map(Value::Bool)
            .collect(),
        dtype => with_dtype!(dtype, T => {
            let elements = <T as Element>::read(literal.bytes);
            elements.iter().map(|element| json!(element.to_string())).collect()
        }),
    };
    let numbers = values.into_iter().map(|value| {
        match value.as_str().and_then(|text| text.parse::<f64>().ok()) {
            Some(number) if number.is_finite() => json!(number),
            _ => value,
        }
    });
    Value::Array(numbers.collect())
}
