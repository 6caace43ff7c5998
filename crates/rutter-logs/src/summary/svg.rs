//! For reports: one bar for each AI agent, in parts by what it read.
//!
//! The file needs nothing else: colours for light and dark are in it, fonts
//! are the reader's own, there is no script. Whoever cannot see it gets a
//! title, a description with the figures, and a title on every part.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Cell, Row, Summary, bytes};
use crate::artefact::Artefact;

/// Agents that have a bar; those with fewer requests are named together.
const MOST: usize = 20;
const WIDTH: u64 = 800;
const LEFT: u64 = 190;
const RIGHT: u64 = 90;
const BAR: u64 = 26;

/// Families of artefacts, each with a colour for light and for dark.
const GROUPS: [(&str, &str, &str, &[Artefact]); 6] = [
    ("pages", "#3b6ea8", "#7fb0e6", &[Artefact::Page]),
    ("markdown, llms.txt", "#2f8f6b", "#6fd0aa", &[Artefact::Markdown, Artefact::Llms]),
    ("collections", "#b5542f", "#f0976f", &[Artefact::ScpSnapshot, Artefact::ScpDelta]),
    (
        "arc, spxi",
        "#8a5aa8",
        "#c79be3",
        &[
            Artefact::ArcSitemap,
            Artefact::ArcDelta,
            Artefact::ArcPolicy,
            Artefact::ArcApi,
            Artefact::SpxiIndex,
            Artefact::SpxiPacket,
        ],
    ),
    (
        "sitemap, robots.txt, feed",
        "#a88a1f",
        "#e0c45a",
        &[Artefact::Sitemap, Artefact::Robots, Artefact::Feed],
    ),
    ("other files", "#7a7a7a", "#a9a9a9", &[Artefact::Asset, Artefact::Other]),
];

/// The chart as one SVG document.
pub fn chart(summary: &Summary) -> String {
    let shown = summary.agents.get(..MOST).unwrap_or(&summary.agents);
    let rest = summary.agents.get(shown.len()..).unwrap_or_default();
    let groups: BTreeSet<usize> = shown
        .iter()
        .flat_map(|row| &row.cells)
        .filter_map(|cell| GROUPS.iter().position(|group| group.3.contains(&cell.artefact)))
        .collect();
    let top = 76;
    let n_lines = shown.len().max(1) as u64 + u64::from(!rest.is_empty());
    let height = top + n_lines * BAR + 24;
    let mut out = String::new();
    put(
        &mut out,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" role=\"img\" aria-labelledby=\"title desc\">\n"
        ),
    );
    let span = summary.span.map_or(String::new(), |(first, last)| format!(", {first} to {last}"));
    put(
        &mut out,
        format_args!("<title id=\"title\">Requests of AI agents{}</title>\n", escaped(&span)),
    );
    put(&mut out, format_args!("<desc id=\"desc\">{}</desc>\n", escaped(&description(shown))));
    style(&mut out);
    put(&mut out, format_args!("<rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\"/>\n"));
    put(
        &mut out,
        format_args!(
            "<text class=\"head\" x=\"16\" y=\"28\">Requests of AI agents{}</text>\n",
            escaped(&span)
        ),
    );
    legend(&mut out, &groups);
    let most = shown.iter().map(Row::requests).max().unwrap_or(0).max(1);
    for (idx, row) in (0..).zip(shown) {
        bar(&mut out, row, top + idx * BAR, most);
    }
    let below = top + shown.len() as u64 * BAR + 17;
    if shown.is_empty() {
        put(&mut out, format_args!("<text x=\"16\" y=\"{below}\">none came</text>\n"));
    }
    if !rest.is_empty() {
        let requests: u64 = rest.iter().map(Row::requests).sum();
        put(
            &mut out,
            format_args!(
                "<text x=\"16\" y=\"{below}\">and {} more with {requests} requests</text>\n",
                rest.len()
            ),
        );
    }
    out.push_str("</svg>\n");
    out
}

