//! Handles the signals TERM and INT on a separate thread, because the main thread may be busy.

use std::io;
use std::sync::mpsc;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::exit::ExitStatus;

/// Reports the first signal. A second signal ends the process immediately; the next process that
/// opens the replica rolls back uncommitted changes.
#[derive(Debug, Clone)]
pub(crate) struct SignalWatcher(watch::Receiver<bool>);

impl SignalWatcher {
    /// Starts the thread that waits for signals.
    pub(crate) fn listen() -> io::Result<Self> {
        let (sender, receiver) = watch::channel(false);
        let (ready, is_ready) = mpsc::sync_channel(1);
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            let runtime = match tokio::runtime::Builder::new_current_thread().enable_io().build() {
                Ok(runtime) => runtime,
                Err(error) => return drop(ready.send(Err(error))),
            };
            runtime.block_on(async {
                let both = both();
                let (mut stop, mut interrupt) = match both {
                    Ok(both) => both,
                    Err(error) => return drop(ready.send(Err(error))),
                };
                drop(ready.send(Ok(())));
                next(&mut stop, &mut interrupt).await;
                sender.send_replace(true);
                next(&mut stop, &mut interrupt).await;
                end();
            });
        })?;
        is_ready.recv().map_err(io::Error::other)??;
        Ok(Self(receiver))
    }

    /// Waits for the first signal.
    pub(crate) async fn come(&mut self) {
        // If the thread that waits for signals has ended, this call waits forever.
        if self.0.wait_for(|has_come| *has_come).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

fn both() -> io::Result<(Signal, Signal)> {
    Ok((signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?))
}

async fn next(stop: &mut Signal, interrupt: &mut Signal) {
    tokio::select! {
        _ = stop.recv() => {}
        _ = interrupt.recv() => {}
    }
}

#[expect(clippy::exit, reason = "the second signal must not wait for other threads")]
fn end() {
    std::process::exit(ExitStatus::Failure as i32);
}
