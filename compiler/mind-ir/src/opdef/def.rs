//! The entry of an op in its dialect's table.

use smallvec::SmallVec;

use crate::attr::{Attr, AttrKind, Padding};
use crate::entity::{OpId, Ty, ValueId};
use crate::eval::{EvalCx, EvalError};
use crate::graph::Graph;
use crate::scalar::ScalarFn;
use crate::tensor::Tensor;
use crate::types::{DType, DTypeClass, TensorType};
use crate::verify::{ArgumentsResult, VerifyError};

/// Everything the compiler knows of one op. Compared by address; written with [`ops!`](crate::ops).
#[derive(Debug)]
pub struct OpDef {
    /// Dialect and name: `core.sum`.
    pub name: &'static str,
    /// The documentation: one sentence, then shapes, order, errors, source.
    pub doc: &'static str,
    /// Operands in order.
    pub operands: &'static [Operand],
    /// What stands for any number of operands after those; at least one.
    pub variadic: Option<Operand>,
    /// What may stand after those, once; not with `variadic`.
    pub optional: Option<Operand>,
    /// Attributes in order.
    pub attrs: &'static [AttrDef],
    /// How many results.
    pub results: Results,
    /// How many regions.
    pub regions: usize,
    /// What the arguments of its regions are, where no trait says that.
    pub arguments: Option<ArgumentsHook>,
    /// What generic passes may assume.
    pub traits: &'static [Trait],
    /// What the op is called in each text format.
    pub names: Names,
    /// The shape rule.
    pub infer: Option<InferHook>,
    /// The only meaning of the op.
    pub eval: Option<EvalHook>,
    /// The function that an elementwise op applies; one of them, if `scalar_of` chooses.
    pub scalar: Option<ScalarFn>,
    /// The function that an op applies, where its attributes choose one: of the arity, domain and cost of `scalar`.
    pub scalar_of: Option<fn(OpId, &Graph) -> ScalarFn>,
    /// What the op equals without being evaluated.
    pub fold: Option<FoldHook>,
    /// Whether profile `core-v1` has this very op, where the table entry alone does not say.
    pub core_v1: Option<fn(OpId, &Graph) -> bool>,
}

/// The types of the arguments of the region with this number, or the first rule that operands and attributes break.
/// Operands have types when it is called.
pub type ArgumentsHook = fn(OpId, &Graph, usize) -> ArgumentsResult;

/// Result types, or the first rule that the op breaks. Operands have types when it is called.
pub type InferHook = fn(OpId, &Graph) -> Result<SmallVec<[Inferred; 1]>, Box<VerifyError>>;

/// Result tensors. Operands have the shapes and dtypes that verification found.
pub type EvalHook = fn(OpId, &EvalCx<'_>, &[&Tensor]) -> Result<SmallVec<[Tensor; 1]>, EvalError>;

/// See [`Folded`].
pub type FoldHook = fn(OpId, &Graph) -> Option<Folded>;

/// What an op turned out to equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Folded {
    /// A value that is there already, of the same type.
    Value(ValueId),
    /// A scalar `i64`.
    Number(i64),
}

/// A result type from a shape rule.
#[derive(Clone, PartialEq, Debug)]
pub enum Inferred {
    /// A type that the graph holds.
    Known(Ty),
    /// Another type.
    New(TensorType),
    /// Whatever the definition declares.
    Declared,
}

impl From<TensorType> for Inferred {
    fn from(ty: TensorType) -> Inferred {
        Inferred::New(ty)
    }
}

/// An op as a type of its own, with accessors for its operands and attributes.
pub trait Op: Copy {
    /// The table entry.
    const DEF: &'static OpDef;

    /// The view of `op`. Call [`Graph::view`] where the op's kind is not known.
    fn from_id(op: OpId) -> Self;

    /// The op.
    fn id(self) -> OpId;
}

/// An operand of a table entry.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// Its name in messages and typed views.
    pub name: &'static str,
    /// The dtypes it may have.
    pub class: OperandClass,
}

macro_rules! operand_classes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $admits:expr;)*) => {
        /// The dtypes an operand may have.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum OperandClass {
            $($(#[$doc])* $name,)*
        }

        impl OperandClass {
            /// The class in words.
            pub const fn text(self) -> &'static str {
                match self { $(OperandClass::$name => $text,)* }
            }

            /// Whether a tensor of `dtype` may stand there.
            pub fn admits(self, dtype: DType) -> bool {
                let admits: fn(DType) -> bool = match self { $(OperandClass::$name => $admits,)* };
                admits(dtype)
            }
        }
    };
}

