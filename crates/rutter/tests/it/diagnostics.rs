//! Tests of `-v`, `-vv` and `RUTTER_LOG`.

use std::process::Output;

use rutter_testkit::server::Reply;

use crate::sync_line::{command, harbour, server};

fn sync(flags: &[&str], variable: Option<&str>) -> (Output, String) {
    let (_server, site) = harbour();
    let folder = tempfile::tempdir().unwrap();
    let mut args = flags.to_vec();
    args.extend(["sync", &site, "--allow-loopback", "--pace", "0"]);
    let mut command = command(folder.path(), &args);
    if let Some(levels) = variable {
        command.env("RUTTER_LOG", levels);
    }
    let output = command.output().unwrap();
    let messages = String::from_utf8(output.stderr.clone()).unwrap();
    (output, messages)
}

#[test]
fn diagnostic_events_are_off_by_default() {
    let (output, messages) = sync(&[], None);
    assert!(output.status.success(), "{messages}");
    assert!(!messages.contains("INFO") && !messages.contains("DEBUG"), "{messages}");
}

#[test]
fn one_flag_shows_steps_and_two_flags_show_requests() {
    let (output, messages) = sync(&["-v"], None);
    assert!(output.status.success(), "{messages}");
    assert!(messages.contains("INFO") && !messages.contains("DEBUG"), "{messages}");
    let (_, messages) = sync(&["-vv"], None);
    assert!(messages.contains("DEBUG") && messages.contains("/robots.txt"), "{messages}");
}

#[test]
fn diagnostic_events_do_not_change_the_data_on_stdout() {
    let (plain, _) = sync(&["--quiet"], None);
    let (logged, messages) = sync(&["--quiet"], Some("debug"));
    assert!(messages.contains("DEBUG"), "{messages}");
    assert_eq!(plain.stdout, logged.stdout);
}

#[test]
fn secret_parameters_of_urls_are_not_printed() {
    let server = server();
    let site = format!("http://{}", server.address());
    let sitemap = format!(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
         xmlns:scp=\"https://scp-protocol.org/schemas/sitemap/1.0\">\
         <scp:collection section=\"all\" type=\"snapshot\" url=\"{site}/all.scp?token=SECRET123\" \
         generated=\"2026-10-01T00:00:00Z\" expires=\"2028-01-01T00:00:00Z\" pages=\"5\" \
         size=\"1000\"/></urlset>"
    );
    server.route("/sitemap.xml", [Reply::file("application/xml", "\"1\"", sitemap)]);
    let folder = tempfile::tempdir().unwrap();
    let args = ["-vv", "sync", &site, "--allow-loopback", "--pace", "0"];
    let output = command(folder.path(), &args).output().unwrap();
    let messages = String::from_utf8(output.stderr).unwrap();
    assert!(messages.contains("applying a collection"), "{messages}");
    assert!(!messages.contains("SECRET123"), "{messages}");
}

#[test]
fn rejects_variable_that_is_not_a_list_of_levels() {
    let (output, messages) = sync(&[], Some("rutter_fetch=loud"));
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        messages,
        "error: RUTTER_LOG is not a level or a list like rutter_sync=debug: \"rutter_fetch=loud\"\n"
    );
}
