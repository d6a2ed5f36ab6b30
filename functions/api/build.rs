//! Compresses the public files once, so that no request pays for it: the console's files, the
//! description of the API and the schemas of files. `src/static_files.rs` includes the list that
//! this writes.

use std::{
    env,
    error::Error,
    fmt::Write as _,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};
use sha2::{Digest, Sha256};

const CONSOLE: &str = "console/dist";
const DESCRIPTION: &str = "../../docs/reference/openapi.json";
const SCHEMAS: &str = "../../docs/reference/schemas";
/// Smaller files are not compressed.
const SMALLEST_COMPRESSED: usize = 2_048;

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is missing")?);
    let mut list = String::new();
    for (name, folder) in [("CONSOLE", CONSOLE), ("SCHEMAS", SCHEMAS)] {
        let files = files(&out, folder)?;
        writeln!(list, "pub(crate) static {name}: &[StaticFile] = &[\n{files}];")?;
    }
    let description = without_blanks(&fs::read_to_string(DESCRIPTION)?);
    let description = file(&out, "openapi.json", description.as_bytes())?;
    writeln!(list, "pub(crate) static DESCRIPTION: StaticFile = {description};")?;
    fs::write(out.join("static_files.rs"), list)?;
    for path in [CONSOLE, DESCRIPTION, SCHEMAS, "build.rs"] {
        writeln!(std::io::stdout(), "cargo::rerun-if-changed={path}")?;
    }
    Ok(())
}

/// Writes the forms of a folder's files, and returns the expressions that include them.
fn files(out: &Path, folder: &str) -> Result<String, Box<dyn Error>> {
    let paths = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<_> = paths.collect::<Result<_, _>>()?;
    paths.sort();
    let mut list = String::new();
    for path in &paths {
        let name = path.file_name().and_then(|name| name.to_str()).ok_or("a name is not UTF-8")?;
        writeln!(list, "{},", file(out, name, &fs::read(path)?)?)?;
    }
    Ok(list)
}

/// Writes the forms of a file, and returns the expression that includes them.
fn file(out: &Path, name: &str, plain: &[u8]) -> Result<String, Box<dyn Error>> {
    fs::write(out.join(name), plain)?;
    let include = |name: &str| format!("include_bytes!(concat!(env!(\"OUT_DIR\"), {name:?}))");
    let mut gzip = "None".to_owned();
    if plain.len() >= SMALLEST_COMPRESSED {
        let compressed = format!("{name}.gz");
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(plain)?;
        fs::write(out.join(&compressed), encoder.finish()?)?;
        gzip = format!("Some({})", include(&format!("/{compressed}")));
    }
    let digest = Sha256::digest(plain);
    let mut tag = String::new();
    for byte in &digest[..12] {
        write!(tag, "{byte:02x}")?;
    }
    let content_type = content_type(name)?;
    let plain = include(&format!("/{name}"));
    Ok(format!(
        "StaticFile {{ name: {name:?}, content_type: {content_type:?}, tag: {tag:?}, \
         plain: {plain}, gzip: {gzip} }}"
    ))
}

fn content_type(name: &str) -> Result<&'static str, String> {
    let ending = name.rsplit('.').next().unwrap_or_default();
    Ok(match ending {
        "html" => "text/html",
        "js" => "text/javascript",
        "css" => "text/css",
        "svg" => "image/svg+xml",
        "json" => "application/json",
        _ => return Err(format!("{name}: no type is known for files like this one")),
    })
}

/// JSON without the blanks between its tokens.
fn without_blanks(json: &str) -> String {
    let mut in_text = false;
    let mut is_escaped = false;
    let stays = |char: &char| {
        if in_text {
            in_text = is_escaped || *char != '"';
            is_escaped = !is_escaped && *char == '\\';
            return true;
        }
        in_text = *char == '"';
        !char.is_ascii_whitespace()
    };
    json.chars().filter(stays).collect()
}
