//! Encodes the model as a protobuf message.

use std::collections::{BTreeMap, BTreeSet};

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_ir::graph::Graph;
use mind_ir::interface::Classifier;
use mind_ir::opdef::{Op, Trait};
use mind_ir::{BlockId, OpId, Sym, ValueId};
use mind_mil::call::{arguments, element_of, is_state};
use mind_mil::check::name_of;
use mind_mil::flexible::{Flexible, Shapes};
use mind_mil::ops;
use mind_mil::structure::{Const, Func, Input, Program as ProgramOp, opset_of, program};
use mind_mil::{Attributes, Element, Opset};
use prost::Message;

use crate::blob::Writer;
use crate::package::feature::{build_info, feature};
use crate::package::interface;
use crate::package::manifest::manifest;
use crate::package::proto::{
    Argument, Binding, BindingKind, Block, FeatureDescription, Function, FunctionDescription,
    Model, ModelDescription, NamedValueType, Operation, Program, StateType, Value, ValueType,
    ValueTypeKind,
};
use crate::package::value::{constant, tensor_type, text};

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

/// Returns the package of a verified program of the mil dialect whose values have names.
///
/// # Errors
///
/// Several functions before ios18, a type that a package cannot describe, or weights that were not read.
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

/// A function of the program.
struct Part<'g> {
    name: &'g str,
    opset: Opset,
    inputs: Vec<ValueId>,
    block: BlockId,
    span: Span,
    /// The allowed shapes of its inputs in addition to the default ones.
    flexible: Option<Flexible>,
}

fn opset(g: &Graph, tag: Sym) -> Opset {
    Opset::parse(g.name(tag)).unwrap_or(Opset::DEFAULT)
}

/// Returns the single value of each argument; `None` if one of them is bound to a name.
fn literals(arguments: &[(String, Vec<Binding>)]) -> Option<Vec<(String, Value)>> {
    let literal = |(name, bindings): &(String, Vec<Binding>)| match &bindings[..] {
        [
            Binding {
                binding: Some(BindingKind::Value(value)),
            },
        ] => Some((name.clone(), value.clone())),
        _ => None,
    };
    arguments.iter().map(literal).collect()
}

