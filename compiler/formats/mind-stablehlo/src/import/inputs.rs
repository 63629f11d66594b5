//! Names and dynamic dimensions of the public function's arguments.
//!
//! A text writes `?` for a dynamic dimension and states equalities between them in operations: JAX reads the extents of
//! the arguments, asserts that they are equal, and passes them to a function whose arguments have the names of the
//! dimensions.

use std::rc::Rc;

use mind_convert::{DimSymbols, Refusal, bound_constant, unknown_names};
use mind_core::ops::input::Input;
use mind_ir::Graph;
use mind_ir::builder::Builder;
use mind_ir::opdef::Op as _;
use mind_ir::tensor::Tensor;
use mind_ir::types::{Dim, TensorType};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Importer;
use super::emit::Cache;
use super::scope::Scope;
use super::value::Value;
use crate::constant::{Constant, dtype};
use crate::text::{Argument, Attr, Function, Op, Type};

/// A dynamic dimension, by argument and axis.
type Open = (usize, usize);

/// Facts about the dimensions of the arguments, taken from the operations of a function.
struct Dimensions<'t> {
    /// The names of arguments in the function that they are passed on to.
    labels: FxHashMap<&'t str, String>,
    /// The dynamic dimension that each result is the extent of.
    extents: FxHashMap<&'t str, Open>,
    /// Links from a dynamic dimension to an equal one, for all but the first of a group.
    same: FxHashMap<Open, Open>,
    /// The names of groups of equal dimensions, by the first of each group.
    names: FxHashMap<Open, String>,
}

impl<'t> Importer<'t> {
    /// Defines the arguments of the public function.
    pub(super) fn inputs(
        &mut self,
        main: &'t Function<'t>,
        scope: &mut Scope<'t>,
        graph: &mut Graph,
        cache: &mut Cache,
    ) {
        let found = self.dimensions(main);
        let labels = self.labels(main, &found);
        let (mut known, mut used) = (Vec::new(), FxHashSet::default());
        let mut symbols = DimSymbols::of(found.names.values().map(|name| &name[..]));
        for (at, (argument, label)) in main.body.arguments.iter().zip(&labels).enumerate() {
            let mut dims = Vec::new();
            let ty = match &argument.ty {
                Type::Tensor(ty) => ty,
                Type::Other(text) => {
                    let refusal = unknown_type(text).within(format_args!("argument `{label}`"));
                    self.report.model(argument.span, refusal);
                    scope.refuse(&[(argument.name, 1)]);
                    continue;
                }
            };
            let element = match dtype(ty.element) {
                Ok(element) => element,
                Err(refused) => {
                    let refused = refused.within(format_args!("argument `{label}`"));
                    self.report.model(argument.span, refused);
                    scope.refuse(&[(argument.name, 1)]);
                    continue;
                }
            };
            for (axis, extent) in ty.shape.iter().enumerate() {
                if let Some(extent) = extent {
                    dims.push(Dim::Fixed(*extent));
                    continue;
                }
                let first = found.first((at, axis));
                let own = || format!("{}_{}", labels[first.0], first.1);
                let name = found.names.get(&first).cloned().unwrap_or_else(own);
                let symbol = symbols.symbol(&name);
                let given = self.options.dims.get_key_value(&name);
                let given = given.or_else(|| self.options.dims.get_key_value(&symbol));
                dims.push(match given {
                    Some((name, &extent)) => {
                        used.insert(&name[..]);
                        Dim::Fixed(extent)
                    }
                    None => {
                        let shape = self.options.shapes.get(&labels[first.0]);
                        let extent = shape.and_then(|shape| shape.get(first.1));
                        // Declared extents are positive, but an array at run time may be empty.
                        match extent {
                            Some(&extent @ 1..) => Dim::Fixed(extent as i64),
                            Some(0) | None => Dim::Symbol(graph.intern(&symbol)),
                        }
                    }
                });
                if !known.contains(&symbol) {
                    known.push(symbol);
                }
            }
            let ty = TensorType::new(element, dims);
            match self.options.bound.get(label) {
                Some(array) => match bound_to(&ty, array) {
                    Ok(constant) => {
                        scope.define_one(argument.name, Value::Known(Rc::new(constant)));
                    }
                    Err(refused) => {
                        let refused = refused.within(format_args!("argument `{label}`"));
                        self.report.model(argument.span, refused);
                        scope.refuse(&[(argument.name, 1)]);
                    }
                },
                None => input(graph, cache, scope, argument, label, &ty),
            }
        }
        self.check_names(&known, &labels, &used);
    }

