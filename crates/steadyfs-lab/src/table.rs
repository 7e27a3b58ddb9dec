//! Tables of plain text: columns padded to the widest cell, two spaces apart.
//!
//! [`table`] takes rows of cells, [`facts`] names and values.

use std::collections::HashSet;

/// Alignment of the text in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At the left, for names.
    Left,
    /// At the right, for numbers.
    Right,
}

/// Maximum columns of a line.
pub const COLUMNS: usize = 100;

/// Lays out rows as lines of text, each with a line end. A missing cell is empty, and no line ends
/// with spaces.
///
/// The first row is the header, underlined with a rule. `align` has one entry per column; further
/// columns are aligned left.
///
/// No line is longer than [`COLUMNS`]. If the rows are too wide, the header gets several lines. If
/// they are still too wide, further tables follow, each with some of the columns. Each table begins
/// with the columns that name a row. A text that is too wide for its table gets several lines.
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
    let natural: Vec<usize> =
        (0..columns).map(|column| widest(rows, column, letters).unwrap_or(0)).collect();
    if total(&natural) <= COLUMNS {
        return laid_out(rows, align, &(0..columns).collect::<Vec<_>>(), &natural);
    }
    let mut narrow: Vec<usize> = (0..columns)
        .map(|column| {
            let body = widest(rows.get(1..).unwrap_or_default(), column, letters);
            body.unwrap_or(0).max(widest(&rows[..1], column, widest_piece).unwrap_or(0))
        })
        .collect();
    // The first column may break its lines to make room for the others.
    let least = widest(rows, 0, widest_piece).unwrap_or(0).max(FIRST_MIN);
    let excess = total(&narrow).saturating_sub(COLUMNS);
    if excess <= narrow[0].saturating_sub(least) {
        narrow[0] -= excess;
    }
    narrow[0] = narrow[0].min(COLUMNS / 2);
    let names = names(rows).filter(|&names| total(&narrow[..names]) <= COLUMNS / 2).unwrap_or(1);
    let room = COLUMNS - total(&narrow[..names]) - GAP;
    narrow[names..].iter_mut().for_each(|width| *width = (*width).min(room));
    // As many tables as needed, about equally wide.
    let count = parts(&narrow, names, COLUMNS).len();
    let even =
        (1..COLUMNS).rev().take_while(|&limit| parts(&narrow, names, limit).len() == count).last();
    let tables = parts(&narrow, names, even.unwrap_or(COLUMNS));
    let text = |shown: &Vec<usize>| laid_out(rows, align, shown, &narrow);
    tables.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// Returns the number of columns, from the left, that name a row: no two rows have the same cells
/// there.
fn names(rows: &[Vec<String>]) -> Option<usize> {
    const MOST: usize = 4;
    (1..=MOST).find(|&names| {
        let mut seen = HashSet::new();
        rows.iter().all(|row| seen.insert(&row[..names.min(row.len())]))
    })
}

/// Distributes columns over tables of at most `limit`, each with the first `names` columns.
fn parts(widths: &[usize], names: usize, limit: usize) -> Vec<Vec<usize>> {
    let mut tables: Vec<Vec<usize>> = Vec::new();
    for column in names..widths.len() {
        let fits = |table: &&mut Vec<usize>| {
            let shown = table.iter().chain([&column]).map(|&column| widths[column]);
            total(&shown.collect::<Vec<_>>()) <= limit
        };
        match tables.last_mut().filter(fits) {
            Some(table) => table.push(column),
            None => tables.push((0..names).chain([column]).collect()),
        }
    }
    if tables.is_empty() { vec![(0..widths.len()).collect()] } else { tables }
}

/// Columns of the first column, at least, if it breaks its lines.
const FIRST_MIN: usize = 12;
/// Spaces between two columns.
const GAP: usize = 2;

fn letters(cell: &str) -> usize {
    cell.chars().count()
}

/// Returns the widest part of a header that stands in a line of its own.
fn widest_piece(cell: &str) -> usize {
    pieces(cell).into_iter().map(|piece| letters(piece.trim_end())).max().unwrap_or(0)
}

/// Splits a text after each space, and after each hyphen within a word.
fn pieces(cell: &str) -> Vec<&str> {
    cell.split_inclusive(' ').flat_map(|word| word.split_inclusive('-')).collect()
}

fn widest(rows: &[Vec<String>], column: usize, width: fn(&str) -> usize) -> Option<usize> {
    rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max()
}

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

