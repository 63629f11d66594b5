//! filecheck.
mod bytes;
mod ere;
mod numeric;
mod numeric_block;
mod syntax_error;
mod variables;
