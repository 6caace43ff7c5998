//! Tests of writing and packing.

use std::fs;
use std::io::{Cursor, Read};
use std::path::Path;

use proptest::prelude::*;
use rutter_finding::Strictness;
use rutter_page::{Page, Timestamp};
use rutter_scp::{
    Coding, CollectionHeader, CollectionInput, CollectionKind, CollectionWriter, EmptyInputPolicy,
    FormatVersion, InputOrder, Limits, MergeError, OutputTarget, PackOptions, ReadError,
    StateTracking, WriteError, WrittenCollection, pack, rules,
};
use rutter_testkit::{page, snapshot};

use crate::read_bytes;

fn header() -> CollectionHeader {
    CollectionHeader {
        id: "harbour-1".to_owned(),
        section: "all".to_owned(),
        kind: CollectionKind::Snapshot,
        generated: Timestamp::parse("2026-05-02T00:00:00Z").unwrap(),
        version: FormatVersion::CURRENT,
        checksum: None,
        chain: None,
        extra: Vec::new(),
    }
}

fn write(
    folder: &Path,
    lines: &[String],
    name: &str,
) -> Result<Vec<WrittenCollection>, WriteError> {
    let mut writer = CollectionWriter::new(folder, StateTracking::Nothing, Limits::SPEC)?;
    for line in lines {
        let page: Page<'_> = serde_json::from_str(line).unwrap();
        writer.page(&page)?;
    }
    writer.close()?.finish(header(), &[OutputTarget::from_file_name(&folder.join(name)).unwrap()])
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn sample(n: usize) -> Vec<String> {
    (0..n).map(|n| page(n, 1)).collect()
}

#[test] // SCP-001 SCP-002 SCP-003 SCP-004 SCP-005 SCP-008 SCP-024 SCP-026 SCP-027 SCP-031
fn text_is_the_excised_form_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let lines = sample(3);
    let wanted = snapshot(&lines);
    let gunzip = |bytes: &[u8]| {
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(bytes).read_to_end(&mut text).unwrap();
        text
    };
    let written = write(folder.path(), &lines, "a.scp").unwrap();
    assert_eq!(fs::read(&written[0].path).unwrap(), wanted.as_bytes());
    // The single-member decoder reads it all: it is one member.
    let written = write(folder.path(), &lines, "a.scp.gz").unwrap();
    assert_eq!(gunzip(&fs::read(&written[0].path).unwrap()), wanted.as_bytes());
    let written = write(folder.path(), &lines, "a.scp.zst").unwrap();
    let bytes = fs::read(&written[0].path).unwrap();
    // One-shot decoding needs the size in the one frame's header.
    let text = zstd::bulk::decompress(&bytes, wanted.len()).unwrap();
    assert_eq!(text, wanted.as_bytes());
    assert_eq!(names(folder.path()), ["a.scp", "a.scp.gz", "a.scp.zst"]);
}

#[test] // SCP-001
fn file_name_implies_the_coding() {
    for (name, coding) in [
        ("a.scp", Some(Coding::Plain)),
        ("a.scp.gz", Some(Coding::Gzip)),
        ("a.scp.zst", Some(Coding::Zstd)),
        ("a.gz", None),
        ("a.scp.br", None),
        ("scp", None),
    ] {
        assert_eq!(Coding::from_file_name(Path::new(name)), coding, "{name}");
    }
}

#[test] // SCP-005 D08
fn gzip_header_is_constant() {
    let folder = tempfile::tempdir().unwrap();
    let written = write(folder.path(), &sample(3), "a.scp.gz").unwrap();
    let bytes = fs::read(&written[0].path).unwrap();
    assert_eq!(bytes[..10], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
}

#[cfg(unix)]
#[test]
fn published_files_have_default_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let written = write(folder.path(), &sample(1), "a.scp.gz").unwrap();
    let mode = fs::metadata(&written[0].path).unwrap().permissions().mode();
    let plain = folder.path().join("plain");
    fs::write(&plain, "").unwrap();
    assert_eq!(mode, fs::metadata(&plain).unwrap().permissions().mode());
}

