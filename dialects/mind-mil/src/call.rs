//! One op with its arguments bound to their names.

use std::ops::Range;

use mind_diag::Code;
use mind_ir::graph::{Graph, ValueDef};
use mind_ir::tensor::{Num, Tensor};
use mind_ir::types::TypeView;
use mind_ir::verify::VerifyError;
use mind_ir::{OpId, ValueId, with_num};
use smallvec::SmallVec;

use crate::element::{Element, Elements};
use crate::ops;
use crate::ops::quantize::{CONSTEXPR_LUT_TO_SPARSE, CONSTEXPR_SPARSE_BLOCKWISE_SHIFT_SCALE};
use crate::opset::Opset;
use crate::row::{Attributes, MilOp};
use crate::signature::{Arg, Default, Kind, definition};
use crate::structure::{Func, Input, constant_of, opset_of};

/// An op whose operands are bound to the arguments of its definition.
pub struct Call<'g> {
    /// The module.
    pub g: &'g Graph,
    /// The op.
    pub op: OpId,
    /// Its name in text.
    pub name: &'static str,
    /// The opset that its function is written in.
    pub opset: Opset,
    /// The arguments of its definition.
    pub args: &'static [Arg],
    /// The operands of each argument.
    bound: SmallVec<[Range<usize>; 6]>,
}

/// The value of an argument that may be omitted or computed at run time.
#[derive(Clone, PartialEq, Debug)]
pub enum ArgState<T> {
    /// Omitted.
    Absent,
    /// A constant.
    Known(T),
    /// Known at run time only.
    Runtime,
}

impl<T> ArgState<T> {
    /// Returns the constant, if it is one.
    pub fn known(self) -> Option<T> {
        match self {
            ArgState::Known(value) => Some(value),
            ArgState::Absent | ArgState::Runtime => None,
        }
    }
}

/// Creates an error with a code of this dialect.
pub(crate) fn error(code: u16, problem: String, help: Option<String>) -> Box<VerifyError> {
    Box::new(VerifyError::Dialect {
        code: Code(code),
        problem,
        help,
    })
}

/// Returns the arguments of an op with a row, each with its values, in the order of the operands.
pub fn arguments(g: &Graph, op: OpId) -> impl Iterator<Item = (&'static str, &[ValueId])> {
    let row = ops::row(g.def(op));
    let params = row.map_or(&[][..], |row| row.params.as_slice());
    let segments = row.map_or(&[][..], |_| Attributes::of(g, op).segments);
    let mut rest = g.operands(op);
    let given = params.iter().zip(segments).map(move |(&name, &count)| {
        let count = usize::try_from(count).unwrap_or(0).min(rest.len());
        let (values, behind) = rest.split_at(count);
        rest = behind;
        (name, values)
    });
    given.filter(|(_, values)| !values.is_empty())
}

/// Returns the argument that the operand at `index` of `op` belongs to; `None` if the op has no row.
pub fn argument_at(g: &Graph, op: OpId, index: usize) -> Option<&'static str> {
    let mut end = 0;
    let mut arguments = arguments(g, op);
    let own = arguments.find(|(_, values)| {
        end += values.len();
        index < end
    });
    own.map(|(name, _)| name)
}

/// Returns the element type of a value: that of a constant or of a mask, else the one for its dtype.
pub fn element_of(g: &Graph, value: ValueId) -> Element {
    let own = constant_of(g, value).and_then(|constant| constant.element_type(g));
    own.unwrap_or_else(|| {
        if is_mask(g, value) {
            Element::Uint1
        } else {
            Element::of(g.ty(value).dtype)
        }
    })
}

/// Returns whether the value is the mask of a sparse constant, whose elements are `uint1`.
pub fn is_mask(g: &Graph, value: ValueId) -> bool {
    let masked = [
        &CONSTEXPR_LUT_TO_SPARSE,
        &CONSTEXPR_SPARSE_BLOCKWISE_SHIFT_SCALE,
    ];
    match g.value_def(value) {
        ValueDef::Result(op, 0) => masked.iter().any(|row| std::ptr::eq(&row.def, g.def(op))),
        ValueDef::Result(..) | ValueDef::Argument(..) => false,
    }
}

/// Returns whether the value is known at compile time: a constant, or computed from constants only.
pub fn is_constant(g: &Graph, value: ValueId) -> bool {
    g.defining_op(value).is_some_and(|op| {
        constant_of(g, value).is_some() || ops::row(g.def(op)).is_some_and(MilOp::is_constexpr)
    })
}

