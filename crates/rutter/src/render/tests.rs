//! Tests with Chromium, skipped if it is not installed. `cargo xtask test` installs Chromium and
//! sets the variable `CHROMIUM`, which makes it required.

use std::net::TcpListener;
use std::path::Path;

use super::*;

const URL: &str = "https://harbour.example/app.html";

/// Returns the browser for a folder, or prints a message and returns `None` if it is not installed.
#[expect(clippy::print_stderr, reason = "reports why the test is skipped")]
fn browser(folder: &Path, limits: RenderLimits) -> Option<Chromium> {
    let program = PathBuf::from("/usr/bin/chromium");
    if !program.is_file() {
        let is_needed = std::env::var_os("CHROMIUM").is_some();
        assert!(!is_needed, "chromium is not installed (apt-get install chromium)");
        eprintln!("skipped: chromium is not installed (apt-get install chromium)");
        return None;
    }
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0);
    let sandbox = if is_root { Sandbox::Off } else { Sandbox::On };
    let base = "https://harbour.example/".to_owned();
    Some(Chromium { program, sandbox, limits, folder: Some(folder.to_owned()), base })
}

fn render(
    page: &str,
    files: &[(&str, &str)],
    limits: RenderLimits,
) -> Option<Result<String, RenderError>> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let url = PageUrl::parse(URL).unwrap();
    let rendered = browser(folder.path(), limits)?.render(&url, page.as_bytes());
    Some(rendered.map(|bytes| String::from_utf8(bytes).unwrap()))
}

#[test]
fn page_is_read_after_its_scripts_ran() {
    let page = "<!doctype html><title>Gate</title><div id=root></div><script src=/app.js></script>";
    let script = "const add = (text) => document.getElementById('root').append(text);
        fetch('/tides.json').then((it) => it.json()).then((it) => add('High water at ' + it.high));
        setTimeout(() => add('Channel 11'), 3000);";
    let files = [("app.js", script), ("tides.json", "{\"high\":\"noon\"}")];
    let Some(rendered) = render(page, &files, RenderLimits::USUAL) else { return };
    let rendered = rendered.unwrap();
    assert!(rendered.contains("High water at noon"), "{rendered}");
    assert!(rendered.contains("Channel 11"), "{rendered}");
}

#[test]
fn page_cannot_reach_other_servers() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let page = format!(
        "<!doctype html><title>Gate</title><p id=root></p><script>
         const add = (text) => document.getElementById('root').append(text);
         for (const url of ['http://127.0.0.1:{port}/', 'http://localhost:{port}/', 'http://[::1]:{port}/',
             'https://127.0.0.1:{port}/', 'https://other.example/'])
           fetch(url).then(() => add('reached'), () => add('refused '));
         new WebSocket('ws://127.0.0.1:{port}/').onerror = () => add('no socket ');
         </script>"
    );
    let Some(rendered) = render(&page, &[], RenderLimits::USUAL) else { return };
    let rendered = rendered.unwrap();
    let shown = rendered.split("<script>").next().unwrap();
    assert!(!shown.contains("reached"), "{rendered}");
    assert_eq!(shown.matches("refused").count(), 5, "{rendered}");
    assert!(shown.contains("no socket"), "{rendered}");
    let error = listener.accept().map(|(_, from)| from).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn stops_endless_script() {
    let page = "<!doctype html><title>Gate</title><div id=root></div><script>for (;;) {}</script>";
    let limits = RenderLimits { wall_time: Duration::from_secs(3), ..RenderLimits::USUAL };
    let Some(rendered) = render(page, &[], limits) else { return };
    assert!(matches!(rendered, Err(RenderError::TooLong(_))), "{rendered:?}");
}

#[test]
fn rejects_page_that_grows_beyond_the_limit() {
    let page = "<!doctype html><title>Gate</title><p id=root></p>
        <script>document.getElementById('root').append('x'.repeat(300000))</script>";
    let limits = RenderLimits { page_bytes: 200_000, ..RenderLimits::USUAL };
    let Some(rendered) = render(page, &[], limits) else { return };
    assert!(matches!(rendered, Err(RenderError::TooLarge(200_000))), "{rendered:?}");
}

#[test]
fn sandbox_is_on_by_default() {
    let chromium = Chromium {
        program: "/usr/bin/chromium".into(),
        sandbox: Sandbox::On,
        limits: RenderLimits::USUAL,
        folder: None,
        base: URL.to_owned(),
    };
    let command = chromium.command(Path::new("/tmp/profile"), 1);
    assert!(command.get_args().all(|arg| arg != "--no-sandbox"));
    if std::fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0) {
        let error = chromium.render(&PageUrl::parse(URL).unwrap(), b"<p>x").unwrap_err();
        assert!(matches!(error, RenderError::Root), "{error}");
    }
}
