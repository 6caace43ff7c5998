//! Why a request is rejected before its path is resolved.

use std::time::Duration;

use crate::admission::token::TokenScope;

/// Why a request is rejected because of its head, its token or its rate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AdmissionError {
    /// The request is not valid HTTP, or is ambiguous.
    Malformed,
    /// The request has a body.
    Body,
    Method,
    /// The target is too long.
    LongTarget,
    /// There are too many header fields.
    ManyFields,
    /// A token is required.
    TokenRequired,
    /// The token is unknown or expired.
    BadToken,
    /// The token lacks this scope.
    MissingScope(TokenScope),
    /// Too many requests; the client must wait this long.
    TooManyRequests(Duration),
}
