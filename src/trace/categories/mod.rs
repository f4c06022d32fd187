//! Categories of kernels by their computation.
//!
//! The rules are data: the file `rules.txt` describes their form and holds the built-in ones.

use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder};

use super::short_name::{mangled_short_name, short_name};
use crate::error::{Error, Result};

/// The built-in categories, in the order of the documentation.
pub static NAMES: &[&str] = &[
    "gemm",
    "convolution",
    "cudnn_rnn_persistent",
    "cudnn_rnn_step",
    "attention",
    "normalization",
    "elementwise",
    "reduction",
    "layout",
    "triton_pointwise",
    "triton_reduction",
    "triton_persistent_reduction",
    "triton_foreach",
    "triton_split_scan",
    "triton_template",
    "nvfuser",
    "communication",
    "memory",
    OTHER,
];

/// Category of kernels that no rule matches.
const OTHER: &str = "other";

/// Category of a source on which the rules do not agree.
const UNKNOWN: &str = "unknown";

/// Prefix of an expression that searches only the function's own name, and ignores case.
const SHORT: &str = "short:";

/// Before an expression: search the source.
const SOURCE: &str = "source:";

/// Maximum number of rules of a file.
const MOST_RULES: usize = 1000;

/// Maximum size of a compiled expression in bytes, and of what matching keeps. Nested repetitions take megabytes.
const MOST_BYTES: usize = 1 << 18;

static BUILT_IN: LazyLock<Vec<Rule>> = LazyLock::new(|| built_in(&[Part::Name, Part::ShortName]));

static BY_SOURCE: LazyLock<Vec<Rule>> = LazyLock::new(|| built_in(&[Part::Source]));

/// Rules that give a kernel's name a category; the first that matches decides.
#[derive(Debug, Clone, Default)]
pub struct Categories {
    own: Vec<Rule>,
}

impl Categories {
    /// The built-in rules alone.
    pub fn built_in() -> Self {
        Self::default()
    }

    /// The rules of `text` before the built-in ones. They may bring new categories.
    pub fn with_rules(text: &str) -> Result<Self> {
        let own = parse(text)?;
        if let Some(rule) = own.get(MOST_RULES) {
            let reason = format!("a file may have {MOST_RULES} rules");
            return Err(Error::BadCategories { line: rule.line, reason });
        }
        own.iter().try_for_each(Rule::check)?;
        if let Some(rule) = own.iter().find(|rule| rule.part == Part::Source) {
            let reason = format!("{SOURCE} needs sources, and a capture has only names");
            return Err(Error::BadCategories { line: rule.line, reason });
        }
        Ok(Self { own })
    }

    /// The category of the kernel called `name`: the whole name, demangled or mangled.
    pub fn of(&self, name: &str) -> &str {
        let short = mangled_short_name(name).unwrap_or_else(|| short_name(name)).to_ascii_lowercase();
        let mut rules = self.own.iter().chain(BUILT_IN.iter());
        rules
            .find(|rule| rule.fits(if rule.part == Part::ShortName { &short } else { name }))
            .map_or(OTHER, |rule| &rule.category)
    }

    /// The category of the kernel with this source: the heuristic that Inductor decorates it with.
    pub fn of_source(source: &str) -> &'static str {
        let mut found = BY_SOURCE.iter().filter(|rule| rule.fits(source)).map(|rule| &*rule.category);
        let first = found.next().unwrap_or(UNKNOWN);
        if found.all(|next| next == first) { first } else { UNKNOWN }
    }
}

/// Part of a kernel that a rule searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Name,
    /// The function's own name, in small letters.
    ShortName,
    Source,
}

#[derive(Debug, Clone)]
struct Rule {
    category: Box<str>,
    part: Part,
    text: String,
    /// Line of the rule in the file.
    line: usize,
    /// Built when a name first comes as far: a small capture needs few of them.
    expression: OnceLock<Regex>,
}

impl Rule {
    /// Returns true if the rule matches a text, the part of a kernel that it searches.
    fn fits(&self, text: &str) -> bool {
        let build = || self.builder().build().expect("rules of a file are checked, and a test reads the others");
        self.expression.get_or_init(build).is_match(text.as_bytes())
    }

    fn builder(&self) -> RegexBuilder {
        let mut builder = RegexBuilder::new(&self.text);
        // Names are ASCII all but always; tables of Unicode would only make the expressions slow to build.
        builder.unicode(false);
        builder
    }

    /// Checks the expression of a file, and keeps it compiled.
    fn check(&self) -> Result<()> {
        let built = self.builder().size_limit(MOST_BYTES).dfa_size_limit(MOST_BYTES).build();
        let built = built.map_err(|error| Error::BadCategories { line: self.line, reason: in_a_line(&error) })?;
        self.expression.get_or_init(|| built);
        Ok(())
    }

