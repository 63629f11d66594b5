//! Builds a graph from the syntax tree.

pub(crate) mod classify;

use mind_diag::{Code, Diagnostic, Diagnostics, Fix, Span};
use mind_ir::attr::{Attr, Literal};
use mind_ir::builtin::Yield;
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::{Op, OpDef, nearest};
use mind_ir::types::{DType, TensorType};
use mind_ir::{BlockId, Ty, ValueId};
use mind_mil::call::listed;
use mind_mil::signature::definition;
use mind_mil::{Attributes, Element, MilOp, ops, structure};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::mil::Parsed;
use crate::mil::build::classify::{CLASSIFY, Classified};
use crate::mil::names::is_name;
use crate::mil::syntax::{Arg, Block, Function, Name, Program, Statement, Typed, Value};
use crate::mil::types::{Type, text};
use mind_text::{Entity, Role, SourceMap};

/// Returns the graph of a program, whose main function becomes the module itself.
///
/// `map`, if given, receives the names of the program.
pub(crate) fn build(
    program: &Program<'_>,
    map: Option<&mut SourceMap>,
) -> Result<Graph, Diagnostics> {
    let statements = program
        .functions
        .iter()
        .map(|function| function.block.statements.len());
    let mut builder = Builder {
        graph: Graph::with_capacity(2 * statements.sum::<usize>()),
        scope: FxHashMap::default(),
        shadowed: Vec::new(),
        classified: None,
        found: Diagnostics::new(),
        map,
    };
    builder.program(program);
    if builder.found.has_errors() {
        Err(builder.found)
    } else {
        Ok(builder.graph)
    }
}

struct Builder<'b> {
    graph: Graph,
    /// The values in scope, and where they are defined.
    scope: FxHashMap<&'b str, (ValueId, Span)>,
    /// Names in scope in the order of their definition, so that a block can remove its own.
    shadowed: Vec<&'b str>,
    /// The classifier of the main function.
    classified: Option<Classified>,
    found: Diagnostics,
    map: Option<&'b mut SourceMap>,
}

impl<'b> Builder<'b> {
    fn note(&mut self, span: Span, entity: Entity, role: Role) {
        if let Some(map) = &mut self.map {
            map.record(span, entity, role);
        }
    }

    fn program(&mut self, program: &'b Program<'b>) {
        let mut functions: Vec<&Function<'b>> = program.functions.iter().collect();
        let main = functions.remove(program.main);
        let words = [
            program.version,
            &program.attributes,
            main.name.text,
            main.opset,
            &main.attributes,
        ];
        let attrs = words.map(|word| Attr::Str(self.graph.intern(word)));
        let body = self.graph.body();
        self.insert(body, structure::Program::DEF, &[], &attrs, 0, program.span);
        self.note(main.name.span, Entity::Function, Role::Definition);
        let mut given = vec![main.name];
        for function in functions {
            if let Some(first) = given.iter().find(|name| name.text == function.name.text) {
                let error = twice(function.name, first.span);
                self.found.push(error);
            }
            given.push(function.name);
            self.note(function.name.span, Entity::Function, Role::Definition);
            self.function(function);
        }
        for (ty, name) in &main.block.params {
            self.input(ty, *name);
        }
        self.block(body, &main.block);
    }

    fn function(&mut self, function: &'b Function<'b>) {
        let params = &function.block.params;
        let names = params.iter().map(|(ty, name)| match ty {
            Type::State { .. } => format!("{}:state", name.text),
            _ => name.text.to_owned(),
        });
        let names = names.collect::<Vec<_>>().join(" ");
        let words = [
            function.name.text,
            function.opset,
            &function.attributes,
            &names,
        ];
        let attrs = words.map(|word| Attr::Str(self.graph.intern(word)));
        let body = self.graph.body();
        let op = self.insert(
            body,
            structure::Func::DEF,
            &[],
            &attrs,
            0,
            function.name.span,
        );
        let block = self.graph.block(self.graph.regions(op)[0]);
        self.inner(block, &function.block);
        self.leave(0);
    }

