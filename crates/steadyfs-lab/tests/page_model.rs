//! The page of a report computes backlog in its own script. These tests run that script, compare it
//! with the library, and read the words of the page.

use std::process::Command;
use steadyfs_lab::backlog::need;
use steadyfs_lab::envelope::{Envelope, guaranteed_left_bytes};

const MODEL: &str = include_str!("../assets/model.js");
const TEXT: &str = include_str!("../assets/text.js");

/// Returns pseudo-random numbers below a limit (xorshift), so that a failure repeats.
fn numbers(seed: u64, limit: u64) -> impl Iterator<Item = u64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % limit
    })
}

/// Returns one line per case: `left peak guaranteed`, with `null` for a missing number.
fn expected(access_ns: &[u64], rate: u64, bound_ns: u64, envelopes: &[Envelope]) -> String {
    let text = |bytes: Option<u64>| bytes.map_or("null".to_string(), |bytes| bytes.to_string());
    let worst = need(access_ns, 4096, rate).map(|need| need.worst);
    let guaranteed = guaranteed_left_bytes(envelopes, bound_ns, 4096, rate);
    [worst.map(|b| b.left_bytes), worst.map(|b| b.peak_bytes), guaranteed].map(text).join(" ")
}

/// Returns the output of a script that follows the model of the page; `None` if node is missing.
fn printed(name: &str, script: &str) -> Option<String> {
    if Command::new("node").arg("--version").output().is_err() {
        eprintln!("skipped: it needs node to run the script of the page");
        return None;
    }
    let place = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&place, format!("{MODEL}\n{TEXT}\n{script}")).unwrap();
    let output = Command::new("node").arg(&place).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn page_computes_what_the_library_computes() {
    let (mut script, mut lines) =
        ("const bytes = b => b === null ? null : model.whole(b);\n".to_string(), Vec::new());
    for seed in 1..=40 {
        let mut access_ns: Vec<u64> = numbers(seed, 3_000_000).take(200).collect();
        access_ns[seed as usize] = 20_000_000;
        let mean_ns = access_ns.iter().sum::<u64>() / 200;
        let envelopes =
            [mean_ns + 1, mean_ns * 2].map(|rate_ns| Envelope::tightest(&access_ns, rate_ns));
        let pairs = envelopes.map(|envelope| [envelope.burst_ns, envelope.rate_ns]);
        script += &format!(
            "{{ const data = {{ access_ns: {access_ns:?}, write_bytes: 4096, bound_ns: 21000000, \
             envelopes: {pairs:?} }};\n\
             data.total_ns = data.access_ns.reduce((a, b) => a + b, 0);\n"
        );
        for rate in [100_000, 500_000, 1_000_000, 2_000_000, 2_345_678, 3_000_000, 9_000_000] {
            script += &format!(
                "{{ const w = model.load(data, {rate}) === \"below\" ? model.backlog(data, {rate}) \
                 : {{ left: null, peak: null }};\n\
                 console.log(`${{bytes(w.left)}} ${{bytes(w.peak)}} ${{model.promised(data, \
                 {rate})}}`); }}\n"
            );
            lines.push(expected(&access_ns, rate, 21_000_000, &envelopes));
        }
        script += "}\n";
    }
    let Some(printed) = printed("page_model.js", &script) else { return };
    let printed: Vec<_> = printed.lines().collect();
    assert_eq!(printed.len(), lines.len());
    for (case, (page, library)) in printed.iter().zip(&lines).enumerate() {
        assert_eq!(page, library, "case {case}");
    }
}

#[test]
fn legend_names_a_line_that_shows_something_and_stands_at_the_first_greatest_value() {
    let script = "
        console.log(model.isDrawn([null, null]), model.isDrawn([]), model.isDrawn([null, 16]));
        console.log(model.greatest([3, 9, 2, 9]), model.greatest([null, 4, null]),
            model.greatest(new Float64Array(3)));";
    if let Some(printed) = printed("page_legend.js", script) {
        assert_eq!(printed, "false false true\n1 1 0\n");
    }
}

#[test]
fn legend_follows_the_pointer_and_stands_at_a_value_before_there_is_one() {
    let script = "const u = { data: [[10, 20, 30], [1, null, 3]] };
        const [x, y] = [follow(countText, () => 2, 'the longest'), follow(timeText, () => 2)];
        console.log([x(u, null, 0, null), y(u, null, 1, null), x(u, 10, 0, 0), y(u, 1, 1, 0),
            y(u, null, 1, 1)].join('; '));";
    if let Some(printed) = printed("page_pointer.js", script) {
        assert_eq!(printed, "30 (the longest); 3 ms; 10; 1 ms; none\n");
    }
}

#[test]
fn page_has_words_for_what_is_missing() {
    let script = "
        console.log([leftText(null), promiseText(null), leftText(0), promiseText(2048)]
            .join('; '));";
    if let Some(printed) = printed("page_words.js", script) {
        assert_eq!(printed, "near or above the mean rate; no promise; 0 B; 2 KiB\n");
    }
}
