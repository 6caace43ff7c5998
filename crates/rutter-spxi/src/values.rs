//! The three enumerations of SPXI: basin state, verification level, collision risk.

rutter_page::named_values! {
    /// How well AI systems resolve the name of an entity (2.4).
    ///
    /// Other documents of the authors of SPXI use some of these keywords with opposite meanings
    /// (D72).
    BasinState {
        /// Every major AI system resolves the name correctly.
        Sovereign = "sovereign",
        /// AI systems sometimes confuse the entity with another one.
        Contested = "contested",
        /// AI systems resolve the name as another entity.
        Captured = "captured",
        /// AI systems resolve the name as several wrong entities.
        Fragmented = "fragmented",
        /// No AI system knows the entity.
        Ghost = "ghost",
    }
}

rutter_page::named_values! {
    /// Who confirms the claims about an entity (2.4).
    VerificationLevel {
        /// The site itself confirms the claims.
        SelfAttested = "self_attested",
        /// Several AI systems confirm the claims.
        AssemblyAttested = "assembly_attested",
        /// A deposit with a DOI confirms the claims.
        DoiAnchored = "doi_anchored",
        /// An institution, such as a university or a publisher, confirms the claims.
        InstitutionallyCertified = "institutionally_certified",
    }
}

rutter_page::named_values! {
    /// How often two entities are confused.
    CollisionRisk {
        /// The two entities are often confused.
        High = "high",
        /// The two entities are sometimes confused.
        Medium = "medium",
        /// The two entities are rarely confused.
        Low = "low",
    }
}

impl VerificationLevel {
    /// Maps a keyword from the draft of the packet format to a value (D77).
    ///
    /// A claim without external confirmation is self-attested. Readers accept the keywords of the
    /// draft; writers never use them.
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
