//! Finds external programs and packages, and installs them if it may.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::{root, run};

/// Checks that a program exists; installs its Debian package as root.
pub(crate) fn need(program: &str, package: &str) -> anyhow::Result<()> {
    if is_there(program) {
        return Ok(());
    }
    install(package)?;
    if !is_there(program) {
        bail!("`{program}` is missing; install the package {package} (apt-get install {package})");
    }
    Ok(())
}

/// Checks that a Debian package without a program is installed.
pub(crate) fn need_package(package: &str) -> anyhow::Result<()> {
    let is_there = || {
        let status = Command::new("dpkg").args(["--status", package]).output();
        status.is_ok_and(|out| out.status.success())
    };
    if !is_there() {
        install(package)?;
    }
    if !is_there() {
        bail!("the package {package} is missing (apt-get install {package})");
    }
    Ok(())
}

/// Installs a Debian package as root; does nothing otherwise.
fn install(package: &str) -> anyhow::Result<()> {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|out| out.stdout == b"0\n");
    if !is_root || !is_there("apt-get") {
        return Ok(());
    }
    run(Command::new("apt-get").args(["update", "-qq"]))?;
    run(Command::new("apt-get").args(["install", "-y", "-qq", package]))
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Returns a Python with these packages: that of Debian, or an environment below target/.
pub(crate) fn python(packages: &[&str]) -> anyhow::Result<PathBuf> {
    need("python3", "python3")?;
    let folder = root().join("target/xtask/python");
    let (debian, python) = (PathBuf::from("/usr/bin/python3"), folder.join("bin/python"));
    let has_all = |python: &PathBuf| {
        let script = format!("import {}", packages.join(", "));
        let check = Command::new(python).args(["-c", &script]).output();
        check.is_ok_and(|out| out.status.success())
    };
    if has_all(&debian) {
        return Ok(debian);
    }
    if has_all(&python) {
        return Ok(python);
    }
    for package in packages {
        // pip installs packages that Debian does not have.
        drop(install(&format!("python3-{package}")));
    }
    if has_all(&debian) { Ok(debian) } else { pypi(packages) }
}

/// Returns a Python below target/ with these packages from `PyPI`, even if Debian has them.
pub(crate) fn pypi(packages: &[&str]) -> anyhow::Result<PathBuf> {
    need("python3", "python3")?;
    let folder = root().join("target/xtask/python");
    let python = folder.join("bin/python");
    if !folder.join("bin/pip").is_file() {
        // Debian has the venv module in a separate package.
        let make = || run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder));
        if make().is_err() {
            install("python3-venv")?;
            make().context("cannot make a Python environment; install python3-venv")?;
        }
    }
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run(Command::new(&python).args(pip).args(packages))
        .with_context(|| format!("cannot install {} with pip", packages.join(", ")))?;
    Ok(python)
}

/// Returns a Python below target/ with exactly the packages of a requirements file with hashes.
pub(crate) fn locked_python(requirements: &Path) -> anyhow::Result<PathBuf> {
    need("python3", "python3")?;
    let folder = root().join("target/xtask/outside-python");
    let python = folder.join("bin/python");
    let wanted = fs::read(requirements).with_context(|| requirements.display().to_string())?;
    let installed = folder.join("installed");
    if fs::read(&installed).is_ok_and(|there| there == wanted) {
        return Ok(python);
    }
    let make = || run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder));
    if make().is_err() {
        install("python3-venv")?;
        make().context("cannot make a Python environment; install python3-venv")?;
    }
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run(Command::new(&python)
        .args(pip)
        .args(["--require-hashes", "--requirement"])
        .arg(requirements))?;
    fs::write(installed, wanted)?;
    Ok(python)
}

/// Returns a folder below target/ with the packages of the `package-lock.json` in `sources`, and the scripts
/// of `sources` that use them.
pub(crate) fn locked_node(sources: &Path) -> anyhow::Result<PathBuf> {
    need("node", "nodejs")?;
    need("npm", "npm")?;
    let folder = root().join("target/xtask/outside-node");
    fs::create_dir_all(&folder)?;
    for entry in fs::read_dir(sources)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "json" || ending == "mjs") {
            fs::copy(&path, folder.join(path.file_name().unwrap_or_default()))?;
        }
    }
    let wanted = fs::read(folder.join("package-lock.json"))?;
    let installed = folder.join("installed");
    if !fs::read(&installed).is_ok_and(|there| there == wanted) {
        let npm = ["ci", "--no-audit", "--no-fund", "--silent", "--ignore-scripts"];
        run(Command::new("npm").args(npm).current_dir(&folder))?;
        fs::write(installed, wanted)?;
    }
    Ok(folder)
}

/// Returns a folder below target/ whose `node_modules` has these packages of npm.
pub(crate) fn npm(packages: &[&str]) -> anyhow::Result<PathBuf> {
    need("node", "nodejs")?;
    need("npm", "npm")?;
    let folder = root().join("target/xtask/node");
    fs::create_dir_all(&folder)?;
    let has_all = packages.iter().all(|package| {
        let (name, version) = package.rsplit_once('@').unwrap_or((package, ""));
        let manifest = folder.join("node_modules").join(name).join("package.json");
        let text = fs::read_to_string(manifest).unwrap_or_default();
        text.contains(&format!("\"version\": \"{version}\""))
    });
    if !has_all {
        let npm =
            ["install", "--no-audit", "--no-fund", "--silent", "--no-save", "--ignore-scripts"];
        run(Command::new("npm").args(npm).args(packages).current_dir(&folder))
            .with_context(|| format!("cannot install {} with npm", packages.join(", ")))?;
    }
    Ok(folder)
}
