use steadyfs_model::roots::state::Scope;
use steadyfs_model::roots::walk::{Fault, replay, walks};
use steadyfs_model::roots::rules::Rule;
fn main() {
    let arg = |name: &str, default: u64| std::env::args().find_map(|a| a.strip_prefix(&format!("{name}=")).map(|v| v.parse().unwrap())).unwrap_or(default);
    let without = std::env::args().find_map(|a| a.strip_prefix("without=").map(|v| v.to_string()));
    let rule = without.map(|w| Rule::ALL.into_iter().find(|r| format!("{r:?}") == w).unwrap());
    let scope = Scope { ring: arg("ring", 6) as u8, pages: arg("pages", 8) as u8, parts: arg("parts", 1) as u8, heads: arg("heads", 2) as u8,
        names: arg("names", 4096) as u32, mark: arg("mark", 0) > 0, wild: arg("wild", 0) > 0, without: rule, ..Scope::WALK };
    let faults = [Fault::Nothing, Fault::Read, Fault::Blind, Fault::Loss, Fault::Program, Fault::All];
    let which = arg("fault", 9);
    if arg("replay", u64::MAX) != u64::MAX { return replay(&scope, faults[which as usize], arg("replay", 0)); }
    let rules: Vec<Option<Rule>> = if arg("rules", 0) > 0 { std::iter::once(None).chain(Rule::ALL.map(Some)).collect() } else { vec![rule] };
    for rule in rules {
    for (i, fault) in faults.into_iter().enumerate() {
        if which != 9 && which != i as u64 { continue }
        let w = walks(&Scope { without: rule, ..scope.clone() }, fault, arg("runs", 2000) as u32, arg("seed", 1));
        println!("{rule:?} {fault:?}: wrong {:?} told {:?} mounts {} cuts {}", w.wrong, w.told, w.mounts, w.cuts);
    }}
}
