//! The model as a message.

use std::collections::BTreeMap;

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_ir::attr::Attr;
use mind_ir::graph::Graph;
use mind_ir::opdef::Trait;
use mind_ir::{BlockId, OpId, ValueId};
use mind_mil::call::{NAME, argument_names, element_of, is_state, written_arguments};
use mind_mil::check::name_of;
use mind_mil::ops;
use mind_mil::structure::{Const, Func, Input, Program as ProgramOp, program};
use mind_mil::{Element, Opset};
use prost::Message;

use crate::blob::Writer;
use crate::manifest::manifest;
use crate::proto::{
    Argument, ArrayFeatureType, Binding, BindingKind, Block, FeatureDescription, FeatureType,
    Function, Model, ModelDescription, NamedValueType, Operation, Program, StateFeatureType,
    StateType, Value, ValueType, ValueTypeKind, feature_type,
};
use crate::value::{constant, tensor_type, text};

/// The files of a package.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Package {
    /// `Manifest.json`.
    pub manifest: String,
    /// `Data/com.apple.CoreML/model.mlmodel`.
    pub model: Vec<u8>,
    /// `Data/com.apple.CoreML/weights/weight.bin`.
    pub weights: Vec<u8>,
}

/// The package of a program of the mil dialect that verified and whose values have names.
///
/// Errors: several functions, a type that a package's description lacks, weights that were not read.
pub fn package(g: &Graph) -> Result<Package, Diagnostics> {
    let mut writer = ModelWriter {
        g,
        weights: Writer::new(),
        found: Diagnostics::new(),
        specification: 0,
    };
    let model = writer.model();
    if writer.found.has_errors() {
        return Err(writer.found);
    }
    let (model, weights) = (model.encode_to_vec(), writer.weights.finish());
    Ok(Package {
        manifest: manifest(&model, &weights),
        model,
        weights,
    })
}

struct ModelWriter<'g> {
    g: &'g Graph,
    weights: Writer,
    found: Diagnostics,
    specification: i32,
}

