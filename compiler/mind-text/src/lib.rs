//! The text formats mic@1, mic@2 and Core.
