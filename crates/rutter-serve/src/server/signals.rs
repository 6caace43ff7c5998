//! Handles operating system signals: TERM and INT stop the server, HUP reloads it.

use std::io;
use std::thread;

use tokio::signal::unix::{SignalKind, signal};

use crate::server::{ReloadError, ServerHandle};

/// A signal that was handled.
#[derive(Debug)]
pub enum SignalEvent {
    /// The server is stopping.
    Stop,
    /// The files were reloaded, with the result.
    Reload(Result<(), ReloadError>),
}

impl ServerHandle {
    /// Starts a thread that handles signals and calls `on_event` for each signal.
    pub fn handle_signals(
        &self,
        on_event: impl Fn(SignalEvent) + Send + 'static,
    ) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        // The handlers are installed before this function returns, so no signal is lost.
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
                        _ = hup.recv() => on_event(SignalEvent::Reload(handle.reload())),
                    }
                }
            });
            // The callback runs before the server stops, because the process of an idle server ends
            // at once.
            on_event(SignalEvent::Stop);
            handle.stop();
        };
        thread::Builder::new().name("signals".to_owned()).spawn(listen)?;
        Ok(())
    }
}
