//! Tests for the scores of signals, and for pages that are or are not shells.

use super::*;
use crate::Limits;

fn signals(page: &str) -> ShellSignals {
    let dom = Dom::parse(page, &Limits::USUAL);
    let title = (0..dom.len()).find(|at| dom.item(*at).tag == Tag::Title).map(|at| dom.words(at));
    ShellSignals::of(&dom, page.len(), title.as_deref())
}

#[test]
fn score_adds_up_the_signals() {
    let bare = ShellSignals { has_script: true, ..ShellSignals::default() };
    for (score, signals) in [
        (5, bare),
        (0, ShellSignals::default()),
        (0, ShellSignals { own_chars: 600, has_empty_mount: true, ..bare }),
        (3, ShellSignals { own_chars: 20, ..bare }),
        (3, ShellSignals { frame_chars: 300, ..bare }),
        (2, ShellSignals { has_media: true, ..bare }),
        (7, ShellSignals { own_chars: 20, has_empty_mount: true, ..bare }),
        (7, ShellSignals { own_chars: 49, has_empty_mount: true, ..bare }),
        (0, ShellSignals { own_chars: 50, has_empty_mount: true, ..bare }),
        (8, ShellSignals { own_chars: 199, has_empty_mount: true, is_loading: true, ..bare }),
        (7, ShellSignals { own_chars: 199, has_empty_mount: true, has_payload: true, ..bare }),
        (5, ShellSignals { own_chars: 200, has_empty_mount: true, is_loading: true, ..bare }),
        (8, ShellSignals { asks_for_scripts: true, ..bare }),
        (
            3,
            ShellSignals {
                own_chars: 90,
                asks_for_scripts: true,
                has_bundle: true,
                has_prose: true,
                ..bare
            },
        ),
        (
            3,
            ShellSignals {
                own_chars: 40,
                has_payload: true,
                has_bundle: true,
                script_share: 80,
                has_prose: true,
                ..bare
            },
        ),
        (5, ShellSignals { own_chars: 10, is_loading: true, ..bare }),
    ] {
        assert_eq!(signals.score(), score, "{signals:?}");
        assert_eq!(signals.is_shell(), 5 <= score, "{signals:?}");
    }
}

#[test]
fn pages_that_scripts_fill_are_shells() {
    for page in [
        "<title>App</title><script src=/app.js></script>",
        "<div id=root></div><script src=/static/js/main.3f9c.js></script>",
        "<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>\
         <script type=module src=/assets/index-9a1.js></script>",
        "<header>Harbour</header><nav><a href=/>Home</a></nav><div id=app><div class=spinner></div>\
         </div><footer>Legal notice and contact</footer><script src=/js/app.11.js></script>",
        "<div id=__next><p>Loading\u{2026}</p></div><script src=/_next/static/a.js></script>",
        "<app-root></app-root><script src=runtime.js></script><script src=main.js></script>",
        "<title>Charts | Harbour</title><h1>Charts</h1><script src=/x.js></script>",
        "<p>Please enable JavaScript to view this page.</p><script src=x.js></script>",
        "<div>Skip to content</div><app-root></app-root><script src=main.js></script>",
        "Skip to content<app-root></app-root><script src=main.js></script>",
    ] {
        let signals = signals(page);
        assert!(signals.is_shell(), "{page} {signals:?}");
    }
}

#[test]
fn short_but_complete_pages_are_no_shells() {
    for page in [
        "<title>x</title>",
        "<title>Page not found</title><h1>404</h1><p>Page not found</p><script src=/count.js></script>",
        "<p>Closed on Sundays.</p><script src=https://stats.example/count.js></script>",
        "<div id=__next><h1>404</h1><h2>This page could not be found.</h2></div>\
         <script id=__NEXT_DATA__ type=application/json>{\"page\":\"/404\"}</script>\
         <script src=/_next/static/chunks/main-1.js></script>",
        "<img src=/map.png alt=Map><script src=/count.js></script>",
        "<video src=/film.mp4></video><script src=/count.js></script>",
        "<iframe src=/tour></iframe><script src=/count.js></script>",
        "<nav><a href=/a>Charts of the harbour</a><a href=/b>Tides</a></nav><script src=/x.js></script>",
        "<h1>Guests</h1><p>Thanks for all the notes.</p><div id=app></div><noscript>Please enable \
         JavaScript to read the comments.</noscript><img src=/boat.jpg><script src=/c.js></script>",
        "<div>Harbour Office, Quay 4, 26382 Wilhelmshaven, open from 8 to 16, VHF 11</div>\
         <div id=app></div><script src=/map.js></script>",
        "<p>What is JavaScript? It is a language.</p><script src=/x.js></script>",
    ] {
        let signals = signals(page);
        assert!(!signals.is_shell(), "{page} {signals:?} {}", signals.score());
    }
}
