//! Damaged content is fetched again; damaged rows are skipped.

use std::path::PathBuf;
use std::sync::Arc;

use rutter_fetch::Url;
use rutter_store::prelude::*;
use rutter_store::{QueryError, SqliteStore, StorageError};
use rutter_sync::{AuditReport, ProblemKind, SyncOptions, SyncReport};
use rutter_testkit::server::Reply;

use crate::test_site::{SITE, TestSite, body, synced_collection, urlset};

/// A site with a replica in a file.
struct Copy {
    site: TestSite,
    store: Arc<SqliteStore>,
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl Copy {
    fn new(site: TestSite) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replica.db");
        let store = SqliteStore::open(&path, rutter_store::StoreOptions::default()).unwrap();
        Self { site, store: Arc::new(store), path, _folder: folder }
    }

    fn syncer(&self) -> rutter_sync::Syncer {
        let store = Arc::clone(&self.store) as Arc<dyn Store>;
        self.site.syncer_of(store, TestSite::settings(), SyncOptions::default())
    }

    async fn sync(&self) -> SyncReport {
        self.syncer().sync(&Url::parse(SITE).unwrap(), &()).await.unwrap()
    }

    async fn audit(&self) -> AuditReport {
        self.syncer().audit(&Url::parse(SITE).unwrap()).await.unwrap()
    }

    fn line(&self, path: &str) -> Result<Option<String>, QueryError> {
        self.store.line(&format!("http://harbour.example{path}"))
    }

    /// Overwrites the stored content of a page.
    fn damage(&self, path: &str) {
        let database = rusqlite::Connection::open(&self.path).unwrap();
        let changed = database.execute(
            "UPDATE body SET z = zeroblob(length(z))
             WHERE id = (SELECT body FROM page WHERE url = ?1)",
            [format!("http://harbour.example{path}")],
        );
        assert_eq!(changed.unwrap(), 1);
        assert!(self.is_damaged(path));
    }

    /// Changes a column of the row of a page without updating its seal.
    fn damage_row(&self, path: &str, column: &str) {
        let database = rusqlite::Connection::open(&self.path).unwrap();
        let value = if column == "digest" { "x'00'" } else { "'damaged'" };
        let changed = database.execute(
            &format!("UPDATE page SET {column} = {value} WHERE url = ?1"),
            [format!("http://harbour.example{path}")],
        );
        assert_eq!(changed.unwrap(), 1);
    }

    fn is_damaged(&self, path: &str) -> bool {
        matches!(self.line(path), Err(QueryError::Storage(StorageError::Damaged(_))))
    }
}

/// A sitemap whose dates keep its pages from being requested again.
fn dated(site: &TestSite) {
    let entry = |path: &str| {
        format!(
            "<url><loc>http://harbour.example{path}</loc>\
             <lastmod>2027-01-01T00:00:00Z</lastmod></url>"
        )
    };
    let urls = format!("{}{}", entry("/a"), entry("/b"));
    site.file("/sitemap.xml", "application/xml", urlset(&urls));
}

#[tokio::test]
async fn audit_marks_damaged_crawled_page_and_next_sync_fetches_it() {
    let copy = Copy::new(TestSite::new());
    dated(&copy.site);
    copy.site.html("/a", &body("A", "Text of A.")).html("/b", &body("B", "Text of B."));
    copy.sync().await;
    let good = copy.line("/a").unwrap().unwrap();
    copy.damage("/a");
    let audit = copy.audit().await;
    assert!(audit.is_bad() && audit.marked == 1, "{audit:?}");
    // Until then, readers report the damage.
    assert!(copy.is_damaged("/a"));
    let n_asked = copy.site.server.paths().len();
    copy.sync().await;
    assert_eq!(copy.line("/a").unwrap().unwrap(), good);
    let asked = copy.site.asked(n_asked);
    let pages: Vec<&String> = asked.iter().filter(|path| path.len() == 2).collect();
    assert_eq!(pages, ["/a"]);
    let audit = copy.audit().await;
    assert!(!audit.is_bad() && audit.marked == 0, "{audit:?}");
    // The repair is done only once.
    let n_asked = copy.site.server.paths().len();
    copy.sync().await;
    assert!(!copy.site.asked(n_asked).contains(&"/a".to_owned()));
}

#[tokio::test]
async fn audit_marks_damaged_collection_page_and_next_sync_takes_a_snapshot() {
    let site = TestSite::new();
    synced_collection(&site).await;
    let copy = Copy::new(site);
    copy.sync().await;
    let good = copy.line("/a").unwrap().unwrap();
    copy.damage("/a");
    assert_eq!(copy.audit().await.marked, 1);
    let n_asked = copy.site.server.paths().len();
    let report = copy.sync().await;
    assert_eq!(copy.line("/a").unwrap().unwrap(), good);
    assert!(report.problems.is_empty(), "{report:?}");
    let asked = copy.site.asked(n_asked);
    assert!(asked.contains(&"/all-1.scp".to_owned()), "{asked:?}");
    assert!(!asked.contains(&"/a".to_owned()), "{asked:?}");
    let n_asked = copy.site.server.paths().len();
    copy.sync().await;
    assert!(!copy.site.asked(n_asked).contains(&"/all-1.scp".to_owned()));
    assert!(!copy.audit().await.is_bad());
}

