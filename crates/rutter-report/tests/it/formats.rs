//! Tests of all output formats with files of the public suites, and with names and
//! details that try to break out of their syntax.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rutter_extract::{Coverage, CoverageTally, DroppedPart};
use rutter_finding::{Finding, FindingSink, Place, Report, Severity, Strictness};
use rutter_page::Timestamp;
use rutter_page::rules::UNKNOWN_BLOCK;
use rutter_report::excerpt::excerpts;
use rutter_report::format::ReportFormat;
use rutter_report::overview::{ArtifactAge, ArtifactSize, EntitySurvival, Overview};
use rutter_report::{CheckedFile, DetailLevel, FileKind, FileReport, Outcome};
use rutter_scp::rules::{BYTE_ORDER_MARK, NO_CHECKSUM};
use rutter_scp::{CollectionReader, ReadOptions, ReadReceipt};
use serde_json::Value;

const HOSTILE: &str = "a\"'><script>parent.hacked=1</script><img src=x onerror=parent.hacked=1>]]>--></style>\u{202e}\u{200b}\u{7}\n::error::x|`|@all &amp; é";

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn now() -> Timestamp {
    Timestamp::parse("2026-05-03T00:00:00Z").unwrap()
}

/// Returns the report about a file of the public suites with these findings.
fn checked(name: &str, kind: FileKind, file: &str, findings: Vec<Finding>) -> CheckedFile {
    let path = root().join("conformance/vectors").join(file);
    let open = || {
        let file = fs::File::open(&path)?;
        let size = file.metadata()?.len();
        let input: Box<dyn std::io::Read + Send> = Box::new(file);
        Ok((input, Some(size)))
    };
    let excerpts = excerpts(&open, &findings.iter().collect::<Vec<_>>());
    let mut file_report = FileReport::clean("", name, kind);
    for finding in findings {
        file_report.report.report(finding);
    }
    if kind == FileKind::Collection {
        file_report.receipt = Some(read_receipt(&path));
    }
    CheckedFile { file_report, excerpts }
}

fn read_receipt(path: &Path) -> ReadReceipt {
    let input: Box<dyn std::io::Read + Send> = Box::new(fs::File::open(path).unwrap());
    let mut reader = CollectionReader::open(input, ReadOptions::default(), &mut ()).unwrap();
    while reader.next(&mut (), |_| Some(())).unwrap().is_some() {}
    reader.finish(&mut ()).unwrap()
}

fn hostile() -> CheckedFile {
    let mut report = Report::new(Strictness::Strict);
    let place = Place::pointer(3, format!("/{HOSTILE}"));
    for _ in 0..130 {
        report.report(Finding::new(&UNKNOWN_BLOCK, place.clone(), HOSTILE));
    }
    let file_report = FileReport { report, ..FileReport::clean("", HOSTILE, FileKind::Collection) };
    let text = format!("\n\n{{\"{}\": 1}}", HOSTILE.replace(['"', '\n'], " "));
    let open = || {
        let input: Box<dyn std::io::Read + Send> = Box::new(std::io::Cursor::new(text.clone()));
        Ok((input, None))
    };
    let findings: Vec<&Finding> = file_report.report.findings().map(|(_, it)| it).collect();
    let excerpts = excerpts(&open, &findings);
    CheckedFile { file_report, excerpts }
}

/// Returns the coverage of two pages, one with a hostile name.
fn coverage() -> CoverageTally {
    let mut tally = CoverageTally::default();
    tally.add("index.html", &Coverage { kept: 900, total: 900, largest: None });
    let (place, start) = ("div.comments".to_owned(), HOSTILE.to_owned());
    let largest = Some(DroppedPart { place, start });
    tally.add(HOSTILE, &Coverage { kept: 600, total: 900, largest });
    tally
}

fn in_document(pointer: &str) -> Place {
    Place { line: None, pointer: pointer.to_owned() }
}

