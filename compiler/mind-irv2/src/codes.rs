//! Codes of what is wrong with documents, as the catalogue of `mind-diag` has them.

use mind_diag::Code;

/// A key that must stand there is missing.
pub const MISSING: Code = Code(4202);
/// A key that the format does not have.
pub const UNKNOWN_KEY: Code = Code(4203);
/// A value of the wrong kind.
pub const KIND: Code = Code(4204);
/// A hyperparameter out of its range.
pub const RANGE: Code = Code(4205);
/// A name that the format does not have, or that nothing declares.
pub const NAME: Code = Code(4206);
/// Something said twice.
pub const TWICE: Code = Code(4207);
/// A size that is not the one that follows from the configuration.
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
