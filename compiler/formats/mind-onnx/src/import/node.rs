//! A node as seen by the importer of its operator: inputs, attributes and insertion point.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use mind_convert::{EmitCore, Refusal, at_run_time, converted};
use mind_diag::{Diagnostic, Severity, Span};
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim};

use super::emit::{Emit, One};
use super::scope::Scope;
use super::value::{Extent, Value};
use super::{Importer, Opsets};
use crate::operators::qualified;
use crate::proto::{AttributeProto, AttributeType, GraphProto, NodeProto};
use crate::tensor::{self, Constant};

/// A node, and the block that its ops are appended to.
pub(crate) struct Node<'a, 'g, 'm> {
    pub proto: &'a NodeProto,
    /// The version of its operator set.
    pub opset: i64,
    /// The versions of all operator sets.
    pub opsets: &'a Opsets<'a>,
    /// The names in the enclosing graph.
    pub scope: &'a Scope<'a>,
    /// Its inputs; `None` for omitted ones.
    pub inputs: &'a [Option<Value>],
    pub e: Emit<'g>,
    pub importer: &'a mut Importer<'m>,
    /// The attributes that were read.
    pub asked: RefCell<Vec<&'static str>>,
}

impl<'a> Node<'a, '_, '_> {
    /// Returns the name of input `at` in messages, for example ``input 1 (`scales`)``.
    pub fn operand(&self, at: usize) -> String {
        match self.proto.input.get(at) {
            Some(name) if !name.is_empty() => format!("input {at} (`{name}`)"),
            Some(_) | None => format!("input {at}"),
        }
    }

