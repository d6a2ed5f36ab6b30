//! The size of pictures, by the structure of the whole file. A file may name several sizes, and a
//! decoder may believe any of them, so the largest counts.
//!
//! A size may stand behind megabytes of other data. So a search asks for the bytes that it needs,
//! and skips data whose length the format tells.

use std::ops::Range;

use super::PictureSize;

/// The most pixels of a picture. Decoded, they take 200 MB.
pub const PICTURE_PIXELS: u64 = 50_000_000;
/// How many bytes of a picture are read at once.
const WINDOW: u64 = 1024 * 1024;
/// More than any part that names a size needs for that.
const PART: usize = 32;

impl PictureSize {
    /// How many pixels it has.
    pub fn pixels(self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// Fails if a picture has too many pixels for those who decode it.
    pub(super) fn check(self) -> Result<(), String> {
        if self.pixels() <= PICTURE_PIXELS {
            return Ok(());
        }
        let Self { width, height } = self;
        Err(format!(
            "expected a picture of at most {PICTURE_PIXELS} pixels, got {width} × {height}"
        ))
    }
}

/// A search for the sizes that a picture names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeSearch {
    format: Format,
    /// How long the file is.
    bytes: u64,
    /// Where the next part begins.
    at: u64,
    largest: Option<PictureSize>,
    is_done: bool,
}

impl SizeSearch {
    /// The search in a file of this many bytes, if its type is one of pictures.
    pub(super) fn new(media_type: &str, bytes: u64) -> Option<Self> {
        let (format, at) = match media_type {
            "image/png" => (Format::Png, 8),
            "image/jpeg" => (Format::Jpeg { widest: 0, has_scan: false }, 2),
            "image/gif" => (Format::Gif(GifPart::Screen), 0),
            "image/webp" => (Format::Webp, 12),
            _ => return None,
        };
        Some(Self { format, bytes, at, largest: None, is_done: false })
    }

    /// Which bytes of the file it needs next. `None` if it has found all sizes.
    pub fn needs(&self) -> Option<Range<u64>> {
        let is_over = self.is_done || self.at >= self.bytes;
        (!is_over).then(|| self.at..self.bytes.min(self.at + WINDOW))
    }

    /// Looks at bytes of the file, which begin at `begin`.
    pub fn read(&mut self, begin: u64, window: &[u8]) {
        let is_last = begin + window.len() as u64 >= self.bytes;
        let before = self.at;
        while let Some(part) = self.part(begin, window, is_last) {
            let Some(Step { length, size }) = self.format.step(part) else {
                self.is_done = true;
                return;
            };
            self.at = self.at.saturating_add(length);
            let size = size.filter(|size| size.pixels() > 0);
            self.largest = self.largest.into_iter().chain(size).max_by_key(|size| size.pixels());
        }
        // A file that is shorter than it should be must not be asked for again and again.
        let is_stuck = self.at == before && begin == before;
        self.is_done |= is_stuck || self.largest.is_some_and(|size| size.check().is_err());
    }

    /// What the window has of the next part, if that is enough of it.
    fn part<'a>(&self, begin: u64, window: &'a [u8], is_last: bool) -> Option<&'a [u8]> {
        let from = usize::try_from(self.at.checked_sub(begin)?).ok()?;
        window.get(from..).filter(|part| part.len() >= PART || is_last && !part.is_empty())
    }

    /// The largest size, if the picture names one and has not too many pixels for those who decode
    /// it. The error says what is wrong.
    pub fn largest(self) -> Result<PictureSize, String> {
        let size = self.largest.ok_or("expected a picture that names its size")?;
        size.check().map(|()| size)
    }
}

/// How far the parts of a picture tell their sizes and lengths.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Format {
    Png,
    Jpeg { widest: u32, has_scan: bool },
    Gif(GifPart),
    Webp,
}

/// What comes next in a GIF.
#[derive(Clone, Debug, PartialEq, Eq)]
enum GifPart {
    Screen,
    Block,
    Data,
}

/// A part of a picture.
struct Step {
    length: u64,
    size: Option<PictureSize>,
}