    /// Reports given extents and arrays whose names the function does not have.
    fn check_names(&mut self, dims: &[String], labels: &[String], used: &FxHashSet<&str>) {
        let (options, span) = (self.options, self.module.span());
        let open = match dims {
            [] => "its arguments have no open dimension".to_owned(),
            open => format!("its open dimensions are `{}`", open.join("`, `")),
        };
        let given = options.dims.keys().map(|name| &name[..]);
        let is_used = |name: &str| used.contains(name);
        for refusal in unknown_names(given, is_used, "the module has no dimension", &open) {
            self.report.model(span, refusal);
        }
        let given = options.bound.keys().map(|name| &name[..]);
        let is_input = |name: &str| labels.iter().any(|label| label == name);
        let known = format!("its inputs are `{}`", labels.join("`, `"));
        for refusal in unknown_names(given, is_input, "the module has no input", &known) {
            self.report.model(span, refusal);
        }
    }

    /// Returns the names of the arguments: from their locations, from the function they are passed on to, or from the
    /// text.
    fn labels(&self, main: &Function<'t>, found: &Dimensions<'t>) -> Vec<String> {
        let mut labels: Vec<String> = Vec::new();
        for argument in &main.body.arguments {
            let own = self.module.label(argument);
            let own = own.or_else(|| found.labels.get(argument.name).map(|own| &own[..]));
            let name = match own {
                Some(own) if !own.is_empty() => own.to_owned(),
                Some(_) | None => argument.name.to_owned(),
            };
            let is_new = !labels.contains(&name);
            labels.push(if is_new {
                name
            } else {
                format!("{name}_{}", labels.len())
            });
        }
        labels
    }

    fn dimensions(&self, main: &'t Function<'t>) -> Dimensions<'t> {
        let mut found = Dimensions {
            labels: FxHashMap::default(),
            extents: FxHashMap::default(),
            same: FxHashMap::default(),
            names: FxHashMap::default(),
        };
        let arguments = main.body.arguments.iter().enumerate();
        let places: FxHashMap<&str, usize> = arguments.map(|(at, own)| (own.name, at)).collect();
        let mut equal: FxHashMap<&str, (Open, Open)> = FxHashMap::default();
        for op in &main.body.ops {
            let result = op.results.first().map(|(name, _)| *name);
            let operand = |at: usize| op.operands.get(at).map(|own| own.name);
            match op.name {
                "stablehlo.get_dimension_size" => {
                    let of = operand(0).and_then(|name| places.get(name));
                    let axis = op.attrs.iter().find_map(|(name, value)| match value {
                        Attr::Int(axis) if matches!(*name, "dim" | "dimension") => {
                            usize::try_from(*axis).ok()
                        }
                        _ => None,
                    });
                    if let (Some(result), Some(&of), Some(axis)) = (result, of, axis) {
                        found.extents.insert(result, (of, axis));
                    }
                }
                "stablehlo.compare" if op.words.first() == Some(&"EQ") => {
                    let [a, b] =
                        [operand(0), operand(1)].map(|name| found.extents.get(name?).copied());
                    if let (Some(result), Some(a), Some(b)) = (result, a, b) {
                        equal.insert(result, (a, b));
                    }
                }
                "stablehlo.custom_call" if is_assertion(op) => {
                    if let Some(&(a, b)) = operand(0).and_then(|name| equal.get(name)) {
                        found.join(a, b);
                    }
                }
                "call" | "func.call" => found.call(op, self),
                _ => {}
            }
        }
        found
    }
}

