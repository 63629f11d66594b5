//! An operation as seen by the importer of its op: operands, attributes and insertion point.

use std::cell::RefCell;
use std::rc::Rc;

use mind_convert::{EmitCore, Refusal};
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::types::{DType, Dim};

use super::Importer;
use super::Place;
use super::emit::{Emit, One};
use super::scope::Scope;
use super::value::{Extent, Value};
use crate::constant::{Constant, constant, dtype};
use crate::text::{Attr, Block, Op, TensorText, Type};

/// Attributes that torch_xla adds to any op. They describe the memory layout of a result in the compiler that wrote the
/// text.
const LAYOUT_HINTS: &[&str] = &[
    "operand_layouts",
    "result_layout",
    "result_layouts",
    "xla_shape",
];

/// An operation, and the block that its ops are appended to.
pub(crate) struct Node<'n, 't, 'g> {
    pub op: &'t Op<'t>,
    pub inputs: &'n [Value],
    pub scope: &'n Scope<'t>,
    pub place: Place,
    pub importer: &'n mut Importer<'t>,
    pub e: Emit<'g>,
    /// The attributes that were read.
    asked: RefCell<Vec<&'static str>>,
}

impl<'n, 't, 'g> Node<'n, 't, 'g> {
    pub fn new(
        op: &'t Op<'t>,
        inputs: &'n [Value],
        scope: &'n Scope<'t>,
        place: Place,
        importer: &'n mut Importer<'t>,
        e: &'g mut Emit<'_>,
    ) -> Node<'n, 't, 'g> {
        Node {
            op,
            inputs,
            scope,
            place,
            importer,
            e: Emit {
                b: e.b.reborrow(),
                cache: e.cache,
            },
            asked: RefCell::default(),
        }
    }

    /// Returns the name of operand `at` in messages, for example ``operand 1 (`%3`)``.
    pub fn operand(&self, at: usize) -> String {
        match self.op.operands.get(at) {
            Some(own) => format!("operand {at} (`%{}`)", own.name),
            None => format!("operand {at}"),
        }
    }

    /// Returns operand `at`.
    ///
    /// # Errors
    ///
    /// If it is missing.
    pub fn given(&self, at: usize) -> Result<&'n Value, Refusal> {
        let given = self.inputs.get(at);
        given
            .ok_or_else(|| Refusal::operands(self.inputs.len(), format_args!("{} or more", at + 1)))
    }

    /// Returns operand `at` as a value of the module.
    pub fn input(&mut self, at: usize) -> One {
        let value = self.given(at)?;
        self.e.value(value)
    }

    /// Returns the only operand of an op.
    ///
    /// # Errors
    ///
    /// If the op has another number of operands.
    pub fn only(&mut self) -> One {
        self.count(1)?;
        self.input(0)
    }

    /// Checks the number of operands.
    pub fn count(&self, wanted: usize) -> Result<(), Refusal> {
        match self.inputs.len() {
            found if found == wanted => Ok(()),
            found => Err(Refusal::operands(found, wanted)),
        }
    }

    /// Returns the operands from `first` on as values of the module.
    pub fn rest(&mut self, first: usize) -> Result<Vec<ValueId>, Refusal> {
        (first..self.inputs.len())
            .map(|at| self.input(at))
            .collect()
    }

    /// Returns the known elements of operand `at`.
    ///
    /// # Errors
    ///
    /// If its elements are data-dependent.
    pub fn known(&self, at: usize) -> Result<Rc<Constant>, Refusal> {
        match self.given(at)? {
            Value::Known(constant) => Ok(Rc::clone(constant)),
            Value::Extents(_) => {
                let refusal =
                    Refusal::not_constant(self.operand(at), "is an extent that is not known");
                Err(refusal.help("`--dim NAME=EXTENT` gives the extent"))
            }
            Value::Op(_) | Value::Compared(_) => Err(Refusal::not_constant(
                self.operand(at),
                "is computed at run time",
            )),
        }
    }

    /// Returns the known integers of operand `at`.
    pub fn ints_in(&self, at: usize) -> Result<Vec<i64>, Refusal> {
        self.known(at)?.integers()
    }

    /// Returns operand `at` as a list of extents.
    pub fn extents_in(&mut self, at: usize) -> Result<Vec<Extent>, Refusal> {
        match self.given(at)? {
            Value::Known(constant) => {
                let all = constant.integers()?;
                Ok(all.into_iter().map(Extent::Known).collect())
            }
            Value::Extents(extents) => Ok(extents.elements.clone()),
            Value::Compared(_) => Err(Refusal::dtype(self.operand(at), "i1", "a list of extents")),
            Value::Op(value) => {
                let value = *value;
                let [Dim::Fixed(count)] = self.e.dims(value)[..] else {
                    let ty = self.e.g().type_text(value);
                    return Err(Refusal::rank(
                        self.operand(at),
                        ty,
                        "1, with a fixed extent",
                    ));
                };
                if count == 1 {
                    return Ok(vec![Extent::Computed(value)]);
                }
                (0..count)
                    .map(|own| {
                        let part = self.e.part(value, 0, own, own + 1)?;
                        Ok(Extent::Computed(part))
                    })
                    .collect()
            }
        }
    }

    fn attribute(&self, names: &[&'static str]) -> Option<&'t Attr<'t>> {
        self.asked.borrow_mut().extend(names);
        let mut attrs = self.op.attrs.iter();
        let found = attrs.find(|(name, _)| names.contains(name));
        found.map(|(_, value)| value)
    }

    /// Returns an attribute by any of its names.
    pub fn attr(&self, names: &[&'static str]) -> Option<&'t Attr<'t>> {
        self.attribute(names)
    }

    /// Returns an optional integer attribute.
    pub fn optional_int(&self, names: &[&'static str]) -> Result<Option<i64>, Refusal> {
        match self.attribute(names) {
            None => Ok(None),
            Some(Attr::Int(own)) => Ok(Some(*own)),
            Some(other) => Err(kind(names, other, "a number")),
        }
    }

    /// Returns an integer attribute.
    ///
    /// # Errors
    ///
    /// If it is missing.
    pub fn int(&self, names: &[&'static str]) -> Result<i64, Refusal> {
        let found = self.optional_int(names)?;
        found.ok_or_else(|| missing(names))
    }

    /// Returns an attribute that is a dimension of a tensor of rank `rank`.
    pub fn axis(&self, names: &[&'static str], rank: usize) -> Result<usize, Refusal> {
        axis(self.int(names)?, rank)
    }

    /// Returns an optional attribute that is a list of integers.
    pub fn optional_ints(&self, names: &[&'static str]) -> Result<Option<Vec<i64>>, Refusal> {
        let found = self.attribute(names);
        let found = found.map(|own| {
            integers(own, self.importer).ok_or_else(|| kind(names, own, "a list of numbers"))
        });
        found.transpose()
    }

    /// Returns an attribute that is a list of integers.
    ///
    /// # Errors
    ///
    /// If it is missing.
    pub fn ints(&self, names: &[&'static str]) -> Result<Vec<i64>, Refusal> {
        let found = self.optional_ints(names)?;
        found.ok_or_else(|| missing(names))
    }

    /// Returns an attribute that is a list of dimensions of a tensor of rank `rank`.
    pub fn axes(&self, names: &[&'static str], rank: usize) -> Result<Vec<usize>, Refusal> {
        let all = self.ints(names)?;
        all.into_iter().map(|own| axis(own, rank)).collect()
    }

    /// Returns the fields of an attribute.
    pub fn fields(&self, names: &[&'static str]) -> Result<Fields<'t>, Refusal> {
        match self.attribute(names) {
            Some(Attr::Fields(fields)) => Ok(Fields { fields }),
            Some(Attr::Raw("")) | None => Err(missing(names)),
            Some(other) => Err(kind(names, other, "a list of fields")),
        }
    }

    /// Returns the keyword in attribute `names`, or keyword `at` of the pretty form.
    pub fn word(&self, at: usize, names: &[&'static str]) -> Option<&'t str> {
        match self.op.words.get(at) {
            Some(word) => Some(word),
            None => self.attribute(names)?.text(),
        }
    }

    /// Returns an attribute that is a keyword or a string.
    pub fn text(&self, names: &[&'static str]) -> Option<&'t str> {
        self.attribute(names)?.text()
    }

    /// Marks an attribute as read, because it does not affect the import, for example a layout hint.
    pub fn ignore(&self, names: &[&'static str]) {
        self.asked.borrow_mut().extend(names);
    }

    /// Returns the first attribute that was not read. Attributes with a dot in their name belong to other dialects and
    /// do not affect the op.
    pub fn unknown_attribute(&self) -> Option<&'t str> {
        let asked = self.asked.borrow();
        let mut names = self.op.attrs.iter().map(|(name, _)| *name);
        names.find(|name| {
            let is_hint = LAYOUT_HINTS.contains(name) || name.contains('.');
            !asked.contains(name) && !is_hint
        })
    }

    /// Returns the elements of the dense attribute `name`.
    pub fn dense(&self, name: &'static str) -> Result<Constant, Refusal> {
        match self.attribute(&[name]) {
            Some(Attr::Dense(dense)) => constant(dense, self.importer.module),
            Some(other) => Err(kind(&[name], other, "a list of elements")),
            None => Err(missing(&[name])),
        }
    }

    /// Returns the type of result `at` in the text.
    pub fn result(&self, at: usize) -> Result<&'t TensorText<'t>, Refusal> {
        match self.op.types.get(at) {
            Some(Type::Tensor(ty)) => Ok(ty),
            Some(Type::Other(text)) => Err(super::inputs::unknown_type(text)),
            None => Err(Refusal::missing("the type of its result".to_owned())),
        }
    }

    /// Returns the dtype of the first result.
    pub fn result_dtype(&self) -> Result<DType, Refusal> {
        dtype(self.result(0)?.element)
    }

    /// Returns the extents of the first result, which must all be static.
    pub fn result_shape(&self) -> Result<Vec<i64>, Refusal> {
        let shape = self.result(0)?.shape.iter().copied();
        let shape: Option<Vec<i64>> = shape.collect();
        shape.ok_or_else(|| {
            Refusal::value(
                "the type of its result".to_owned(),
                "open (`?`)",
                "extents that are numbers",
            )
        })
    }

    /// Returns region `at`.
    ///
    /// # Errors
    ///
    /// If it is missing.
    pub fn region(&self, at: usize) -> Result<&'t Block<'t>, Refusal> {
        let region = self.op.regions.get(at);
        region.ok_or_else(|| {
            let found = format!("{} regions", self.op.regions.len());
            Refusal::parts("the op", found, format_args!("{} or more", at + 1))
        })
    }

    /// Applies a scalar function to all operands.
    pub fn apply(&mut self, function: ScalarFn) -> One {
        self.count(function.arity())?;
        let operands = self.rest(0)?;
        self.e.apply(function, &operands)
    }
}

/// The fields of an attribute.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'t> {
    fields: &'t [(&'t str, Attr<'t>)],
}

impl<'t> Fields<'t> {
    fn get(self, name: &str) -> Option<&'t Attr<'t>> {
        let mut fields = self.fields.iter();
        let found = fields.find(|(own, _)| *own == name);
        found.map(|(_, value)| value)
    }

    /// Returns a field that is a list of integers, or of booleans as 0 and 1.
    ///
    /// # Errors
    ///
    /// If the field is something else.
    pub fn optional_ints(self, name: &'static str) -> Result<Option<Vec<i64>>, Refusal> {
        let found = self.get(name);
        let found =
            found.map(|own| list(own).ok_or_else(|| kind(&[name], own, "a list of numbers")));
        found.transpose()
    }

    /// Returns the list of [`optional_ints`](Self::optional_ints), or an empty one if the field is missing.
    pub fn ints(self, name: &'static str) -> Result<Vec<i64>, Refusal> {
        Ok(self.optional_ints(name)?.unwrap_or_default())
    }

    /// Returns a field that is a list of dimensions of a tensor of rank `rank`.
    pub fn axes(self, name: &'static str, rank: usize) -> Result<Vec<usize>, Refusal> {
        let all = self.ints(name)?;
        all.into_iter().map(|own| axis(own, rank)).collect()
    }

    /// Returns an integer field. It is 0 if missing, because MLIR omits zeros.
    pub fn int(self, name: &'static str) -> Result<i64, Refusal> {
        match self.get(name) {
            Some(Attr::Int(own)) => Ok(*own),
            Some(other) => Err(kind(&[name], other, "a number")),
            None => Ok(0),
        }
    }

    /// Checks that all fields are among `known`.
    ///
    /// # Errors
    ///
    /// The first unknown field.
    pub fn check(self, known: &[&str]) -> Result<(), Refusal> {
        let mut names = self.fields.iter().map(|(name, _)| *name);
        match names.find(|name| !known.contains(name)) {
            None => Ok(()),
            Some(name) => Err(Refusal::unknown(name)),
        }
    }
}

/// Returns a list of integers, with nested lists flattened and booleans as 0 and 1.
pub(crate) fn list(attr: &Attr<'_>) -> Option<Vec<i64>> {
    let Attr::List(all) = attr else { return None };
    let mut list = Vec::with_capacity(all.len());
    for own in all {
        match own {
            Attr::Int(own) => list.push(*own),
            Attr::Bool(own) => list.push(i64::from(*own)),
            Attr::List(_) => list.extend(self::list(own)?),
            Attr::Float(_)
            | Attr::Text(_)
            | Attr::Word(_)
            | Attr::Symbol(_)
            | Attr::Pair(_)
            | Attr::Fields(_)
            | Attr::Dense(_)
            | Attr::Raw(_) => return None,
        }
    }
    Some(list)
}

fn integers(attr: &Attr<'_>, importer: &Importer<'_>) -> Option<Vec<i64>> {
    match attr {
        Attr::Dense(dense) => constant(dense, importer.module).ok()?.integers().ok(),
        other => list(other),
    }
}

/// Returns an axis of a tensor of rank `rank`.
pub(crate) fn axis(axis: i64, rank: usize) -> Result<usize, Refusal> {
    match usize::try_from(axis) {
        Ok(own) if own < rank => Ok(own),
        _ => Err(Refusal::axis(axis, rank)),
    }
}

fn missing(names: &[&'static str]) -> Refusal {
    Refusal::missing(names[0])
}

fn kind(names: &[&'static str], found: &Attr<'_>, wanted: &str) -> Refusal {
    Refusal::value(names[0], found.describe(), wanted)
}
