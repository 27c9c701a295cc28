//! The page: opens the player, draws its frames, carries out what it asks.
//!
//! A picture frame around [`leasehold_player`]: views draw, [`browser`] is the only module that
//! touches the browser, and everything that decides is in the player.

#![recursion_limit = "512"]
#![allow(
    clippy::manual_clamp,
    reason = "`clamp` can panic, and the page would carry the printing of floats for its message"
)]

mod app;
mod browser;
mod markup;
mod views;

fn main() {
    // Yew would set its own hook, which only writes to the console.
    yew::set_custom_panic_hook(Box::new(browser::report_panic));
    yew::Renderer::<app::App>::with_root(browser::root()).render();
}
