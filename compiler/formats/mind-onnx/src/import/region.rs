//! Subgraphs and functions, which are inlined at their node or imported as closed regions.

use mind_convert::{Bodies, Many, Refusal, RegionOp};
use mind_core::region::Carried;
use mind_ir::ValueId;
use mind_ir::builder::Builder;

use super::emit::{Constants, Emit};
use super::node::Node;
use super::scope::{Named, Scope, outer_names};
use super::value::Value;
use super::{DEPTH_LIMIT, Importer, Opsets, opsets};
use crate::proto::{AttributeProto, FunctionProto, GraphProto, NodeProto};

impl Importer<'_> {
    /// Inlines the body of a function at a node and returns its outputs.
    pub(super) fn function(
        &mut self,
        function: &FunctionProto,
        node: &NodeProto,
        inputs: Vec<Option<Value>>,
        e: &mut Emit<'_>,
    ) -> Result<Vec<Value>, Refusal> {
        let own = opsets(&function.opset_import);
        let nodes: Vec<NodeProto> = function
            .node
            .iter()
            .map(|inner| with_attributes(inner, function, node))
            .collect();
        let mut scope = Scope::default();
        scope.declare_ranks(function.value_info.iter());
        let given = inputs.into_iter().chain(std::iter::repeat(None));
        for (name, input) in function.input.iter().zip(given) {
            match input {
                Some(value) => scope.define(name, value),
                None => scope.leave_out(name),
            }
        }
        let outputs: Vec<&str> = function.output.iter().map(|name| &name[..]).collect();
        let outputs = &outputs[..outputs.len().min(node.output.len())];
        let found =
            self.deeper(|own_importer| own_importer.nodes(&nodes, outputs, &own, &mut scope, e))?;
        found.ok_or_else(Refusal::inside)
    }

    /// Runs `import` one nesting level deeper. Errors with E6004 if the nesting exceeds the limit.
    fn deeper<T>(&mut self, import: impl FnOnce(&mut Self) -> T) -> Result<T, Refusal> {
        if self.depth == DEPTH_LIMIT {
            let what = "the nesting of functions and graphs";
            let found = format!("{} levels", DEPTH_LIMIT + 1);
            return Err(Refusal::too_large(what, found, DEPTH_LIMIT));
        }
        self.depth += 1;
        let found = import(self);
        self.depth -= 1;
        Ok(found)
    }
}

/// Returns a node of a function whose attribute references are replaced by the attributes of the call, or by the
/// defaults of the function.
fn with_attributes(inner: &NodeProto, function: &FunctionProto, call: &NodeProto) -> NodeProto {
    let given = |name: &str| -> Option<&AttributeProto> {
        let mut own = call.attribute.iter().chain(&function.attribute_proto);
        own.find(|own| own.name == name)
    };
    let attributes = inner.attribute.iter().filter_map(|own| {
        if own.ref_attr_name.is_empty() {
            let mut own = own.clone();
            if let Some(graph) = &mut own.g {
                let nodes = graph.node.iter();
                graph.node = nodes
                    .map(|inner| with_attributes(inner, function, call))
                    .collect();
            }
            return Some(own);
        }
        let given = given(&own.ref_attr_name)?;
        Some(AttributeProto {
            name: own.name.clone(),
            ..given.clone()
        })
    });
    NodeProto {
        attribute: attributes.collect(),
        ..inner.clone()
    }
}

/// The values that a graph reads from enclosing graphs.
pub(crate) struct Captures<'a> {
    /// The names and their values.
    named: Vec<(&'a str, Value)>,
}

impl<'a> Captures<'a> {
    /// Returns the captures of the graphs of a node.
    ///
    /// # Errors
    ///
    /// E4001 if a name is not defined; also if a name is the result of a refused node.
    pub fn of(node: &Node<'a, '_, '_>, graphs: &[&'a GraphProto]) -> Result<Captures<'a>, Refusal> {
        let mut named: Vec<(&'a str, Value)> = Vec::new();
        for name in graphs.iter().flat_map(|graph| outer_names(graph)) {
            if named.iter().any(|(own, _)| *own == name) {
                continue;
            }
            match node.scope.get(name) {
                Named::Value(value) => named.push((name, value)),
                Named::LeftOut => {}
                Named::Refused => {
                    return Err(Refusal::following(name));
                }
                Named::Nothing => {
                    return Err(Refusal::undefined(name));
                }
            }
        }
        Ok(Captures { named })
    }

    /// Returns the captures that are computed at run time, as operands of an op with a closed region.
    pub fn operands(&self, e: &mut Emit<'_>) -> Many {
        let runtime = self.named.iter().filter(|(_, value)| is_runtime(value));
        runtime.map(|(_, value)| e.value(value)).collect()
    }

    /// Returns the scope inside of a region, whose block arguments `arguments` replace the captured operands.
    fn scope(&self, arguments: &[ValueId]) -> Scope<'a> {
        let mut scope = Scope::default();
        let mut arguments = arguments.iter();
        for (name, value) in &self.named {
            let value = match is_runtime(value) {
                true => arguments.next().map(|&own| Value::Op(own)),
                false => Some(value.clone()),
            };
            if let Some(value) = value {
                scope.define(name, value);
            }
        }
        scope
    }
}

fn is_runtime(value: &Value) -> bool {
    match value {
        Value::Op(_) | Value::Extents(_) => true,
        Value::Known(_) => false,
    }
}