    /// Fills a nested block, whose values go out of scope at its end.
    fn inner(&mut self, block: BlockId, syntax: &'b Block<'b>) {
        let before = self.shadowed.len();
        let arguments = self.graph.add_arguments(block, syntax.params.len());
        for (argument, (ty, name)) in arguments.into_iter().zip(&syntax.params) {
            let ty = self.ty(ty, name.span);
            if let Some((ty, _)) = self.known_type(ty) {
                self.graph.declare(argument, ty);
            }
            self.define(*name, argument);
        }
        self.block(block, syntax);
        self.leave(before);
    }

    fn leave(&mut self, before: usize) {
        for name in self.shadowed.drain(before..) {
            self.scope.remove(name);
        }
    }

    fn input(&mut self, ty: &Type, name: Name<'b>) {
        let is_state = matches!(ty, Type::State { .. });
        let written = self.ty(ty, name.span);
        let Some((ty, _)) = self.known_type(written) else {
            return;
        };
        let attrs = [
            Attr::Str(self.graph.intern(name.text)),
            Attr::Bool(is_state),
        ];
        let body = self.graph.body();
        let op = self.insert(body, structure::Input::DEF, &[], &attrs, 1, name.span);
        let value = self.graph.result(op);
        self.graph.declare(value, ty);
        self.define(name, value);
    }

    fn block(&mut self, block: BlockId, syntax: &'b Block<'b>) {
        for statement in &syntax.statements {
            if let Err(error) = self.statement(block, statement) {
                self.found.push(*error);
                self.assume(block, statement);
            }
        }
        if block == self.graph.body() {
            return self.end(block, syntax);
        }
        let outputs: Vec<Option<ValueId>> = syntax
            .outputs
            .iter()
            .map(|name| self.output(*name))
            .collect();
        if let Some(outputs) = outputs.into_iter().collect::<Option<Vec<ValueId>>>() {
            self.insert(block, Yield::DEF, &outputs, &[], 0, syntax.end);
        }
    }

    /// Ends the main function. Its outputs keep their names.
    fn end(&mut self, block: BlockId, syntax: &'b Block<'b>) {
        let Some(outputs) = self.named_outputs(syntax) else {
            return;
        };
        let (values, names): (Vec<ValueId>, Vec<&str>) = outputs.into_iter().unzip();
        // A value that is returned twice is left to the rules of MIL, which report it.
        let mut seen = FxHashSet::default();
        for (at, name) in names.into_iter().enumerate() {
            if seen.insert(name) {
                self.graph.interface.output_mut(at).name = Some(name.to_owned());
            }
        }
        self.insert(block, Yield::DEF, &values, &[], 0, syntax.end);
    }

    fn output(&mut self, name: Name<'_>) -> Option<ValueId> {
        let known = self.read(name);
        if known.is_none() {
            let message = format!("output `{}` is not defined", name.text);
            let error = Diagnostic::error(name.span, message).code(Code(4003));
            self.found
                .push(error.help("an output names a parameter or a result of the function"));
        }
        known
    }

    /// Defines the results of a rejected statement, so that reading them reports no further error.
    fn assume(&mut self, block: BlockId, statement: &'b Statement<'b>) {
        for (ty, name) in &statement.results {
            if let Ok((ty, _)) = type_id(&mut self.graph, ty, name.span) {
                let op = self.insert(
                    block,
                    structure::Input::DEF,
                    &[],
                    &self.blank_input(),
                    1,
                    name.span,
                );
                let value = self.graph.result(op);
                self.graph.declare(value, ty);
                if !self.scope.contains_key(name.text) {
                    self.note_definition(*name, value);
                    self.scope.insert(name.text, (value, name.span));
                    self.shadowed.push(name.text);
                }
            }
        }
    }

    fn blank_input(&self) -> [Attr<'static>; 2] {
        [Attr::Str(mind_ir::Sym::new(0)), Attr::Bool(false)]
    }

    /// Returns the value in scope called `name`.
    fn read(&mut self, name: Name<'_>) -> Option<ValueId> {
        let &(value, defined) = self.scope.get(name.text)?;
        let entity = Entity::Value(defined.start.into());
        self.note(name.span, entity, Role::Reference);
        Some(value)
    }

    fn define(&mut self, name: Name<'b>, value: ValueId) {
        if !is_name(name.text) {
            let message = format!("`{}` is reserved and names no value", name.text);
            let error = Diagnostic::error(name.span, message).code(Code(4112));
            self.found
                .push(error.help(format!("write another name, as in `{}_0`", name.text)));
        }
        match self.scope.get(name.text) {
            Some(&(_, first)) => self.found.push(twice(name, first)),
            None => {
                self.note_definition(name, value);
                self.scope.insert(name.text, (value, name.span));
                self.shadowed.push(name.text);
            }
        }
    }

