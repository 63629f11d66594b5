//! Imports the graph of a model to a module of core.
//!
//! Nodes are imported in topological order, and only those that an output depends on. Each is imported by the row of
//! its operator. A node with small known inputs is folded, which evaluates the shape arithmetic of a model. Everything
//! that cannot be imported is collected, so that one run reports all of it.

mod declared;
pub(crate) mod emit;
mod fold;
mod inputs;
mod later;
pub(crate) mod node;
pub(crate) mod ranks;
pub(crate) mod region;
pub(crate) mod scope;
pub(crate) mod value;

use std::cell::RefCell;
use std::rc::Rc;

use mind_convert::{DimSymbols, EmitCore, Imported, Refusal, Report, Site, finish};
use mind_diag::{Code, Diagnostics, Span};
use mind_ir::Graph;
use mind_ir::builder::Builder;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::interface;
use crate::operators::{self, Operator};
use crate::options::ImportOptions;
use crate::proto::{FunctionProto, GraphProto, ModelProto, NodeProto};
use crate::tensor::constant;
use emit::{Constants, Emit};
use later::{Later, differs_in_branches};
use node::Node;
use scope::{Named, Scope, ordered};
use value::Value;

/// Maximum nesting depth of functions and graphs.
const DEPTH_LIMIT: usize = 64;

/// State of an import.
pub(crate) struct Importer<'m> {
    functions: FxHashMap<(&'m str, &'m str), &'m FunctionProto>,
    pub options: &'m ImportOptions,
    symbols: DimSymbols,
    /// The names of the input dimensions whose extents may be given.
    open: Vec<String>,
    /// The names whose extents were given and used.
    used: FxHashSet<&'m str>,
    /// The extents of dimensions that bound arrays determine.
    closed: FxHashMap<String, i64>,
    report: Report,
    depth: usize,
    /// Nesting depth of conditionals whose dependent nodes are imported in their branches.
    continued: usize,
    /// The number of enclosing loops that are imported twice.
    pub tried_loops: usize,
    /// The number of loops that were imported again with unknown extents.
    pub reopened_loops: usize,
}

/// The versions of the operator sets, by domain.
pub(crate) type Opsets<'m> = FxHashMap<&'m str, i64>;

/// Imports a model.
///
/// # Errors
///
/// Everything in the model that cannot be imported.
pub(crate) fn import(model: &ModelProto, options: &ImportOptions) -> Result<Imported, Diagnostics> {
    let mut importer = Importer {
        functions: model
            .functions
            .iter()
            .map(|own| ((&own.domain[..], &own.name[..]), own))
            .collect(),
        options,
        symbols: DimSymbols::default(),
        open: Vec::new(),
        used: FxHashSet::default(),
        closed: FxHashMap::default(),
        report: Report::default(),
        depth: 0,
        continued: 0,
        tried_loops: 0,
        reopened_loops: 0,
    };
    let mut module = Graph::new();
    match &model.graph {
        Some(graph) => importer.model(graph, &opsets(&model.opset_import), &mut module),
        None => importer.refuse(Refusal::missing("graph")),
    }
    module.interface = interface::interface(model);
    importer.report.imported(module)
}

fn opsets(imports: &[crate::proto::OperatorSetIdProto]) -> Opsets<'_> {
    let versions = imports.iter();
    versions
        .map(|own| (operators::domain(&own.domain), own.version))
        .collect()
}

/// A node, the row of its operator, and the context that it is in.
struct Place<'a> {
    row: &'static Operator,
    node: &'a NodeProto,
    opset: i64,
    opsets: &'a Opsets<'a>,
    scope: &'a Scope<'a>,
}

impl<'m> Importer<'m> {
    /// Reports an error outside of the nodes.
    fn refuse(&mut self, refusal: Refusal) {
        self.report.model(Span::FILE, refusal);
    }

