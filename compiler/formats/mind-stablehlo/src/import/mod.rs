//! Imports the public function of a text to a module of core.
//!
//! Operations are imported in order, and only those that a result depends on. Calls are inlined. An operation with
//! small known operands is folded, which evaluates the shape arithmetic of a text. Everything that cannot be imported
//! is collected, so that one run reports all of it.

mod arithmetic;
pub(crate) mod emit;
mod fold;
pub(crate) mod inputs;
pub(crate) mod node;
pub(crate) mod region;
pub(crate) mod scope;
pub(crate) mod value;

use mind_convert::{EmitCore, Imported, Refusal, Report, Site, finish};
use mind_diag::{Code, Diagnostic, Diagnostics, Severity};
use mind_ir::builder::Builder;
use mind_ir::types::{Dim, TypeView};
use mind_ir::{BlockId, Graph};

use crate::constant::dtype;
use crate::ops;
use crate::options::ImportOptions;
use crate::text::{Block, Module, Op, Type};
use emit::{Cache, Emit};
use node::Node;
use scope::{Named, Scope, needed};
use value::{Value, Values};

/// Maximum nesting depth of calls and regions.
const DEPTH_LIMIT: usize = 64;

/// Maximum number of operations after inlining all calls.
const OPERATION_LIMIT: usize = 1_000_000;

/// State of an import.
pub(crate) struct Importer<'t> {
    pub module: &'t Module<'t>,
    pub options: &'t ImportOptions,
    pub report: Report,
    depth: usize,
    /// The number of operations that may still be imported.
    left: usize,
}

/// Imports a parsed text.
///
/// # Errors
///
/// Everything in it that cannot be imported.
pub(crate) fn import(text: &Module<'_>, options: &ImportOptions) -> Result<Imported, Diagnostics> {
    let mut importer = Importer {
        module: text,
        options,
        report: Report::default(),
        depth: 0,
        left: OPERATION_LIMIT,
    };
    let mut graph = Graph::new();
    importer.main(&mut graph);
    importer.report.imported(graph)
}

/// The insertion point of an import.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// The block that ops are appended to, if there is one.
    pub block: Option<BlockId>,
    /// Whether scalars of the text represent whole tensors, so that the ranks in the text do not apply.
    pub is_pointwise: bool,
}

impl<'t> Importer<'t> {
    fn main(&mut self, graph: &mut Graph) {
        let module = self.module;
        let Some(main) = module.main() else {
            let count = module.functions.len();
            let message =
                format!("the text has {count} functions, expected `@main` or one public function");
            let refusal = Refusal::new(Code(4206), message)
                .help("name the function `@main`, or make it the one `public` function");
            return self.report.model(module.span(), refusal);
        };
        for mesh in module.meshes.iter().filter(|mesh| mesh.devices > 1) {
            let (name, devices) = (mesh.name, mesh.devices);
            let message = format!("the shardings of `@{name}` over {devices} devices are dropped");
            let warning = Diagnostic::new(Severity::Warning, mesh.span, message);
            let help = "the module computes whole tensors on one device";
            self.report.warning(warning.help(help));
        }
        let mut cache = Cache::default();
        let mut scope = Scope::default();
        self.inputs(main, &mut scope, graph, &mut cache);
        let place = Place {
            block: Some(graph.body()),
            is_pointwise: false,
        };
        let mut e = Emit {
            b: Builder::at_end(graph),
            cache: &mut cache,
        };
        let Some(found) = self.block(&main.body, &mut scope, place, &mut e) else {
            return;
        };
        let mut values = Vec::with_capacity(found.len());
        for value in &found {
            match e.value(value) {
                Ok(value) => values.push(value),
                Err(refused) => return self.report.model(main.span, refused),
            }
        }
        if values.is_empty() || values.len() != main.results.len() {
            let (found, wanted) = (values.len(), main.results.len());
            let expected = format!("{wanted}, as it is declared, and at least 1");
            let refusal = Refusal::parts("the function", format_args!("{found} results"), expected);
            return self.report.model(main.span, refusal);
        }
        for (value, result) in found.iter().zip(&main.results) {
            if let Err(refused) = check_type(&e, value, &result.ty) {
                return self.report.model(main.span, refused);
            }
        }
        finish(graph, &values);
        for (at, result) in main.results.iter().enumerate() {
            let interface = &mut graph.interface;
            let name = result.name.as_deref().filter(|name| !name.is_empty());
            if let Some(name) = name.filter(|name| interface.output_position(name).is_none()) {
                interface.output_mut(at).name = Some(name.to_owned());
            }
        }
    }

    /// Imports the operations of a block that its results depend on and returns the results; `None` if one of these
    /// operations was refused.
    pub fn block(
        &mut self,
        block: &'t Block<'t>,
        scope: &mut Scope<'t>,
        place: Place,
        e: &mut Emit<'_>,
    ) -> Option<Vec<Value>> {
        let needed = needed(block);
        let mut results = None;
        for (op, is_needed) in block.ops.iter().zip(needed) {
            if op.is_return() {
                results = Some(self.returned(op, scope)?);
                continue;
            }
            if !is_needed {
                continue;
            }
            let Some(left) = self.left.checked_sub(1) else {
                let what =
                    "the number of operations, with those of functions wherever they are called,";
                let found = format!("more than {OPERATION_LIMIT} operations");
                self.report
                    .model(op.span, Refusal::too_large(what, found, OPERATION_LIMIT));
                return None;
            };
            self.left = left;
            match self.operation(op, scope, place, e) {
                Ok(values) => scope.define(&op.results, values),
                Err(refused) => {
                    scope.refuse(&op.results);
                    self.report.op(refused, site(op, scope, e.g()));
                }
            }
        }
        if results.is_none() {
            let span = block.ops.last().map_or(self.module.span(), |op| op.span);
            let message = "this block does not end with `return`";
            let refusal = Refusal::new(Code(4116), message)
                .help("the last operation of a block returns its results");
            self.report.model(span, refusal);
        }
        results
    }

