//! Requests that are not answered.

use lsp_server::ErrorCode;

/// Why a request is not answered, as the editor shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refusal {
    /// What kind of refusal it is, in the protocol's numbers.
    pub(crate) code: i32,
    /// The reason, in words.
    pub(crate) message: String,
}

/// The protocol's number for a request that is right but cannot be carried out.
const REQUEST_FAILED: i32 = -32803;

impl Refusal {
    /// A request that cannot be carried out.
    pub(crate) fn failed(message: impl Into<String>) -> Refusal {
        Refusal {
            code: REQUEST_FAILED,
            message: message.into(),
        }
    }

    /// A request whose parameters are wrong.
    pub(crate) fn invalid(message: impl Into<String>) -> Refusal {
        Refusal {
            code: ErrorCode::InvalidParams as i32,
            message: message.into(),
        }
    }
}
