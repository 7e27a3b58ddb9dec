//! An advice is about as good as the best of all settings, and always possible.

use steadyfs_lab::advise::{AdviseError, Options, Workload, run, sweep};

/// Maximum ratio of the choice to the best.
const WITHIN: f64 = 1.10;

fn options(device: &str, size_bytes: u64, workload: Workload) -> Options {
    Options { size_bytes: Some(size_bytes), ..Options::new(device, workload) }
}

#[test]
fn the_choice_is_within_a_tenth_of_the_best_and_holds_the_data() {
    for (device, size, workload) in
        [("w25q128jv", 1 << 20, Workload::Log), ("w25n01gv", 8 << 20, Workload::Overwrite)]
    {
        let options = Options { fill: 0.25, effort: 0.2, ..options(device, size, workload) };
        let advice = run(&options, &|_, _| ()).unwrap();
        let all = sweep(&options).unwrap();
        let (chosen, best) = (advice.choice.figures, all[0].figures);
        assert!(
            chosen.cost() <= best.cost() * WITHIN,
            "{device}: {:?} beside {:?}",
            advice.choice,
            all[0]
        );
        assert!(chosen.usable_bytes as f64 > size as f64 * options.fill, "{chosen:?}");
        assert_eq!(advice.config.check(&advice.geometry), Ok(()));
        assert!(chosen.longest_ns <= chosen.bound_ns || workload == Workload::Log, "{chosen:?}");
        assert!(advice.code_bytes > 60_000 && advice.tried > all.len() / 2);
        let text = advice.text();
        for told in
            ["RAM", "Code", "Time", "Life", "Fill", "Reasons", "const CONFIG", "steadyfs_config"]
        {
            assert!(text.contains(told), "{text}");
        }
    }
}

#[test]
fn what_no_settings_hold_is_refused_with_what_they_do() {
    let full =
        Options { fill: 0.99, effort: 0.1, ..options("w25q128jv", 256 << 10, Workload::Log) };
    let Err(error @ AdviseError::NothingFits { .. }) = run(&full, &|_, _| ()) else {
        panic!("it cannot hold so much")
    };
    assert!(
        error.to_string().contains("no settings have room for it; expected at most"),
        "{error}"
    );
    let error =
        run(&options("w25q128jv", 1 << 30, Workload::Log), &|_, _| ()).unwrap_err().to_string();
    assert!(error.contains("at most 16 MiB"), "{error}");
}
