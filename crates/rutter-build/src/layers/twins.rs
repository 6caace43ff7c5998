//! Writes the Markdown twins of public pages.

use rutter_site::file_marks;

use super::{Entry, Layer, LayerInput, LayerOutput, OpenLayer, PageEntry};
use crate::error::BuildError;
use crate::plan::SourceKind;
use crate::staging::PublishOrder;
use crate::{address, rules};

/// Writer of the Markdown twins.
struct TwinLayer<'p> {
    input: &'p LayerInput<'p>,
}

/// Opens the layer; `None` if no twins are written.
pub(crate) fn open<'p>(input: &'p LayerInput<'p>) -> Option<OpenLayer<'p>> {
    let plan = input.plan;
    let has_twins = plan.layers.twins.are_written(input.n_public)
        && (plan.source != SourceKind::Markdown || plan.out.is_some());
    has_twins.then(|| Box::new(TwinLayer { input }) as OpenLayer<'p>)
}

impl Layer for TwinLayer<'_> {
    fn entry(
        &mut self,
        entry: &mut Entry<'_>,
        out: &mut LayerOutput<'_>,
    ) -> Result<(), BuildError> {
        if let Entry::Page(page) = entry
            && page.row.is_public()
        {
            page.links.twin = self.twin(page, out)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: &mut LayerOutput<'_>) -> Result<(), BuildError> {
        Ok(())
    }
}

impl TwinLayer<'_> {
    /// Stages the twin of a page and returns its path; `None` if the page gets no twin.
    fn twin(
        &self,
        page: &PageEntry<'_>,
        out: &mut LayerOutput<'_>,
    ) -> Result<Option<String>, BuildError> {
        let plan = self.input.plan;
        let Some(twin) = address::twin(&plan.base, &page.row.url, page.path) else {
            return Ok(None);
        };
        // The source of a Markdown page is its own twin.
        if page.path == Some(twin.as_str()) {
            return Ok(Some(twin));
        }
        // If the manifest is lost, a twin in the site's own folder looks like a file of the site
        // owner; its mark shows that Rutter wrote it.
        let is_recognised = plan.out.is_none() && out.stage.is_recognised(&twin);
        if self.input.has_other(&twin) && !out.stage.may_replace(&twin) && !is_recognised {
            out.report(&twin, &rules::FOREIGN_FILE, "");
            return Ok(None);
        }
        let bytes = file_marks::marked_twin(&page.record.markdown);
        Ok(out.put(PublishOrder::Twins, &twin, &bytes)?.then_some(twin))
    }
}