impl Format {
    /// Reads the part that begins here. Returns `None` where a decoder ends.
    fn step(&mut self, part: &[u8]) -> Option<Step> {
        match self {
            Self::Png => png(part),
            Self::Jpeg { widest, has_scan } => jpeg(part, widest, has_scan),
            Self::Gif(next) => gif(part, next),
            Self::Webp => webp(part),
        }
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn big_32(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u32::from_be_bytes)
}

fn little_32(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u32::from_le_bytes)
}

fn big_16(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(|pair| u16::from_be_bytes(pair).into())
}

fn little_16(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(|pair| u16::from_le_bytes(pair).into())
}

fn little_24(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(|[low, middle, high]| u32::from_le_bytes([low, middle, high, 0]))
}

fn size(width: Option<u32>, height: Option<u32>) -> Option<PictureSize> {
    Some(PictureSize { width: width?, height: height? })
}

/// A chunk of a PNG: a header, or a frame of an animated one, names a size.
fn png(chunk: &[u8]) -> Option<Step> {
    let length = big_32(chunk, 0)?;
    let size = match &array::<4>(chunk, 4)? {
        b"IHDR" => size(big_32(chunk, 8), big_32(chunk, 12)),
        b"fcTL" => size(big_32(chunk, 12), big_32(chunk, 16)),
        b"IEND" => return None,
        _ => None,
    };
    Some(Step { length: 12 + u64::from(length), size })
}

/// A segment of a JPEG. Bytes between segments and the data of scans are skipped as decoders do.
fn jpeg(segment: &[u8], widest: &mut u32, has_scan: &mut bool) -> Option<Step> {
    let skip = |length: usize| Some(Step { length: length as u64, size: None });
    let marker = *segment.get(1)?;
    if segment[0] != 0xff {
        return skip(segment.iter().position(|byte| *byte == 0xff).unwrap_or(segment.len()));
    }
    match marker {
        0 | 0xff => return skip(1),
        // Cameras store more behind the end. Some decoders go on if no scan has begun.
        0xd9 if *has_scan => return None,
        0x01 | 0xd0..=0xd9 => return skip(2),
        _ => {}
    }
    let length = u64::from(big_16(segment, 2)?.max(2));
    let size = match marker {
        0xc4 | 0xc8 | 0xcc => None,
        // Frames, and the size of all frames of a hierarchical JPEG.
        0xc0..=0xcf | 0xde => size(big_16(segment, 7), big_16(segment, 5)),
        0xda => {
            *has_scan = true;
            None
        }
        // The number of lines, which a frame may leave open.
        0xdc => size(Some(*widest), big_16(segment, 4)),
        _ => None,
    };
    *widest = size.map_or(0, |size| size.width).max(*widest);
    Some(Step { length: 2 + length, size })
}

/// A part of a GIF: the screen, where its frames end, or data.
fn gif(part: &[u8], next: &mut GifPart) -> Option<Step> {
    let colors = |flags: u8| if flags & 0x80 == 0 { 0 } else { 3 * (2 << (flags & 7)) };
    let (length, size, following) = match (&next, *part.first()?) {
        (GifPart::Screen, _) => {
            let size = size(little_16(part, 6), little_16(part, 8));
            (13 + colors(*part.get(10)?), size, GifPart::Block)
        }
        (GifPart::Data, 0) => (1, None, GifPart::Block),
        (GifPart::Data, length) => (1 + u64::from(length), None, GifPart::Data),
        (GifPart::Block, 0x21) => (2, None, GifPart::Data),
        (GifPart::Block, 0x2c) => {
            let edge = |from: usize, length: usize| {
                Some(little_16(part, from)? + little_16(part, length)?)
            };
            // One byte before the data says how long their codes are.
            (11 + colors(*part.get(9)?), size(edge(1, 5), edge(3, 7)), GifPart::Data)
        }
        (GifPart::Block, b';') => return None,
        // Some decoders search for the next block.
        (GifPart::Block, _) => (1, None, GifPart::Block),
    };
    *next = following;
    Some(Step { length, size })
}

