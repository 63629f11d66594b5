//! One op with its arguments bound to their names.

use mind_diag::Code;
use mind_ir::attr::Attr;
use mind_ir::graph::{Graph, ValueDef};
use mind_ir::tensor::{Num, Tensor};
use mind_ir::types::TypeView;
use mind_ir::verify::VerifyError;
use mind_ir::{OpId, ValueId, with_num};
use smallvec::SmallVec;

use crate::element::{Element, Elements};
use crate::opset::Opset;
use crate::signature::{Arg, Default, Kind, Signatures, definition};
use crate::structure::{Func, Input, constant_of, opset_of};

/// The position of the attribute `args` of every op of a signature.
pub const ARGS: usize = 0;
/// The position of the attribute `out`: the names of the results, separated by blanks, then for each block
/// `|` and the names of its arguments; empty for names that the printer chooses.
pub const OUT: usize = 1;
/// The position of the attribute `name`; empty where text has no such annotation.
pub const NAME: usize = 2;

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
    /// What its definition takes.
    pub args: &'static [Arg],
    bound: SmallVec<[Bound; 6]>,
}

/// Some operands as one argument.
#[derive(Clone, Copy, Debug)]
struct Bound {
    /// The argument's place in the definition.
    arg: usize,
    /// The first operand, and how many there are.
    start: usize,
    count: usize,
}

/// An argument that may be left out or come at run time.
#[derive(Clone, PartialEq, Debug)]
pub enum Given<T> {
    /// It is left out.
    Absent,
    /// A constant.
    Known(T),
    /// Only a run knows it.
    Runtime,
}

impl<T> Given<T> {
    /// The constant, if it is one.
    pub fn known(self) -> Option<T> {
        match self {
            Given::Known(value) => Some(value),
            Given::Absent | Given::Runtime => None,
        }
    }
}

/// An error of this dialect's own.
pub(crate) fn error(code: u16, problem: String, help: Option<String>) -> Box<VerifyError> {
    Box::new(VerifyError::Dialect {
        code: Code(code),
        problem,
        help,
    })
}

/// The names in the attribute `args`, each with how many operands it has: `x` is one, `values*2` two.
pub fn argument_names(text: &str) -> impl Iterator<Item = (&str, usize)> {
    text.split_ascii_whitespace()
        .map(|word| match word.split_once('*') {
            Some((name, count)) => (name, count.parse().unwrap_or(0)),
            None => (word, 1),
        })
}

/// The names of the arguments of an op of a signature.
pub fn written_arguments(g: &Graph, op: OpId) -> &str {
    match g.attr(op, ARGS) {
        Attr::Str(sym) => g.name(sym),
        _ => "",
    }
}

/// The element type of a value: a constant's own, that of a mask, else what the dtype says.
pub fn element_of(g: &Graph, value: ValueId) -> Element {
    let own = constant_of(g, value).and_then(|constant| constant.element_type(g));
    own.unwrap_or_else(|| match g.value_def(value) {
        ValueDef::Result(op, 0) if MASKED.contains(&g.def(op).short_name()) => Element::Uint1,
        _ => Element::of(g.ty(value).dtype),
    })
}

/// The ops whose first result is the mask of a sparse constant.
const MASKED: [&str; 2] = [
    "constexpr_lut_to_sparse",
    "constexpr_sparse_blockwise_shift_scale",
];

/// Whether the value is known when compiling: a constant, or what is made of constants alone.
pub fn is_constant(g: &Graph, value: ValueId) -> bool {
    g.defining_op(value).is_some_and(|op| {
        constant_of(g, value).is_some() || g.def(op).short_name().starts_with("constexpr_")
    })
}

