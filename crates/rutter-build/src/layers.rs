//! The layers of a site, one file per output.

pub(crate) mod arc;
pub(crate) mod headers;
pub(crate) mod llms;
pub(crate) mod partner_pages;
pub(crate) mod served;
pub(crate) mod sitemap;
pub(crate) mod spxi;
