//! Printer of MIL text.

pub(crate) mod literal;
mod plan;

use mind_diag::{Diagnostic, Diagnostics};
use mind_ir::graph::Graph;
use mind_ir::opdef::OpDef;
use mind_ir::types::TypeView;
use mind_ir::{BlockId, OpId, Sym, ValueId};
use mind_mil::call::{arguments, is_mask};
use mind_mil::structure::{self, Const, Func, Input, Program};
use mind_mil::{Element, Opset, ops};

use super::spelling::Spelling;
use super::types::{Generation, write_tensor};
use literal::write_value;
use plan::Plan;

/// The attributes of a program without any.
const ATTRIBUTES: &str = r#"buildInfo = dict<string, string>({{"coremlc-component-MIL", "mind-opt"}, {"coremlc-version", "0"}})"#;

/// Prints a module, without a newline at the end.
///
/// # Errors
///
/// One error for each op that is not in MIL.
pub(super) fn print(g: &Graph, spelling: Spelling) -> Result<String, Diagnostics> {
    let foreign = refused(g);
    if !foreign.is_empty() {
        return Err(foreign);
    }
    let program = structure::program(g);
    let word = |attr: fn(Program, &Graph) -> Sym, default| match program {
        Some(program) => g.name(attr(program, g)),
        None => default,
    };
    let version = word(Program::version, "1.3");
    let printer = Printer {
        g,
        spelling,
        generation: Generation::of(version),
        plan: Plan::new(g),
        opset: Opset::DEFAULT,
        out: String::with_capacity(96 * g.op_bound()),
    };
    let attributes = word(Program::attributes, ATTRIBUTES);
    let function = [
        word(Program::function, "main"),
        word(Program::opset, Opset::DEFAULT.tag()),
        word(Program::function_attributes, ""),
    ];
    Ok(printer.program(version, attributes, function))
}

/// Returns an error for each op that is not in MIL.
fn refused(g: &Graph) -> Diagnostics {
    let own = |def: &OpDef| {
        structure::OPS.iter().any(|own| std::ptr::eq(*own, def)) || ops::row(def).is_some()
    };
    let mut found = Diagnostics::new();
    for op in g.walk() {
        let def = g.def(op);
        if !own(def) && !def.has(mind_ir::opdef::Trait::Terminator) {
            let message = format!("`{}` cannot be printed as MIL text", def.name);
            let help = "`--lower-to-mil` turns core and tensor ops into those of MIL";
            found.push(Diagnostic::error(g.span(op), message).help(help));
        }
    }
    found
}

struct Printer<'g> {
    g: &'g Graph,
    spelling: Spelling,
    generation: Generation,
    plan: Plan,
    /// The opset of the current function.
    opset: Opset,
    out: String,
}

