//! The three enumerations of SPXI: basin state, verification level, collision risk.

/// Defines an enumeration and the keyword of each value.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $( $(#[$about:meta])* $value:ident = $word:literal, )* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $( $(#[$about])* $value, )* }

        impl $name {
            /// All values, in the order of the specification.
            pub const ALL: &[Self] = &[ $( Self::$value, )* ];

            /// Returns the keyword of the value.
            pub fn word(self) -> &'static str {
                match self { $( Self::$value => $word, )* }
            }

            /// Returns the value of a keyword, spelled as in the specification.
            pub fn of_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.word() == word)
            }
        }
    };
}

words! {
    /// How well AI systems resolve an entity (2.4).
    ///
    /// Other documents of the same authors use some of these keywords with opposite meanings
    /// (D72).
    BasinState {
        /// Resolved correctly by every major system.
        Sovereign = "sovereign",
        /// Sometimes confused with another entity.
        Contested = "contested",
        /// Resolved as another entity.
        Captured = "captured",
        /// Resolved as several wrong entities.
        Fragmented = "fragmented",
        /// Unknown to all systems.
        Ghost = "ghost",
    }
}

words! {
    /// Who confirms a claim (2.4).
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
    /// How often two entities are confused.
    CollisionRisk {
        /// Often.
        High = "high",
        /// Sometimes.
        Medium = "medium",
        /// Rarely.
        Low = "low",
    }
}

impl VerificationLevel {
    /// Maps a keyword of the packet draft to a value (D77).
    ///
    /// A claim without external confirmation is self-attested. Readers accept these keywords;
    /// writers never use them.
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
