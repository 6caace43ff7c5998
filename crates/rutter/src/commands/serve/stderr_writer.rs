//! Prints messages of the server to stderr without blocking its threads.
//!
//! A separate thread writes the messages, because a stopped terminal or a full pipe must not delay
//! responses. If the queue is full, new messages are dropped.

use std::io;
use std::sync::mpsc::{self, Sender, SyncSender};
use std::thread;
use std::time::Duration;

use rutter_finding::Finding;
use rutter_logs::AccessRecord;
use rutter_serve::AccessSink;

use crate::output;

/// Maximum number of queued messages.
const MAX_QUEUED: usize = 256;

/// Maximum time to wait for the last messages.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

enum StderrMessage {
    Say(String),
    /// A request to confirm that all earlier messages are written.
    Done(Sender<()>),
}

/// Prints messages and findings about odd clients to stderr.
#[derive(Clone)]
pub(super) struct StderrWriter(SyncSender<StderrMessage>);

impl StderrWriter {
    pub(super) fn new() -> io::Result<Self> {
        let (sender, messages) = mpsc::sync_channel(MAX_QUEUED);
        let listen = move || {
            for message in messages {
                match message {
                    StderrMessage::Say(text) => output::print_line(&text),
                    // An error means that `finish` has stopped waiting.
                    StderrMessage::Done(tell) => drop(tell.send(())),
                }
            }
        };
        thread::Builder::new().name("stderr".to_owned()).spawn(listen)?;
        Ok(Self(sender))
    }

    pub(super) fn say(&self, text: impl Into<String>) {
        drop(self.0.try_send(StderrMessage::Say(text.into())));
    }

    /// Waits until all messages are written, for a limited time.
    pub(super) fn finish(&self) {
        let (tell, done) = mpsc::channel();
        if self.0.try_send(StderrMessage::Done(tell)).is_ok() {
            let _ = done.recv_timeout(FLUSH_TIMEOUT);
        }
    }
}

impl AccessSink for StderrWriter {
    fn access(&self, _record: &AccessRecord<'_>) {}

    fn odd(&self, finding: &Finding) {
        let Finding { rule, detail, .. } = finding;
        self.say(format!("{}: {}: {detail}", rule.code, rule.title));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_queue_does_not_block() {
        // No thread receives the messages.
        let (sender, _words) = mpsc::sync_channel(2);
        let stderr = StderrWriter(sender);
        for n in 0..100 {
            stderr.say(n.to_string());
        }
        stderr.finish();
    }
}
