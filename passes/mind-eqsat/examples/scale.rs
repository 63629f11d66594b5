#[path = "../tests/eqsat/support.rs"]
#[allow(dead_code)]
mod support;
#[path = "../tests/eqsat/generate.rs"]
#[allow(dead_code)]
mod generate;
use mind_ir::types::DType;
use mind_ir::graph::Graph;
use support::*;
use std::time::Instant;

fn mlp(layers: usize) -> Graph {
    let mut m = Module::new();
    let mut x = m.f32(&[128, 128]);
    let ws: Vec<_> = (0..8).map(|_| m.f32(&[128, 128])).collect();
    let b = m.f32(&[128]);
    for i in 0..layers {
        let y = m.op("matmul", &[x, ws[i % 8]]);
        let y = m.op("add", &[y, b]);
        let y = m.op("relu", &[y]);
        x = if i % 3 == 0 { m.op("add", &[y, x]) } else { y };
    }
    m.outputs(&[x])
}
fn xf(blocks: usize) -> Graph {
    let mut m = Module::new();
    let mut x = m.f32(&[128, 64]);
    let w = m.f32(&[64, 64]);
    let b = m.f32(&[64]);
    for _ in 0..blocks {
        let q = m.op("matmul", &[x, w]);
        let k = m.op("matmul", &[x, w]);
        let k = m.op("add", &[k, b]);
        let v = m.op("matmul", &[x, w]);
        let kt = m.transpose(k, &[1, 0]);
        let s = m.op("matmul", &[q, kt]);
        let max = m.reduce("max", s, &[-1], true);
        let c = m.op("sub", &[s, max]);
        let e = m.op("exp", &[c]);
        let sum = m.reduce("sum", e, &[-1], true);
        let p = m.op("div", &[e, sum]);
        let o = m.op("matmul", &[p, v]);
        let r = m.op("add", &[o, x]);
        let mean = m.reduce("mean", r, &[-1], true);
        let d = m.op("sub", &[r, mean]);
        let sq = m.op("mul", &[d, d]);
        let va = m.reduce("mean", sq, &[-1], true);
        let eps = m.scalar(1e-5);
        let va = m.op("add", &[va, eps]);
        let va = m.op("sqrt", &[va]);
        let n = m.op("div", &[d, va]);
        let h = m.op("matmul", &[n, w]);
        let h = m.op("gelu", &[h]);
        let h = m.op("matmul", &[h, w]);
        let h = m.op("add", &[h, b]);
        x = m.op("add", &[h, r]);
    }
    m.outputs(&[x])
}
fn doubling(n: usize) -> Graph {
    let mut m = Module::new();
    let mut x = m.f32(&[4]);
    for _ in 0..n { x = m.op("add", &[x, x]); }
    m.outputs(&[x])
}
fn negs(n: usize) -> Graph {
    let mut m = Module::new();
    let mut x = m.f32(&[64]);
    for _ in 0..n { x = m.op("neg", &[x]); }
    m.outputs(&[x])
}
fn ts(n: usize) -> Graph {
    let mut m = Module::new();
    let mut x = m.f32(&[64, 64]);
    for i in 0..n { x = if i % 3 == 0 { m.op("exp", &[x]) } else { m.transpose(x, &[1,0]) }; }
    m.outputs(&[x])
}

fn wide(n: usize) -> Graph {
    let mut m = Module::new();
    let x = m.f32(&[64]);
    let y = m.op("exp", &[x]);
    let mut acc = x;
    for i in 0..n { let c = m.scalar(i as f32); let z = m.op("mul", &[y, c]); acc = m.op("add", &[acc, z]); }
    m.outputs(&[acc])
}

fn main() {
    let rules = shipped();
    let k: usize = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1000);
    let rss = || std::fs::read_to_string("/proc/self/status").unwrap().lines().find(|l| l.starts_with("VmHWM")).unwrap().to_owned();
    let only = std::env::args().nth(2);
    let all: Vec<(&str, Box<dyn Fn() -> Graph>)> = vec![
        ("mlp", Box::new(move || mlp(k / 3))), ("xf", Box::new(move || xf(k / 26))), ("rand", Box::new(move || generate::module(7, k, DType::F32))),
        ("doubling", Box::new(move || doubling(k))), ("negs", Box::new(move || negs(k))), ("transposes", Box::new(move || ts(k))), ("wide", Box::new(move || wide(k/3))) ];
    for (name, make) in all {
        if only.as_deref().is_some_and(|o| o != name) { continue; }
        let mut g = make();
        let n = g.ops(g.body()).count();
        let t = Instant::now();
        let a = mind_eqsat::fold(&mut g, &context(&rules));
        let tf = t.elapsed();
        let t = Instant::now();
        let b = mind_eqsat::fuse(&mut g, &context(&rules));
        let tu = t.elapsed();
        check(&mut g);
        let n2 = g.ops(g.body()).count();
        println!("{name}: {n} ops -> {n2}; fold {tf:?} ({} -> {}), fuse {tu:?} ({} -> {}) regions {} kept {} fused {} {}", a.cost_before, a.cost_after, b.cost_before, b.cost_after, a.regions, a.kept.len()+b.kept.len(), b.fused.len(), rss());
        let mut kept: Vec<String> = a.kept.iter().chain(&b.kept).map(|k| format!("{:?}", k.reason)).collect(); kept.sort(); kept.dedup(); println!("   {:?}", &kept[..kept.len().min(5)]);
    }
}
