//! The name that was probably meant.

/// Least similarity (Jaro-Winkler, 0 … 1) of names that begin alike but differ in more letters than a slip: `lode`, `load`.
const ALIKE: f64 = 0.86;

/// The name among `names` that was probably meant by `word`: a few letters differ, or else the two are alike from the start.
pub fn closest<'n>(word: &str, names: &[&'n str]) -> Option<&'n str> {
    let word = &plain(word);
    let likeness = |name: &&&str| strsim::jaro_winkler(word, &plain(name));
    let alike = || names.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    nearly(word, names).or_else(|| alike().filter(|name| likeness(name) >= ALIKE).copied())
}

/// The name among `names` from which `word` differs in a few letters.
pub fn nearly<'n>(word: &str, names: &[&'n str]) -> Option<&'n str> {
    let length = word.chars().count();
    let near = names.iter().map(|name| (strsim::damerau_levenshtein(word, &plain(name)), *name));
    near.filter(|(distance, _)| *distance <= (length / 3).max(1) && *distance < length)
        .min()
        .map(|(_, name)| name)
}

/// A word as it is compared; no name is as long as what is cut off, and to compare takes time by the letters of both.
pub fn plain(word: &str) -> String {
    word.chars().take(100).collect::<String>().to_lowercase().replace(['-', ' '], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_suggested_only_when_they_are_close() {
        let names = ["crossbar_latency", "speedup", "vcs"];
        for (word, meant) in [("crosbar-latency", "crossbar_latency"), ("VCS", "vcs"), ("vc", "vcs")] {
            assert_eq!(closest(word, &names), Some(meant));
        }
        assert_eq!(closest("lode", &["node", "load"]), Some("node"), "one letter before two");
        assert_eq!(closest("lode", &["links", "load"]), Some("load"), "alike from the start");
        assert_eq!(closest("a_table_31", &["a-table-3.2"]), Some("a-table-3.2"), "hyphens are no letters");
        let long = "n".repeat(100);
        assert_eq!(closest(&format!("{long}{}", "m".repeat(1000)), &[&long]), Some(&*long));
        assert_eq!(closest("buffers", &names), None);
        assert_eq!(closest("x", &["p", "a", "h"]), None);
        assert_eq!(closest("", &names), None);
    }
}