    fn note_definition(&mut self, name: Name<'_>, value: ValueId) {
        if let Some(map) = &mut self.map {
            let number = u64::from(name.span.start);
            map.record(name.span, Entity::Value(number), Role::Definition);
            map.bind(number, value);
        }
    }

    fn ty(&mut self, ty: &Type, span: Span) -> Parsed<(Ty, Element)> {
        type_id(&mut self.graph, ty, span)
    }

    /// Returns the type, or reports its error and returns `None`.
    fn known_type(&mut self, ty: Parsed<(Ty, Element)>) -> Option<(Ty, Element)> {
        ty.map_err(|error| self.found.push(*error)).ok()
    }

    fn statement(&mut self, block: BlockId, statement: &'b Statement<'b>) -> Parsed<()> {
        if statement.op.text == "const" {
            return self.constant(block, statement);
        }
        if statement.op.text == CLASSIFY {
            return match block == self.graph.body() {
                true => self.classify(statement),
                false => Err(Self::inner_classify(statement.op)),
            };
        }
        let row = self.op(statement)?;
        let def = &row.def;
        self.note(statement.op.span, Entity::Op(def), Role::Reference);
        for (name, _) in &statement.args {
            self.note(name.span, Entity::Attr(def, None), Role::Reference);
        }
        let (attributes, op) = (&statement.attributes, statement.op.text);
        let mut label = "";
        let mut inline: Vec<(Name<'b>, &'b Typed)> = Vec::new();
        for (name, typed) in attributes {
            match &typed.value {
                Value::Text(text) if name.text == "name" => label = text,
                _ if row.takes_attributes() => inline.push((*name, typed)),
                _ => {
                    let message = format!("`{op}` has no attribute `{}`", name.text);
                    let error = Diagnostic::error(name.span, message).code(Code(4102));
                    return Err(Box::new(
                        error.help("the one attribute of an op is its `name`"),
                    ));
                }
            }
        }
        inline.sort_by_key(|(name, _)| name.text);
        let mut given: Vec<(usize, Vec<ValueId>)> = Vec::new();
        for (name, arg) in &statement.args {
            let param = self.param(block, row, *name, &given)?;
            let mut values = Vec::new();
            self.argument(block, arg, &mut values)?;
            given.push((param, values));
        }
        for (name, typed) in inline {
            let param = self.param(block, row, name, &given)?;
            given.push((param, vec![self.inline(block, typed)?]));
        }
        let given = given.iter().map(|(param, values)| (*param, &values[..]));
        let (operands, segments) = row.arrange(given);
        let out: Vec<&str> = statement
            .results
            .iter()
            .map(|(_, name)| name.text)
            .collect();
        let mut out = out.join(" ");
        if statement
            .blocks
            .iter()
            .any(|block| !block.params.is_empty())
        {
            for block in &statement.blocks {
                out.push_str(" |");
                block.params.iter().for_each(|(_, name)| {
                    out.push(' ');
                    out.push_str(name.text);
                });
            }
        }
        let names = [out.as_str(), label].map(|word| self.graph.intern(word));
        let attrs = Attributes::list(&segments, names);
        let types: Vec<Ty> = statement
            .results
            .iter()
            .map(|(ty, name)| Ok(type_id(&mut self.graph, ty, name.span)?.0))
            .collect::<Parsed<_>>()?;
        let op = self.insert(
            block,
            def,
            &operands,
            &attrs,
            types.len(),
            statement.op.span,
        );
        for (region, syntax) in self
            .graph
            .regions(op)
            .to_vec()
            .into_iter()
            .zip(&statement.blocks)
        {
            let inner = self.graph.block(region);
            self.inner(inner, syntax);
        }
        for ((value, ty), (_, name)) in self
            .graph
            .results(op)
            .into_iter()
            .zip(types)
            .zip(&statement.results)
        {
            self.graph.declare(value, ty);
            self.define(*name, value);
        }
        Ok(())
    }

