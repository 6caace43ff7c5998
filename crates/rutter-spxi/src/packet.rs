//! Page packets (D68): what the index says of an entity, and more, at an
//! address that follows from its page's.

use rutter_finding::{FindingSink, Place, Refusal, quoted};

use crate::address::page_key;
use crate::graph::{Graph, Held};
use crate::index::{Entity, Kernel, Modified};
use crate::json;
use crate::read::{EntitySeen, KernelSeen, LARGEST_PACKET, Walk};
use crate::rules;

/// A packet.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Packet {
    /// Its own address (`@id`).
    pub id: Option<String>,
    /// The page it is about (`url`).
    pub page: Option<String>,
    /// The index (`isPartOf`).
    pub index: Option<String>,
    /// `dateModified`
    pub modified: Option<Modified>,
    /// The entities (`spxi:about`); what the index says of them, it says here, too.
    pub about: Vec<Entity>,
    /// `spxi:holographicKernel`
    pub kernel: Option<Kernel>,
    /// `spxi:faq`
    pub questions: Vec<Question>,
}

/// A question and what the owner answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Question {
    /// The question.
    pub question: String,
    /// The answer.
    pub answer: String,
}

/// The packet that is asked for. Where both are `None`, any is taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asked<'a> {
    /// The page it is about.
    pub page: Option<&'a str>,
    /// Where it was found.
    pub packet: Option<&'a str>,
}

/// Reads a packet, of the specification's class or of the other form that
/// pages publish, an entity alone. Anything else is refused, and so is a packet
/// of another page: many hosts answer every address with something.
///
/// ```
/// # use rutter_spxi::{Asked, read_packet};
/// let text = r#"{"@context": {"@vocab": "https://schema.org/",
///         "mp": "https://metadatapacket.org/vocabulary#"},
///     "@type": ["Person", "mp:IndexedEntity"], "@id": "https://harbour.example/ida",
///     "name": "Ida Holm", "mp:negativeTag": ["NOT the actress"],
///     "mp:semanticIntegrityMarker": ["keeper of the North Light", "wrote the tide book"]}"#;
/// let asked = Asked { page: Some("https://harbour.example/ida"), packet: None };
/// let packet = read_packet(text.as_bytes(), &asked, &mut ()).unwrap();
/// assert_eq!(packet.about[0].entity_type.as_deref(), Some("Person"));
/// let other = Asked { page: Some("https://harbour.example/bo"), packet: None };
/// assert!(read_packet(text.as_bytes(), &other, &mut ()).is_err());
/// ```
pub fn read_packet(
    bytes: &[u8],
    asked: &Asked<'_>,
    sink: &mut dyn FindingSink,
) -> Result<Packet, Refusal> {
    let document = json::parse(bytes, LARGEST_PACKET, sink)?;
    let graph = Graph::build(&document, &rules::PACKET_CONTEXT_REMOTE, sink);
    Ok(packet_of(&graph, asked, sink)?.0)
}

/// Where the parts of a packet stand.
#[derive(Debug, Default)]
pub(crate) struct PacketSeen {
    pub(crate) entities: Vec<EntitySeen>,
    pub(crate) kernel: KernelSeen,
}

/// Finds the packet in a document and takes it over.
pub(crate) fn packet_of(
    graph: &Graph<'_>,
    asked: &Asked<'_>,
    sink: &mut dyn FindingSink,
) -> Result<(Packet, PacketSeen), Refusal> {
    let of_class = |classes: &[&str]| {
        let is_of = |idx: &usize| {
            graph.node(*idx).is_some_and(|node| classes.iter().any(|class| node.is_a(class)))
        };
        graph.tops.iter().copied().find(is_of)
    };
    let whole = of_class(&["spxi:PagePacket"]);
    let found = whole.or_else(|| of_class(&["spxi:IndexedEntity", "mp:IndexedEntity"]));
    let Some((idx, root)) = found.and_then(|idx| Some((idx, graph.node(idx)?))) else {
        return Err(Refusal::new(&rules::NOT_A_PACKET, Place::WHOLE, ""));
    };
    let mut walk = Walk::new(graph, sink);
    let id = root.id.as_ref().map(|(id, _)| id.to_string());
    let urls: Vec<String> = walk.addresses(root, "url").into_iter().map(|(url, _)| url).collect();
    let own: Vec<&str> = id.iter().chain(&urls).map(String::as_str).collect();
    if own.is_empty() {
        walk.report(&rules::PACKET_ID_MISSING, root.at, "");
    }
    let wanted: Vec<&str> = asked.page.into_iter().chain(asked.packet).collect();
    let is_same = |one: &str, other: &str| {
        one == other || page_key(one).is_some_and(|key| Some(key) == page_key(other))
    };
    let is_asked = own.iter().any(|own| wanted.iter().any(|wanted| is_same(own, wanted)));
    if !is_asked && !wanted.is_empty() {
        let shown: Vec<String> = own.iter().take(3).map(|own| quoted(own)).collect();
        let place = graph.place(root.at);
        return Err(Refusal::new(&rules::PACKET_OF_ANOTHER, place, shown.join(", ")));
    }
    let page = urls.iter().find(|url| asked.page.is_some_and(|page| is_same(url, page)));
    let page = page.or(urls.first()).cloned();
    let mut seen = PacketSeen::default();
    let mut packet = Packet { id, page, modified: walk.modified(root).0, ..Packet::default() };
    let entities = match whole {
        Some(_) => walk.objects(root, "spxi:about", "spxi:IndexedEntity"),
        None => {
            packet.page = packet.page.or_else(|| packet.id.clone());
            vec![idx]
        }
    };
    for idx in entities {
        if let Some((entity, entity_seen)) = walk.entity(idx) {
            packet.about.push(entity);
            seen.entities.push(entity_seen);
        }
    }
    if whole.is_some() {
        packet.index = walk.address(root, "isPartOf").map(|(text, _)| text);
    }
    let kernel = root.member("spxi:holographicKernel").and_then(|member| member.items.first());
    if let Some(Held::Node(idx)) = kernel.map(|item| &item.value)
        && let Some(node) = graph.node(*idx)
    {
        let (kernel, kernel_seen) = walk.kernel(node);
        packet.kernel = Some(kernel);
        seen.kernel = kernel_seen;
    }
    packet.questions = questions(&mut walk, graph, root);
    Ok((packet, seen))
}

fn questions<'g, 'v>(
    walk: &mut Walk<'g, 'v, '_>,
    graph: &'g Graph<'v>,
    root: &'g crate::graph::Node<'v>,
) -> Vec<Question> {
    let mut found = Vec::new();
    for item in root.member("spxi:faq").map_or(&[][..], |member| &member.items) {
        let Held::Node(idx) = &item.value else {
            walk.report(&rules::MEMBER_FORM, item.at, "an object is expected");
            continue;
        };
        let Some(node) = graph.node(*idx) else { continue };
        let answer = node.member("acceptedAnswer").and_then(|member| member.items.first());
        let answer = match answer.map(|item| &item.value) {
            Some(Held::Node(idx)) => graph.node(*idx).and_then(|it| walk.text(it, "text")),
            _ => None,
        };
        match (walk.text(node, "name"), answer) {
            (Some((question, _)), Some((answer, _))) => found.push(Question { question, answer }),
            _ => {
                walk.report(&rules::MEMBER_FORM, node.at, "a question and its answer are expected");
            }
        }
    }
    found
}