/// Splits a text into lines of at most `width`. Only a longer word is wider.
fn lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for piece in pieces(text) {
        let last = lines.last().map_or(0, |line| letters(line));
        if last > 0 && last + letters(piece.trim_end()) > width {
            lines.push(String::new());
        }
        lines.last_mut().expect("there is a line").push_str(piece);
    }
    lines.iter().map(|line| line.trim_end().to_string()).collect()
}

/// Lays out some columns as one table.
fn laid_out(rows: &[Vec<String>], align: &[Align], shown: &[usize], widths: &[usize]) -> String {
    let mut text = String::new();
    let mut line = |cells: Vec<String>| {
        text.push_str(cells.join(&" ".repeat(GAP)).trim_end());
        text.push('\n');
    };
    for (index, row) in rows.iter().enumerate() {
        let cells: Vec<Vec<String>> = shown
            .iter()
            .map(|&column| lines(row.get(column).map_or("", String::as_str), widths[column]))
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        for at in 0..height {
            let cell = |(cells, &column): (&Vec<String>, &usize)| {
                // The last line of a header stands above the rule.
                let skipped = if index == 0 { height - cells.len() } else { 0 };
                let cell = at.checked_sub(skipped).and_then(|at| cells.get(at));
                let (cell, width) = (cell.map_or("", String::as_str), widths[column]);
                match align.get(column) {
                    Some(Align::Right) => format!("{cell:>width$}"),
                    _ => format!("{cell:<width$}"),
                }
            };
            line(cells.iter().zip(shown).map(cell).collect());
        }
        if index == 0 {
            line(shown.iter().map(|&column| "─".repeat(widths[column])).collect());
        }
    }
    text
}

/// Breaks the lines of a text so that none is longer than [`COLUMNS`]. Further lines begin with
/// `indent` spaces.
pub fn paragraph(text: &str, indent: usize) -> String {
    let broken = |line: &str| {
        let begin = line.len() - line.trim_start().len();
        let (mut text, mut used) = (" ".repeat(begin), begin);
        for word in line.trim_start().split_inclusive(' ') {
            if used > begin.max(indent) && used + letters(word.trim_end()) > COLUMNS {
                text = format!("{}\n{}", text.trim_end(), " ".repeat(indent));
                used = indent;
            }
            text.push_str(word);
            used += letters(word);
        }
        text
    };
    text.split('\n').map(broken).collect::<Vec<_>>().join("\n")
}

/// Lays out facts as lines: a name of at most 15 characters, and its value from column 17 on.
pub fn facts<'a>(facts: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let fact = |(name, value): (&str, String)| paragraph(&format!("{name:<15} {value}"), 16) + "\n";
    facts.into_iter().map(fact).collect()
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

    fn rows(columns: usize, head: &str, cell: &str) -> Vec<Vec<String>> {
        vec![vec![head.to_string(); columns], vec![cell.to_string(); columns]]
    }

    #[test]
    fn no_line_is_wider_than_a_terminal() {
        for columns in 1..40 {
            for (head, cell) in
                [("name", "1.000 ms"), ("a long name", "1"), ("-", &"word ".repeat(40))]
            {
                let text = table(&rows(columns, head, cell), &[Align::Left, Align::Right]);
                let longest = text.lines().map(letters).max();
                assert!(longest <= Some(COLUMNS), "{columns} columns, {longest:?}:\n{text}");
                assert!(text.matches(cell.split(' ').next().unwrap()).count() >= columns);
            }
        }
        assert_eq!(paragraph(&"─".repeat(100), 2), "─".repeat(100));
        let long = paragraph(&format!("Name: {}", "word ".repeat(90)), 6);
        assert!(long.lines().all(|line| letters(line) <= COLUMNS) && long.lines().count() > 4);
        assert!(long.lines().skip(1).all(|line| line.starts_with("      word")), "{long}");
    }

    #[test]
    fn wide_tables_break_their_header_and_then_repeat_their_first_column() {
        let mut wide = rows(9, "two words", "1");
        let text = table(&wide, &[]);
        assert_eq!(text.lines().count(), 3, "fits: {text}");
        wide[1][0] = "x".repeat(40);
        let text = table(&wide, &[]);
        assert!(text.lines().nth(1).unwrap().ends_with("words  words"), "{text}");
        let text = table(&rows(12, "name", "ten digits"), &[]);
        assert_eq!(text.matches("ten digits").count(), 12 + 1, "{text}");
        let mut two = rows(12, "name", "ten digits");
        two.push(two[1].clone());
        two[2][1] = "another".to_string();
        let text = table(&two, &[]);
        assert_eq!(text.matches("another").count(), 2, "two columns name a row: {text}");
    }
}
