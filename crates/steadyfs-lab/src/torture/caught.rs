//! Panics as values. A failed assertion of the oracle, of a simulated chip or of the core is a
//! failure of the run.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// True if this thread does not print its panics.
    static QUIET: Cell<bool> = const { Cell::new(false) };
    static MESSAGE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Calls `act`. A panic in it becomes its message, with the place.
pub fn caught<T>(act: impl FnOnce() -> T) -> Result<T, String> {
    install();
    let before = QUIET.replace(true);
    let result = catch_unwind(AssertUnwindSafe(act));
    QUIET.set(before);
    result.map_err(|_| MESSAGE.take())
}

/// Installs a hook before the existing hook. It does not affect other threads.
fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let other = take_hook();
        set_hook(Box::new(move |info| {
            if !QUIET.get() {
                return other(info);
            }
            let payload = info.payload();
            let text = payload
                .downcast_ref::<&str>()
                .copied()
                .or(payload.downcast_ref::<String>().map(String::as_str));
            let text = text.unwrap_or("a panic without a message");
            let place = info
                .location()
                .map_or(String::new(), |place| format!(" ({}:{})", place.file(), place.line()));
            MESSAGE.set(format!("{text}{place}"));
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_message_and_place() {
        let message = caught(|| -> u8 { panic!("page {} is lost", 7) }).unwrap_err();
        assert!(
            message.starts_with("page 7 is lost (") && message.contains("caught.rs"),
            "{message}"
        );
        assert_eq!(caught(|| 5), Ok(5));
    }
}
