//! Tests of `-v`, `-vv` and `RUTTER_LOG`.

use std::process::Output;

use crate::sync_line::{command, harbour};

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
fn rejects_variable_that_is_not_a_list_of_levels() {
    let (output, messages) = sync(&[], Some("rutter_fetch=loud"));
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        messages,
        "error: RUTTER_LOG is not a level or a list like rutter_sync=debug: \"rutter_fetch=loud\"\n"
    );
}
