//! Tests of policies.

use rutter_arc::ArcPolicy;
use rutter_arc::policy::{
    AccessDefault, AccessRules, ApprovedConsumer, PartnerEndpoint, RetentionRules,
};
use rutter_finding::Finding;

use crate::time;

fn read(text: &str) -> (Option<ArcPolicy>, Vec<&'static str>) {
    let mut findings: Vec<Finding> = Vec::new();
    let policy = ArcPolicy::read(text.as_bytes(), &mut findings).unwrap();
    (policy, findings.iter().map(|finding| finding.rule.code).collect())
}

fn sample() -> ArcPolicy {
    ArcPolicy {
        version: Some("2.1".to_owned()),
        site: Some("https://harbour.example".to_owned()),
        updated_at: Some(time("2026-05-01T00:00:00Z")),
        contact: Some("crawl@harbour.example".to_owned()),
        checksum_scope: Some("content".to_owned()),
        retention: Some(RetentionRules {
            max_days: Some(90),
            delete_on_removal: Some(true),
            notes: Some("No copies of \"drafts\"".to_owned()),
        }),
        access: Some(AccessRules {
            default: Some(AccessDefault::Deny),
            endpoints: vec![PartnerEndpoint {
                url: "https://harbour.example/arc-api/v1/pages".to_owned(),
                auth: Some("bearer".to_owned()),
                rate: Some("10/min".to_owned()),
            }],
            rate: Some("1/s".to_owned()),
        }),
        approved_consumers: Some(vec![ApprovedConsumer {
            name: "Pilot".to_owned(),
            user_agent: Some("PilotBot".to_owned()),
            purposes: vec!["search".to_owned()],
            access: Some("partner".to_owned()),
        }]),
    }
}

#[test] // ARC-028 ARC-029 ARC-030 ARC-031 D55
fn policy_has_retention_access_and_consumers() {
    let text = sample().to_file();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["retention"]["max_days"], 90);
    assert_eq!(value["access"]["default"], "deny");
    assert_eq!(value["approved_consumers"][0]["user_agent"], "PilotBot");
    assert_eq!(read(&text), (Some(sample()), vec![]));
    assert_eq!(
        rutter_arc::detect_format(text.as_bytes()),
        Some(rutter_arc::ArcDocumentKind::Policy)
    );
    let empty = ArcPolicy { approved_consumers: Some(Vec::new()), ..ArcPolicy::default() };
    assert_eq!(read(&empty.to_file()).1, ["AR082", "AR082"]);
}

#[test] // ARC-028 D55
fn alternative_member_names_are_accepted() {
    let text = r#"{"version":"2.1","data_retention":"30 days","access_control":"deny",
        "consumers":["PilotBot",{"agent":"Other","purpose":"search"}]}"#;
    let (policy, codes) = read(text);
    let policy = policy.unwrap();
    assert_eq!(policy.retention.unwrap().notes.as_deref(), Some("30 days"));
    assert_eq!(policy.access.unwrap().default, Some(AccessDefault::Deny));
    let consumers = policy.approved_consumers.unwrap();
    assert_eq!(consumers[1].name, "Other");
    assert_eq!(consumers[1].purposes, ["search"]);
    assert!(codes.iter().all(|code| *code == "AR083"), "{codes:?}");
}

#[test] // D55
fn unclear_value_is_never_permission() {
    for unreadable in ["", "[]", "allow", "{\"access\":", "\"allow\""] {
        assert_eq!(read(unreadable), (None, vec!["AR080"]), "{unreadable}");
    }
    let large = format!("{{\"access\":\"allow\",\"x\":\"{}\"}}", "a".repeat(300_000));
    assert_eq!(read(&large).0, None);
    for unclear in [
        "{\"access\":true}",
        "{\"access\":{\"default\":1}}",
        "{\"access\":\"yes\"}",
        "{\"access\":null}",
        "{\"access\":{\"default\":\"ALLOWED\"}}",
    ] {
        let default = read(unclear).0.unwrap().access.and_then(|access| access.default);
        assert_eq!(default, None, "{unclear}");
    }
    let other = read(r#"{"arc_policy_version":"9.0","access":"allow"}"#);
    assert_eq!(other.0.unwrap().access, None);
}
