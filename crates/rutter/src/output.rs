//! Writes to the terminal: data to stdout, messages to stderr.
//!
//! All output of the program goes through this module. The module escapes control characters in
//! foreign text, draws progress, prints errors with their causes, and chooses the hint for an
//! error.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use rutter_build::BuildError;
use rutter_scp::{MergeError, ReadError};
use rutter_site::StateError;
use rutter_store::{OpenError, QueryError, StorageError};
use tracing::level_filters::LevelFilter;

use crate::config::SettingsError;

/// The output streams of the program.
pub(crate) struct Output {
    data: BufWriter<AutoStream<io::Stdout>>,
    /// Stdout without colour handling, for lines that must be written byte for byte.
    exact: BufWriter<io::Stdout>,
    is_terminal: bool,
    verbosity: Verbosity,
    detail: Detail,
    /// The sink for the summary of a quiet run, which discards it.
    nothing: io::Sink,
}

/// Whether progress and summaries are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verbosity {
    Full,
    /// Only findings, warnings, errors and data are printed.
    Quiet,
}

/// Whether long lists of findings are printed completely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    Shortened,
    Complete,
}

impl Output {
    pub(crate) fn new(verbosity: Verbosity, detail: Detail) -> Self {
        Self {
            data: BufWriter::with_capacity(64 << 10, anstream::stdout()),
            exact: BufWriter::with_capacity(64 << 10, io::stdout()),
            is_terminal: io::stdout().is_terminal(),
            verbosity,
            detail,
            nothing: io::sink(),
        }
    }

    /// Returns whether long lists of findings are printed completely.
    pub(crate) fn detail(&self) -> Detail {
        self.detail
    }

    /// Returns whether progress and summaries are printed.
    pub(crate) fn verbosity(&self) -> Verbosity {
        self.verbosity
    }

    /// Returns the stream for a text summary. A quiet run discards it.
    pub(crate) fn summary(&mut self) -> &mut dyn Write {
        match self.verbosity {
            Verbosity::Quiet => &mut self.nothing,
            Verbosity::Full => self.data(),
        }
    }

    /// Returns the stream for data. Colours are removed if stdout is not a terminal.
    pub(crate) fn data(&mut self) -> &mut dyn Write {
        // Both buffers write to stdout: flush the other one first to keep the order.
        drop(self.exact.flush());
        &mut self.data
    }

    /// Writes JSON and a line break, byte for byte. On a terminal, control characters are written
    /// as the equivalent JSON escapes.
    pub(crate) fn exact(&mut self, json: &str) -> anyhow::Result<()> {
        self.data.flush()?;
        if self.is_terminal {
            writeln!(self.exact, "{}", escaped(json))?;
        } else {
            writeln!(self.exact, "{json}")?;
        }
        Ok(())
    }

    /// Writes foreign text. If stdout is not a terminal, the text is written unchanged. On a
    /// terminal, control characters and bidirectional controls are shown as escapes such as
    /// `\u{202e}`.
    pub(crate) fn text(&mut self, text: &str) -> anyhow::Result<()> {
        self.data.flush()?;
        if self.is_terminal {
            self.exact.write_all(terminal_text(text).as_bytes())?;
        } else {
            self.exact.write_all(text.as_bytes())?;
        }
        Ok(())
    }

    /// Prints progress or a summary to stderr. A quiet run discards it.
    pub(crate) fn say(&mut self, text: impl std::fmt::Display) {
        if self.verbosity != Verbosity::Quiet {
            self.warn(text);
        }
    }

    /// Prints a finding, a warning or a hint to stderr, also in a quiet run.
    pub(crate) fn warn(&mut self, text: impl std::fmt::Display) {
        // Flush stdout first, so that both streams appear in order.
        drop(self.flush());
        drop(writeln!(anstream::stderr(), "{text}"));
    }

    /// Prints an error on one line, with its causes after colons, and at most one hint.
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

/// Progress of several named tasks, one line each.
#[derive(Debug)]
pub(crate) struct Progress {
    lines: indicatif::MultiProgress,
    by_name: Mutex<BTreeMap<String, indicatif::ProgressBar>>,
}

impl Progress {
    /// Creates a display that draws on stderr if that is a terminal, the run is not quiet, and
    /// stderr shows no diagnostic events.
    pub(crate) fn new(verbosity: Verbosity) -> Self {
        let is_free = LevelFilter::current() == LevelFilter::OFF;
        let target = match verbosity {
            Verbosity::Full if is_free => indicatif::ProgressDrawTarget::stderr(),
            Verbosity::Full | Verbosity::Quiet => indicatif::ProgressDrawTarget::hidden(),
        };
        let lines = indicatif::MultiProgress::with_draw_target(target);
        Self { lines, by_name: Mutex::default() }
    }

    /// Sets the text of a task.
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

