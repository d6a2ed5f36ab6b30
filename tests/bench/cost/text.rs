//! Realistic text that never repeats, so that stored prompts do not compress unrealistically well.

use std::sync::atomic::{AtomicU64, Ordering};

const WORDS: &str = "\
    the of and to in that is was he for it with as his on be at by had not are but from or have \
    an they which one you were all her she there would their we him been has when who will no \
    more if out so up said what its about than into them can only other time new some could these \
    two may first then do any like my now over such our man me even most made after also did many \
    off before must well back through years where much your way down should because long each \
    just state those people too mr how little good world make very year still see own work men \
    day get here between both life being under three never know same last another while us might \
    great old come since against go came right take used himself few house use place during \
    without again home around small however found mrs part once general high upon school every \
    don't does got united left number course war until always away something fact though water \
    less public put think almost hand enough far took head yet government system better set sold \
    nothing night end why called didn't eyes find going look asked later knew point next program \
    city business give group toward young days let room word things already week customer order \
    invoice";

/// A sequence of words that looks random but is the same in every process.
#[derive(Debug, Default)]
pub(crate) struct Words(AtomicU64);

impl Words {
    /// Returns a text of about `chars` characters.
    pub(crate) fn some(&self, chars: usize) -> String {
        let words: Vec<&str> = WORDS.split_whitespace().collect();
        let mut text = String::new();
        while text.len() < chars {
            let number = self.0.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let mixed = (number ^ (number >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            text.push_str(words[(mixed >> 33) as usize % words.len()]);
            text.push(' ');
        }
        text.trim_end().to_owned()
    }
}
