//! Programs as MIL text.

use mind_mil::signature::Kind;
use mind_mil::{Opset, ops};
use prost::Message;

use super::error::{UnpackError, shown};
use super::flexible::flexible;
use super::value::typed;
use super::words::{Words, Written};
use crate::package::proto::{
    Argument, Binding, BindingKind, Block, FeatureDescription, Function, Model, ModelDescription,
    NamedValueType, Operation, Program, Value,
};

/// The program in the bytes of a `.mlmodel` as MIL text, its default function first.
///
/// What it gives is syntax alone: whether the program keeps MIL's rules is for the reader of the text to say.
///
/// # Errors
///
/// See [`UnpackError`].
pub fn text(model: &[u8]) -> Result<String, UnpackError> {
    let model = Model::decode(model).map_err(|error| UnpackError::Message(error.to_string()))?;
    let own = model.ml_program.as_ref().ok_or(UnpackError::NoProgram)?;
    let description = model.description.unwrap_or_default();
    let mut words = Words {
        out: String::new(),
        scalars: model.specification_version >= Opset::Ios18.specification(),
    };
    program(&mut words, own, &description)?;
    Ok(words.out)
}

/// What the description says of the inputs of a function: of several, each has a description of its own.
fn inputs<'d>(description: &'d ModelDescription, function: &str) -> &'d [FeatureDescription] {
    let mut functions = description.functions.iter();
    match functions.find(|own| own.name == function) {
        Some(own) => &own.input,
        None => &description.input,
    }
}

fn program(words: &mut Words, program: &Program, description: &ModelDescription) -> Written {
    let first = &description.default_function_name;
    let version = if words.scalars { "1.3" } else { "1.0" };
    words.show(format_args!("program({version})\n"));
    attributes(words, &program.attributes)?;
    words.push("\n{\n");
    let functions = program.functions.iter();
    let (own, others): (Vec<_>, Vec<_>) = functions.partition(|(name, _)| *name == first);
    for (name, own) in own.into_iter().chain(others) {
        function(words, name, own, inputs(description, name))?;
    }
    words.push("}");
    Ok(())
}

/// `[name = value, ..]`; nothing where there are none.
fn attributes<'m>(
    words: &mut Words,
    attributes: impl IntoIterator<Item = (&'m String, &'m Value), IntoIter: ExactSizeIterator>,
) -> Written {
    let attributes = attributes.into_iter();
    if attributes.len() == 0 {
        return Ok(());
    }
    words.push("[");
    words.list(attributes, |words, (name, value)| {
        words.name("an attribute", name)?;
        words.push(" = ");
        typed(words, name, value)
    })?;
    words.push("]");
    Ok(())
}

fn function(
    words: &mut Words,
    name: &str,
    function: &Function,
    described: &[FeatureDescription],
) -> Written {
    let mut opsets = Opset::ALL.iter();
    let opset = opsets.find(|opset| opset.proto() == function.opset);
    let opset = opset.ok_or_else(|| UnpackError::Opset {
        function: shown(name),
        found: shown(&function.opset),
    })?;
    let own = function.block_specializations.get(&function.opset);
    let own = own.ok_or_else(|| UnpackError::Missing {
        place: format!("function `{}`", shown(name)),
        what: "block of its opset",
    })?;
    words.push("func ");
    words.name("a function", name)?;
    words.show(format_args!("<{}>", opset.tag()));
    parameters(words, &function.inputs)?;
    attributes(words, &function.attributes)?;
    if let Some(flexible) = flexible(described).filter(|_| function.attributes.is_empty()) {
        let version = if words.scalars { "1.3" } else { "1.0" };
        words.show(format_args!("[{}]", flexible.text(version)));
    }
    block(words, own)?;
    words.push(";\n");
    Ok(())
}

fn parameters(words: &mut Words, inputs: &[NamedValueType]) -> Written {
    words.push("(");
    words.list(inputs, named)?;
    words.push(")");
    Ok(())
}

fn named(words: &mut Words, own: &NamedValueType) -> Written {
    words.ty(&own.name, own.r#type.as_ref())?;
    words.push(" ");
    words.name("a value", &own.name)
}

fn block(words: &mut Words, block: &Block) -> Written {
    words.push(" {\n");
    for own in &block.operations {
        operation(words, own)?;
    }
    words.push("} -> (");
    words.list(&block.outputs, |words, name| words.name("an output", name))?;
    words.push(")");
    Ok(())
}

fn operation(words: &mut Words, operation: &Operation) -> Written {
    let op = &operation.r#type;
    words.list(&operation.outputs, named)?;
    if !operation.outputs.is_empty() {
        words.push(" = ");
    }
    words.name("an op", op)?;
    words.push("(");
    words.list(&operation.inputs, |words, (name, own)| {
        words.name("an argument", name)?;
        words.push(" = ");
        argument(words, op, name, own)
    })?;
    words.push(")");
    attributes(words, &operation.attributes)?;
    for own in &operation.blocks {
        words.push(" ");
        parameters(words, &own.inputs)?;
        block(words, own)?;
    }
    words.push(";\n");
    Ok(())
}

/// The values of an argument: a tuple where the op takes one, or where they are several.
fn argument(words: &mut Words, op: &str, name: &str, argument: &Argument) -> Written {
    let values = &argument.arguments;
    if values.len() == 1 && !takes_tuple(op, name) {
        return binding(words, op, &values[0]);
    }
    words.push("(");
    words.list(values, |words, own| binding(words, op, own))?;
    words.push(")");
    Ok(())
}

fn takes_tuple(op: &str, name: &str) -> bool {
    let signatures = ops::named(op).map_or(&[][..], |row| row.signatures);
    let mut args = signatures.iter().flat_map(|(_, args)| args.iter());
    args.any(|arg| arg.name == name && arg.kind == Kind::Tuple)
}

fn binding(words: &mut Words, op: &str, binding: &Binding) -> Written {
    match &binding.binding {
        Some(BindingKind::Name(name)) => words.name("a value", name),
        Some(BindingKind::Value(value)) => typed(words, op, value),
        None => Err(UnpackError::Missing {
            place: format!("an argument of `{}`", shown(op)),
            what: "value",
        }),
    }
}
