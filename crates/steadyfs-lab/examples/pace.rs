use steadyfs_lab::evaluate::*;
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    for arg in args {
        let p: Vec<&str> = arg.split(':').collect();
        let o = Options { fill: p[0].parse::<f64>().unwrap()/100.0, workload: p[1].parse().unwrap(), timing: p[2].parse().unwrap(),
            seed: p.get(3).map_or(1, |s| s.parse().unwrap()), accesses: p.get(4).map_or(20000, |s| s.parse().unwrap()),
            write_bytes: p.get(5).map_or(p[1].parse::<Workload>().unwrap().default_write_bytes(), |s| s.parse().unwrap()),
            rates: (1..2000).map(|r| r * 5_000).collect(), device: p.get(6).unwrap_or(&"mt29f1g01abafd").to_string(), ..Options::default() };
        match run(&o, &mut |_, _| {}) {
            Ok(out) => { let e = &out.evaluation;
                let rate = |f: fn(&steadyfs_lab::evaluation::BacklogRow) -> Option<u64>| e.backlog.iter().filter(|r| f(r).is_some()).map(|r| r.rate).max().unwrap_or(0) as f64 / 1e6;
                let at = |r: u64| e.backlog.iter().find(|b| b.rate == r).unwrap().bytes;
                println!("{arg:28} mean {:.3} p99 {:.2} max {:.3} bound {:.3} ({:.2}) thr {:.3} guar {:.3} seen {:.3} ram2 {:?} gbuf(g) {:?} ppp {:.3} wear {}..{} mean {:.2} x{:.2} env {:?}", e.mean_us/1e3, e.p99_us/1e3, e.max_us/1e3, e.bound_us/1e3, e.bound_us/e.max_us, e.throughput_bytes_per_s/1e6,
                    rate(|r| r.guaranteed_bytes), rate(|r| r.bytes), at(2_000_000), e.backlog.iter().filter_map(|r| r.guaranteed_bytes).max(), e.programs_per_data_page, e.erase_count.min, e.erase_count.max, e.erase_count.mean, e.erase_count.max as f64/e.erase_count.mean,
                    out.envelopes.iter().map(|v| (v.burst_ns/1000, v.rate_ns/1000)).collect::<Vec<_>>()); }
            Err(e) => println!("{arg:28} ERROR {e}"),
        }
    }
}
