//! The only door to the terminal: stdout is data, stderr is talk.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use rutter_build::BuildError;
use rutter_scp::{MergeError, ReadError};
use rutter_store::{OpenError, QueryError, Storage};

use crate::config::Fault;

/// Where everything goes that people and pipes get to see.
pub(crate) struct Output {
    data: BufWriter<AutoStream<io::Stdout>>,
    /// The same stream for lines whose every byte counts.
    exact: BufWriter<io::Stdout>,
    is_terminal: bool,
    chatter: Chatter,
    /// Takes the summary of a quiet run.
    nothing: io::Sink,
}

/// Whether progress and summaries are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chatter {
    Full,
    /// Only findings, warnings, errors and data.
    Quiet,
}

impl Output {
    pub(crate) fn new(chatter: Chatter) -> Self {
        Self {
            data: BufWriter::with_capacity(64 << 10, anstream::stdout()),
            exact: BufWriter::with_capacity(64 << 10, io::stdout()),
            is_terminal: io::stdout().is_terminal(),
            chatter,
            nothing: io::sink(),
        }
    }

    /// Whether progress and summaries are printed.
    pub(crate) fn chatter(&self) -> Chatter {
        self.chatter
    }

    /// The stream for a summary in prose; a quiet run discards it.
    pub(crate) fn summary(&mut self) -> &mut dyn Write {
        match self.chatter {
            Chatter::Full => self.data(),
            Chatter::Quiet => &mut self.nothing,
        }
    }

    /// The stream for data. Colours are stripped where they are not wanted.
    pub(crate) fn data(&mut self) -> &mut dyn Write {
        // The two buffers are of one stream; what was written first comes first.
        drop(self.exact.flush());
        &mut self.data
    }

    /// Writes JSON and a line end, byte for byte. On a terminal, characters
    /// that could steer it are written as escapes, which mean the same.
    pub(crate) fn exact(&mut self, json: &str) -> anyhow::Result<()> {
        self.data.flush()?;
        if self.is_terminal {
            writeln!(self.exact, "{}", escaped(json))?;
        } else {
            writeln!(self.exact, "{json}")?;
        }
        Ok(())
    }

    /// Writes foreign text. Piped it is exact, because it is data; on a
    /// terminal, characters that steer it or turn the direction of writing are
    /// shown as escapes such as `\u{202e}`.
    pub(crate) fn text(&mut self, text: &str) -> anyhow::Result<()> {
        self.data.flush()?;
        if self.is_terminal {
            self.exact.write_all(terminal_text(text).as_bytes())?;
        } else {
            self.exact.write_all(text.as_bytes())?;
        }
        Ok(())
    }

    /// Prints progress or a summary to stderr; a quiet run discards it.
    pub(crate) fn say(&mut self, text: impl std::fmt::Display) {
        if self.chatter == Chatter::Full {
            self.warn(text);
        }
    }

    /// Prints a finding, a warning or a hint to stderr, also in a quiet run.
    pub(crate) fn warn(&mut self, text: impl std::fmt::Display) {
        // Data first, so that the two streams read in the right order.
        drop(self.flush());
        drop(writeln!(anstream::stderr(), "{text}"));
    }

    /// Says what went wrong: one line, causes after colons, at most one hint.
    pub(crate) fn error(&mut self, error: &anyhow::Error) {
        let style = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
        self.warn(format_args!("{style}error:{style:#} {}", causes.join(": ")));
        if let Some(hint) = error.chain().find_map(hint) {
            self.warn(format_args!("hint: {hint}"));
        }
    }

    pub(crate) fn flush(&mut self) -> anyhow::Result<()> {
        self.exact.flush()?;
        Ok(self.data.flush()?)
    }
}

/// Shows how far several things are, one line each, where somebody watches.
#[derive(Debug)]
pub(crate) struct Progress {
    lines: indicatif::MultiProgress,
    by_name: Mutex<BTreeMap<String, indicatif::ProgressBar>>,
}

impl Progress {
    /// Draws on stderr if that is a terminal and the run is not quiet.
    pub(crate) fn new(chatter: Chatter) -> Self {
        let target = match chatter {
            Chatter::Full => indicatif::ProgressDrawTarget::stderr(),
            Chatter::Quiet => indicatif::ProgressDrawTarget::hidden(),
        };
        let lines = indicatif::MultiProgress::with_draw_target(target);
        Self { lines, by_name: Mutex::default() }
    }

