//! Charts as inline SVG: sizes and ages of artifacts, survival of markers.
//!
//! Labels are HTML text next to the drawings, so that they stay readable on small
//! screens and for screen readers.

use std::io::{self, Write};

use crate::format::escape::html;
use crate::format::html::FileLabels;
use crate::overview::{EntitySurvival, Overview};

/// The maximum number of rows of a chart.
const MOST_ROWS: usize = 20;
/// The age in days above which crawlers reject a collection.
const OLD_DAYS: i64 = 400;

/// Returns the SVG of a bar that is filled by a share from 0 to 1.
pub(super) fn bar(share: f64) -> String {
    let width = (share.clamp(0.0, 1.0) * 1000.0).round() / 10.0;
    format!(
        "<svg class=\"bar\" viewBox=\"0 0 100 1\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
         <rect class=\"ground\" width=\"100\" height=\"1\"/><rect class=\"fill\" width=\"{width}\" height=\"1\"/></svg>"
    )
}

/// Writes all charts for which there is data.
pub(super) fn write(
    out: &mut dyn Write,
    overview: &Overview,
    labels: &FileLabels<'_>,
) -> io::Result<()> {
    sizes(out, overview, labels)?;
    ages(out, overview, labels)?;
    survival(out, &overview.survival)
}

struct ChartRow {
    name: String,
    share: f64,
    value: String,
    tone: &'static str,
}

fn write_chart(
    out: &mut dyn Write,
    (id, title): (&str, &str),
    about: &str,
    rows: &[ChartRow],
) -> io::Result<()> {
    writeln!(
        out,
        "<section id=\"{id}\">\n<h2>{title}</h2>\n<p class=\"aside\">{about}</p>\n<ul class=\"chart\">"
    )?;
    for row in rows.iter().take(MOST_ROWS) {
        writeln!(
            out,
            "<li class=\"{}\"><span class=\"name\">{}</span>{}<span class=\"value\">{}</span></li>",
            row.tone,
            html(&row.name),
            bar(row.share),
            html(&row.value),
        )?;
    }
    writeln!(out, "</ul>")?;
    if MOST_ROWS < rows.len() {
        writeln!(out, "<p class=\"aside\">{} more not shown.</p>", rows.len() - MOST_ROWS)?;
    }
    writeln!(out, "</section>")
}

fn sizes(out: &mut dyn Write, overview: &Overview, labels: &FileLabels<'_>) -> io::Result<()> {
    let mut sizes: Vec<_> = overview.sizes.iter().collect();
    let Some(largest) = sizes.iter().map(|size| size.bytes).max() else { return Ok(()) };
    sizes.sort_by_key(|size| std::cmp::Reverse(size.bytes));
    let rows: Vec<ChartRow> = sizes
        .into_iter()
        .map(|size| ChartRow {
            name: labels.of_path(&size.name).to_owned(),
            share: share(size.bytes, largest),
            value: bytes(size.bytes),
            tone: "plain",
        })
        .collect();
    write_chart(out, ("sizes", "Sizes"), "Size as transferred, largest first.", &rows)
}

fn ages(out: &mut dyn Write, overview: &Overview, labels: &FileLabels<'_>) -> io::Result<()> {
    let Some(now) = overview.now else { return Ok(()) };
    let mut ages: Vec<(i64, &str)> = overview
        .ages
        .iter()
        .map(|age| {
            let seconds = now.unix_seconds().saturating_sub(age.made.unix_seconds());
            (seconds.div_euclid(86_400), labels.of_path(&age.name))
        })
        .collect();
    let Some(oldest) = ages.iter().map(|(days, _)| (*days).max(1)).max() else { return Ok(()) };
    ages.sort_by_key(|(days, _)| std::cmp::Reverse(*days));
    let rows: Vec<ChartRow> = ages
        .into_iter()
        .map(|(days, name)| ChartRow {
            name: name.to_owned(),
            share: share(days.max(0).unsigned_abs(), oldest.unsigned_abs()),
            value: match days {
                ..0 => "in the future".to_owned(),
                0 => "today".to_owned(),
                1 => "1 day".to_owned(),
                days => format!("{days} days"),
            },
            tone: if (0..=OLD_DAYS).contains(&days) { "plain" } else { "warning" },
        })
        .collect();
    write_chart(
        out,
        ("freshness", "Freshness"),
        "Age by the date in the file, oldest first.",
        &rows,
    )
}