    fn model(&mut self, graph: &'m GraphProto, opsets: &Opsets<'_>, module: &mut Graph) {
        let mut scope = Scope::default();
        scope.declare_ranks(graph.output.iter().chain(&graph.value_info));
        self.initialisers(graph, &mut scope);
        self.inputs(graph, &mut scope, module);
        let mut constants = Constants::default();
        let mut e = Emit {
            b: Builder::at_end(module),
            constants: &mut constants,
        };
        let outputs: Vec<&str> = graph.output.iter().map(|own| &own.name[..]).collect();
        let found = self.nodes(&graph.node, &outputs, opsets, &mut scope, &mut e);
        self.check_declared(graph, &scope, e.g());
        let Some(found) = found else { return };
        let mut values = Vec::with_capacity(found.len());
        for value in &found {
            match e.value(value) {
                Ok(value) => values.push(value),
                Err(refusal) => return self.refuse(refusal),
            }
        }
        finish(module, &values);
    }

    fn initialisers<'n>(&mut self, graph: &'n GraphProto, scope: &mut Scope<'n>) {
        for tensor in &graph.initializer {
            match constant(tensor, &self.options.files) {
                Ok(constant) => scope.define(&tensor.name, Value::Known(Rc::new(constant))),
                Err(refused) => {
                    let name = &tensor.name;
                    self.refuse(refused.within(format_args!("initialiser `{name}`")));
                    scope.refuse(name);
                }
            }
        }
        if let Some(sparse) = graph.sparse_initializer.first() {
            let name = sparse.values.as_ref().map_or("", |values| &values.name);
            self.refuse(Refusal::unsupported(
                format!("initialiser `{name}` is sparse"),
                "store it as a dense tensor",
            ));
        }
    }

    /// Imports a nested graph and returns its outputs; `None` if a node that they depend on was refused.
    fn graph<'n>(
        &mut self,
        graph: &'n GraphProto,
        opsets: &Opsets<'_>,
        mut scope: Scope<'n>,
        e: &mut Emit<'_>,
    ) -> Option<Vec<Value>> {
        scope.declare_ranks(graph.output.iter().chain(&graph.value_info));
        self.initialisers(graph, &mut scope);
        let outputs: Vec<&str> = graph.output.iter().map(|own| &own.name[..]).collect();
        let found = self.nodes(&graph.node, &outputs, opsets, &mut scope, e);
        self.check_declared(graph, &scope, e.g());
        found
    }

    /// Imports the nodes that `outputs` depend on and returns the outputs; `None` if one of these nodes was refused.
    fn nodes<'n>(
        &mut self,
        nodes: &'n [NodeProto],
        outputs: &[&'n str],
        opsets: &Opsets<'_>,
        scope: &mut Scope<'n>,
        e: &mut Emit<'_>,
    ) -> Option<Vec<Value>> {
        let order = match ordered(nodes, outputs.iter().copied()) {
            Ok(order) => order,
            Err(node) => {
                let message = format!("node `{}` depends on itself", label(node));
                self.refuse(Refusal::new(Code(4001), message));
                return None;
            }
        };
        scope.carry_ranks_back(&order);
        let mut later: Option<Later<'_>> = None;
        for node in order {
            if let Some(later) = later.as_mut().filter(|later| later.is_read_by(node)) {
                later.push(node);
                continue;
            }
            match self.node(node, opsets, scope, e) {
                Ok(values) => {
                    for (name, value) in node.output.iter().zip(values) {
                        scope.define(name, value);
                    }
                }
                Err(refused) if differs_in_branches(node, &refused) => match &mut later {
                    Some(later) => later.push(node),
                    None => later = Some(Later::new(node, refused)),
                },
                Err(refused) => {
                    node.output.iter().for_each(|name| scope.refuse(name));
                    self.report.op(refused, site(node, opsets, scope, e.g()));
                }
            }
        }
        if let Some(later) = later
            && let Err(refused) = self.in_branches(&later, outputs, opsets, scope, e)
        {
            self.report
                .op(refused, site(later.choice, opsets, scope, e.g()));
            return None;
        }
        let mut found = Vec::with_capacity(outputs.len());
        for &name in outputs {
            match scope.get(name) {
                Named::Value(value) => found.push(value),
                Named::Refused => return None,
                Named::LeftOut | Named::Nothing => {
                    self.refuse(Refusal::undefined(name).within("the outputs"));
                    return None;
                }
            }
        }
        Some(found)
    }

    fn node(
        &mut self,
        node: &NodeProto,
        opsets: &Opsets<'_>,
        scope: &Scope<'_>,
        e: &mut Emit<'_>,
    ) -> Result<Vec<Value>, Refusal> {
        let mut inputs = Vec::with_capacity(node.input.len());
        let mut following = None;
        for name in &node.input {
            inputs.push(match scope.get(name) {
                _ if name.is_empty() => None,
                Named::Value(value) => Some(value),
                Named::LeftOut => None,
                Named::Refused => {
                    following = Some(Refusal::following(name));
                    None
                }
                Named::Nothing => {
                    return Err(Refusal::undefined(name));
                }
            });
        }
        let opset = version(opsets, &node.domain);
        let row = operators::find(&node.domain, &node.op_type);
        let function = self.functions.get(&(&node.domain[..], &node.op_type[..]));
        let row = match (row, function) {
            (Some(row), _) if row.is_own() => row,
            // A function of the model takes precedence over the operator of its name.
            (_, Some(&function)) => return self.function(function, node, inputs, e),
            (Some(row), None) => row,
            (None, None) => {
                return Err(operators::missing(&node.domain, &node.op_type));
            }
        };
        let Some(opset) = opset else {
            let domain = &node.domain;
            let message = format!("the model imports no operator set of its domain, `{domain}`");
            return Err(Refusal::new(Code(4101), message)
                .help("add the domain and its version to `opset_import` of the model"));
        };
        row.check(opset)?;
        if let Some(refusal) = following {
            return Err(refusal);
        }
        let at = Place {
            row,
            node,
            opset,
            opsets,
            scope,
        };
        if let Some(folded) = fold::folded(self, &at, &inputs) {
            return Ok(folded);
        }
        self.imported(&at, &inputs, e)
    }

    /// Imports a node by the row of its operator.
    fn imported(
        &mut self,
        at: &Place<'_>,
        inputs: &[Option<Value>],
        e: &mut Emit<'_>,
    ) -> Result<Vec<Value>, Refusal> {
        let node = at.node;
        let mut n = Node {
            proto: node,
            opset: at.opset,
            opsets: at.opsets,
            scope: at.scope,
            inputs,
            e: Emit {
                b: e.b.reborrow(),
                constants: e.constants,
            },
            importer: self,
            asked: RefCell::default(),
        };
        let values = at.row.import(&mut n)?;
        if let Some(name) = n.unknown_attribute() {
            return Err(Refusal::unknown(name));
        }
        let wanted = node.output.iter().rposition(|name| !name.is_empty());
        if wanted.is_some_and(|last| last >= values.len()) {
            let found = format!("{} results", node.output.len());
            return Err(Refusal::parts("the node", found, values.len()));
        }
        Ok(values)
    }
}

/// Returns the version of the operator set of a domain.
fn version(opsets: &Opsets<'_>, domain: &str) -> Option<i64> {
    opsets.get(operators::domain(domain)).copied()
}

/// Returns the position of a refused node and the types of its inputs.
fn site(node: &NodeProto, opsets: &Opsets<'_>, scope: &Scope<'_>, g: &Graph) -> Site {
    const SHOWN: usize = 8;
    let inputs = node.input.iter().filter(|name| !name.is_empty());
    let types = inputs.filter_map(|name| Some((name, scope.value(name)?)));
    let operands = types.map(|(name, value)| format!("`{name}` is {}", value.type_text(g)));
    Site {
        operator: operators::qualified(&node.domain, &node.op_type),
        opset: Some(version(opsets, &node.domain).unwrap_or(0)),
        node: Some(label(node)),
        span: Span::FILE,
        operands: operands.take(SHOWN).collect(),
    }
}

/// Returns the name of a node in diagnostics: its own, or that of its first output.
fn label(node: &NodeProto) -> String {
    let first = node.output.first();
    match (&node.name[..], first) {
        ("", Some(output)) => output.clone(),
        (name, _) => name.to_owned(),
    }
}