    /// Says how far one of them is.
    pub(crate) fn show(&self, name: &str, text: String) {
        let mut by_name = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        let line = by_name.entry(name.to_owned()).or_insert_with(|| {
            let line = self.lines.add(indicatif::ProgressBar::new_spinner());
            line.set_prefix(name.to_owned());
            if let Ok(style) = indicatif::ProgressStyle::with_template("{spinner} {prefix} {msg}") {
                line.set_style(style);
            }
            line
        });
        line.set_message(text);
        line.tick();
    }

    /// Prints a line at once, above what is drawn.
    pub(crate) fn note(&self, text: &str) {
        self.lines.suspend(|| say_aside(text));
    }

    /// Takes one of them off.
    pub(crate) fn done(&self, name: &str) {
        let mut by_name = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = by_name.remove(name) {
            line.finish_and_clear();
            self.lines.remove(&line);
        }
    }
}

/// The stream for lines that many threads write, such as an access log.
pub(crate) fn stdout() -> Box<dyn Write + Send> {
    Box::new(io::stdout())
}

/// Says something from another thread.
pub(crate) fn say_aside(text: &str) {
    drop(writeln!(anstream::stderr(), "{text}"));
}

/// JSON without characters that could steer a terminal. Outside of strings
/// JSON has none of them but white space, which is left alone.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        let is_space = matches!(c, '\t' | '\n' | '\r');
        if is_space || !rutter_finding::visible(c.encode_utf8(&mut [0; 4])).is_empty() {
            out.push(c);
        } else {
            // All of them are in the first plane.
            out.extend(["\\u", &format!("{:04x}", u32::from(c))]);
        }
    }
    out
}

/// Foreign text as a terminal may show it: lines and tabs stay, all other
/// characters that steer or hide are escaped.
fn terminal_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\n' | '\t') || !rutter_finding::is_hidden(c) {
            out.push(c);
        } else {
            out.extend(c.escape_default());
        }
    }
    out
}