    fn parse(line: usize, text: &str) -> std::result::Result<Self, String> {
        let (category, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        if !is_identifier(category) {
            return Err(format!(
                "invalid category: {category:?} (lower-case letters, digits and _, starting with a letter)"
            ));
        }
        let rest = rest.trim_start();
        let (part, expression) = part_of(rest);
        if expression.is_empty() {
            return Err(format!("missing regular expression: {category:?}"));
        }
        let text = if part == Part::ShortName { in_small_letters(expression) } else { expression.to_owned() };
        Ok(Self { category: category.into(), part, text, line, expression: OnceLock::new() })
    }
}

/// Returns the part that a rule searches, and its expression.
fn part_of(rest: &str) -> (Part, &str) {
    if let Some(expression) = rest.strip_prefix(SHORT) {
        return (Part::ShortName, expression);
    }
    match rest.strip_prefix(SOURCE) {
        // `source::` is a namespace.
        Some(expression) if !expression.starts_with(':') => (Part::Source, expression),
        _ => (Part::Name, rest),
    }
}

/// The rules of `rules.txt` that look at some parts.
fn built_in(parts: &[Part]) -> Vec<Rule> {
    let mut rules = parse(include_str!("rules.txt")).expect("rules.txt is well-formed: a test reads it");
    rules.retain(|rule| parts.contains(&rule.part));
    rules
}

fn parse(text: &str) -> Result<Vec<Rule>> {
    let lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines().map(str::trim);
    let rules = (1..).zip(lines).filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    rules.map(|(line, text)| Rule::parse(line, text).map_err(|reason| Error::BadCategories { line, reason })).collect()
}

fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// An expression for a name in small letters. `(?i)` would do the same, but makes expressions ten times slower to build.
fn in_small_letters(expression: &str) -> String {
    let mut escaped = false;
    let fold = |letter: char| {
        // What a backslash gives a meaning keeps it: `\D` is not `\d`.
        let folded = if escaped { letter } else { letter.to_ascii_lowercase() };
        escaped = letter == '\\' && !escaped;
        folded
    };
    expression.chars().map(fold).collect()
}

/// Returns the last line of the error of an expression, which is the reason; the others show the place.
fn in_a_line(error: &regex::Error) -> String {
    let drawn = error.to_string();
    let last = drawn.lines().last().unwrap_or_default();
    format!("invalid regular expression: {}", last.strip_prefix("error: ").unwrap_or(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The categories of kernels by their sources.
    const SOURCE_NAMES: &[&str] =
        &["pointwise", "reduction", "persistent_reduction", "foreach", "split_scan", "template", UNKNOWN];

    #[test]
    fn every_built_in_rule_is_an_expression() {
        for (rules, names) in [(&BUILT_IN, NAMES), (&BY_SOURCE, SOURCE_NAMES)] {
            for rule in rules.iter() {
                assert_eq!(rule.check(), Ok(()), "{}", rule.text);
                assert!(names.contains(&&*rule.category), "{}", rule.category);
            }
        }
    }

    #[test]
    fn every_heuristic_has_one_rule() {
        let mut ruled: Vec<&str> = BY_SOURCE.iter().map(|rule| &*rule.category).collect();
        ruled.push(UNKNOWN);
        assert_eq!(ruled, SOURCE_NAMES);
    }

    #[test]
    fn the_rules_of_a_file_take_little_memory() {
        let many = "mine z\n".repeat(MOST_RULES + 1);
        let large = format!("# mine\nmine {}", "((a{99}){99}){9}");
        let expected = [
            (many, 1001, "a file may have 1000 rules"),
            (large, 2, "invalid regular expression: Compiled regex exceeds size limit of 262144 bytes."),
        ];
        for (text, at, why) in expected {
            let Error::BadCategories { line, reason } = Categories::with_rules(&text).unwrap_err() else { panic!() };
            assert_eq!((line, &*reason), (at, why));
        }
        let most = "mine z\n".repeat(MOST_RULES);
        assert_eq!(Categories::with_rules(&most).unwrap().of("z"), "mine");
    }

    #[test]
    fn the_rules_of_a_file_are_for_names() {
        let refused = Categories::with_rules("# mine\nmine source:@mine\n").unwrap_err();
        let Error::BadCategories { line, reason } = refused else { panic!("{refused}") };
        assert_eq!(line, 2);
        assert_eq!(reason, "source: needs sources, and a capture has only names");
        let namespace = Categories::with_rules("mine source::f\n").unwrap();
        assert_eq!(namespace.of("void source::f(int)"), "mine");
        assert_eq!(Categories::built_in().of("@triton_heuristics.template"), OTHER);
    }
}
