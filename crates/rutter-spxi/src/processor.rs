//! Rule 1 asks for any JSON-LD 1.1 processor; this one is not ours.
//!
//! Refuses: to fetch. The context of schema.org is known by its vocabulary,
//! every other address is an error.

use std::panic;

use oxjsonld::{JsonLdParser, JsonLdProfile, JsonLdRemoteDocument};

use crate::context::is_known;

/// What the context of schema.org comes down to.
const VOCABULARY: &[u8] = br#"{"@context": {"@vocab": "https://schema.org/"}}"#;
/// The address of a document that has none.
const NOWHERE: &str = "https://index.invalid/spxi-index.jsonld";

/// Reads a document to its end; gives the number of statements it makes, or
/// what the processor complains about.
pub(crate) fn statements(bytes: &[u8], address: Option<&str>) -> Result<usize, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    // It is somebody else's program, and the bytes are somebody's, too.
    let guarded = |order| {
        panic::catch_unwind(|| count(bytes, address, order))
            .unwrap_or_else(|_| Err("the processor broke down".to_owned()))
    };
    // Most documents have their members in an order that saves a third of the
    // time; what is refused because of its order is not refused.
    guarded(Order::Streaming).or_else(|_| guarded(Order::Any))
}

/// In which order members may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Contexts and types first.
    Streaming,
    Any,
}

fn count(bytes: &[u8], address: Option<&str>, order: Order) -> Result<usize, String> {
    let mut parser = JsonLdParser::new();
    if order == Order::Streaming {
        parser = parser.with_profile(JsonLdProfile::Streaming);
    }
    let parser = parser.with_base_iri(address.unwrap_or(NOWHERE)).map_err(|it| it.to_string())?;
    let quads = parser.for_slice(bytes).with_load_document_callback(|url, _| {
        if !is_known(url) {
            return Err("no context is fetched".into());
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
    fn ours_the_order_of_members_changes_nothing() {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/vectors/spxi/files");
        let (mut n_streamed, mut n_accepted) = (0, 0);
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            // A long row of definitions is not shown to a processor.
            if path.ends_with("context-chain.jsonld") {
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            let any = count(&bytes, None, Order::Any);
            n_accepted += usize::from(any.is_ok());
            if let Ok(n) = count(&bytes, None, Order::Streaming) {
                n_streamed += 1;
                assert_eq!(any, Ok(n), "{}", path.display());
            }
        }
        assert!(100 < n_streamed && n_streamed <= n_accepted, "{n_streamed} {n_accepted}");
    }

    #[test] // SPX-010, C01
    fn ours_no_context_is_fetched() {
        let at = |url: &str| {
            format!(r#"{{"@context": "{url}", "@id": "https://a.example/", "name": "x"}}"#)
        };
        assert_eq!(statements(at("https://schema.org/").as_bytes(), None), Ok(1));
        let refused = statements(at("http://127.0.0.1:1/c.jsonld").as_bytes(), None);
        assert!(refused.is_err_and(|message| message.contains("no context is fetched")));
    }
}
