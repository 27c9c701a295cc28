//! The page: opens the player, draws its frames, carries out what it asks.
//!
//! A picture frame around [`leasehold_player`]: views draw, [`browser`] is the only module that touches
//! the browser, and everything that decides is in the player.

mod app;
mod browser;
mod views;

fn main() {
    browser::report_panics();
    yew::Renderer::<app::App>::with_root(browser::root()).render();
}
