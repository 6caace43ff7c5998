//! Positions in a JSON document, stored as steps and shown as JSON pointers.

use std::fmt::Write as _;

use crate::json::push_step;

/// Index of a position in the [`PlaceTable`] of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlaceId(usize);

impl PlaceId {
    pub(crate) const ROOT: Self = Self(0);
}

/// One step of a JSON pointer: a member name or an index.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PointerStep<'v> {
    Member(&'v str),
    Item(usize),
}

/// Positions that findings may refer to.
#[derive(Debug, Default)]
pub(crate) struct PlaceTable<'v>(Vec<(PlaceId, PointerStep<'v>)>);

impl<'v> PlaceTable<'v> {
    pub(crate) fn add(&mut self, parent: PlaceId, step: PointerStep<'v>) -> PlaceId {
        self.0.push((parent, step));
        PlaceId(self.0.len())
    }

    /// Returns the position as a JSON pointer.
    pub(crate) fn show(&self, at: PlaceId) -> String {
        let mut steps = Vec::new();
        let mut at = at;
        while let Some((parent, step)) = at.0.checked_sub(1).and_then(|idx| self.0.get(idx)) {
            steps.push(step);
            at = *parent;
        }
        let mut pointer = String::new();
        for step in steps.into_iter().rev() {
            match step {
                PointerStep::Member(key) => push_step(&mut pointer, key),
                PointerStep::Item(n) => {
                    // Writing to a string never fails.
                    let _ = write!(pointer, "/{n}");
                }
            }
        }
        pointer
    }
}