#[test] // SCP-098 D34
fn file_that_looks_like_a_bomb_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [page(0, 1).replace("Berth", &"x".repeat(100_000))];
    for name in ["a.scp.gz", "a.scp.zst"] {
        let error = write(folder.path(), &lines, name).unwrap_err();
        assert!(matches!(error, WriteError::Ratio(..)), "{error}");
    }
    assert_eq!(names(folder.path()), Vec::<String>::new());
    write(folder.path(), &lines, "a.scp").unwrap();
}

#[test] // SCP-041 SCP-081 SCP-179 SCP-180
fn pages_that_readers_reject_are_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let line = page(0, 1);
    let mut page: Page<'_> = serde_json::from_str(&line).unwrap();
    let limits = Limits { page: 200, ..Limits::SPEC };
    let mut writer = CollectionWriter::new(folder.path(), StateTracking::State, limits).unwrap();
    let rule = |error: WriteError| match error {
        WriteError::Refused(refusal) => refusal.rule,
        other => panic!("{other}"),
    };
    page.content = vec![page.content[0].clone(); 1001];
    let refused = rule(writer.page(&page).unwrap_err());
    assert_eq!(*refused, rutter_page::rules::TOO_MANY_BLOCKS);
    page.content.truncate(1000);
    assert_eq!(*rule(writer.page(&page).unwrap_err()), rules::PAGE_TOO_LARGE);
    page.content.clear();
    assert_eq!(*rule(writer.page(&page).unwrap_err()), rutter_page::rules::EMPTY_CONTENT);
    drop(writer);
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn missing_folder_is_an_error_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("nowhere");
    let error = CollectionWriter::new(&nowhere, StateTracking::State, Limits::SPEC).unwrap_err();
    assert!(error.to_string().contains("nowhere"), "{error}");
}

#[test]
fn several_targets_hold_the_same_text() {
    let folder = tempfile::tempdir().unwrap();
    let targets: Vec<_> = ["a.scp", "a.scp.gz", "a.scp.zst"]
        .iter()
        .map(|name| OutputTarget::from_file_name(&folder.path().join(name)).unwrap())
        .collect();
    let mut writer =
        CollectionWriter::new(folder.path(), StateTracking::Nothing, Limits::SPEC).unwrap();
    for (n, line) in sample(100).iter().enumerate() {
        writer.line(&format!("https://harbour.example/{n:04}"), line.as_bytes()).unwrap();
    }
    let written = writer.close().unwrap().finish(header(), &targets).unwrap();
    for written in written {
        let receipt = read_bytes(&fs::read(&written.path).unwrap()).2.unwrap();
        assert_eq!(receipt.header, written.header);
        assert_eq!(receipt.decoded, written.decoded);
        assert_eq!(receipt.coded, written.coded);
    }
}

#[test] // SCP-031
fn knowing_line_1_in_advance_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let lines = sample(10);
    let plain = write(folder.path(), &lines, "a.scp").unwrap();
    let mut writer = CollectionWriter::with_header(
        folder.path(),
        StateTracking::Nothing,
        &header(),
        Limits::SPEC,
    )
    .unwrap();
    for line in &lines {
        writer.line("", line.as_bytes()).unwrap();
    }
    let target = OutputTarget::from_file_name(&folder.path().join("b.scp")).unwrap();
    let spooled = writer.close().unwrap();
    let known = spooled.finish(header(), &[target]).unwrap();
    assert_eq!(fs::read(&plain[0].path).unwrap(), fs::read(&known[0].path).unwrap());
    // A line 1 that differs from the announced one is hashed again.
    let writer = CollectionWriter::with_header(
        folder.path(),
        StateTracking::Nothing,
        &header(),
        Limits::SPEC,
    )
    .unwrap();
    let target = OutputTarget::from_file_name(&folder.path().join("c.scp")).unwrap();
    let other = CollectionHeader { id: "other".to_owned(), ..header() };
    let written = writer.close().unwrap().finish(other, &[target]).unwrap();
    read_bytes(&fs::read(&written[0].path).unwrap()).2.unwrap();
}

