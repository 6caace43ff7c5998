//! Checks rule 1: runs an independent JSON-LD 1.1 processor on the document.
//!
//! Never accesses the network: the context of schema.org is replaced by its vocabulary, and every
//! other remote context is an error.

use std::panic;

use oxjsonld::{JsonLdParser, JsonLdProfile, JsonLdRemoteDocument};

use crate::context::is_known;

/// Replacement for the context of schema.org.
const VOCABULARY: &[u8] = br#"{"@context": {"@vocab": "https://schema.org/"}}"#;
/// Base URL for a document whose URL is unknown.
const NOWHERE: &str = "https://index.invalid/spxi-index.jsonld";

/// Reads a document and returns the number of statements in it, or the error message of the
/// processor.
pub(crate) fn statements(bytes: &[u8], address: Option<&str>) -> Result<usize, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    // A panic of the external processor must not stop the program.
    let guarded = |order| {
        panic::catch_unwind(|| count(bytes, address, order))
            .unwrap_or_else(|_| Err("the JSON-LD processor panicked".to_owned()))
    };
    // Assume the usual order of members first, which saves a third of the time. Documents with
    // another order are read again without that assumption.
    guarded(AssumedMemberOrder::Streaming).or_else(|_| guarded(AssumedMemberOrder::Any))
}

/// Assumed order of the members of JSON-LD objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AssumedMemberOrder {
    /// `@context` and `@type` come before the other members.
    Streaming,
    Any,
}

fn count(bytes: &[u8], address: Option<&str>, order: AssumedMemberOrder) -> Result<usize, String> {
    let mut parser = JsonLdParser::new();
    if order == AssumedMemberOrder::Streaming {
        parser = parser.with_profile(JsonLdProfile::Streaming);
    }
    let parser = parser.with_base_iri(address.unwrap_or(NOWHERE)).map_err(|it| it.to_string())?;
    let quads = parser.for_slice(bytes).with_load_document_callback(|url, _| {
        if !is_known(url) {
            return Err("remote contexts are not fetched".into());
        }
        let (document, document_url) = (VOCABULARY.to_vec(), url.to_owned());
        Ok(JsonLdRemoteDocument { document, document_url })
    });
    let mut n_quads = 0;
    for quad in quads {
        quad.map_err(|error| error.to_string())?;
        n_quads += 1;
    }
    Ok(n_quads)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test] // SPX-063
    fn order_of_members_changes_nothing() {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/vectors/spxi/files");
        let (mut n_streamed, mut n_accepted) = (0, 0);
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            // Documents with a long chain of definitions are not passed to the processor.
            if path.ends_with("context-chain.jsonld") {
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            let any = count(&bytes, None, AssumedMemberOrder::Any);
            n_accepted += usize::from(any.is_ok());
            if let Ok(n) = count(&bytes, None, AssumedMemberOrder::Streaming) {
                n_streamed += 1;
                assert_eq!(any, Ok(n), "{}", path.display());
            }
        }
        assert!(100 < n_streamed && n_streamed <= n_accepted, "{n_streamed} {n_accepted}");
    }

    #[test] // SPX-010, C01
    fn remote_context_is_not_fetched() {
        let at = |url: &str| {
            format!(r#"{{"@context": "{url}", "@id": "https://a.example/", "name": "x"}}"#)
        };
        assert_eq!(statements(at("https://schema.org/").as_bytes(), None), Ok(1));
        let refused = statements(at("http://127.0.0.1:1/c.jsonld").as_bytes(), None);
        assert!(refused.is_err_and(|message| message.contains("remote contexts are not fetched")));
    }
}
