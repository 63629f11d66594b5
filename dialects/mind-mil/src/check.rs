//! Rules about a program as a whole, which the verification of single ops cannot check.

use mind_diag::{Diagnostics, Span};
use mind_ir::builtin::Yield;
use mind_ir::graph::{Graph, ValueDef};
use mind_ir::opdef::Op;
use mind_ir::types::Dim;
use mind_ir::{BlockId, OpId, ValueId};
use rustc_hash::FxHashMap;

use crate::call::{element_of, error, floats, is_state};
use crate::element::{Element, Elements};
use crate::ops;
use crate::opset::Opset;
use crate::row::Attributes;
use crate::structure::{Const, Func, Input, program};

/// Restricts the types of a program's inputs and outputs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Interface {
    /// All types that Core ML or the neural engine accept.
    #[default]
    Any,
    /// Types that the neural engine accepts without a conversion at its boundary.
    Ane,
}

impl Interface {
    /// Returns the allowed element types.
    pub const fn elements(self) -> Elements {
        use Element::*;
        match self {
            Interface::Any => Elements::of(&[Fp16, Fp32, Int8, Uint8, Int16, Uint16, Int32]),
            Interface::Ane => Elements::of(&[Fp16, Int8, Uint8, Int16, Uint16]),
        }
    }
}

/// The largest extent of a dimension.
pub const MAX_EXTENT: i64 = 65536;

/// Reports every program rule that the verified module `g` violates, in text order.
pub fn check(g: &Graph, interface: Interface) -> Diagnostics {
    let mut checker = Checker {
        g,
        interface,
        found: Diagnostics::new(),
    };
    checker.header();
    checker.function(g.body(), g.body());
    for op in g.ops(g.body()) {
        if let Some(func) = g.view::<Func>(op) {
            checker.opset(op, func.opset(g));
            checker.parameters(func);
            checker.function(func.body(g), func.body(g));
        }
    }
    checker.found.sort_by_place();
    checker.found
}

struct Checker<'g> {
    g: &'g Graph,
    interface: Interface,
    found: Diagnostics,
}