fn survival(out: &mut dyn Write, entities: &[EntitySurvival]) -> io::Result<()> {
    let mut steps: Vec<(&str, u64, u64)> = Vec::new();
    for (step, kept, of) in entities.iter().flat_map(|entity| &entity.steps) {
        match steps.iter_mut().find(|(name, _, _)| name == step) {
            Some(sum) => {
                sum.1 += kept;
                sum.2 += of;
            }
            None => steps.push((step, *kept, *of)),
        }
    }
    if steps.is_empty() {
        return Ok(());
    }
    let rows: Vec<ChartRow> = steps
        .iter()
        .map(|(step, kept, of)| ChartRow {
            name: (*step).to_owned(),
            share: share(*kept, *of),
            value: format!("{kept} of {of}"),
            tone: if kept < of { "warning" } else { "plain" },
        })
        .collect();
    let about = "Markers of all entities that survive each step from the HTML page to the kernel of the site.";
    write_chart(out, ("survival", "Survival of markers"), about, &rows)?;
    writeln!(out, "<section>\n<h3>By entity</h3>\n<ul class=\"strips\">")?;
    for entity in entities.iter().take(MOST_ROWS) {
        let words: Vec<String> =
            entity.steps.iter().map(|(step, kept, of)| format!("{step} {kept}/{of}")).collect();
        writeln!(
            out,
            "<li><span class=\"name\">{}</span>{}<span class=\"words\">{}</span></li>",
            html(&entity.entity),
            strip(entity),
            html(&words.join(" · ")),
        )?;
    }
    writeln!(out, "</ul>")?;
    if MOST_ROWS < entities.len() {
        writeln!(out, "<p class=\"aside\">{} more not shown.</p>", entities.len() - MOST_ROWS)?;
    }
    writeln!(out, "</section>")
}

/// Returns an SVG with one column per step; its height is the share of surviving markers.
fn strip(entity: &EntitySurvival) -> String {
    use std::fmt::Write as _;
    let n = entity.steps.len().max(1);
    let mut svg = format!(
        "<svg class=\"strip\" viewBox=\"0 0 {} 24\" preserveAspectRatio=\"none\" aria-hidden=\"true\">",
        n * 10
    );
    for (idx, (_, kept, of)) in entity.steps.iter().enumerate() {
        let (x, height) = (idx * 10, share(*kept, *of) * 24.0);
        let tone = if kept < of { "lost" } else { "fill" };
        let _ = write!(
            svg,
            "<rect class=\"ground\" x=\"{x}\" width=\"9\" height=\"24\"/>\
             <rect class=\"{tone}\" x=\"{x}\" y=\"{:.1}\" width=\"9\" height=\"{height:.1}\"/>",
            24.0 - height,
        );
    }
    svg.push_str("</svg>");
    svg
}

#[expect(clippy::cast_precision_loss, reason = "a drawing needs three digits")]
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn bytes(n: u64) -> String {
    let (mut value, mut unit) = (n as f64, "B");
    for larger in ["kB", "MB", "GB", "TB"] {
        if value < 1000.0 {
            break;
        }
        value /= 1000.0;
        unit = larger;
    }
    if unit == "B" { format!("{n} B") } else { format!("{value:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_sizes_with_units() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_250), "1.2 kB");
        assert_eq!(bytes(5_300_000_000), "5.3 GB");
    }

    #[test]
    fn clamps_share_to_the_bar() {
        assert!(bar(7.0).contains("width=\"100\""));
        assert!(bar(-1.0).contains("class=\"fill\" width=\"0\""));
        assert!(bar(f64::NAN).contains("class=\"fill\""));
    }
}