#[tokio::test]
async fn crawl_fetches_damaged_page_again_where_the_server_says_unchanged() {
    let copy = Copy::new(TestSite::new());
    copy.site.sitemap(&[], &["/a", "/b"]);
    copy.site.html("/a", &body("A", "Text of A."));
    // A server without validators.
    let plain = format!("<!doctype html><html lang=en>{}</html>", body("B", "Text of B."));
    copy.site.server.route("/b", [Reply::ok("text/html", plain)]);
    copy.sync().await;
    let good = [copy.line("/a").unwrap(), copy.line("/b").unwrap()];
    copy.damage("/a");
    copy.damage("/b");
    let report = copy.sync().await;
    assert!(report.problems.is_empty(), "{report:?}");
    assert_eq!([copy.line("/a").unwrap(), copy.line("/b").unwrap()], good);
}

/// Asserts that exactly this page was skipped.
fn assert_skipped(report: &SyncReport, path: &str, context: &str) {
    assert_eq!(report.worst(), Some(ProblemKind::Integrity), "{context}: {report:?}");
    let said: Vec<(&str, &str)> =
        report.problems.iter().map(|it| (it.place.as_str(), it.text.as_str())).collect();
    let url = format!("http://harbour.example{path}");
    let skipped = "the record of this page in the replica is damaged; the page was skipped";
    let counted = "1 damaged record of the replica was skipped";
    assert_eq!(said, [(url.as_str(), skipped), (&SITE[..SITE.len() - 1], counted)], "{context}");
}

const COLUMNS: [&str; 6] = ["title", "modified", "digest", "source", "withheld", "first_seen"];

#[tokio::test]
async fn crawl_by_sitemap_skips_a_damaged_row_and_goes_on() {
    for column in COLUMNS {
        let copy = Copy::new(TestSite::new());
        let site = &copy.site;
        site.sitemap(&[], &["/a", "/b", "/c"]);
        for path in ["/a", "/b", "/c"] {
            site.html(path, &body(path, "Text."));
        }
        copy.sync().await;
        copy.damage_row("/a", column);
        // New rules for every row, a changed page, a new page and a missing page.
        site.robots("user-agent: *\ndisallow: /d\n");
        site.sitemap(&[], &["/a", "/b", "/new"]);
        site.html("/b", &body("/b", "Another text.")).html("/new", &body("/new", "Text."));
        let report = copy.sync().await;
        assert_skipped(&report, "/a", column);
        let counts = (report.added, report.changed, report.removed);
        assert_eq!(counts, (1, 1, 1), "{column}: {report:?}");
        assert!(copy.line("/b").unwrap().unwrap().contains("Another text."));
        // Readers still report the damaged row.
        assert!(copy.is_damaged("/a"), "{column}");
    }
}

#[tokio::test]
async fn crawl_by_links_skips_a_damaged_row_and_goes_on() {
    for column in COLUMNS {
        let copy = Copy::new(TestSite::new());
        let site = &copy.site;
        site.html("/", &body("Home", "Text <a href=/a>a</a> <a href=/b>b</a>."));
        site.html("/a", &body("/a", "Text.")).html("/b", &body("/b", "Text."));
        copy.sync().await;
        copy.damage_row("/a", column);
        site.html("/b", &body("/b", "Another text."));
        let report = copy.sync().await;
        assert_skipped(&report, "/a", column);
        assert_eq!(report.changed, 1, "{column}: {report:?}");
    }
}

#[tokio::test]
async fn narrower_scope_skips_a_damaged_row() {
    let copy = Copy::new(TestSite::new());
    copy.site.sitemap(&[], &["/a", "/b"]);
    copy.site.html("/a", &body("A", "Text of A.")).html("/b", &body("B", "Text of B."));
    copy.sync().await;
    copy.damage_row("/a", "title");
    let rules = rutter_sync::ScopeRules { exclude: vec!["/b".into()], ..Default::default() };
    let scope = rutter_sync::Scope::new(rules).unwrap();
    let options = SyncOptions { scope, ..SyncOptions::default() };
    let store = Arc::clone(&copy.store) as Arc<dyn Store>;
    let syncer = copy.site.syncer_of(store, TestSite::settings(), options);
    let report = syncer.sync(&Url::parse(SITE).unwrap(), &()).await.unwrap();
    assert_skipped(&report, "/a", "scope");
    assert_eq!(copy.line("/b").unwrap(), None);
}

#[tokio::test]
async fn damaged_validators_cost_requests_and_end_no_sync() {
    let copy = Copy::new(TestSite::new());
    let site = &copy.site;
    site.sitemap(&[], &["/a", "/b", "/lost"]);
    let dated = "<meta name=robots content=\"unavailable_after: 2027-02-01\">";
    site.html("/a", &format!("{dated}{}", body("A", "Text of A.")));
    site.html("/b", &body("B", "Text of B."));
    site.server.route("/lost", [Reply::status(404)]);
    copy.sync().await;
    let database = rusqlite::Connection::open(&copy.path).unwrap();
    let damages = [
        "UPDATE validator SET checked = '2027-01-09T00:00:00Z'",
        "UPDATE url_note SET noted = '2027-01-09T00:00:00Z'",
    ];
    for damage in damages {
        assert!(1 < database.execute(damage, []).unwrap(), "{damage}");
    }
    let report = copy.sync().await;
    assert_eq!((report.worst(), report.is_quiet()), (None, true), "{report:?}");
    assert!(!copy.audit().await.is_bad());
    // The date of the page is known again.
    site.clock.advance(std::time::Duration::from_hours(24 * 30));
    copy.sync().await;
    assert_eq!(copy.line("/a").unwrap(), None);
    let publisher = copy.store.publishers().unwrap()[0].id;
    let left_out = rutter_sync::list_left_out(copy.store.as_ref(), publisher, None, 9).unwrap();
    assert_eq!(left_out.len(), 1);
}
