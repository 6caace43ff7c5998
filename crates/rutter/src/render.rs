//! Renders pages that have no text without scripts, with Debian's Chromium.
//!
//! Input: the bytes of a page, its URL, and the folder of its scripts. Output: the HTML of the page
//! after its scripts ran. Chromium runs headless and sandboxed, with a new profile. Its only network
//! access is a [`proxy`] that serves the folder and refuses other requests. Pages beyond
//! [`RenderLimits`] are rejected and the browser is stopped.

mod proxy;

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use proxy::{RenderProxy, ServedFiles};
use rutter_page::PageUrl;

/// Limits for rendering one page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RenderLimits {
    /// Maximum time on the virtual clock of the page, which skips waiting.
    pub(crate) virtual_time: Duration,
    /// Maximum running time of the browser.
    pub(crate) wall_time: Duration,
    /// Maximum size of the rendered page in bytes.
    pub(crate) page_bytes: u64,
    /// Maximum number of requests of the page.
    pub(crate) requests: usize,
    /// Maximum total size of all responses in bytes.
    pub(crate) answer_bytes: u64,
    /// Maximum size of the script heap in megabytes.
    pub(crate) heap_megabytes: u32,
}

impl RenderLimits {
    pub(crate) const USUAL: Self = Self {
        virtual_time: Duration::from_secs(10),
        wall_time: Duration::from_secs(30),
        page_bytes: 20_000_000,
        requests: 200,
        answer_bytes: 50_000_000,
        heap_megabytes: 512,
    };
}

/// Whether Chromium uses its sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sandbox {
    On,
    /// The user takes care of isolation, for example with a container.
    Off,
}

/// Why a page was not rendered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RenderError {
    #[error(
        "Chromium does not run its sandbox as root; use another user, or --render-no-sandbox inside \
         a container"
    )]
    Root,
    #[error("cannot run `{0}`")]
    Start(PathBuf, #[source] std::io::Error),
    #[error("cannot create the temporary profile folder of the browser")]
    Profile(#[source] std::io::Error),
    #[error("cannot start the proxy of the browser")]
    Proxy(#[source] std::io::Error),
    #[error("rendering the page took longer than {} s", .0.as_secs())]
    TooLong(Duration),
    #[error("the rendered page has more than {0} bytes")]
    TooLarge(u64),
    #[error("Chromium failed ({0})")]
    Failed(String),
}

/// The browser with its settings.
#[derive(Debug)]
pub(crate) struct Chromium {
    pub(crate) program: PathBuf,
    pub(crate) sandbox: Sandbox,
    pub(crate) limits: RenderLimits,
    /// The folder that is served below `base`; `None` if only the page is served.
    pub(crate) folder: Option<PathBuf>,
    /// The URL of the folder.
    pub(crate) base: String,
}

impl Chromium {
    /// Renders a page.
    pub(crate) fn render(&self, url: &PageUrl<'_>, page: &[u8]) -> Result<Vec<u8>, RenderError> {
        let is_root = std::fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0);
        if is_root && self.sandbox == Sandbox::On {
            return Err(RenderError::Root);
        }
        let profile = tempfile::tempdir().map_err(RenderError::Profile)?;
        let served = ServedFiles {
            page: page.to_vec(),
            // The proxy has no certificate, so it serves the page over plain HTTP.
            url: without_tls(url.as_str()),
            folder: self.folder.clone(),
            base: without_tls(&self.base),
            limits: self.limits,
        };
        let proxy = RenderProxy::start(served).map_err(RenderError::Proxy)?;
        let mut command = self.command(profile.path(), proxy.port());
        command.arg(without_tls(url.as_str()));
        let child = command.spawn();
        let mut child = child.map_err(|error| RenderError::Start(self.program.clone(), error))?;
        let rendered = self.read(&mut child);
        // Stop all processes of the browser, even after an error.
        kill_group(&child);
        let status = child.wait();
        let rendered = rendered?;
        match status {
            Ok(status) if rendered.is_empty() => Err(RenderError::Failed(status.to_string())),
            _ => Ok(rendered),
        }
    }

    fn command(&self, profile: &std::path::Path, port: u16) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(["--headless", "--disable-gpu", "--no-first-run", "--hide-scrollbars"])
            .args(["--mute-audio", "--disable-extensions", "--disable-sync"])
            .args(["--disable-background-networking", "--disable-component-update"])
            .args(["--disable-default-apps", "--disable-dev-shm-usage", "--no-pings"])
            .args(["--disable-breakpad", "--disable-crash-reporter"])
            // All requests use the proxy, including requests to loopback; Chromium resolves no host
            // names.
            .arg(format!("--proxy-server=http://127.0.0.1:{port}"))
            .arg("--proxy-bypass-list=<-loopback>")
            .arg("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
            .args(["--disable-quic", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp"])
            .arg("--blink-settings=imagesEnabled=false")
            .arg(format!("--js-flags=--max-old-space-size={}", self.limits.heap_megabytes))
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(format!("--virtual-time-budget={}", self.limits.virtual_time.as_millis()))
            .arg("--dump-dom");
        if self.sandbox == Sandbox::Off {
            command.arg("--no-sandbox");
        }
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", profile)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0);
        command
    }

    /// Reads the output of the browser, up to the limits of size and time.
    fn read(&self, child: &mut Child) -> Result<Vec<u8>, RenderError> {
        let Some(output) = child.stdout.take() else { return Ok(Vec::new()) };
        let most = self.limits.page_bytes;
        let (send, receive) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = output.take(most + 1).read_to_end(&mut bytes);
            drop(send.send(read.map(|_| bytes)));
        });
        match receive.recv_timeout(self.limits.wall_time) {
            Ok(Ok(bytes)) if most < bytes.len() as u64 => Err(RenderError::TooLarge(most)),
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(error)) => Err(RenderError::Failed(error.to_string())),
            Err(_) => Err(RenderError::TooLong(self.limits.wall_time)),
        }
    }
}

/// Kills the process group of the browser.
fn kill_group(child: &Child) {
    let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        // An error means that the group no longer exists.
        _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

/// Replaces https with http in a URL.
fn without_tls(url: &str) -> String {
    url.strip_prefix("https://").map_or_else(|| url.to_owned(), |rest| format!("http://{rest}"))
}

#[cfg(test)]
mod tests;
