//! The page: a template with style, script and data put into it, so that one file opens anywhere.

use super::{Report, escape};
use crate::backlog::backlog;
use crate::evaluation::size_or_dash;
use crate::units::format_rate;
use serde_json::json;

const TEMPLATE: &str = include_str!("../../assets/report.html");
const STYLE: &str = include_str!("../../assets/report.css");
const SCRIPT: &str = include_str!("../../assets/report.js");
const MODEL: &str = include_str!("../../assets/model.js");
const UPLOT_STYLE: &str = include_str!("../../assets/uplot/uPlot.min.css");
const UPLOT_LICENCE: &str = include_str!("../../assets/uplot/LICENSE");
const UPLOT_SCRIPT: &str = include_str!("../../assets/uplot/uPlot.iife.min.js");

/// Builds the page.
pub(super) fn page(report: &Report) -> String {
    let guarantee = report.bound_ns.is_some();
    fill(
        TEMPLATE,
        &[
            ("title", &escape(&report.title)),
            ("subtitle", &escape(&report.subtitle)),
            ("facts", &facts(report)),
            ("rates", &rate_rows(report)),
            ("guaranteed_class", if guarantee { "" } else { "without-guarantee" }),
            ("style", STYLE),
            ("uplot_style", UPLOT_STYLE),
            ("uplot_licence", UPLOT_LICENCE),
            ("uplot_script", UPLOT_SCRIPT),
            ("model", MODEL),
            ("script", SCRIPT),
            ("data", &data(report)),
        ],
    )
}

/// Puts values at the places `{{name}}` of a template, in one pass: what a value contains is never a place itself.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut page = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("the template closes its places");
        let value = values.iter().find(|(known, _)| *known == name);
        page.push_str(before);
        page.push_str(value.expect("the template names known places").1);
        rest = after;
    }
    page + rest
}

/// The key numbers as markup.
fn facts(report: &Report) -> String {
    let tile = |fact: &super::Fact| {
        let note = if fact.note.is_empty() { "&nbsp;".to_string() } else { escape(&fact.note) };
        format!("<div class=\"fact\"><dt>{}</dt><dd>{}<small>{note}</small></dd></div>", escape(&fact.label), escape(&fact.value))
    };
    report.facts.iter().map(tile).collect()
}

/// The table of input rates as markup.
fn rate_rows(report: &Report) -> String {
    let row = |&rate: &u64| {
        let seen = backlog(&report.access_ns, report.write_bytes, rate);
        let cells = [
            size_or_dash(seen.map(|worst| worst.left_bytes)),
            size_or_dash(seen.map(|worst| worst.peak_bytes)),
            size_or_dash(report.guaranteed_bytes(rate)),
        ];
        format!(
            "<tr><th scope=\"row\"><button type=\"button\" data-rate=\"{rate}\">{}</button></th>\
             <td>{}</td><td>{}</td><td class=\"guaranteed\">{}</td></tr>",
            format_rate(rate as f64),
            cells[0],
            cells[1],
            cells[2]
        )
    };
    report.rates.iter().map(row).collect()
}

/// The data for the script, as JSON that cannot end the element it stands in.
fn data(report: &Report) -> String {
    let envelopes: Vec<_> = report.envelopes.iter().map(|e| [e.burst_ns, e.rate_ns]).collect();
    let value = json!({
        "access_ns": report.access_ns,
        "write_bytes": report.write_bytes,
        "rates": report.rates,
        "bound_ns": report.bound_ns,
        "envelopes": envelopes,
    });
    // JSON holds these letters within strings only, where an escape means the same.
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::super::tests::report;
    use super::*;

    #[test]
    fn page_needs_nothing_from_anywhere_else() {
        let page = report().html();
        for reference in ["src=", "href=", "url(", "@import", "fetch(", "https://"] {
            // The banner of uPlot names its home page and its licence; nothing loads them.
            let own = page.replace(UPLOT_SCRIPT, "");
            assert!(!own.contains(reference), "{reference}");
        }
        assert!(page.contains(UPLOT_LICENCE) && page.contains("application/json"));
    }

    #[test]
    fn page_holds_numbers_and_trace() {
        let page = report().html();
        for text in ["mt29f1g01abafd", "promised 10.000 ms", "s limit", "500 kB/s", "\"bound_ns\":10000000"] {
            assert!(page.contains(text), "{text}");
        }
        assert!(page.contains("[[9000000,1100000]]"));
        assert!(!page.contains("{{"), "all places are filled");
    }

    #[test]
    fn hostile_names_stay_text() {
        let hostile = "</script><script>alert(1)</script>{{data}}";
        let page = Report { title: hostile.into(), subtitle: hostile.into(), ..report() }.html();
        assert!(!page.contains("<script>alert"));
        let scripts = |page: &str| (page.matches("<script").count(), page.matches("</script>").count());
        assert_eq!(scripts(&page), scripts(&report().html()));
        assert_eq!(page.matches("\"access_ns\"").count(), 1);
    }

    #[test]
    fn page_without_a_promise_says_so_in_its_class() {
        let page = Report { bound_ns: None, ..report() }.html();
        assert!(page.contains("class=\"without-guarantee\""));
    }
}