impl<'t> Dimensions<'t> {
    /// Returns the first dimension of a group.
    fn first(&self, mut of: Open) -> Open {
        while let Some(&other) = self.same.get(&of) {
            of = other;
        }
        of
    }

    fn join(&mut self, a: Open, b: Open) {
        let (a, b) = (self.first(a), self.first(b));
        if a != b {
            self.same.insert(a.max(b), a.min(b));
        }
    }

    /// Names the operands of a call after the arguments of the called function.
    fn call(&mut self, op: &'t Op<'t>, importer: &Importer<'t>) {
        let callee = op.attrs.iter().find_map(|(name, value)| match value {
            Attr::Symbol(own) if *name == "callee" => importer.module.functions.get(own),
            _ => None,
        });
        let Some(callee) = callee else { return };
        for (operand, argument) in op.operands.iter().zip(&callee.body.arguments) {
            if let Some(label) = importer.module.label(argument) {
                let label = label.to_owned();
                self.labels.entry(operand.name).or_insert(label);
            }
            let mut attrs = argument.attrs.iter();
            let name = attrs.find(|(name, _)| *name == "jax.global_constant");
            let name = name.and_then(|(_, value)| value.text());
            // JAX gives arguments computed from extents an empty name.
            let name = name.filter(|name| !name.is_empty());
            if let (Some(&open), Some(name)) = (self.extents.get(operand.name), name) {
                let first = self.first(open);
                let name = name.to_owned();
                self.names.entry(first).or_insert(name);
            }
        }
    }
}

/// Returns whether an operation is an assertion about extents.
pub(crate) fn is_assertion(op: &Op<'_>) -> bool {
    let mut attrs = op.attrs.iter();
    attrs.any(|(name, value)| {
        matches!(*name, "callee" | "call_target_name") && value.text() == Some("shape_assertion")
    })
}

/// Returns the refusal of a type that is not a tensor.
pub(crate) fn unknown_type(text: &str) -> Refusal {
    let shown: String = text.chars().take(60).collect();
    Refusal::dtype(
        "a value".to_owned(),
        format_args!("`{shown}`"),
        "a `tensor<..>`",
    )
    .help("tokens, tuples and quantised types are not supported")
}

/// Appends an input.
fn input<'t>(
    graph: &mut Graph,
    cache: &mut Cache,
    scope: &mut Scope<'t>,
    argument: &Argument<'t>,
    label: &str,
    ty: &TensorType,
) {
    let ty = graph.intern_type(ty.view());
    let name = graph.intern(label);
    let attrs = Input::attrs(name, false, None);
    let end = mind_ir::graph::InsertPoint::End(graph.body());
    let mut b = Builder::new(graph, end, argument.span);
    let op = b.create_typed(Input::DEF, &[], &attrs, &[ty]);
    let value = graph.result(op);
    cache.add_source(graph, value);
    scope.define_one(argument.name, Value::Op(value));
}

/// Returns an array as the constant of an argument, after checking its dtype and shape. The bits of `bf16` may be given
/// as `u16`.
fn bound_to(ty: &TensorType, array: &Tensor) -> Result<Constant, Refusal> {
    let ty = ty.view();
    let extents: Vec<Option<i64>> = ty.shape.iter().map(|dim| dim.fixed()).collect();
    let extent = |own: &Option<i64>| own.map_or("?".to_owned(), |own| own.to_string());
    let shown: Vec<String> = extents.iter().map(extent).collect();
    let declared = format!("{}[{}]", ty.dtype, shown.join(", "));
    let own = bound_constant(array, ty.dtype, Some(&extents), declared)?;
    Ok(Constant::of(&own))
}
