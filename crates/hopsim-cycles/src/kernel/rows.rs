//! Rows of arrays that are kept router by router, or node by node: what such an array holds of one router or node.

/// `count` entries from `first` on; none of an array that is empty because nobody needs it.
pub fn row<T: Clone>(all: &[T], first: usize, count: usize) -> Vec<T> {
    all.iter().skip(first).take(count).cloned().collect()
}

/// Puts the entries of one router or node back from `first` on; does nothing with an array that is empty because nobody needs it.
pub fn put_row<T: Clone>(all: &mut [T], first: usize, row: &[T]) {
    if !all.is_empty() {
        all[first..][..row.len()].clone_from_slice(row);
    }
}