    /// Returns the table entry of a statement's op, after checking its numbers of results and blocks.
    fn op(&self, statement: &Statement<'_>) -> Parsed<&'static MilOp> {
        let Name { text: op, span } = statement.op;
        let Some(row) = ops::named(op) else {
            let mut error = Diagnostic::error(span, format!("there is no op `{op}`"));
            if let Some(near) = nearest(op, ops::ROWS.iter().map(|row| row.name)) {
                let fix = Fix {
                    span,
                    text: near.to_owned(),
                };
                error = error.help(format!("there is `{near}`")).fix(fix);
            }
            return Err(Box::new(error));
        };
        let (def, results) = (&row.def, statement.results.len());
        let fits = match def.results.count() {
            Some(count) => results == count,
            None => results > 0,
        };
        if !fits {
            let message = format!("`{op}` cannot have {results} results");
            return Err(Box::new(Diagnostic::error(span, message)));
        }
        if statement.blocks.len() != def.regions {
            let (found, wanted) = (statement.blocks.len(), def.regions);
            let message = format!("`{op}` has {wanted} blocks, found {found}");
            return Err(Box::new(Diagnostic::error(span, message)));
        }
        if statement.args.is_empty() && statement.attributes.len() < 2 {
            let error = Diagnostic::error(span, format!("`{op}` is given no argument"));
            let help = "name its arguments, as in `relu(x = x)`";
            return Err(Box::new(error.code(Code(4104)).help(help)));
        }
        Ok(row)
    }

    /// Returns the position of the argument called `name`, which must not be among the `given` ones.
    ///
    /// # Errors
    ///
    /// E4102 if no opset has the argument, E4103 if it is given twice.
    fn param(
        &self,
        block: BlockId,
        row: &'static MilOp,
        name: Name<'_>,
        given: &[(usize, Vec<ValueId>)],
    ) -> Parsed<usize> {
        let (op, written) = (row.name, name.text);
        let Some(param) = row.param(written) else {
            let message = format!("`{op}` has no argument `{written}`");
            let error = Diagnostic::error(name.span, message).code(Code(4102));
            let opset = structure::opset_in(&self.graph, block);
            let known = definition(row.signatures, opset);
            return Err(Box::new(match known {
                Some(args) => error.help(listed(args, opset)),
                None => error,
            }));
        };
        if given.iter().any(|&(before, _)| before == param) {
            let message = format!("`{op}` is given its argument `{written}` twice");
            let error = Diagnostic::error(name.span, message).code(Code(4103));
            return Err(Box::new(
                error.help(format!("remove one of the two `{written}`")),
            ));
        }
        Ok(param)
    }

    fn argument(
        &mut self,
        block: BlockId,
        arg: &'b Arg<'b>,
        operands: &mut Vec<ValueId>,
    ) -> Parsed<()> {
        match arg {
            Arg::Name(name) => match self.read(*name) {
                Some(value) => operands.push(value),
                None => {
                    let message = format!("`{}` is used before its definition", name.text);
                    let error = Diagnostic::error(name.span, message).code(Code(4001));
                    let help = "move the statement that defines it above this one";
                    return Err(Box::new(error.help(help)));
                }
            },
            Arg::Typed(typed) => operands.push(self.inline(block, typed)?),
            Arg::Tuple(entries) => {
                for entry in entries {
                    self.argument(block, entry, operands)?;
                }
            }
        }
        Ok(())
    }

    fn inline(&mut self, block: BlockId, typed: &Typed) -> Parsed<ValueId> {
        self.elements(block, typed, ["", ""], true)
    }

    fn constant(&mut self, block: BlockId, statement: &'b Statement<'b>) -> Parsed<()> {
        let find = |name: &str| {
            statement
                .attributes
                .iter()
                .find(|(own, _)| own.text == name)
        };
        let span = statement.op.span;
        self.note(span, Entity::Op(structure::Const::DEF), Role::Reference);
        let ([(ty, name)], Some((_, value))) = (&statement.results[..], find("val")) else {
            let message = "a constant has one result and an attribute `val`";
            let help = "as in `int32 axis = const()[val = int32(1)];`";
            let error = Diagnostic::error(span, message).code(Code(4104));
            return Err(Box::new(error.help(help)));
        };
        let label = match find("name").map(|(_, typed)| &typed.value) {
            Some(Value::Text(label)) => label.as_str(),
            _ => "",
        };
        if *ty != value.ty {
            let message = format!("{} cannot be {}", text(&value.ty), text(ty));
            let help = format!("declare `{}`, or change the value", text(&value.ty));
            let error = Diagnostic::error(value.span, message).code(Code(2001));
            return Err(Box::new(error.help(help)));
        }
        let value = self.elements(block, value, [name.text, label], false)?;
        self.define(*name, value);
        Ok(())
    }

    /// Appends a constant and returns its value.
    fn elements(
        &mut self,
        block: BlockId,
        typed: &Typed,
        [out, label]: [&str; 2],
        inline: bool,
    ) -> Parsed<ValueId> {
        let (ty, element) = type_id(&mut self.graph, &typed.ty, typed.span)?;
        let dtype = element.carrier();
        let nothing = Literal {
            dtype,
            count: Some(0),
            bytes: &[],
        };
        let (data, word, path, offset) = match &typed.value {
            Value::Elements { count, bytes } => {
                let data = Literal {
                    dtype,
                    count: Some(*count),
                    bytes,
                };
                (data, "", "", 0)
            }
            Value::Classes(_) => {
                let message = "a value of type list cannot be carried";
                let error = Diagnostic::error(typed.span, message);
                return Err(Box::new(error.help("only `classify` takes a list")));
            }
            Value::Text(word) => {
                let data = Literal {
                    dtype: DType::U8,
                    count: None,
                    bytes: &[0],
                };
                (data, word.as_str(), "", 0)
            }
            Value::Blob { path, offset } => {
                check_path(path, typed.span)?;
                (nothing, "", path.as_str(), *offset)
            }
        };
        let words =
            [element.name(), word, path, out, label].map(|word| Attr::Str(self.graph.intern(word)));
        let [element, word, path, out, label] = words;
        let attrs = [
            Attr::Literal(&data),
            element,
            word,
            path,
            Attr::Int(offset),
            out,
            label,
            Attr::Bool(inline),
        ];
        let op = self.insert(block, structure::Const::DEF, &[], &attrs, 1, typed.span);
        let value = self.graph.result(op);
        self.graph.declare(value, ty);
        Ok(value)
    }

    fn insert(
        &mut self,
        block: BlockId,
        def: &'static OpDef,
        operands: &[ValueId],
        attrs: &[Attr<'_>],
        results: usize,
        span: Span,
    ) -> mind_ir::OpId {
        let new = NewOp {
            def,
            operands,
            attrs,
            results,
            span,
        };
        self.graph.insert(InsertPoint::End(block), new)
    }
}

fn twice(name: Name<'_>, first: Span) -> Diagnostic {
    let message = format!("`{}` is defined twice", name.text);
    let error = Diagnostic::error(name.span, message).code(Code(4113));
    error
        .related(first, "first here")
        .help("give one of the two another name")
}

/// Returns the type of a value in the graph, and its element type.
fn type_id(graph: &mut Graph, ty: &Type, span: Span) -> Parsed<(Ty, Element)> {
    match ty {
        Type::Tensor { element, shape } | Type::State { element, shape } => {
            if *element == Element::String && !shape.is_empty() {
                let message = format!("a value of type {} cannot be carried", text(ty));
                return Err(Box::new(Diagnostic::error(span, message)));
            }
            let ty = TensorType::new(element.carrier(), shape.iter().copied());
            Ok((graph.intern_type(ty.view()), *element))
        }
        Type::Foreign(what) => {
            let message = format!("a value of type `{what}` cannot be carried");
            let error = Diagnostic::error(span, message);
            Err(Box::new(
                error.help("values are tensors, scalars and states"),
            ))
        }
    }
}

/// Checks that a path stays inside the model's folder.
///
/// # Errors
///
/// E4115.
fn check_path(path: &str, span: Span) -> Parsed<()> {
    let inside = path.strip_prefix("@model_path/").unwrap_or(path);
    let leaves = inside.is_empty()
        || inside.starts_with(['/', '\\'])
        || inside.contains(['\\', ':'])
        || inside
            .split('/')
            .any(|part| matches!(part, "" | "." | ".."));
    if !leaves {
        return Ok(());
    }
    let message = format!("`{path}` leads out of the model's folder");
    let error = Diagnostic::error(span, message).code(Code(4115));
    Err(Box::new(error.help(
        "weights stand below it, as `@model_path/weights/weight.bin`",
    )))
}
