//! Decodes programs to the syntax tree.

use std::collections::BTreeMap;

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_mil::Opset;

use super::attributes::written;
use super::error::{named, refused, shown};
use super::flexible::flexible;
use super::places::{Places, called};
use super::value::{ty, typed};
use crate::mil::syntax::{self, Arg, Name, Statement, Typed};
use crate::mil::types::{Generation, Type};
use crate::mil::{MAX_NESTING, Parsed};
use crate::package::proto::{
    Argument, BindingKind, Block, FeatureDescription, Function, Model, ModelDescription,
    NamedValueType, Operation, Value,
};
use mind_text::Limits;

/// Decoder of a program's messages.
pub(super) struct Decoder<'l> {
    limits: &'l Limits,
    generation: Generation,
    /// The number of operations so far.
    operations: usize,
    places: Places,
    found: Diagnostics,
}

impl Decoder<'_> {
    pub(super) fn new(limits: &Limits) -> Decoder<'_> {
        Decoder {
            limits,
            generation: Generation::Second,
            operations: 0,
            places: Places::default(),
            found: Diagnostics::new(),
        }
    }

    /// Returns the list of positions and the diagnostics.
    pub(super) fn finish(self) -> (String, Diagnostics) {
        (self.places.list, self.found)
    }

    /// Returns the program of a model, its default function first. Returns `None` if the model has none, or if errors
    /// were reported.
    pub(super) fn model<'m>(&mut self, model: &'m Model) -> Option<syntax::Program<'m>> {
        let span = self.places.add("mlProgram");
        let program = model.ml_program.as_ref()?;
        if model.specification_version < Opset::Ios18.specification() {
            self.generation = Generation::First;
        }
        let description = model.description.as_ref();
        let first = description.map_or("", |own| &own.default_function_name);
        let attributes = self.attributes(&program.attributes, span)?;
        let all = program.functions.iter();
        let (own, others): (Vec<_>, Vec<_>) = all.partition(|(name, _)| *name == first);
        let has_default = !own.is_empty();
        let mut functions = Vec::new();
        for (name, function) in own.into_iter().chain(others) {
            let span = self.places.add(&format!("functions[\"{}\"]", shown(name)));
            match self.function(name, function, inputs(description, name), span) {
                Ok(function) => functions.push(function),
                Err(error) => self.found.push(*error),
            }
        }
        if functions.is_empty() && !self.found.has_errors() {
            let message = "the program has no function";
            self.found.push(Diagnostic::error(span, message));
        }
        Some(syntax::Program {
            version: self.generation.version(),
            attributes,
            main: if has_default {
                0
            } else {
                syntax::main_position(&functions)
            },
            functions,
            span,
        })
    }

    fn attributes(&mut self, attributes: &BTreeMap<String, Value>, span: Span) -> Option<String> {
        let written = written(attributes, self.generation, span);
        written.map_err(|error| self.found.push(*error)).ok()
    }

    fn function<'m>(
        &mut self,
        name: &'m str,
        function: &'m Function,
        described: &[FeatureDescription],
        span: Span,
    ) -> Parsed<syntax::Function<'m>> {
        let mut opsets = Opset::ALL.iter();
        let Some(opset) = opsets.find(|opset| opset.proto() == function.opset) else {
            let message = format!("there is no opset `{}`", shown(&function.opset));
            let known: Vec<&str> = Opset::ALL.iter().map(|opset| opset.proto()).collect();
            let help = format!("opsets are {}", known.join(", "));
            return Err(refused(span, 4116, message, &help));
        };
        let Some(own) = function.block_specializations.get(&function.opset) else {
            let message = format!("the function has no block of its opset {}", function.opset);
            let help = "`block_specializations` has an entry for the function's `opset`";
            return Err(refused(span, 4116, message, help));
        };
        let mut attributes = written(&function.attributes, self.generation, span)?;
        let flexible = flexible(described).filter(|_| attributes.is_empty());
        if let Some(flexible) = flexible {
            attributes = flexible.text(self.generation.version());
        }
        let path = format!(
            "functions[\"{}\"].block_specializations[\"{}\"]",
            shown(name),
            function.opset
        );
        Ok(syntax::Function {
            name: named("a function", name, span)?,
            opset: opset.tag(),
            attributes,
            block: self.block(&path, own, &function.inputs, span, 0)?,
        })
    }

    /// Returns the block at `path`, with the parameters `inputs` of the enclosing message.
    fn block<'m>(
        &mut self,
        path: &str,
        block: &'m Block,
        inputs: &'m [NamedValueType],
        span: Span,
        depth: usize,
    ) -> Parsed<syntax::Block<'m>> {
        let params = self.values(inputs, span)?;
        let mut statements = Vec::new();
        for (at, operation) in block.operations.iter().enumerate() {
            self.operations += 1;
            if self.operations > self.limits.nodes {
                let message = format!("more than {} operations", self.limits.nodes);
                return Err(Box::new(Diagnostic::error(span, message)));
            }
            let path = format!("{path}.operations[{at}]");
            let span = self.places.add(&format!("{path}, {}", called(operation)));
            match self.operation(&path, operation, span, depth) {
                Ok(statement) => statements.push(statement),
                Err(error) => self.found.push(*error),
            }
        }
        let end = self.places.add(&format!("{path}.outputs"));
        let outputs = block.outputs.iter().map(|own| named("an output", own, end));
        Ok(syntax::Block {
            params,
            statements,
            outputs: outputs.collect::<Parsed<_>>()?,
            end,
        })
    }

    fn values<'m>(
        &self,
        values: &'m [NamedValueType],
        span: Span,
    ) -> Parsed<Vec<(Type, Name<'m>)>> {
        let value = |own: &'m NamedValueType| {
            let name = named("a value", &own.name, span)?;
            Ok((ty(own.r#type.as_ref(), &own.name, self.limits, span)?, name))
        };
        values.iter().map(value).collect()
    }

    fn operation<'m>(
        &mut self,
        path: &str,
        operation: &'m Operation,
        span: Span,
        depth: usize,
    ) -> Parsed<Statement<'m>> {
        let mut args = Vec::with_capacity(operation.inputs.len());
        for (name, argument) in &operation.inputs {
            args.push((
                named("an argument", name, span)?,
                self.argument(name, argument, span)?,
            ));
        }
        let mut attributes: Vec<(Name<'m>, Typed)> = Vec::new();
        for (name, value) in &operation.attributes {
            let value = typed(value, name, self.limits, span)?;
            attributes.push((named("an attribute", name, span)?, value));
        }
        let mut blocks = Vec::with_capacity(operation.blocks.len());
        for (at, block) in operation.blocks.iter().enumerate() {
            if depth + 1 >= MAX_NESTING {
                let message = format!("blocks nest more than {MAX_NESTING} deep");
                return Err(Box::new(Diagnostic::error(span, message)));
            }
            let path = format!("{path}.blocks[{at}]");
            blocks.push(self.block(&path, block, &block.inputs, span, depth + 1)?);
        }
        Ok(Statement {
            results: self.values(&operation.outputs, span)?,
            op: named("an operation", &operation.r#type, span)?,
            args,
            attributes,
            blocks,
        })
    }

    fn argument<'m>(&self, name: &str, argument: &'m Argument, span: Span) -> Parsed<Arg<'m>> {
        let bindings = argument.arguments.iter();
        let values = bindings.map(|own| match &own.binding {
            Some(BindingKind::Name(name)) => Ok(Arg::Name(named("a value", name, span)?)),
            Some(BindingKind::Value(value)) => {
                Ok(Arg::Typed(typed(value, name, self.limits, span)?))
            }
            None => {
                let message = format!("the argument `{}` has no value", shown(name));
                Err(refused(
                    span,
                    4104,
                    message,
                    "bind it to a constant, or to the name of a value",
                ))
            }
        });
        Ok(Arg::Tuple(values.collect::<Parsed<_>>()?))
    }
}

/// Returns the descriptions of a function's inputs. If there are several functions, each has its own description.
fn inputs<'d>(
    description: Option<&'d ModelDescription>,
    function: &str,
) -> &'d [FeatureDescription] {
    let Some(description) = description else {
        return &[];
    };
    let mut functions = description.functions.iter();
    match functions.find(|own| own.name == function) {
        Some(own) => &own.input,
        None => &description.input,
    }
}
