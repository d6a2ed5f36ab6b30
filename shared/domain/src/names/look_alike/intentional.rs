//! Pairs of characters that fonts draw alike by intention (UTS 39, `intentional.txt`), and ordinary
//! names, which look like no others.

use super::*;

#[rustfmt::skip]
const PAIRS: [(char, char); 77] = [
    ('\u{21}', '\u{1c3}'), ('\u{41}', '\u{391}'), ('\u{42}', '\u{392}'), ('\u{43}', '\u{421}'),
    ('\u{45}', '\u{395}'), ('\u{48}', '\u{397}'), ('\u{49}', '\u{399}'), ('\u{4a}', '\u{408}'),
    ('\u{4b}', '\u{39a}'), ('\u{4d}', '\u{39c}'), ('\u{4e}', '\u{39d}'), ('\u{4f}', '\u{39f}'),
    ('\u{50}', '\u{3a1}'), ('\u{53}', '\u{405}'), ('\u{54}', '\u{3a4}'), ('\u{58}', '\u{3a7}'),
    ('\u{59}', '\u{3a5}'), ('\u{5a}', '\u{396}'), ('\u{61}', '\u{430}'), ('\u{63}', '\u{441}'),
    ('\u{64}', '\u{501}'), ('\u{65}', '\u{435}'), ('\u{68}', '\u{4bb}'), ('\u{69}', '\u{456}'),
    ('\u{6a}', '\u{3f3}'), ('\u{6f}', '\u{3bf}'), ('\u{70}', '\u{440}'), ('\u{73}', '\u{455}'),
    ('\u{78}', '\u{445}'), ('\u{79}', '\u{443}'), ('\u{c6}', '\u{4d4}'), ('\u{d0}', '\u{110}'),
    ('\u{e6}', '\u{4d5}'), ('\u{138}', '\u{43a}'), ('\u{182}', '\u{411}'), ('\u{18f}', '\u{4d8}'),
    ('\u{19f}', '\u{4e8}'), ('\u{1a9}', '\u{3a3}'), ('\u{1dd}', '\u{259}'),
    ('\u{245}', '\u{39b}'), ('\u{259}', '\u{4d9}'), ('\u{25b}', '\u{3b5}'),
    ('\u{269}', '\u{3b9}'), ('\u{275}', '\u{4e9}'), ('\u{292}', '\u{4e1}'),
    ('\u{299}', '\u{432}'), ('\u{29c}', '\u{43d}'), ('\u{393}', '\u{413}'),
    ('\u{3a0}', '\u{41f}'), ('\u{3b1}', '\u{237a}'), ('\u{3b9}', '\u{2373}'),
    ('\u{3c1}', '\u{2374}'), ('\u{3c9}', '\u{2375}'), ('\u{433}', '\u{1d26}'),
    ('\u{43b}', '\u{1d2b}'), ('\u{43f}', '\u{1d28}'), ('\u{101d}', '\u{1040}'),
    ('\u{17a2}', '\u{17a3}'), ('\u{1835}', '\u{1855}'), ('\u{199e}', '\u{19d0}'),
    ('\u{19b1}', '\u{19d1}'), ('\u{1a45}', '\u{1a80}'), ('\u{1a45}', '\u{1a90}'),
    ('\u{1b0d}', '\u{1b52}'), ('\u{1b11}', '\u{1b53}'), ('\u{1b28}', '\u{1b58}'),
    ('\u{1b50}', '\u{1b5c}'), ('\u{1d0d}', '\u{43c}'), ('\u{1d18}', '\u{1d29}'),
    ('\u{1d1b}', '\u{442}'), ('\u{2c67}', '\u{4a2}'), ('\u{2c69}', '\u{49a}'),
    ('\u{a9d0}', '\u{a9c6}'), ('\u{10382}', '\u{103d1}'), ('\u{10393}', '\u{103d3}'),
    ('\u{1039a}', '\u{12038}'), ('\u{10486}', '\u{104a0}'),
];

#[rustfmt::skip]
const ORDINARY: [&str; 40] = [
    "Anna Müller", "José García", "Zoë", "Łukasz Nowak", "Søren Kierkegaard",
    "Mary Jane Watson", "O’Brien", "Jean-Luc", "Ştefan", "Иван Петров", "Ольга",
    "Дмитрий Соколов", "Юлия", "Γιώργος Παπαδόπουλος", "Ελένη", "Νίκος", "محمد علي",
    "فاطمة", "نور الدين", "می\u{200c}خواهم", "דוד כהן", "שרה", "רחל", "नेहा शर्मा",
    "राहुल", "प्रिया", "王小明", "李华", "田中太郎", "さくら", "サトシ", "김민수", "이서연", "สมชาย", "สุดา",
    "Nguyễn Văn An", "አበበ", "Գևորգ", "გიორგი", "தமிழ்",
];

#[test]
fn names_that_differ_by_an_intentional_pair_look_alike() {
    for (one, other) in PAIRS {
        for place in ["Bob *", "*n*", "*"] {
            let [one, other] = [one, other].map(|char| place.replace('*', &char.to_string()));
            assert!(Look::of(&one).is_like(&Look::of(&other)), "{one:?} and {other:?}");
        }
    }
}

#[test]
fn ordinary_names_are_free_beside_each_other() {
    for (index, name) in ORDINARY.into_iter().enumerate() {
        assert_eq!(check_guest(name), Ok(()), "{name}");
        assert_eq!(crate::names::Name::check(name), Ok(()), "{name}");
        for other in ["Ada", "Bob"].iter().chain(&ORDINARY[index + 1..]) {
            assert!(!Look::of(name).is_like(&Look::of(other)), "{name} and {other}");
        }
    }
}

#[test]
fn names_that_show_nothing_are_no_names() {
    for hidden in ["\u{200b}", "\u{feff}", "\u{3164}", "\u{2800}", "Bob\u{202e}", "\u{2066}Bob"] {
        assert!(crate::names::Name::check(hidden).is_err(), "{hidden:?}");
    }
}
