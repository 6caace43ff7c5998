//! Tests of scoring answers.

use crate::Collision;
use proptest::prelude::*;

use super::*;

fn entity(name: &str, with: &[&str]) -> Entity {
    Entity {
        id: Some("https://tide.example/#house".to_owned()),
        name: Some(name.to_owned()),
        markers: vec!["built in 1890".to_owned(), "the keeper's log".to_owned()],
        collisions: with
            .iter()
            .map(|with| Collision { with: Some((*with).to_owned()), ..Collision::default() })
            .collect(),
        ..Entity::default()
    }
}

fn subject(name: &str, with: &[&str]) -> TestedEntity {
    let kernel = Kernel {
        summary: Some(
            "The Tide House is a museum of tides in Cork, e.g. of tide clocks. It is open daily."
                .to_owned(),
        ),
        specification: None,
    };
    TestedEntity::new(&entity(name, with), Some(&kernel)).unwrap()
}

fn asserts(subject: &TestedEntity, answer: &str) -> bool {
    !judge(subject, StandardQuestion::What, answer).asserts.is_empty()
}

#[test] // D73
fn gamma_is_the_share_of_surviving_claims() {
    let subject = subject("The Tide House", &[]);
    let nothing = judge(&subject, StandardQuestion::What, "");
    assert_eq!((nothing.markers.of, nothing.sentences.of), (2, 2));
    assert!((nothing.gamma() - 0.0).abs() < 1e-9 && !nothing.is_correct());
    let all = judge(
        &subject,
        StandardQuestion::What,
        "The **Tide House** is a museum in Cork about tides and tide clocks, **built** in\n[1890](https://x.example). \
         The Keeper\u{2019}s Log is shown. Open daily.",
    );
    assert_eq!((all.markers.kept, all.sentences.kept), (2, 2));
    assert!((all.gamma() - 1.0).abs() < 1e-9 && all.is_correct() && !all.is_loss());
    let half = judge(
        &subject,
        StandardQuestion::What,
        "The Tide House was built in 1890. It is open daily.",
    );
    assert!((half.gamma() - 0.5).abs() < 1e-9 && (half.simsr() - 0.5).abs() < 1e-9);
}

#[test] // D73
fn sentence_survives_with_six_tenths_of_its_words() {
    // The content words are tide, house, museum, tides, cork and clocks: four of six are enough.
    let subject = subject("The Tide House", &[]);
    let kept = |answer: &str| judge(&subject, StandardQuestion::What, answer).sentences.kept;
    assert_eq!(kept("A Tide House museum in Cork."), 1);
    assert_eq!(kept("A Tide House in Cork."), 0);
    assert_eq!(kept("A Tide House. A museum in Cork."), 0);
    assert_eq!(kept("TIDE HOUSE, MUSEUM, CORK"), 1);
}

#[test] // D73
fn negated_sentence_survives_only_as_a_negation() {
    let kernel = Kernel {
        summary: Some("It is a museum and has nothing to do with the band Tide House.".to_owned()),
        specification: None,
    };
    let subject = TestedEntity::new(&entity("The Tide House", &[]), Some(&kernel)).unwrap();
    let kept = |answer: &str| judge(&subject, StandardQuestion::What, answer).sentences.kept;
    assert_eq!(kept("The museum Tide House has nothing to do with the band."), 1);
    assert_eq!(kept("The museum Tide House isn't the band."), 1);
    assert_eq!(kept("The museum Tide House is a band."), 0);
    assert_eq!(kept("Is the museum Tide House not the band?"), 0);
    // A question does not assert another entity either.
    let other = self::subject("The Tide House", &["Grey Seals"]);
    assert!(!asserts(&other, "Do you mean the Grey Seals?\u{201d}"));
}

#[test] // SPX-007
fn answer_without_markers_is_a_loss() {
    let subject = subject("The Tide House", &[]);
    let score =
        judge(&subject, StandardQuestion::What, "The Tide House is a museum of tides in Cork.");
    assert!(score.is_loss() && score.is_correct() && 0.0 < score.gamma());
    assert!(!judge(&subject, StandardQuestion::What, "BUILT IN 1890").is_loss());
}