impl Checker<'_> {
    fn report(&mut self, span: Span, code: u16, problem: String, help: &str) {
        let help = (!help.is_empty()).then(|| help.to_owned());
        self.found.push(error(code, problem, help).at(span));
    }

    fn header(&mut self) {
        let Some(program) = program(self.g) else {
            return;
        };
        self.opset(program.id(), program.opset(self.g));
        let opset = Opset::parse(self.g.name(program.opset(self.g)));
        let version = self.g.name(program.version(self.g));
        if opset.is_some_and(|opset| opset >= Opset::Ios18) && version == "1.0" {
            let problem = "text of version 1.0 cannot say opset ios18".to_owned();
            self.report(
                self.g.span(program.id()),
                4116,
                problem,
                "write `program(1.3)`",
            );
        }
    }

    fn opset(&mut self, op: OpId, opset: mind_ir::Sym) {
        let tag = self.g.name(opset);
        if Opset::parse(tag).is_none() {
            let tags: Vec<&str> = Opset::ALL.iter().map(|opset| opset.tag()).collect();
            let problem = format!("there is no opset `{tag}`");
            self.report(
                self.g.span(op),
                4116,
                problem,
                &format!("opsets are {}", tags.join(", ")),
            );
        }
    }

    fn parameters(&mut self, func: Func) {
        let arguments = self.g.arguments(func.body(self.g));
        let span = self.g.span(func.id());
        for (index, value) in arguments.into_iter().enumerate() {
            let name = func.parameter(self.g, index).0.to_owned();
            self.interface_type(value, &name, span);
            self.extents(value, &name, span);
        }
    }

    /// Checks the ops of `block`, whose function's body is `function`.
    fn function(&mut self, block: BlockId, function: BlockId) {
        let g = self.g;
        let mut names: FxHashMap<&str, Span> = FxHashMap::default();
        for op in g.ops(block) {
            if let Some(end) = g.view::<Yield>(op) {
                if block == function {
                    self.outputs(end.id(), end.values(g));
                }
                continue;
            }
            let span = g.span(op);
            for (value, name) in g.results(op).into_iter().zip(written_names(g, op)) {
                if !is_name(name) {
                    self.report(span, 4112, format!("`{name}` names no value"), NAMES);
                }
                if let Some(first) = names.insert(name, span) {
                    let problem = format!("`{name}` is defined twice");
                    let twice = error(4113, problem, Some(RENAME.to_owned())).at(span);
                    self.found.push(twice.related(first, "first here"));
                }
                self.extents(value, name, span);
            }
            if let Some(input) = g.view::<Input>(op) {
                let name = g.name(input.name(g)).to_owned();
                self.interface_type(g.result(op), &name, span);
                if input.state(g) && crate::structure::opset_of(g, op) < Opset::Ios18 {
                    let problem = format!("`{name}` is a state");
                    self.report(span, 4116, problem, "states need opset ios18");
                }
            }
            if let Some(constant) = g.view::<Const>(op) {
                self.numbers(constant, span);
            }
            for &region in g.regions(op) {
                if g.view::<Func>(op).is_none() {
                    self.function(g.block(region), function);
                }
            }
        }
    }

    fn outputs(&mut self, end: OpId, values: &[ValueId]) {
        let span = self.g.span(end);
        for (at, &value) in values.iter().enumerate() {
            let name = name_of(self.g, value);
            if self.g.parent(end) == Some(self.g.body()) {
                self.output_name(at, &name, span);
            }
            if values[..at].contains(&value) {
                let problem = format!("`{name}` is given out twice");
                self.report(
                    span,
                    4114,
                    problem,
                    "`identity` gives a value a second name",
                );
            }
            let is_input = match self.g.defining_op(value) {
                Some(op) => self.g.is::<Input>(op),
                None => true,
            };
            if is_input {
                let problem = format!("output `{name}` is a parameter");
                self.report(span, 4114, problem, "`identity` gives it a separate name");
            }
            self.interface_type(value, &name, span);
        }
    }

    /// Checks that an output has the name of its value. The output of a classifier is exempt, because it is computed
    /// from the value.
    fn output_name(&mut self, at: usize, value: &str, span: Span) {
        let interface = &self.g.interface;
        let classifier = interface.classifier.as_ref();
        let Some(name) = interface.output_name(at).filter(|own| *own != value) else {
            return;
        };
        if classifier.is_some_and(|own| own.probabilities == name) || value.starts_with('%') {
            return;
        }
        let problem = format!("output `{name}` has a value that is called `{value}`");
        self.report(span, 4112, problem, "give both the same name");
    }

    fn interface_type(&mut self, value: ValueId, name: &str, span: Span) {
        let Some(ty) = self.g.type_id(value).map(|id| self.g.types().get(id)) else {
            return;
        };
        let element = element_of(self.g, value);
        let allowed = self.interface.elements();
        if !allowed.contains(element) && !self.is_image(value, name) {
            let problem = format!(
                "`{name}` is {}, which a program neither takes nor gives",
                element.name()
            );
            let help = format!(
                "inputs and outputs are {}; put a `cast` inside",
                allowed.text()
            );
            self.report(span, 4111, problem, &help);
        }
        if ty.rank() == 0 && !is_state(self.g, value) {
            let problem = format!("`{name}` is a scalar, which a program neither takes nor gives");
            self.report(span, 4111, problem, "give it the shape [1]");
        }
    }

    /// Returns whether a value is an image input or output, which the system converts.
    fn is_image(&self, value: ValueId, name: &str) -> bool {
        let interface = &self.g.interface;
        let input = interface.inputs.get(name);
        let output = self.g.outputs().iter().position(|&own| own == value);
        let output = output.and_then(|at| interface.output_feature(at));
        [input, output]
            .into_iter()
            .flatten()
            .any(|own| own.image.is_some())
    }

    fn extents(&mut self, value: ValueId, name: &str, span: Span) {
        let Some(ty) = self.g.type_id(value).map(|id| self.g.types().get(id)) else {
            return;
        };
        for (dimension, &dim) in ty.shape.iter().enumerate() {
            if let Dim::Fixed(extent) = dim
                && !(1..=MAX_EXTENT).contains(&extent)
            {
                let problem = format!("`{name}` has the extent {extent} at dimension {dimension}");
                self.report(
                    span,
                    4110,
                    problem,
                    &format!("extents run from 1 to {MAX_EXTENT}"),
                );
            }
        }
    }

    /// Reports NaN elements, because it is not known that Core ML can read any spelling of NaN. Infinities are valid
    /// elements.
    fn numbers(&mut self, constant: Const, span: Span) {
        let literal = constant.data(self.g);
        if !literal.dtype.is_float() {
            return;
        }
        let elements = mind_ir::tensor::Buffer::from_bytes(literal.dtype, literal.bytes);
        let elements = floats(&mind_ir::tensor::Tensor::new(
            vec![elements.len()],
            elements,
        ));
        if elements.into_iter().any(f64::is_nan) {
            let name = name_of(self.g, constant.result(self.g));
            let problem = format!("`{name}` holds NaN");
            self.report(span, 4118, problem, "write a number, or `inf` or `-inf`");
        }
    }
}

