//! Errors of requests.

use lsp_server::ErrorCode;

/// The error of a request, as the editor shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refusal {
    /// The error code of the protocol.
    pub(crate) code: i32,
    /// The message.
    pub(crate) message: String,
}

/// The protocol's code for a valid request that cannot be executed.
const REQUEST_FAILED: i32 = -32803;

impl Refusal {
    /// Returns an error for a request that cannot be executed.
    pub(crate) fn failed(message: impl Into<String>) -> Refusal {
        Refusal {
            code: REQUEST_FAILED,
            message: message.into(),
        }
    }

    /// Returns an error for invalid parameters.
    pub(crate) fn invalid(message: impl Into<String>) -> Refusal {
        Refusal {
            code: ErrorCode::InvalidParams as i32,
            message: message.into(),
        }
    }
}
