//! The lab for a web page: it takes a question as JSON and returns an answer as JSON.
//!
//! ```text
//! page ─ input(length), its bytes ─> ask() ─ length ─> output(), its bytes ─> page
//!                                      └ progress(share) while it runs
//! ```
//!
//! It runs on one thread and takes one question at a time. The page runs it in a worker. If the
//! page does not want to wait, it ends the worker.

mod answer;

use std::cell::RefCell;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Reports the share of the work that is done, from 0 to 1.
    safe fn progress(share: f64);
}

/// Returns the buffer for the bytes of a question.
#[unsafe(no_mangle)]
pub extern "C" fn input(bytes: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        input.resize(bytes, 0);
        input.as_mut_ptr()
    })
}

/// Answers the question. Returns the length of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> usize {
    let question = INPUT.take();
    let text = answer::to(&String::from_utf8_lossy(&question), &mut |share| progress(share));
    OUTPUT.with_borrow_mut(|output| {
        *output = text.into_bytes();
        output.len()
    })
}

/// Returns the address of the answer's bytes. They stay valid until the next question.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(|output| output.as_ptr())
}