fn style(out: &mut String) {
    out.push_str("<style>\ntext{font:13px system-ui,sans-serif;fill:#1b1b1b}.head{font-size:16px;font-weight:600}\n");
    out.push_str(".paper{fill:#ffffff}.end{text-anchor:end}\n");
    for (idx, (_, light, _, _)) in GROUPS.iter().enumerate() {
        put(out, format_args!(".g{idx}{{fill:{light}}}"));
    }
    out.push_str("\n@media (prefers-color-scheme:dark){text{fill:#ececec}.paper{fill:#16181c}");
    for (idx, (_, _, dark, _)) in GROUPS.iter().enumerate() {
        put(out, format_args!(".g{idx}{{fill:{dark}}}"));
    }
    out.push_str("}\n</style>\n");
}

fn legend(out: &mut String, groups: &BTreeSet<usize>) {
    let mut x = 16;
    for idx in groups {
        let Some((name, ..)) = GROUPS.get(*idx) else { continue };
        put(
            out,
            format_args!(
                "<rect class=\"g{idx}\" x=\"{x}\" y=\"44\" width=\"12\" height=\"12\"/><text x=\"{}\" y=\"55\">{}</text>\n",
                x + 17,
                escaped(name)
            ),
        );
        x += 38 + name.len() as u64 * 7;
    }
}

fn bar(out: &mut String, row: &Row, y: u64, most: u64) {
    let requests = row.requests();
    let room = WIDTH - LEFT - RIGHT;
    put(
        out,
        format_args!(
            "<text class=\"end\" x=\"{}\" y=\"{}\">{}</text>\n",
            LEFT - 10,
            y + 16,
            escaped(row.name)
        ),
    );
    let mut before = 0;
    for (idx, (group, _, _, kinds)) in GROUPS.iter().enumerate() {
        let cells: Vec<&Cell> =
            row.cells.iter().filter(|cell| kinds.contains(&cell.artefact)).collect();
        let n: u64 = cells.iter().map(|cell| cell.requests).sum();
        if n == 0 {
            continue;
        }
        // Edges are rounded, not widths, so that the parts meet.
        let at = |n: u64| u128::from(room) * u128::from(n) * 10 / u128::from(most);
        let (from, to) = (at(before), at(before + n));
        let size = bytes(cells.iter().map(|cell| cell.bytes).sum());
        put(
            out,
            format_args!(
                "<rect class=\"g{idx}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>\n",
                tenths(u128::from(LEFT) * 10 + from),
                y + 3,
                tenths((to - from).max(5)),
                BAR - 8,
                escaped(&format!("{}, {group}: {n} requests, {size}", row.name))
            ),
        );
        before += n;
    }
    let end = u128::from(LEFT) + u128::from(room) * u128::from(requests) / u128::from(most) + 8;
    put(out, format_args!("<text x=\"{end}\" y=\"{}\">{requests}</text>\n", y + 16));
}

fn tenths(n: u128) -> String {
    if n.is_multiple_of(10) { (n / 10).to_string() } else { format!("{}.{}", n / 10, n % 10) }
}

/// The figures in words.
fn description(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        let parts: Vec<String> = row
            .cells
            .iter()
            .map(|cell| format!("{} {}", cell.requests, cell.artefact.name()))
            .collect();
        put(&mut text, format_args!("{}: {}. ", row.name, parts.join(", ")));
    }
    text.trim_end().to_owned()
}

/// Text that cannot become markup; control characters are left out, because
/// XML has no place for them.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// Writes into memory, which takes everything.
fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("memory takes everything");
}

#[cfg(test)]
mod tests {
    use super::{GROUPS, escaped};
    use crate::artefact::Artefact;

    #[test]
    fn ours_text_cannot_become_markup() {
        assert_eq!(escaped("<a href=\"x\">&\u{1b}"), "&lt;a href=&quot;x&quot;&gt;&amp;");
    }

    #[test]
    fn ours_every_artefact_has_one_colour() {
        for artefact in Artefact::ALL {
            let n = GROUPS.iter().filter(|group| group.3.contains(&artefact)).count();
            assert_eq!(n, 1, "{}", artefact.name());
        }
    }
}
