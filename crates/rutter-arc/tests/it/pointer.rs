//! Tests of the JSON-LD pointer.

use rutter_arc::pointer::{JsonLdFile, SitemapPointer, read};
use rutter_finding::Finding;
use rutter_page::Timestamp;
use serde_json::Value;

fn pointer() -> SitemapPointer {
    SitemapPointer {
        json: "https://harbour.example/arc-sitemap.json".to_owned(),
        yaml: Some("https://harbour.example/arc-sitemap.yaml".to_owned()),
        modified: Timestamp::parse("2026-05-01T00:00:00Z").ok(),
    }
}

#[test] // ARC-007 D53
fn pointer_is_a_dataset_with_downloads() {
    let text = pointer().to_file();
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["@context"], "https://schema.org");
    assert_eq!(value["@type"], "Dataset");
    assert_eq!(value["name"], "ARC Sitemap");
    assert_eq!(value["url"], "https://harbour.example/arc-sitemap.json");
    assert_eq!(value["distribution"][0]["@type"], "DataDownload");
    assert_eq!(value["distribution"][0]["encodingFormat"], "application/json");
    assert_eq!(value["distribution"][1]["encodingFormat"], "application/yaml");
    let mut findings: Vec<Finding> = Vec::new();
    assert_eq!(read(text.as_bytes(), &mut findings).unwrap(), JsonLdFile::Pointer(pointer()));
    assert!(findings.is_empty());
}

#[test] // G01
fn no_address_ends_the_script_element() {
    let json = "https://harbour.example/</script><script>alert(1)".to_owned();
    let script = SitemapPointer { json, ..pointer() }.to_script();
    assert_eq!(script.matches("</script>").count(), 1);
    assert!(script.ends_with("</script>"));
}

#[test] // D53
fn pointer_without_content_url_falls_back_to_url() {
    let text = r#"{"@context": "https://schema.org", "@type": "Dataset", "name": "ARC Sitemap",
        "url": "https://example.com/arc-sitemap.json",
        "distribution": [{"@type": "DataDownload", "encodingFormat": "application/json"}]}"#;
    let mut findings: Vec<Finding> = Vec::new();
    let JsonLdFile::Pointer(found) = read(text.as_bytes(), &mut findings).unwrap() else {
        panic!("no pointer")
    };
    assert_eq!(found.json, "https://example.com/arc-sitemap.json");
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].rule.code, "AR075");
    let graph = r#"[{"@type": "WebSite"}, {"@type": "DataDownload",
        "encodingFormat": "application/json", "contentUrl": "https://example.com/a.json"}]"#;
    assert!(matches!(read(graph.as_bytes(), &mut ()).unwrap(), JsonLdFile::Pointer(_)));
    assert_eq!(read(r#"{"pages": []}"#.as_bytes(), &mut ()).unwrap(), JsonLdFile::Sitemap);
    for nothing in ["{}", "[]", "3", r#"{"@type":"Dataset","name":"ARC Sitemap","url":"x"}"#] {
        assert_eq!(read(nothing.as_bytes(), &mut ()).unwrap(), JsonLdFile::Nothing, "{nothing}");
    }
}
