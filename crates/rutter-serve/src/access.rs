//! Who is told of each request, and the log that is written of them.
//!
//! A [`Record`] goes to every [`AccessSink`] when its answer is over, whether
//! all of it was taken or not. Lines are those of `rutter-logs`, so
//! `rutter logs` reads what is written here; no client writes a line of its
//! own.
//!
//! Refuses: to hand on the values of secrets in addresses, and more than a
//! part's longest length.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use rutter_finding::Finding;
use rutter_logs::Record;

/// Longest part of a record, in bytes.
const LONGEST: usize = 2048;

/// Takes records of requests. Called by many threads, between answers: it must
/// not wait.
pub trait AccessSink: Send + Sync {
    /// Takes one.
    fn access(&self, record: &Record<'_>);

    /// Takes what is odd about a client from this request on.
    fn odd(&self, _finding: &Finding) {}
}

/// How lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogForm {
    /// The combined format of Apache and nginx.
    Text,
    /// A JSON object.
    Json,
}

/// Writes a line for each request.
pub struct LogWriter<W: Write + Send> {
    form: LogForm,
    out: Mutex<W>,
}

impl<W: Write + Send> std::fmt::Debug for LogWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogWriter").field("form", &self.form).finish_non_exhaustive()
    }
}

impl<W: Write + Send> LogWriter<W> {
    /// Writes to `out`; give it something with a buffer, and call
    /// [`LogWriter::flush`] now and then.
    pub fn new(form: LogForm, out: W) -> Self {
        Self { form, out: Mutex::new(out) }
    }

    /// Writes what waits in the buffer.
    pub fn flush(&self) -> io::Result<()> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }

    /// Writes to something else from now on, such as a file that was rotated.
    pub fn replace(&self, out: W) -> W {
        let mut place = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut place, out)
    }
}

impl<W: Write + Send> AccessSink for LogWriter<W> {
    fn access(&self, record: &Record<'_>) {
        let mut line = match self.form {
            LogForm::Text => record.to_combined(),
            LogForm::Json => record.to_json(),
        };
        line.push('\n');
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        // A full disk must not stop the serving.
        drop(out.write_all(line.as_bytes()));
    }
}

/// A part of a request as it may be remembered: not too long.
pub(crate) fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default()
}

/// An address without the values of parameters that are secrets.
pub(crate) fn without_secrets(target: &str) -> String {
    let target = cut(target);
    let Some((path, query)) = target.split_once('?') else { return target.to_owned() };
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((key, _)) if is_secret(key) => format!("{key}=***"),
        _ => pair.to_owned(),
    });
    format!("{path}?{}", pairs.collect::<Vec<_>>().join("&"))
}

fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let words = ["token", "secret", "password", "passwd", "signature", "api_key", "apikey", "auth"];
    words.iter().any(|word| key.contains(word)) || matches!(key.as_str(), "key" | "sig" | "code")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rutter_page::Timestamp;

    use super::*;

    fn record() -> Record<'static> {
        let time = Timestamp::parse("1994-11-06T08:49:37Z").unwrap();
        Record {
            token: Some("a partner".into()),
            method: "GET".into(),
            target: without_secrets("/tides?url=x&access_token=hush&KEY=hush").into(),
            protocol: "HTTP/1.1".into(),
            bytes: 12,
            user_agent: Some("Bot \"1\"\r\n\u{1b}[2J\u{202e}é".into()),
            duration: Some(Duration::from_millis(250)),
            ..Record::new(time, "192.0.2.1", 200)
        }
    }

    fn line(form: LogForm, record: &Record<'_>) -> String {
        let log = LogWriter::new(form, Vec::new());
        log.access(record);
        String::from_utf8(log.replace(Vec::new())).unwrap()
    }

    #[test] // reliability E11
    fn ours_a_request_is_one_line_whatever_it_says() {
        let wanted = concat!(
            r#"192.0.2.1 - a\x20partner [06/Nov/1994:08:49:37 +0000] "GET "#,
            r#"/tides?url=x&access_token=***&KEY=*** HTTP/1.1" 200 12 "-" "#,
            r#""Bot \"1\"\x0d\x0a\x1b[2J\xe2\x80\xae\xc3\xa9""#,
            "\n"
        );
        assert_eq!(line(LogForm::Text, &record()), wanted);
        let line = line(LogForm::Json, &record());
        assert!(line.ends_with("}\n") && line.matches('\n').count() == 1);
        assert!(line.trim_end().bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{line}");
        assert!(!line.contains("hush"));
        assert_eq!(rutter_logs::parse(line.trim_end().as_bytes()), Ok(record()));
    }

    #[test]
    fn ours_long_parts_are_cut() {
        assert_eq!(without_secrets(&format!("/{}", "é".repeat(9000))).len(), LONGEST - 1);
        assert_eq!(without_secrets(&"a".repeat(9000)).len(), LONGEST);
    }

    #[test]
    fn ours_a_log_can_move_to_another_file() {
        let log = LogWriter::new(LogForm::Text, Vec::new());
        log.access(&record());
        let first = log.replace(Vec::new());
        log.access(&record());
        log.flush().unwrap();
        assert_eq!(first, log.replace(Vec::new()));
    }
}
