//! Panics of tasks. Tokio ends a task that panics, and otherwise nobody would notice.

use std::{
    cell::RefCell,
    panic::{set_hook, take_hook},
    sync::Once,
};

thread_local! {
    /// A simulation runs on one thread, so these are its panics.
    static PANICS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Records the panics of this thread from now on.
pub(crate) fn record() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = take_hook();
        set_hook(Box::new(move |info| {
            // The thread may be at its end.
            let _ = PANICS.try_with(|panics| panics.borrow_mut().push(info.to_string()));
            print(info);
        }));
    });
    PANICS.take();
}

/// The panics of this thread since [`record`].
pub(crate) fn take() -> Vec<String> {
    PANICS.take()
}
