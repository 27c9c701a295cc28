//! What a learner has done, kept between visits: pages seen, predictions made, goals reached.
//!
//! A bookmark with pencil notes. It holds no score: a wrong prediction is a prediction, not a fault.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// The learner's progress in all lessons; lessons, predictions and goals go by their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    pub lessons: BTreeMap<String, Done>,
}

/// What was done in one lesson.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Done {
    /// The farthest page that was reached, from 1.
    pub page: u64,
    /// The choice made at each prediction, from 1.
    pub predictions: BTreeMap<String, u64>,
    pub goals: BTreeSet<String>,
    pub finished: bool,
}

impl Progress {
    /// Reads what was kept; what cannot be read is as if nothing were kept.
    #[must_use]
    pub fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// The text to keep.
    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("maps of strings and numbers always serialise")
    }

    pub fn lesson(&mut self, id: &str) -> &mut Done {
        self.lessons.entry(id.to_owned()).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_reads_back_and_forgives() {
        let mut progress = Progress::default();
        progress.lesson("a-lease").page = 3;
        progress.lesson("a-lease").predictions.insert("late-write".to_owned(), 2);
        assert_eq!(Progress::read(&progress.text()), progress);
        assert_eq!(Progress::read("{ nonsense"), Progress::default());
    }
}
