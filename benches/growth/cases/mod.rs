//! Every parser with its worst cases.

mod data;
mod linked;
mod page;
mod privacy;
mod small;

use crate::{Reader, readers, serving};

/// Returns all parsers.
pub(crate) const ALL: &[Reader] = &[
    Reader { name: "html", read: readers::page, cases: page::HTML },
    Reader { name: "template", read: readers::template, cases: page::TEMPLATE },
    Reader { name: "markdown", read: readers::markdown_page, cases: page::MARKDOWN },
    Reader { name: "privacy", read: readers::privacy, cases: privacy::PRIVACY },
    Reader { name: "page-line", read: readers::page_line, cases: data::PAGE_LINE },
    Reader { name: "collection", read: readers::collection, cases: data::COLLECTION },
    Reader { name: "sitemap", read: readers::sitemap_xml, cases: data::SITEMAP },
    Reader { name: "robots", read: readers::robots, cases: small::ROBOTS },
    Reader { name: "llms", read: readers::llms_txt, cases: small::LLMS },
    Reader { name: "arc-json", read: readers::arc_json, cases: data::ARC_JSON },
    Reader { name: "arc-yaml", read: readers::arc_yaml, cases: data::ARC_YAML },
    Reader { name: "arc-policy", read: readers::arc_policy, cases: data::ARC_POLICY },
    Reader { name: "spxi-index", read: readers::spxi_index, cases: linked::SPXI },
    Reader { name: "spxi-packet", read: readers::spxi_packet, cases: linked::SPXI },
    Reader { name: "response", read: readers::response_fields, cases: small::FIELDS },
    Reader { name: "request", read: serving::request, cases: small::REQUEST },
    Reader { name: "access-log", read: readers::access_log, cases: small::LOG },
    Reader { name: "url", read: readers::url, cases: small::URL },
    Reader { name: "scope", read: readers::scope, cases: small::SCOPE },
    Reader { name: "query", read: readers::query, cases: small::QUERY },
    Reader { name: "terminal", read: readers::terminal, cases: small::TERMINAL },
    Reader { name: "report", read: readers::report, cases: small::REPORT },
    Reader { name: "markers", read: readers::markers, cases: small::MARKERS },
];