fn outcome() -> Outcome {
    let files = vec![
        checked(
            "public/scp/all.scp",
            FileKind::Collection,
            "scp/files/block-unknown.scp",
            vec![Finding::new(&UNKNOWN_BLOCK, Place::pointer(2, "/content/1/type"), "`chart`")],
        ),
        checked(
            "public/arc-sitemap.json",
            FileKind::Arc,
            "arc/files/other-spellings.json",
            vec![
                Finding::new(&BYTE_ORDER_MARK, in_document("/crawl-rate"), "`crawl-rate`"),
                Finding::new(&NO_CHECKSUM, in_document("/pages/0/ai_summary"), ""),
            ],
        ),
        checked("public/arc-policy.json", FileKind::ArcPolicy, "arc/files/policy.json", Vec::new()),
        hostile(),
    ];
    let day = |text: &str| Timestamp::parse(text).unwrap();
    let size = |name: &str, bytes| ArtifactSize { name: name.to_owned(), bytes };
    let age = |name: &str, made: &str| ArtifactAge { name: name.to_owned(), made: day(made) };
    let steps = |kept: [u64; 5]| {
        let names = ["html", "visible", "blocks", "twin", "kernel"];
        names.iter().zip(kept).map(|(name, kept)| ((*name).to_owned(), kept, 4)).collect()
    };
    let entity = |name: &str, kept| EntitySurvival { entity: name.to_owned(), steps: steps(kept) };
    let overview = Overview {
        subject: "public".to_owned(),
        now: Some(now()),
        files: 1234,
        pages: 1200,
        coverage: coverage(),
        layers: vec!["RB"],
        sizes: vec![
            size("scp/all-snapshot-20260501T120000Z.scp.zst", 1_630_000),
            size("arc-sitemap.json", 412_000),
            size("sitemap.xml", 96_400),
            size("spxi-index.jsonld", 18_200),
            size(HOSTILE, 3_100),
        ],
        ages: vec![
            age("scp/all-snapshot-20260501T120000Z.scp.zst", "2026-05-01T12:00:00Z"),
            age("spxi-index.jsonld", "2026-03-11T00:00:00Z"),
            age("arc-sitemap.json", "2024-11-01T00:00:00Z"),
            age(HOSTILE, "2026-06-01T00:00:00Z"),
        ],
        survival: vec![
            entity("Low Light", [4, 4, 4, 4, 1]),
            entity("Port Selk Harbour Museum", [4, 4, 3, 3, 0]),
            entity(HOSTILE, [4, 2, 2, 2, 0]),
        ],
    };
    Outcome {
        files,
        overview,
        mode: Strictness::Strict,
        fail_on: Severity::Warning,
        ignored: 2,
        known: 3,
        gone: 1,
        detail: DetailLevel::Full,
        version: "0.0.0",
    }
}