impl<'g> Printer<'g> {
    fn program(mut self, version: &str, attributes: &str, function: [&'g str; 3]) -> String {
        self.out.push_str("program(");
        self.out.push_str(version);
        self.out.push_str(")\n[");
        self.out.push_str(&self.spelled(attributes));
        self.out.push_str("]\n{\n");
        let g = self.g;
        let inputs = g.ops(g.body()).filter_map(|op| g.view::<Input>(op));
        let mut inputs: Vec<(ValueId, bool)> = inputs
            .map(|input| (input.result(g), input.state(g)))
            .collect();
        inputs.sort_by_key(|&(value, _)| self.plan.name(value));
        self.function(function, &inputs, g.body());
        for func in g.ops(g.body()).filter_map(|op| g.view::<Func>(op)) {
            let block = func.body(g);
            let arguments = g.arguments(block).into_iter().enumerate();
            let mut params: Vec<(ValueId, bool)> = arguments
                .map(|(index, value)| (value, func.parameter(g, index).1))
                .collect();
            params.sort_by_key(|&(value, _)| self.plan.name(value));
            let words = [func.function(g), func.opset(g), func.attributes(g)];
            self.function(words.map(|word| g.name(word)), &params, block);
        }
        self.out.push('}');
        self.out
    }

    /// Returns attributes with scalar types in the spelling of the generation.
    fn spelled(&self, attributes: &str) -> String {
        match attributes == ATTRIBUTES && self.generation == Generation::First {
            true => attributes.replace(
                "dict<string, string>",
                "dict<tensor<string, []>, tensor<string, []>>",
            ),
            false => attributes.to_owned(),
        }
    }

    fn function(
        &mut self,
        [name, opset, attributes]: [&'g str; 3],
        params: &[(ValueId, bool)],
        block: BlockId,
    ) {
        self.opset = Opset::parse(opset).unwrap_or(Opset::DEFAULT);
        self.out.push_str("    func ");
        self.out.push_str(name);
        self.out.push('<');
        self.out.push_str(opset);
        self.out.push_str(">(");
        self.params(params);
        self.out.push_str(") ");
        if !attributes.is_empty() {
            self.out.push('[');
            self.out.push_str(attributes);
            self.out.push_str("] ");
        }
        self.body(block, 12);
        self.out.push_str(";\n");
    }

    fn params(&mut self, params: &[(ValueId, bool)]) {
        for (at, &(value, is_state)) in params.iter().enumerate() {
            self.out.push_str(if at > 0 { ", " } else { "" });
            match is_state {
                true => {
                    self.out.push_str("state<");
                    self.ty(value);
                    self.out.push('>');
                }
                false => self.ty(value),
            }
            self.out.push(' ');
            self.out.push_str(self.plan.name(value));
        }
    }

    /// Prints `{ statements } -> (outputs)` with statements indented by `indent` spaces.
    fn body(&mut self, block: BlockId, indent: usize) {
        self.out.push_str("{\n");
        let mut outputs: &[ValueId] = &[];
        for op in self.g.ops(block) {
            let def = self.g.def(op);
            if def.has(mind_ir::opdef::Trait::Terminator) {
                outputs = self.g.operands(op);
            } else if let Some(own) = self.g.view::<Const>(op) {
                if !own.inline(self.g) {
                    self.constant(own, op, indent);
                }
            } else if ops::row(def).is_some() {
                self.statement(op, indent);
            }
        }
        self.blanks(indent - 4);
        self.out.push_str("} -> (");
        for (at, &value) in outputs.iter().enumerate() {
            self.out.push_str(if at > 0 { ", " } else { "" });
            self.out.push_str(self.plan.name(value));
        }
        self.out.push(')');
    }

    fn blanks(&mut self, count: usize) {
        self.out.extend(std::iter::repeat_n(' ', count));
    }

    fn constant(&mut self, own: Const, op: OpId, indent: usize) {
        self.blanks(indent);
        let value = self.g.result(op);
        self.constant_type(own);
        self.out.push(' ');
        self.out.push_str(self.plan.name(value));
        let name = self.plan.annotation(self.g, op).map(str::to_owned);
        match self.spelling {
            Spelling::Compiler => {
                self.out.push_str(" = const()[");
                if let Some(name) = &name {
                    self.annotation(name);
                    self.out.push_str(", ");
                }
                self.out.push_str("val = ");
                self.value(own);
                self.out.push(']');
            }
            Spelling::Primer => {
                self.out.push_str(" = const(val = ");
                self.value(own);
                self.out.push(')');
                if let Some(name) = &name {
                    self.out.push('[');
                    self.annotation(name);
                    self.out.push(']');
                }
            }
        }
        self.out.push_str(";\n");
    }

    fn annotation(&mut self, name: &str) {
        self.out.push_str("name = ");
        write_tensor(&mut self.out, "string", &[], self.generation);
        self.out.push_str("(\"");
        self.out.push_str(name);
        self.out.push_str("\")");
    }

    fn value(&mut self, own: Const) {
        self.constant_type(own);
        self.out.push('(');
        let shape = self
            .shown(own.result(self.g))
            .map_or(&[][..], |ty| ty.shape);
        let primer = self.spelling == Spelling::Primer;
        write_value(&mut self.out, self.g, own, shape, self.generation, primer);
        self.out.push(')');
    }

    fn constant_type(&mut self, own: Const) {
        let shape = self
            .shown(own.result(self.g))
            .map_or(&[][..], |ty| ty.shape);
        let element = self.g.name(own.element(self.g));
        write_tensor(&mut self.out, element, shape, self.generation);
    }

    fn shown(&self, value: ValueId) -> Option<TypeView<'g>> {
        let id = self.g.type_id(value).or(self.g.declared(value))?;
        Some(self.g.types().get(id))
    }

    fn ty(&mut self, value: ValueId) {
        if let Some(ty) = self.shown(value) {
            let element = if is_mask(self.g, value) {
                Element::Uint1
            } else {
                Element::of(ty.dtype)
            };
            write_tensor(&mut self.out, element.name(), ty.shape, self.generation);
        }
    }

    fn statement(&mut self, op: OpId, indent: usize) {
        let g = self.g;
        self.blanks(indent);
        for (at, value) in g.results(op).into_iter().enumerate() {
            self.out.push_str(if at > 0 { ", " } else { "" });
            self.ty(value);
            self.out.push(' ');
            self.out.push_str(self.plan.name(value));
        }
        if !g.results(op).is_empty() {
            self.out.push_str(" = ");
        }
        self.out.push_str(g.def(op).short_name());
        let annotation = self.plan.annotation(g, op).map(str::to_owned);
        let row = ops::row(g.def(op));
        let given = arguments(g, op).map(|(name, values)| Printed {
            name,
            is_tuple: values.len() != 1 || row.is_some_and(|row| row.takes_tuple(name)),
            values,
        });
        let mut args: Vec<Printed<'_>> = given.collect();
        args.sort_by_key(|given| given.name);
        let inline = |given: &Printed<'_>| {
            let mut values = given.values.iter();
            values.all(|&value| self.inline(value).is_some())
        };
        let attributes =
            row.is_some_and(|row| row.writes_attributes(self.opset)) && args.iter().all(inline);
        match attributes {
            true => {
                self.out.push_str("()[");
                if let Some(own) = &annotation {
                    let at = args.partition_point(|given| given.name < "name");
                    let (before, behind) = args.split_at(at);
                    self.attributes(before);
                    self.out.push_str(if before.is_empty() { "" } else { ", " });
                    self.annotation(own);
                    self.out.push_str(if behind.is_empty() { "" } else { ", " });
                    self.attributes(behind);
                } else {
                    self.attributes(&args);
                }
                self.out.push(']');
            }
            false => {
                self.out.push('(');
                self.arguments(&args);
                self.out.push(')');
                if let Some(own) = &annotation {
                    self.out.push('[');
                    self.annotation(own);
                    self.out.push(']');
                }
            }
        }
        for &region in g.regions(op) {
            let block = g.block(region);
            self.out.push('\n');
            self.blanks(indent + 4);
            self.out.push('(');
            let params: Vec<(ValueId, bool)> = g
                .arguments(block)
                .into_iter()
                .map(|value| (value, false))
                .collect();
            self.params(&params);
            self.out.push_str(") ");
            self.body(block, indent + 8);
        }
        self.out.push_str(";\n");
    }

