//! Values of templates: those of Python, of which all but namespaces are immutable.

use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::rc::Rc;

use crate::arguments::Arguments;
use crate::error::{Error, Result};
use crate::eval::{LoopState, MacroValue};
use crate::views::{self, View};

/// A function that the host gives to templates, or a class such as `namespace`.
pub struct Function {
    /// Its name, in messages.
    pub(crate) name: &'static str,
    pub(crate) call: Box<dyn Fn(Arguments) -> Result<Value>>,
}

/// A method of a value, as `text.strip` without a call.
pub(crate) struct Method {
    pub(crate) receiver: Value,
    pub(crate) name: Rc<str>,
}

/// The numbers of `range`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Steps {
    pub(crate) start: i64,
    pub(crate) stop: i64,
    pub(crate) step: i64,
}

impl Steps {
    pub(crate) fn len(self) -> usize {
        let (start, stop, step) = (self.start as i128, self.stop as i128, self.step as i128);
        let count = match step {
            1.. => (stop - start + step - 1) / step,
            _ => (start - stop - step - 1) / -step,
        };
        usize::try_from(count).unwrap_or(0)
    }

    /// The numbers at `start:stop:step` of these.
    ///
    /// # Errors
    ///
    /// Errors if a bound is not an integer, if the step is 0, or if a number exceeds 64 bits.
    pub(crate) fn slice(self, bounds: &[Option<Value>; 3]) -> Result<Steps> {
        let own = crate::eval::slice_bounds(self.len(), bounds)?;
        let number = |at: i64| self.step.checked_mul(at)?.checked_add(self.start);
        let steps = || {
            Some(Steps {
                start: number(own.start)?,
                stop: number(own.stop)?,
                step: self.step.checked_mul(own.step)?,
            })
        };
        steps().ok_or_else(|| Error::new("a number of the range has more than 64 bits"))
    }

    pub(crate) fn at(self, index: usize) -> i64 {
        self.start + self.step * index as i64
    }
}

/// The result of `map` and other lazy filters: elements that are taken once, then the error that ends them.
pub(crate) struct Generator {
    pub(crate) elements: RefCell<VecDeque<Value>>,
    pub(crate) error: Option<Error>,
}

/// The state of `cycler(...)`.
pub(crate) struct Cycler {
    pub(crate) items: Vec<Value>,
    pub(crate) at: Cell<usize>,
}

/// The state of `joiner(...)`.
pub(crate) struct Joiner {
    pub(crate) separator: Value,
    pub(crate) is_used: Cell<bool>,
}

/// A value of a template.
#[derive(Clone)]
pub enum Value {
    /// The value of a missing name or attribute; operations on it fail with its message.
    Undefined(Rc<str>),
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A text.
    Str(Rc<str>),
    /// A text that escaping leaves as it is.
    Markup(Rc<str>),
    /// A list.
    List(Rc<[Value]>),
    /// A tuple.
    Tuple(Rc<[Value]>),
    /// A dictionary, in the order of insertion.
    Dict(Rc<Dict>),
    /// A function.
    Function(Rc<Function>),
    /// Another value that templates make.
    Object(Rc<Object>),
}

/// A value that templates make and hosts do not.
pub struct Object {
    pub(crate) kind: ObjectKind,
}

/// The kinds of values that templates make.
pub(crate) enum ObjectKind {
    /// An element of `groupby`, with its key and its elements.
    Group([Value; 2]),
    /// The result of `map` and other lazy filters.
    Generator(Generator),
    /// A view of a dictionary.
    View(View, Rc<Dict>),
    /// `range(...)`.
    Range(Steps),
    /// `namespace(...)`.
    Namespace(RefCell<Dict>),
    /// A macro, or the `caller` of one.
    Macro(MacroValue),
    /// `loop`.
    Loop(LoopState),
    /// A method that is not called.
    Method(Method),
    /// `cycler(...)`.
    Cycler(Cycler),
    /// `joiner(...)`.
    Joiner(Joiner),
}

// The state of objects is that of the evaluator.
pub(crate) use ObjectKind as O;

/// A dictionary: pairs in the order of insertion. Those of templates are short, so keys are compared one by one.
#[derive(Clone, Default)]
pub struct Dict {
    pairs: Vec<(Value, Value)>,
}

impl Dict {
    /// The value of `key`.
    pub fn get(&self, key: &Value) -> Option<&Value> {
        let own = self.pairs.iter().find(|(own, _)| own.equals(key));
        own.map(|(_, value)| value)
    }

