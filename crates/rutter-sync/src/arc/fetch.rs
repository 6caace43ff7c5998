//! Requests the files of an ARC sitemap and the SPXI index.

use std::io::{self};

use rutter_arc::ArcError;
use rutter_fetch::{FailureCause, FetchedResponse, Request, ResourceKind, Url, Validators};

use crate::context::SiteContext;
use crate::error::SyncError;
use crate::run::SyncRun;

/// Requests a file with its known validators; returns `None` if the file cannot be fetched
/// now.
pub(super) async fn fetch_file(
    run: &mut SyncRun<'_>,
    url: &str,
    what: ResourceKind,
    known: &Validators,
) -> Result<Option<FetchedResponse>, SyncError> {
    let Ok(address) = Url::parse(url) else { return Ok(None) };
    // Each URL has its own spool file, because several deltas are kept at the same time.
    let spool = (what == ResourceKind::Arc).then(|| run.context.spool_dir.beside(url));
    let site = Some(run.context.site.clone());
    let request = Request { validators: known.clone(), site, spool, ..Request::new(address, what) };
    match run.context.client.fetch(&request).await {
        Ok(response) => {
            run.context.traffic.add_bytes(response.wire_bytes);
            Ok(Some(response))
        }
        Err(error) => {
            if let FailureCause::Spool(_) = error.cause {
                return Err(error.into());
            }
            run.add_fetch_problem(&error)?;
            Ok(None)
        }
    }
}

/// Returns the error for a spool file that cannot be read again.
pub(super) fn spool_error(context: &SiteContext<'_>, url: &str, error: io::Error) -> SyncError {
    SyncError::Spool(context.spool_dir.beside(url), error)
}

pub(super) fn read_error(context: &SiteContext<'_>, url: &str, error: ArcError) -> SyncError {
    spool_error(context, url, io::Error::other(error))
}