impl<'a> Node<'a, '_, '_> {
    /// Inlines a graph with the inputs `arguments` at the node and returns its outputs.
    ///
    /// # Errors
    ///
    /// If one of its nodes is refused, which is reported separately, or if the number of inputs differs.
    pub fn inlined(
        &mut self,
        graph: &'a GraphProto,
        arguments: &[Value],
    ) -> Result<Vec<Value>, Refusal> {
        let captures = Captures::of(self, &[graph])?;
        let mut scope = Scope::default();
        for (name, value) in captures.named {
            scope.define(name, value);
        }
        define_inputs(&mut scope, graph, arguments)?;
        let (opsets, e) = (self.opsets, &mut self.e);
        let found = self
            .importer
            .deeper(|own| own.graph(graph, opsets, scope, e))?;
        found.ok_or_else(inner)
    }

    /// Emits an op with closed regions, one for each of `bodies`, and returns its results. The captures follow the
    /// operands of `op`.
    ///
    /// # Errors
    ///
    /// Those of the nodes of the graphs and of the shape rule of the op.
    pub fn closed(
        &mut self,
        op: RegionOp<'_>,
        bodies: &mut [Body<'_, 'a>],
        captures: &Captures<'a>,
    ) -> Many {
        self.looped(op, bodies, captures, Carried::new(0, 0))
    }

    /// Emits a loop like [`closed`](Node::closed). Its first operands are carried.
    ///
    /// # Errors
    ///
    /// Those of [`closed`](Node::closed); E6004 if loops are imported again too often because a step changes extents.
    pub fn looped(
        &mut self,
        op: RegionOp<'_>,
        bodies: &mut [Body<'_, 'a>],
        captures: &Captures<'a>,
        carried: Carried,
    ) -> Many {
        let captured = captures.operands(&mut self.e)?;
        let op = RegionOp {
            operands: &[op.operands, &captured].concat(),
            ..op
        };
        let mut regions = Regions {
            importer: self.importer,
            opsets: self.opsets,
            captures,
            captured: captured.len(),
            bodies,
        };
        op.create_loop(&mut self.e.b, carried, &mut regions)
    }
}

/// The regions of an op, which are imported from graphs.
struct Regions<'r, 'b, 'a, 'm> {
    importer: &'r mut Importer<'m>,
    opsets: &'r Opsets<'r>,
    captures: &'r Captures<'a>,
    /// The number of captured operands.
    captured: usize,
    bodies: &'r mut [Body<'b, 'a>],
}

impl Bodies for Regions<'_, '_, '_, '_> {
    fn emit(&mut self, region: usize, b: &mut Builder<'_>, arguments: &[ValueId]) -> Many {
        let (arguments, captured) = arguments.split_at(arguments.len() - self.captured);
        let mut constants = Constants::default();
        let mut e = Emit {
            b: b.reborrow(),
            constants: &mut constants,
        };
        let mut scope_of = Region {
            importer: self.importer,
            opsets: self.opsets,
            scope: self.captures.scope(captured),
        };
        self.bodies[region](&mut scope_of, &mut e, arguments)
    }

    fn reopen(&mut self) -> Result<(), Refusal> {
        let reopened = &mut self.importer.reopened_loops;
        *reopened += 1;
        if *reopened <= MOST_REOPENED {
            return Ok(());
        }
        Err(Refusal::too_large(
            "the number of times that loops are imported again, because a step changes the extents of carried values,",
            *reopened,
            MOST_REOPENED,
        ))
    }
}

/// The maximum number of times that loops of a model are imported again with open extents. It is bounded because each
/// level of nested loops doubles the work.
const MOST_REOPENED: usize = 1 << 10;

/// Emits the body of a region, given the block arguments that are not captures, and returns the values that it yields.
pub(crate) type Body<'b, 'a> =
    Box<dyn FnMut(&mut Region<'_, 'a, '_>, &mut Emit<'_>, &[ValueId]) -> Many + 'b>;

/// The context in which the graph of a region is imported.
pub(crate) struct Region<'i, 'a, 'm> {
    importer: &'i mut Importer<'m>,
    opsets: &'i Opsets<'i>,
    scope: Scope<'a>,
}

impl<'a> Region<'_, 'a, '_> {
    /// Imports a graph with the inputs `arguments` and returns its outputs.
    ///
    /// # Errors
    ///
    /// If one of its nodes is refused, which is reported separately, or if the number of inputs differs.
    pub fn graph(
        &mut self,
        graph: &'a GraphProto,
        arguments: &[Value],
        e: &mut Emit<'_>,
    ) -> Result<Vec<Value>, Refusal> {
        let mut scope = std::mem::take(&mut self.scope);
        define_inputs(&mut scope, graph, arguments)?;
        let opsets = self.opsets;
        let found = self
            .importer
            .deeper(|own| own.graph(graph, opsets, scope, e))?;
        found.ok_or_else(inner)
    }
}

/// Binds the inputs of a graph to `arguments`.
fn define_inputs<'a>(
    scope: &mut Scope<'a>,
    graph: &'a GraphProto,
    arguments: &[Value],
) -> Result<(), Refusal> {
    if graph.input.len() != arguments.len() {
        let found = format!("{} inputs", graph.input.len());
        return Err(Refusal::parts("its graph", found, arguments.len()));
    }
    for (input, value) in graph.input.iter().zip(arguments) {
        scope.define(&input.name, value.clone());
    }
    Ok(())
}

/// Returns the refusal of a node whose graph has refused nodes. It is reported in addition to these, because the node
/// may have its own way out, for example a condition that can be made known.
fn inner() -> Refusal {
    Refusal::unsupported(
        "nodes of its graph are refused",
        "the errors of these nodes say what to change",
    )
}
