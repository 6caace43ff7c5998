//! Schema.org data of a page, and the fields of the page beside it.

use crate::read;

fn page(kind: &str, members: &str) -> String {
    format!(
        r#"<html lang="en"><head><title>Harbour: a page</title>
<script type="application/ld+json">{{"@context":"https://schema.org","@type":"{kind}",{members}}}</script></head>
<body><main><h1>Dredging the north basin</h1><p>The dredger works from Monday to Friday, and the basin stays open.</p></main></body></html>"#
    )
}

#[test] // SCP-042 SCP-050
fn page_with_schema_type_keeps_type_and_identity() {
    for kind in ["Product", "Recipe", "Event", "HowTo", "Article"] {
        let members = r#""@id":"https://harbour.example/#it","sameAs":["https://other.example/it"],"name":"Dredging""#;
        let read = read(page(kind, members));
        let schema = read.page.schema.expect("there is one");
        let value: serde_json::Value = serde_json::from_str(schema.get()).unwrap();
        assert_eq!(value["@type"], kind);
        assert_eq!(value["@id"], "https://harbour.example/#it");
        assert_eq!(value["sameAs"][0], "https://other.example/it");
    }
}

#[test] // SCP-043 SCP-047
fn plain_page_has_fields_and_no_schema() {
    let plain = "<html lang=en><title>Dredging</title><main><h1>Dredging</h1>\
        <p>The dredger works from Monday to Friday, and the basin stays open.</p></main>";
    let read = read(plain);
    assert!(read.page.schema.is_none());
    assert_eq!(&*read.page.title, "Dredging");
    assert!(read.page.description.starts_with("The dredger works"));
    assert_eq!(read.page.language.as_str(), "en");
}

#[test] // SCP-044 SCP-045 SCP-046
fn fields_use_schema_members_and_fall_back_to_the_page() {
    let members = r#""headline":"Dredging the north basin","description":"What is open while we dredge.",
        "author":{"@type":"Person","name":"Ada Pilot"},"datePublished":"2026-05-01T08:00:00Z""#;
    let with = read(page("Article", members)).page;
    assert_eq!(&*with.title, "Dredging the north basin");
    assert_eq!(&*with.description, "What is open while we dredge.");
    assert_eq!(with.author.as_deref(), Some("Ada Pilot"));
    assert_eq!(with.published.map(|at| at.to_string()).as_deref(), Some("2026-05-01T08:00:00Z"));
    // Fields that the data omits come from the page.
    let without = read(page("Article", r#""url":"https://harbour.example/docs/page.html""#)).page;
    assert_eq!(&*without.title, "Harbour: a page");
    assert!(without.description.starts_with("The dredger works"));
    assert_eq!((without.author.is_none(), without.published.is_none()), (true, true));
}
