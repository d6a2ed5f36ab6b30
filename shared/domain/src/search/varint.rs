//! Numbers of few bytes, as blocks store them: seven bits a byte, the lowest first.

/// The bit of a byte that says that another one follows.
const MORE: u8 = 0x80;

/// Appends a number.
pub(super) fn write(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= u64::from(MORE) {
        bytes.push(number as u8 | MORE);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends a number that may be negative.
pub(super) fn write_signed(bytes: &mut Vec<u8>, number: i64) {
    write(bytes, (number.wrapping_shl(1) ^ (number >> 63)).cast_unsigned());
}

/// Reads numbers. It gives `None` if the bytes end before a number does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub(super) fn is_at_end(self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn read(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let (first, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            number |= u64::from(first & !MORE) << shift;
            if first & MORE == 0 {
                return Some(number);
            }
        }
        None
    }

    pub(super) fn read_signed(&mut self) -> Option<i64> {
        let number = self.read()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// Reads a number that says how many things follow. There are at most as many as bytes.
    pub(super) fn read_count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.read()?).ok()?;
        (count <= self.bytes.len()).then_some(count)
    }

    /// Reads so many bytes.
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    /// Where the bytes of this value are, counted from the next byte on.
    pub(super) fn find(self, byte: u8) -> impl Iterator<Item = usize> + 'a {
        memchr::memchr_iter(byte, self.bytes)
    }

    /// Reads the bytes before the next one of this value, and that byte.
    pub(super) fn take_until(&mut self, end: u8) -> Option<&'a [u8]> {
        let at = self.find(end).next()?;
        let taken = self.take(at)?;
        self.take(1)?;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        let signed = [0, -1, 1, 64, -65, i64::MAX, i64::MIN];
        let mut bytes = Vec::new();
        for number in numbers {
            write(&mut bytes, number);
        }
        for number in signed {
            write_signed(&mut bytes, number);
        }
        let mut reader = Reader::new(&bytes);
        assert_eq!(numbers.map(|_| reader.read()), numbers.map(Some));
        assert_eq!(signed.map(|_| reader.read_signed()), signed.map(Some));
        assert!(reader.is_at_end());
        assert_eq!(reader.read(), None);
        assert_eq!(Reader::new(&[0xff]).read(), None);
        assert_eq!(Reader::new(&[5, 1]).read_count(), None);
    }
}
