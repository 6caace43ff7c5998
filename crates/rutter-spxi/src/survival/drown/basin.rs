//! Estimates `bdr` and the basin state of an entity from the answers of AI systems, and assesses the
//! share of surviving markers (D71, D72).

use std::collections::{BTreeMap, BTreeSet};

use crate::BasinState;

use super::judge::AnswerScores;
use crate::survival::survive::KeptShare;

/// Minimum number of answers for an estimate (D71).
pub const MIN_ANSWERS: usize = 5;
/// Minimum number of systems for an estimate (D71).
pub const MIN_SYSTEMS: usize = 2;
/// Number of systems in a full Drowning Test (SPX-078).
pub const DEFAULT_SYSTEMS: usize = 3;

/// Estimate of how AI systems resolve an entity.
#[derive(Debug, Clone, PartialEq)]
pub enum BasinEstimate {
    /// The estimate was computed from the answers.
    Fresh {
        /// Share of correct answers, for `spxi:bdrEstimate`.
        share: KeptShare,
        /// Suggested basin state; the owner decides.
        state: BasinState,
    },
    /// There are too few answers, so the published values are returned, if any.
    Stale {
        /// The published BDR estimate.
        share: Option<f64>,
        /// The published basin state.
        state: Option<BasinState>,
    },
}

/// Estimates the state of an entity from answers and the names of their systems (SPX-077).
///
/// With fewer than five answers or two systems no estimate is possible. The values in `before` are
/// then returned as stale.
pub fn estimate<'s>(
    answers: impl IntoIterator<Item = (&'s str, &'s AnswerScores)>,
    before: (Option<f64>, Option<BasinState>),
) -> BasinEstimate {
    let answers: Vec<(&str, &AnswerScores)> = answers.into_iter().collect();
    let systems: BTreeSet<&str> = answers.iter().map(|(system, _)| *system).collect();
    if answers.len() < MIN_ANSWERS || systems.len() < MIN_SYSTEMS {
        return BasinEstimate::Stale { share: before.0, state: before.1 };
    }
    let kept = answers.iter().filter(|(_, scores)| scores.is_correct()).count();
    let share = KeptShare { kept, of: answers.len() };
    BasinEstimate::Fresh { share, state: state(&answers, share) }
}

/// Returns the basin state that fits the answers (D72).
fn state(answers: &[(&str, &AnswerScores)], right: KeptShare) -> BasinState {
    if right.kept == right.of {
        return BasinState::Sovereign;
    }
    let is_heard = |scores: &AnswerScores| scores.is_known || !scores.asserts.is_empty();
    if !answers.iter().any(|(_, scores)| is_heard(scores)) {
        return BasinState::Ghost;
    }
    let mut targets: BTreeMap<&str, usize> = BTreeMap::new();
    for target in answers.iter().flat_map(|(_, scores)| &scores.asserts) {
        *targets.entry(target).or_default() += 1;
    }
    let most = targets.values().copied().max().unwrap_or(0);
    if answers.len() < 2 * most && 5 * right.kept < right.of {
        return BasinState::Captured;
    }
    if 2 <= targets.len() { BasinState::Fragmented } else { BasinState::Contested }
}

/// Assessment of the share of surviving markers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkerHealth {
    /// More than 0.6 of the markers survive.
    Good,
    /// From 0.4 to 0.6 of the markers survive.
    Review,
    /// Less than 0.4 of the markers survive, so the markers should be replaced.
    Redesign,
}

impl MarkerHealth {
    /// Returns the assessment of a SIMSR, the share of surviving markers.
    pub fn of(simsr: f64) -> Self {
        // Tolerance for means of decimal fractions.
        const NEAR: f64 = 1e-9;
        if 0.6 + NEAR < simsr {
            Self::Good
        } else if simsr < 0.4 - NEAR {
            Self::Redesign
        } else {
            Self::Review
        }
    }

