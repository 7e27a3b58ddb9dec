//! A page of tables and figures, in reading order: published numbers beside measured numbers.

use super::canvas::Width;
use super::escape;
use super::html::{STYLE, fill};

const TEMPLATE: &str = include_str!("../../assets/paper.html");

/// Content of such a page.
pub struct Paper<'a> {
    /// Command that made the page.
    pub brand: &'a str,
    /// Title of the page.
    pub title: &'a str,
    /// The result in a sentence.
    pub headline: &'a str,
    /// Description of the measurement.
    pub leads: Vec<String>,
    /// Sections, as markup.
    pub body: String,
    /// Sources and remarks.
    pub footer: &'a str,
}

impl Paper<'_> {
    /// Returns the page.
    pub fn html(&self) -> String {
        let leads: String = self
            .leads
            .iter()
            .map(|lead| format!("<p class=\"subtitle\">{}</p>\n", escape(lead)))
            .collect();
        fill(
            TEMPLATE,
            &[
                ("style", STYLE),
                ("brand", &escape(self.brand)),
                ("title", &escape(self.title)),
                ("headline", &escape(self.headline)),
                ("leads", &leads),
                ("body", &self.body),
                ("footer", &escape(self.footer)),
            ],
        )
    }
}

/// Returns a section with a figure for wide and one for narrow screens, and a sentence above them
/// unless `lead` is empty.
pub fn figure(lead: &str, draw: impl Fn(Width) -> String) -> String {
    let lead = if lead.is_empty() {
        String::new()
    } else {
        format!("<p class=\"lead\">{}</p>", escape(lead))
    };
    let (wide, narrow) = (draw(Width::Wide), draw(Width::Narrow));
    format!("<section class=\"card figure\">{lead}{wide}{narrow}</section>\n")
}

/// A section with a table.
pub struct Table<'a> {
    /// Heading of the table.
    pub heading: &'a str,
    /// A sentence above the table; may be empty.
    pub lead: &'a str,
    /// Meaning of the columns, below the table; may be empty.
    pub legend: &'a str,
    /// Names of the columns.
    pub head: &'a [&'a str],
    /// Number of columns, from the left, that contain names.
    pub names: usize,
}

impl Table<'_> {
    /// Returns the section, with rows of text.
    pub fn html(&self, rows: &[Vec<String>]) -> String {
        let head: String = self
            .head
            .iter()
            .enumerate()
            .map(|(at, name)| self.cell("th scope=\"col\"", at, name))
            .collect();
        let row = |row: &Vec<String>| {
            let (first, rest) =
                row.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
            let cell = |at: usize| self.value(at, rest.get(at - 1).map_or("", String::as_str));
            let cells: String = (1..self.head.len().max(rest.len() + 1)).map(cell).collect();
            format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", escape(first))
        };
        let rows: String = rows.iter().map(row).collect();
        let paragraph = |text: &str| match text {
            "" => String::new(),
            text => format!("<p class=\"lead\">{}</p>", escape(text)),
        };
        format!(
            "<section class=\"card\"><h2>{}</h2>{}<div class=\"wide\"><table>\n\
             <thead><tr>{head}</tr></thead>\n\
             <tbody>{rows}</tbody></table></div>{}</section>\n",
            escape(self.heading),
            paragraph(self.lead),
            paragraph(self.legend)
        )
    }

    /// Returns a cell, with the name of its column for narrow screens.
    fn value(&self, at: usize, text: &str) -> String {
        let name = self.head.get(at).copied().unwrap_or_default();
        let name = if name.is_empty() {
            String::new()
        } else {
            format!(" data-name=\"{}\"", escape(name))
        };
        let class = if at < self.names { " class=\"name\"" } else { "" };
        format!("<td{class}{name}>{}</td>", escape(text))
    }

    fn cell(&self, element: &str, at: usize, text: &str) -> String {
        let class = if at < self.names { " class=\"name\"" } else { "" };
        let end = element.split(' ').next().unwrap_or(element);
        format!("<{element}{class}>{}</{end}>", escape(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_stays_text() {
        let table =
            Table { heading: "<h>", lead: "", legend: "", head: &["<a>", "b", "c"], names: 2 };
        let body = table.html(&[vec!["<r>".into(), "n".into(), "1".into()]])
            + &figure("<l>", |_| "<svg></svg>".to_string());
        let page = Paper {
            brand: "b",
            title: "<t>",
            headline: "<o>",
            leads: vec!["<l>".into()],
            body,
            footer: "<f>",
        }
        .html();
        for tag in ["<h>", "<a>", "<r>", "<l>", "<t>", "<o>", "<f>"] {
            assert!(!page.contains(tag) && page.contains(&escape(tag)), "{tag}");
        }
        assert!(
            page.contains("<td class=\"name\" data-name=\"b\">n</td><td data-name=\"c\">1</td>")
                && page.ends_with("</html>\n")
                && !page.contains("{{")
        );
    }
}
