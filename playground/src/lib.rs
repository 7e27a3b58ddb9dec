//! The lab for a page: a question as JSON comes in, an answer as JSON goes out.
//!
//! ```text
//! page ─ input(length), its bytes ─> ask() ─ length ─> output(), its bytes ─> page
//!                                      └ progress(share) while it runs
//! ```
//!
//! One thread, one question at a time: the page runs it in a worker, and ends the worker if it does not want to wait.

mod answer;

use std::cell::RefCell;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Takes the share that is done, from 0 to 1.
    safe fn progress(share: f64);
}

/// Where the bytes of a question belong.
#[unsafe(no_mangle)]
pub extern "C" fn input(bytes: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        input.resize(bytes, 0);
        input.as_mut_ptr()
    })
}

/// Answers the question and tells the length of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> usize {
    let question = INPUT.take();
    let text = answer::to(&String::from_utf8_lossy(&question), &mut |share| progress(share));
    OUTPUT.with_borrow_mut(|output| {
        *output = text.into_bytes();
        output.len()
    })
}

/// Where the bytes of the answer are, until the next question.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(|output| output.as_ptr())
}
