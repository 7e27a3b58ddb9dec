//! The report of `steady transactions`: a note's numbers beside ours, the call that pays for a
//! commit, and the state of finished copies.

use super::axis::Axis;
use super::canvas::{Canvas, TOP, Width};
use super::figures::{label, tick_time};
use super::paper::{Paper, Table, figure};
use super::{Page, escape};
use crate::transactions::{COLUMNS, Call, Copies, DeviceRows, Row, System, Transactions};
use crate::units::{format_count, format_duration};

/// The note's numbers for Reliance Nitro on an SSD. Each row has the transaction mask, the commit
/// event of SteadyFS for it, and the milliseconds of create, write, flush and close.
const NOTE: [(&str, &str, [u32; 4]); 3] = [
    ("transact on close", "on close", [1, 6, 0, 956]),
    ("timed, each second", "timed, 1 s", [1, 3, 0, 0]),
    ("transact on flush", "on flush", [0, 4, 955, 1]),
];
/// The note's statement about TexFAT, whose numbers are in a picture alone.
const TEXFAT: &str = "Datalight's note: TexFAT that writes through is faster on an SD card than on an SSD. \
    On the SSD CreateFile and WriteFile take much longer.";
const COPIES: &str = "Datalight's note: power was removed after exFAT had reported a copy as complete. A \
    file was then shorter than the original, and others had wrong contents.";
const FOOTER: &str = "Datalight: Myth Busting: SSDs are Faster than SDs – or Are They? Its calls \
    are CreateFile, WriteFile, FlushFileBuffers and CloseHandle; FSDMGR_CachedWrite flushes the \
    device. SteadyFS stands for Reliance Nitro, FAT that never flushes for exFAT, and FAT that \
    flushes after each call for TexFAT written through. Its “SD has no internal cache” is no \
    longer true for cards of class A2 (SD 6.0).";

/// Height of a bar, and of the line above it, in pixels.
const BAR: f64 = 11.0;
const LINE: f64 = 17.0;
/// Room above the first bar of a panel, and below its last bar.
const HEAD: f64 = 30.0;
const FOOT: f64 = 40.0;

/// A report of transactions.
#[derive(Clone, Debug)]
pub struct TransactionsReport<'a>(&'a Transactions);

impl<'a> TransactionsReport<'a> {
    /// Returns the report of a result.
    pub fn of(transactions: &'a Transactions) -> TransactionsReport<'a> {
        TransactionsReport(transactions)
    }

    /// Returns the first device with a cache, which the note calls an SSD.
    fn cached(&self) -> Option<&'a DeviceRows> {
        self.0.cached()
    }

    /// Returns the note's masks beside ours.
    fn masks(&self) -> String {
        let Some(device) = self.cached() else { return String::new() };
        let mut rows = Vec::new();
        for (mask, events, note) in NOTE {
            rows.push(
                [mask.to_string(), "Reliance Nitro, the note".into()]
                    .into_iter()
                    .chain(note.map(|ms| format!("{ms} ms")))
                    .collect(),
            );
            let ours = device.rows.iter().filter(|row| row.commit_on == events);
            rows.extend(ours.map(|row| {
                let name = [events.to_string(), format!("SteadyFS on {}", device.device)];
                name.into_iter()
                    .chain(row.us[..4].iter().map(|us| format_duration(1e3 * us)))
                    .collect()
            }));
        }
        let table = Table {
            heading: "Beside Datalight's note: the commit of an SSD, in the chosen call",
            lead: "A timed commit happens outside of the calls.",
            legend: "",
            head: &["Commit", "File system", "create", "write", "flush", "close"],
            names: 2,
        };
        table.html(&rows)
    }

    /// Returns the results of FAT that writes through, on each device that supports it.
    fn texfat(&self) -> String {
        let texfat = System::FatWrittenThrough.to_string();
        let row = |device: &DeviceRows| {
            let row = device.rows.iter().find(|row| row.system == texfat)?;
            Some(
                std::iter::once(device.device.clone())
                    .chain(row.us[..4].iter().map(|us| format_duration(1e3 * us)))
                    .collect(),
            )
        };
        let rows: Vec<Vec<String>> = self.0.devices.iter().filter_map(row).collect();
        let head = &["Device", "create", "write", "flush", "close"];
        let table = Table {
            heading: "Beside Datalight's note: TexFAT, written through",
            lead: TEXFAT,
            legend: "",
            head,
            names: 1,
        };
        if rows.is_empty() { String::new() } else { table.html(&rows) }
    }

