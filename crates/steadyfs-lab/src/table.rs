//! Tables of plain text: columns padded to the widest cell, two spaces apart.
//!
//! [`table`] takes rows of cells, [`facts`] names and values.

/// Alignment of the text in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At the left, for names.
    Left,
    /// At the right, for numbers.
    Right,
}

/// Lays out rows as lines of text, each with a line end. A missing cell is empty, and no line ends
/// with spaces.
///
/// The first row is the header, underlined with a rule. `align` has one entry per column; further
/// columns are aligned left.
///
/// # Example
/// ```
/// use steadyfs_lab::table::{Align, table};
/// let rows = [["Rate", "RAM"], ["1 MB/s", "914 B"]].map(|row| row.map(String::from).to_vec());
/// assert_eq!(table(&rows, &[Align::Left, Align::Right]), "\
/// Rate      RAM
/// ──────  ─────
/// 1 MB/s  914 B
/// ");
/// ```
pub fn table(rows: &[Vec<String>], align: &[Align]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        let cells = widths.iter().enumerate().map(|(column, &width)| {
            let cell = row.get(column).map_or("", String::as_str);
            match align.get(column) {
                Some(Align::Right) => format!("{cell:>width$}"),
                _ => format!("{cell:<width$}"),
            }
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
        if index == 0 {
            let rule = widths.iter().map(|&width| "─".repeat(width)).collect::<Vec<_>>();
            text.push_str(rule.join("  ").trim_end());
            text.push('\n');
        }
    }
    text
}

/// Lays out facts as lines: a name of at most 15 characters, and its value from column 17 on.
pub fn facts<'a>(facts: impl IntoIterator<Item = (&'a str, String)>) -> String {
    facts.into_iter().map(|(name, value)| format!("{name:<15} {value}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows =
            vec![vec!["a".into(), "µs".into()], vec!["long".into(), "1".into()], vec!["b".into()]];
        assert_eq!(table(&rows, &[Align::Left, Align::Right]), "a     µs\n────  ──\nlong   1\nb\n");
    }

    #[test]
    fn facts_stand_in_two_columns() {
        assert_eq!(facts([("RAM", "9 KiB".to_string())]), "RAM             9 KiB\n");
    }
}
