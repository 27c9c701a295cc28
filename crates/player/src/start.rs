//! What the address asks for: `?lesson=…&page=…`, `?embed`, and how the page is to look.
//!
//! A guest's wishes, read at the door: what cannot be granted is said once, and the evening goes
//! on. Names are camelCase; a flag is present or not.

use leasehold_engine::units::{Duration, SpanText};

/// Light or dark, or as the system has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    #[default]
    Auto,
    Light,
    Dark,
}

impl Theme {
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    #[must_use]
    pub fn read(word: &str) -> Option<Self> {
        [Self::Auto, Self::Light, Self::Dark]
            .into_iter()
            .find(|t| t.word() == word)
    }
}

/// How much moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Motion {
    #[default]
    Auto,
    Full,
    Reduced,
}

impl Motion {
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Full => "full",
            Self::Reduced => "reduced",
        }
    }

    #[must_use]
    pub fn read(word: &str) -> Option<Self> {
        [Self::Auto, Self::Full, Self::Reduced]
            .into_iter()
            .find(|t| t.word() == word)
    }
}

/// Everything that the address may ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    pub lesson: Option<String>,
    /// From 1.
    pub page: Option<usize>,
    pub embed: bool,
    pub sandbox: bool,
    pub theme: Option<Theme>,
    pub motion: Option<Motion>,
    pub seed: Option<u64>,
    pub lease: Option<Duration>,
    /// What could not be granted, a sentence each.
    pub notices: Vec<String>,
}

impl Start {
    /// Reads names and values, decoded. Names it does not know are left alone: they may be the
    /// host's.
    #[must_use]
    pub fn read<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut start = Self::default();
        for (name, value) in pairs {
            let refused = match name {
                "lesson" => {
                    start.lesson = Some(value.to_owned());
                    None
                }
                "page" => {
                    start.page = value.parse().ok().filter(|page| *page >= 1);
                    start.page.is_none().then_some("a number from 1")
                }
                "embed" => {
                    start.embed = value != "false";
                    None
                }
                "sandbox" => {
                    start.sandbox = value != "false";
                    None
                }
                "theme" => {
                    start.theme = Theme::read(value);
                    start.theme.is_none().then_some("auto, light or dark")
                }
                "motion" => {
                    start.motion = Motion::read(value);
                    start.motion.is_none().then_some("auto, full or reduced")
                }
                "seed" => {
                    start.seed = value.parse().ok();
                    start.seed.is_none().then_some("a whole number")
                }
                "lease" => {
                    let span = value.parse::<SpanText>().ok().map(|text| text.0);
                    start.lease = span.filter(|span| span.0 > 0);
                    start
                        .lease
                        .is_none()
                        .then_some("a span such as 8s or 500ms")
                }
                _ => None,
            };
            if let Some(wanted) = refused {
                let given: String = value.chars().take(24).collect();
                start.notices.push(format!(
                    "The address has {name}={given}; it takes {wanted}."
                ));
            }
        }
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_well_formed_is_granted() {
        let start = Start::read([
            ("lesson", "a-lease"),
            ("page", "2"),
            ("embed", ""),
            ("lease", "8s"),
            ("theme", "dark"),
        ]);
        assert_eq!(start.lesson.as_deref(), Some("a-lease"));
        assert_eq!(
            (start.page, start.embed, start.theme),
            (Some(2), true, Some(Theme::Dark))
        );
        assert_eq!(start.lease, Some(Duration::secs(8)));
        assert!(start.notices.is_empty());
    }

    #[test]
    fn what_is_not_is_said_once_and_the_default_stays() {
        let start = Start::read([
            ("page", "0"),
            ("theme", "pink"),
            ("lease", "0s"),
            ("motion", "wild"),
            ("utm", "x"),
        ]);
        assert_eq!(
            (start.page, start.theme, start.lease, start.motion),
            (None, None, None, None)
        );
        assert_eq!(start.notices.len(), 4, "{:?}", start.notices);
        assert_eq!(
            start.notices[1],
            "The address has theme=pink; it takes auto, light or dark."
        );
    }
}
