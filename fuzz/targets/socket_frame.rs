//! Every frame that a browser can send is accepted or refused without a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|frame: &str| {
    assert_eq!(smartspace_socket::fuzzing::frame(frame), Ok(()));
});
