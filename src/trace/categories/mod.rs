//! Sorts kernels by what they compute.
//!
//! The rules are data: `rules.txt` beside this file says their form and holds the built-in ones.

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

/// Of what no rule matches.
const OTHER: &str = "other";

/// Before an expression: search the function's own name only, and heed no case.
const SHORT: &str = "short:";

static BUILT_IN: LazyLock<Vec<Rule>> =
    LazyLock::new(|| parse(include_str!("rules.txt")).expect("rules.txt is well-formed: a test reads it"));

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
        own.iter().try_for_each(Rule::check)?;
        Ok(Self { own })
    }

    /// The category of the kernel called `name`: the whole name, demangled or mangled.
    pub fn of(&self, name: &str) -> &str {
        let short = mangled_short_name(name).unwrap_or_else(|| short_name(name)).to_ascii_lowercase();
        let mut rules = self.own.iter().chain(BUILT_IN.iter());
        rules.find(|rule| rule.fits(name, &short)).map_or(OTHER, |rule| &rule.category)
    }
}

#[derive(Debug, Clone)]
struct Rule {
    category: Box<str>,
    /// Whether it looks at the function's own name only, in small letters.
    short: bool,
    text: String,
    /// Where in the file it stands.
    line: usize,
    /// Built when a name first comes as far: a small capture needs few of them.
    expression: OnceLock<Regex>,
}

impl Rule {
    fn fits(&self, name: &str, short: &str) -> bool {
        let expression = self.expression.get_or_init(|| self.build().expect("it is checked when it is read"));
        expression.is_match(if self.short { short } else { name }.as_bytes())
    }

    fn build(&self) -> std::result::Result<Regex, regex::Error> {
        // Names are ASCII all but always; tables of Unicode would only make the expressions slow to build.
        RegexBuilder::new(&self.text).unicode(false).build()
    }

    /// Whether its expression is one; it is kept.
    fn check(&self) -> Result<()> {
        let built =
            self.build().map_err(|error| Error::BadCategories { line: self.line, reason: in_a_line(&error) })?;
        self.expression.get_or_init(|| built);
        Ok(())
    }

    fn parse(line: usize, text: &str) -> std::result::Result<Self, String> {
        let (category, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        if !is_identifier(category) {
            return Err(format!(
                "{category:?} is no category: it takes lower-case letters, digits and _, and begins with a letter"
            ));
        }
        let rest = rest.trim_start();
        let (short, expression) = rest.strip_prefix(SHORT).map_or((false, rest), |rest| (true, rest));
        if expression.is_empty() {
            return Err(format!("no regular expression follows {category:?}"));
        }
        let text = if short { in_small_letters(expression) } else { expression.to_owned() };
        Ok(Self { category: category.into(), short, text, line, expression: OnceLock::new() })
    }
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

/// The last line of what an expression's builder says, which is the reason; the others draw where it is.
fn in_a_line(error: &regex::Error) -> String {
    let drawn = error.to_string();
    let last = drawn.lines().last().unwrap_or_default();
    format!("the regular expression is refused: {}", last.strip_prefix("error: ").unwrap_or(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_rule_is_an_expression() {
        for rule in BUILT_IN.iter() {
            assert_eq!(rule.check(), Ok(()), "{}", rule.text);
            assert!(NAMES.contains(&&*rule.category), "{}", rule.category);
        }
    }
}
