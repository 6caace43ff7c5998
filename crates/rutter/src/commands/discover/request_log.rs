//! The request log, `--log FILE`: one JSON object per line for each network event.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use rutter_fetch::{FetchEvent, FetchLog, FetchRecord};
use serde_json::{Value, json};

use crate::output::print_line;

/// Counts requests, and appends all events to a file if one is given.
#[derive(Debug)]
pub(crate) struct NetworkLog {
    file: Option<Mutex<File>>,
    n_asked: AtomicU64,
    has_failed: AtomicBool,
}

impl NetworkLog {
    /// Opens the log; new events are appended to an existing file.
    pub(crate) fn open(path: Option<&Path>) -> anyhow::Result<Self> {
        let open = |path: &Path| {
            let file = OpenOptions::new().create(true).append(true).open(path);
            file.with_context(|| format!("cannot open the log {}", path.display()))
        };
        let file = path.map(open).transpose()?.map(Mutex::new);
        Ok(Self { file, n_asked: AtomicU64::new(0), has_failed: AtomicBool::new(false) })
    }

    /// Returns the number of requests sent.
    pub(crate) fn requests(&self) -> u64 {
        self.n_asked.load(Ordering::Relaxed)
    }
}

impl FetchLog for NetworkLog {
    fn record(&self, record: FetchRecord) {
        if matches!(record.event, FetchEvent::Sent { .. }) {
            self.n_asked.fetch_add(1, Ordering::Relaxed);
        }
        let Some(file) = &self.file else { return };
        // Each line is written with one call, so that several processes can append to one file.
        let line = format!("{}\n", line(&record));
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write_all(line.as_bytes())
            && !self.has_failed.swap(true, Ordering::Relaxed)
        {
            print_line(&format!("warning: cannot write to the request log: {error}"));
        }
    }
}

/// Returns an event as a JSON object.
fn line(record: &FetchRecord) -> Value {
    let (event, detail) = match &record.event {
        FetchEvent::Sent { url, waited } => {
            ("asked", json!({"url": url, "waited": waited.as_secs_f64()}))
        }
        FetchEvent::Received { url, status, bytes } => {
            ("answered", json!({"url": url, "status": status, "bytes": bytes}))
        }
        FetchEvent::Failed { url, why, bytes } => {
            ("failed", json!({"url": url, "why": why, "bytes": bytes}))
        }
        FetchEvent::Paused { wait, status } => {
            ("paused", json!({"seconds": wait.as_secs_f64(), "status": status}))
        }
        FetchEvent::Redirected { from, to } => ("redirected", json!({"from": from, "to": to})),
        FetchEvent::Refused { url, why } => {
            ("refused", json!({"url": url, "why": why.to_string()}))
        }
        FetchEvent::Robots { url, closed } => {
            let closed = closed.as_ref().map(ToString::to_string);
            ("robots", json!({"url": url, "closed": closed}))
        }
        FetchEvent::NewHost { site } => ("new-host", json!({"site_host": site})),
        FetchEvent::Resumed { at } => ("resumed", json!({"byte": at})),
        other => ("other", json!({"text": format!("{other:?}")})),
    };
    let mut object = json!({"at": record.at.to_string(), "host": record.host, "event": event});
    if let (Value::Object(object), Value::Object(detail)) = (&mut object, detail) {
        object.extend(detail);
    }
    object
}