operand_classes! {
    /// Every dtype.
    Any = "any dtype", |_| true;
    /// Everything but `bool`.
    Num = "a numeric dtype", |dtype| dtype != DType::Bool;
    /// Floats.
    Float = "a float dtype", DType::is_float;
    /// `f32` alone.
    F32 = "`f32`", |dtype| dtype == DType::F32;
    /// Truth values.
    Bool = "`bool`", |dtype| dtype == DType::Bool;
    /// Integers.
    Integer = "an integer dtype", DType::is_int;
    /// Integers and `bool`.
    Bits = "an integer dtype or `bool`", |dtype| !dtype.is_float();
    /// What indices are.
    Index = "`i32` or `i64`", |dtype| matches!(dtype, DType::I32 | DType::I64);
    /// Floats and signed integers.
    Signed = "a float or signed integer dtype",
        |dtype| matches!(dtype.class(), DTypeClass::Float | DTypeClass::Signed);
}

/// An attribute of a table entry.
#[derive(Debug)]
pub struct AttrDef {
    /// Its name in Core text, messages and typed views.
    pub name: &'static str,
    /// Its key in mic@1; `None` for the one list that stands without a key.
    pub key: Option<&'static str>,
    /// What it holds.
    pub kind: AttrKind,
    /// Its value where none is written; `None` if it must be written.
    pub default: Option<Attr<'static>>,
}

impl AttrDef {
    /// The default as people read it; `None` if the attribute must be written.
    pub fn default_text(&self) -> Option<String> {
        Some(match self.default? {
            Attr::Int(value) => value.to_string(),
            Attr::Bool(value) => value.to_string(),
            Attr::Float(bits) => f64::from_bits(bits).to_string(),
            Attr::Ints(list) => format!("{list:?}"),
            Attr::Dims(list) => format!("{list:?}"),
            Attr::Padding(Padding::Valid) => "valid".to_owned(),
            Attr::Padding(Padding::Same) => "same".to_owned(),
            Attr::Padding(Padding::Custom(pads)) => format!("{pads:?}"),
            Attr::DType(dtype) => dtype.name().to_owned(),
            Attr::Word(word) => word.to_owned(),
            Attr::Str(_) | Attr::Literal(_) => "...".to_owned(),
        })
    }
}

/// How often an operand of a table entry stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repeat {
    /// Once.
    Once,
    /// One or more times.
    OneOrMore,
    /// Once or not at all.
    AtMostOnce,
}

impl Repeat {
    /// What follows a description of the operand.
    pub const fn text(self) -> &'static str {
        match self {
            Repeat::Once => "",
            Repeat::OneOrMore => ", one or more",
            Repeat::AtMostOnce => ", optional",
        }
    }

    /// What follows its name.
    pub const fn mark(self) -> &'static str {
        match self {
            Repeat::Once => "",
            Repeat::OneOrMore => "...",
            Repeat::AtMostOnce => "?",
        }
    }
}

/// How many results an op has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Results {
    /// None: a terminator.
    None,
    /// One.
    One,
    /// Several, each with a name.
    Named(&'static [&'static str]),
    /// As many as its region yields.
    Many,
}

impl Results {
    /// How many results an op has; `None` if its region says that.
    pub const fn count(self) -> Option<usize> {
        match self {
            Results::None => Some(0),
            Results::One => Some(1),
            Results::Named(names) => Some(names.len()),
            Results::Many => None,
        }
    }
}

/// What an op is called in each text format; `None` if the format cannot say it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names {
    /// Core text.
    pub core: Option<&'static str>,
    /// mic@1.
    pub mic1: Option<&'static str>,
    /// mic@2.
    pub mic2: Option<&'static str>,
}

impl Names {
    /// An op that no text format has a word for; it prints by its full name.
    pub const NONE: Names = Names {
        core: None,
        mic1: None,
        mic2: None,
    };
}

