//! One learner at work: what they do comes in as messages, what is to be drawn goes out as frames.
//!
//! The whole page without the web. Views draw what a [`frame::Frame`] says and send back what was
//! done; the browser carries out what a [`player::Request`] asks. Everything that could be wrong is
//! here, and so is everything that can be tested without a browser: positions on the stage
//! included.
//!
//! Read in this order: [`player`] (what can be done), [`scene`] (what stands on the stage),
//! [`layout`] (where), [`film`] and [`timeline`] (the lanes), [`frame`] (all that is drawn),
//! [`motion`] (what moves).

#![allow(
    clippy::manual_clamp,
    reason = "`clamp` can panic, and the page would carry the printing of floats for its message"
)]

pub mod film;
pub mod frame;
pub mod keys;
pub mod layout;
pub mod motion;
pub mod player;
pub mod progress;
pub mod scene;
pub mod start;
pub mod text;
pub mod timeline;

pub use frame::Frame;
pub use leasehold_engine as engine;
pub use leasehold_lesson as lesson;
pub use player::{Msg, Player, Request};
