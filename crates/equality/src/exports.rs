//! What the wasm module offers to a bare host: run a part, and where its text lies.
//!
//! Three functions of numbers, so that no binding generator stands between the two runs that are
//! compared.

#![allow(
    unsafe_code,
    reason = "exported names need `no_mangle`, which is unsafe in edition 2024"
)]

use std::sync::{Mutex, PoisonError};

use crate::Totals;

/// The text of the last part, and what has been run so far.
static STATE: Mutex<(String, Totals)> = Mutex::new((
    String::new(),
    Totals {
        steps: 0,
        bytes: 0,
        broken: 0,
    },
));

/// How many parts there are; one more number gives the summary.
#[unsafe(no_mangle)]
pub extern "C" fn equality_parts() -> u32 {
    crate::parts() as u32
}

/// Runs a part and keeps its text; gives the text's length in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn equality_run(part: u32, full: u32) -> u32 {
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    let (text, totals) = &mut *state;
    *text = if u64::from(part) < crate::parts() {
        crate::run(u64::from(part), full != 0, totals)
    } else {
        totals.summary()
    };
    text.len() as u32
}

/// Where the kept text begins in memory; it stands until the next run.
#[unsafe(no_mangle)]
pub extern "C" fn equality_text() -> *const u8 {
    STATE
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .0
        .as_ptr()
}
