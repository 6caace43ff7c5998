//! Tests of the SPXI layer of the example site, with a strict check and an independent JSON-LD
//! processor.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

use oxjsonld::JsonLdParser;
use rutter_check::{CheckOptions, SiteCheckOptions, check_folder};
use rutter_finding::Strictness;
use rutter_page::Timestamp;
use rutter_report::FileKind;

use crate::{root, run, stage};

/// Builds the example with its settings and entities.
fn built() -> tempfile::TempDir {
    let folder = stage();
    let said = run(
        "cp -r examples/harbour examples/rutter.toml examples/entities target/ && \
         rutter build target/harbour --out target/public --inject --strict",
        folder.path(),
    );
    assert!(said.contains("files "), "{said}");
    folder
}

fn now() -> Timestamp {
    Timestamp::parse("2026-11-01T00:00:00Z").unwrap()
}

#[test] // SPX-001 SPX-003 SPX-004 SPX-009 SPX-010 SPX-012 SPX-013 SPX-063 to SPX-071
fn example_passes_strict_check() {
    let folder = built();
    let dir = folder.path().join("target/public");
    let judging =
        CheckOptions { mode: Strictness::Strict, now: Some(now()), ..CheckOptions::default() };
    let judging =
        SiteCheckOptions { check_options: judging, threads: 2, ..SiteCheckOptions::default() };
    let judgements = check_folder(&dir, None, Vec::new(), &judging).unwrap().file_reports;
    // The index, three packets and the other layers.
    assert!(4 <= judgements.len());
    let mut said = String::new();
    for judgement in judgements.iter().filter(|it| it.kind != FileKind::Page) {
        for (severity, finding) in judgement.report.findings() {
            let (code, place) = (finding.rule.code, &finding.place.pointer);
            writeln!(said, "{} {severity:?} {code} {place}", judgement.name).unwrap();
        }
    }
    insta::assert_snapshot!(said);
}

// SPX-008 SPX-015 SPX-022 SPX-023 SPX-024 SPX-026 SPX-029 SPX-030 SPX-031 SPX-034 SPX-035 SPX-036
#[test] // SPX-051 SPX-063
fn other_processor_reads_the_same_statements() {
    let folder = built();
    let bytes = fs::read(folder.path().join("target/public/spxi-index.jsonld")).unwrap();
    let quads = JsonLdParser::new().for_slice(&bytes).map(|quad| quad.unwrap().to_string());
    let found: Vec<String> = quads.collect();
    let path = root().join("crates/rutter/tests/spxi/harbour.nq");
    let wanted = fs::read_to_string(&path).unwrap();
    let wanted: Vec<String> =
        wanted.lines().map(|line| line.trim_end_matches([' ', '.']).to_owned()).collect();
    assert_eq!(named(&found), named(&wanted));
}

/// Renames blank nodes after their statements, so that the names that a processor chooses do not
/// matter.
fn named(quads: &[String]) -> BTreeSet<String> {
    let mut said: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for quad in quads {
        if let Some((node, rest)) = quad.split_once(' ').filter(|(node, _)| node.starts_with("_:"))
        {
            said.entry(node).or_default().insert(rest);
        }
    }
    let mut out: BTreeSet<String> = quads.iter().cloned().collect();
    for (node, rest) in &said {
        let name = format!("({})", rest.iter().copied().collect::<Vec<_>>().join("; "));
        out = out.iter().map(|quad| rename(quad, node, &name)).collect();
    }
    out
}

fn rename(quad: &str, node: &str, name: &str) -> String {
    let is_node = |part: &&str| *part == node;
    let mut parts: Vec<&str> = quad.splitn(3, ' ').collect();
    for part in &mut parts {
        if is_node(part) {
            *part = name;
        }
    }
    parts.join(" ")
}

