//! Signals, on a thread of their own: the one that works may be busy.

use std::io;
use std::sync::mpsc;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::exit::Exit;

/// Tells when a signal came. A second one ends the process at once: what is
/// not committed is undone by whoever opens the replica next.
#[derive(Debug, Clone)]
pub(crate) struct Signals(watch::Receiver<bool>);

impl Signals {
    /// Begins to listen.
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

    /// Comes back once a signal came.
    pub(crate) async fn come(&mut self) {
        // Where nobody listens any more, none will come.
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

#[expect(clippy::exit, reason = "whoever asks twice does not want to wait for anybody")]
fn end() {
    std::process::exit(Exit::Failure as i32);
}