impl<'g> Call<'g> {
    /// Binds the operands of `op`, whose definitions are `signatures`.
    ///
    /// # Errors
    ///
    /// E4101 not in the opset, E4102 unknown argument, E4103 given twice, E4104 missing.
    pub fn bind(
        name: &'static str,
        signatures: Signatures,
        op: OpId,
        g: &'g Graph,
    ) -> Result<Call<'g>, Box<VerifyError>> {
        let opset = opset_of(g, op);
        let Some(args) = definition(signatures, opset) else {
            let since = signatures.first().map_or("", |(since, _)| since.tag());
            let problem = format!("`{name}` is not in opset {}", opset.tag());
            return Err(error(4101, problem, Some(format!("opset {since} has it"))));
        };
        let mut call = Call {
            g,
            op,
            name,
            opset,
            args,
            bound: SmallVec::new(),
        };
        let mut start = 0;
        for (written, count) in argument_names(written_arguments(g, op)) {
            let Some(arg) = args.iter().position(|arg| arg.name == written) else {
                return Err(call.unknown(written));
            };
            if call.bound.iter().any(|bound| bound.arg == arg) {
                let problem = format!("`{name}` is given its argument `{written}` twice");
                let help = format!("remove one of the two `{written}`");
                return Err(error(4103, problem, Some(help)));
            }
            call.bound.push(Bound { arg, start, count });
            start += count;
        }
        if start != g.operands(op).len() {
            let found = g.operands(op).len();
            let problem = format!("the arguments of `{name}` name {start} operands of {found}");
            return Err(Box::new(VerifyError::Structure { problem }));
        }
        for (index, arg) in args.iter().enumerate() {
            if !arg.optional && call.bound.iter().all(|bound| bound.arg != index) {
                let problem = format!("`{name}` lacks its argument `{}`", arg.name);
                return Err(error(4104, problem, Some(call.listed())));
            }
        }
        Ok(call)
    }

    fn unknown(&self, written: &str) -> Box<VerifyError> {
        let problem = format!("`{}` has no argument `{written}`", self.name);
        error(4102, problem, Some(self.listed()))
    }

    fn listed(&self) -> String {
        let names: Vec<&str> = self.args.iter().map(|arg| arg.name).collect();
        format!(
            "in opset {} it takes {}",
            self.opset.tag(),
            names.join(", ")
        )
    }

    /// Checks each argument against the definition.
    ///
    /// # Errors
    ///
    /// E4105 not a constant, E4106 another element type, E4107 element types of a group differ,
    /// E4109 several values for one, E4117 a state, or none.
    pub fn check(&self) -> Result<(), Box<VerifyError>> {
        let mut groups: SmallVec<[(u8, &str, Element); 4]> = SmallVec::new();
        for bound in &self.bound {
            let arg = &self.args[bound.arg];
            if bound.count != 1 && arg.kind != Kind::Tuple {
                let (name, found) = (arg.name, bound.count);
                let problem = format!("`{name}` of `{}` is one value, found {found}", self.name);
                let help = "write one value without parentheses; `concat` joins several";
                return Err(error(4109, problem, Some(help.to_owned())));
            }
            for &value in &self.g.operands(self.op)[bound.start..][..bound.count] {
                self.check_value(arg, value)?;
            }
            let Some(&value) = self.g.operands(self.op).get(bound.start) else {
                continue;
            };
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
                format!("`{}` of `{}` is no state", arg.name, self.name)
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

    fn bound(&self, name: &str) -> Option<Bound> {
        let mut all = self.bound.iter();
        all.find(|bound| self.args[bound.arg].name == name).copied()
    }

    /// The operand that is argument `name`, counted from the first.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.bound(name)
            .filter(|bound| bound.count > 0)
            .map(|bound| bound.start)
    }

    /// The values of the tuple `name`, or the one value.
    pub fn values(&self, name: &str) -> &'g [ValueId] {
        match self.bound(name) {
            Some(bound) => &self.g.operands(self.op)[bound.start..][..bound.count],
            None => &[],
        }
    }

    /// The value of argument `name`.
    pub fn value(&self, name: &str) -> Option<ValueId> {
        self.values(name).first().copied()
    }

    /// The type of argument `name`. Panics where it is optional and left out.
    pub fn ty(&self, name: &str) -> TypeView<'g> {
        self.g
            .ty(self.value(name).expect("a required argument is given"))
    }

    /// The elements of argument `name`.
    pub fn tensor(&self, name: &str) -> Given<Tensor> {
        let Some(value) = self.value(name) else {
            return Given::Absent;
        };
        match constant_of(self.g, value).and_then(|constant| constant.tensor(self.g)) {
            Some(tensor) => Given::Known(tensor),
            None => Given::Runtime,
        }
    }

    /// The integers in argument `name`.
    pub fn ints(&self, name: &str) -> Given<Vec<i64>> {
        match self.tensor(name) {
            Given::Absent => Given::Absent,
            Given::Runtime => Given::Runtime,
            Given::Known(tensor) => Given::Known(integers(&tensor)),
        }
    }

    /// The integer in argument `name`, or its default.
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

    /// The number in argument `name`, or its default.
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

    /// The truth value of argument `name`, or its default.
    pub fn flag(&self, name: &str) -> bool {
        match (self.tensor(name), self.default(name)) {
            (Given::Known(tensor), _) => integers(&tensor).first() == Some(&1),
            (_, Some(Default::Bool(value))) => value,
            _ => false,
        }
    }

    /// The word in argument `name`, or its default.
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

    /// The word in argument `name`, if it is one of `words`.
    ///
    /// # Errors
    ///
    /// E4108 another word.
    pub fn one_of(&self, name: &str, words: &[&str]) -> Result<&'g str, Box<VerifyError>> {
        let found = self.word(name);
        if words.contains(&found) {
            Ok(found)
        } else {
            Err(self.refused(name, found, &format!("one of {}", words.join(", "))))
        }
    }

    /// E4108: what argument `name` does not take.
    pub fn refused(&self, name: &str, found: &str, expected: &str) -> Box<VerifyError> {
        let problem = format!("`{name}` of `{}` is {found}", self.name);
        error(4108, problem, Some(format!("it is {expected}")))
    }

    /// E4109: a list of another length than `expected`.
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

    /// The axis that `axis` means in `rank`, counted from the front.
    ///
    /// # Errors
    ///
    /// E3004 out of range.
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

    /// The distinct axes that `axes` mean in `rank`.
    ///
    /// # Errors
    ///
    /// E3004 out of range, E3005 listed twice.
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

/// Whether `value` is a state.
pub fn is_state(g: &Graph, value: ValueId) -> bool {
    match g.value_def(value) {
        ValueDef::Result(op, _) => g.view::<Input>(op).is_some_and(|input| input.state(g)),
        ValueDef::Argument(block, index) => {
            let func = g.block_owner(block).and_then(|owner| g.view::<Func>(owner));
            func.is_some_and(|func| func.parameter(g, index as usize).1)
        }
    }
}

/// The elements as integers, fractions cut off; truth values as 0 and 1.
pub fn integers(tensor: &Tensor) -> Vec<i64> {
    let integer = |value: f64| value as i64;
    with_num!(tensor.dtype(), T => {
        let elements = tensor.elements::<T>().iter();
        let whole = |element: &T| element.to_i128().map(|whole| whole as i64);
        elements.map(|element| whole(element).unwrap_or_else(|| integer(element.to_f64()))).collect()
    }, else tensor.elements::<bool>().iter().map(|&flag| i64::from(flag)).collect())
}

/// The elements as numbers.
pub fn floats(tensor: &Tensor) -> Vec<f64> {
    with_num!(tensor.dtype(), T => {
        tensor.elements::<T>().iter().map(|&element| element.to_f64()).collect()
    }, else integers(tensor).into_iter().map(|flag| flag as f64).collect())
}
