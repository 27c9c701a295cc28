//! What a learner has done, kept between visits: pages seen, predictions made, goals reached.
//!
//! A bookmark with pencil notes. It holds no score: a wrong prediction is a prediction, not a
//! fault.

use std::collections::{BTreeMap, BTreeSet};

/// The learner's progress in all lessons; lessons, predictions and goals go by their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub lessons: BTreeMap<String, Done>,
}

/// What was done in one lesson.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// The farthest page that was reached, from 1.
    pub page: u64,
    /// The choice made at each prediction, from 1.
    pub predictions: BTreeMap<String, u64>,
    pub goals: BTreeSet<String>,
    pub finished: bool,
}

impl Progress {
    /// Reads what was kept, a fact a line; a line that cannot be read is left out.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let mut progress = Self::default();
        let mut lesson = String::new();
        for line in text.lines() {
            let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
            if name == "lesson" {
                rest.clone_into(&mut lesson);
                progress.lesson(&lesson);
            } else if let Some(done) = progress.lessons.get_mut(&lesson) {
                done.read_line(name, rest);
            }
        }
        progress
    }

    /// The text to keep.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (id, done) in &self.lessons {
            text.push_str(&format!("lesson {id}\npage {}\n", done.page));
            for (prediction, choice) in &done.predictions {
                text.push_str(&format!("predicted {prediction} {choice}\n"));
            }
            for goal in &done.goals {
                text.push_str(&format!("reached {goal}\n"));
            }
            if done.finished {
                text.push_str("finished\n");
            }
        }
        text
    }

    pub fn lesson(&mut self, id: &str) -> &mut Done {
        self.lessons.entry(id.to_owned()).or_default()
    }
}

impl Done {
    fn read_line(&mut self, name: &str, rest: &str) {
        match name {
            "page" => self.page = rest.parse().unwrap_or_default(),
            "predicted" => {
                if let Some((id, choice)) = rest.split_once(' ')
                    && let Ok(choice) = choice.parse()
                {
                    self.predictions.insert(id.to_owned(), choice);
                }
            }
            "reached" => {
                self.goals.insert(rest.to_owned());
            }
            "finished" => self.finished = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_reads_back_and_forgives() {
        let mut progress = Progress::default();
        progress.lesson("a-lease").page = 3;
        progress
            .lesson("a-lease")
            .predictions
            .insert("late-write".to_owned(), 2);
        progress
            .lesson("a-lease")
            .goals
            .insert("silence-is-enough".to_owned());
        progress.lesson("isolated-leader").finished = true;
        assert_eq!(Progress::read(&progress.text()), progress);
        assert_eq!(Progress::read("{ nonsense"), Progress::default());
    }
}
