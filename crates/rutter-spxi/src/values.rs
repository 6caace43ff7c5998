//! A table: the words of the three enumerations, and how markers are found.

/// Makes an enumeration with its words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $( $(#[$about:meta])* $value:ident = $word:literal, )* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $( $(#[$about])* $value, )* }

        impl $name {
            /// Every value, in the order of the specification.
            pub const ALL: &[Self] = &[ $( Self::$value, )* ];

            /// Its word.
            pub fn word(self) -> &'static str {
                match self { $( Self::$value => $word, )* }
            }

            /// The value of a word, exactly as the specification writes it.
            pub fn of_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.word() == word)
            }
        }
    };
}

words! {
    /// How well AI systems resolve an entity (2.4). Other documents of the same
    /// authors use some of these words with opposite meanings (D72).
    BasinState {
        /// Resolved correctly by every major system.
        Sovereign = "sovereign",
        /// Sometimes taken for another.
        Contested = "contested",
        /// Taken for another.
        Captured = "captured",
        /// Split over several wrong answers.
        Fragmented = "fragmented",
        /// Not known to any system.
        Ghost = "ghost",
    }
}

words! {
    /// Who stands behind a claim (2.4).
    VerificationLevel {
        /// The site itself.
        SelfAttested = "self_attested",
        /// Several AI systems.
        AssemblyAttested = "assembly_attested",
        /// A deposit with a DOI.
        DoiAnchored = "doi_anchored",
        /// A university, a publisher, another institution.
        InstitutionallyCertified = "institutionally_certified",
    }
}

words! {
    /// How often two entities are taken for each other.
    CollisionRisk {
        /// Often.
        High = "high",
        /// At times.
        Medium = "medium",
        /// Seldom.
        Low = "low",
    }
}

impl VerificationLevel {
    /// The value that a word of the other draft comes down to (D77). What
    /// nobody outside confirmed is the site's own word; readers map it, nobody
    /// writes it.
    pub fn of_packet_word(word: &str) -> Option<Self> {
        Some(match word {
            "self_asserted" | "orcid_linked" | "cryptographically_signed" => Self::SelfAttested,
            "doi_deposited" => Self::DoiAnchored,
            "independently_corroborated" => Self::AssemblyAttested,
            "institution_confirmed" | "peer_reviewed" => Self::InstitutionallyCertified,
            _ => return None,
        })
    }
}