    /// The value of a text.
    pub fn get_text(&self, key: &str) -> Option<&Value> {
        let own = self
            .pairs
            .iter()
            .find(|(own, _)| own.as_text() == Some(key));
        own.map(|(_, value)| value)
    }

    /// Sets the value of `key`, which keeps its place if it is there.
    pub fn insert(&mut self, key: Value, value: Value) {
        match self.pairs.iter_mut().find(|(own, _)| own.equals(&key)) {
            Some((_, own)) => *own = value,
            None => self.pairs.push((key, value)),
        }
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The pairs.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &(Value, Value)> {
        self.pairs.iter()
    }
}

impl FromIterator<(Value, Value)> for Dict {
    fn from_iter<T: IntoIterator<Item = (Value, Value)>>(pairs: T) -> Dict {
        let mut dict = Dict::default();
        for (key, value) in pairs {
            dict.insert(key, value);
        }
        dict
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Str(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Str(text.into())
    }
}

impl From<bool> for Value {
    fn from(own: bool) -> Value {
        Value::Bool(own)
    }
}

impl From<i64> for Value {
    fn from(own: i64) -> Value {
        Value::Int(own)
    }
}

impl Value {
    /// A list.
    pub fn list(elements: impl IntoIterator<Item = Value>) -> Value {
        Value::List(elements.into_iter().collect())
    }

    /// A tuple.
    pub fn tuple(elements: impl IntoIterator<Item = Value>) -> Value {
        Value::Tuple(elements.into_iter().collect())
    }

    /// A dictionary.
    pub fn dict(pairs: impl IntoIterator<Item = (Value, Value)>) -> Value {
        Value::Dict(Rc::new(pairs.into_iter().collect()))
    }

    /// A function of the host.
    pub fn function(
        name: &'static str,
        call: impl Fn(Arguments) -> Result<Value> + 'static,
    ) -> Value {
        let call = Box::new(call);
        Value::Function(Rc::new(Function { name, call }))
    }

    pub(crate) fn object(kind: ObjectKind) -> Value {
        Value::Object(Rc::new(Object { kind }))
    }

    pub(crate) fn generator(elements: impl IntoIterator<Item = Value>) -> Value {
        Value::lazily(|all| {
            all.extend(elements);
            Ok(())
        })
    }

    /// Returns a generator of the elements that `make` collects. An error is reported after the elements are used up,
    /// because Python evaluates lazily.
    pub(crate) fn lazily(make: impl FnOnce(&mut Vec<Value>) -> Result<()>) -> Value {
        let mut all = Vec::new();
        let error = make(&mut all).err();
        Value::object(O::Generator(Generator {
            elements: RefCell::new(all.into()),
            error,
        }))
    }

    pub(crate) fn undefined(message: impl Into<String>) -> Value {
        Value::Undefined(message.into().into())
    }

    pub(crate) fn length(len: usize) -> Value {
        Value::Int(len as i64)
    }

    /// A text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Str(own) | Value::Markup(own) => Some(own),
            _ => None,
        }
    }

