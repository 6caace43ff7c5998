//! Positions of the parts of an index in its document, for findings about them.

use crate::place::PlaceId;

/// Positions of the parts of an index in its document.
#[derive(Debug, Default)]
pub(crate) struct IndexPositions {
    pub(crate) root: Option<PlaceId>,
    pub(crate) id: Option<PlaceId>,
    pub(crate) protocol_doi: Option<PlaceId>,
    pub(crate) modified: Option<PlaceId>,
    pub(crate) kernel: KernelPositions,
    pub(crate) entities: Vec<EntityPositions>,
    pub(crate) surfaces_at: Option<PlaceId>,
    pub(crate) surfaces: Vec<PlaceId>,
}

/// Positions of the parts of a kernel in its document.
#[derive(Debug, Default)]
pub(crate) struct KernelPositions {
    pub(crate) at: Option<PlaceId>,
    pub(crate) summary: Option<PlaceId>,
    pub(crate) specification: Option<PlaceId>,
}

/// Positions of the parts of an entity in its document.
#[derive(Debug)]
pub(crate) struct EntityPositions {
    pub(crate) node: usize,
    pub(crate) at: PlaceId,
    pub(crate) id: Option<PlaceId>,
    pub(crate) kind: Option<PlaceId>,
    pub(crate) tags_at: Option<PlaceId>,
    pub(crate) tags: Vec<PlaceId>,
    pub(crate) markers: Vec<PlaceId>,
    pub(crate) verification: Option<PlaceId>,
    pub(crate) packet: Option<PlaceId>,
}
