//! Answers, and what is counted in them.

use proptest::prelude::*;
use rutter_spxi::Collision;

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

fn subject(name: &str, with: &[&str]) -> Subject {
    let kernel = Kernel {
        summary: Some(
            "The Tide House is a museum of tides in Cork, e.g. of tide clocks. It is open daily."
                .to_owned(),
        ),
        specification: None,
    };
    Subject::new(&entity(name, with), Some(&kernel)).unwrap()
}

fn asserts(subject: &Subject, answer: &str) -> bool {
    !judge(subject, Question::What, answer).asserts.is_empty()
}

#[test] // D73
fn spec_gamma_is_surviving_claims_of_all_claims() {
    let subject = subject("The Tide House", &[]);
    let nothing = judge(&subject, Question::What, "");
    assert_eq!((nothing.markers.of, nothing.sentences.of), (2, 2));
    assert!((nothing.gamma() - 0.0).abs() < 1e-9 && !nothing.is_correct());
    let all = judge(
        &subject,
        Question::What,
        "The **Tide House** is a museum in Cork about tides and tide clocks, **built** in\n[1890](https://x.example). \
         The Keeper\u{2019}s Log is shown. Open daily.",
    );
    assert_eq!((all.markers.kept, all.sentences.kept), (2, 2));
    assert!((all.gamma() - 1.0).abs() < 1e-9 && all.is_correct() && !all.is_loss());
    let half =
        judge(&subject, Question::What, "The Tide House was built in 1890. It is open daily.");
    assert!((half.gamma() - 0.5).abs() < 1e-9 && (half.simsr() - 0.5).abs() < 1e-9);
}

#[test] // D73
fn spec_a_sentence_survives_with_six_tenths_of_its_words_in_one_sentence() {
    // tide house museum tides cork clocks: four of six are enough.
    let subject = subject("The Tide House", &[]);
    let kept = |answer: &str| judge(&subject, Question::What, answer).sentences.kept;
    assert_eq!(kept("A Tide House museum in Cork."), 1);
    assert_eq!(kept("A Tide House in Cork."), 0);
    assert_eq!(kept("A Tide House. A museum in Cork."), 0);
    assert_eq!(kept("TIDE HOUSE, MUSEUM, CORK"), 1);
}

#[test] // D73
fn ours_what_is_denied_survives_as_a_denial_only() {
    let kernel = Kernel {
        summary: Some("It is a museum and has nothing to do with the band Tide House.".to_owned()),
        specification: None,
    };
    let subject = Subject::new(&entity("The Tide House", &[]), Some(&kernel)).unwrap();
    let kept = |answer: &str| judge(&subject, Question::What, answer).sentences.kept;
    assert_eq!(kept("The museum Tide House has nothing to do with the band."), 1);
    assert_eq!(kept("The museum Tide House isn't the band."), 1);
    assert_eq!(kept("The museum Tide House is a band."), 0);
    assert_eq!(kept("Is the museum Tide House not the band?"), 0);
    // A question asserts nothing either.
    let other = self::subject("The Tide House", &["Grey Seals"]);
    assert!(!asserts(&other, "Do you mean the Grey Seals?\u{201d}"));
}

#[test] // SPX-007
fn spec_an_answer_without_markers_is_a_loss() {
    let subject = subject("The Tide House", &[]);
    let score = judge(&subject, Question::What, "The Tide House is a museum of tides in Cork.");
    assert!(score.is_loss() && score.is_correct() && 0.0 < score.gamma());
    assert!(!judge(&subject, Question::What, "BUILT IN 1890").is_loss());
}

#[test] // D71
fn spec_correct_needs_a_name_and_a_claim() {
    let subject = subject("The Tide House", &["Grey Seals"]);
    let is_correct = |answer: &str| judge(&subject, Question::What, answer).is_correct();
    assert!(is_correct("Tide House was built in 1890."));
    assert!(!is_correct("It was built in 1890."));
    assert!(!is_correct("The Tide House is nice."));
    assert!(!is_correct("Tide House, built in 1890, is home of the Grey Seals."));
    assert!(is_correct("Tide House, built in 1890, is not the home of the Grey Seals."));
    assert!(!is_correct("Tide Houses, built in 1890."));
    let mut named = entity("The Tide House", &[]);
    named.alternate_names = vec!["Cork Tide Museum".to_owned()];
    let named = Subject::new(&named, None).unwrap();
    assert!(judge(&named, Question::What, "The Cork Tide Museum was built in 1890").is_correct());
}

#[test] // D72
fn ours_a_target_of_the_same_name_is_told_by_what_stands_beside() {
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
    // The longer name is not the entity's.
    assert!(!judge(&subject, Question::What, "The Tide House (band).").is_named);
    assert!(judge(&subject, Question::What, "The Tide House (museum).").is_named);
    // What it says it is not tells it apart all the same.
    let mut denying = entity("The Tide House", &["The Tide House (band)"]);
    denying.description = Some("A museum, not the band of the same name.".to_owned());
    let denying = Subject::new(&denying, None).unwrap();
    assert!(asserts(&denying, "The Tide House is a band from Cork."));
    // What the entity says of itself tells nobody apart.
    let own = self::subject("The Tide House", &["The Tide House (museum)"]);
    assert!(!asserts(&own, "The Tide House is a museum of tides."));
    assert!(asserts(&own, "The Tide House (museum) is in Dublin."));
}