/// What to do about an error.
fn hint(cause: &(dyn std::error::Error + 'static)) -> Option<String> {
    if let Some(ReadError::Refused(refusal)) = cause.downcast_ref() {
        let is_first = refusal.place.line == Some(1);
        if *refusal.rule == rutter_page::rules::PAGE_FIELD_MISSING && is_first {
            return Some(
                "pages are wanted; `inspect --content --format jsonl` gives those of a collection"
                    .into(),
            );
        }
        return Some(refusal.rule.fix.to_owned());
    }
    if let Some(rutter_arc::ArcError::Refused(refusal)) = cause.downcast_ref() {
        return Some(refusal.rule.fix.to_owned());
    }
    if let Some(OpenError::Missing) = cause.downcast_ref() {
        return Some("`rutter sync SITE` makes one; --store FILE names another".to_owned());
    }
    if let Some(OpenError::NotAReplica) = cause.downcast_ref() {
        let hint = "--store FILE names another; if it was one, put a copy in its place, \
                    or move it away and sync anew";
        return Some(hint.to_owned());
    }
    if let Some(OpenError::Newer { .. }) = cause.downcast_ref() {
        return Some("use that version, or name another replica with --store".to_owned());
    }
    if let Some(Storage::Damaged(_)) = crate::exit::storage_of(cause) {
        let hint = "put a copy in its place, or move the file away and sync anew";
        return Some(hint.to_owned());
    }
    if let Some(QueryError::CursorAhead { .. }) = cause.downcast_ref() {
        let hint = "an older copy of the replica was put back: drop your copy and begin anew with \
                    `rutter changes --now`, then all pages";
        return Some(hint.to_owned());
    }
    if let Some(QueryError::ForeignCursor | QueryError::ExpiredCursor) = cause.downcast_ref() {
        let hint = "begin anew: `rutter changes --now`, then all pages, then go on from there";
        return Some(hint.to_owned());
    }
    if let Some(rutter_fetch::Cause::Refused(refused)) = cause.downcast_ref() {
        return refused_hint(refused).map(str::to_owned);
    }
    if let Some(fault) = cause.downcast_ref::<Fault>() {
        return fault.hint.clone();
    }
    if let Some(rutter_check::SurviveError::Io(_)) = cause.downcast_ref() {
        return Some("`rutter build` writes it; name the folder that is published".to_owned());
    }
    if let Some(error) = cause.downcast_ref() {
        return build_hint(error).map(str::to_owned);
    }
    if let Some(rutter_sync::VisitError::Lease(rutter_store::LeaseError::Held { .. })) =
        cause.downcast_ref()
    {
        return Some("wait until it has ended, or name another replica with --store".to_owned());
    }
    if let Some(rutter_sync::VisitError::Scope { .. }) = cause.downcast_ref() {
        let hint = "--allow-mass-delete applies the scope; nothing was changed";
        return Some(hint.to_owned());
    }
    let hint = match cause.downcast_ref()? {
        MergeError::MassDeletion { .. } => "--allow-mass-delete lets them go, if that is meant",
        MergeError::Empty => "--allow-empty writes the collection all the same, if that is meant",
        MergeError::Stuck(_) => {
            "give the pages a later `modified`, publish the snapshot, or use --plain"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

/// What allows what a policy forbids, where something does.
fn refused_hint(refused: &rutter_fetch::Refused) -> Option<&'static str> {
    use rutter_fetch::Refused;
    match refused {
        Refused::PlainHttp => Some("name the site with https://, or allow it with --allow-http"),
        Refused::Address { forbidden, .. } if forbidden.address.is_loopback() => {
            Some("--allow-loopback allows this machine, for tests")
        }
        Refused::Address { .. } => Some("only public addresses are visited"),
        Refused::Port(_) => Some("name the site with another port, or without one"),
        Refused::NoHost => Some("name the site by its host, as in https://example.org"),
        Refused::Unseen(_) => Some("--trust-proxy lets the proxy resolve names"),
        _ => None,
    }
}

/// What to do about a build that could not be done.
fn build_hint(error: &BuildError) -> Option<&'static str> {
    Some(match error {
        BuildError::Busy(_) => "wait until it has ended",
        BuildError::NoPages(_) => "build the site first, or say with --source what lies there",
        BuildError::Unused(_) => "correct the path in `restricted`, or remove it",
        BuildError::Newer(_) => "use that version, or name another folder with --state",
        BuildError::State(..) => {
            "take the folder away and give --previous DIR, a folder with the published files"
        }
        BuildError::OtherSite(..) => "name another folder with --state, one for each site",
        BuildError::Private(_) => {
            "take them out, or list them in the file that `acknowledged` names"
        }
        BuildError::Oversize(_) => "split them, or give --oversize merge",
        BuildError::Ahead { .. } => {
            "set the clock or SOURCE_DATE_EPOCH right; --redate sets later times to now, once"
        }
        BuildError::MassDeletion { .. } => "--allow-mass-delete removes them, if that is meant",
        BuildError::MassExclusion { reason, .. } => exclusion_hint(reason),
        BuildError::Unreadable(..) => "make the file readable, or take it out with --exclude",
        BuildError::Unrecognised { .. } => {
            "restore the state, or name the files that Rutter wrote: `replace = [\"FILE\"]`"
        }
        BuildError::Previous(..) => "give --previous a folder with all published files",
        _ => return None,
    })
}

/// What publishes pages that are left out for a reason.
fn exclusion_hint(reason: &str) -> &'static str {
    match reason {
        "noindex" => "take `noindex` out of the pages, or leave them out with --allow-mass-delete",
        "not for AI" => "take `noai` out of the pages, or leave them out with --allow-mass-delete",
        "disallowed by robots.txt" => {
            "change robots.txt of the site, or leave them out with --allow-mass-delete"
        }
        "marked sensitive" | "asks for a password" => {
            "`approved` in [arc] publishes them; --allow-mass-delete leaves them out"
        }
        _ => "see what these pages have in common; --allow-mass-delete leaves them out",
    }
}

#[cfg(test)]
mod tests {
    use super::{escaped, terminal_text};

    #[test]
    fn text_on_a_terminal_has_no_bidi_or_control_characters() {
        let text = "# pay\u{202e}lla\n\tx\u{2066}y\u{200b}z \u{1b}[31m\u{9b}r\u{e9}sum\u{e9}\r\n";
        let shown = terminal_text(text);
        assert_eq!(
            shown,
            "# pay\\u{202e}lla\n\tx\\u{2066}y\\u{200b}z \\u{1b}[31m\\u{9b}r\u{e9}sum\u{e9}\\r\n"
        );
        assert_eq!(terminal_text("caf\u{e9}\n"), "caf\u{e9}\n");
    }

    #[test]
    fn ours_json_on_a_terminal_means_the_same_and_steers_nothing() {
        let json = "{\t\"a\": \"x\u{7f}y\u{9b}31m\u{202e}\u{e9}\"}";
        let shown = escaped(json);
        assert_eq!(shown, "{\t\"a\": \"x\\u007fy\\u009b31m\\u202e\u{e9}\"}");
        let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(parse(json), parse(&shown));
    }
}
