//! What a sync stores about URLs for its next requests.

use rutter_page::Timestamp;

/// The cache validators of a file, for conditional requests (SCP-154).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validator {
    /// URL of the file.
    pub url: String,
    /// Value of the `ETag` header.
    pub etag: Option<String>,
    /// Value of the `Last-Modified` header.
    pub last_modified: Option<String>,
    /// When the server last sent or confirmed the validator.
    pub checked: Timestamp,
}
