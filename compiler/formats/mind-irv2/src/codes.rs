//! Error codes of IR v2 documents, from the catalogue of `mind-diag`.

use mind_diag::Code;

/// A required key is missing.
pub const MISSING: Code = Code(4202);
/// The format does not have this key.
pub const UNKNOWN_KEY: Code = Code(4203);
/// A value has the wrong type.
pub const KIND: Code = Code(4204);
/// A hyperparameter out of its range.
pub const RANGE: Code = Code(4205);
/// A name is unknown or undeclared.
pub const NAME: Code = Code(4206);
/// A duplicate entry.
pub const TWICE: Code = Code(4207);
/// A size differs from the one that follows from the configuration.
pub const SIZE: Code = Code(4208);
/// Nodes that do not compute the model.
pub const FLOW: Code = Code(4209);
/// Two parts that contradict each other.
pub const CONTRADICTION: Code = Code(4210);
/// A model that is not supported.
pub const UNSUPPORTED: Code = Code(4211);
/// A tensor that the model needs and the checkpoint does not have.
pub const TENSOR_MISSING: Code = Code(4302);
/// A tensor that the model does not have.
pub const TENSOR_EXTRA: Code = Code(4303);
/// A tensor of another shape or type than the model's.
pub const TENSOR_SHAPE: Code = Code(4304);
