//! Rules as data: code, clause, gravity, and the words that explain them.

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// A reader copes, but the publisher should mend it.
    Warning,
    /// The specification is broken.
    Error,
}

impl Severity {
    /// The lower-case word used in all outputs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// For whom the input is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// A reader that wants every page it can safely have.
    #[default]
    Lenient,
    /// A judge who tells the publisher everything that is wrong.
    Strict,
}

/// One rule of a standard, or one habit of ours.
///
/// `lenient` is the gravity for readers (`None`: readers do not mention it),
/// `strict` the gravity for judges. A rule whose lenient gravity is
/// [`Severity::Error`] is fatal: the input is refused as a whole.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Two letters for the layer and three digits; never reused.
    pub code: &'static str,
    /// Readable name, words joined by hyphens.
    pub name: &'static str,
    /// Requirement id in `conformance/requirements.tsv`, or a decision id.
    pub clause: &'static str,
    /// Gravity for readers; `None` where only a judge speaks of it.
    pub lenient: Option<Severity>,
    /// Gravity for judges.
    pub strict: Severity,
    /// What is wrong, in a few words.
    pub title: &'static str,
    /// Why it matters, in a sentence or two.
    pub why: &'static str,
    /// What to do about it.
    pub fix: &'static str,
}

impl Rule {
    /// How grave the rule is in this mode; `None` where it is not mentioned.
    pub fn severity(&self, mode: Mode) -> Option<Severity> {
        match mode {
            Mode::Lenient => self.lenient,
            Mode::Strict => Some(self.strict),
        }
    }

    /// The two letters of its layer.
    pub fn layer(&self) -> &'static str {
        self.code.get(..2).unwrap_or(self.code)
    }

    /// Tells whether breaking this rule refuses the whole input for everyone.
    pub fn is_fatal(&self) -> bool {
        self.lenient == Some(Severity::Error)
    }
}

/// Defines rules as statics and lists them in `ALL`, in the order given.
///
/// The gravity is one of `fatal` (refused by everyone), `warning` (an error for
/// a judge), `advice` (a warning for both), `note` (a note for both),
/// `judge` (an error only a judge speaks of) and `hint` (a note only a judge
/// speaks of).
#[macro_export]
macro_rules! rules {
    ($( $(#[$doc:meta])* $id:ident = $code:literal $name:literal ($gravity:ident, $clause:literal)
        $title:literal, $why:literal, $fix:literal; )*) => {
        $( $(#[$doc])*
        pub static $id: $crate::Rule = $crate::Rule {
            code: $code,
            name: $name,
            clause: $clause,
            lenient: $crate::rules!(@lenient $gravity),
            strict: $crate::rules!(@strict $gravity),
            title: $title,
            why: $why,
            fix: $fix,
        }; )*
        /// Every rule of this table.
        pub static ALL: &[&$crate::Rule] = &[$(&$id),*];
    };
    (@lenient fatal) => { Some($crate::Severity::Error) };
    (@lenient warning) => { Some($crate::Severity::Warning) };
    (@lenient advice) => { Some($crate::Severity::Warning) };
    (@lenient note) => { Some($crate::Severity::Note) };
    (@lenient judge) => { None };
    (@lenient hint) => { None };
    (@strict fatal) => { $crate::Severity::Error };
    (@strict warning) => { $crate::Severity::Error };
    (@strict advice) => { $crate::Severity::Warning };
    (@strict note) => { $crate::Severity::Note };
    (@strict judge) => { $crate::Severity::Error };
    (@strict hint) => { $crate::Severity::Note };
}
