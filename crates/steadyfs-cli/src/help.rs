//! Help texts, broken into lines of at most 100 columns.
//!
//! clap wraps lines with its feature `wrap_help`, which requires a crate for the size of the
//! terminal. This module wraps to a fixed width and needs no crate.

use clap::builder::StyledStr;
use clap::error::ErrorKind;

/// Maximum columns of a line.
const COLUMNS: usize = 100;
/// Fewest columns for the text beside an option. Below it, the text has a smaller indent.
const TEXT_MIN: usize = 40;
/// Indent of the text in this case.
const INDENT: usize = 10;
/// Begin and end of the escape sequences of styles.
const ESCAPE: (char, char) = ('\u{1b}', 'm');

/// Prints an error of the arguments, or the requested help, and ends the process.
pub fn exit(error: &clap::Error) -> ! {
    let text = error.render().ansi().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp => {
            let help = StyledStr::from(wrapped(&text));
            let printed = clap::Command::new("steady").override_help(help).print_help();
            std::process::exit(i32::from(printed.is_err()))
        }
        _ => error.exit(),
    }
}

/// Breaks the lines of a help text at spaces. Further lines of an option begin below the first
/// letter of its text.
fn wrapped(text: &str) -> String {
    text.lines().map(|line| wrapped_line(line) + "\n").collect()
}

fn wrapped_line(line: &str) -> String {
    if letters(line) <= COLUMNS {
        return line.to_string();
    }
    // An example stays a command that a shell takes.
    let is_example = line.starts_with("  steady ");
    let (indent, end, quote) = match text_column(line) {
        _ if is_example => (4, " \\", Some('\'')),
        column if column <= COLUMNS - TEXT_MIN => (column, "", None),
        _ => (INDENT, "", None),
    };
    let (mut out, mut column) = (String::new(), 0);
    for word in words(line, quote) {
        let bare = word.trim_start_matches(' ');
        if column + letters(word) + end.len() > COLUMNS && column > indent {
            out += &format!("{end}\n{}{bare}", " ".repeat(indent));
            column = indent + letters(bare);
        } else {
            out += word;
            column += letters(word);
        }
    }
    out
}

/// Splits a line into words, each with the spaces before it. A text between backticks, or between
/// a pair of `quote`, is part of a word.
fn words(line: &str, quote: Option<char>) -> Vec<&str> {
    let (mut words, mut begin, mut is_code, mut before) = (Vec::new(), 0, false, ' ');
    for (at, letter) in line.char_indices() {
        if letter == '`' || Some(letter) == quote {
            is_code = !is_code;
        }
        if letter == ' ' && before != ' ' && !is_code {
            words.push(&line[begin..at]);
            begin = at;
        }
        before = letter;
    }
    words.push(&line[begin..]);
    words
}

/// Returns the number of letters that a terminal shows.
fn letters(text: &str) -> usize {
    shown(text).count()
}

/// Returns the letters that a terminal shows, without styles.
fn shown(text: &str) -> impl Iterator<Item = char> {
    let mut is_style = false;
    text.chars().filter(move |&letter| {
        let was_style = is_style;
        is_style = letter == ESCAPE.0 || (is_style && letter != ESCAPE.1);
        !is_style && !was_style
    })
}

/// Returns the column at which the text of an option or a command begins: behind the last gap of
/// two spaces after its name. A line without a name keeps its own indent.
fn text_column(line: &str) -> usize {
    let letters: Vec<char> = shown(line).collect();
    let begin = letters.iter().take_while(|&&letter| letter == ' ').count();
    let is_gap = |at: &usize| letters[at - 2..*at] == [' ', ' '] && letters[*at] != ' ';
    (begin + 2..letters.len()).find(is_gap).unwrap_or(begin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// Checks the help of a command and of its subcommands.
    fn check(command: &mut clap::Command, path: &str) {
        let text = wrapped(&command.render_help().ansi().to_string());
        for line in text.lines() {
            assert!(letters(line) <= COLUMNS, "{path}: {line}");
            assert_eq!(line.matches('`').count() % 2, 0, "{path}: a command is broken: {line}");
        }
        for sub in command.get_subcommands_mut() {
            let path = format!("{path} {}", sub.get_name());
            check(sub, &path);
        }
    }

    #[test]
    fn no_help_is_wider_than_a_hundred_columns() {
        let mut command = crate::Cli::command();
        command.build();
        check(&mut command, "steady");
    }

    #[test]
    fn text_of_an_option_is_broken_below_its_begin() {
        let words = "word ".repeat(30);
        let text = wrapped(&format!("  -x, --long <NAME>  {}[default: 1]", words));
        assert!(text.lines().all(|line| letters(line) <= COLUMNS), "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with(&" ".repeat(21))), "{text}");
        assert_eq!(text.split_whitespace().count(), 3 + 30 + 2);
        let example = format!("  steady evaluate --beside 'a label={}' {words}", "b".repeat(60));
        let text = wrapped(&example);
        assert!(text.contains("--beside 'a label=b") && text.contains(" \\\n    word"), "{text}");
        assert_eq!(text.replace(" \\\n   ", "").trim_end(), example.trim_end());
        assert_eq!(letters("\u{1b}[1m-x\u{1b}[0m y"), 4, "styles take no room");
    }
}
