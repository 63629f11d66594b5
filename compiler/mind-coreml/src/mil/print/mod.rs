//! Printing.

mod literal;
mod plan;

use mind_diag::{Diagnostic, Diagnostics};
use mind_ir::attr::Attr;
use mind_ir::graph::{Graph, ValueDef};
use mind_ir::opdef::OpDef;
use mind_ir::types::TypeView;
use mind_ir::{BlockId, OpId, ValueId};
use mind_mil::call::{ARGS, NAME, OUT};
use mind_mil::ops;
use mind_mil::structure::{self, Const, Func, Input, Program};

use super::constexpr::{result_element, writes_attributes};
use super::element::Element;
use super::spelling::Spelling;
use super::types::{Generation, write_tensor};
use literal::write_value;
use plan::{Plan, word};

/// The attributes of a program that names none.
const ATTRIBUTES: &str = r#"buildInfo = dict<string, string>({{"coremlc-component-MIL", "mind-opt"}, {"coremlc-version", "0"}})"#;

/// Prints a module, without a line end behind the last line.
///
/// # Errors
///
/// Each op that is none of MIL.
pub(super) fn print(g: &Graph, spelling: Spelling) -> Result<String, Diagnostics> {
    let foreign = refused(g);
    if !foreign.is_empty() {
        return Err(foreign);
    }
    let first = g.ops(g.body()).next();
    let first = first.filter(|&op| g.is::<Program>(op));
    let said = |at: usize, default: &'static str| -> String {
        first.map_or(default.to_owned(), |op| word(g, op, at).to_owned())
    };
    let version = said(0, "1.3");
    let printer = Printer {
        g,
        spelling,
        generation: Generation::of(&version),
        plan: Plan::new(g),
        opset: "",
        out: String::with_capacity(96 * g.op_bound()),
    };
    Ok(printer.program(
        &version,
        &said(1, ATTRIBUTES),
        [&said(2, "main"), &said(3, "ios18"), &said(4, "")],
    ))
}

