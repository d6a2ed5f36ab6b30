//! The matrix from which `train.py` makes weights.

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::Path,
};

use smartspace_domain::gate;

use crate::{Result, log};

/// Writes the features of a set: `names.txt`, `features.f32` (little endian, row by row) and
/// `answered.u8`.
pub(crate) fn write(set: &Path, out: &Path) -> Result<()> {
    fs::create_dir_all(out)?;
    fs::write(out.join("names.txt"), gate::feature_names().join("\n"))?;
    let mut features = BufWriter::new(File::create(out.join("features.f32"))?);
    let mut answered = BufWriter::new(File::create(out.join("answered.u8"))?);
    for log in log::read_all(set)? {
        for asked in log.asked() {
            for row in gate::features(&asked.talk(), &asked.candidates) {
                for value in row {
                    features.write_all(&value.to_le_bytes())?;
                }
            }
            let bytes: Vec<u8> =
                asked.answered.iter().map(|answered| u8::from(*answered)).collect();
            answered.write_all(&bytes)?;
        }
    }
    features.flush()?;
    answered.flush()?;
    Ok(())
}
