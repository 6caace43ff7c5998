//! Exports features for training.
//!
//! Input: the bytes of a page. Output: a [`FeatureDump`] with the features, positions and texts of its
//! segments.

use crate::ExtractOptions;
use crate::charset;
use crate::dom::Dom;
use crate::meta::FoundMetadata;
use crate::region;
use crate::survey::{InheritedMarks, PageSurvey};
use crate::tag::Tag;

use super::collect::FeatureCollector;
use super::features::N;
use super::landmark::MainLandmark;

/// The features of one page, for training.
#[derive(Debug, Default)]
pub struct FeatureDump {
    /// Features of all segments, one row per segment.
    pub rows: Vec<f32>,
    /// For each segment [`FeatureDump::LINKS`] numbers: its characters; the first segment and the end of
    /// the segments of five ancestors and of its landmark; its group; its state. The state is a sum
    /// of 1 (in the main landmark), 2 (dropped unscored), 4 (named by the rules) and 16 (kept by
    /// the rules). Rows of unscored segments are zero.
    pub links: Vec<u32>,
    /// Texts of the segments.
    pub texts: Vec<String>,
}

impl FeatureDump {
    /// Number of values per segment in [`FeatureDump::links`].
    pub const LINKS: usize = 15;
}

/// Computes the features of a page and the other data for training.
pub fn dump(bytes: &[u8], options: &ExtractOptions) -> FeatureDump {
    let decoded = charset::decode(bytes, options.charset.as_deref());
    let dom = Dom::parse(&decoded.text, &options.limits);
    let found = FoundMetadata::of(&dom, options.limits.json);
    let survey = PageSurvey::of(&dom);
    let region = region::find(&dom, &survey, vec![None; dom.items.len()]);
    let landmark = MainLandmark::of(&dom, &survey);
    let collector = FeatureCollector::new(&dom, &survey, &found, &region, &landmark);
    let mut dump = FeatureDump::default();
    dump.rows.resize(survey.segments.len() * N, 0.0);
    collector.rows(|idx, row| {
        if let (Some(to), Some(from)) = (dump.rows.get_mut(idx * N..(idx + 1) * N), row.get(..N)) {
            to.copy_from_slice(from);
        }
    });
    for idx in 0..survey.segments.len() {
        let (segment, known) = (&survey.segments[idx], &collector.known[idx]);
        dump.links.push(segment.chars);
        for at in known.levels.into_iter().map(Some).chain([known.landmark]) {
            let range = at.map_or(0..0, |at| survey.within(&dom, at));
            dump.links.extend([range.start, range.end].map(|at| u32::try_from(at).unwrap_or(0)));
        }
        dump.links.push(known.group);
        dump.links.push(collector.states[idx].into());
        let next = survey.segments.get(idx + 1).map_or(dom.len(), |next| next.at);
        let mut text = String::new();
        for at in segment.at..next.min(dom.item(segment.block).end) {
            let is_text = dom.item(at).tag == Tag::Text;
            if is_text && !survey.marks(at).has(InheritedMarks::UNSEEN) {
                dom.append(at, &mut text);
            }
        }
        dump.texts.push(text.trim().to_owned());
    }
    dump
}