    /// Returns input `at`, if it is given.
    pub fn given(&self, at: usize) -> Option<&'a Value> {
        self.inputs.get(at)?.as_ref()
    }

    /// Returns input `at` as a value of the module, if it is given.
    pub fn optional(&mut self, at: usize) -> Result<Option<ValueId>, Refusal> {
        let given = self.given(at);
        given.map(|value| self.e.value(value)).transpose()
    }

    /// Returns input `at` as a value of the module.
    ///
    /// # Errors
    ///
    /// If the input is omitted.
    pub fn input(&mut self, at: usize) -> One {
        let value = self.optional(at)?;
        value.ok_or_else(|| Refusal::missing(self.operand(at)))
    }

    /// Returns all inputs as values of the module.
    ///
    /// # Errors
    ///
    /// If an input is omitted, or if there are none.
    pub fn all(&mut self) -> Result<Vec<ValueId>, Refusal> {
        if self.inputs.is_empty() {
            return Err(Refusal::operands(0, "1 or more"));
        }
        (0..self.inputs.len()).map(|at| self.input(at)).collect()
    }

    /// Returns the known elements of input `at`, if it is given.
    ///
    /// # Errors
    ///
    /// If the elements are data-dependent.
    pub fn known(&self, at: usize) -> Result<Option<Rc<Constant>>, Refusal> {
        match self.given(at) {
            None => Ok(None),
            Some(Value::Known(constant)) => Ok(Some(Rc::clone(constant))),
            Some(Value::Op(value)) => {
                let why = at_run_time(self.e.g(), *value);
                Err(Refusal::not_constant(self.operand(at), why))
            }
            Some(Value::Extents(extents)) => {
                let given = extents.elements.iter().find_map(|own| match own {
                    Extent::Given(value) => Some(*value),
                    Extent::Known(_) | Extent::Of(..) | Extent::Computed(_) => None,
                });
                if let Some(value) = given {
                    let why = at_run_time(self.e.g(), value);
                    return Err(Refusal::not_constant(self.operand(at), why));
                }
                let refusal =
                    Refusal::not_constant(self.operand(at), "has extents that are not known");
                Err(refusal.help("`--dim NAME=EXTENT` gives an extent"))
            }
        }
    }

    /// Returns the known integers in input `at`, if it is given.
    ///
    /// # Errors
    ///
    /// If they are data-dependent.
    pub fn ints_in(&self, at: usize) -> Result<Option<Vec<i64>>, Refusal> {
        Ok(self.known(at)?.map(|constant| integers(&constant)))
    }

    /// Returns the single known integer in input `at`, if it is given.
    ///
    /// # Errors
    ///
    /// If it is data-dependent, or if there is another number of elements.
    pub fn one_int(&self, at: usize) -> Result<Option<i64>, Refusal> {
        match self.ints_in(at)?.as_deref() {
            None => Ok(None),
            Some(&[own]) => Ok(Some(own)),
            Some(list) => {
                let found = list.len();
                Err(Refusal::length(
                    self.operand(at),
                    found,
                    1,
                    "a single number",
                ))
            }
        }
    }

    /// Returns the known numbers in input `at`, if it is given.
    ///
    /// # Errors
    ///
    /// If they are data-dependent.
    pub fn floats_in(&self, at: usize) -> Result<Option<Vec<f64>>, Refusal> {
        let known = self.known(at)?;
        Ok(known.map(|constant| {
            let wide = converted(&constant.tensor(), DType::F64);
            wide.elements::<f64>().to_vec()
        }))
    }

    /// Returns the extents in input `at`.
    ///
    /// # Errors
    ///
    /// If the elements cannot be extents.
    pub fn dims_in(&self, at: usize) -> Result<Vec<Dim>, Refusal> {
        match self.given(at) {
            Some(Value::Extents(extents)) => {
                Ok(extents.elements.iter().map(|own| own.dim()).collect())
            }
            Some(Value::Known(_) | Value::Op(_)) | None => {
                let ints = self.ints_in(at)?;
                let ints = ints.ok_or_else(|| Refusal::missing(self.operand(at)))?;
                Ok(ints.into_iter().map(Dim::Fixed).collect())
            }
        }
    }

    fn attribute(
        &self,
        name: &'static str,
        kind: AttributeType,
    ) -> Result<Option<&'a AttributeProto>, Refusal> {
        self.asked.borrow_mut().push(name);
        let mut attributes = self.proto.attribute.iter();
        let Some(found) = attributes.find(|own| own.name == name) else {
            return Ok(None);
        };
        // Files of IR version 1 and 2 may omit the type.
        if found.r#type() == kind || found.r#type() == AttributeType::Undefined {
            return Ok(Some(found));
        }
        let own = format!("of type {:?}", found.r#type());
        Err(Refusal::value(name, own, format_args!("type {kind:?}")))
    }

    /// Returns an integer attribute.
    pub fn int(&self, name: &'static str) -> Result<Option<i64>, Refusal> {
        Ok(self.attribute(name, AttributeType::Int)?.map(|own| own.i))
    }

    /// Returns an attribute that is a flag, true if it is not 0.
    pub fn flag(&self, name: &'static str) -> Result<bool, Refusal> {
        Ok(self.int(name)?.unwrap_or(0) != 0)
    }

    /// Returns a positive integer attribute.
    ///
    /// # Errors
    ///
    /// If it is missing or not positive.
    pub fn positive(&self, name: &'static str) -> Result<i64, Refusal> {
        match self.int(name)? {
            Some(own @ 1..) => Ok(own),
            Some(own) => Err(Refusal::value(name, own, "a positive number")),
            None => Err(Refusal::missing(name)),
        }
    }

    /// Returns a float attribute.
    pub fn float(&self, name: &'static str) -> Result<Option<f64>, Refusal> {
        let found = self.attribute(name, AttributeType::Float)?;
        Ok(found.map(|own| f64::from(own.f)))
    }

    /// Returns an attribute that is a list of integers.
    pub fn ints(&self, name: &'static str) -> Result<Option<&'a [i64]>, Refusal> {
        let found = self.attribute(name, AttributeType::Ints)?;
        Ok(found.map(|own| &own.ints[..]))
    }

    /// Returns an attribute that is a list of numbers.
    pub fn floats(&self, name: &'static str) -> Result<Option<&'a [f32]>, Refusal> {
        let found = self.attribute(name, AttributeType::Floats)?;
        Ok(found.map(|own| &own.floats[..]))
    }

    /// Returns a string attribute.
    ///
    /// # Errors
    ///
    /// If it is not UTF-8.
    pub fn word(&self, name: &'static str) -> Result<Option<&'a str>, Refusal> {
        let Some(found) = self.attribute(name, AttributeType::String)? else {
            return Ok(None);
        };
        let text = std::str::from_utf8(&found.s);
        text.map(Some)
            .map_err(|_| Refusal::value(name, "not UTF-8", "text in UTF-8"))
    }

    /// Returns an attribute that is a list of strings.
    ///
    /// # Errors
    ///
    /// If one of them is not UTF-8.
    pub fn words(&self, name: &'static str) -> Result<Option<Vec<&'a str>>, Refusal> {
        let Some(found) = self.attribute(name, AttributeType::Strings)? else {
            return Ok(None);
        };
        let words = found.strings.iter().map(|own| std::str::from_utf8(own));
        words
            .collect::<Result<_, _>>()
            .map(Some)
            .map_err(|_| Refusal::value(name, "not UTF-8", "text in UTF-8"))
    }

    /// Returns a tensor attribute.
    pub fn tensor(&self, name: &'static str) -> Result<Option<Constant>, Refusal> {
        let found = self.attribute(name, AttributeType::Tensor)?;
        let tensor = found.and_then(|own| own.t.as_ref());
        let files = &self.importer.options.files;
        tensor.map(|own| tensor::constant(own, files)).transpose()
    }

    /// Returns a graph attribute, if it is given.
    pub fn optional_graph(&self, name: &'static str) -> Result<Option<&'a GraphProto>, Refusal> {
        let found = self.attribute(name, AttributeType::Graph)?;
        Ok(found.and_then(|own| own.g.as_ref()))
    }

    /// Returns a graph attribute.
    ///
    /// # Errors
    ///
    /// If it is missing.
    pub fn graph(&self, name: &'static str) -> Result<&'a GraphProto, Refusal> {
        let graph = self.optional_graph(name)?;
        graph.ok_or_else(|| Refusal::missing(name))
    }

    /// Reports a warning about the node, which is still imported.
    pub fn warn(&mut self, reason: impl fmt::Display) {
        let operator = qualified(&self.proto.domain, &self.proto.op_type);
        let (opset, node) = (self.opset, super::label(self.proto));
        let message = format!("`{operator}` of opset {opset}: {reason}: node `{node}`");
        let warning = Diagnostic::new(Severity::Warning, Span::FILE, message)
            .context("operator", operator)
            .context("opset", opset.to_string())
            .context("node", node);
        self.importer.report.warning(warning);
    }

    /// Checks that the flags `names` are 0, because their effect is not supported.
    ///
    /// # Errors
    ///
    /// E4108 for the first flag that is not 0.
    pub fn unset(&self, names: &[&'static str], help: &str) -> Result<(), Refusal> {
        for &name in names {
            if let Some(found) = self.int(name)?.filter(|own| *own != 0) {
                return Err(Refusal::value(name, found, 0).help(help));
            }
        }
        Ok(())
    }

    /// Checks that input `at` is omitted, because its effect is not supported.
    ///
    /// # Errors
    ///
    /// E4108 if the input is given.
    pub fn left_out(&self, at: usize, help: &str) -> Result<(), Refusal> {
        match self.given(at) {
            None => Ok(()),
            Some(_) => Err(Refusal::value(self.operand(at), "given", "none").help(help)),
        }
    }

    /// Marks an attribute as read, because it does not affect the import.
    pub fn ignore(&self, name: &'static str) {
        self.asked.borrow_mut().push(name);
    }

    /// Returns the first attribute that was not read.
    pub fn unknown_attribute(&self) -> Option<&'a str> {
        let asked = self.asked.borrow();
        let mut names = self.proto.attribute.iter().map(|own| &own.name[..]);
        names.find(|name| !asked.contains(name))
    }

    /// Returns a list that is the attribute `name` before opset `since`, and the input `at` from then on.
    pub fn ints_since(
        &self,
        since: i64,
        name: &'static str,
        at: usize,
    ) -> Result<Option<Vec<i64>>, Refusal> {
        if self.opset < since {
            Ok(self.ints(name)?.map(<[i64]>::to_vec))
        } else {
            self.ints_in(at)
        }
    }

    /// Applies a scalar function to all inputs.
    pub fn apply(&mut self, function: ScalarFn) -> One {
        let mut operands = Vec::with_capacity(function.arity());
        for at in 0..function.arity() {
            operands.push(self.input(at)?);
        }
        self.e.apply(function, &operands)
    }
}

/// Returns the elements of a constant as integers.
pub(crate) fn integers(constant: &Constant) -> Vec<i64> {
    let wide: Tensor = converted(&constant.tensor(), DType::I64);
    wide.elements::<i64>().to_vec()
}