    /// Prints a line above the progress lines.
    pub(crate) fn note(&self, text: &str) {
        self.lines.suspend(|| print_line(text));
    }

    /// Removes a task from the display.
    pub(crate) fn done(&self, name: &str) {
        let mut by_name = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = by_name.remove(name) {
            line.finish_and_clear();
            self.lines.remove(&line);
        }
    }
}

/// Returns stdout as a stream that other threads can write to, such as an access log.
pub(crate) fn stdout() -> Box<dyn Write + Send> {
    Box::new(io::stdout())
}

/// Prints a line to stderr from any thread.
pub(crate) fn print_line(text: &str) {
    drop(writeln!(anstream::stderr(), "{text}"));
}

/// Escapes the control characters in JSON. White space outside strings is kept; JSON has no other
/// control characters there.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        let is_space = matches!(c, '\t' | '\n' | '\r');
        if is_space || !rutter_finding::visible(c.encode_utf8(&mut [0; 4])).is_empty() {
            out.push(c);
        } else {
            // All control characters have at most four hex digits.
            out.extend(["\\u", &format!("{:04x}", u32::from(c))]);
        }
    }
    out
}

/// Escapes control characters and invisible characters in foreign text, except line breaks and
/// tabs.
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

/// Returns the next step for an error, if there is one.
fn hint(cause: &(dyn std::error::Error + 'static)) -> Option<String> {
    if let Some(ReadError::Refused(refusal)) = cause.downcast_ref() {
        let is_first = refusal.place.line == Some(1);
        if *refusal.rule == rutter_page::rules::PAGE_FIELD_MISSING && is_first {
            return Some(
                "expected JSON Lines of pages; `rutter scp inspect --content --format jsonl` \
                 prints the pages of a collection"
                    .into(),
            );
        }
        return Some(refusal.rule.fix.to_owned());
    }
    if let Some(rutter_arc::ArcError::Refused(refusal)) = cause.downcast_ref() {
        return Some(refusal.rule.fix.to_owned());
    }
    if let Some(OpenError::Missing) = cause.downcast_ref() {
        return Some(
            "run `rutter sync SITE` to create a replica, or choose a file with --store".to_owned(),
        );
    }
    if let Some(OpenError::NotAReplica) = cause.downcast_ref() {
        let hint = "choose another file with --store; if the replica was damaged, restore a \
                    backup, or move the file away and sync again";
        return Some(hint.to_owned());
    }
    if let Some(OpenError::Newer { .. }) = cause.downcast_ref() {
        let hint = "use the newer version of Rutter, or choose another replica with --store";
        return Some(hint.to_owned());
    }
    if let Some(StorageError::Damaged(_)) = crate::exit::storage_of(cause) {
        let hint = "restore a backup, or move the file away and sync again";
        return Some(hint.to_owned());
    }
    if let Some(QueryError::CursorAhead { .. }) = cause.downcast_ref() {
        let hint = "the replica was restored from an older backup: discard your copy, run \
                    `rutter changes --now`, and read all pages again";
        return Some(hint.to_owned());
    }
    if let Some(QueryError::ForeignCursor | QueryError::ExpiredCursor) = cause.downcast_ref() {
        let hint = "start again: run `rutter changes --now`, read all pages, then continue from \
                    that cursor";
        return Some(hint.to_owned());
    }
    if let Some(rutter_fetch::FailureCause::Refused(refused)) = cause.downcast_ref() {
        return refused_hint(refused).map(str::to_owned);
    }
    if let Some(fault) = cause.downcast_ref::<SettingsError>() {
        return fault.hint.clone();
    }
    if let Some(rutter_check::SurviveError::Io(_)) = cause.downcast_ref() {
        let hint = "run `rutter build` to create the SPXI index, and name the published folder";
        return Some(hint.to_owned());
    }
    if let Some(error) = cause.downcast_ref() {
        return build_hint(error).map(str::to_owned);
    }
    if let Some(error) = cause.downcast_ref() {
        return state_hint(error).map(str::to_owned);
    }
    if let Some(rutter_sync::SyncError::Lease(rutter_store::LeaseError::Held { .. })) =
        cause.downcast_ref()
    {
        let hint = "wait until the other sync has finished, or choose another replica with --store";
        return Some(hint.to_owned());
    }
    if let Some(rutter_sync::SyncError::Scope { .. }) = cause.downcast_ref() {
        let hint = "the replica is unchanged; to narrow the scope anyway, use --allow-mass-delete";
        return Some(hint.to_owned());
    }
    let hint = match cause.downcast_ref()? {
        MergeError::MassDeletion { .. } => "if the deletion is intended, use --allow-mass-delete",
        MergeError::Empty => "if an empty collection is intended, use --allow-empty",
        MergeError::StaleModified(_) => {
            "set a later `modified` on these pages, publish the snapshot instead, or use --plain"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

/// Returns the hint that says how to allow a refused request, if an option can allow it.
fn refused_hint(refused: &rutter_fetch::RequestRefusal) -> Option<&'static str> {
    use rutter_fetch::RequestRefusal;
    match refused {
        RequestRefusal::PlainHttp => Some("use https://, or allow plain HTTP with --allow-http"),
        RequestRefusal::Address { forbidden, .. } if forbidden.address.is_loopback() => {
            Some("for tests on this machine, use --allow-loopback")
        }
        RequestRefusal::Address { .. } => Some("only public IP addresses are allowed"),
        RequestRefusal::Port(_) => Some("use another port, or no port"),
        RequestRefusal::NoHost => Some("write the URL with its host, such as https://example.org"),
        RequestRefusal::Unseen(_) => Some("let the proxy resolve names with --trust-proxy"),
        _ => None,
    }
}

const BUSY: &str = "wait until the other build has finished";
const NEWER_FORMAT: &str = "use the newer version of Rutter, or choose another folder with --state";
const DAMAGED_STATE: &str =
    "move the state folder away and rebuild it from the published files with --previous";

/// Returns the next step after an error in the state of a site.
fn state_hint(error: &StateError) -> Option<&'static str> {
    match error {
        StateError::Busy(_) => Some(BUSY),
        StateError::NewerFormat(_) => Some(NEWER_FORMAT),
        StateError::Damaged(..) => Some(DAMAGED_STATE),
        _ => None,
    }
}

/// Returns the next step after a failed build.
fn build_hint(error: &BuildError) -> Option<&'static str> {
    Some(match error {
        BuildError::Busy(_) => BUSY,
        BuildError::NoPages(_) => "build the site first, or set the file type with --source",
        BuildError::UnusedRestriction(_) => "correct the path in `restricted`, or remove the path",
        BuildError::NewerFormat(_) => NEWER_FORMAT,
        BuildError::DamagedState(..) => DAMAGED_STATE,
        BuildError::OtherSite(..) => {
            "choose another state folder with --state; each site needs its own"
        }
        BuildError::PrivateData(_) => {
            "remove the private data, or list the findings in the file of the setting `acknowledged`"
        }
        BuildError::Oversize(_) => "split the pages, or use --oversize merge",
        BuildError::FutureState { .. } => {
            "correct the clock or SOURCE_DATE_EPOCH; if the clock was wrong before, run once with --redate"
        }
        BuildError::MassDeletion { .. } => "if the deletion is intended, use --allow-mass-delete",
        BuildError::MassExclusion { reason, .. } => exclusion_hint(reason),
        BuildError::Unreadable(..) => "make the file readable, or leave it out with --exclude",
        BuildError::Unrecognised { .. } => {
            "restore the state folder, or list the files that Rutter wrote: `replace = [\"FILE\"]`"
        }
        BuildError::UnusablePrevious(..) => "pass a folder with all published files to --previous",
        _ => return None,
    })
}

/// Returns how to publish pages that are excluded for `reason`.
fn exclusion_hint(reason: &str) -> &'static str {
    match reason {
        "noindex" => "remove `noindex` from the pages, or exclude them with --allow-mass-delete",
        "not for AI" => "remove `noai` from the pages, or exclude them with --allow-mass-delete",
        "disallowed by robots.txt" => {
            "change the site's robots.txt, or exclude the pages with --allow-mass-delete"
        }
        "marked sensitive" | "asks for a password" => {
            "publish them with `approved` in [arc], or exclude them with --allow-mass-delete"
        }
        _ => "check what these pages have in common, or exclude them with --allow-mass-delete",
    }
}

#[cfg(test)]
mod tests {
    use super::{escaped, terminal_text};

    #[test]
    fn escapes_bidi_and_control_characters_on_a_terminal() {
        let text = "# pay\u{202e}lla\n\tx\u{2066}y\u{200b}z \u{1b}[31m\u{9b}r\u{e9}sum\u{e9}\r\n";
        let shown = terminal_text(text);
        assert_eq!(
            shown,
            "# pay\\u{202e}lla\n\tx\\u{2066}y\\u{200b}z \\u{1b}[31m\\u{9b}r\u{e9}sum\u{e9}\\r\n"
        );
        assert_eq!(terminal_text("caf\u{e9}\n"), "caf\u{e9}\n");
    }

    #[test]
    fn escaped_json_has_the_same_value_and_no_control_characters() {
        let json = "{\t\"a\": \"x\u{7f}y\u{9b}31m\u{202e}\u{e9}\"}";
        let shown = escaped(json);
        assert_eq!(shown, "{\t\"a\": \"x\\u007fy\\u009b31m\\u202e\u{e9}\"}");
        let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(parse(json), parse(&shown));
    }
}