    /// Returns the state of finished copies.
    fn lost(&self) -> String {
        let of = |device: &DeviceRows| -> Vec<Vec<String>> {
            let row = |copies: &Copies| {
                [device.device.clone(), copies.name()].into_iter().chain(copies.cells()).collect()
            };
            device.copies.iter().map(row).collect()
        };
        let rows: Vec<_> = self.0.devices.iter().flat_map(of).collect();
        let head: Vec<_> = ["Device", "File system"].into_iter().chain(Copies::COLUMNS).collect();
        let table = Table {
            heading: "A copy is finished, then power fails",
            lead: COPIES,
            legend: "",
            head: &head,
            names: 2,
        };
        if rows.is_empty() { String::new() } else { table.html(&rows) }
    }

    /// Returns all rows of a device.
    fn all(device: &DeviceRows, series: u32) -> String {
        let head: Vec<_> = std::iter::once("Commit").chain(COLUMNS).collect();
        let rows: Vec<_> = device
            .rows
            .iter()
            .map(|row| std::iter::once(row.name()).chain(row.cells(series)).collect())
            .collect();
        let skipped: String = device.skipped.iter().map(|skipped| format!(" {skipped}")).collect();
        let lead = device.cache.to_string().replace('\n', " ") + &skipped;
        Table { heading: &device.device, lead: &lead, legend: "", head: &head, names: 1 }
            .html(&rows)
    }

    /// Draws the calls as bars, in a panel for each device.
    fn calls(&self, width: Width) -> String {
        const CLASSES: [&str; 5] = ["j1", "j2", "j0", "e0", "dead"];
        let series = self.0.series;
        let bars = |device: &DeviceRows| -> Vec<Bar> {
            let bar = |row: &Row| {
                let parts = row.us_per_file(series);
                let whole = format_duration(1e3 * parts.iter().sum::<f64>());
                (format!("{}: {whole}", row.name()), parts.to_vec())
            };
            device.rows.iter().map(bar).collect()
        };
        let panels: Vec<_> =
            self.0.devices.iter().map(|device| (device.device.clone(), bars(device))).collect();
        let names =
            Call::ALL.map(|call| if call == Call::After { "after the calls" } else { call.name() });
        let ticks = |x: &Axis| label(x.ticks(6), |us| tick_time(1e3 * us));
        let stacks = Stacks {
            title: "Time of the calls: the commit in one of them",
            subtitle: &format!(
                "sum of the median times of the calls; a commit of {series} files counts by its part \
                 for each file; {}",
                self.0.title()
            ),
            classes: &CLASSES,
            names: &names,
        };
        stacks.draw(width, &panels, ticks)
    }

    /// Draws the state of copies as bars.
    fn copies(&self, width: Width) -> String {
        const CLASSES: [&str; 4] = ["j2", "j1", "j0", "dead"];
        let bars = |device: &DeviceRows| -> Vec<Bar> {
            let bar = |copies: &Copies| {
                let counts =
                    [copies.whole, copies.short, copies.wrong, copies.missing].map(f64::from);
                (
                    format!("{}: {} lost", copies.name(), format_count(copies.lost().into())),
                    counts.to_vec(),
                )
            };
            device.copies.iter().map(bar).collect()
        };
        let panels: Vec<_> = self
            .0
            .devices
            .iter()
            .map(|device| (device.device.clone(), bars(device)))
            .filter(|(_, bars)| !bars.is_empty())
            .collect();
        let ticks = |x: &Axis| label(x.ticks(5), |count| format_count(count as u64));
        let title = "State of finished copies after a power cut";
        Stacks {
            title,
            subtitle: "copies of up to 200 kB",
            classes: &CLASSES,
            names: &Copies::COLUMNS,
        }
        .draw(width, &panels, ticks)
    }
}

impl Page for TransactionsReport<'_> {
    fn html(&self) -> String {
        let all: String =
            self.0.devices.iter().map(|device| Self::all(device, self.0.series)).collect();
        let has_copies = self.0.devices.iter().any(|device| !device.copies.is_empty());
        let copies =
            if has_copies { figure("", |width| self.copies(width)) } else { String::new() };
        Paper {
            brand: "transactions",
            title: "Transactions",
            headline: &self.0.sentence(),
            leads: vec![self.0.title() + ". Times of calls are medians."],
            body: self.lost()
                + &copies
                + &figure("", |width| self.calls(width))
                + &all
                + &format!(
                    "<p class=\"lead\">{}</p>\n",
                    escape(&self.0.legend().replace('\n', " "))
                )
                + &self.masks()
                + &self.texfat(),
            footer: FOOTER,
        }
        .html()
    }

    fn svg(&self) -> Vec<(&'static str, String)> {
        vec![("calls.svg", self.calls(Width::Wide)), ("copies.svg", self.copies(Width::Wide))]
    }
}

