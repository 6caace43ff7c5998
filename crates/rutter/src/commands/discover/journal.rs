//! What was asked of whom, written down: `--log FILE`.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use rutter_fetch::{Event, Log, Record};
use serde_json::{Value, json};

use crate::output::say_aside;

/// Counts requests, and writes every record to a file where one is named.
#[derive(Debug)]
pub(crate) struct Journal {
    file: Option<Mutex<File>>,
    n_asked: AtomicU64,
    has_failed: AtomicBool,
}

impl Journal {
    /// Goes on at the end of a file.
    pub(crate) fn open(path: Option<&Path>) -> anyhow::Result<Self> {
        let open = |path: &Path| {
            let file = OpenOptions::new().create(true).append(true).open(path);
            file.with_context(|| format!("--log {}", path.display()))
        };
        let file = path.map(open).transpose()?.map(Mutex::new);
        Ok(Self { file, n_asked: AtomicU64::new(0), has_failed: AtomicBool::new(false) })
    }

    /// Requests that were sent.
    pub(crate) fn requests(&self) -> u64 {
        self.n_asked.load(Ordering::Relaxed)
    }
}

impl Log for Journal {
    fn record(&self, record: Record) {
        if matches!(record.event, Event::Asked { .. }) {
            self.n_asked.fetch_add(1, Ordering::Relaxed);
        }
        let Some(file) = &self.file else { return };
        // One line at once, so that two processes can share a file.
        let line = format!("{}\n", line(&record));
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write_all(line.as_bytes())
            && !self.has_failed.swap(true, Ordering::Relaxed)
        {
            say_aside(&format!("warning: --log: {error}"));
        }
    }
}

/// A record as an object.
fn line(record: &Record) -> Value {
    let (event, detail) = match &record.event {
        Event::Asked { url, waited } => {
            ("asked", json!({"url": url, "waited": waited.as_secs_f64()}))
        }
        Event::Answered { url, status, bytes } => {
            ("answered", json!({"url": url, "status": status, "bytes": bytes}))
        }
        Event::Failed { url, why, bytes } => {
            ("failed", json!({"url": url, "why": why, "bytes": bytes}))
        }
        Event::Paused { wait, status } => {
            ("paused", json!({"seconds": wait.as_secs_f64(), "status": status}))
        }
        Event::Redirected { from, to } => ("redirected", json!({"from": from, "to": to})),
        Event::Refused { url, why } => ("refused", json!({"url": url, "why": why.to_string()})),
        Event::Robots { url, closed } => {
            let closed = closed.as_ref().map(ToString::to_string);
            ("robots", json!({"url": url, "closed": closed}))
        }
        Event::NewHost { site } => ("new-host", json!({"site_host": site})),
        Event::Resumed { at } => ("resumed", json!({"byte": at})),
        other => ("other", json!({"text": format!("{other:?}")})),
    };
    let mut object = json!({"at": record.at.to_string(), "host": record.host, "event": event});
    if let (Value::Object(object), Value::Object(detail)) = (&mut object, detail) {
        object.extend(detail);
    }
    object
}
