//! Rule 1 asks for any JSON-LD 1.1 processor; this one is not ours.
//!
//! Refuses: to fetch. The context of schema.org is known by its vocabulary,
//! every other address is an error.

use std::panic;

use oxjsonld::{JsonLdParser, JsonLdRemoteDocument};

use crate::context::is_known;

/// What the context of schema.org comes down to.
const VOCABULARY: &[u8] = br#"{"@context": {"@vocab": "https://schema.org/"}}"#;
/// The address of a document that has none.
const NOWHERE: &str = "https://index.invalid/spxi-index.jsonld";

/// Reads a document to its end; gives the number of statements it makes, or
/// what the processor complains about.
pub(crate) fn statements(bytes: &[u8], address: Option<&str>) -> Result<usize, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let run = || {
        let parser = JsonLdParser::new();
        let parser =
            parser.with_base_iri(address.unwrap_or(NOWHERE)).map_err(|it| it.to_string())?;
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
    };
    // It is somebody else's program, and the bytes are somebody's, too.
    panic::catch_unwind(run).unwrap_or_else(|_| Err("the processor broke down".to_owned()))
}