/// Creates a site whose pages lose a marker in each possible way, and an entity that loses none.
pub(crate) fn lossy() -> tempfile::TempDir {
    let folder = stage();
    let write = |name: &str, text: &str| {
        let path = folder.path().join("target").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let page = |title: &str, summary: &str, head: &str, body: &str| {
        format!(
            "<!doctype html><html lang=\"en\"><head><title>{title}</title>\
             <meta name=\"description\" content=\"{summary}\">{head}</head>\
             <body><main><h1>{title}</h1>{body}</main></body></html>"
        )
    };
    let mut filler = String::new();
    for n in 0..400 {
        let text = "tells of boats that came in on that day, and of";
        write!(filler, "<p>Paragraph {n} {text} {n} ropes.</p>").unwrap();
    }
    let body = format!(
        "<p>The loft was <b>raised</b> in&nbsp;1903.</p><p>Nets dried</p><p>on the long floor.</p>\
         <script>var note = \"kept by the harbour office\";</script>{filler}\
         <p>Its roof is of Norwegian slate.</p>"
    );
    write("site/loft.html", &page("Loft", "A house that was raised in 1903.", "", &body));
    let whole = "<p>The mole was raised in 1874 and is 412 metres long.</p>";
    let about = "The mole was raised in 1874 and is 412 metres long.";
    write("site/mole.html", &page("Mole", about, "", whole));
    write("site/index.html", &page("Home", "The harbour.", "", "<p>Two houses stand here.</p>"));
    write(
        "rutter.toml",
        "site = \"site\"\nout = \"public\"\nbase-url = \"https://harbour.example/\"\n\
         [spxi]\nkernel = \"The mole was raised in 1874 and is 412 metres long.\"\n",
    );
    let entity = |page: &str, name: &str, markers: &str| {
        format!(
            "page = \"/{page}\"\ntype = \"Place\"\nname = \"{name}\"\n\
             negative-tags = [\"NOT a ship\"]\nmarkers = [{markers}]\n"
        )
    };
    let loft = "\"raised in 1903\", \"Nets dried on the long floor\", \
        \"kept by the harbour office\", \"Norwegian slate\"";
    write("entities/loft.toml", &entity("loft.html", "Loft", loft));
    let mole = "\"raised in 1874\", \"412 metres long\"";
    write("entities/mole.toml", &entity("mole.html", "Mole", mole));
    let said = run("cd target && rutter build", folder.path());
    assert!(said.contains("files "), "{said}");
    folder
}

#[test] // SPX-066 SPX-076 D70
fn survive_finds_exactly_the_planted_losses() {
    let folder = lossy();
    let said = run(
        "cd target && rutter spxi survive --format svg > chart.svg; rutter spxi survive --format json || true",
        folder.path(),
    );
    let value: serde_json::Value = serde_json::from_str(&said).unwrap();
    let markers = |entity: usize| value["entities"][entity]["markers"].as_array().unwrap().clone();
    // The steps that lose a marker, in their order.
    let lost: Vec<(String, String, String)> = markers(0)
        .iter()
        .map(|marker| {
            let stages = marker["stages"].as_object().unwrap();
            let mut lost: Vec<&str> = stages
                .iter()
                .filter(|(_, kept)| **kept == false)
                .map(|(name, _)| name.as_str())
                .collect();
            lost.sort_unstable();
            let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
            (text(&marker["text"]), text(&marker["status"]), lost.join(" "))
        })
        .collect();
    let all = "blocks cut-100k cut-20k cut-50k cut-5k kernel summary twin visible";
    let wanted = [
        ("raised in 1903", "visible", "kernel"),
        ("Nets dried on the long floor", "absent", all),
        ("kept by the harbour office", "absent", all),
        ("Norwegian slate", "visible", "cut-20k cut-5k kernel summary"),
    ];
    let wanted = wanted.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned()));
    assert_eq!(lost, wanted);
    // A marker that all layers contain is not lost.
    for marker in markers(1) {
        assert_eq!(marker["first_lost"], serde_json::Value::Null, "{marker}");
        assert!(marker["stages"].as_object().unwrap().values().all(|kept| *kept == true));
    }
    let chart = fs::read_to_string(folder.path().join("target/chart.svg")).unwrap();
    assert!(chart.starts_with("<svg") && chart.contains("<title"), "{chart}");
    let strict = run("cd target && rutter spxi survive > /dev/null; echo $?", folder.path());
    assert!(strict.ends_with("1\n"), "{strict}");
}

