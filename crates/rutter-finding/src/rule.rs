//! Rules as data: code, clause, severities, explanation and examples.
//!
//! Each crate defines its rules with the macro [`rules!`](crate::rules), which also lists the rules
//! in `ALL`.

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Information; nothing is wrong.
    Note,
    /// Readers can use the input, but the publisher should fix it.
    Warning,
    /// The input violates the specification.
    Error,
}

impl Severity {
    /// Returns the lower-case name that all outputs use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// How strictly a reader checks its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strictness {
    /// For readers: use every page that can be used safely.
    #[default]
    Lenient,
    /// For validation: report every violation to the publisher.
    Strict,
}

/// A rule of a specification, or a rule that Rutter adds.
///
/// A rule has one severity for readers (`lenient`; `None` if readers do not report the rule) and
/// one for validation (`strict`). A rule with the lenient severity [`Severity::Error`] is fatal:
/// input that breaks it is rejected as a whole.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Code of the rule: two letters for the layer and three digits. A code is never reused.
    pub code: &'static str,
    /// Readable name of the rule in lower case, with hyphens between the words.
    pub name: &'static str,
    /// Clause or decision behind the rule: an id in `conformance/requirements.tsv`, a section of a
    /// named RFC, or a decision id.
    pub clause: &'static str,
    /// Severity of the rule for readers; `None` if only validation reports the rule.
    pub lenient: Option<Severity>,
    /// Severity of the rule for validation.
    pub strict: Severity,
    /// Short description of the problem.
    pub title: &'static str,
    /// Consequence of the problem, in a sentence or two.
    pub why: &'static str,
    /// How to fix the problem.
    pub fix: &'static str,
    /// Input that breaks the rule, and the corrected input.
    pub example: RuleExample,
}

/// A wrong and a right example of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleExample {
    /// The file, or the part of a file such as `page in all.scp`, that both examples show. It is
    /// empty if both examples are prose.
    pub place: &'static str,
    /// Input that breaks the rule.
    pub wrong: &'static str,
    /// Input that follows the rule.
    pub right: &'static str,
}

impl Rule {
    /// Returns the severity of the rule at this strictness, or `None` if the rule is not reported.
    pub fn severity(&self, mode: Strictness) -> Option<Severity> {
        match mode {
            Strictness::Lenient => self.lenient,
            Strictness::Strict => Some(self.strict),
        }
    }

    /// Returns the two letters that name the layer of the rule.
    pub fn layer(&self) -> &'static str {
        self.code.get(..2).unwrap_or(self.code)
    }

    /// Returns whether input that breaks this rule is rejected as a whole, at every strictness.
    pub fn is_fatal(&self) -> bool {
        self.lenient == Some(Severity::Error)
    }
}

/// Defines rules as statics and lists the rules in `ALL`, in the order of their definition.
///
/// One entry holds everything about a rule except the check:
///
/// ```
/// rutter_finding::rules! {
///     BLANK_LINE = "EX001" "blank-line" (warning, "example") {
///         title: "file has a blank line",
///         why: "Readers ignore blank lines.",
///         fix: "Delete the line.",
///         wrong in "robots.txt":
///             "Allow: /",
///             "",
///             "Disallow: /private",
///         right:
///             "Allow: /",
///             "Disallow: /private",
///     }
/// }
/// assert_eq!(BLANK_LINE.example.wrong, "Allow: /\n\nDisallow: /private");
/// ```
///
/// `wrong` and `right` are lists of lines. The words after `in` name the file, or the part of a
/// file, that both examples show; without them both examples are prose. Each rule has one of these
/// severity classes:
///
/// | class | lenient | strict |
/// |---|---|---|
/// | `fatal` | error, input rejected | error, input rejected |
/// | `warning` | warning | error |
/// | `advice` | warning | warning |
/// | `note` | note | note |
/// | `judge` | not reported | error |
/// | `hint` | not reported | note |
#[macro_export]
macro_rules! rules {
    ($( $id:ident = $code:literal $name:literal ($class:ident, $clause:literal) {
        title: $title:literal,
        why: $why:literal,
        fix: $fix:literal,
        wrong $(in $place:literal)?: $wrong:literal, $($more_wrong:literal,)*
        right: $right:literal, $($more_right:literal,)*
    } )*) => {
        $( #[doc = concat!("`", $code, "`: ", $title, ".")]
        pub static $id: $crate::Rule = $crate::Rule {
            code: $code,
            name: $name,
            clause: $clause,
            lenient: $crate::rules!(@lenient $class),
            strict: $crate::rules!(@strict $class),
            title: $title,
            why: $why,
            fix: $fix,
            example: $crate::RuleExample {
                place: concat!($($place)?),
                wrong: concat!($wrong $(, "\n", $more_wrong)*),
                right: concat!($right $(, "\n", $more_right)*),
            },
        }; )*
        /// All rules that this macro call defines.
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
