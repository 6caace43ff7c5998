//! Syncs one site: reads its stored state, brings its replica up to date, and stores the
//! next state.
//!
//! Input: a site URL, the replica and [`SyncOptions`]. Output: a [`SyncReport`] or a
//! [`SyncError`]. `SyncRun::execute` shows the order of the steps. Changes of pages are
//! separate commits, so the replica is valid after an interrupted sync.

mod preview;
mod steps;

pub use preview::SyncPreview;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rutter_fetch::{Client, ClientSettings, Environment, Url, redact_url};
use rutter_store::{Publisher, Store};
use tracing::{Instrument as _, info_span};

use crate::consent::page_policy::{PagePolicy, origin_of};
use crate::consent::scope::ScopeRules;
use crate::context::{DamagedRows, SiteContext};
use crate::discover::AccessMethod;
use crate::error::SyncError;
use crate::options::{SyncObserver, SyncOptions};
use crate::report::SyncReport;
use crate::report::visit_record::record;
use crate::run::{SettingChanges, SyncRun};
use crate::state::delivered_pages::DeliveredPages;
use crate::state::lease_guard::LeaseGuard;
use crate::state::site_state::SiteState;
use crate::state::spool_dir::SpoolDir;
use crate::traffic::{CountingLog, TrafficCounter, counted};

/// Seconds for which the change history is kept (D26).
const HISTORY_KEPT: i64 = 400 * 86_400;

/// Syncs sites into a replica, with one HTTP client.
pub struct Syncer {
    pub(crate) client: Client,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) spools: PathBuf,
    pub(crate) options: SyncOptions,
}

impl std::fmt::Debug for Syncer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Syncer").field("spools", &self.spools).finish_non_exhaustive()
    }
}

impl Syncer {
    /// Creates a syncer that stores pages in `store`, and downloaded files in directory
    /// `spools`.
    pub fn new(
        settings: ClientSettings,
        environment: Environment,
        store: Arc<dyn Store>,
        spools: PathBuf,
        options: SyncOptions,
    ) -> Self {
        let environment =
            Environment { log: Arc::new(CountingLog(Arc::clone(&environment.log))), ..environment };
        Self { client: Client::new(settings, environment), store, spools, options }
    }

    /// Returns the options of this syncer.
    pub fn options(&self) -> &SyncOptions {
        &self.options
    }

    /// Returns a syncer with other options. Both syncers share the client, including its
    /// delays between requests to a host.
    #[must_use]
    pub fn with_options(&self, options: SyncOptions) -> Self {
        Self {
            client: self.client.clone(),
            store: Arc::clone(&self.store),
            spools: self.spools.clone(),
            options,
        }
    }

    /// Sets the minimum time between two requests to the host of a site.
    pub fn set_min_delay(&self, site: &Url, pace: Duration) {
        if let Some(host) = site.host_str() {
            self.client.set_min_delay(host, pace);
        }
    }

    /// Brings the replica of a site up to date by the cheapest access method.
    ///
    /// # Errors
    ///
    /// Returns an error if the site could not be synced at all. Failures of single files
    /// are problems in the report.
    pub async fn sync(
        &self,
        site: &Url,
        observer: &dyn SyncObserver,
    ) -> Result<SyncReport, SyncError> {
        let traffic = Arc::new(TrafficCounter::default());
        let span = info_span!("site", url = %redact_url(site));
        let run = self.sync_counted(site, observer, &traffic).instrument(span);
        let result = Box::pin(counted(&traffic, run)).await;
        if let Some(origin) = origin_of(site) {
            let now = self.client.environment().clock.now();
            // An error of the sync takes precedence over an error of recording it.
            let recorded = record(self.store.as_ref(), &origin, now, &traffic, &result);
            if let (Ok(_), Err(error)) = (&result, recorded) {
                return Err(error);
            }
        }
        result
    }

