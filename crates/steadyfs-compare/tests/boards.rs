//! The page of real boards: it is made from the kept runs, and its predictions hold.

use std::path::Path;
use steadyfs_compare::boards::{
    Basis, KeptRuns, Makers, Plan, Settings, markdown, measure, standings,
};
use steadyfs_compare::{AnyEntrant, contenders};

/// The page in the repository.
fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/boards.md");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn page_is_made_from_the_kept_runs() {
    let made = markdown(&Plan::built_in(), &KeptRuns::built_in());
    assert!(made == page(), "write it again: steady boards --markdown docs/results/boards.md");
}

#[test]
fn predictions_and_calibrations_hold_within_20_percent() {
    let (plan, kept) = (Plan::built_in(), KeptRuns::built_in());
    let all = standings(&plan, &kept);
    let near = |basis: Basis| {
        all.iter().filter(|standing| standing.basis == basis && standing.is_near()).count()
    };
    let [predictions, calibrations] = [Basis::Prediction, Basis::Calibration].map(near);
    let published = all.iter().filter(|standing| standing.basis != Basis::Experiment).count();
    assert!(published >= 50 && plan.source.len() >= 15, "{published} {}", plan.source.len());
    assert!(predictions >= 17, "{predictions}");
    assert!(calibrations >= 6, "{calibrations}");
}

#[test]
fn every_figure_has_a_simulated_value_and_each_far_one_a_reason() {
    let (plan, kept) = (Plan::built_in(), KeptRuns::built_in());
    for standing in standings(&plan, &kept) {
        let place = format!("{}, {}", standing.run.id, standing.figure.name);
        assert!(standing.simulated.is_some(), "{place}");
        let is_result = standing.basis != Basis::Experiment;
        let is_explained = standing.is_near() || standing.run.off.is_some();
        assert!(is_explained || !is_result, "{place}: no reason");
    }
}

/// Makes what needs no sources in C.
struct WithoutPeers;

impl Makers for WithoutPeers {
    fn make(&self, system: &str, _settings: &Settings) -> Option<Box<dyn AnyEntrant>> {
        (system == "raw").then(|| Box::new(contenders::Raw) as Box<dyn AnyEntrant>)
    }
}

#[test]
fn runs_without_contenders_in_c_give_the_kept_results_again() {
    let (plan, kept) = (Plan::built_in(), KeptRuns::built_in());
    let mut again = 0;
    for run in &plan.run {
        match measure(run, &WithoutPeers) {
            Ok(result) => {
                let now = serde_json::to_value(&result).unwrap();
                let then = serde_json::to_value(&kept.runs[&run.id]).unwrap();
                assert_eq!(now, then, "{}", run.id);
                again += 1;
            }
            Err(reason) => assert!(reason.contains("contenders.md"), "{}: {reason}", run.id),
        }
    }
    assert!(again >= 3, "{again}");
}
