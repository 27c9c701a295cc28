//! The keys of the page, in one table that the handler and the help dialog both read.
//!
//! A card beside the keyboard. Keys act only while the focus is inside the player, never together
//! with Ctrl, Alt or Meta, and never in a field; every key has a button too, because screen readers
//! keep letters for themselves.

use crate::player::Msg;

/// A key and what it does.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// As `KeyboardEvent.key` names them.
    pub names: &'static [&'static str],
    /// As people name them.
    pub shown: &'static str,
    pub does: &'static str,
    /// One character: can be turned off.
    pub is_character: bool,
    msg: fn() -> Msg,
}

impl Key {
    #[must_use]
    pub fn msg(&self) -> Msg {
        (self.msg)()
    }
}

/// All keys, in the order of the help dialog.
pub const KEYS: &[Key] = &[
    Key {
        names: &[" ", "k"],
        shown: "Space or k",
        does: "Play or stop",
        is_character: true,
        msg: || Msg::Toggle,
    },
    Key {
        names: &["ArrowRight"],
        shown: "→",
        does: "Next: the next event worth seeing",
        is_character: false,
        msg: || Msg::Next,
    },
    Key {
        names: &["ArrowLeft"],
        shown: "←",
        does: "Back to the event before",
        is_character: false,
        msg: || Msg::Back,
    },
    Key {
        names: &["."],
        shown: ".",
        does: "One step forward, however small",
        is_character: true,
        msg: || Msg::StepForward,
    },
    Key {
        names: &[","],
        shown: ",",
        does: "One step back, however small",
        is_character: true,
        msg: || Msg::StepBack,
    },
    Key {
        names: &["Home"],
        shown: "Home",
        does: "To the beginning of the page",
        is_character: false,
        msg: || Msg::PageStart,
    },
    Key {
        names: &["End"],
        shown: "End",
        does: "To the latest moment of the run",
        is_character: false,
        msg: || Msg::Latest,
    },
    Key {
        names: &["PageDown"],
        shown: "Page Down",
        does: "Continue: the next page of the lesson",
        is_character: false,
        msg: || Msg::Continue,
    },
    Key {
        names: &["PageUp"],
        shown: "Page Up",
        does: "The page before",
        is_character: false,
        msg: || Msg::PageBack,
    },
    Key {
        names: &["]"],
        shown: "]",
        does: "Faster",
        is_character: true,
        msg: || Msg::Faster,
    },
    Key {
        names: &["["],
        shown: "[",
        does: "Slower",
        is_character: true,
        msg: || Msg::Slower,
    },
    Key {
        names: &["Escape"],
        shown: "Esc",
        does: "Close a dialog, or select nothing",
        is_character: false,
        msg: || Msg::Escape,
    },
    Key {
        names: &["?"],
        shown: "?",
        does: "This list",
        is_character: true,
        msg: || Msg::Help,
    },
];

/// What a key does, if it does anything; `characters` says whether single characters act.
#[must_use]
pub fn key(name: &str, characters: bool) -> Option<&'static Key> {
    KEYS.iter()
        .find(|key| key.names.contains(&name) && (characters || !key.is_character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_means_two_things() {
        for (n, key) in KEYS.iter().enumerate() {
            for name in key.names {
                let others = KEYS[n + 1..]
                    .iter()
                    .flat_map(|k| k.names)
                    .filter(|other| *other == name);
                assert_eq!(others.count(), 0, "{name}");
            }
        }
    }

    #[test]
    fn single_characters_can_be_turned_off() {
        assert!(key("k", true).is_some() && key("k", false).is_none());
        assert!(key("ArrowRight", false).is_some() && key("x", true).is_none());
    }
}
