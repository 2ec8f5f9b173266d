//! Puts a digest of the sources into the version, so that results of different builds never mix.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What results depend on.
const SOURCES: [&str; 11] = [
    "src",
    "../hopsim-cycles/src",
    "../hopsim-experiment/src",
    "../hopsim-infiniband/src",
    "../hopsim-measure/src",
    "../hopsim-memory/src",
    "../hopsim-network/src",
    "../hopsim-programs/src",
    "../hopsim-random/src",
    "../hopsim-routing/src",
    "../hopsim-traffic/src",
];

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// FNV-1a, 64 bits.
fn digest(files: &[PathBuf]) -> io::Result<u64> {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        for byte in file.to_string_lossy().bytes().chain(fs::read(file)?) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    Ok(hash)
}

fn main() -> io::Result<()> {
    let mut files = Vec::new();
    for sources in SOURCES {
        collect(Path::new(sources), &mut files)?;
        println!("cargo::rerun-if-changed={sources}");
    }
    files.sort();
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    println!("cargo::rustc-env=HOPSIM_VERSION={version}+{:016x}", digest(&files)?);
    Ok(())
}