/// Lists the arguments of a definition, for a help.
pub fn listed(args: &[Arg], opset: Opset) -> String {
    let names: Vec<&str> = args.iter().map(|arg| arg.name).collect();
    format!("in opset {} it takes {}", opset.tag(), names.join(", "))
}

impl<'g> Call<'g> {
    /// Binds the operands of `op`, whose row is `row`.
    ///
    /// # Errors
    ///
    /// Returns E2007 if the number of operands differs from the sum of `segments`, E4101 if the op is not in the opset,
    /// E4102 for an argument that the opset does not have, E4104 for a missing argument, and E4109 unless there is one
    /// segment for each argument.
    /// opset does not have, E4104 missing, E4109 not one segment for each argument.
    pub fn bind(row: &'static MilOp, op: OpId, g: &'g Graph) -> Result<Call<'g>, Box<VerifyError>> {
        let (name, opset) = (row.name, opset_of(g, op));
        let Some(args) = definition(row.signatures, opset) else {
            let since = row.signatures.first().map_or("", |(since, _)| since.tag());
            let problem = format!("`{name}` is not in opset {}", opset.tag());
            return Err(error(4101, problem, Some(format!("opset {since} has it"))));
        };
        let mut call = Call {
            g,
            op,
            name,
            opset,
            args,
            bound: SmallVec::from_elem(0..0, args.len()),
        };
        let segments = Attributes::of(g, op).segments;
        call.length("segments", segments.len(), row.params.len())?;
        let mut start = 0usize;
        for (&param, &count) in row.params.iter().zip(segments) {
            let Ok(count) = usize::try_from(count) else {
                return Err(call.refused("segments", &format!("{count} for `{param}`"), "a count"));
            };
            if count == 0 {
                continue;
            }
            let Some(arg) = args.iter().position(|arg| arg.name == param) else {
                let problem = format!("`{name}` has no argument `{param}`");
                return Err(error(4102, problem, Some(listed(args, opset))));
            };
            let end = start.saturating_add(count);
            call.bound[arg] = start..end;
            start = end;
        }
        let found = g.operands(op).len();
        if start != found {
            return Err(Box::new(VerifyError::Arity {
                op: row.def.name,
                expected: format!("the {start} operands that its `segments` count"),
                found,
            }));
        }
        for (arg, bound) in args.iter().zip(&call.bound) {
            if !arg.optional && bound.is_empty() {
                let problem = format!("`{name}` lacks its argument `{}`", arg.name);
                return Err(error(4104, problem, Some(listed(args, opset))));
            }
        }
        Ok(call)
    }

    /// Checks each argument against the definition.
    ///
    /// # Errors
    ///
    /// Returns E4105 for an argument that is not a constant, E4106 for a wrong element type, E4107 if the element types
    /// of a group differ, E4109 for several values where one is expected, and E4117 for a state where a tensor is
    /// expected, or the reverse.
    pub fn check(&self) -> Result<(), Box<VerifyError>> {
        let mut groups: SmallVec<[(u8, &str, Element); 4]> = SmallVec::new();
        for (arg, bound) in self.args.iter().zip(&self.bound) {
            let Some(&value) = self.g.operands(self.op)[bound.clone()].first() else {
                continue;
            };
            if bound.len() != 1 && arg.kind != Kind::Tuple {
                let (name, found) = (arg.name, bound.len());
                let problem = format!("`{name}` of `{}` is one value, found {found}", self.name);
                let help = "write one value without parentheses; `concat` joins several";
                return Err(error(4109, problem, Some(help.to_owned())));
            }
            for &value in &self.g.operands(self.op)[bound.clone()] {
                self.check_value(arg, value)?;
            }
            let element = element_of(self.g, value);
            match groups
                .iter()
                .find(|(group, ..)| arg.group != 0 && *group == arg.group)
            {
                Some(&(_, first, other)) if other != element => {
                    let problem = format!(
                        "`{first}` and `{}` of `{}` have different element types: {} and {}",
                        arg.name,
                        self.name,
                        other.name(),
                        element.name()
                    );
                    let help = "a `cast` makes them alike; there is no implicit conversion";
                    return Err(error(4107, problem, Some(help.to_owned())));
                }
                Some(_) => {}
                None => groups.push((arg.group, arg.name, element)),
            }
        }
        Ok(())
    }

    fn check_value(&self, arg: &Arg, value: ValueId) -> Result<(), Box<VerifyError>> {
        let is_state = is_state(self.g, value);
        if is_state != (arg.kind == Kind::State) {
            let problem = if is_state {
                format!("`{}` of `{}` is a state", arg.name, self.name)
            } else {
                format!("`{}` of `{}` is not a state", arg.name, self.name)
            };
            let help =
                "`read_state` gives the tensor in a state; only it and `write_state` take one";
            return Err(error(4117, problem, Some(help.to_owned())));
        }
        if arg.constant && !is_constant(self.g, value) {
            let problem = format!("`{}` of `{}` must be a constant", arg.name, self.name);
            let help = "define it with `const`, or write a typed literal, as in `int32(0)`";
            return Err(error(4105, problem, Some(help.to_owned())));
        }
        let element = element_of(self.g, value);
        if arg.kind == Kind::Tensor && !arg.types.contains(element) {
            return Err(self.wrong_element(arg, element, arg.types));
        }
        Ok(())
    }

    fn wrong_element(&self, arg: &Arg, found: Element, types: Elements) -> Box<VerifyError> {
        let (arg, name, found) = (arg.name, self.name, found.name());
        let help = format!("in opset {} it is {}", self.opset.tag(), types.text());
        error(4106, format!("`{arg}` of `{name}` is {found}"), Some(help))
    }

    /// Returns the range of operands of argument `name`.
    fn operands(&self, name: &str) -> Range<usize> {
        let at = self.args.iter().position(|arg| arg.name == name);
        at.map_or(0..0, |at| self.bound[at].clone())
    }

    /// Returns the index of the first operand of argument `name`.
    pub fn index(&self, name: &str) -> Option<usize> {
        let own = self.operands(name);
        (!own.is_empty()).then_some(own.start)
    }

    /// Returns the values of the tuple `name`, or its single value.
    pub fn values(&self, name: &str) -> &'g [ValueId] {
        &self.g.operands(self.op)[self.operands(name)]
    }

    /// Returns the value of argument `name`.
    pub fn value(&self, name: &str) -> Option<ValueId> {
        self.values(name).first().copied()
    }

    /// Returns the type of argument `name`. Panics if it is optional and omitted.
    pub fn ty(&self, name: &str) -> TypeView<'g> {
        self.g
            .ty(self.value(name).expect("a required argument is given"))
    }

    /// Returns the elements of argument `name`.
    pub fn tensor(&self, name: &str) -> ArgState<Tensor> {
        let Some(value) = self.value(name) else {
            return ArgState::Absent;
        };
        match constant_of(self.g, value).and_then(|constant| constant.tensor(self.g)) {
            Some(tensor) => ArgState::Known(tensor),
            None => ArgState::Runtime,
        }
    }

    /// Returns the integers of argument `name`.
    pub fn ints(&self, name: &str) -> ArgState<Vec<i64>> {
        match self.tensor(name) {
            ArgState::Absent => ArgState::Absent,
            ArgState::Runtime => ArgState::Runtime,
            ArgState::Known(tensor) => ArgState::Known(integers(&tensor)),
        }
    }

    /// Returns the integer of argument `name`, or its default.
    pub fn int(&self, name: &str) -> Option<i64> {
        let given = self
            .ints(name)
            .known()
            .and_then(|list| list.first().copied());
        given.or(match self.default(name) {
            Some(Default::Int(value)) => Some(value),
            _ => None,
        })
    }

    /// Returns the number of argument `name`, or its default.
    pub fn float(&self, name: &str) -> Option<f64> {
        let given = self
            .tensor(name)
            .known()
            .and_then(|tensor| floats(&tensor).first().copied());
        given.or(match self.default(name) {
            Some(Default::Float(value)) => Some(value),
            _ => None,
        })
    }

    /// Returns the truth value of argument `name`, or its default.
    pub fn flag(&self, name: &str) -> bool {
        match (self.tensor(name), self.default(name)) {
            (ArgState::Known(tensor), _) => integers(&tensor).first() == Some(&1),
            (_, Some(Default::Bool(value))) => value,
            _ => false,
        }
    }

    /// Returns the word of argument `name`, or its default.
    pub fn word(&self, name: &str) -> &'g str {
        let constant = self
            .value(name)
            .and_then(|value| constant_of(self.g, value));
        match (constant, self.default(name)) {
            (Some(constant), _) => self.g.name(constant.text(self.g)),
            (None, Some(Default::Word(word))) => word,
            _ => "",
        }
    }

    fn default(&self, name: &str) -> Option<Default> {
        let arg = self.args.iter().find(|arg| arg.name == name)?;
        Some(arg.default)
    }

    /// Returns the word of argument `name`.
    ///
    /// # Errors
    ///
    /// Returns E4108 if it is not one of `words`.
    pub fn one_of(&self, name: &str, words: &[&str]) -> Result<&'g str, Box<VerifyError>> {
        let found = self.word(name);
        if words.contains(&found) {
            Ok(found)
        } else {
            Err(self.refused(name, found, &format!("one of {}", words.join(", "))))
        }
    }

    /// Returns the error E4108 for an unsupported value of argument `name`.
    pub fn refused(&self, name: &str, found: &str, expected: &str) -> Box<VerifyError> {
        let problem = format!("`{name}` of `{}` is {found}", self.name);
        error(4108, problem, Some(format!("it is {expected}")))
    }

    /// Checks the length of a list.
    ///
    /// # Errors
    ///
    /// Returns E4109 if it is not `expected`.
    pub fn length(
        &self,
        name: &str,
        found: usize,
        expected: usize,
    ) -> Result<(), Box<VerifyError>> {
        if found == expected {
            return Ok(());
        }
        let problem = format!(
            "`{name}` of `{}` has {found} entries, not {expected}",
            self.name
        );
        let entries = if expected == 1 { "entry" } else { "entries" };
        let help = format!("write {expected} {entries}");
        Err(error(4109, problem, Some(help)))
    }

    /// Returns the non-negative index of `axis` in a tensor of rank `rank`.
    ///
    /// # Errors
    ///
    /// Returns E3004 if it is out of range.
    pub fn axis(&self, axis: i64, rank: usize) -> Result<usize, Box<VerifyError>> {
        let own = if axis < 0 { axis + rank as i64 } else { axis };
        match usize::try_from(own).ok().filter(|&own| own < rank) {
            Some(own) => Ok(own),
            None => Err(Box::new(VerifyError::AxisRange {
                op: self.name,
                axis,
                rank,
            })),
        }
    }

    /// Returns the non-negative indices of `axes` in a tensor of rank `rank`.
    ///
    /// # Errors
    ///
    /// Returns E3004 for an axis out of range and E3005 for a repeated axis.
    pub fn axes(&self, axes: &[i64], rank: usize) -> Result<Vec<usize>, Box<VerifyError>> {
        let mut own = Vec::with_capacity(axes.len());
        for &axis in axes {
            let at = self.axis(axis, rank)?;
            if own.contains(&at) {
                let axes = axes.to_vec();
                return Err(Box::new(VerifyError::AxisTwice {
                    op: self.name,
                    axes,
                    axis,
                }));
            }
            own.push(at);
        }
        Ok(own)
    }
}

