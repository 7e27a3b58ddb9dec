//! The page: a template that is filled with style, script and data, so that one file opens
//! anywhere.

use super::levels::place;
use super::opening::{opening_rate, sentence};
use super::{Fact, Report, escape};
use crate::backlog::{Backlog, Load, buffer_text, need};
use crate::units::{format_rate, format_size};
use serde_json::json;

const TEMPLATE: &str = include_str!("../../assets/report.html");
pub(super) const STYLE: &str = include_str!("../../assets/report.css");
/// Script with which a page prints numbers as the library does.
pub const TEXT_SCRIPT: &str = include_str!("../../assets/text.js");
const SCRIPT: &str = concat!(
    include_str!("../../assets/text.js"),
    include_str!("../../assets/draw.js"),
    include_str!("../../assets/report.js")
);
const MODEL: &str = include_str!("../../assets/model.js");
const UPLOT_STYLE: &str = include_str!("../../assets/uplot/uPlot.min.css");
const UPLOT_LICENCE: &str = include_str!("../../assets/uplot/LICENSE");
const UPLOT_SCRIPT: &str = include_str!("../../assets/uplot/uPlot.iife.min.js");

/// Builds the page.
pub(super) fn page(report: &Report) -> String {
    let class = if report.bound_ns.is_some() { "" } else { "without-guarantee" };
    fill(
        TEMPLATE,
        &[
            ("title", &escape(&report.title)),
            ("subtitle", &escape(&report.subtitle)),
            ("sentence", &escape(&sentence(report))),
            ("tiles", &tiles(report)),
            ("facts", &facts(&report.facts)),
            ("access_lead", &access_lead(report)),
            ("rates", &rate_rows(report)),
            ("rates_lead", &rates_lead(report)),
            ("guaranteed_class", class),
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

/// Puts values at the places `{{name}}` of a template, in one pass. Text in a value is never a
/// place itself.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
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

/// Returns the key numbers as markup. The first number is the buffer, which follows the slider: the
/// guaranteed buffer, and below it the buffer of these accesses.
fn tiles(report: &Report) -> String {
    let rate = opening_rate(report);
    let rate_name = format!("<span id=\"tile-rate\">{}</span>", format_rate(rate as f64));
    let left = format!(
        "<span id=\"tile-left\">{}</span>",
        rate_text(report, rate, |worst| worst.left_bytes)
    );
    let buffer = match report.bound_ns {
        Some(_) => tile(
            &format!("Guaranteed buffer at {rate_name}"),
            &format!("<span id=\"tile-guaranteed\">{}</span>", guaranteed_text(report, rate)),
            &format!("these accesses: {left}, beside the write in progress"),
        ),
        None => tile(&format!("Buffer at {rate_name}"), &left, "beside the write in progress"),
    };
    std::iter::once(buffer).chain(report.tiles.iter().map(tile_of)).collect()
}

/// Returns the guaranteed buffer for a rate as text.
fn guaranteed_text(report: &Report, rate: u64) -> String {
    report.guaranteed_bytes(rate).map_or_else(|| "no promise".to_string(), format_size)
}

/// Returns a key number as markup.
pub(super) fn tile_of(fact: &Fact) -> String {
    tile(&escape(&fact.label), &escape(&fact.value), &escape(&fact.note))
}

/// Returns a key number as markup, from parts that are markup.
fn tile(label: &str, value: &str, note: &str) -> String {
    format!("<div class=\"tile\"><dt>{label}</dt><dd>{value}<small>{note}</small></dd></div>")
}

/// Returns numbers as rows of a table.
pub(super) fn facts(facts: &[Fact]) -> String {
    let row = |fact: &Fact| {
        let cells = [&fact.label, &fact.value, &fact.note].map(|text| escape(text));
        format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"note\">{}</td></tr>",
            cells[0], cells[1], cells[2]
        )
    };
    facts.iter().map(row).collect()
}

/// Returns the lead of the figure of accesses.
fn access_lead(report: &Report) -> String {
    let mut lead = "One dot per access.".to_string();
    if !report.levels.is_empty() {
        lead += " A level's name lists the chip operations of its accesses.";
    }
    lead += match (report.bound_ns, report.view().break_ms) {
        (Some(_), Some(_)) => {
            " The dashed line is the promised longest access, beyond the break of the axis."
        }
        (Some(_), None) => " The dashed line is the promised longest access.",
        _ => "",
    };
    lead
}

/// Returns a number of the buffer for a rate, or the reason why there is none.
fn rate_text(report: &Report, rate: u64, bytes: impl Fn(Backlog) -> u64) -> String {
    let seen = need(&report.access_ns, report.write_bytes, rate);
    let load = Load::of(&report.access_ns, report.write_bytes, rate);
    buffer_text(seen.map(|need| bytes(need.worst)), seen.is_some_and(|need| need.grows), load)
}

/// Returns the table of input rates as markup.
fn rate_rows(report: &Report) -> String {
    let row = |&rate: &u64| {
        let cells = [
            guaranteed_text(report, rate),
            rate_text(report, rate, |worst| worst.left_bytes),
            rate_text(report, rate, |worst| worst.peak_bytes),
        ];
        format!(
            "<tr><th scope=\"row\"><button type=\"button\" data-rate=\"{rate}\">{}</button></th>\
             <td class=\"guaranteed\">{}</td><td>{}</td><td>{}</td></tr>",
            format_rate(rate as f64),
            cells[0],
            cells[1],
            cells[2]
        )
    };
    report.rates.iter().map(row).collect()
}

/// Returns the explanation of the words in the table, if it has any.
fn rates_lead(report: &Report) -> String {
    let (mut lead, of) = (Vec::new(), |rate| Load::of(&report.access_ns, report.write_bytes, rate));
    let has = |load| report.rates.iter().any(|&rate| of(rate) == load);
    if report.rates.iter().any(|&rate| {
        need(&report.access_ns, report.write_bytes, rate).is_some_and(|need| need.grows)
    }) {
        lead.push("≥: the level still grew at the end of the run; a longer run needs more.");
    }
    if has(Load::NearMean) {
        lead.push(
            "Near mean: above 95 % of the mean rate. The buffer then depends on the length of the \
             run.",
        );
    }
    if has(Load::AboveMean) {
        lead.push("Above mean: the rate is above the mean rate, and no finite buffer suffices.");
    }
    if report.bound_ns.is_some()
        && report.rates.iter().any(|&rate| report.guaranteed_bytes(rate).is_none())
    {
        lead.push("No promise: no finite buffer is promised for this rate.");
    }
    lead.join(" ")
}

/// Returns the data for the script, as JSON that cannot end its own element.
fn data(report: &Report) -> String {
    let envelopes: Vec<_> = report.envelopes.iter().map(|e| [e.burst_ns, e.rate_ns]).collect();
    let view = report.view();
    let levels: Vec<_> = place(&report.levels, &view)
        .iter()
        .map(|label| json!([label.ms, label.at_ms, label.name]))
        .collect();
    let value = json!({
        "access_ns": report.access_ns,
        "write_bytes": report.write_bytes,
        "rates": report.rates,
        "bound_ns": report.bound_ns,
        "envelopes": envelopes,
        "opening_rate": opening_rate(report),
        "levels": levels,
        "view": { "end_ms": view.end_ms, "bound_at_ms": view.bound_at_ms, "break_ms": view.break_ms },
    });
    // JSON contains these letters within strings only, where an escape means the same.
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::super::Page;
    use super::super::times::tests::report;
    use super::*;

    #[test]
    fn page_needs_nothing_from_anywhere_else() {
        let page = report().html();
        for reference in ["src=", "href=", "url(", "@import", "fetch(", "https://"] {
            // The banner of uPlot contains links to its home page and its licence; nothing loads
            // them.
            let own = page.replace(UPLOT_SCRIPT, "");
            assert!(!own.contains(reference), "{reference}");
        }
        assert!(page.contains(UPLOT_LICENCE) && page.contains("application/json"));
    }

    #[test]
    fn page_holds_numbers_and_trace() {
        let page = report().html();
        for text in [
            "mt29f1g01abafd",
            "s limit",
            "500 kB/s",
            "\"bound_ns\":10000000",
            "\"levels\":[[9.0,9.0,\"longest: ",
        ] {
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
        let scripts =
            |page: &str| (page.matches("<script").count(), page.matches("</script>").count());
        assert_eq!(scripts(&page), scripts(&report().html()));
        assert_eq!(page.matches("\"access_ns\"").count(), 1);
    }

    /// Returns the markup without style and scripts.
    fn markup(report: &Report) -> String {
        let page = report.html();
        let body = &page[page.find("<body").unwrap()..];
        body[..body.find("<script").unwrap()].to_string()
    }

    #[test]
    fn page_begins_with_one_sentence_and_few_tiles() {
        let page = markup(&report());
        assert!(page.contains("<h1>Promised 10.000 ms, longest 9.000 ms: the bound held.</h1>"));
        let tiles: Vec<_> = page.match_indices("class=\"tile\"").collect();
        assert_eq!(tiles.len(), 4);
        assert!(
            page.find("</h1>").unwrap() < tiles[0].0
                && tiles[3].0 < page.find("Erase counts").unwrap()
        );
        assert!(
            page.contains("<span id=\"tile-rate\">1 MB/s</span>")
                && page.find("<span id=\"tile-guaranteed\">").unwrap()
                    < page.find("<span id=\"tile-left\">").unwrap(),
            "a guarantee stands before an observation"
        );
    }

    #[test]
    fn on_a_phone_the_slider_and_one_figure_follow_the_sentence_and_the_rest_is_folded() {
        let page = markup(&report());
        let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}"));
        let order = ["<h1>", "id=\"rate\"", "id=\"access\"", "<details"].map(place);
        assert!(order.is_sorted(), "{order:?}");
        for (at, _) in page.match_indices("class=\"chart\"").skip(1) {
            let folds =
                page[..at].matches("<details").count() - page[..at].matches("</details>").count();
            assert_eq!(folds, 1, "{}", &page[at..at + 40]);
        }
    }

    #[test]
    fn what_is_missing_is_told_in_words() {
        let page = markup(&report());
        assert!(!page.contains('—'));
        assert!(page.contains(
            "<td class=\"guaranteed\">no promise</td><td>above mean</td><td>above mean</td>"
        ));
        assert!(page.contains("Above mean:"));
        let few = Report { rates: vec![500_000], ..report() };
        assert!(!markup(&few).contains("bove mean") && !markup(&few).contains(">no promise"));
    }

    #[test]
    fn break_of_the_axis_is_explained_where_it_is() {
        assert!(!markup(&report()).contains("break of the axis"));
        let far = Report { bound_ns: Some(90_000_000), ..report() };
        assert!(
            markup(&far).contains("beyond the break of the axis")
                && far.html().contains("\"break_ms\":9.9")
        );
    }

    #[test]
    fn page_without_a_promise_says_so_in_its_class() {
        let page = Report { bound_ns: None, ..report() }.html();
        assert!(
            page.contains("class=\"without-guarantee\"") && page.contains("no bound is promised")
        );
    }
}
