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

/// The labels of the sections in an op's documentation, in the order in which they are written. Each begins a line.
pub const DOC_SECTIONS: [&str; 5] = ["Shapes:", "Schedule:", "Order:", "Errors:", "Source:"];

/// The table entry of an op, which holds all that the compiler knows of it. Entries are written with
/// [`ops!`](crate::ops) and compared by address.
#[derive(Debug)]
pub struct OpDef {
    /// The dialect and name, for example `core.sum`.
    pub name: &'static str,
    /// The documentation: one sentence, then the [sections](DOC_SECTIONS).
    pub doc: &'static str,
    /// The fixed operands, in order.
    pub operands: &'static [Operand],
    /// The variadic operand after the fixed ones, which occurs at least once.
    pub variadic: Option<Operand>,
    /// The optional operand after the fixed ones; excludes `variadic`.
    pub optional: Option<Operand>,
    /// The attributes, in order.
    pub attrs: &'static [AttrDef],
    /// The number and names of the results.
    pub results: Results,
    /// The number of regions.
    pub regions: usize,
    /// The rule for the types of region arguments, if no trait gives them.
    pub arguments: Option<ArgumentsHook>,
    /// The properties that generic passes may assume.
    pub traits: &'static [Trait],
    /// The name in each text format.
    pub names: Names,
    /// The shape rule.
    pub infer: Option<InferHook>,
    /// The evaluation, which defines the semantics.
    pub eval: Option<EvalHook>,
    /// The scalar function that an elementwise op applies; a representative one if there is `scalar_of`.
    pub scalar: Option<ScalarFn>,
    /// Returns the scalar function that the attributes choose. It has the arity, domain and cost of `scalar`.
    pub scalar_of: Option<fn(OpId, &Graph) -> ScalarFn>,
    /// The folder, which replaces results without evaluating the op.
    pub fold: Option<FoldHook>,
    /// Returns whether this op is in profile `core-v1`, if that depends on its attributes or operands.
    pub core_v1: Option<fn(OpId, &Graph) -> bool>,
}

/// Returns the types of the arguments of the region with this index, or the first rule that operands and attributes
/// break. Operands must have types.
pub type ArgumentsHook = fn(OpId, &Graph, usize) -> ArgumentsResult;

/// Returns the result types, or the first rule that the op breaks. Operands must have types.
pub type InferHook = fn(OpId, &Graph) -> Result<SmallVec<[Inferred; 1]>, Box<VerifyError>>;

/// Returns the result tensors. Operands have the shapes and dtypes that the verifier inferred.
pub type EvalHook = fn(OpId, &EvalCx<'_>, &[&Tensor]) -> Result<SmallVec<[Tensor; 1]>, EvalError>;

/// Returns the folded result, if there is one.
pub type FoldHook = fn(OpId, &Graph) -> Option<Folded>;

/// The result of folding an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Folded {
    /// An existing value of the same type.
    Value(ValueId),
    /// A scalar `i64`.
    Number(i64),
}

/// A result type from a shape rule.
#[derive(Clone, PartialEq, Debug)]
pub enum Inferred {
    /// A type that is interned in the graph.
    Known(Ty),
    /// Any other type.
    New(TensorType),
    /// The declared type, because the type cannot be inferred.
    Declared,
}

impl From<TensorType> for Inferred {
    fn from(ty: TensorType) -> Inferred {
        Inferred::New(ty)
    }
}

/// A typed view of an op, with accessors for its operands and attributes.
pub trait Op: Copy {
    /// The table entry.
    const DEF: &'static OpDef;

    /// Returns the view of `op` without checking its table entry. Use [`Graph::view`] if the entry is not known.
    fn from_id(op: OpId) -> Self;

    /// Returns the op.
    fn id(self) -> OpId;
}

/// An operand of a table entry.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// Its name in messages and in typed views.
    pub name: &'static str,
    /// The dtypes that it may have.
    pub class: OperandClass,
}

macro_rules! operand_classes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $admits:expr;)*) => {
        /// A set of dtypes that an operand may have.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum OperandClass {
            $($(#[$doc])* $name,)*
        }

        impl OperandClass {
            /// Returns the description for messages.
            pub const fn text(self) -> &'static str {
                match self { $(OperandClass::$name => $text,)* }
            }

            /// Whether the operand may have this dtype.
            pub fn admits(self, dtype: DType) -> bool {
                let admits: fn(DType) -> bool = match self { $(OperandClass::$name => $admits,)* };
                admits(dtype)
            }
        }
    };
}

operand_classes! {
    /// Any dtype.
    Any = "any dtype", |_| true;
    /// Any dtype except `bool`.
    Num = "a numeric dtype", |dtype| dtype != DType::Bool;
    /// Floats.
    Float = "a float dtype", DType::is_float;
    /// `f32`.
    F32 = "`f32`", |dtype| dtype == DType::F32;
    /// `bool`.
    Bool = "`bool`", |dtype| dtype == DType::Bool;
    /// Integers.
    Integer = "an integer dtype", DType::is_int;
    /// Integers and `bool`.
    Bits = "an integer dtype or `bool`", |dtype| !dtype.is_float();
    /// The dtypes of indices.
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
    /// Its key in mic@1; `None` for a list that is written without a key.
    pub key: Option<&'static str>,
    /// The kind of its values.
    pub kind: AttrKind,
    /// The default; `None` if the attribute is required.
    pub default: Option<Attr<'static>>,
}

