//! What the site's pages have in common: learned once, learned again when
//! they no longer fit it.

use std::collections::{BTreeMap, BinaryHeap};
use std::path::Path;
use std::sync::Arc;

use rutter_extract::{Limits, SAMPLE, Sketch, Templates, sample_key};

use crate::error::BuildError;
use crate::inventory::{Name, Names};
use crate::ledger::Rows;
use crate::pack::Keys;
use crate::plan::{Plan, Source};
use crate::worker::Worker;

/// Adapts the templates; tells how many versions were added.
pub(crate) fn fit(
    plan: &Plan,
    names: &Names,
    ledger: &Path,
    pack: &Path,
    templates: &mut Templates,
) -> Result<usize, BuildError> {
    if plan.source != Source::Html {
        return Ok(0);
    }
    let sample = sample(names);
    if templates.is_empty() {
        let sketches = sketches(plan, &sample);
        return Ok(templates.adapt(&sketches, &[]));
    }
    let changed = changed(plan, &sample, ledger, pack, templates)?;
    // One page shows no redesign, so that the whole sample need not be read.
    if changed.len() < 2 {
        return Ok(0);
    }
    let changed = sketches(plan, &changed);
    let sketches = sketches(plan, &sample);
    Ok(templates.adapt(&sketches, &changed))
}

/// The pages with the smallest hashes of their addresses, in order.
fn sample(names: &Names) -> Vec<Name<'_>> {
    let mut heap = BinaryHeap::new();
    for (at, name) in names.iter().enumerate() {
        heap.push((sample_key(name.url), at));
        if SAMPLE < heap.len() {
            heap.pop();
        }
    }
    let mut places: Vec<usize> = heap.into_iter().map(|(_, at)| at).collect();
    places.sort_unstable();
    places.into_iter().filter_map(|at| names.get(at)).collect()
}

/// Those of the sample whose source is another than before.
fn changed<'n>(
    plan: &Plan,
    sample: &[Name<'n>],
    ledger: &Path,
    pack: &Path,
    templates: &Templates,
) -> Result<Vec<Name<'n>>, BuildError> {
    let wanted: BTreeMap<&str, Name<'_>> = sample.iter().map(|name| (name.url, *name)).collect();
    let worker = Worker::new(plan, Arc::new(templates.clone()));
    let (mut rows, mut keys) = (Rows::open(ledger)?, Keys::open(pack)?);
    let mut same = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let Some(name) = wanted.get(row.url.as_str()) else { continue };
        let Some((key, _)) = keys.get(&row.url) else { continue };
        if let Ok(bytes) = Worker::source(&plan.site, name.path) {
            // A page that its address bars has another key; then it is looked
            // at once more, which costs nothing but time.
            same.insert(name.url, key == worker.key(&row.url, &bytes, row.template, row.digest));
        }
    }
    let is_changed = |name: &&Name<'n>| !same.get(name.url).copied().unwrap_or(false);
    Ok(sample.iter().filter(is_changed).copied().collect())
}

fn sketches(plan: &Plan, names: &[Name<'_>]) -> Vec<Sketch> {
    let read = |name: &Name<'_>| Worker::source(&plan.site, name.path).ok();
    let pages = names.iter().filter_map(read).filter(|bytes| rutter_extract::is_text(bytes));
    pages.map(|bytes| Sketch::of_html(&bytes, None, &Limits::USUAL)).collect()
}
