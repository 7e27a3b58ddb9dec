use stateright::{Checker, HasDiscoveries, Model};
use steadyfs_model::{rules::Rule, scope};
fn show(c: &steadyfs_model::chip::Cell) -> String {
    use steadyfs_model::chip::*;
    match c { Cell::Page(t, c, q) => format!("{:?}({}) s{}/{} from {} {} {:?}", t.kind, t.logical, t.sequence, t.start, t.from, match c { Content::Checkpoint(t) => format!("ckpt seq {} heads {:?} overlay {:?} {:?}", t.sequence, t.heads, t.overlay, t.blocks), c => format!("{c:?}") }, q), c => format!("{c:?}") }
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args[1] == "sweep" {
        let only: Vec<&str> = args.get(2).map(|a| a.split(',').collect()).unwrap_or_default();
        let scopes: Vec<_> = scope::all().into_iter().filter(|s| args.get(3).is_none_or(|a| a.split(',').any(|n| n == s.name))).collect();
        if only.is_empty() || only.contains(&"None") {
        for s in &scopes {
            let start = std::time::Instant::now();
            let c = s.clone().checker().finish_when(HasDiscoveries::Any).target_max_depth(s.depth + 2).spawn_bfs().join();
            println!("ALL RULES {}: unique {} {:?} {:?}", s.name, c.unique_state_count(), start.elapsed(), c.discoveries().into_values().map(|p| p.into_actions()).collect::<Vec<_>>());
        } }
        for r in Rule::ALL.into_iter().filter(|r| only.is_empty() || only.contains(&format!("{r:?}").as_str())) {
            let mut line = format!("{r:?}:");
            for s in &scopes {
                let s = steadyfs_model::state::Scope { without: Some(r), ..s.clone() };
                let c = s.clone().checker().finish_when(HasDiscoveries::Any).target_max_depth(s.depth + 2).spawn_bfs().join();
                if let Some(p) = c.discoveries().into_values().next() {
                    let a = p.into_actions();
                    line += &format!(" [{} {} {:?}]", s.name, a.len(), a.last().unwrap().state.broken.unwrap());
                    if std::env::var("LONG").is_ok() { line += &format!("{a:?}"); }
                }
            }
            println!("{line}");
        }
        return;
    }
    let mut s = scope::all().into_iter().find(|s| args[1..].contains(&format!("scope={}", s.name))).unwrap_or(scope::broad());
    for a in &args[1..] {
        let (k, v) = a.split_once('=').unwrap();
        let n = || v.parse::<usize>().unwrap();
        match k {
            "depth" => s.depth = n(), "cuts" => s.cuts = n() as u8, "failures" => s.failures = n() as u8,
            "blocks" => s.blocks.0 = n() as u8, "pages" => s.blocks.1 = n() as u8, "anchors" => s.anchors.0 = n() as u8, "ap" => s.anchors.1 = n() as u8,
            "listed" => s.listed = n() as u8, "overlay" => s.overlay = n() as u8, "full" => s.near_full = n() == 1,
            "forged" => s.readings = scope::FORGED,
            "failmeta" => s.failed = steadyfs_model::chip::Quality::Metastable(None),
            "without" => s.without = Some(Rule::ALL.into_iter().find(|r| format!("{r:?}") == v).unwrap()),
            "calls" => { let calls: Vec<_> = s.calls.iter().copied().filter(|c| v.split(',').any(|x| x == format!("{c:?}"))).collect(); s.calls = calls.leak(); }
            "scope" => {},
            _ => panic!(),
        }
    }
    let start = std::time::Instant::now();
    let c = s.clone().checker().finish_when(HasDiscoveries::Any).target_max_depth(s.depth + 2).spawn_bfs().join();
    println!("states {} unique {} depth {} {:?}", c.state_count(), c.unique_state_count(), c.max_depth(), start.elapsed());
    for (n, p) in c.discoveries() {
        println!("{n}: {:?}", p.clone().into_actions());
        if std::env::var("SHOW").is_ok() { for (st, a) in p.into_vec() {
            for b in 0..s.block_count() { println!("  {b} {:?}: {}", st.ram.as_ref().map(|r| r.table.blocks[b as usize]), s.pages_of(b).map(|p| format!("{p}={}", show(&st.chip.cells[p as usize]))).collect::<Vec<_>>().join(" | ")); }
            if let Some(r) = &st.ram { println!("  root {} overlay {:?} pending {:?} heads {:?} seq {} start {} journal_at {} patches {:?} dirty {} anchor {:?} live {:b}", r.table.root, r.table.overlay, r.table.pending, r.table.heads, r.table.sequence, r.table.start as i16, r.table.journal_at, r.patches, r.dirty, r.anchor, r.live); }
            println!("  {:?}", st.promise);
            println!("--> {a:?}");
        } }
    }
}
