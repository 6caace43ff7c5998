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
}

impl Output {
    pub(crate) fn new() -> Self {
        Self {
            data: BufWriter::with_capacity(64 << 10, anstream::stdout()),
            exact: BufWriter::with_capacity(64 << 10, io::stdout()),
            is_terminal: io::stdout().is_terminal(),
        }
    }

    /// The stream for data. Colours are stripped where they are not wanted.
    pub(crate) fn data(&mut self) -> &mut dyn Write {
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

    /// Says something to whoever watches.
    pub(crate) fn say(&mut self, text: impl std::fmt::Display) {
        // Data first, so that the two streams read in the right order.
        drop(self.flush());
        drop(writeln!(anstream::stderr(), "{text}"));
    }

    /// Says what went wrong: one line, causes after colons, at most one hint.
    pub(crate) fn error(&mut self, error: &anyhow::Error) {
        let style = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
        self.say(format_args!("{style}error:{style:#} {}", causes.join(": ")));
        if let Some(hint) = error.chain().find_map(hint) {
            self.say(format_args!("hint: {hint}"));
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
    /// Draws on stderr where that is a terminal, else nowhere.
    pub(crate) fn new() -> Self {
        Self { lines: indicatif::MultiProgress::new(), by_name: Mutex::default() }
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

/// What to do about an error.
fn hint(cause: &(dyn std::error::Error + 'static)) -> Option<String> {
    if let Some(ReadError::Refused(refusal)) = cause.downcast_ref() {
        let is_first = refusal.place.line == Some(1);
        if *refusal.rule == rutter_page::rules::PAGE_FIELD_MISSING && is_first {
            return Some(
                "pages are wanted; `inspect --content --json` gives those of a collection".into(),
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
        Refused::Unseen(_) => Some("--trust-proxy lets the proxy resolve names"),
        _ => None,
    }
}

/// What to do about a build that could not be done.
fn build_hint(error: &BuildError) -> Option<&'static str> {
    Some(match error {
        BuildError::Busy(_) => "wait until it has ended",
        BuildError::NoPages(_) => "build the site first, or say with --source what lies there",
        BuildError::Newer(_) => "use that version, or name another folder with --state",
        BuildError::State(..) => {
            "take the folder away and give --previous DIR, a folder with the published files"
        }
        BuildError::OtherSite(..) => "name another folder with --state, one for each site",
        BuildError::Private(_) => {
            "take them out, or list them in the file that `acknowledged` names"
        }
        BuildError::Oversize(_) => "split them, or give --oversize omit",
        BuildError::Previous(..) => "give --previous a folder with all published files",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn ours_json_on_a_terminal_means_the_same_and_steers_nothing() {
        let json = "{\t\"a\": \"x\u{7f}y\u{9b}31m\u{202e}\u{e9}\"}";
        let shown = escaped(json);
        assert_eq!(shown, "{\t\"a\": \"x\\u007fy\\u009b31m\\u202e\u{e9}\"}");
        let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(parse(json), parse(&shown));
    }
}