    /// Returns the keyword of the assessment.
    pub fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Review => "review",
            Self::Redesign => "redesign",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn right() -> AnswerScores {
        AnswerScores {
            markers: KeptShare { kept: 1, of: 2 },
            is_named: true,
            is_known: true,
            ..AnswerScores::default()
        }
    }

    fn wrong(asserts: &[&str]) -> AnswerScores {
        let asserts = asserts.iter().map(|it| (*it).to_owned()).collect();
        AnswerScores { is_named: true, is_known: true, asserts, ..AnswerScores::default() }
    }

    fn of(answers: &[AnswerScores]) -> BasinEstimate {
        let systems = ["a", "b"];
        estimate(
            answers.iter().zip(systems.iter().cycle()).map(|(it, name)| (*name, it)),
            (None, None),
        )
    }

    fn state_of(answers: &[AnswerScores]) -> BasinState {
        match of(answers) {
            BasinEstimate::Fresh { state, .. } => state,
            BasinEstimate::Stale { .. } => panic!("too few"),
        }
    }

    #[test] // D71 SPX-077
    fn too_few_answers_keep_published_values() {
        let before = (Some(0.4), Some(BasinState::Contested));
        let stale = BasinEstimate::Stale { share: before.0, state: before.1 };
        let one = right();
        let some = |n: usize, name: &'static str| vec![(name, &one); n];
        assert_eq!(estimate(some(4, "a"), before), stale);
        assert_eq!(estimate(some(9, "a"), before), stale);
        let two = [some(3, "a"), some(1, "b")].concat();
        assert_eq!(estimate(two, before), stale);
        let enough = [some(4, "a"), some(1, "b")].concat();
        let fresh = BasinEstimate::Fresh {
            share: KeptShare { kept: 5, of: 5 },
            state: BasinState::Sovereign,
        };
        assert_eq!(estimate(enough, before), fresh);
        assert_eq!(of(&[]), BasinEstimate::Stale { share: None, state: None });
    }

    #[test] // D71
    fn share_is_correct_answers_of_all() {
        let answers = [right(), right(), wrong(&[]), wrong(&["x"]), wrong(&[])];
        let BasinEstimate::Fresh { share, .. } = of(&answers) else { panic!() };
        assert!((share.value() - 0.4).abs() < 1e-9);
    }

    #[test] // D72
    fn state_is_derived_from_the_answers() {
        let none = AnswerScores::default();
        assert_eq!(state_of(&vec![right(); 6]), BasinState::Sovereign);
        assert_eq!(state_of(&vec![none.clone(); 6]), BasinState::Ghost);
        let band = wrong(&["band"]);
        assert_eq!(state_of(&vec![band.clone(); 6]), BasinState::Captured);
        // An answer may assert the target without naming the entity.
        let other = AnswerScores { asserts: vec!["band".to_owned()], ..AnswerScores::default() };
        assert_eq!(state_of(&vec![other; 6]), BasinState::Captured);
        // With one correct answer in five, the entity is not captured.
        let mut mixed = vec![band.clone(); 4];
        mixed.push(right());
        assert_eq!(state_of(&mixed), BasinState::Contested);
        let split = [wrong(&["x"]), wrong(&["y"]), wrong(&["x"]), wrong(&["y"]), none.clone()];
        assert_eq!(state_of(&split), BasinState::Fragmented);
        let unclear = [right(), right(), none.clone(), none, band];
        assert_eq!(state_of(&unclear), BasinState::Contested);
    }

    #[test] // D73
    fn marker_health_thresholds() {
        for (simsr, word) in [
            (1.0, "good"),
            (0.61, "good"),
            (0.6, "review"),
            (0.4, "review"),
            (0.39, "redesign"),
            (0.1 + 0.2 + 0.3, "review"),
        ] {
            assert_eq!(MarkerHealth::of(simsr).word(), word, "{simsr}");
        }
    }
}
