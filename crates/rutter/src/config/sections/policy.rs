//! Keys of `[policy]`.

use rutter_arc::policy::{AccessDefault, ApprovedConsumer, PartnerEndpoint};

use crate::config::key::{Key, Slot};
use crate::config::settings::Setting;
use crate::config::value::Rate;

/// The settings of `[policy]`.
#[derive(Debug, Default)]
pub(crate) struct PolicyTable {
    pub(crate) retention_days: Option<Setting<u64>>,
    pub(crate) delete_on_removal: Option<Setting<bool>>,
    pub(crate) retention_notes: Option<Setting<String>>,
    pub(crate) access: Option<Setting<AccessDefault>>,
    pub(crate) access_rate: Option<Setting<Rate>>,
    pub(crate) endpoints: Option<Setting<Vec<PartnerEndpoint>>>,
    pub(crate) consumers: Option<Setting<Vec<ApprovedConsumer>>>,
}

impl PolicyTable {
    /// The keys, in the order of the documentation.
    pub(in crate::config) const KEYS: &[Key] = &[
        key("retention-days", |settings| &mut settings.policy.retention_days)
            .about("Number of days for which AI consumers may keep copies")
            .flag("policy-retention-days")
            .example("90"),
        key("delete-on-removal", |settings| &mut settings.policy.delete_on_removal)
            .about("Ask AI consumers to delete copies of removed pages")
            .flag("policy-delete-on-removal")
            .example("true"),
        key("retention-notes", |settings| &mut settings.policy.retention_notes)
            .about("Further terms for copies, as free text")
            .flag("policy-retention-notes")
            .example(r#""Update copies when the site changes.""#),
        key("access", |settings| &mut settings.policy.access)
            .about("Access for AI consumers other than the approved ones")
            .flag("policy-access")
            .placeholder("GRANT"),
        key("access-rate", |settings| &mut settings.policy.access_rate)
            .about("Request rate for all AI consumers")
            .detail("Example: 30/min.")
            .flag("policy-access-rate"),
        key("endpoints", |settings| &mut settings.policy.endpoints)
            .about("URLs at which partners get more content than the public site")
            .flag("policy-endpoints"),
        key("consumers", |settings| &mut settings.policy.consumers)
            .about("AI consumers that you approve")
            .flag("policy-consumers"),
    ];
}

const fn key(name: &'static str, slot: Slot) -> Key {
    Key::new("policy", name, slot).heading("Policy for AI consumers")
}
