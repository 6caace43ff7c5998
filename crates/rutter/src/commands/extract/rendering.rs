//! Renders pages whose text needs scripts, with Chromium or with a command of the user.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;

use super::inputs::{InputPage, shared_folder};
use super::project::Project;
use super::{ExtractArgs, ExtractionContext, MAX_PAGE_BYTES};
use crate::render::{Chromium, RenderLimits, Sandbox};

/// Returns the browser for a page. The browser can load the files of the project's site, else the
/// files of the common folder of the pages.
pub(super) fn browser(args: &ExtractArgs, job: &InputPage, site: &ExtractionContext) -> Chromium {
    let sandbox = if args.render_no_sandbox { Sandbox::Off } else { Sandbox::On };
    let chromium = |folder: Option<PathBuf>, base: String| {
        let limits = RenderLimits::USUAL;
        Chromium { program: "chromium".into(), sandbox, limits, folder, base }
    };
    let project = site
        .project
        .as_ref()
        .filter(|project| args.url.is_none() && project.address(&job.path).is_some());
    if let Some((folder, base)) = project.and_then(Project::root) {
        return chromium(Some(folder), base);
    }
    let folder = match args.files.as_slice() {
        [folder] if folder.is_dir() => Some(folder.clone()),
        [file] if file.as_os_str() == "-" => None,
        [file] => file.parent().map(Path::to_owned),
        several => Some(shared_folder(several)),
    };
    let folder = folder.map(|it| if it.as_os_str().is_empty() { PathBuf::from(".") } else { it });
    let is_one_file = args.files.len() == 1 && args.files.iter().all(|path| !path.is_dir());
    let url = if is_one_file { job.url.as_str() } else { args.base() };
    // The base URL of a file is the URL of its folder.
    let base = url.split(['?', '#']).next().unwrap_or(url);
    let base = match base.rsplit_once('/') {
        Some((base, _)) if is_one_file => format!("{base}/"),
        _ => format!("{}/", base.trim_end_matches('/')),
    };
    chromium(folder, base)
}

/// Runs the command that renders a page.
pub(super) fn render(command: &str, job: &InputPage, page: Vec<u8>) -> anyhow::Result<Vec<u8>> {
    use std::io::Write;

    let mut child = Command::new("sh")
        .args(["-c", command])
        .env("RUTTER_URL", job.url.as_str())
        .env("RUTTER_FILE", &job.path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run the render command")?;
    let mut input = child.stdin.take().context("the render command has no input")?;
    // A command may ignore its input, so an error of the write is ignored.
    let feeding = std::thread::spawn(move || drop(input.write_all(&page)));
    let output = child.stdout.take().context("the render command has no output")?;
    let mut rendered = Vec::new();
    output
        .take(MAX_PAGE_BYTES + 1)
        .read_to_end(&mut rendered)
        .context("cannot read the output of the render command")?;
    anyhow::ensure!(
        rendered.len() as u64 <= MAX_PAGE_BYTES,
        "{}: the render command printed more than {MAX_PAGE_BYTES} bytes",
        job.name()
    );
    drop(feeding.join());
    let status = child.wait().context("cannot wait for the render command")?;
    anyhow::ensure!(
        status.success(),
        "{}: the render command failed ({status})",
        job.path.display()
    );
    Ok(rendered)
}
