//! The answer of `/bomb`.

use std::{io::Write, sync::LazyLock};

use axum::body::Bytes;
use flate2::{Compression, write::GzEncoder};

/// The decompressed size of `/bomb`, in MiB.
const BOMB_MIB: usize = 160;

/// About 160 KB that decompress to a thousand times as much.
pub(super) static BOMB: LazyLock<Bytes> = LazyLock::new(|| {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let zeros = vec![b'0'; 1024 * 1024];
    for _ in 0..BOMB_MIB {
        encoder.write_all(&zeros).unwrap();
    }
    encoder.finish().unwrap().into()
});