#[test] // D72
fn ours_a_target_may_have_the_longer_or_the_shorter_name() {
    let longer = subject("Tide House", &["Tide House Records"]);
    let answer = "Tide House Records is a label.";
    assert!(asserts(&longer, answer) && !judge(&longer, Question::What, answer).is_named);
    assert!(!asserts(&longer, "Tide House was built in 1890."));
    assert!(!asserts(
        &longer,
        "Tide House has nothing to do with a label; it's not Tide House Records."
    ));

    let shorter = subject("Mercury Theatre", &["Mercury"]);
    assert!(asserts(&shorter, "Mercury is the planet next to the sun."));
    assert!(!asserts(&shorter, "Mercury Theatre was built in 1890."));
    // Short for the entity, once that was named.
    assert!(!asserts(&shorter, "The Mercury Theatre is old. Mercury was built in 1890."));
    let beside = subject("Mercury Theatre", &["Mercury (planet)"]);
    assert!(asserts(&beside, "The Mercury Theatre is old. Mercury is a planet."));
    assert!(asserts(&beside, "Mercury is small."));
    assert!(!asserts(&beside, "The Mercury Theatre is old. Mercury is a stage."));
}

#[test] // D72
fn ours_a_target_may_be_an_address() {
    let url = "https://en.wikipedia.org/wiki/Grey_Seals_(band)";
    let subject = subject("The Tide House", &[url]);
    assert!(asserts(&subject, "The Tide House is the home of the Grey Seals."));
    assert!(asserts(&subject, "See [here](https://en.wikipedia.org/wiki/Grey_Seals_(band))."));
    assert!(!asserts(&subject, "The Tide House is not the Grey Seals."));
    assert!(!asserts(&subject, "The Tide House is in Cork, where grey seals, and others, live."));
    let score = judge(&subject, Question::What, "Grey Seals (band)");
    assert_eq!(score.asserts, [url]);
    let number = self::subject("The Tide House", &["https://www.wikidata.org/wiki/Q42", ""]);
    assert!(!asserts(&number, "Q is 42.") && asserts(&number, "www.wikidata.org/wiki/Q42"));
}

#[test] // D73
fn ours_the_question_about_the_difference_asks_for_both() {
    let subject = subject("The Tide House", &["Grey Seals"]);
    let answer =
        "The Tide House is a museum, while the Grey Seals are a band. The Grey Seals sing.";
    assert!(judge(&subject, Question::Different, answer).asserts.is_empty());
    assert!(!judge(&subject, Question::What, answer).asserts.is_empty());
    let wrong = "Grey Seals play there. They are the Grey Seals.";
    assert!(!judge(&subject, Question::Different, wrong).asserts.is_empty());
}

#[test] // D72
fn ours_to_know_nothing_is_not_to_know_it() {
    let subject = subject("The Tide House", &[]);
    let is_known = |answer: &str| judge(&subject, Question::What, answer).is_known;
    assert!(!is_known("I don\u{2019}t have any information about The Tide House."));
    assert!(!is_known("Sorry."));
    assert!(is_known("The Tide House is a house."));
    assert!(is_known("I don't know who runs the Tide House, but it was built in 1890."));
}

#[test] // D73
fn ours_claims_decide_about_the_series() {
    let one = subject("The Tide House", &[]);
    assert_eq!(one.claims(), subject("Another", &["x"]).claims());
    let mut other = entity("The Tide House", &[]);
    other.markers.push("one more".to_owned());
    assert_ne!(one.claims(), Subject::new(&other, None).unwrap().claims());
    let mut nothing = entity("The Tide House", &[]);
    nothing.markers = vec![" ".to_owned()];
    assert!(Subject::new(&nothing, None).is_none());
    assert!(Subject::new(&entity("!", &[]), None).is_none());
}

#[test]
fn ours_any_answer_can_be_judged() {
    let subject = subject("The Tide House", &["The Tide House (band)", "(", "()", "https://x/%"]);
    for answer in
        ["\u{0}\u{202e}", "(((", "```", "a".repeat(100_000).as_str(), "\u{df}\u{130}'s 's"]
    {
        for question in Question::ALL {
            assert!(!judge(&subject, question, answer).is_correct());
        }
    }
}

proptest! {
    #[test] // D73
    fn ours_scores_agree_with_themselves(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "The Tide House", "Tide House (band)", "band", "not", ". ", "; ", ", ", "\n\n", "it is",
            "a museum of tides in Cork", "built in 1890", "BUILT IN\n1890", "**", "`", "](x)", "[",
            "The keeper\u{2019}s log", "\u{df}", "e.g.", "unlike", "潮の家。", "open daily",
        ]), 0..24),
        question in prop::sample::select(Question::ALL.to_vec()),
    ) {
        let subject = subject("The Tide House", &["The Tide House (band)", "https://x.example/Cork"]);
        let answer = pieces.join(" ");
        let scores = judge(&subject, question, &answer);
        prop_assert_eq!(&scores, &judge(&subject, question, &answer));
        prop_assert!(scores.markers.kept <= 2 && scores.sentences.kept <= 2);
        prop_assert!((0.0..=1.0).contains(&scores.gamma()));
        prop_assert!(!scores.is_correct() || (scores.is_named && scores.is_known));
        // More words behind another paragraph take no claim away.
        let more = judge(&subject, question, &format!("{answer}\n\nAnd nothing else."));
        prop_assert!(scores.markers.kept <= more.markers.kept);
        prop_assert!(scores.is_named <= more.is_named);
    }
}