/// Returns whether `value` is a state.
pub fn is_state(g: &Graph, value: ValueId) -> bool {
    match g.value_def(value) {
        ValueDef::Result(op, _) => g.view::<Input>(op).is_some_and(|input| input.state(g)),
        ValueDef::Argument(block, index) => {
            let func = g.block_owner(block).and_then(|owner| g.view::<Func>(owner));
            func.is_some_and(|func| func.parameter(g, index as usize).1)
        }
    }
}

/// Returns the elements as integers. Fractions are truncated; truth values are 0 and 1.
pub fn integers(tensor: &Tensor) -> Vec<i64> {
    let integer = |value: f64| value as i64;
    with_num!(tensor.dtype(), T => {
        let elements = tensor.elements::<T>().iter();
        let whole = |element: &T| element.to_i128().map(|whole| whole as i64);
        elements.map(|element| whole(element).unwrap_or_else(|| integer(element.to_f64()))).collect()
    }, else tensor.elements::<bool>().iter().map(|&flag| i64::from(flag)).collect())
}

/// Returns the elements as floats.
pub fn floats(tensor: &Tensor) -> Vec<f64> {
    with_num!(tensor.dtype(), T => {
        tensor.elements::<T>().iter().map(|&element| element.to_f64()).collect()
    }, else integers(tensor).into_iter().map(|flag| flag as f64).collect())
}