const RENAME: &str = "give one of the two another name";

const NAMES: &str = "a name is letters, digits and `_`, and begins with no digit";

/// Returns whether `name` is a valid name of a value, ignoring reserved words.
pub fn is_name(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    name.bytes().next().is_some_and(letter)
        && name
            .bytes()
            .all(|byte| letter(byte) || byte.is_ascii_digit())
}

/// Returns the given names of the results of `op`; it may have fewer names than results.
pub(crate) fn written_names(g: &Graph, op: OpId) -> impl Iterator<Item = &str> {
    let written = match (g.view::<Input>(op), g.view::<Const>(op)) {
        (Some(input), _) => g.name(input.name(g)),
        (_, Some(constant)) => g.name(constant.out(g)),
        _ if ops::row(g.def(op)).is_some() => {
            let mut parts = Attributes::of(g, op).out.split('|');
            parts.next().unwrap_or("")
        }
        _ => "",
    };
    written.split(' ').filter(|name| !name.is_empty())
}

/// Returns the given names of the arguments of block `index` of `op`, which has a row; there may be fewer names than
/// arguments.
pub(crate) fn block_names(g: &Graph, op: OpId, index: usize) -> impl Iterator<Item = &str> {
    let mut parts = Attributes::of(g, op).out.split('|').skip(index + 1);
    parts.next().unwrap_or("").split_ascii_whitespace()
}

/// Returns the given names of the arguments of all blocks of `op`.
pub(crate) fn argument_names(g: &Graph, op: OpId) -> impl Iterator<Item = &str> {
    let blocks = match ops::row(g.def(op)) {
        Some(_) => g.regions(op).len(),
        None => 0,
    };
    (0..blocks).flat_map(move |index| block_names(g, op, index))
}

/// Returns the name of a value, or `%5` if it has none.
pub fn name_of(g: &Graph, value: ValueId) -> String {
    given_name(g, value).unwrap_or_else(|| format!("%{}", g.label(value)))
}

/// Returns the given name of a value; `None` if it has none.
pub fn given_name(g: &Graph, value: ValueId) -> Option<String> {
    let written = match g.value_def(value) {
        ValueDef::Result(op, index) => written_names(g, op).nth(index as usize),
        ValueDef::Argument(block, index) => argument_name(g, block, index as usize),
    };
    written.map(str::to_owned)
}

/// Returns the name of a block's argument.
fn argument_name(g: &Graph, block: BlockId, index: usize) -> Option<&str> {
    let owner = g.block_owner(block)?;
    if let Some(func) = g.view::<Func>(owner) {
        return Some(func.parameter(g, index).0).filter(|name| !name.is_empty());
    }
    let at = g
        .regions(owner)
        .iter()
        .position(|&region| g.block(region) == block)?;
    ops::row(g.def(owner))?;
    block_names(g, owner, at).nth(index)
}
