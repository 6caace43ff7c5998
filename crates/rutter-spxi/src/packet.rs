//! Page packets (D68): what the index says of an entity, and more, at an
//! address that follows from its page's.

use crate::index::{Entity, Kernel, Modified};

/// A packet.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Packet {
    /// Its own address (`@id`).
    pub id: Option<String>,
    /// The page it is about (`url`).
    pub page: Option<String>,
    /// The index (`isPartOf`).
    pub index: Option<String>,
    /// `dateModified`
    pub modified: Option<Modified>,
    /// The entities (`spxi:about`); what the index says of them, it says here, too.
    pub about: Vec<Entity>,
    /// `spxi:holographicKernel`
    pub kernel: Option<Kernel>,
    /// `spxi:faq`
    pub questions: Vec<Question>,
}

/// A question and what the owner answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Question {
    /// The question.
    pub question: String,
    /// The answer.
    pub answer: String,
}
