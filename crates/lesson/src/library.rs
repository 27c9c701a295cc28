//! The lessons that come with the playground, in the order of their `order` key.
//!
//! The shelf by the door. It is filled from the folder `lessons` when this crate is built, so that
//! a new lesson takes a new file and nothing else.

/// A lesson's file: its name in the folder, and its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LessonFile {
    pub file: &'static str,
    pub text: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/library.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lesson_on_the_shelf_is_read_and_they_are_in_order() {
        let lessons: Vec<crate::lesson::Lesson> = LESSONS
            .iter()
            .map(|file| crate::parse(file.text, file.file).unwrap())
            .collect();
        let orders: Vec<Option<u64>> = lessons.iter().map(|lesson| lesson.order).collect();
        assert!(
            orders.is_sorted_by_key(|order| order.unwrap_or(u64::MAX)),
            "{orders:?}"
        );
        for lesson in &lessons {
            assert_eq!(
                lesson.file,
                format!("{}.md", lesson.id),
                "a lesson's file is named by its id"
            );
        }
    }
}
