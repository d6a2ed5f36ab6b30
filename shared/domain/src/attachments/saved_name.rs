//! The name under which a browser saves a file.

use super::FileType;

/// The unnamed stream of a file. Windows opens `a.exe::$DATA` like `a.exe`.
const STREAM: &str = "::$data";

/// The name under which a file of this media type is saved. It keeps its ending only if that is one
/// of its type. Any other ending may belong to a page or a program, and there are more of these
/// than a list can name, so `.txt` is put behind it.
pub fn saved_name(name: &str, media_type: &str) -> String {
    // Windows ignores dots and blanks at the end, so `a.html.` is a page.
    let name = without_end(name).replace(':', "_");
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    if FileType::read(media_type).is_some_and(|it| it.ends_with(extension)) {
        return name;
    }
    format!("{}.txt", if name.is_empty() { "file" } else { &name })
}

fn without_end(name: &str) -> &str {
    let mut name = name;
    loop {
        let trimmed = name.trim_end_matches(|char: char| char == '.' || char.is_whitespace());
        let start = trimmed.len().saturating_sub(STREAM.len());
        let is_stream = trimmed.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(STREAM));
        if !is_stream {
            return trimmed;
        }
        name = &trimmed[..start];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_endings_of_its_type_stay() {
        for (name, media_type) in [
            ("notes.txt", "text/plain"),
            ("server.LOG", "text/plain"),
            ("README.md", "text/markdown"),
            ("a.csv", "text/csv"),
            ("a.html.png", "image/png"),
            ("photo.JPG", "image/jpeg"),
            ("photo.jpeg", "image/jpeg"),
            ("voice.m4a", "audio/mp4"),
            ("voice.opus", "audio/ogg"),
        ] {
            assert_eq!(saved_name(name, media_type), name);
        }
        for (name, media_type) in [
            ("a.png", "image/jpeg"),
            ("a.pdf", "text/plain"),
            ("photo", "image/png"),
            ("main.rs", "text/plain"),
            (".htaccess", "text/plain"),
        ] {
            assert_eq!(saved_name(name, media_type), format!("{name}.txt"));
        }
    }

    #[test]
    fn no_page_or_program_keeps_its_ending() {
        let endings = "appref-ms bat cmd com command cpl desktop docm dotm exe gadget hta htm html \
                       inf iso jar jnlp js jse lnk mht mhtml mjs msc msi pif ps1 py reg scf scr sh \
                       shtml svg svgz url vbe vbs webloc wsf wsh xht xhtml xlsm xml";
        for ending in endings.split_whitespace() {
            for media_type in FileType::names() {
                let name = format!("a.{ending}");
                assert_eq!(saved_name(&name, media_type), format!("{name}.txt"), "{media_type}");
            }
        }
    }

    #[test]
    fn an_ending_can_not_be_hidden() {
        for (name, saved) in [
            ("a.html.", "a.html.txt"),
            ("a.html. . ", "a.html.txt"),
            ("a.html\u{a0}", "a.html.txt"),
            ("a.hta::$DATA", "a.hta.txt"),
            ("a.hta::$Data. ::$DATA", "a.hta.txt"),
            ("a.hta:x.txt", "a.hta_x.txt"),
            ("a.txt::$DATA", "a.txt"),
            ("notes.txt ", "notes.txt"),
            ("..", "file.txt"),
            ("ä::$DATA", "ä.txt"),
        ] {
            assert_eq!(saved_name(name, "text/plain"), saved, "{name:?}");
        }
    }
}
