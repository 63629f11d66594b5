//! Arguments of calls.

use std::rc::Rc;

use crate::error::{Error, Result};
use crate::value::Value;

/// The arguments of a call.
#[derive(Clone, Default)]
pub struct Arguments {
    pub(crate) positional: Vec<Value>,
    pub(crate) named: Vec<(Rc<str>, Value)>,
}

impl Arguments {
    pub(crate) fn of(positional: impl IntoIterator<Item = Value>) -> Arguments {
        Arguments {
            positional: positional.into_iter().collect(),
            named: Vec::new(),
        }
    }

    /// Removes and returns the value of a named argument.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        let at = self.named.iter().position(|(own, _)| &**own == name)?;
        Some(self.named.remove(at).1)
    }

    /// Returns the arguments in the order of the parameters `names` of `function`. Arguments after the first `required`
    /// may be absent.
    ///
    /// # Errors
    ///
    /// If an argument is missing, unknown, given twice, or one too many.
    pub fn bind<const N: usize>(
        self,
        function: &str,
        names: [&str; N],
        required: usize,
    ) -> Result<[Option<Value>; N]> {
        let mut bound: [Option<Value>; N] = [const { None }; N];
        let given = self.positional.len();
        if given > N {
            let message =
                format!("{function}() takes {N} arguments at most, but {given} were given");
            return Err(Error::new(message));
        }
        for (place, value) in bound.iter_mut().zip(self.positional) {
            *place = Some(value);
        }
        for (name, value) in self.named {
            let Some(at) = names.iter().position(|own| *own == &*name) else {
                let message = format!("{function}() got an unexpected keyword argument '{name}'");
                return Err(Error::new(message));
            };
            if bound[at].replace(value).is_some() {
                let message = format!("{function}() got multiple values for argument '{name}'");
                return Err(Error::new(message));
            }
        }
        let missing = (0..required.min(N)).find(|&at| bound[at].is_none());
        match missing {
            Some(at) => {
                let name = names[at];
                let message = format!("{function}() missing the required argument '{name}'");
                Err(Error::new(message))
            }
            None => Ok(bound),
        }
    }
}

/// Returns the text of an argument.
///
/// # Errors
///
/// If the value is not a string.
pub fn text<'v>(name: &str, value: &'v Value) -> Result<&'v str> {
    let other = || {
        let found = value.kind();
        Error::new(format!("{name} must be str, not {found}"))
    };
    value.defined()?.as_text().ok_or_else(other)
}

/// Returns the integer of an argument.
///
/// # Errors
///
/// If the value is not an integer.
pub(crate) fn int(name: &str, value: &Value) -> Result<i64> {
    let other = || {
        let found = value.kind();
        Error::new(format!("{name} must be an integer, not {found}"))
    };
    value.defined()?.as_int().ok_or_else(other)
}

/// Returns the integer of an argument; `default` if it is absent or `none`.
pub(crate) fn int_or(name: &str, value: &Option<Value>, default: i64) -> Result<i64> {
    match value {
        None | Some(Value::None) => Ok(default),
        Some(value) => int(name, value),
    }
}

/// Returns the truth of an argument; `default` if it is absent.
pub(crate) fn truth_or(value: &Option<Value>, default: bool) -> bool {
    value.as_ref().map_or(default, Value::is_true)
}
