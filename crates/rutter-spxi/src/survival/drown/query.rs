//! The five standard questions of the Drowning Test.

use crate::Entity;

use super::target::spoken;

/// One of the five standard questions about an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StandardQuestion {
    /// What is the entity?
    What,
    /// Who created the entity?
    Who,
    /// How is the entity different from the thing that it is most easily confused with?
    Different,
    /// What is the entity used for?
    Used,
    /// Is the entity open or commercial?
    Open,
}

impl StandardQuestion {
    /// All standard questions in order.
    pub const ALL: [Self; 5] = [Self::What, Self::Who, Self::Different, Self::Used, Self::Open];

    /// Returns the keyword of the question in files and records.
    pub fn key(self) -> &'static str {
        match self {
            Self::What => "what",
            Self::Who => "who",
            Self::Different => "different",
            Self::Used => "used",
            Self::Open => "open",
        }
    }

    /// Returns the question that has a keyword.
    pub fn of_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|question| question.key() == key)
    }
}

/// A question about one entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityQuestion {
    /// The standard question.
    pub question: StandardQuestion,
    /// Text of the question.
    pub text: String,
}

/// Returns the standard questions about an entity. A question about an entity without a name
/// contains its URL.
///
/// ```
/// # use rutter_spxi::survival::drown::questions;
/// # use rutter_spxi::{Collision, Entity};
/// let band = Collision { with: Some("The Tide House (band)".into()), ..Collision::default() };
/// let entity = Entity { name: Some("The Tide House".into()), collisions: vec![band], ..Entity::default() };
/// assert_eq!(questions(&entity)[2].text, "How is The Tide House different from The Tide House (band)?");
/// ```
pub fn questions(entity: &Entity) -> [EntityQuestion; 5] {
    let name = entity.name.as_deref().or(entity.id.as_deref()).unwrap_or("it");
    let name = rutter_finding::visible(name.trim());
    let neighbour = neighbour(entity);
    StandardQuestion::ALL.map(|question| {
        let text = match question {
            StandardQuestion::What => format!("What is {name}?"),
            StandardQuestion::Who => format!("Who created {name}?"),
            StandardQuestion::Different => format!("How is {name} different from {neighbour}?"),
            StandardQuestion::Used => format!("What is {name} used for?"),
            StandardQuestion::Open => format!("Is {name} open or commercial?"),
        };
        EntityQuestion { question, text }
    })
}

/// Returns the name of the thing that the entity is most easily confused with.
fn neighbour(entity: &Entity) -> String {
    let targets = entity.collisions.iter().filter_map(|it| it.with.as_deref());
    let denied = entity.negative_tags.iter().filter_map(|tag| tag.trim().strip_prefix("NOT "));
    let first = targets.take(1).find_map(spoken);
    let first =
        first.or_else(|| denied.map(str::trim).find(|it| !it.is_empty()).map(str::to_owned));
    let first = first.map(|it| rutter_finding::visible(&it));
    first.unwrap_or_else(|| "other things of that name".to_owned())
}

#[cfg(test)]
mod tests {
    use crate::Collision;

    use super::*;

    fn asked(with: Option<&str>, tags: &[&str]) -> String {
        let collision = Collision { with: with.map(str::to_owned), ..Collision::default() };
        let entity = Entity {
            name: Some(" E ".to_owned()),
            collisions: if with.is_some() { vec![collision] } else { Vec::new() },
            negative_tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            ..Entity::default()
        };
        let [.., third, _, _] = questions(&entity);
        third.text
    }

    #[test] // D73 SPX-078
    fn five_questions_name_the_entity_and_its_neighbour() {
        let entity = Entity { name: Some("Rutter".to_owned()), ..Entity::default() };
        let texts = questions(&entity).map(|query| query.text);
        assert_eq!(
            texts,
            [
                "What is Rutter?",
                "Who created Rutter?",
                "How is Rutter different from other things of that name?",
                "What is Rutter used for?",
                "Is Rutter open or commercial?"
            ]
        );
        assert_eq!(asked(Some("The Band"), &["NOT x"]), "How is E different from The Band?");
        assert_eq!(asked(None, &["not", "NOT a band"]), "How is E different from a band?");
        let url = "https://en.wikipedia.org/wiki/Tide_House_(band)";
        assert_eq!(asked(Some(url), &[]), "How is E different from Tide House (band)?");
        let number = "https://www.wikidata.org/wiki/Q42";
        assert_eq!(asked(Some(number), &["NOT a band"]), "How is E different from a band?");
        for question in StandardQuestion::ALL {
            assert_eq!(StandardQuestion::of_key(question.key()), Some(question));
        }
        assert_eq!(StandardQuestion::of_key("why"), None);
    }
}
