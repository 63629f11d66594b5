//! Names, lists and types as MIL text.

use std::fmt::{Display, Write};

use mind_mil::Element;
use mind_mil::check::is_name;

use super::error::{UnpackError, shown};
use crate::package::proto::{DimensionKind, TensorType, ValueType, ValueTypeKind};

pub(super) type Written = Result<(), UnpackError>;

/// MIL text that grows.
pub(super) struct Words {
    pub(super) out: String,
    /// Whether a tensor of rank 0 is written as its element type, as from version 1.3 on.
    pub(super) scalars: bool,
}

impl Words {
    pub(super) fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Appends what can be shown.
    pub(super) fn show(&mut self, what: impl Display) {
        // Writing to a string cannot fail.
        let _ = write!(self.out, "{what}");
    }

    /// Appends the name of a `what`.
    ///
    /// # Errors
    ///
    /// One that is no name.
    pub(super) fn name(&mut self, what: &'static str, name: &str) -> Written {
        if !is_name(name) {
            let found = shown(name);
            return Err(UnpackError::Name { what, found });
        }
        self.push(name);
        Ok(())
    }

    /// Appends a word in quotes.
    ///
    /// # Errors
    ///
    /// One that text has no way to write.
    pub(super) fn quoted(&mut self, place: &str, word: &str) -> Written {
        if word.contains(['"', '\\']) || word.chars().any(char::is_control) {
            let place = shown(place);
            return Err(UnpackError::Text { place });
        }
        self.show(format_args!("\"{word}\""));
        Ok(())
    }

    /// What `each` writes for every item, separated by commas.
    pub(super) fn list<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut each: impl FnMut(&mut Self, T) -> Written,
    ) -> Written {
        for (at, item) in items.into_iter().enumerate() {
            if at > 0 {
                self.push(", ");
            }
            each(self, item)?;
        }
        Ok(())
    }

    /// The type that `place` has.
    ///
    /// # Errors
    ///
    /// A type that values do not have.
    pub(super) fn ty(&mut self, place: &str, ty: Option<&ValueType>) -> Written {
        let refused = |found: &str| UnpackError::Type {
            place: format!("`{}`", shown(place)),
            found: found.to_owned(),
        };
        match ty.and_then(|ty| ty.r#type.as_ref()) {
            Some(ValueTypeKind::TensorType(tensor)) => self.tensor_type(place, tensor),
            Some(ValueTypeKind::StateType(state)) => {
                let wrapped = state.wrapped_type.as_deref();
                let Some(ValueTypeKind::TensorType(tensor)) =
                    wrapped.and_then(|wrapped| wrapped.r#type.as_ref())
                else {
                    return Err(refused("a state of no tensor"));
                };
                self.push("state<");
                self.tensor_type(place, tensor)?;
                self.push(">");
                Ok(())
            }
            Some(ValueTypeKind::DictionaryType(own)) => {
                self.push("dict<");
                self.ty("a key", own.key_type.as_deref())?;
                self.push(", ");
                self.ty("an entry", own.value_type.as_deref())?;
                self.push(">");
                Ok(())
            }
            None => Err(refused("a list, a tuple or of no type")),
        }
    }

    fn tensor_type(&mut self, place: &str, tensor: &TensorType) -> Written {
        let refused = |found: String| UnpackError::Type {
            place: format!("`{}`", shown(place)),
            found,
        };
        let element = Element::from_proto(tensor.data_type);
        let element =
            element.ok_or_else(|| refused(format!("of data type {}", tensor.data_type)))?;
        if tensor.rank != tensor.dimensions.len() as i64 {
            let (rank, found) = (tensor.rank, tensor.dimensions.len());
            return Err(refused(format!("of rank {rank} with {found} dimensions")));
        }
        if self.scalars && tensor.dimensions.is_empty() {
            self.push(element.name());
            return Ok(());
        }
        self.show(format_args!("tensor<{}, [", element.name()));
        self.list(&tensor.dimensions, |words, dimension| {
            match &dimension.dimension {
                Some(DimensionKind::Constant(own)) => words.show(own.size),
                Some(DimensionKind::Unknown(own)) if !own.variadic => words.push("?"),
                _ => return Err(refused("of an open rank".to_owned())),
            }
            Ok(())
        })?;
        self.push("]>");
        Ok(())
    }
}
