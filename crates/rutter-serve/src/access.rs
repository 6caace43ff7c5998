//! What is remembered of each request, and how it is written down.
//!
//! A record goes to every [`AccessSink`] when its answer is over, whether all
//! of it was taken or not. Lines hold one request each: control characters,
//! quotes and what is no text are escaped, so no client writes a line of its
//! own, and values of secrets in addresses are left out.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use serde_json::json;

use rutter_page::Timestamp;

/// Longest part of a line.
const LONGEST: usize = 2048;

/// One request and what came of it.
#[derive(Debug, Clone)]
pub struct Access {
    /// When it came.
    pub time: SystemTime,
    /// Who asked; the address behind proxies of ours.
    pub client: IpAddr,
    /// Whose token was shown.
    pub token_name: Option<String>,
    /// `-` where it could not be read, likewise the target.
    pub method: String,
    /// Path and query, as they came.
    pub target: String,
    /// Version, such as `HTTP/1.1`.
    pub version: &'static str,
    /// Status of the answer.
    pub status: u16,
    /// Bytes of the body that were taken.
    pub bytes: u64,
    /// Where the client says it came from.
    pub referer: Option<String>,
    /// What the client says it is.
    pub user_agent: Option<String>,
    /// From the request's head to the end of the answer.
    pub duration: Duration,
}

/// Takes records of requests. Called by many threads, between answers: it must
/// not wait.
pub trait AccessSink: Send + Sync {
    /// Takes one.
    fn access(&self, access: &Access);
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
    fn access(&self, access: &Access) {
        let line = match self.form {
            LogForm::Text => text_line(access),
            LogForm::Json => json_line(access),
        };
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        // A full disk must not stop the serving.
        drop(out.write_all(line.as_bytes()));
    }
}

/// A line of the combined format, with its line end.
pub fn text_line(access: &Access) -> String {
    let mut line = String::with_capacity(256);
    let seconds = seconds(access.time);
    let name = access.token_name.as_deref().unwrap_or("-");
    write!(line, "{} - {} [{}] \"", access.client, escaped(name, '-'), stamp(seconds))
        .expect("memory takes everything");
    writeln!(
        line,
        "{} {} {}\" {} {} \"{}\" \"{}\"",
        escaped(&access.method, ' '),
        escaped(&without_secrets(&access.target), ' '),
        access.version,
        access.status,
        access.bytes,
        escaped(access.referer.as_deref().map(without_secrets).as_deref().unwrap_or("-"), ' '),
        escaped(access.user_agent.as_deref().unwrap_or("-"), ' ')
    )
    .expect("memory takes everything");
    line
}

/// A line of JSON, with its line end.
pub fn json_line(access: &Access) -> String {
    let cut = |text: &str| -> String { text.chars().take(LONGEST).collect() };
    let time = Timestamp::from_unix_seconds(seconds(access.time)).map(|time| time.to_string());
    let value = json!({
        "time": time,
        "client": access.client.to_string(),
        "token": access.token_name,
        "method": cut(&access.method),
        "target": cut(&without_secrets(&access.target)),
        "version": access.version,
        "status": access.status,
        "bytes": access.bytes,
        "referer": access.referer.as_deref().map(|text| cut(&without_secrets(text))),
        "user_agent": access.user_agent.as_deref().map(cut),
        "seconds": access.duration.as_secs_f64(),
    });
    let mut line = String::with_capacity(384);
    // JSON escapes what is below a blank; the rest that terminals obey, we do.
    for c in value.to_string().chars() {
        if is_plain(c) {
            line.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(line, "\\u{unit:04x}").expect("memory takes everything");
            }
        }
    }
    line.push('\n');
    line
}

/// Whether a character can stand in a line without changing how it looks or
/// what a terminal does.
fn is_plain(c: char) -> bool {
    let is_bidi = matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    !c.is_control() && !is_bidi
}

fn escaped(text: &str, blank: char) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().take(LONGEST) {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            ' ' => out.push(blank),
            c if is_plain(c) => out.push(c),
            c => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    write!(out, "\\x{byte:02X}").expect("memory takes everything");
                }
            }
        }
    }
    if out.is_empty() {
        out.push('-');
    }
    out
}

/// An address without the values of parameters that are secrets.
fn without_secrets(target: &str) -> String {
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

fn seconds(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(0)
}

/// `16/Nov/2026:23:09:58 +0000`.
fn stamp(seconds: i64) -> String {
    let date = crate::date::write(seconds);
    let mut words = date.split([',', ' ']).filter(|word| !word.is_empty()).skip(1);
    let mut next = || words.next().unwrap_or_default();
    let (day, month, year, time) = (next(), next(), next(), next());
    format!("{day}/{month}/{year}:{time} +0000")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access() -> Access {
        Access {
            time: SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777),
            client: "192.0.2.1".parse().unwrap(),
            token_name: Some("a partner".to_owned()),
            method: "GET".to_owned(),
            target: "/tides?url=x&access_token=hush&KEY=hush".to_owned(),
            version: "HTTP/1.1",
            status: 200,
            bytes: 12,
            referer: None,
            user_agent: Some("Bot \"1\"\r\n\u{1b}[2J\u{202e}é".to_owned()),
            duration: Duration::from_millis(250),
        }
    }

    #[test] // reliability E11
    fn ours_a_request_is_one_line_whatever_it_says() {
        let wanted = concat!(
            r#"192.0.2.1 - a-partner [06/Nov/1994:08:49:37 +0000] "GET "#,
            r#"/tides?url=x&access_token=***&KEY=*** HTTP/1.1" 200 12 "-" "#,
            r#""Bot \"1\"\x0D\x0A\x1B[2J\xE2\x80\xAEé""#,
            "\n"
        );
        assert_eq!(text_line(&access()), wanted);
        let line = json_line(&access());
        assert!(line.ends_with("}\n") && line.matches('\n').count() == 1);
        assert!(!line.contains('\u{1b}') && !line.contains('\u{202e}') && !line.contains("hush"));
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["user_agent"].as_str(), access().user_agent.as_deref());
        assert_eq!((value["status"].as_u64(), value["seconds"].as_f64()), (Some(200), Some(0.25)));
    }

    #[test]
    fn ours_long_parts_are_cut() {
        let access = Access { target: format!("/{}", "a".repeat(9000)), ..access() };
        assert!(text_line(&access).len() < 3000 && json_line(&access).len() < 3000);
    }

    #[test]
    fn ours_a_log_can_move_to_another_file() {
        let log = LogWriter::new(LogForm::Text, Vec::new());
        log.access(&access());
        let first = log.replace(Vec::new());
        log.access(&access());
        log.flush().unwrap();
        assert_eq!(first, log.replace(Vec::new()));
    }
}
