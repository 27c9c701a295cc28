//! Counts the bytes that are allocated and not yet freed, exactly.
//!
//! A doorkeeper with a counter, who counts only while asked to. What the allocator itself adds for its
//! own books is left out.

#![allow(
    unsafe_code,
    reason = "an allocator is unsafe by its trait; this one only counts, and passes everything on"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};

pub(crate) struct Counting;

static COUNTS: AtomicBool = AtomicBool::new(false);
static LIVE: AtomicI64 = AtomicI64::new(0);

fn count(bytes: i64) {
    if COUNTS.load(Relaxed) {
        LIVE.fetch_add(bytes, Relaxed);
    }
}

// SAFETY: every call is the system allocator's, with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller keeps the trait's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller keeps the trait's contract.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64);
        // SAFETY: the caller keeps the trait's contract.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// What `make` gives, and how many bytes it allocated and did not free.
pub(crate) fn kept_by<T>(make: impl FnOnce() -> T) -> (T, i64) {
    let before = LIVE.load(Relaxed);
    COUNTS.store(true, Relaxed);
    let made = make();
    COUNTS.store(false, Relaxed);
    (made, LIVE.load(Relaxed) - before)
}
