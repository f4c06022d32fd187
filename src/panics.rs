//! Panics on their way to the caller, across threads: message and place.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};

thread_local! {
    /// Place of the last panic of this thread, as far as the hook has seen it.
    static PLACE: Cell<Option<String>> = const { Cell::new(None) };
}

/// Creates the thread-local data of this thread, which takes memory.
pub(crate) fn prepare_thread() {
    PLACE.take();
}

/// Something that unwound.
pub(crate) struct Caught {
    payload: Box<dyn Any + Send>,
    /// File and line.
    place: Option<String>,
}

/// Runs `work`, and returns its result or its unwinding.
pub(crate) fn catch<R>(work: impl FnOnce() -> R) -> Result<R, Caught> {
    // The state that `work` has changed is not read again: the caller ends the call.
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|payload| Caught { payload, place: PLACE.take() })
}

impl Caught {
    /// Unwinds on from here, on any thread.
    pub(crate) fn pass_on(self) -> ! {
        PLACE.set(self.place);
        panic::resume_unwind(self.payload)
    }

    /// The payload, if it is of this type.
    pub(crate) fn of<T: Copy + 'static>(&self) -> Option<T> {
        self.payload.downcast_ref().copied()
    }

    /// The message, on one line.
    pub(crate) fn message(&self) -> String {
        let text = self.payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| self.payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// File and line, if they are known.
    pub(crate) fn place(&self) -> Option<&str> {
        self.place.as_deref()
    }
}

/// Stores panics instead of printing them, but for those that `prints` wants.
pub(crate) fn keep_quiet(prints: fn(&PanicHookInfo<'_>) -> bool) {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        PLACE.set(info.location().map(|location| format!("{}:{}", short(location.file()), location.line())));
        if prints(info) {
            before(info);
        }
    }));
}

/// A path without the folders of the machine that built this.
fn short(path: &str) -> &str {
    let ours = ["/registry/src/", "/rustc/"].iter().find_map(|folder| path.split_once(folder)?.1.split_once('/'));
    ours.map_or(path, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_go_from_thread_to_thread() {
        let caught = std::thread::spawn(|| catch(|| panic!("two\n  lines")).expect_err("a panic")).join();
        let caught = catch(|| caught.expect("a thread").pass_on()).expect_err("the same");
        assert_eq!((caught.message().as_str(), caught.of::<u8>()), ("two lines", None));
        let caught = catch(|| panic::resume_unwind(Box::new(7_u8))).expect_err("a payload");
        assert_eq!((caught.message().as_str(), caught.of::<u8>(), caught.place()), ("a panic", Some(7), None));
        assert_eq!(catch(|| 3).ok(), Some(3));
    }

    #[test]
    fn paths_do_not_show_the_build_machine() {
        assert_eq!(short("src/par/mod.rs"), "src/par/mod.rs");
        assert_eq!(short("/root/.cargo/registry/src/index-1/numpy-0.30.0/src/lib.rs"), "numpy-0.30.0/src/lib.rs");
        assert_eq!(short("/rustc/0a1b/library/core/src/option.rs"), "library/core/src/option.rs");
    }
}
