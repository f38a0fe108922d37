//! How fast a Valheim world is walked at L2: made bytes always, a real save where the samples are there.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use worldkeep::games::valheim::format::census::Census;
use worldkeep::games::valheim::format::db;
use worldkeep::games::valheim::format::hash::stable_hash;
use worldkeep::model::Cancel;
use worldkeep::store::Ceilings;

const OBJECTS: u32 = 77_000;

/// A `.db` of version 36 with objects of the kinds and sizes that a real one has.
fn made() -> Vec<u8> {
    let mut out = 36_i32.to_le_bytes().to_vec();
    out.extend(29_592.9_f64.to_le_bytes());
    out.extend([0; 12]);
    out.extend(OBJECTS.to_le_bytes());
    let prefabs: Vec<i32> = (0..200).map(|n| stable_hash(&format!("Prefab{n}"))).collect();
    let (health, creator, item) = (stable_hash("health"), stable_hash("creator"), stable_hash("item"));
    for (n, prefab) in (0..OBJECTS).zip(prefabs.iter().cycle()) {
        let metre = |n: u32| f32::from(u8::try_from(n % 251).unwrap_or(0)) * 16.0 - 2000.0;
        let (x, z) = (metre(n), metre(n / 7));
        let flags: u16 = 0x1100 | if n % 3 == 0 { 0x12 } else { 0 } | if n % 50 == 0 { 0x60 } else { 0 };
        out.extend(flags.to_le_bytes());
        for p in [x, z] {
            #[allow(clippy::cast_possible_truncation)]
            out.extend((((p + 32.0) / 64.0).floor() as i16).to_le_bytes());
        }
        for p in [x, 30.0, z] {
            out.extend(p.to_le_bytes());
        }
        out.extend(prefab.to_le_bytes());
        out.extend([0; 12]);
        if n % 3 == 0 {
            out.push(2);
            for _ in 0..2 {
                out.extend(health.to_le_bytes());
                out.extend(80.0_f32.to_le_bytes());
            }
            out.push(1);
            out.extend(item.to_le_bytes());
            out.extend(n.to_le_bytes());
        }
        if n % 50 == 0 {
            out.push(1);
            out.extend(creator.to_le_bytes());
            out.extend(7_656_119_i64.to_le_bytes());
            out.push(1);
            out.extend(item.to_le_bytes());
            out.extend(b"\x08SomeText");
        }
    }
    // No zones, a version each, no keys, no locations, an idle event.
    out.extend([0; 4 + 4 + 4 + 4]);
    out.push(1);
    out.extend([0; 4]);
    out.extend([0; 4 + 1 + 4 + 12]);
    out
}

fn walk(bytes: &[u8]) -> (u64, u64) {
    let mut census = Census::default();
    let db = db::read(bytes, &Ceilings::default(), &Cancel::new(), &mut |object| census.visit(object));
    assert!(db.left == Some(0) && census.sectors.count == 0, "{:?}", db.stopped);
    (db.walked.objects, census.pieces)
}

fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("valheim_l2");
    let made = made();
    group.throughput(Throughput::Bytes(made.len() as u64));
    group.bench_function("made", |b| b.iter(|| walk(black_box(&made))));
    let sample = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/samples/valheim/v36/v36.db"));
    match std::fs::read(sample) {
        Ok(real) => {
            group.throughput(Throughput::Bytes(real.len() as u64));
            group.bench_function("v36", |b| b.iter(|| walk(black_box(&real))));
        }
        #[allow(clippy::print_stderr)]
        Err(_) => eprintln!("skipped: ../shared/samples is absent"),
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
