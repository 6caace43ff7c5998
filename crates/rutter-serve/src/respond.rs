//! Responses: representations of files, conditions, bodies and error responses.
//!
//! Input: open files and the facts about them, header fields of the request. Output: the response.

pub(crate) mod accept;
pub(crate) mod body;
pub(crate) mod condition;
pub(crate) mod date;
pub(crate) mod refusal;
pub(crate) mod representation;
pub(crate) mod representation_set;
pub(crate) mod response;
pub(crate) mod response_cache;