/// A chunk of a WebP: the canvas, a frame or a picture.
fn webp(chunk: &[u8]) -> Option<Step> {
    let data = 8;
    let length = u64::from(little_32(chunk, 4)?);
    let plus_one = |at| little_24(chunk, at).map(|side| side + 1);
    let kind = array::<4>(chunk, 0)?;
    let size = match &kind {
        b"VP8X" => size(plus_one(data + 4), plus_one(data + 7)),
        b"VP8 " => {
            let side = |at| little_16(chunk, at).map(|side| side & 0x3fff);
            size(side(data + 6), side(data + 8))
        }
        b"VP8L" => little_32(chunk, data + 1).map(|bits| PictureSize {
            width: (bits & 0x3fff) + 1,
            height: (bits >> 14 & 0x3fff) + 1,
        }),
        b"ANMF" => {
            let edge = |from, length| Some(2 * little_24(chunk, from)? + plus_one(length)?);
            size(edge(data, data + 6), edge(data + 3, data + 9))
        }
        _ => None,
    };
    // The picture of a frame is a chunk within the frame.
    let length = if &kind == b"ANMF" { 16 } else { length };
    Some(Step { length: data as u64 + length + length % 2, size })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attachments::FIRST_BYTES;

    /// The largest size of a picture that is read as the storage has it.
    fn largest(media_type: &str, parts: &[&[u8]]) -> Option<(u32, u32)> {
        let bytes = parts.concat();
        let mut search = SizeSearch::new(media_type, bytes.len() as u64).unwrap();
        search.read(0, &bytes[..bytes.len().min(FIRST_BYTES)]);
        let mut reads = 0;
        while let Some(Range { start, end }) = search.needs() {
            search.read(start, &bytes[start as usize..end as usize]);
            reads += 1;
        }
        assert!(reads <= bytes.len() / (WINDOW as usize - PART) + 1, "{reads}");
        search.largest.map(|size| (size.width, size.height))
    }

    #[test]
    fn a_png_has_the_size_of_its_largest_header() {
        const START: &[u8] = b"\x89PNG\r\n\x1a\n";
        const SMALL: &[u8] = b"\0\0\0\x0dIHDR\0\0\0\x03\0\0\0\x02\x08\x02\0\0\0CRC.";
        const LARGE: &[u8] = b"\0\0\0\x0dIHDR\0\0\x75\x30\0\0\x75\x30\x08\x02\0\0\0CRC.";
        const FRAME: &[u8] = b"\0\0\0\x0cfcTL\0\0\0\0\0\0\x10\0\0\0\x10\0CRC.";
        assert_eq!(largest("image/png", &[START, SMALL]), Some((3, 2)));
        assert_eq!(largest("image/png", &[START, SMALL, LARGE]), Some((30_000, 30_000)));
        assert_eq!(largest("image/png", &[START, SMALL, FRAME]), Some((4_096, 4_096)));
        assert_eq!(largest("image/png", &[START, &SMALL[..14]]), None);
    }

    #[test]
    fn a_jpeg_has_the_size_of_its_largest_frame() {
        const APP: &[u8] = b"\xff\xe0\0\x06JFIF";
        const SMALL: &[u8] = b"\xff\xc0\0\x0b\x08\0\x02\0\x03\x01\x01\x11\0";
        const LARGE: &[u8] = b"\xff\xc2\0\x0b\x08\x75\x30\x75\x30\x01\x01\x11\0";
        const OPEN: &[u8] = b"\xff\xc0\0\x0b\x08\0\0\x75\x30\x01\x01\x11\0";
        const LINES: &[u8] = b"\xff\xdc\0\x04\x75\x30";
        // The size of all frames of a hierarchical picture.
        const ALL: &[u8] = b"\xff\xde\0\x0b\x08\x75\x30\x75\x30\x01\x01\x11\0";
        const END: &[u8] = b"\xff\xd9";
        // A table of Huffman codes is no frame, and a scan may contain bytes like a marker's first.
        const TABLE: &[u8] = b"\xff\xc4\0\x07\x75\x30\x75\x30\x75";
        const SCAN: &[u8] = b"\xff\xda\0\x04\0\0\x12\xff\0\xc0\xff\xd0\x13";
        let largest = |parts: &[&[u8]]| {
            let start: &[&[u8]] = &[b"\xff\xd8", APP];
            largest("image/jpeg", &[start, parts].concat())
        };
        assert_eq!(largest(&[SMALL, TABLE, SCAN, b"\xff\xd9"]), Some((3, 2)));
        assert_eq!(largest(&[SMALL, LARGE]), Some((30_000, 30_000)));
        assert_eq!(largest(&[LARGE, SMALL]), Some((30_000, 30_000)));
        assert_eq!(largest(&[SMALL, SCAN, b"x\xff", LARGE]), Some((30_000, 30_000)));
        assert_eq!(largest(&[OPEN, SCAN, LINES]), Some((30_000, 30_000)));
        assert_eq!(largest(&[]), None);
        assert_eq!(largest(&[ALL]), Some((30_000, 30_000)));
        assert_eq!(largest(&[ALL, SMALL, SCAN]), Some((30_000, 30_000)));
        // What a camera stores behind the picture is not a part of it.
        assert_eq!(largest(&[SMALL, SCAN, END, LARGE]), Some((3, 2)));
        assert_eq!(largest(&[END, LARGE, SCAN]), Some((30_000, 30_000)));
    }

    #[test]
    fn a_gif_is_as_large_as_its_screen_and_its_frames() {
        const SCREEN: &[u8] = b"GIF89a\x03\0\x02\0\x80\0\0RGBrgb";
        const LARGE_SCREEN: &[u8] = b"GIF89a\x30\x75\x30\x75\0\0\0";
        const COMMENT: &[u8] = b"\x21\xfe\x02Hi\0";
        const FRAME: &[u8] = b"\x2c\0\0\0\0\x03\0\x02\0\0\x02\x01x\0";
        const FAR: &[u8] = b"\x2c\x10\0\x20\0\x30\x75\x30\x75\x80RGBrgb\x02\x01x\0";
        assert_eq!(largest("image/gif", &[SCREEN, COMMENT, FRAME, b";"]), Some((3, 2)));
        assert_eq!(largest("image/gif", &[LARGE_SCREEN, FRAME]), Some((30_000, 30_000)));
        assert_eq!(largest("image/gif", &[SCREEN, COMMENT, FAR]), Some((30_016, 30_032)));
        assert_eq!(largest("image/gif", &[SCREEN, FRAME, FAR]), Some((30_016, 30_032)));
        assert_eq!(largest("image/gif", &[SCREEN, FRAME, b"\0\0", FAR]), Some((30_016, 30_032)));
        assert_eq!(largest("image/gif", &[SCREEN, FRAME, b";", FAR]), Some((3, 2)));
    }

    #[test]
    fn a_webp_is_as_large_as_its_canvas_and_its_frames() {
        const START: &[u8] = b"RIFF\0\0\0\0WEBP";
        const CANVAS: &[u8] = b"VP8X\x0a\0\0\0\0\0\0\0\x02\0\0\x01\0\0";
        const LARGE_CANVAS: &[u8] = b"VP8X\x0a\0\0\0\0\0\0\0\x2f\x75\0\x2f\x75\0";
        const LOSSY: &[u8] = b"VP8 \x0a\0\0\0\0\0\0\x9d\x01\x2a\xff\x3f\xff\x3f";
        const LOSSLESS: &[u8] = b"VP8L\x05\0\0\0\x2f\xff\xff\xff\x0f\0";
        const FRAME: &[u8] = b"ANMF\x22\0\0\0\0\0\0\0\0\0\x02\0\0\x01\0\0\0\0\0\0";
        assert_eq!(largest("image/webp", &[START, CANVAS]), Some((3, 2)));
        assert_eq!(largest("image/webp", &[START, LARGE_CANVAS]), Some((30_000, 30_000)));
        assert_eq!(largest("image/webp", &[START, CANVAS, LOSSY]), Some((16_383, 16_383)));
        assert_eq!(largest("image/webp", &[START, CANVAS, LOSSLESS]), Some((16_384, 16_384)));
        assert_eq!(largest("image/webp", &[START, CANVAS, FRAME, LOSSY]), Some((16_383, 16_383)));
        assert_eq!(largest("image/webp", &[START]), None);
    }

    const LENGTH: usize = 1_200_000;

    #[test]
    fn a_size_behind_more_than_a_mebibyte_is_found() {
        let large = Some((30_000, 30_000));
        let data = vec![b'x'; LENGTH];
        // A GIF with a long comment, or whose first frame has much data.
        let block = [&[250][..], &[b'x'; 250]].concat();
        let blocks = [block.repeat(5_000), vec![0]].concat();
        let frame = b"\x2c\0\0\0\0\x30\x75\x30\x75\0\x02\x01x\0;".as_slice();
        let screen = b"GIF89a\x03\0\x02\0\0\0\0".as_slice();
        let first = b"\x2c\0\0\0\0\x03\0\x02\0\0\x02".as_slice();
        for begin in [b"\x21\xfe".as_slice(), first] {
            assert_eq!(largest("image/gif", &[screen, begin, &blocks, frame]), large);
        }
        // A WebP with a profile, and an animated one whose frame has one.
        let start = b"RIFF\0\0\0\0WEBP".as_slice();
        let canvas = b"VP8X\x0a\0\0\0\0\0\0\0\x09\0\0\x09\0\0".as_slice();
        let profile = [b"ICCP".as_slice(), &(LENGTH as u32).to_le_bytes(), &data].concat();
        let lossless = b"VP8L\x05\0\0\0\x2f\xff\xff\xff\x0f\0".as_slice();
        let small_frame = b"ANMF\x22\0\0\0\0\0\0\0\0\0\x02\0\0\x01\0\0\0\0\0\0".as_slice();
        for before in [&[][..], small_frame] {
            let parts = [start, canvas, before, &profile, lossless];
            assert_eq!(largest("image/webp", &parts), Some((16_384, 16_384)));
        }
        // A PNG with a second header, and an animated one, behind the data.
        let start = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x03\0\0\0\x02\x08\x02\0\0\0CRC.";
        let chunk = [&(LENGTH as u32).to_be_bytes(), b"IDAT".as_slice(), &data, b"CRC."].concat();
        let header = b"\0\0\0\x0dIHDR\0\0\x75\x30\0\0\x75\x30\x08\x02\0\0\0CRC.".as_slice();
        let control = b"\0\0\0\x1afcTL\0\0\0\x01\0\0\x75\x30\0\0\x75\x30CRC.".as_slice();
        for size in [header, control] {
            assert_eq!(largest("image/png", &[start, &chunk, size]), large);
        }
        // A JPEG with many comments, and one with a long scan.
        let comment = [b"\xff\xfe\xff\xff".as_slice(), &data[..65_533]].concat().repeat(20);
        let scan = [b"\xff\xda\0\x04\0\0".as_slice(), &data].concat();
        let small = b"\xff\xc0\0\x0b\x08\0\x02\0\x03\x01\x01\x11\0".as_slice();
        let frame = b"\xff\xc2\0\x0b\x08\x75\x30\x75\x30\x01\x01\x11\0".as_slice();
        for between in [&comment, &scan] {
            assert_eq!(largest("image/jpeg", &[b"\xff\xd8", small, between, frame]), large);
        }
    }

    #[test]
    fn a_part_at_the_edge_of_what_is_read_at_once_is_found() {
        let frame = b"\xff\xc2\0\x0b\x08\x75\x30\x75\x30\x01\x01\x11\0".as_slice();
        let after = [b'x'; 2 * PART];
        for edge in [FIRST_BYTES, WINDOW as usize] {
            for before in edge - 2 * PART..edge + PART {
                let start =
                    [b"\xff\xd8\xff\xda\0\x04\0\0".as_slice(), &vec![b'x'; before]].concat();
                let found = largest("image/jpeg", &[&start, frame, &after]);
                assert_eq!(found, Some((30_000, 30_000)), "{before}");
            }
        }
    }

    #[test]
    fn a_file_that_is_shorter_than_it_says_ends() {
        let mut search = SizeSearch::new("image/png", 4 * WINDOW).unwrap();
        search.read(0, b"\x89PNG\r\n\x1a\n");
        let start = search.needs().unwrap().start;
        search.read(start, b"");
        assert_eq!(search.needs(), None);
        assert_eq!(search.largest(), Err("expected a picture that names its size".into()));
    }

    #[test]
    fn fifty_million_pixels_are_the_most() {
        let check = |width, height| PictureSize { width, height }.check();
        assert_eq!(check(50_000_000, 1), Ok(()));
        assert_eq!(check(7_071, 7_071), Ok(()));
        assert_eq!(
            check(30_000, 30_000),
            Err("expected a picture of at most 50000000 pixels, got 30000 × 30000".into())
        );
        assert!(check(u32::MAX, u32::MAX).is_err());
    }
}
