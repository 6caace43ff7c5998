//! Property tests: data that was written and read again is unchanged.

use proptest::prelude::*;
use rutter_finding::Finding;
use rutter_page::{JsonTree, Timestamp};

use crate::{
    BasinState, CheckInput, Collision, CollisionRisk, Entity, IndexWriter, Kernel, MetadataPacket,
    ModifiedDate, PROTOCOL, PacketQuestion, PacketSelector, Party, SemanticIndex, Surface,
    SurfaceDetail, VerificationLevel, check_index, check_packet, read_index, read_packet,
};

/// Generates a text that is not blank, because blank texts count as missing.
fn text() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9 \"\\\\/:@#\u{e9}\u{706f}\u{1f56f}\n\t.,-]{0,12}[a-z]"
}

fn address() -> impl Strategy<Value = String> {
    "(https://harbour\\.example/[a-z]{1,8}(#[a-z]{1,3})?|10\\.5555/[a-z]{1,4})"
}

fn modified() -> impl Strategy<Value = ModifiedDate> {
    (0_i64..4_000_000_000, any::<bool>()).prop_map(|(seconds, is_day)| {
        let seconds = if is_day { seconds - seconds % 86_400 } else { seconds };
        ModifiedDate { time: Timestamp::from_unix_seconds(seconds).unwrap(), is_day }
    })
}

fn pick<T: Copy + std::fmt::Debug + 'static>(
    all: &'static [T],
) -> impl Strategy<Value = Option<T>> {
    prop::option::of(prop::sample::select(all))
}

fn party() -> impl Strategy<Value = Party> {
    let option = || prop::option::of(text());
    (text(), option(), prop::option::of(address()), prop::option::of(address())).prop_map(
        |(name, identifier, id, url)| Party {
            kind: Some("Organization".to_owned()),
            id,
            name: Some(name),
            url,
            identifier,
        },
    )
}

fn kernel() -> impl Strategy<Value = Kernel> {
    (prop::option::of(text()), prop::option::of(address()))
        .prop_map(|(summary, specification)| Kernel { summary, specification })
}

fn collision() -> impl Strategy<Value = Collision> {
    (prop::option::of(text()), prop::option::of(text()), pick(CollisionRisk::ALL))
        .prop_map(|(with, attribute, risk)| Collision { with, attribute, risk })
}