    /// A whole number, or a truth as 0 or 1.
    pub(crate) fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(own) => Some(*own),
            Value::Bool(own) => Some(i64::from(*own)),
            _ => None,
        }
    }

    /// A number.
    pub(crate) fn as_float(&self) -> Option<f64> {
        match self {
            Value::Float(own) => Some(*own),
            other => other.as_int().map(|own| own as f64),
        }
    }

    /// The elements of a list or a tuple.
    pub(crate) fn as_elements(&self) -> Option<&[Value]> {
        match self {
            Value::List(own) | Value::Tuple(own) => Some(own),
            Value::Object(own) => match &own.kind {
                O::Group(own) => Some(own),
                _ => None,
            },
            _ => None,
        }
    }

    pub(crate) fn is_undefined(&self) -> bool {
        matches!(self, Value::Undefined(_))
    }

    /// The type in Python, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Value::Undefined(_) => "Undefined",
            Value::None => "NoneType",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "float",
            Value::Str(_) => "str",
            Value::Markup(_) => "Markup",
            Value::List(_) => "list",
            Value::Tuple(_) => "tuple",
            Value::Dict(_) => "dict",
            Value::Function(_) => "function",
            Value::Object(own) => match &own.kind {
                O::Group(_) => "_GroupTuple",
                O::Generator(_) => "generator",
                O::View(view, _) => view.name(),
                O::Range(_) => "range",
                O::Namespace(_) => "Namespace",
                O::Macro(_) => "Macro",
                O::Loop(_) => "LoopContext",
                O::Method(_) => "builtin_function_or_method",
                O::Cycler(_) => "Cycler",
                O::Joiner(_) => "Joiner",
            },
        }
    }

    /// The type as messages about attributes show it.
    pub(crate) fn object_name(&self) -> String {
        match self {
            Value::None => "None".to_owned(),
            other => format!("'{} object'", other.kind()),
        }
    }

    /// Whether conditions hold.
    pub fn is_true(&self) -> bool {
        match self {
            Value::Undefined(_) | Value::None => false,
            Value::Bool(own) => *own,
            Value::Int(own) => *own != 0,
            Value::Float(own) => *own != 0.0,
            Value::Str(own) | Value::Markup(own) => !own.is_empty(),
            Value::List(own) | Value::Tuple(own) => !own.is_empty(),
            Value::Dict(own) => !own.is_empty(),
            Value::Function(_) => true,
            Value::Object(own) => match &own.kind {
                O::View(_, own) => !own.is_empty(),
                O::Range(own) => own.len() > 0,
                O::Loop(own) => own.len() > 0,
                O::Group(_)
                | O::Generator(_)
                | O::Namespace(_)
                | O::Macro(_)
                | O::Method(_)
                | O::Cycler(_)
                | O::Joiner(_) => true,
            },
        }
    }

    /// How many elements it has; `None` where `len` of Python fails.
    pub(crate) fn len(&self) -> Option<usize> {
        match self {
            Value::Undefined(_) => Some(0),
            Value::Str(own) | Value::Markup(own) => Some(own.chars().count()),
            Value::List(own) | Value::Tuple(own) => Some(own.len()),
            Value::Dict(own) => Some(own.len()),
            Value::Object(own) => match &own.kind {
                O::Group(_) => Some(2),
                O::View(_, own) => Some(own.len()),
                O::Range(own) => Some(own.len()),
                O::Loop(own) => Some(own.len()),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether it has elements to loop over.
    pub(crate) fn is_iterable(&self) -> bool {
        match self {
            Value::Object(own) => match &own.kind {
                O::Group(_) | O::Generator(_) | O::View(..) | O::Range(_) | O::Loop(_) => true,
                O::Namespace(_) | O::Macro(_) | O::Method(_) | O::Cycler(_) | O::Joiner(_) => false,
            },
            Value::Undefined(_) => true,
            other => other.len().is_some(),
        }
    }

    /// The elements that a loop goes through; those of a generator are taken.
    ///
    /// # Errors
    ///
    /// A value that is not iterable.
    pub(crate) fn elements(&self) -> Result<Vec<Value>> {
        Ok(match self {
            Value::Undefined(_) => Vec::new(),
            Value::Str(own) | Value::Markup(own) => {
                let mut units = [0; 4];
                let one = |c: char| Value::from(&*c.encode_utf8(&mut units));
                own.chars().map(one).collect()
            }
            Value::List(own) | Value::Tuple(own) => own.to_vec(),
            Value::Dict(own) => own.iter().map(|(key, _)| key.clone()).collect(),
            Value::Object(own) => match &own.kind {
                O::Group(own) => own.to_vec(),
                O::Generator(own) => {
                    let elements = own.elements.borrow_mut().drain(..).collect();
                    match &own.error {
                        Some(why) => return Err(why.clone()),
                        None => elements,
                    }
                }
                O::View(view, own) => view.elements(own),
                O::Range(own) => (0..own.len()).map(|at| Value::Int(own.at(at))).collect(),
                _ => return Err(self.not_iterable()),
            },
            _ => return Err(self.not_iterable()),
        })
    }

    fn not_iterable(&self) -> Error {
        Error::new(format!("'{}' object is not iterable", self.kind()))
    }

    /// Fails for an undefined value, as every operation on it does.
    pub(crate) fn defined(&self) -> Result<&Value> {
        match self {
            Value::Undefined(message) => Err(Error::new(&**message)),
            own => Ok(own),
        }
    }

    /// `==` of Python.
    pub(crate) fn equals(&self, other: &Value) -> bool {
        self.equals_within(other, 0)
    }

    fn equals_within(&self, other: &Value, depth: usize) -> bool {
        // Values nest at most as deeply as expressions and namespaces; deeper ones compare unequal.
        if depth > crate::MAX_DEPTH {
            return false;
        }
        let all = |a: &[Value], b: &[Value]| {
            let pairs = a.iter().zip(b);
            a.len() == b.len()
                && pairs
                    .into_iter()
                    .all(|(a, b)| a.equals_within(b, depth + 1))
        };
        match (self, other) {
            (Value::Undefined(_), Value::Undefined(_)) | (Value::None, Value::None) => true,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::List(a), Value::List(b)) => all(a, b),
            (Value::Dict(a), Value::Dict(b)) => {
                let same = |(key, value): &(Value, Value)| {
                    b.get(key)
                        .is_some_and(|other| value.equals_within(other, depth + 1))
                };
                a.len() == b.len() && a.iter().all(same)
            }
            (Value::Function(a), Value::Function(b)) => Rc::ptr_eq(a, b),
            (Value::Object(a), Value::Object(b)) => match (&a.kind, &b.kind) {
                (O::Range(a), O::Range(b)) => {
                    let ends = |own: &Steps| (own.len() > 0).then(|| own.at(0));
                    a.len() == b.len() && ends(a) == ends(b) && (a.len() < 2 || a.step == b.step)
                }
                (O::Group(a), O::Group(b)) => all(a, b),
                _ => match (self.as_set(), other.as_set()) {
                    (Some(a), Some(b)) => views::order(a, b) == Some(Ordering::Equal),
                    _ => Rc::ptr_eq(a, b),
                },
            },
            _ => {
                if let (Some(a), Some(b)) = (self.as_text(), other.as_text()) {
                    return a == b;
                }
                if let (Some(a), Some(b)) = (self.as_float(), other.as_float()) {
                    return a == b;
                }
                match (self, other) {
                    (Value::List(_), _) | (_, Value::List(_)) => false,
                    _ => match (self.as_elements(), other.as_elements()) {
                        (Some(a), Some(b)) => all(a, b),
                        _ => false,
                    },
                }
            }
        }
    }

    /// The view of a dictionary that compares as a set: its keys or its items.
    fn as_set(&self) -> Option<(View, &Dict)> {
        match self {
            Value::Object(own) => match &own.kind {
                O::View(view @ (View::Keys | View::Items), own) => Some((*view, own)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The order of two values, `None` of numbers and sets without one; `operator` is for the message.
    ///
    /// # Errors
    ///
    /// Values without an order.
    pub(crate) fn order(&self, other: &Value, operator: &str) -> Result<Option<Ordering>> {
        if let (Value::Int(a), Value::Int(b)) = (self, other) {
            return Ok(Some(a.cmp(b)));
        }
        if let (Some(a), Some(b)) = (self.as_float(), other.as_float()) {
            return Ok(a.partial_cmp(&b));
        }
        if let (Some(a), Some(b)) = (self.as_text(), other.as_text()) {
            return Ok(Some(a.cmp(b)));
        }
        if let (Some(a), Some(b)) = (self.as_set(), other.as_set()) {
            return Ok(views::order(a, b));
        }
        let is_list = |own: &Value| matches!(own, Value::List(_));
        if let (Some(a), Some(b)) = (self.as_elements(), other.as_elements())
            && is_list(self) == is_list(other)
        {
            for (a, b) in a.iter().zip(b) {
                if !a.equals(b) {
                    return a.order(b, operator);
                }
            }
            return Ok(Some(a.len().cmp(&b.len())));
        }
        self.defined()?;
        other.defined()?;
        let (a, b) = (self.kind(), other.kind());
        let message = format!("'{operator}' not supported between instances of '{a}' and '{b}'");
        Err(Error::new(message))
    }

    /// Whether two values are one, as far as values without a place in memory can be.
    pub(crate) fn is_same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::List(a), Value::List(b)) | (Value::Tuple(a), Value::Tuple(b)) => {
                Rc::ptr_eq(a, b)
            }
            (Value::Dict(a), Value::Dict(b)) => Rc::ptr_eq(a, b),
            (Value::Object(a), Value::Object(b)) => Rc::ptr_eq(a, b),
            _ => self.kind() == other.kind() && self.equals(other),
        }
    }

    /// Whether it may be a key of a dictionary.
    pub(crate) fn is_hashable(&self) -> bool {
        match self {
            Value::List(_) | Value::Dict(_) => false,
            Value::Tuple(own) => own.iter().all(Value::is_hashable),
            Value::Object(own) => !matches!(&own.kind, O::View(View::Keys | View::Items, _)),
            _ => true,
        }
    }
}