/// An error for each op that MIL does not have.
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
    /// Of the function that is being printed.
    opset: &'g str,
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
        let mut inputs: Vec<OpId> = g.ops(g.body()).filter(|&op| g.is::<Input>(op)).collect();
        inputs.sort_by_key(|&op| self.plan.name(g.result(op)));
        let inputs: Vec<(ValueId, bool)> = inputs
            .into_iter()
            .map(|op| (g.result(op), g.attr(op, 1) == Attr::Bool(true)))
            .collect();
        self.function(function, &inputs, g.body());
        for op in g.ops(g.body()).filter(|&op| g.is::<Func>(op)) {
            let block = g.block(g.regions(op)[0]);
            let mut params: Vec<(ValueId, bool)> = g
                .arguments(block)
                .into_iter()
                .zip(word(g, op, 3).split_ascii_whitespace())
                .map(|(value, name)| (value, name.ends_with(":state")))
                .collect();
            params.sort_by_key(|&(value, _)| self.plan.name(value).to_owned());
            let words = [0, 1, 2].map(|at| word(g, op, at));
            self.function(words, &params, block);
        }
        self.out.push('}');
        self.out
    }

    /// Attributes as the generation spells the type of a scalar.
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
        self.opset = opset;
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

    /// Prints `{ statements } -> (outputs)`, the statements behind `indent` blanks.
    fn body(&mut self, block: BlockId, indent: usize) {
        self.out.push_str("{\n");
        let mut outputs: &[ValueId] = &[];
        for op in self.g.ops(block) {
            let def = self.g.def(op);
            if def.has(mind_ir::opdef::Trait::Terminator) {
                outputs = self.g.operands(op);
            } else if self.g.is::<Const>(op) {
                if !self.plan.is_inline(self.g, op) {
                    self.constant(op, indent);
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

    fn constant(&mut self, op: OpId, indent: usize) {
        self.blanks(indent);
        let value = self.g.result(op);
        self.constant_type(op);
        self.out.push(' ');
        self.out.push_str(self.plan.name(value));
        let name = self
            .plan
            .annotation(self.g, op, plan::CONST_OUT, plan::CONST_NAME)
            .map(str::to_owned);
        match self.spelling {
            Spelling::Compiler => {
                self.out.push_str(" = const()[");
                if let Some(name) = &name {
                    self.annotation(name);
                    self.out.push_str(", ");
                }
                self.out.push_str("val = ");
                self.value(op);
                self.out.push(']');
            }
            Spelling::Primer => {
                self.out.push_str(" = const(val = ");
                self.value(op);
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

    fn value(&mut self, op: OpId) {
        self.constant_type(op);
        self.out.push('(');
        let shape = self.shown(self.g.result(op)).map_or(&[][..], |ty| ty.shape);
        let primer = self.spelling == Spelling::Primer;
        write_value(&mut self.out, self.g, op, shape, self.generation, primer);
        self.out.push(')');
    }

    fn constant_type(&mut self, op: OpId) {
        let shape = self.shown(self.g.result(op)).map_or(&[][..], |ty| ty.shape);
        let element = word(self.g, op, plan::CONST_ELEMENT);
        write_tensor(&mut self.out, element, shape, self.generation);
    }

    fn shown(&self, value: ValueId) -> Option<TypeView<'g>> {
        let id = self.g.type_id(value).or(self.g.declared(value))?;
        Some(self.g.types().get(id))
    }

    fn ty(&mut self, value: ValueId) {
        let g = self.g;
        let id = g.type_id(value).or(g.declared(value));
        if let Some(ty) = id.map(|id| g.types().get(id)) {
            let own = match g.value_def(value) {
                ValueDef::Result(op, index) => {
                    result_element(g.def(op).short_name(), index as usize)
                }
                ValueDef::Argument(..) => None,
            };
            let element = own.unwrap_or(Element::of(ty.dtype).name);
            write_tensor(&mut self.out, element, ty.shape, self.generation);
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
        let name = g.def(op).short_name();
        self.out.push_str(name);
        let annotation = self.plan.annotation(g, op, OUT, NAME).map(str::to_owned);
        let mut args = arguments(g, op);
        args.sort_by_key(|(name, ..)| *name);
        let inline = |values: &[ValueId]| {
            values.iter().all(|&value| {
                g.defining_op(value)
                    .is_some_and(|op| self.plan.is_inline(g, op))
            })
        };
        let attributes =
            writes_attributes(name, self.opset) && args.iter().all(|(_, _, values)| inline(values));
        match attributes {
            true => {
                self.out.push_str("()[");
                if let Some(own) = &annotation {
                    let at = args.partition_point(|(name, ..)| *name < "name");
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

    fn arguments(&mut self, args: &[(&str, bool, &[ValueId])]) {
        for (at, (name, tuple, values)) in args.iter().enumerate() {
            self.out.push_str(if at > 0 { ", " } else { "" });
            self.out.push_str(name);
            self.out.push_str(" = ");
            self.out.push_str(if *tuple { "(" } else { "" });
            for (at, &value) in values.iter().enumerate() {
                self.out.push_str(if at > 0 { ", " } else { "" });
                self.argument(value);
            }
            self.out.push_str(if *tuple { ")" } else { "" });
        }
    }

    /// Arguments that are constants, as attributes: in every spelling a value alone.
    fn attributes(&mut self, args: &[(&str, bool, &[ValueId])]) {
        for (at, (name, _, values)) in args.iter().enumerate() {
            self.out.push_str(if at > 0 { ", " } else { "" });
            self.out.push_str(name);
            self.out.push_str(" = ");
            for op in values.iter().filter_map(|&value| self.g.defining_op(value)) {
                self.value(op);
            }
        }
    }

    fn argument(&mut self, value: ValueId) {
        match self
            .g
            .defining_op(value)
            .filter(|&op| self.plan.is_inline(self.g, op))
        {
            Some(op) if self.spelling == Spelling::Primer => {
                self.out.push_str("const(");
                self.value(op);
                self.out.push(')');
            }
            Some(op) => self.value(op),
            None => self.out.push_str(self.plan.name(value)),
        }
    }
}

/// The arguments of an op: name, whether it is a tuple, values.
fn arguments(g: &Graph, op: OpId) -> Vec<(&str, bool, &[ValueId])> {
    let mut rest = g.operands(op);
    let words = word(g, op, ARGS).split_ascii_whitespace();
    let bound = words.map(|written| {
        let (name, count) = match written.split_once('*') {
            Some((name, count)) => (name, count.parse().unwrap_or(0)),
            None => (written, 1),
        };
        let (own, behind) = rest.split_at(usize::min(count, rest.len()));
        rest = behind;
        (name, written.contains('*'), own)
    });
    bound.collect()
}
