//! Formats the survival of markers as an SVG chart with one bar per step.
//!
//! The file is self-contained: no external resources, no scripts. Its colours follow the light or
//! dark mode of the viewer.

use std::fmt::Write;

use super::{KeptShare, PathStage, SiteSurvival};

const LEFT: usize = 90;
const WIDTH: usize = 400;
const ROW: usize = 26;
const TOP: usize = 44;
/// Maximum number of entities that get a chart of their own.
const MAX_ENTITY_CHARTS: usize = 24;

const STYLE: &str = "text{font:13px system-ui,sans-serif;fill:#1b1f24}.head{font-weight:600}\
.track{fill:#d9dee4}.bar{fill:#0969da}.none{fill:none;stroke:#8c959f;stroke-dasharray:3 3}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.track{fill:#30363d}.bar{fill:#4493f8}.none{stroke:#6e7681}}";

pub(super) fn of(all: &SiteSurvival) -> String {
    let shown = if 1 < all.entities.len() { all.entities.len().min(MAX_ENTITY_CHARTS) } else { 0 };
    let block = TOP + PathStage::ALL.len() * ROW + 10;
    let height = block * (1 + shown) + 10;
    let width = LEFT + WIDTH + 90;
    let title = match all.entities.as_slice() {
        [one] => format!("Markers of {} that survive", one.name),
        _ => format!("Markers of {} entities that survive", all.entities.len()),
    };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\" aria-labelledby=\"t d\">\n\
         <title id=\"t\">{}</title>\n<desc id=\"d\">{}</desc>\n<style>{STYLE}</style>\n",
        escaped(&title),
        escaped(&in_words(&|stage| all.share(stage)))
    );
    push_bars(0, &title, &|stage| all.share(stage), &mut out);
    for (n, entity) in all.entities.iter().take(shown).enumerate() {
        push_bars((n + 1) * block, &entity.name, &|stage| entity.share(stage), &mut out);
    }
    out.push_str("</svg>\n");
    out
}

fn push_bars(
    top: usize,
    title: &str,
    share: &dyn Fn(PathStage) -> Option<KeptShare>,
    out: &mut String,
) {
    let title: String = title.chars().take(72).collect();
    let mut put = |line: std::fmt::Arguments<'_>| {
        out.write_fmt(line).expect("writing to a string never fails");
    };
    put(format_args!(
        "<text class=\"head\" x=\"10\" y=\"{}\">{}</text>\n",
        top + 26,
        escaped(&title)
    ));
    for (n, stage) in PathStage::ALL.iter().enumerate() {
        let y = top + TOP + n * ROW;
        put(format_args!("<text x=\"10\" y=\"{}\">{}</text>\n", y + 13, stage.word()));
        let class = if share(*stage).is_some() { "track" } else { "none" };
        put(format_args!(
            "<rect class=\"{class}\" x=\"{LEFT}\" y=\"{y}\" width=\"{WIDTH}\" height=\"16\" rx=\"3\"/>\n"
        ));
        let x = LEFT + WIDTH + 10;
        match share(*stage) {
            Some(share) => {
                let length = (WIDTH * share.kept).checked_div(share.of).unwrap_or(WIDTH);
                if length != 0 {
                    put(format_args!(
                        "<rect class=\"bar\" x=\"{LEFT}\" y=\"{y}\" width=\"{length}\" height=\"16\" rx=\"3\"/>\n"
                    ));
                }
                put(format_args!("<text x=\"{x}\" y=\"{}\">{share}</text>\n", y + 13));
            }
            None => put(format_args!("<text x=\"{x}\" y=\"{}\">none</text>\n", y + 13)),
        }
    }
}

fn in_words(share: &dyn Fn(PathStage) -> Option<KeptShare>) -> String {
    let words = PathStage::ALL.iter().map(|stage| match share(*stage) {
        Some(share) => format!("{} {} of {}", stage.word(), share.kept, share.of),
        None => format!("{} does not exist", stage.word()),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Escapes a text for XML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in rutter_finding::visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => {}
            c => out.push(c),
        }
    }
    out
}
