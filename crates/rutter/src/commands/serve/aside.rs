//! Words on standard error while the server answers.
//!
//! They are said by a thread of their own: a terminal that was stopped, or a
//! pipe that nobody reads, holds no answer up. Where too many wait, the newest
//! are not said.

use std::io;
use std::sync::mpsc::{self, Sender, SyncSender};
use std::thread;
use std::time::Duration;

use rutter_finding::Finding;
use rutter_logs::Record;
use rutter_serve::AccessSink;

use crate::output;

/// Words that may wait.
const MOST: usize = 256;

/// How long the last ones are waited for.
const PATIENCE: Duration = Duration::from_secs(1);

enum Word {
    Say(String),
    /// Everything before was said.
    Done(Sender<()>),
}

/// Says things on standard error, and who behaves oddly.
#[derive(Clone)]
pub(super) struct Aside(SyncSender<Word>);

impl Aside {
    pub(super) fn new() -> io::Result<Self> {
        let (sender, words) = mpsc::sync_channel(MOST);
        let listen = move || {
            for word in words {
                match word {
                    Word::Say(text) => output::say_aside(&text),
                    // Whoever does not wait any more need not know.
                    Word::Done(tell) => drop(tell.send(())),
                }
            }
        };
        thread::Builder::new().name("aside".to_owned()).spawn(listen)?;
        Ok(Self(sender))
    }

    pub(super) fn say(&self, text: impl Into<String>) {
        drop(self.0.try_send(Word::Say(text.into())));
    }

    /// Waits until everything is said, but not for somebody who does not listen.
    pub(super) fn finish(&self) {
        let (tell, done) = mpsc::channel();
        if self.0.try_send(Word::Done(tell)).is_ok() {
            let _ = done.recv_timeout(PATIENCE);
        }
    }
}

impl AccessSink for Aside {
    fn access(&self, _record: &Record<'_>) {}

    fn odd(&self, finding: &Finding) {
        let Finding { rule, detail, .. } = finding;
        self.say(format!("{}: {}: {detail}", rule.code, rule.title));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_who_does_not_listen_holds_nobody_up() {
        // Nobody takes a word out.
        let (sender, _words) = mpsc::sync_channel(2);
        let aside = Aside(sender);
        for n in 0..100 {
            aside.say(n.to_string());
        }
        aside.finish();
    }
}