impl ModelWriter<'_> {
    fn refuse(&mut self, span: Span, message: String, help: &str) {
        self.found.push(Diagnostic::error(span, message).help(help));
    }

    fn model(&mut self) -> Model {
        let g = self.g;
        let Some(header) = program(g) else {
            self.refuse(
                Span::FILE,
                "this module is no program of MIL".to_owned(),
                "`--lower-to-mil` makes one",
            );
            return Model::default();
        };
        if let Some(func) = g.ops(g.body()).find(|&op| g.is::<Func>(op)) {
            let message = "a package of several functions is not written".to_owned();
            self.refuse(
                g.span(func),
                message,
                "write each function as a package of its own",
            );
        }
        let opset = Opset::parse(g.name(header.opset(g))).unwrap_or(Opset::DEFAULT);
        self.specification = opset.specification();
        let inputs: Vec<ValueId> = g
            .ops(g.body())
            .filter(|&op| g.is::<Input>(op))
            .map(|op| g.result(op))
            .collect();
        let outputs = g.outputs().to_vec();
        let (states, arrays): (Vec<ValueId>, Vec<ValueId>) =
            inputs.iter().partition(|&&value| is_state(g, value));
        let description = ModelDescription {
            input: self.features(&arrays),
            output: self.features(&outputs),
            state: self.features(&states),
        };
        let block = self.block(g.body(), Vec::new());
        let function = Function {
            inputs: inputs.iter().map(|&value| self.named(value)).collect(),
            opset: opset.proto().to_owned(),
            block_specializations: BTreeMap::from([(opset.proto().to_owned(), block)]),
        };
        let name = g.name(header.function(g)).to_owned();
        let program = Program {
            version: 1,
            functions: BTreeMap::from([(name, function)]),
            attributes: BTreeMap::new(),
        };
        Model {
            specification_version: opset.specification(),
            description: Some(description),
            ml_program: Some(program),
        }
    }

    fn features(&mut self, values: &[ValueId]) -> Vec<FeatureDescription> {
        values
            .iter()
            .filter_map(|&value| self.feature(value))
            .collect()
    }

    fn feature(&mut self, value: ValueId) -> Option<FeatureDescription> {
        let g = self.g;
        let (name, ty) = (name_of(g, value), g.ty(value));
        let data_type = match element_of(g, value) {
            Element::Fp16 => 65552,
            Element::Fp32 => 65568,
            Element::Int32 => 131_104,
            Element::Int8 => 131_080,
            other => {
                let span = g.defining_op(value).map_or(Span::FILE, |op| g.span(op));
                let message = format!(
                    "`{name}` is {}, which a package cannot describe",
                    other.name()
                );
                self.refuse(
                    span,
                    message,
                    "packages take and give fp16, fp32, int32 and int8; lower with io=coreml",
                );
                return None;
            }
        };
        let Some(shape) = ty.static_shape() else {
            let span = g.defining_op(value).map_or(Span::FILE, |op| g.span(op));
            let message = format!("`{name}` has an extent that is not known");
            self.refuse(span, message, "a package is written for static shapes");
            return None;
        };
        let array = ArrayFeatureType { shape, data_type };
        let ty = match is_state(g, value) {
            true => feature_type::Type::StateType(StateFeatureType {
                array_type: Some(array),
            }),
            false => feature_type::Type::MultiArrayType(array),
        };
        Some(FeatureDescription {
            name,
            r#type: Some(FeatureType { r#type: Some(ty) }),
        })
    }

    fn named(&self, value: ValueId) -> NamedValueType {
        let ty = tensor_type(element_of(self.g, value), self.g.ty(value).shape);
        let ty = match is_state(self.g, value) {
            true => {
                let state = StateType {
                    wrapped_type: Some(Box::new(ty)),
                };
                ValueType {
                    r#type: Some(ValueTypeKind::StateType(Box::new(state))),
                }
            }
            false => ty,
        };
        NamedValueType {
            name: name_of(self.g, value),
            r#type: Some(ty),
        }
    }

    fn block(&mut self, block: BlockId, inputs: Vec<NamedValueType>) -> Block {
        let g = self.g;
        let mut operations = Vec::new();
        let mut outputs = Vec::new();
        for op in g.ops(block) {
            let def = g.def(op);
            if def.has(Trait::Terminator) {
                outputs = g
                    .operands(op)
                    .iter()
                    .map(|&value| name_of(g, value))
                    .collect();
            } else if let Some(own) = g.view::<Const>(op) {
                if !own.inline(g) {
                    operations.push(self.constant(own, op));
                }
            } else if ops::row(def).is_some() {
                operations.push(self.operation(op));
            } else if !g.is::<ProgramOp>(op) && !g.is::<Input>(op) && !g.is::<Func>(op) {
                let message = format!("`{}` cannot stand in a package", def.name);
                self.refuse(
                    g.span(op),
                    message,
                    "`--lower-to-mil` turns core and tensor ops into those of MIL",
                );
            }
        }
        Block {
            inputs,
            outputs,
            operations,
        }
    }

    fn value(&mut self, own: Const, op: OpId) -> Value {
        let g = self.g;
        if own.element_type(g) == Some(Element::String) {
            return text(g.name(own.text(g)));
        }
        match (own.tensor(g), own.element_type(g)) {
            (Some(tensor), Some(element)) => {
                let ty = g.ty(g.result(op));
                constant(&tensor, element, ty, self.specification, &mut self.weights)
            }
            _ => {
                let message = format!("the weights in `{}` were not read", g.name(own.path(g)));
                self.refuse(
                    g.span(op),
                    message,
                    "they stand beside the text, below its folder",
                );
                Value::default()
            }
        }
    }

    fn constant(&mut self, own: Const, op: OpId) -> Operation {
        let value = self.g.result(op);
        let attributes = [
            ("name", text(&name_of(self.g, value))),
            ("val", self.value(own, op)),
        ];
        Operation {
            r#type: "const".to_owned(),
            outputs: vec![self.named(value)],
            attributes: attributes
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            ..Operation::default()
        }
    }

    fn operation(&mut self, op: OpId) -> Operation {
        let g = self.g;
        let mut inputs = BTreeMap::new();
        let mut operands = g.operands(op).iter();
        for (name, count) in argument_names(written_arguments(g, op)) {
            let bindings = operands
                .by_ref()
                .take(count)
                .map(|&value| self.binding(value))
                .collect();
            inputs.insert(
                name.to_owned(),
                Argument {
                    arguments: bindings,
                },
            );
        }
        let mut attributes = BTreeMap::new();
        if let Attr::Str(name) = g.attr(op, NAME)
            && !g.name(name).is_empty()
        {
            attributes.insert("name".to_owned(), text(g.name(name)));
        }
        let blocks = g.regions(op).to_vec();
        let blocks = blocks.into_iter().map(|region| {
            let block = g.block(region);
            let inputs = g
                .arguments(block)
                .into_iter()
                .map(|value| self.named(value))
                .collect();
            self.block(block, inputs)
        });
        let blocks = blocks.collect();
        Operation {
            r#type: g.def(op).short_name().to_owned(),
            inputs,
            outputs: g
                .results(op)
                .into_iter()
                .map(|value| self.named(value))
                .collect(),
            blocks,
            attributes,
        }
    }

    fn binding(&mut self, value: ValueId) -> Binding {
        let op = self.g.defining_op(value);
        let inline = op
            .and_then(|op| self.g.view::<Const>(op))
            .filter(|own| own.inline(self.g));
        let kind = match (inline, op) {
            (Some(own), Some(op)) => BindingKind::Value(self.value(own, op)),
            _ => BindingKind::Name(name_of(self.g, value)),
        };
        Binding {
            binding: Some(kind),
        }
    }
}