/// Replaces the output of probabilities by the label and the probability of each class.
fn describe_classifier(g: &Graph, classifier: &Classifier, own: &mut FunctionDescription) {
    let position = g.interface.output_position(&classifier.probabilities);
    if let Some(at) = position.filter(|&at| at < own.output.len()) {
        let probabilities = own.output[at].short_description.clone();
        own.output
            .splice(at..=at, interface::classified(classifier, &probabilities));
    }
    own.predicted_feature_name.clone_from(&classifier.label);
    own.predicted_probabilities_name
        .clone_from(&classifier.probabilities);
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
                "this module is not a MIL program".to_owned(),
                "`--lower-to-mil` makes one",
            );
            return Model::default();
        };
        let own = Part {
            name: g.name(header.function(g)),
            opset: opset(g, header.opset(g)),
            inputs: g
                .ops(g.body())
                .filter(|&op| g.is::<Input>(op))
                .map(|op| g.result(op))
                .collect(),
            block: g.body(),
            span: g.span(header.id()),
            flexible: Flexible::parse(g.name(header.function_attributes(g))),
        };
        let others = g.ops(g.body()).filter_map(|op| g.view::<Func>(op));
        let others = others.map(|func| Part {
            name: g.name(func.function(g)),
            opset: opset(g, func.opset(g)),
            inputs: g.arguments(func.body(g)).into_iter().collect(),
            block: func.body(g),
            span: g.span(func.id()),
            flexible: Flexible::parse(g.name(func.attributes(g))),
        });
        let parts: Vec<Part<'_>> = std::iter::once(own).chain(others).collect();
        let newest = parts.iter().map(|part| part.opset).max();
        self.specification = newest.unwrap_or(Opset::DEFAULT).specification();
        if parts.len() > 1 && self.specification < Opset::Ios18.specification() {
            let message = "a package of several functions needs opset ios18".to_owned();
            let help = "write each function as a separate package";
            self.refuse(parts[1].span, message, help);
        }
        if self.specification < Opset::Ios18.specification() {
            self.one_listed_input(&parts[0]);
        }
        let program = Program {
            version: 1,
            functions: parts
                .iter()
                .map(|part| (part.name.to_owned(), self.function(part)))
                .collect(),
            attributes: build_info(g.name(header.attributes(g)))
                .map(|value| ("buildInfo".to_owned(), value))
                .into_iter()
                .collect(),
        };
        Model {
            specification_version: self.specification,
            description: Some(self.description(&parts)),
            is_updatable: false,
            ml_program: Some(program),
        }
    }

    /// Reports several inputs with listed shapes before ios18, which allows only one.
    fn one_listed_input(&mut self, part: &Part<'_>) {
        let Some(Shapes::Listed(lists)) = part.flexible.as_ref().map(|own| &own.shapes) else {
            return;
        };
        if lists.iter().any(|list| list.len() > 1) {
            let message = "several inputs that list their shapes need opset ios18".to_owned();
            let help = "give each open dimension a range, as `--flexible B=1..32`, or write `--opset=ios18`";
            self.refuse(part.span, message, help);
        }
    }

    fn function(&mut self, part: &Part<'_>) -> Function {
        let mut block = self.block(part.block, Vec::new());
        if part.block == self.g.body() {
            self.classify(&mut block);
        }
        let opset = part.opset.proto().to_owned();
        Function {
            inputs: part.inputs.iter().map(|&value| self.named(value)).collect(),
            opset: opset.clone(),
            block_specializations: BTreeMap::from([(opset, block)]),
            attributes: BTreeMap::new(),
        }
    }

    /// Appends the classifier's operation and returns its outputs, which replace the probabilities.
    fn classify(&mut self, block: &mut Block) {
        let interface = &self.g.interface;
        let Some(classifier) = &interface.classifier else {
            return;
        };
        let at = interface.output_position(&classifier.probabilities);
        let Some(read) = at.and_then(|at| block.outputs.get(at).cloned().map(|read| (at, read)))
        else {
            return;
        };
        let (at, mut read) = read;
        let value = self.g.outputs()[at];
        if element_of(self.g, value) != Element::Fp32 {
            let results = block.operations.iter().flat_map(|op| &op.outputs);
            let taken: BTreeSet<&str> = results.map(|own| &own.name[..]).collect();
            let mut name = format!("{read}_fp32");
            while taken.contains(&name[..]) {
                name.push('_');
            }
            let cast = interface::widened(&read, &name, self.g.ty(value).shape);
            block.operations.push(cast);
            read = name;
        }
        block
            .operations
            .push(interface::classify(classifier, &read));
        let names = [&classifier.label, &classifier.probabilities];
        block.outputs.splice(at..=at, names.map(Clone::clone));
    }

    /// Returns the description of the functions' inputs and outputs; if there are several functions, the first is the
    /// default.
    fn description(&mut self, parts: &[Part<'_>]) -> ModelDescription {
        let metadata = interface::metadata(&self.g.interface);
        let mut functions: Vec<FunctionDescription> = parts
            .iter()
            .map(|part| self.function_description(part))
            .collect();
        if functions.len() > 1 {
            return ModelDescription {
                default_function_name: parts[0].name.to_owned(),
                functions,
                metadata,
                ..ModelDescription::default()
            };
        }
        let own = functions.pop().unwrap_or_default();
        ModelDescription {
            input: own.input,
            output: own.output,
            state: own.state,
            predicted_feature_name: own.predicted_feature_name,
            predicted_probabilities_name: own.predicted_probabilities_name,
            metadata,
            ..ModelDescription::default()
        }
    }

    fn function_description(&mut self, part: &Part<'_>) -> FunctionDescription {
        let g = self.g;
        let (states, arrays): (Vec<ValueId>, Vec<ValueId>) =
            part.inputs.iter().partition(|&&value| is_state(g, value));
        let outputs = g
            .terminator(part.block)
            .map_or(&[][..], |end| g.operands(end))
            .to_vec();
        // The module's interface belongs to the main function.
        let is_own = part.block == g.body();
        let mut features = |values: &[ValueId], is_output: bool| -> Vec<FeatureDescription> {
            let described = values.iter().enumerate().map(|(at, &value)| {
                let known = match is_output {
                    true => g.interface.output_feature(at),
                    false => g.interface.inputs.get(&name_of(g, value)),
                };
                feature(g, value, part.flexible.as_ref(), known.filter(|_| is_own))
            });
            described
                .filter_map(|found| found.map_err(|error| self.found.push(*error)).ok())
                .collect()
        };
        let mut own = FunctionDescription {
            name: part.name.to_owned(),
            input: features(&arrays, false),
            output: features(&outputs, true),
            state: features(&states, false),
            ..FunctionDescription::default()
        };
        if let Some(classifier) = g.interface.classifier.as_ref().filter(|_| is_own) {
            describe_classifier(g, classifier, &mut own);
        }
        own
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

    /// Returns the value of a constant. The value of an inline constant is stored in the message and not in the weight
    /// file, because coremltools looks for it only there.
    fn value(&mut self, own: Const, op: OpId) -> Value {
        let g = self.g;
        if own.element_type(g) == Some(Element::String) {
            return text(g.name(own.text(g)));
        }
        match (own.tensor(g), own.element_type(g)) {
            (Some(tensor), Some(element)) => {
                let ty = g.ty(g.result(op));
                let weights = (!own.inline(g)).then_some(&mut self.weights);
                constant(&tensor, element, ty, self.specification, weights)
            }
            _ => {
                let message = format!("the weights in `{}` were not read", g.name(own.path(g)));
                self.refuse(
                    g.span(op),
                    message,
                    "they are in files in the folder of the text or below it",
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
        let (mut inputs, mut attributes) = (BTreeMap::new(), BTreeMap::new());
        let mut given: Vec<(String, Vec<Binding>)> = Vec::new();
        for (name, values) in arguments(g, op) {
            let bindings = values.iter().map(|&value| self.binding(value)).collect();
            given.push((name.to_owned(), bindings));
        }
        let row = ops::row(g.def(op));
        let attributed = row.is_some_and(|row| row.writes_attributes(opset_of(g, op)));
        let literals = attributed.then(|| literals(&given));
        match literals.flatten() {
            Some(literals) => attributes.extend(literals),
            None => inputs.extend(
                given
                    .into_iter()
                    .map(|(name, arguments)| (name, Argument { arguments })),
            ),
        }
        let Attributes { name, .. } = Attributes::of(g, op);
        if !name.is_empty() {
            attributes.insert("name".to_owned(), text(name));
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
