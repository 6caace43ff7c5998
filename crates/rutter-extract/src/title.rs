//! Cleans page titles.
//!
//! Input: a title, the site name and the headings of the page. Output: the title without the site
//! name. Also decodes character references that were escaped twice.

/// Returns a title without the name of the site.
pub(crate) fn without_site(title: &str, site: Option<&str>, headings: &[String]) -> String {
    const SEPARATORS: [&str; 10] = [
        " | ",
        " \u{2013} ",
        " \u{2014} ",
        " - ",
        " :: ",
        " \u{bb} ",
        " \u{b7} ",
        " / ",
        " \u{2022} ",
        " : ",
    ];
    let key = |text: &str| {
        let text = text.trim_matches(|c: char| !c.is_alphanumeric() && c != ')' && c != '(');
        text.to_lowercase()
    };
    let is_site = |part: &str| site.is_some_and(|site| key(site) == key(part));
    let is_heading = |part: &str| headings.iter().any(|heading| key(heading) == key(part));
    if 500 < title.len() || is_heading(title) {
        return title.to_owned();
    }
    let cuts = SEPARATORS.iter().flat_map(|separator| title.match_indices(separator));
    let mut cuts: Vec<(usize, usize)> =
        cuts.map(|(at, separator)| (at, at + separator.len())).collect();
    cuts.sort_unstable();
    let halves = |&(at, behind): &(usize, usize)| {
        (title.get(..at).unwrap_or("").trim(), title.get(behind..).unwrap_or("").trim())
    };
    // Prefers the part of the title that is also a heading, but never the site name. The first part
    // takes precedence; a last part that is shorter than the rest is probably the site name.
    let firsts = cuts.iter().map(|cut| halves(cut).0);
    let lasts = cuts.iter().map(halves).filter(|(before, after)| before.len() <= after.len());
    let lasts = lasts.map(|(_, after)| after);
    if let Some(part) = firsts.chain(lasts).find(|part| is_heading(part) && !is_site(part)) {
        return part.to_owned();
    }
    for (before, after) in cuts.iter().map(halves) {
        if is_site(after) {
            return before.to_owned();
        }
        if is_site(before) {
            return after.to_owned();
        }
    }
    // A short last part is the site name if the part before it is long enough for a title.
    if let Some((before, after)) = cuts.last().map(halves) {
        let n_words = |text: &str| text.split_whitespace().count();
        if 3 <= n_words(before) && n_words(after) <= 4 && n_words(after) < n_words(before) {
            return before.to_owned();
        }
    }
    title.to_owned()
}

/// Decodes character references that were escaped twice.
pub(crate) fn unescape(text: &str) -> String {
    if !text.contains('&') {
        return text.trim().to_owned();
    }
    let mut out = text.to_owned();
    for (from, to) in [
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#039;", "'"),
        ("&apos;", "'"),
        ("&#8217;", "\u{2019}"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ] {
        if out.contains(from) {
            out = out.replace(from, to);
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::without_site;

    #[test]
    fn title_loses_the_site_name() {
        let bare = |title: &str, site: Option<&str>, headings: &[&str]| {
            let headings: Vec<String> =
                headings.iter().map(|&heading| heading.to_owned()).collect();
            without_site(title, site, &headings)
        };
        assert_eq!(bare("Opening hours | Museum", Some("museum"), &[]), "Opening hours");
        assert_eq!(bare("Museum - Opening hours", Some("Museum"), &[]), "Opening hours");
        assert_eq!(
            bare("Reefing \u{2014} Sailor's manual 2.0", None, &["Reefing\u{b6}"]),
            "Reefing"
        );
        assert_eq!(bare("Tides - The Book", None, &["The Book", "Tides"]), "Tides");
        assert_eq!(bare("How to reef a sail - The Harbour", None, &[]), "How to reef a sail");
        assert_eq!(bare("Ropes - Knots", None, &[]), "Ropes - Knots");
    }
}