fn extra() -> impl Strategy<Value = Vec<(String, JsonTree)>> {
    let value = prop_oneof![
        text().prop_map(JsonTree::text),
        Just(JsonTree::Bool(true)),
        Just(JsonTree::Number("1.50".to_owned())),
        Just(JsonTree::List(vec![JsonTree::text("a"), JsonTree::Number("2".to_owned())])),
        Just(JsonTree::List(vec![JsonTree::text("alone")])),
        text().prop_map(|it| JsonTree::Map(vec![
            ("@type".to_owned(), JsonTree::text("Person")),
            ("@id".to_owned(), JsonTree::text("https://harbour.example/ida")),
            ("spxi:relation".to_owned(), JsonTree::text(it)),
        ])),
    ];
    let names = prop::sample::select(vec![
        "mp:status",
        "spxi:entityGraph",
        "about",
        "https://own.example/x",
    ]);
    prop::option::of((names, value))
        .prop_map(|one| one.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn entity() -> impl Strategy<Value = Entity> {
    let texts = || prop::collection::vec(text(), 0..3);
    let option = || prop::option::of(text());
    (
        (prop::option::of(address()), option(), option(), texts(), option(), texts(), texts()),
        (pick(BasinState::ALL), prop::option::of(0.0..=1.0_f64), pick(VerificationLevel::ALL)),
        (
            prop::option::of(address()),
            prop::collection::vec(collision(), 0..3),
            prop::collection::vec(address(), 0..3),
            texts(),
            extra(),
        ),
    )
        .prop_map(|(identity, measures, rest)| {
            let (id, entity_type, name, alternate_names, description, tags, markers) = identity;
            let (basin_state, bdr, verification) = measures;
            let (packet_ref, collisions, same_as, identifiers, extra) = rest;
            Entity {
                id,
                entity_type,
                name,
                alternate_names,
                description,
                negative_tags: tags,
                markers,
                basin_state,
                bdr,
                verification,
                packet_ref,
                collisions,
                same_as,
                identifiers,
                extra,
            }
        })
}

fn surface() -> impl Strategy<Value = Surface> {
    let option = || prop::option::of(text());
    let protects = prop::collection::vec(address(), 0..2);
    (
        prop::option::of(address()),
        option(),
        option(),
        option(),
        protects,
        prop::option::of(modified()),
    )
        .prop_map(|(id, name, surface_type, function, protects, modified)| Surface {
            id,
            name,
            surface_type,
            function,
            protects,
            modified,
        })
}

fn index() -> impl Strategy<Value = SemanticIndex> {
    let option = || prop::option::of(text());
    (
        (prop::option::of(address()), option(), prop::option::of(modified()), option(), option()),
        (prop::option::of(party()), prop::option::of(party()), prop::option::of(kernel())),
        prop::collection::vec(address(), 0..3),
        prop::collection::vec(entity(), 0..4),
        prop::collection::vec(surface(), 0..4),
        extra(),
    )
        .prop_map(|(head, parties, same_as, entities, surfaces, extra)| {
            let (id, name, modified, protocol_doi, license) = head;
            let (publisher, author, kernel) = parties;
            SemanticIndex {
                id,
                name,
                modified,
                protocol_version: Some(PROTOCOL.to_owned()),
                protocol_doi,
                publisher,
                author,
                license,
                same_as,
                kernel,
                entities,
                surfaces,
                extra,
            }
        })
}

proptest! {
    #[test] // SPX-001, SPX-020, SPX-027, SPX-028, SPX-033, SPX-063
    fn written_index_reads_back_unchanged(index in index()) {
        let written = IndexWriter::new(index.clone()).finish(index.modified);
        prop_assert_eq!(written.kept, SurfaceDetail::Everything);
        let read = read_index(&written.bytes, &mut ()).expect("written data is readable");
        prop_assert_eq!(&read, &index);
        // Reader and checker agree, and the JSON-LD processor accepts the documents of this crate.
        let mut findings: Vec<Finding> = Vec::new();
        let judged = check_index(&written.bytes, &CheckInput::default(), &mut findings).expect("read");
        prop_assert_eq!(judged.index, index);
        prop_assert!(judged.n_statements.is_some(), "{:?}", findings);
    }

    #[test] // SPX-014
    fn written_packet_reads_back_unchanged(
        about in prop::collection::vec(entity(), 0..3),
        kernel in prop::option::of(kernel()),
        questions in prop::collection::vec((text(), text()), 0..3),
        modified in prop::option::of(modified()),
    ) {
        let questions = questions.into_iter();
        let packet = MetadataPacket {
            id: Some("https://harbour.example/a/spxi-packet.jsonld".to_owned()),
            page: Some("https://harbour.example/a".to_owned()),
            index: Some("https://harbour.example/spxi-index.jsonld".to_owned()),
            modified,
            // A packet also states the type of an entity by its class.
            about: about.into_iter().map(|it| Entity { entity_type: Some("Place".to_owned()), ..it }).collect(),
            kernel,
            questions: questions.map(|(question, answer)| PacketQuestion { question, answer }).collect(),
        };
        let written = packet.to_json();
        let asked = PacketSelector { page: Some("https://harbour.example/a#top"), packet: None };
        let read = read_packet(written.as_bytes(), &asked, &mut ()).expect("written data is readable");
        prop_assert_eq!(&read, &packet);
        let judged = check_packet(written.as_bytes(), &asked, &CheckInput::default(), &mut ()).expect("read");
        prop_assert_eq!(judged, packet);
    }

    /// Arbitrary input causes no panic, and reader and checker agree.
    #[test]
    fn arbitrary_document_does_not_break_the_reader(tree in anything()) {
        let text = tree.to_json();
        let read = read_index(text.as_bytes(), &mut ());
        let judged = check_index(text.as_bytes(), &CheckInput::default(), &mut ());
        prop_assert_eq!(read.ok(), judged.ok().map(|it| it.index));
        drop(check_packet(text.as_bytes(), &PacketSelector::default(), &CheckInput::default(), &mut ()));
    }
}

/// Generates documents with known names in wrong positions.
fn anything() -> impl Strategy<Value = JsonTree> {
    const WORDS: [&str; 26] = [
        "@context",
        "@id",
        "@type",
        "@value",
        "@list",
        "@set",
        "@graph",
        "@vocab",
        "@base",
        "@container",
        "@language",
        "@index",
        "@none",
        "@reverse",
        "@included",
        "spxi",
        "spxi:SemanticIndex",
        "spxi:hasEntity",
        "spxi:siteKernel",
        "spxi:negativeTag",
        "spxi:bdrEstimate",
        "spxi:PagePacket",
        "spxi:about",
        "https://spxi.dev/vocabulary#",
        "a",
        "a:b",
    ];
    let leaf = prop_oneof![
        Just(JsonTree::Null),
        Just(JsonTree::Bool(true)),
        Just(JsonTree::Number("1e400".to_owned())),
        Just(JsonTree::Number("1".to_owned())),
        prop::sample::select(&WORDS[..]).prop_map(JsonTree::text),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(JsonTree::List),
            prop::collection::vec((prop::sample::select(&WORDS[..]), inner), 0..6).prop_map(
                |all| JsonTree::Map(
                    all.into_iter().map(|(key, it)| (key.to_owned(), it)).collect()
                )
            ),
        ]
    })
}