    /// Returns the values that a block terminator returns.
    fn returned(&mut self, op: &Op<'t>, scope: &Scope<'t>) -> Option<Vec<Value>> {
        let mut found = Vec::with_capacity(op.operands.len());
        for operand in &op.operands {
            match scope.get(operand) {
                Named::Value(value) => found.push(value),
                Named::Refused => return None,
                Named::Nothing => {
                    let refusal = Refusal::undefined(&format!("%{}", operand.name));
                    self.report.model(operand.span, refusal);
                    return None;
                }
            }
        }
        Some(found)
    }

    fn operation(
        &mut self,
        op: &'t Op<'t>,
        scope: &Scope<'t>,
        place: Place,
        e: &mut Emit<'_>,
    ) -> Values {
        let mut inputs = Vec::with_capacity(op.operands.len());
        let mut following = None;
        for operand in &op.operands {
            match scope.get(operand) {
                Named::Value(value) => inputs.push(value),
                Named::Refused => following = Some(Refusal::following(operand.name)),
                Named::Nothing => {
                    return Err(Refusal::undefined(&format!("%{}", operand.name)));
                }
            }
        }
        let Some(row) = ops::find(op.name) else {
            return Err(ops::missing(op));
        };
        if let Some(refusal) = ops::refusal(op) {
            return Err(refusal);
        }
        if place.is_pointwise && !row.is_pointwise() {
            return Err(Refusal::new(
                Code(4021),
                "this region holds functions of single elements only",
            )
            .help("move the op out of the region"));
        }
        if let Some(refusal) = following {
            return Err(refusal);
        }
        if let Some(values) = fold::folded(self, row, op, &inputs, scope) {
            return Ok(values);
        }
        let mut e = e.at(place.block, op.span);
        if let Some(value) = arithmetic::computed(op.name, &inputs, &mut e)? {
            return Ok(vec![value]);
        }
        self.imported(row, op, &inputs, scope, place, &mut e)
    }

    /// Emits an operation by its row.
    fn imported(
        &mut self,
        row: &ops::Row,
        op: &'t Op<'t>,
        inputs: &[Value],
        scope: &Scope<'t>,
        place: Place,
        e: &mut Emit<'_>,
    ) -> Values {
        let mut n = Node::new(op, inputs, scope, place, self, e);
        let values = row.import(&mut n)?;
        if let Some(name) = n.unknown_attribute() {
            return Err(Refusal::unknown(name));
        }
        let named: usize = op.results.iter().map(|(_, count)| count).sum();
        if named != values.len() || (named != op.types.len() && !op.types.is_empty()) {
            let found = format!("{named} results and {} types of results", op.types.len());
            return Err(Refusal::parts(
                "the op",
                found,
                format_args!("{} of each", values.len()),
            ));
        }
        if !place.is_pointwise {
            for (value, ty) in values.iter().zip(&op.types) {
                check_type(e, value, ty)?;
            }
        }
        Ok(values)
    }

    /// Runs `import` one nesting level deeper.
    pub fn deeper<T>(&mut self, import: impl FnOnce(&mut Importer<'t>) -> T) -> Result<T, Refusal> {
        if self.depth >= DEPTH_LIMIT {
            return Err(Refusal::too_large(
                "the nesting of calls and regions",
                format_args!("more than {DEPTH_LIMIT} calls"),
                DEPTH_LIMIT,
            ));
        }
        self.depth += 1;
        let imported = import(self);
        self.depth -= 1;
        Ok(imported)
    }
}

/// Returns the position of a refused operation and the types of its operands.
fn site(op: &Op<'_>, scope: &Scope<'_>, g: &Graph) -> Site {
    const SHOWN: usize = 8;
    let types = op.operands.iter().filter_map(|own| {
        let value = scope.value(own)?;
        Some(format!("`%{}` is {}", own.name, value.type_text(g)))
    });
    Site {
        operator: op.name.to_owned(),
        opset: None,
        node: None,
        span: op.span,
        operands: types.take(SHOWN).collect(),
    }
}

/// Checks the value of an operation against the type in the text.
fn check_type(e: &Emit<'_>, value: &Value, ty: &Type<'_>) -> Result<(), Refusal> {
    let Value::Op(value) = value else {
        return Ok(());
    };
    let Type::Tensor(wanted) = ty else {
        return Ok(());
    };
    let found: TypeView<'_> = e.g().ty(*value);
    let fits = |(dim, wanted): (&Dim, &Option<i64>)| match (dim.fixed(), wanted) {
        (Some(found), Some(wanted)) => found == *wanted,
        (None, _) | (_, None) => true,
    };
    let is_same = found.dtype == dtype(wanted.element)?
        && found.shape.len() == wanted.shape.len()
        && found.shape.iter().zip(&wanted.shape).all(fits);
    if is_same {
        return Ok(());
    }
    let extents = wanted.shape.iter();
    let extents = extents.map(|own| own.map_or("?x".to_owned(), |own| format!("{own}x")));
    let (extents, element) = (extents.collect::<String>(), wanted.element);
    let made = e.g().type_text(*value);
    let declared = format!("tensor<{extents}{element}>");
    Err(Refusal::declared("its result", made, declared))
}
