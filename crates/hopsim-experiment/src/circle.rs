//! Packets that wait for each other in a circle, in words.

/// A circle in words: who can wait for each other, for room behind which `places`, and those one after the other.
pub fn in_words(who: &str, places: &str, way: &[String]) -> String {
    let way: Vec<&str> = way.iter().chain(way.first()).map(String::as_str).collect();
    format!("{who} can wait for each other in a circle, for room behind these {places}: {}", way.join(" → "))
}
