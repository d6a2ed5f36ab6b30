//! Draws the words of a prompt on a coloured ground. Equal requests get equal pictures.

use std::convert::Infallible;

use embedded_graphics::{
    Drawable,
    draw_target::DrawTarget,
    geometry::{OriginDimensions, Point, Size},
    mono_font::{MonoTextStyle, iso_8859_1::FONT_9X15_BOLD},
    pixelcolor::Gray8,
    prelude::GrayColor,
    text::{Alignment, Baseline, Text, TextStyleBuilder},
};
use smartspace_domain::{attachments::ReturnedImage, runs::FailureCode, tools::ImageSize};

use crate::port::{Drawing, ImageRequest, ModelError};

/// About how many letters stand in a line.
const LETTERS: u32 = 24;
/// The width and the height of a letter.
const LETTER: (u32, u32) = (9, 18);
/// How many lines there are at most.
const LINES: usize = 8;

/// Draws the prompt.
pub(crate) fn draw(request: &ImageRequest) -> Result<Drawing, ModelError> {
    let bytes = png(request.size, &request.prompt).map_err(|error| {
        ModelError::new(FailureCode::Internal, format!("the picture could not be made: {error}"))
    })?;
    let image = ReturnedImage { content_type: "image/png".into(), bytes };
    Ok(Drawing { image, usage: request.estimated_usage() })
}

/// The pixels of a picture: indexes of its palette. Each point that is drawn is a square of them.
struct Canvas {
    size: ImageSize,
    square: u32,
    pixels: Vec<u8>,
}

impl OriginDimensions for Canvas {
    fn size(&self) -> Size {
        Size::new(self.size.width / self.square, self.size.height / self.square)
    }
}

impl DrawTarget for Canvas {
    type Color = Gray8;
    type Error = Infallible;

    fn draw_iter<I>(&mut self, points: I) -> Result<(), Infallible>
    where
        I: IntoIterator<Item = embedded_graphics::Pixel<Gray8>>,
    {
        for embedded_graphics::Pixel(Point { x, y }, _) in points {
            let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) else { continue };
            let (left, top) = (x * self.square, y * self.square);
            if left + self.square > self.size.width || top + self.square > self.size.height {
                continue;
            }
            for row in top..top + self.square {
                let begin = (row * self.size.width + left) as usize;
                self.pixels[begin..begin + self.square as usize].fill(1);
            }
        }
        Ok(())
    }
}

fn png(size: ImageSize, prompt: &str) -> Result<Vec<u8>, png::EncodingError> {
    let ImageSize { width, height } = size;
    let square = (width / (LETTERS * LETTER.0)).max(1);
    let mut canvas = Canvas { size, square, pixels: vec![0; (width * height) as usize] };
    let Size { width: points, height: rows } = canvas.size();
    let letters = (points / LETTER.0).saturating_sub(2).max(1) as usize;
    let lines = lines(prompt, letters, LINES.min((rows / LETTER.1).max(1) as usize));
    let text_height = lines.len() as u32 * LETTER.1;
    let style = MonoTextStyle::new(&FONT_9X15_BOLD, Gray8::WHITE);
    let layout =
        TextStyleBuilder::new().alignment(Alignment::Center).baseline(Baseline::Top).build();
    let mut top = rows.saturating_sub(text_height) / 2;
    for line in &lines {
        let place = Point::new((points / 2) as i32, top as i32);
        let Ok(_) = Text::with_text_style(line, place, style, layout).draw(&mut canvas);
        top += LETTER.1;
    }
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette([ground(prompt), [255, 255, 255]].concat());
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&canvas.pixels)?;
    writer.finish()?;
    Ok(bytes)
}

/// A dark colour that belongs to a prompt.
fn ground(prompt: &str) -> [u8; 3] {
    const GROUNDS: [[u8; 3]; 6] =
        [[30, 64, 120], [20, 90, 80], [96, 44, 110], [120, 60, 30], [50, 60, 70], [110, 36, 60]];
    let sum: usize = prompt.bytes().map(usize::from).sum();
    GROUNDS[sum % GROUNDS.len()]
}

/// The words of a prompt in at most `count` lines of at most `most` letters. The rest of a long
/// prompt is left out.
fn lines(prompt: &str, most: usize, count: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in prompt.split_whitespace() {
        let word: String = word.chars().take(most).collect();
        let fits = |line: &String| line.chars().count() + 1 + word.chars().count() <= most;
        let is_full = lines.len() == count;
        match lines.last_mut() {
            Some(line) if fits(line) => {
                line.push(' ');
                line.push_str(&word);
            }
            Some(line) if is_full => {
                *line = line.chars().take(most.saturating_sub(3)).collect();
                line.push_str("...");
                break;
            }
            _ => lines.push(word),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use smartspace_domain::providers::ProviderApi;

    use super::*;

    fn drawn(prompt: &str, width: u32, height: u32) -> Drawing {
        draw(&ImageRequest {
            id: String::new(),
            provider: ProviderApi::Scripted.into(),
            model: "picture".into(),
            size: ImageSize { width, height },
            prompt: prompt.into(),
        })
        .unwrap()
    }

    /// How many pixels are white, and the size that the picture says.
    fn white(picture: &Drawing) -> (u32, (u32, u32)) {
        let decoder = png::Decoder::new(std::io::Cursor::new(&picture.image.bytes));
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        let white: u32 = pixels.iter().map(|index| u32::from(*index)).sum();
        (white, (info.width, info.height))
    }

    #[test]
    fn a_picture_shows_its_words_in_its_size() {
        let (none, size) = white(&drawn("", 512, 256));
        assert_eq!((none, size), (0, (512, 256)));
        let (few, _) = white(&drawn("A cat", 512, 256));
        let (more, _) = white(&drawn("A cat on a red sofa, at night", 512, 256));
        assert!(few > 100 && more > 2 * few, "{few} {more}");
        assert_eq!(drawn("A cat", 512, 256), drawn("A cat", 512, 256));
        assert_ne!(drawn("A cat", 512, 256).image, drawn("A dog", 512, 256).image);
    }

    #[test]
    fn any_prompt_fits_any_size() {
        for (width, height) in [(64, 64), (64, 4_096), (4_096, 64)] {
            for prompt in ["x".repeat(5_000), "Grüße 日本 ".repeat(500), "\u{0}\n".into()] {
                assert_eq!(white(&drawn(&prompt, width, height)).1, (width, height));
            }
        }
    }

    #[test]
    fn a_long_prompt_ends_with_dots() {
        let lines = lines(&"word ".repeat(100), 9, LINES);
        assert_eq!(lines.len(), LINES);
        assert_eq!((lines[0].as_str(), lines[LINES - 1].as_str()), ("word word", "word w..."));
    }
}