#[test] // SPX-007 SPX-075 SPX-077 SPX-078 D71 D72
fn accepted_answers_are_written_to_entities() {
    let folder = lossy();
    let answers = |name: &str, text: &str| {
        for entity in ["loft", "mole"] {
            for question in ["what", "who", "different", "used", "open"] {
                let path = folder.path().join(format!("target/{name}/{entity}/{question}.txt"));
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
        }
    };
    answers("a", "The Loft was raised in 1903 under Norwegian slate. The Mole was raised in 1874.");
    answers("b", "I do not know that.");
    let entity = folder.path().join("target/entities/loft.toml");
    let before = fs::read_to_string(&entity).unwrap();
    // Answers of one system are too few for an estimate.
    let said =
        run("cd target && rutter spxi drown --run one --transcripts a=a --accept", folder.path());
    assert!(said.contains("too few answers"), "{said}");
    assert_eq!(fs::read_to_string(&entity).unwrap(), before);
    let drown = "cd target && rutter spxi drown --run two --transcripts a=a --transcripts b=b";
    let said = run(drown, folder.path());
    assert!(said.contains("BDR 0.50, suggested state contested"), "{said}");
    // A suggestion does not change the index until it is accepted.
    assert_eq!(fs::read_to_string(&entity).unwrap(), before);
    run(&format!("{drown} --accept"), folder.path());
    let after = fs::read_to_string(&entity).unwrap();
    let wanted = before
        .replace("name = \"Loft\"\n", "name = \"Loft\"\nbasin-state = \"contested\"\nbdr = 0.5\n");
    assert_eq!(after, wanted);
    run("cd target && rutter build", folder.path());
    let index = fs::read_to_string(folder.path().join("target/public/spxi-index.jsonld")).unwrap();
    assert!(index.contains("\"spxi:bdrEstimate\": 0.5"), "{index}");
    assert!(index.contains("\"spxi:basinState\": \"contested\""));
    // The answer differs because the system changed, not the entity.
    answers("a", "The Loft is a flat for rent.");
    let said = run(
        "cd target && rutter spxi drown --run three --transcripts a=a --transcripts b=b",
        folder.path(),
    );
    assert!(said.contains("SV009") && said.contains("silent change of a"), "{said}");
}

#[test] // SPX-075 SPX-076 SPX-077 SPX-078
fn status_lists_what_is_due() {
    let folder = lossy();
    let status =
        |more: &str| run(&format!("cd target && rutter spxi status {more}"), folder.path());
    let said = status("");
    for line in [
        "Loft    2/4            never       -",
        "Mole    2/2            never       -",
        "- `Mole`: AI systems were never asked",
        "- `Loft`: marker `kept by the harbour office` is absent on its page",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    // A noted collision without a negative tag.
    let file = folder.path().join("target/entities/mole.toml");
    let text = fs::read_to_string(&file).unwrap();
    let collision = "[[collisions]]\nwith = \"The Mole (novel)\"\ndiffers = \"A book.\"\nnoted = \"2026-09-01\"\n";
    fs::write(&file, format!("{text}{collision}")).unwrap();
    let said = status("--strict; echo $?");
    for line in [
        "- `Mole`: no negative tag mentions `The Mole (novel)`",
        "- `Mole`: `The Mole (novel)` was noted on 2026-09-01 and not tested since",
        "- `Mole`: the published index is out of date",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    assert!(said.ends_with("1\n"), "{said}");
    // After a test with three systems, only other items are due.
    let systems = ["a", "b", "c"]
        .map(|name| format!("--ask '{name}=echo The Mole was raised in 1874, the Loft in 1903.'"));
    run(&format!("cd target && rutter spxi drown {}", systems.join(" ")), folder.path());
    let said = status("");
    assert!(!said.contains("not tested since") && !said.contains("never"), "{said}");
    let said = status("--model-updated 2026-12-01");
    assert!(said.contains("- `Mole`: an AI system was updated after the last test"), "{said}");
    let later = run("cd target && SOURCE_DATE_EPOCH=1812758400 rutter spxi status", folder.path());
    assert!(later.contains("`Mole`: AI systems were last asked"), "{later}");
}

#[test] // SPX-074
fn collision_is_due_until_negative_tag_mentions_it() {
    let folder = lossy();
    let target = folder.path().join("target");
    let status = || run("cd target && rutter spxi status", folder.path());
    let mole = || -> serde_json::Value {
        run("cd target && rutter build", folder.path());
        let text = fs::read_to_string(target.join("public/spxi-index.jsonld")).unwrap();
        let index: serde_json::Value = serde_json::from_str(&text).unwrap();
        let entities = index["spxi:hasEntity"].as_array().unwrap();
        entities.iter().find(|one| one["spxi:canonicalName"] == "Mole").unwrap().clone()
    };
    let silent = "- `Mole`: no negative tag mentions `The Mole (novel)`";
    let other = "- `Mole`: the published index is out of date";
    assert!(mole().get("spxi:disambiguationMatrix").is_none());
    assert!(!status().contains(silent) && !status().contains(other), "{}", status());
    let file = target.join("entities/mole.toml");
    let text = fs::read_to_string(&file).unwrap();
    let collision = "[[collisions]]\nwith = \"The Mole (novel)\"\ndiffers = \"A book.\"\n";
    fs::write(&file, format!("{text}{collision}")).unwrap();
    // Declared but not built: the index and a tag are due.
    let said = status();
    assert!(said.contains(silent) && said.contains(other), "{said}");
    let matrix = mole()["spxi:disambiguationMatrix"].clone();
    let matrix = if matrix.is_array() { matrix[0].clone() } else { matrix };
    assert_eq!(matrix["spxi:collidesWith"], "The Mole (novel)");
    assert_eq!(matrix["spxi:distinguishingAttribute"], "A book.");
    // Built without the tag: the tag is still due.
    let said = status();
    assert!(said.contains(silent) && !said.contains(other), "{said}");
    let tagged = text.replace("\"NOT a ship\"", "\"NOT a ship\", \"NOT the novel\"");
    assert_ne!(tagged, text);
    fs::write(&file, format!("{tagged}{collision}")).unwrap();
    let tags = mole()["spxi:negativeTag"].clone();
    assert_eq!(tags, serde_json::json!(["NOT a ship", "NOT the novel"]));
    let said = status();
    assert!(!said.contains(silent) && !said.contains(other), "{said}");
}
