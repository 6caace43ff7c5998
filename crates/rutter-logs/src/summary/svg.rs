//! SVG output of a [`LogSummary`]: one bar per AI agent, divided by the kinds of artifacts that the
//! agent requested.
//!
//! The SVG file is self-contained: it has colors for light and dark mode, uses system fonts and has
//! no scripts. For screen readers, the file has a title, a description with the figures, and a
//! title on every part of a bar.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{ArtifactCounts, ClientRow, LogSummary, bytes};
use crate::artifact::Artifact;

/// Maximum number of AI agents with a bar; the chart sums up further agents in one line.
const MOST: usize = 20;
const WIDTH: u64 = 800;
const LEFT: u64 = 190;
const RIGHT: u64 = 90;
const BAR: u64 = 26;

/// Groups of artifacts: name, color for light mode, color for dark mode, kinds of artifacts.
const GROUPS: [(&str, &str, &str, &[Artifact]); 6] = [
    ("pages", "#3b6ea8", "#7fb0e6", &[Artifact::Page]),
    ("markdown, llms.txt", "#2f8f6b", "#6fd0aa", &[Artifact::Markdown, Artifact::Llms]),
    ("collections", "#b5542f", "#f0976f", &[Artifact::ScpSnapshot, Artifact::ScpDelta]),
    (
        "arc, spxi",
        "#8a5aa8",
        "#c79be3",
        &[
            Artifact::ArcSitemap,
            Artifact::ArcDelta,
            Artifact::ArcPolicy,
            Artifact::ArcApi,
            Artifact::SpxiIndex,
            Artifact::SpxiPacket,
        ],
    ),
    (
        "sitemap, robots.txt, feed",
        "#a88a1f",
        "#e0c45a",
        &[Artifact::Sitemap, Artifact::Robots, Artifact::Feed],
    ),
    ("other files", "#7a7a7a", "#a9a9a9", &[Artifact::Asset, Artifact::Other]),
];

/// Returns the chart as an SVG document.
pub fn chart(summary: &LogSummary) -> String {
    let shown = summary.agents.get(..MOST).unwrap_or(&summary.agents);
    let rest = summary.agents.get(shown.len()..).unwrap_or_default();
    let groups: BTreeSet<usize> = shown
        .iter()
        .flat_map(|row| &row.cells)
        .filter_map(|cell| GROUPS.iter().position(|group| group.3.contains(&cell.artifact)))
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
    let most = shown.iter().map(ClientRow::requests).max().unwrap_or(0).max(1);
    for (idx, row) in (0..).zip(shown) {
        bar(&mut out, row, top + idx * BAR, most);
    }
    let below = top + shown.len() as u64 * BAR + 17;
    if shown.is_empty() {
        put(&mut out, format_args!("<text x=\"16\" y=\"{below}\">no requests</text>\n"));
    }
    if !rest.is_empty() {
        let requests: u64 = rest.iter().map(ClientRow::requests).sum();
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

fn bar(out: &mut String, row: &ClientRow, y: u64, most: u64) {
    let requests = row.requests();
    let space = WIDTH - LEFT - RIGHT;
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
        let cells: Vec<&ArtifactCounts> =
            row.cells.iter().filter(|cell| kinds.contains(&cell.artifact)).collect();
        let n: u64 = cells.iter().map(|cell| cell.requests).sum();
        if n == 0 {
            continue;
        }
        // The code rounds the edges of the parts, not their widths, so that adjacent parts touch.
        let at = |n: u64| u128::from(space) * u128::from(n) * 10 / u128::from(most);
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
    let end = u128::from(LEFT) + u128::from(space) * u128::from(requests) / u128::from(most) + 8;
    put(out, format_args!("<text x=\"{end}\" y=\"{}\">{requests}</text>\n", y + 16));
}

fn tenths(n: u128) -> String {
    if n.is_multiple_of(10) { (n / 10).to_string() } else { format!("{}.{}", n / 10, n % 10) }
}

/// Returns the figures of the chart as text.
fn description(rows: &[ClientRow]) -> String {
    let mut text = String::new();
    for row in rows {
        let parts: Vec<String> = row
            .cells
            .iter()
            .map(|cell| format!("{} {}", cell.requests, cell.artifact.name()))
            .collect();
        put(&mut text, format_args!("{}: {}. ", row.name, parts.join(", ")));
    }
    text.trim_end().to_owned()
}

/// Escapes a text for XML, and omits control characters, because XML does not allow them.
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

/// Appends formatted text to `out`.
fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::{GROUPS, escaped};
    use crate::artifact::Artifact;

    #[test]
    fn escapes_markup() {
        assert_eq!(escaped("<a href=\"x\">&\u{1b}"), "&lt;a href=&quot;x&quot;&gt;&amp;");
    }

    #[test]
    fn every_artifact_has_one_color() {
        for artifact in Artifact::ALL {
            let n = GROUPS.iter().filter(|group| group.3.contains(&artifact)).count();
            assert_eq!(n, 1, "{}", artifact.name());
        }
    }
}
