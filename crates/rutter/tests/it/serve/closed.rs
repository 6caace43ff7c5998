//! Tests of closed pages at the start, invalid arguments and tokens.

use std::fs;
use std::path::Path;

use super::{Serving, build, copied, now, rutter};

/// Returns the message of a server that fails to start.
fn one_line(folder: &Path, args: &[&str]) -> String {
    let output = rutter().arg("serve").args(args).current_dir(folder).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{args:?}: {said}");
    said
}

#[test] // ARC-064
fn login_pages_stay_closed_without_state() {
    let folder = copied();
    let args = ["--restricted", "/museum/members.html"];
    build(folder.path(), now() - 60, &args);
    fs::write(folder.path().join("tokens.toml"), "").unwrap();
    // Only the published files exist.
    let start = |args: &[&str], line: &str| {
        let mut serving = Serving::of(folder.path(), &[&["public"], args].concat());
        let said = serving.hear(line);
        (serving, said)
    };
    for args in [&[][..], &["--tokens", "tokens.toml"]] {
        let (serving, said) = start(args, "1 closed path, 0 tokens");
        assert!(said.contains("ARC sitemap"), "{said}");
        assert_eq!(serving.get("/museum/members.html", &[]).status, 401);
        assert_eq!(serving.get("/museum/", &[]).status, 200);
    }
    // With the state, as a build finds it.
    let mut command = rutter();
    command.args(["serve", "public", "--listen", "localhost:0"]).current_dir(folder.path());
    let mut serving = Serving::spawn({
        command.env("RUTTER_STATE", "state");
        command
    });
    serving.hear("using state/served.json");
    serving.hear("2 closed paths, 0 tokens");
    assert_eq!(serving.get("/museum/members.html", &[]).status, 401);
    // A sitemap that cannot be read, and none at all.
    let sitemap = folder.path().join("public/arc-sitemap.json");
    fs::write(&sitemap, "{").unwrap();
    assert!(one_line(folder.path(), &["public"]).contains("arc-sitemap.json"));
    start(&["--open"], "warning: no page is closed");
    fs::remove_file(&sitemap).unwrap();
    fs::remove_file(folder.path().join("public/.well-known/arc-sitemap.json")).unwrap();
    let said = one_line(folder.path(), &["public", "--tokens", "tokens.toml"]);
    assert!(said.contains("no served.json and no ARC sitemap"), "{said}");
    start(&[], "warning: no page is closed: no served.json and no readable ARC sitemap");
}

#[test]
fn invalid_arguments_give_one_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("public")).unwrap();
    fs::write(folder.path().join("afile"), "").unwrap();
    for (args, wanted) in [
        (&["afile"][..], "afile is a file, expected a folder"),
        (&["nowhere"], "nowhere"),
        (&["public", "--tokens", "nope.toml"], "nope.toml"),
        (&["public", "--rate", "0/s"], "--rate 0/s: expected a rate"),
        (&["public", "--state", "nope"], "do not set --state"),
    ] {
        let said = one_line(folder.path(), args);
        assert!(said.contains(wanted), "{said}");
    }
    for args in [
        ["--burst", "0"],
        ["--connections", "0"],
        ["--connections-per-address", "0"],
        ["--workers", "0"],
        ["--bandwidth", "0"],
        ["--listen", "nonsense"],
    ] {
        let mut command = rutter();
        command.args(["serve", "public"]).args(args).current_dir(folder.path());
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.lines().next().unwrap().contains(args[0]), "{said}");
    }
}

#[test] // ARC-066
fn tokens_are_listed_and_revoked_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let token = |args: &[&str]| {
        let output = rutter().arg("token").args(args).current_dir(folder.path()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    assert_eq!(token(&["new", "one"]).0, Some(0));
    assert_eq!(token(&["new", "two", "--rate", "10/m", "--scope", "content"]).0, Some(0));
    let (code, _, said) = token(&["new", "three", "--expires", "2020-01-01T00:00:00Z"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("--expires 2020-01-01T00:00:00Z is in the past"), "{said}");
    let (code, list, _) = token(&["list"]);
    let wanted = "`one`: entries, one request every 1 s, does not expire\n`two`: content, one request every 6 s, does not expire\n";
    assert_eq!((code, list.as_str()), (Some(0), wanted));
    assert_eq!(token(&["revoke", "one"]).0, Some(0));
    assert_eq!(token(&["list"]).1.lines().count(), 1);
    let (code, _, said) = token(&["revoke", "one"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("tokens.toml") && said.contains("no token is named `one`"), "{said}");
}