/// Packs lines as `rutter scp pack` does.
fn pack_lines(lines: &str, mode: Strictness, order: InputOrder) -> Result<Vec<u8>, MergeError> {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let input: Box<dyn Read + Send> = Box::new(Cursor::new(lines.as_bytes().to_vec()));
        Ok((input, None))
    };
    let mut findings = Vec::new();
    let inputs = vec![CollectionInput { open: &open, sink: &mut findings }];
    let how = PackOptions {
        limits: Limits::DEFAULT,
        order,
        mode,
        track: StateTracking::State,
        empty: EmptyInputPolicy::Allowed,
    };
    let target = OutputTarget::from_file_name(&folder.path().join("a.scp")).unwrap();
    let written = pack(inputs, header(), how, &[target], folder.path())?;
    Ok(fs::read(&written[0].path).unwrap())
}

#[test] // SCP-138 D30
fn packing_sorts_and_rejects_duplicates() {
    let (a, b) = (page(1, 1), page(2, 1));
    let sorted = pack_lines(&format!("{a}\n{b}"), Strictness::Strict, InputOrder::Given).unwrap();
    let unsorted = format!("{b}\n{a}\n");
    let error = pack_lines(&unsorted, Strictness::Strict, InputOrder::Given).unwrap_err();
    assert!(matches!(error, MergeError::Unsorted(0)), "{error}");
    assert_eq!(pack_lines(&unsorted, Strictness::Strict, InputOrder::Sort).unwrap(), sorted);
    let twice = format!("{a}\n{}\n{b}", page(1, 2));
    let error = pack_lines(&twice, Strictness::Strict, InputOrder::Sort).unwrap_err();
    let MergeError::Read(0, ReadError::Refused(refusal)) = error else { panic!("{error}") };
    assert_eq!((refusal.rule.code, refusal.place.line), ("SC058", Some(2)));
    let text = pack_lines(&twice, Strictness::Lenient, InputOrder::Sort).unwrap();
    assert_eq!(read_bytes(&text).0, [page(1, 2), b]);
}

#[test] // SCP-032 SCP-037 SCP-038
fn packing_writes_canonical_lines_or_fails() {
    let odd = page(1, 1)
        .replace("\"en\"", "\"EN-us\"")
        .replace("2026-05-01T01:00:00Z", "2026-05-01T03:00:00+02:00")
        .replace("\",\"", "\" , \"");
    let error = pack_lines(&odd, Strictness::Strict, InputOrder::Given).unwrap_err();
    assert!(matches!(error, MergeError::Read(0, ReadError::Refused(_))), "{error}");
    let text = pack_lines(&odd, Strictness::Lenient, InputOrder::Given).unwrap();
    assert_eq!(read_bytes(&text).0, [page(1, 1).replace("\"en\"", "\"en-US\"")]);
    for broken in ["{", "[]", "{}", "\u{feff}{}"] {
        let lines = format!("{}\n{broken}", page(0, 1));
        assert!(pack_lines(&lines, Strictness::Lenient, InputOrder::Given).is_err(), "{broken}");
    }
}

proptest! {
    #[test]
    fn written_pages_read_back_unchanged(
        texts in prop::collection::vec("\\PC{0,40}|[\u{0}-\u{1f}\"\\\\]{1,5}", 1..20),
        name in prop::sample::select(vec!["a.scp", "a.scp.gz", "a.scp.zst"]),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let lines: Vec<String> = texts.iter().enumerate().map(|(n, text)| {
            let quoted = serde_json::to_string(&format!("x{text}")).unwrap();
            page(n, 1).replace(&format!("\"Berth {n} at 1\""), &quoted)
        }).collect();
        let written = write(folder.path(), &lines, name).unwrap();
        let (read, findings, receipt) = read_bytes(&fs::read(&written[0].path).unwrap());
        prop_assert_eq!(read, lines);
        prop_assert_eq!(findings, vec![]);
        prop_assert_eq!(receipt.unwrap().header, written[0].header.clone());
    }
}