fn written(format: ReportFormat) -> String {
    let mut bytes = Vec::new();
    format.write(&mut bytes, &outcome()).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn validator(path: &str) -> jsonschema::Validator {
    let schema: Value =
        serde_json::from_str(&fs::read_to_string(root().join(path)).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn assert_valid(validator: &jsonschema::Validator, document: &Value) {
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn json_matches_its_schema() {
    let validator = validator("docs/schemas/check.schema.json");
    let document: Value = serde_json::from_str(&written(ReportFormat::Json)).unwrap();
    assert_valid(&validator, &document);
    assert_eq!(document["totals"]["errors"], outcome().count(Severity::Error));
    let mut broken = document.clone();
    broken["files"][0]["findings"][0]["severity"] = "grave".into();
    assert!(!validator.is_valid(&broken));
    let mut broken = document;
    broken["format"] = 2.into();
    assert!(!validator.is_valid(&broken));
}

#[test]
fn json_lines_are_objects_with_a_type() {
    let text = written(ReportFormat::JsonLines);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).count();
    let outcome = outcome();
    assert_eq!(of("file"), outcome.files.len());
    assert_eq!(of("finding"), outcome.findings().count());
    assert_eq!((of("summary"), lines.last().unwrap()["type"].as_str()), (1, Some("summary")));
    let named = |line: &Value| line["type"] != "finding" || line["file"].is_string();
    assert!(lines.iter().all(named));
}

#[test]
fn sarif_has_all_required_members() {
    let document: Value = serde_json::from_str(&written(ReportFormat::Sarif)).unwrap();
    assert_valid(&validator("conformance/schema/sarif-facts.json"), &document);
    let run = &document["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let ids: BTreeSet<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), rules.len());
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), outcome().findings().count());
    for result in results {
        let at = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[at]["id"], result["ruleId"]);
    }
    let uri =
        results.last().unwrap()["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            .as_str()
            .unwrap();
    assert!(uri.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>\"".contains(&byte)), "{uri}");
}

#[test]
fn junit_is_well_formed_with_correct_counts() {
    let text = written(ReportFormat::Junit);
    // An XML parser is stricter than an HTML parser.
    let forbidden = |c: char| c.is_control() && c != '\n';
    assert!(!text.contains(forbidden));
    let opened = text.matches("<testcase ").count();
    let closed = text.matches("</testcase>").count() + text.matches("\"/>").count();
    assert_eq!(opened, closed);
    let failures = text.matches("<failure ").count();
    assert!(text.contains(&format!("failures=\"{failures}\"")), "{failures}");
    assert!(!text.contains("<script") && !text.contains("]]>"));
    let mut depth = 0_i32;
    for tag in text.split('<').skip(1).filter(|tag| !tag.starts_with('?')) {
        let tag = tag.split('>').next().unwrap();
        depth += if tag.starts_with('/') { -1 } else { i32::from(!tag.ends_with('/')) };
        assert!(0 <= depth, "{tag}");
    }
    assert_eq!(depth, 0);
}

#[test]
fn github_annotations_are_single_lines_most_severe_first() {
    let text = written(ReportFormat::Github);
    let commands: Vec<&str> = text.lines().filter(|line| line.starts_with("::")).collect();
    assert_eq!(commands.len(), outcome().findings().count());
    let rank = |line: &&str| {
        ["::error ", "::warning ", "::notice "].iter().position(|it| line.starts_with(it)).unwrap()
    };
    assert!(commands.is_sorted_by_key(rank));
    assert!(!text.lines().any(|line| line.starts_with("::error::x")));
}

#[test]
fn markdown_keeps_foreign_text_in_code_spans() {
    let text = written(ReportFormat::Markdown);
    let outside: String = text
        .lines()
        .filter(|line| line.contains("hacked"))
        .flat_map(|line| {
            // The row without its code spans.
            let mut rest = line.to_owned();
            for fence in ["```", "``", "`"] {
                while let Some(start) = rest.find(fence) {
                    let Some(len) = rest[start + fence.len()..].find(fence) else { break };
                    rest.replace_range(start..start + len + 2 * fence.len(), "");
                }
            }
            rest.chars().collect::<Vec<_>>()
        })
        .collect();
    assert!(!outside.contains("hacked") && !outside.contains("@all"), "{outside}");
    assert!(text.contains("| error |"));
}

#[test]
fn human_format_shows_line_and_marked_part() {
    let text = written(ReportFormat::Human);
    assert!(text.contains("\"chart\""), "{text}");
    assert!(text.contains("^^^^^^^"), "{text}");
    assert!(text.contains("more of SC021"));
    assert!(!text.contains(['\u{202e}', '\u{200b}', '\u{7}']));
}

/// Writes the report that `cargo xtask browser` opens in a browser.
#[test]
fn html_report_is_inert_and_complete() {
    let text = written(ReportFormat::Html);
    fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.html"), &text).unwrap();
    let lower = text.to_lowercase();
    for forbidden in
        ["<script", "<img", "<link", "<iframe", "<object", "javascript:", "url(", "@import"]
    {
        assert!(!lower.contains(forbidden), "{forbidden}");
    }
    assert!(!text.contains(['\u{202e}', '\u{200b}', '\u{7}']));
    for wanted in [
        "Layers",
        "Findings by rule",
        "Findings by page",
        "Sizes",
        "Freshness",
        "Survival of markers",
        "<mark>",
        "prefers-color-scheme",
    ] {
        assert!(text.contains(wanted), "{wanted}");
    }
    // Links lead only to rules on the same page.
    for link in text.split("href=\"").skip(1) {
        let target = link.split('"').next().unwrap().strip_prefix('#').unwrap();
        assert!(text.contains(&format!("id=\"{target}\"")), "{target}");
    }
}
