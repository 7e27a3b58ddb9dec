use steadyfs_model::roots::state::Scope;
use steadyfs_model::roots::walk::{Fault, replay, walks};
use steadyfs_model::roots::rules::Rule;
fn main() {
    let arg = |name: &str, default: u64| std::env::args().find_map(|a| a.strip_prefix(&format!("{name}=")).map(|v| v.parse().unwrap())).unwrap_or(default);
    let without = std::env::args().find_map(|a| a.strip_prefix("without=").map(|v| v.to_string()));
    let rule = without.map(|w| Rule::ALL.into_iter().find(|r| format!("{r:?}") == w).unwrap());
    let also = std::env::args().find_map(|a| a.strip_prefix("also=").map(|v| v.to_string()));
    let also_without = also.map(|w| Rule::ALL.into_iter().find(|r| format!("{r:?}") == w).unwrap());
    let scope = Scope { also_without, ring: arg("ring", 6) as u8, pages: arg("pages", 8) as u8, parts: arg("parts", 1) as u8, heads: arg("heads", 2) as u8,
        names: arg("names", 4096) as u32, mark: arg("mark", 0) > 0, twin: arg("twin", 0) > 0, wild: arg("wild", 0) > 0, without: rule, ..Scope::WALK };
    if let Some(name) = std::env::args().find_map(|a| a.strip_prefix("bfs=").map(|v| v.to_string())) {
        use stateright::{Checker, Model};
        let all = [Scope::CUTS, Scope::NESTED, Scope::TWO_HEADS, Scope::PARTS, Scope::LOSS, Scope::FAILURE, Scope::UNEVEN, Scope::MARK];
        let base = all.into_iter().find(|s| s.name == name).unwrap();
        let scope = Scope { ring: arg("ring", base.ring as u64) as u8, depth: arg("depth", base.depth as u64) as usize, cuts: arg("cuts", base.cuts as u64) as u8, twin: arg("twin", 0) > 0, pages: arg("pages", base.pages as u64) as u8, heads: arg("heads", base.heads as u64) as u8, mark: arg("mark", base.mark as u64) > 0, without: rule, also_without, ..base };
        let start = std::time::Instant::now();
        let c = scope.clone().checker().target_max_depth(scope.depth + 2).spawn_bfs().join();
        println!("{name} without {:?} {:?}: {} states {:?}", scope.without, scope.also_without, c.unique_state_count(), start.elapsed());
        for path in c.discoveries().into_values() { for a in path.into_actions() { println!("{a:?}\n{}", a.state.picture()); } }
        return;
    }
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
