//! The stages of a build, in the order of the data flow. A stage takes values and returns values, and uses only earlier
//! stages.

pub(crate) mod collect;
pub(crate) mod inventory;
pub(crate) mod project;
pub(crate) mod publish;
pub(crate) mod read;