/// Line 1 of a collection, as any JSON reader sees it.
fn line_1(bytes: &[u8]) -> serde_json::Value {
    let text = std::str::from_utf8(bytes).unwrap();
    serde_json::from_str(text.lines().next().unwrap()).unwrap()
}

#[test] // SCP-013 SCP-014
fn delta_is_written_with_since_and_snapshot_without() {
    let folder = tempfile::tempdir().unwrap();
    let since = Timestamp::parse("2026-05-01T00:00:00Z").unwrap();
    for (kind, wanted) in [
        (CollectionKind::Snapshot, None),
        (CollectionKind::Delta { since }, Some("2026-05-01T00:00:00Z")),
    ] {
        for track in [StateTracking::Nothing, StateTracking::State] {
            let header = CollectionHeader { kind, ..header() };
            let path = folder.path().join("out.scp");
            let mut writer =
                CollectionWriter::with_header(folder.path(), track, &header, Limits::SPEC).unwrap();
            writer.page(&serde_json::from_str::<Page<'_>>(&page(1, 1)).unwrap()).unwrap();
            let spooled = writer.close().unwrap();
            spooled.finish(header, &[OutputTarget::from_file_name(&path).unwrap()]).unwrap();
            let bytes = fs::read(&path).unwrap();
            let collection = line_1(&bytes)["collection"].clone();
            assert_eq!(collection.get("since").and_then(|since| since.as_str()), wanted);
            assert_eq!(collection["type"], kind.name());
            let (_, findings, receipt) = read_bytes(&bytes);
            assert_eq!((receipt.unwrap().header.kind, findings.len()), (kind, 0));
        }
    }
}

#[test] // SCP-014
fn since_of_a_foreign_snapshot_is_not_written_again() {
    let text = snapshot(&sample(1));
    let (first, rest) = text.split_once('\n').unwrap();
    let mut first: serde_json::Value = serde_json::from_str(first).unwrap();
    let collection = first["collection"].as_object_mut().unwrap();
    collection.remove("checksum");
    collection.insert("since".to_owned(), "2026-01-01T00:00:00Z".into());
    let (_, findings, receipt) = read_bytes(format!("{first}\n{rest}").as_bytes());
    let header = receipt.unwrap().header;
    assert!(findings.iter().any(|finding| *finding.rule == rules::SINCE_ON_SNAPSHOT));
    assert_eq!(header.kind, CollectionKind::Snapshot);
    assert!(!header.to_line().contains("since"), "{}", header.to_line());
}

#[test] // SCP-077 SCP-080
fn pack_refuses_urls_that_are_no_uris_or_escapes_them() {
    let line = page(1, 1);
    let url = serde_json::from_str::<Page<'_>>(&line).unwrap().url.as_str().to_owned();
    for (odd, uri) in [
        ("https://h.example/a b", "https://h.example/a%20b"),
        ("https://h.example/%zz", "https://h.example/%25zz"),
        ("https://h.example/<x>", "https://h.example/%3Cx%3E"),
        ("https://h.example/ä", "https://h.example/%C3%A4"),
        ("HTTP://h.example/", "http://h.example/"),
        ("https://h.example/a|b", "https://h.example/a%7Cb"),
    ] {
        let odd_line = line.replace(&url, odd);
        match pack_lines(&odd_line, Strictness::Strict, InputOrder::Sort) {
            Err(MergeError::Read(0, ReadError::Refused(refusal))) => {
                assert_eq!(refusal.rule.code, "SC029", "{odd}");
            }
            other => panic!("{odd}: {other:?}"),
        }
        let bytes = pack_lines(&odd_line, Strictness::Lenient, InputOrder::Sort).unwrap();
        let (lines, findings, receipt) = read_bytes(&bytes);
        assert!(receipt.is_ok() && findings.is_empty(), "{findings:?}");
        assert!(lines[0].contains(&format!("\"url\":\"{uri}\"")), "{}", lines[0]);
    }
}