#[test] // D71
fn correct_answer_has_a_name_and_a_claim() {
    let subject = subject("The Tide House", &["Grey Seals"]);
    let is_correct = |answer: &str| judge(&subject, StandardQuestion::What, answer).is_correct();
    assert!(is_correct("Tide House was built in 1890."));
    assert!(!is_correct("It was built in 1890."));
    assert!(!is_correct("The Tide House is nice."));
    assert!(!is_correct("Tide House, built in 1890, is home of the Grey Seals."));
    assert!(is_correct("Tide House, built in 1890, is not the home of the Grey Seals."));
    assert!(!is_correct("Tide Houses, built in 1890."));
    let mut named = entity("The Tide House", &[]);
    named.alternate_names = vec!["Cork Tide Museum".to_owned()];
    let named = TestedEntity::new(&named, None).unwrap();
    assert!(
        judge(&named, StandardQuestion::What, "The Cork Tide Museum was built in 1890")
            .is_correct()
    );
}

#[test] // D72
fn target_of_the_same_name_is_identified_by_its_qualifier() {
    let subject = subject("The Tide House", &["The Tide House (band)"]);
    for answer in [
        "The Tide House (band) was founded in 1990.",
        "The Tide House is an Irish rock band.",
        "Tide House, a band from Cork, was built in 1890.",
        "It is a band from Cork.",
        "An Irish band of that name.",
        "See https://x.example. They are a band called Tide House.",
    ] {
        assert!(asserts(&subject, answer), "{answer}");
    }
    for answer in [
        "The Tide House is a museum.",
        "The Tide House is not the band.",
        "The Tide House is a museum. Once a brass band played there.",
        "The Tide House should not be confused with The Tide House (band).",
        "Unlike the band Tide House, the museum is open.",
        "",
    ] {
        assert!(!asserts(&subject, answer), "{answer}");
    }
    // The longer name belongs to another entity.
    assert!(!judge(&subject, StandardQuestion::What, "The Tide House (band).").is_named);
    assert!(judge(&subject, StandardQuestion::What, "The Tide House (museum).").is_named);
    // A negated statement about the entity identifies the target too.
    let mut denying = entity("The Tide House", &["The Tide House (band)"]);
    denying.description = Some("A museum, not the band of the same name.".to_owned());
    let denying = TestedEntity::new(&denying, None).unwrap();
    assert!(asserts(&denying, "The Tide House is a band from Cork."));
    // Words of the entity's own description do not identify the target.
    let own = self::subject("The Tide House", &["The Tide House (museum)"]);
    assert!(!asserts(&own, "The Tide House is a museum of tides."));
    assert!(asserts(&own, "The Tide House (museum) is in Dublin."));
}

#[test] // D72
fn target_may_have_a_longer_or_shorter_name() {
    let longer = subject("Tide House", &["Tide House Records"]);
    let answer = "Tide House Records is a label.";
    assert!(asserts(&longer, answer) && !judge(&longer, StandardQuestion::What, answer).is_named);
    assert!(!asserts(&longer, "Tide House was built in 1890."));
    assert!(!asserts(
        &longer,
        "Tide House has nothing to do with a label; it's not Tide House Records."
    ));

    let shorter = subject("Mercury Theatre", &["Mercury"]);
    assert!(asserts(&shorter, "Mercury is the planet next to the sun."));
    assert!(!asserts(&shorter, "Mercury Theatre was built in 1890."));
    // After the full name, a short form of it means the entity.
    assert!(!asserts(&shorter, "The Mercury Theatre is old. Mercury was built in 1890."));
    let beside = subject("Mercury Theatre", &["Mercury (planet)"]);
    assert!(asserts(&beside, "The Mercury Theatre is old. Mercury is a planet."));
    assert!(asserts(&beside, "Mercury is small."));
    assert!(!asserts(&beside, "The Mercury Theatre is old. Mercury is a stage."));
}

