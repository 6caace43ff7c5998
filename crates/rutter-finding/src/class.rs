//! Classes of errors: what kind of problem stopped an operation.

use crate::Refusal;

/// The kind of problem that stopped an operation. A program derives its exit code from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    /// The arguments, the settings or the state of the machine do not allow the operation.
    Usage,
    /// The network or a server failed, or asked to wait.
    Network,
    /// The input is damaged, is not what it claims to be, or exceeds a limit.
    Integrity,
    /// A policy forbids the operation, such as a quota or the protection against mass deletion.
    Policy,
    /// The operating system returned an error, or the program has a fault.
    Internal,
}

/// An error that knows its class.
///
/// ```
/// # use rutter_finding::{Classify, ErrorClass};
/// #[derive(Debug)]
/// struct QuotaError;
///
/// impl Classify for QuotaError {
///     fn class(&self) -> ErrorClass {
///         ErrorClass::Policy
///     }
/// }
/// assert_eq!(QuotaError.class(), ErrorClass::Policy);
/// ```
pub trait Classify {
    /// Returns the class. An error that only wraps another error returns the class of that error.
    fn class(&self) -> ErrorClass;
}

impl Classify for Refusal {
    fn class(&self) -> ErrorClass {
        ErrorClass::Integrity
    }
}

/// Returns the text of an error and of its causes, on one line. A cause that the text before
/// already ends with is not repeated.
pub fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !text.ends_with(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = inner.source();
    }
    text
}