    async fn sync_counted(
        &self,
        site: &Url,
        observer: &dyn SyncObserver,
        traffic: &Arc<TrafficCounter>,
    ) -> Result<SyncReport, SyncError> {
        let mut run = self.begin(site, observer, traffic)?;
        let spool_dir = run.context.spool_dir.clone();
        let collected = match run.execute().await {
            Ok(discovery) => run.end(discovery),
            Err(error) => {
                // The error of the sync takes precedence over an error of `unregister`.
                drop(run.unregister());
                Err(error)
            }
        };
        spool_dir.tidy();
        collected
    }

    /// Deletes old changes from the history and frees disk space. Call this function after
    /// syncs.
    pub fn maintain(&self) -> Result<(), SyncError> {
        let now = self.client.environment().clock.now();
        Ok(self.store.maintain(now.plus_seconds(-HISTORY_KEPT))?)
    }

    pub(crate) fn begin<'v>(
        &'v self,
        site: &Url,
        observer: &'v dyn SyncObserver,
        traffic: &Arc<TrafficCounter>,
    ) -> Result<SyncRun<'v>, SyncError> {
        let origin = origin_of(site).ok_or_else(|| SyncError::Site(redact_url(site)))?;
        let clock = &self.client.environment().clock;
        let now = clock.now();
        let paused = |known: &Publisher| known.paused_until.filter(|until| now < *until);
        let known = self.store.publisher(&origin)?;
        if let Some(until) = known.as_ref().and_then(paused) {
            return Err(SyncError::Paused { origin, until });
        }
        let aliases: Vec<&str> = self.options.aliases.iter().map(String::as_str).collect();
        let publisher = match &known {
            Some(known) => known.id,
            None => self.store.register(&origin, &aliases)?,
        };
        let lease_guard = LeaseGuard::take(&self.store, publisher, clock)?;
        // The publisher is read again, because the previous holder of the lease may have
        // changed the state.
        let known = self.store.publisher(&origin)?;
        let state = self.store.site_state(publisher)?;
        let is_first = state.is_none();
        let mut state = SiteState::read(&origin, &state.unwrap_or_default())?;
        // A mass deletion that this sync does not encounter again is no longer held back.
        let held = std::mem::take(&mut state.held_deletions);
        // The stored aliases stay in use until the options name others.
        let named = Some(&self.options.aliases).filter(|aliases| !aliases.is_empty());
        let known_aliases = known.as_ref().map(|publisher| &publisher.aliases);
        let aliases = named.or(known_aliases).cloned().unwrap_or_default();
        let mut page_policy = PagePolicy::new(&origin, &aliases);
        page_policy.set_scope(self.options.scope.clone());
        let page_policy = Arc::new(page_policy);
        let has_other_hosts = state.update_hosts(page_policy.hosts());
        let has_larger_quota =
            state.settings.exceeded_quota.is_some_and(|quota| quota < self.options.quota.bytes);
        let has_other_scope = state.settings.scope.as_ref().unwrap_or(&ScopeRules::default())
            != self.options.scope.rules();
        let since = self.store.cursor()?;
        let delivered = DeliveredPages::since(&self.store.sections(publisher)?);
        let spool_dir = SpoolDir::open(&self.spools, &origin)?;
        spool_dir.sweep(now.plus_seconds(-self.options.spools_kept));
        let report = SyncReport::new(&origin, AccessMethod::Nothing);
        let context = SiteContext {
            client: &self.client,
            store: &self.store,
            options: &self.options,
            observer,
            site: site.clone(),
            origin,
            publisher,
            lease_guard,
            spool_dir,
            traffic: Arc::clone(traffic),
            now,
            damaged_rows: DamagedRows::default(),
        };
        Ok(SyncRun {
            context,
            state,
            page_policy,
            changes: SettingChanges {
                is_first,
                has_other_hosts,
                has_larger_quota,
                has_other_scope,
            },
            has_crawled: false,
            is_cut_short: false,
            foreign_arc: None,
            since,
            delivered,
            listed: None,
            held,
            report,
        })
    }
}