#[test] // D72
fn target_may_be_a_url() {
    let url = "https://en.wikipedia.org/wiki/Grey_Seals_(band)";
    let subject = subject("The Tide House", &[url]);
    assert!(asserts(&subject, "The Tide House is the home of the Grey Seals."));
    assert!(asserts(&subject, "See [here](https://en.wikipedia.org/wiki/Grey_Seals_(band))."));
    assert!(!asserts(&subject, "The Tide House is not the Grey Seals."));
    assert!(!asserts(&subject, "The Tide House is in Cork, where grey seals, and others, live."));
    let score = judge(&subject, StandardQuestion::What, "Grey Seals (band)");
    assert_eq!(score.asserts, [url]);
    let number = self::subject("The Tide House", &["https://www.wikidata.org/wiki/Q42", ""]);
    assert!(!asserts(&number, "Q is 42.") && asserts(&number, "www.wikidata.org/wiki/Q42"));
}

#[test] // D73
fn question_about_the_difference_expects_both_names() {
    let subject = subject("The Tide House", &["Grey Seals"]);
    let answer =
        "The Tide House is a museum, while the Grey Seals are a band. The Grey Seals sing.";
    assert!(judge(&subject, StandardQuestion::Different, answer).asserts.is_empty());
    assert!(!judge(&subject, StandardQuestion::What, answer).asserts.is_empty());
    let wrong = "Grey Seals play there. They are the Grey Seals.";
    assert!(!judge(&subject, StandardQuestion::Different, wrong).asserts.is_empty());
}

#[test] // D72
fn answer_without_knowledge_does_not_count_as_known() {
    let subject = subject("The Tide House", &[]);
    let is_known = |answer: &str| judge(&subject, StandardQuestion::What, answer).is_known;
    assert!(!is_known("I don\u{2019}t have any information about The Tide House."));
    assert!(!is_known("Sorry."));
    assert!(is_known("The Tide House is a house."));
    assert!(is_known("I don't know who runs the Tide House, but it was built in 1890."));
}

#[test] // D73
fn claims_determine_the_series() {
    let one = subject("The Tide House", &[]);
    assert_eq!(one.claims(), subject("Another", &["x"]).claims());
    let mut other = entity("The Tide House", &[]);
    other.markers.push("one more".to_owned());
    assert_ne!(one.claims(), TestedEntity::new(&other, None).unwrap().claims());
    let mut nothing = entity("The Tide House", &[]);
    nothing.markers = vec![" ".to_owned()];
    assert!(TestedEntity::new(&nothing, None).is_none());
    assert!(TestedEntity::new(&entity("!", &[]), None).is_none());
}

#[test]
fn any_answer_can_be_scored() {
    let subject = subject("The Tide House", &["The Tide House (band)", "(", "()", "https://x/%"]);
    for answer in
        ["\u{0}\u{202e}", "(((", "```", "a".repeat(100_000).as_str(), "\u{df}\u{130}'s 's"]
    {
        for question in StandardQuestion::ALL {
            assert!(!judge(&subject, question, answer).is_correct());
        }
    }
}

proptest! {
    #[test] // D73
    fn scores_are_consistent(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "The Tide House", "Tide House (band)", "band", "not", ". ", "; ", ", ", "\n\n", "it is",
            "a museum of tides in Cork", "built in 1890", "BUILT IN\n1890", "**", "`", "](x)", "[",
            "The keeper\u{2019}s log", "\u{df}", "e.g.", "unlike", "潮の家。", "open daily",
        ]), 0..24),
        question in prop::sample::select(StandardQuestion::ALL.to_vec()),
    ) {
        let subject = subject("The Tide House", &["The Tide House (band)", "https://x.example/Cork"]);
        let answer = pieces.join(" ");
        let scores = judge(&subject, question, &answer);
        prop_assert_eq!(&scores, &judge(&subject, question, &answer));
        prop_assert!(scores.markers.kept <= 2 && scores.sentences.kept <= 2);
        prop_assert!((0.0..=1.0).contains(&scores.gamma()));
        prop_assert!(!scores.is_correct() || (scores.is_named && scores.is_known));
        // A further paragraph must not remove a surviving claim.
        let more = judge(&subject, question, &format!("{answer}\n\nAnd nothing else."));
        prop_assert!(scores.markers.kept <= more.markers.kept);
        prop_assert!(scores.is_named <= more.is_named);
    }
}
