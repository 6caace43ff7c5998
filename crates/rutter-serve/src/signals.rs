//! Signals of the system: an end for TERM and INT, a reload for HUP.

use std::io;
use std::thread;

use tokio::signal::unix::{SignalKind, signal};

use crate::server::{Handle, ReloadError};

/// What a signal led to.
#[derive(Debug)]
pub enum Heard {
    /// The server is ending.
    Stop,
    /// Everything was read again, or not.
    Reload(Result<(), ReloadError>),
}

impl Handle {
    /// Obeys signals from now on, in a thread of its own; `hear` is told.
    pub fn obey_signals(&self, hear: impl Fn(Heard) + Send + 'static) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        // They are caught before this returns, so none is lost.
        let caught = runtime.block_on(async {
            let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
            let [term, int, hup] = kinds.map(signal);
            Ok::<_, io::Error>((term?, int?, hup?))
        });
        let (mut term, mut int, mut hup) = caught?;
        let handle = self.clone();
        let listen = move || {
            runtime.block_on(async {
                loop {
                    tokio::select! {
                        _ = term.recv() => break,
                        _ = int.recv() => break,
                        _ = hup.recv() => hear(Heard::Reload(handle.reload())),
                    }
                }
            });
            // Whoever listens is told while there is somebody to tell: a server
            // with nothing to do ends at once, and the program with it.
            hear(Heard::Stop);
            handle.stop();
        };
        thread::Builder::new().name("signals".to_owned()).spawn(listen)?;
        Ok(())
    }
}