    fn arguments(&mut self, args: &[Printed<'_>]) {
        for (at, given) in args.iter().enumerate() {
            self.out.push_str(if at > 0 { ", " } else { "" });
            self.out.push_str(given.name);
            self.out.push_str(" = ");
            self.out.push_str(if given.is_tuple { "(" } else { "" });
            for (at, &value) in given.values.iter().enumerate() {
                self.out.push_str(if at > 0 { ", " } else { "" });
                self.argument(value);
            }
            self.out.push_str(if given.is_tuple { ")" } else { "" });
        }
    }

    /// Prints arguments that are constants as attributes, which hold the bare value in every spelling.
    fn attributes(&mut self, args: &[Printed<'_>]) {
        for (at, given) in args.iter().enumerate() {
            self.out.push_str(if at > 0 { ", " } else { "" });
            self.out.push_str(given.name);
            self.out.push_str(" = ");
            if let Some(own) = given.values.first().and_then(|&value| self.inline(value)) {
                self.value(own);
            }
        }
    }

    fn argument(&mut self, value: ValueId) {
        match self.inline(value) {
            Some(own) if self.spelling == Spelling::Primer => {
                self.out.push_str("const(");
                self.value(own);
                self.out.push(')');
            }
            Some(own) => self.value(own),
            None => self.out.push_str(self.plan.name(value)),
        }
    }

    /// Returns the constant that is printed inline at the uses of `value`.
    fn inline(&self, value: ValueId) -> Option<Const> {
        structure::constant_of(self.g, value).filter(|own| own.inline(self.g))
    }
}

/// An argument of an op.
struct Printed<'g> {
    name: &'static str,
    is_tuple: bool,
    values: &'g [ValueId],
}