/// What generic passes may assume of an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trait {
    /// Running it is not observable: unused, it may go; twice, it may be shared.
    Pure,
    /// Its two operands may change places.
    Commutative,
    /// All operands but those of class `Bool` have one dtype.
    SameDType,
    /// Applies one scalar function at every position of the broadcast shape.
    Elementwise,
    /// Its value is known when compiling: `eval` without operands gives it.
    Constant,
    /// Part of the module's interface: an input. Never removed or merged.
    Interface,
    /// The type of its result is written, not inferred.
    DeclaresType,
    /// Ends its block.
    Terminator,
    /// Each region's block has one argument per operand, of its type.
    BodyOverOperands,
    /// Each region's block has one argument per operand: a rank-0 tensor of its dtype. The body runs at
    /// every position.
    BodyOverElements,
    /// Outside profile `core-v1`.
    Extended,
}

impl OpDef {
    /// Whether the op has a trait.
    #[inline]
    pub fn has(&self, wanted: Trait) -> bool {
        self.traits.contains(&wanted)
    }

    /// Whether the regions read their arguments, and nothing else from outside.
    pub fn has_closed_body(&self) -> bool {
        self.arguments.is_some()
            || self.has(Trait::BodyOverOperands)
            || self.has(Trait::BodyOverElements)
    }

    /// The position of the attribute called `name`.
    pub fn attr_index(&self, name: &str) -> Option<usize> {
        self.attrs.iter().position(|attr| attr.name == name)
    }

    /// The position of the attribute called `name`, as in `const AXIS: usize = Sum::DEF.attr_position("axis")`.
    ///
    /// # Panics
    ///
    /// If there is none, which in a constant is an error of compilation.
    pub const fn attr_position(&self, name: &str) -> usize {
        let mut index = 0;
        while index < self.attrs.len() {
            let (own, mut same) = (self.attrs[index].name.as_bytes(), 0);
            while same < own.len() && same < name.len() && own[same] == name.as_bytes()[same] {
                same += 1;
            }
            if same == own.len() && same == name.len() {
                return index;
            }
            index += 1;
        }
        panic!("the op has no attribute of this name");
    }

    /// The operand at `index`, counting every repetition of the variadic one.
    pub fn operand(&self, index: usize) -> Option<Operand> {
        let behind = self.optional.filter(|_| index == self.operands.len());
        let fixed = self.operands.get(index).copied();
        fixed.or(behind).or(self.variadic)
    }

    /// Whether an op of this kind may have `count` operands.
    pub fn admits_operands(&self, count: usize) -> bool {
        match self.variadic {
            Some(_) => count > self.operands.len(),
            None => {
                let more = count.wrapping_sub(self.operands.len());
                more == 0 || more == 1 && self.optional.is_some()
            }
        }
    }

    /// Every operand of the table entry, with how often it stands beside once.
    pub fn all_operands(&self) -> impl Iterator<Item = (Operand, Repeat)> + '_ {
        let fixed = self.operands.iter().map(|&operand| (operand, Repeat::Once));
        let many = self.variadic.map(|operand| (operand, Repeat::OneOrMore));
        let optional = self.optional.map(|operand| (operand, Repeat::AtMostOnce));
        fixed.chain(many).chain(optional)
    }

    /// The operand counts it may have, in words.
    pub fn arity_text(&self) -> String {
        let names = self.all_operands().map(|(operand, _)| operand.name);
        let names = names.collect::<Vec<_>>().join(", ");
        let count = self.count_text();
        match (self.variadic, names.is_empty()) {
            (Some(_), _) => format!("{count} ({names}, ...)"),
            (None, true) => count,
            (None, false) => format!("{count} ({names})"),
        }
    }

    /// The operand counts it may have, in words and without the names of the operands.
    pub fn count_text(&self) -> String {
        match (self.variadic, self.optional, self.operands.len()) {
            (Some(_), _, 0) => "at least 1 operand".to_owned(),
            (Some(_), _, fixed) => format!("at least {} operands", fixed + 1),
            (None, Some(_), fixed) => format!("{fixed} or {} operands", fixed + 1),
            (None, None, 0) => "no operands".to_owned(),
            (None, None, 1) => "1 operand".to_owned(),
            (None, None, count) => format!("{count} operands"),
        }
    }

    /// The name without its dialect.
    pub fn short_name(&self) -> &'static str {
        self.name
            .split_once('.')
            .map_or(self.name, |(_, short)| short)
    }
}
