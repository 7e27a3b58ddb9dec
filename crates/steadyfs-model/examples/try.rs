use stateright::{Checker, HasDiscoveries, Model};
use steadyfs_model::{rules::Rule, scope};
fn show(c: &steadyfs_model::chip::Cell) -> String {
    use steadyfs_model::chip::*;
    match c { Cell::Page(t, c, q) => format!("{:?}({}) s{}/{} from {} {} {:?}", t.kind, t.logical, t.sequence, t.start, t.from, match c { Content::Checkpoint(t) => format!("ckpt seq {} heads {:?} overlay {:?} {:?}", t.sequence, t.heads, t.overlay, t.blocks), c => format!("{c:?}") }, q), c => format!("{c:?}") }
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let mut s = scope::broad();
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
