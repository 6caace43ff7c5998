//! What answers say about a whole: shares, states, thresholds (D71, D72).

use std::collections::{BTreeMap, BTreeSet};

use rutter_spxi::BasinState;

use super::judge::Scores;
use crate::survive::Share;

/// Fewer answers say nothing (D71).
pub const FEWEST_ANSWERS: usize = 5;
/// Fewer systems say nothing (D71).
pub const FEWEST_SYSTEMS: usize = 2;
/// A full Drowning Test asks so many (SPX-078).
pub const USUAL_SYSTEMS: usize = 3;

/// What is known of how an entity is resolved.
#[derive(Debug, Clone, PartialEq)]
pub enum Estimate {
    /// From these answers.
    Fresh {
        /// Answers that resolve it, of all: `spxi:bdrEstimate`.
        share: Share,
        /// What the state should be called; the owner decides.
        state: BasinState,
    },
    /// Too few answers: what was known before, which may be nothing.
    Stale {
        /// The share that is published.
        share: Option<f64>,
        /// The state that is published.
        state: Option<BasinState>,
    },
}

/// Estimates from answers, each with its system (SPX-077).
///
/// With fewer than five answers or two systems nothing is estimated; what was
/// known `before` stays, and is called stale.
pub fn estimate<'s>(
    answers: impl IntoIterator<Item = (&'s str, &'s Scores)>,
    before: (Option<f64>, Option<BasinState>),
) -> Estimate {
    let answers: Vec<(&str, &Scores)> = answers.into_iter().collect();
    let systems: BTreeSet<&str> = answers.iter().map(|(system, _)| *system).collect();
    if answers.len() < FEWEST_ANSWERS || systems.len() < FEWEST_SYSTEMS {
        return Estimate::Stale { share: before.0, state: before.1 };
    }
    let kept = answers.iter().filter(|(_, scores)| scores.is_correct()).count();
    let share = Share { kept, of: answers.len() };
    Estimate::Fresh { share, state: state(&answers, share) }
}

/// The state that fits the answers (D72).
fn state(answers: &[(&str, &Scores)], right: Share) -> BasinState {
    if right.kept == right.of {
        return BasinState::Sovereign;
    }
    let is_heard = |scores: &Scores| scores.is_known || !scores.asserts.is_empty();
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

/// What a share of surviving markers calls for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// More than 0.6.
    Good,
    /// From 0.4 to 0.6.
    Review,
    /// Less than 0.4: these markers do not survive.
    Redesign,
}

impl Health {
    /// What a SIMSR calls for.
    pub fn of(simsr: f64) -> Self {
        // Means of tenths are not exact.
        const NEAR: f64 = 1e-9;
        if 0.6 + NEAR < simsr {
            Self::Good
        } else if simsr < 0.4 - NEAR {
            Self::Redesign
        } else {
            Self::Review
        }
    }

    /// Its word.
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

    fn right() -> Scores {
        Scores {
            markers: Share { kept: 1, of: 2 },
            is_named: true,
            is_known: true,
            ..Scores::default()
        }
    }

    fn wrong(asserts: &[&str]) -> Scores {
        let asserts = asserts.iter().map(|it| (*it).to_owned()).collect();
        Scores { is_named: true, is_known: true, asserts, ..Scores::default() }
    }

    fn of(answers: &[Scores]) -> Estimate {
        let systems = ["a", "b"];
        estimate(
            answers.iter().zip(systems.iter().cycle()).map(|(it, name)| (*name, it)),
            (None, None),
        )
    }

    fn state_of(answers: &[Scores]) -> BasinState {
        match of(answers) {
            Estimate::Fresh { state, .. } => state,
            Estimate::Stale { .. } => panic!("too few"),
        }
    }

    #[test] // D71 SPX-077
    fn spec_too_few_answers_keep_what_was_known() {
        let before = (Some(0.4), Some(BasinState::Contested));
        let stale = Estimate::Stale { share: before.0, state: before.1 };
        let one = right();
        let some = |n: usize, name: &'static str| vec![(name, &one); n];
        assert_eq!(estimate(some(4, "a"), before), stale);
        assert_eq!(estimate(some(9, "a"), before), stale);
        let two = [some(3, "a"), some(1, "b")].concat();
        assert_eq!(estimate(two, before), stale);
        let enough = [some(4, "a"), some(1, "b")].concat();
        let fresh =
            Estimate::Fresh { share: Share { kept: 5, of: 5 }, state: BasinState::Sovereign };
        assert_eq!(estimate(enough, before), fresh);
        assert_eq!(of(&[]), Estimate::Stale { share: None, state: None });
    }

    #[test] // D71
    fn spec_the_share_is_right_answers_of_all() {
        let answers = [right(), right(), wrong(&[]), wrong(&["x"]), wrong(&[])];
        let Estimate::Fresh { share, .. } = of(&answers) else { panic!() };
        assert!((share.value() - 0.4).abs() < 1e-9);
    }

    #[test] // D72
    fn spec_the_state_is_derived_from_the_answers() {
        let none = Scores::default();
        assert_eq!(state_of(&vec![right(); 6]), BasinState::Sovereign);
        assert_eq!(state_of(&vec![none.clone(); 6]), BasinState::Ghost);
        let band = wrong(&["band"]);
        assert_eq!(state_of(&vec![band.clone(); 6]), BasinState::Captured);
        // Taken for the other without being named.
        let other = Scores { asserts: vec!["band".to_owned()], ..Scores::default() };
        assert_eq!(state_of(&vec![other; 6]), BasinState::Captured);
        // A fifth of them right is not captured.
        let mut mixed = vec![band.clone(); 4];
        mixed.push(right());
        assert_eq!(state_of(&mixed), BasinState::Contested);
        let split = [wrong(&["x"]), wrong(&["y"]), wrong(&["x"]), wrong(&["y"]), none.clone()];
        assert_eq!(state_of(&split), BasinState::Fragmented);
        let unclear = [right(), right(), none.clone(), none, band];
        assert_eq!(state_of(&unclear), BasinState::Contested);
    }

    #[test] // D73
    fn spec_thresholds_of_the_survival_of_markers() {
        for (simsr, word) in [
            (1.0, "good"),
            (0.61, "good"),
            (0.6, "review"),
            (0.4, "review"),
            (0.39, "redesign"),
            (0.1 + 0.2 + 0.3, "review"),
        ] {
            assert_eq!(Health::of(simsr).word(), word, "{simsr}");
        }
    }
}