/// The name of a bar, and its parts.
type Bar = (String, Vec<f64>);

/// Bars of several parts, each below its name, in a panel for each device. Each panel has a scale
/// of its own.
struct Stacks<'a> {
    title: &'a str,
    subtitle: &'a str,
    /// Classes and names of the parts.
    classes: &'a [&'a str],
    names: &'a [&'a str],
}

impl Stacks<'_> {
    fn draw(
        &self,
        width: Width,
        panels: &[(String, Vec<Bar>)],
        ticks: impl Fn(&Axis) -> Vec<(f64, String)>,
    ) -> String {
        let height_of = |bars: usize| HEAD + bars as f64 * (LINE + BAR) + FOOT;
        let bottom = TOP + panels.iter().map(|(_, bars)| height_of(bars.len())).sum::<f64>();
        let mut canvas = Canvas::new(width, bottom + 36.0, self.title, self.subtitle);
        let mut top = TOP;
        for (name, bars) in panels {
            canvas.heading(top + 16.0, "name", name);
            let most = bars
                .iter()
                .map(|(_, parts)| parts.iter().sum::<f64>())
                .fold(f64::MIN_POSITIVE, f64::max);
            let x = canvas.across_from_edge(0.0, 1.02 * most);
            let mut at = top + HEAD;
            for (name, parts) in bars {
                canvas.heading(at + 11.0, "", name);
                let mut sum = 0.0;
                for (part, class) in parts.iter().zip(self.classes) {
                    let (from, to) = (x.at(sum), x.at(sum + part));
                    sum += part;
                    if to > from {
                        canvas.path(
                            class,
                            &format!("M{from} {:.1}H{to}v{BAR}H{from}z", at + LINE - 2.0),
                        );
                    }
                }
                at += LINE + BAR;
            }
            canvas.horizontal(&x, at + 2.0, &ticks(&x), "");
            top += height_of(bars.len());
        }
        let keys = self.classes.iter().copied().zip(self.names.iter().copied());
        canvas.legend(bottom + 12.0, keys);
        canvas.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transactions::{Options, run};

    fn transactions() -> Transactions {
        let devices = ["w25q128jv", "sd-consumer", "ssd-sata"].map(String::from).to_vec();
        run(
            &Options { devices, files: 8, series: 4, copies: 12, ..Options::default() },
            &mut |_, _| {},
        )
        .unwrap()
    }

    #[test]
    fn the_note_stands_beside_what_was_measured() {
        let transactions = transactions();
        let report = TransactionsReport::of(&transactions);
        let html = report.html();
        for text in [
            "data-name=\"close\">956 ms</td>",
            "data-name=\"flush\">955 ms</td>",
            "SteadyFS on ssd-sata",
            "TexFAT, written through",
            "A copy is finished",
            "4 by hand",
        ] {
            assert!(html.contains(text), "{text}");
        }
        assert!(
            html.contains("<h1>A power cut on ssd-sata: SteadyFS")
                && html.contains(" A commit takes 95")
        );
        assert!(
            html.ends_with("</html>\n")
                && !html.contains("{{")
                && !html.contains("src=")
                && !html.contains("href=")
        );
        let [calls, copies] = &report.svg()[..] else { panic!("two figures") };
        // Each row of each device, and the legend.
        assert_eq!(calls.1.matches("class=\"j2\"").count(), 6 + 8 + 8 + 1, "each writes a file");
        assert_eq!(
            copies.1.matches("class=\"j2\"").count(),
            5 + 1,
            "all but one have whole copies: {}",
            transactions.sentence()
        );
        for (name, svg) in report.svg() {
            assert!(
                svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"),
                "{name}"
            );
        }
    }

    #[test]
    fn nothing_is_a_report_too() {
        let report = Transactions { devices: Vec::new(), ..transactions() };
        let report = TransactionsReport::of(&report);
        assert!(
            report.html().ends_with("</html>\n")
                && report.svg().iter().all(|(_, svg)| !svg.contains("NaN"))
        );
    }
}