impl AttrDef {
    /// Returns the default as text; `None` if the attribute is required.
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

/// How often an operand of a table entry occurs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repeat {
    /// Once.
    Once,
    /// One or more times.
    OneOrMore,
    /// At most once.
    AtMostOnce,
}

impl Repeat {
    /// Returns the suffix of a description of the operand.
    pub const fn text(self) -> &'static str {
        match self {
            Repeat::Once => "",
            Repeat::OneOrMore => ", one or more",
            Repeat::AtMostOnce => ", optional",
        }
    }

    /// Returns the suffix of the operand's name.
    pub const fn mark(self) -> &'static str {
        match self {
            Repeat::Once => "",
            Repeat::OneOrMore => "...",
            Repeat::AtMostOnce => "?",
        }
    }
}

/// The results of a table entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Results {
    /// No results, for terminators.
    None,
    /// One result.
    One,
    /// Several results, each with a name.
    Named(&'static [&'static str]),
    /// One result per value that its region yields.
    Many,
}

impl Results {
    /// Returns the number of results; `None` if it depends on a region.
    pub const fn count(self) -> Option<usize> {
        match self {
            Results::None => Some(0),
            Results::One => Some(1),
            Results::Named(names) => Some(names.len()),
            Results::Many => None,
        }
    }
}

/// The names of an op in the text formats; `None` if a format does not have the op.
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
    /// No text format has a name for the op; Core text prints the full name.
    pub const NONE: Names = Names {
        core: None,
        mic1: None,
        mic2: None,
    };
}

/// A property that generic passes may assume of an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trait {
    /// Without side effects: an unused op may be erased, and equal ops may be merged.
    Pure,
    /// Its two operands may be swapped.
    Commutative,
    /// All operands except those of class `Bool` have the same dtype.
    SameDType,
    /// Applies one scalar function at every position of the broadcast shape.
    Elementwise,
    /// Its value is known at compile time: `eval` without operands returns it.
    Constant,
    /// Part of the module's interface, for example an input. It is never erased or merged.
    Interface,
    /// The type of its result is declared, not inferred.
    DeclaresType,
    /// Ends its block.
    Terminator,
    /// The block of each region has one argument per operand, of the same type.
    BodyOverOperands,
    /// The block of each region has one argument per operand: a rank-0 tensor of the same dtype. The body is run at
    /// every position.
    BodyOverElements,
    /// Not in profile `core-v1`.
    Extended,
}

impl OpDef {
    /// Whether the op has a trait.
    #[inline]
    pub fn has(&self, wanted: Trait) -> bool {
        self.traits.contains(&wanted)
    }

    /// Whether the regions are closed: they read their arguments, and no values from outside.
    pub fn has_closed_body(&self) -> bool {
        self.arguments.is_some()
            || self.has(Trait::BodyOverOperands)
            || self.has(Trait::BodyOverElements)
    }

    /// Returns the index of the attribute with this name.
    pub fn attr_index(&self, name: &str) -> Option<usize> {
        self.attrs.iter().position(|attr| attr.name == name)
    }

    /// Returns the index of the attribute with this name, for constants such as
    /// `const AXIS: usize = Sum::DEF.attr_position("axis")`.
    ///
    /// # Panics
    ///
    /// If no attribute has this name. In a constant, this is a compile-time error.
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

    /// Returns the operand at `index`. Indices after the fixed operands are the optional operand or repeat the variadic
    /// one.
    pub fn operand(&self, index: usize) -> Option<Operand> {
        let optional = self.optional.filter(|_| index == self.operands.len());
        let fixed = self.operands.get(index).copied();
        fixed.or(optional).or(self.variadic)
    }

    /// Whether the op may have `count` operands.
    pub fn admits_operands(&self, count: usize) -> bool {
        match self.variadic {
            Some(_) => count > self.operands.len(),
            None => {
                let more = count.wrapping_sub(self.operands.len());
                more == 0 || more == 1 && self.optional.is_some()
            }
        }
    }

    /// Returns the fixed, variadic and optional operands, with the number of times that each occurs.
    pub fn all_operands(&self) -> impl Iterator<Item = (Operand, Repeat)> + '_ {
        let fixed = self.operands.iter().map(|&operand| (operand, Repeat::Once));
        let many = self.variadic.map(|operand| (operand, Repeat::OneOrMore));
        let optional = self.optional.map(|operand| (operand, Repeat::AtMostOnce));
        fixed.chain(many).chain(optional)
    }

    /// Returns the valid numbers of operands and their names, for messages.
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

    /// Returns the valid numbers of operands, for messages.
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

    /// Returns the name without its dialect.
    pub fn short_name(&self) -> &'static str {
        self.name
            .split_once('.')
            .map_or(self.name, |(_, short)| short)
    }
}
