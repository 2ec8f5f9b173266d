//! Packets that wait for each other in a circle, in words.

/// Most places of a circle that are named.
const NAMED: usize = 12;

/// A circle in words: who can wait for each other, for room behind which `places`, and those one after the other.
pub fn in_words(who: &str, places: &str, way: &[String]) -> String {
    let mut named: Vec<&str> = way.iter().take(NAMED).map(String::as_str).collect();
    let others = format!("… ({} more)", way.len().saturating_sub(NAMED));
    named.extend((way.len() > NAMED).then_some(others.as_str()));
    named.extend(way.first().map(String::as_str));
    format!(
        "{who} can wait for each other in a circle, for room behind these {places}: {}",
        named.join(" → ")
    )
}

#[cfg(test)]
mod tests {
    use super::{NAMED, in_words};

    #[test]
    fn a_circle_comes_back_to_where_it_begins_and_a_long_one_is_not_named_whole() {
        let way = |count: usize| (0..count).map(|place| place.to_string()).collect::<Vec<_>>();
        let begin = "packets can wait for each other in a circle, for room behind these links: ";
        assert_eq!(in_words("packets", "links", &way(2)), format!("{begin}0 → 1 → 0"));
        let (whole, long) =
            (in_words("packets", "links", &way(NAMED)), in_words("packets", "links", &way(40)));
        assert!(whole.ends_with("10 → 11 → 0"), "{whole}");
        assert!(long.ends_with("10 → 11 → … (28 more) → 0"), "{long}");
    }
}
