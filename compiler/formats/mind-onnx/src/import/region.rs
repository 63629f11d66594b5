//! Graphs inside of nodes: in the place of the node, or as closed regions.

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
    /// The body of a function in the place of a node.
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

    /// Runs `import` one level deeper.
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

/// A node of a function with the attributes that its call gives, or else the function's own.
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

/// What a graph reads from outside of it.
pub(crate) struct Captures<'a> {
    /// The names, with what they stand for.
    named: Vec<(&'a str, Value)>,
}

impl<'a> Captures<'a> {
    /// The captures of graphs of a node.
    ///
    /// # Errors
    ///
    /// A name that nothing makes.
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

    /// Those that only a run knows, as operands of an op with a closed region.
    pub fn operands(&self, e: &mut Emit<'_>) -> Many {
        let runtime = self.named.iter().filter(|(_, value)| is_runtime(value));
        runtime.map(|(_, value)| e.value(value)).collect()
    }

    /// The names inside of a region, where `arguments` stand for the operands.
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
    /// A graph whose inputs are `arguments` in the place of the node; its outputs.
    ///
    /// # Errors
    ///
    /// A node of it that is refused, which is reported by itself; another number of inputs.
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

    /// Emits an op with closed regions, one for each of `bodies`, and returns its results. The captures follow the operands
    /// of `op`.
    ///
    /// # Errors
    ///
    /// Those of the graphs' nodes and of the op's shape rule.
    pub fn closed(
        &mut self,
        op: RegionOp<'_>,
        bodies: &mut [Body<'_, 'a>],
        captures: &Captures<'a>,
    ) -> Many {
        self.looped(op, bodies, captures, Carried::new(0, 0))
    }

    /// Emits a loop, as [`closed`](Node::closed) does. Its first operands are carried.
    ///
    /// # Errors
    ///
    /// Those of [`closed`](Node::closed); too many loops inside of each other whose extents change.
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

/// How often loops of a model are imported again with open extents: loops inside of each other double the work each.
const MOST_REOPENED: usize = 1 << 10;

/// What a region yields, given the arguments that are no captures.
pub(crate) type Body<'b, 'a> =
    Box<dyn FnMut(&mut Region<'_, 'a, '_>, &mut Emit<'_>, &[ValueId]) -> Many + 'b>;

/// Where the graph of a region is imported.
pub(crate) struct Region<'i, 'a, 'm> {
    importer: &'i mut Importer<'m>,
    opsets: &'i Opsets<'i>,
    scope: Scope<'a>,
}

impl<'a> Region<'_, 'a, '_> {
    /// The outputs of a graph whose inputs are `arguments`.
    ///
    /// # Errors
    ///
    /// A node of it that is refused, which is reported by itself; another number of inputs.
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

/// Gives the inputs of a graph their values.
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

/// Why a node is refused whose graph has nodes that are, which are reported by themselves. It is reported, too, because the
/// node may have a way out of its own, for example a condition that can be made known.
fn inner() -> Refusal {
    Refusal::unsupported(
        "nodes of its graph are refused",
        "the errors of these nodes say what to change",
    )
}
