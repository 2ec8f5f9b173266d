//! Programs in C and C++ that use the library: compiled, linked to it, and run.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the package.
pub fn crate_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A language that the header is for.
#[derive(Clone, Copy)]
pub enum Language {
    /// C of 1999.
    C,
    /// C++ of 2017.
    Cpp,
}

impl Language {
    /// A compiler of the language with these options.
    pub fn compiler(self, options: &[&str]) -> Command {
        let (variable, usual, standard) = match self {
            Self::C => ("CC", "cc", "-std=c99"),
            Self::Cpp => ("CXX", "c++", "-std=c++17"),
        };
        let mut command = Command::new(std::env::var(variable).unwrap_or_else(|_| usual.into()));
        command.args([standard, "-pedantic", "-Wall", "-Wextra", "-Werror"]).args(options);
        command
    }

    /// Compiles files with more options and links them to the library; returns the program.
    pub fn compiled(self, sources: &[&Path], name: &str, options: &[&str]) -> PathBuf {
        let libraries = std::env::current_exe().unwrap().parent().unwrap().to_owned();
        let program = libraries.join(format!("program-{name}"));
        let mut command = self.compiler(options);
        command.arg("-I").arg(crate_folder().join("include")).args(sources).arg("-o").arg(&program);
        command.arg("-L").arg(&libraries).arg("-lhopsim");
        command.arg(format!("-Wl,-rpath,{}", libraries.display()));
        let done = command.output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        program
    }
}

/// What a program prints that ends well.
pub fn printed(command: &mut Command) -> String {
    let done = command.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}
