//! Whatever a browser sends over its socket is answered.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|frame: &str| {
    assert_eq!(smartspace_socket::fuzzing::frame(frame), Ok(()));
});
