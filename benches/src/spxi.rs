//! Measures SPXI: an index of 100 KB with 300 entities is checked, including a JSON-LD processor,
//! in less time than parsing it ten times.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{bail, ensure};
use rutter_finding::{Report, Strictness};
use rutter_spxi::{
    CheckInput, Entity, IndexWriter, Kernel, ModifiedDate, SemanticIndex, Surface, check_index,
    read_index,
};

use crate::table::{Job, Run, Table, seconds};

const N_ENTITIES: usize = 300;
/// Repetitions of each job in a round, so that a round is long enough to measure.
const N_TIMES: u32 = 50;
/// Maximum time of a check, in parsings.
const PARSINGS: f64 = 10.0;

/// Prints every figure with its goal; fails if a goal is missed.
pub(crate) fn run(n_rounds: usize) -> anyhow::Result<()> {
    let bytes = index();
    println!("{N_ENTITIES} entities, {:.1} KB, {N_TIMES} times a round", bytes.len() as f64 / 1e3);
    let mut report = Report::new(Strictness::Lenient);
    let judged = check_index(&bytes, &CheckInput::default(), &mut report)?;
    ensure!(report.worst().is_none(), "the index is not clean: {:?}", report.counts());
    ensure!(judged.index.entities.len() == N_ENTITIES, "entities are missing");
    ensure!(judged.n_statements.is_some(), "the processor was not asked");
    let mut jobs: Vec<Job<'_>> = vec![
        (
            "judge",
            Box::new(|| {
                measured(|| {
                    let mut report = Report::new(Strictness::Strict);
                    let judged = check_index(&bytes, &CheckInput::default(), &mut report);
                    black_box(judged.is_ok())
                })
            }),
        ),
        (
            "read",
            Box::new(|| measured(|| black_box(read_index(&bytes, &mut Report::default()).is_ok()))),
        ),
        (
            "parse",
            Box::new(|| {
                measured(|| {
                    let parsed = serde_json::from_slice::<serde_json::Value>(&bytes);
                    black_box(parsed.is_ok())
                })
            }),
        ),
    ];
    let mut table = Table::new(n_rounds);
    let runs = table.rotate(&mut jobs)?;
    drop(jobs);
    let [judge, read, parse] = runs.as_slice() else { bail!("a measurement is missing") };
    let ten: Vec<f64> = seconds(parse).iter().map(|seconds| seconds * PARSINGS).collect();
    table.compare("judge", judge, "serde_json, ten times", &ten, (1.0, None));
    // For comparison only.
    table.compare("read", read, "serde_json, ten times", &ten, (0.0, None));
    table.print(bytes.len() as u64 * u64::from(N_TIMES));
    ensure!(table.missed == 0, "{} figures miss their goal", table.missed);
    Ok(())
}

fn measured(mut job: impl FnMut() -> bool) -> anyhow::Result<Run> {
    let started = Instant::now();
    for _ in 0..N_TIMES {
        ensure!(job(), "the index is refused");
    }
    Ok(Run { seconds: started.elapsed().as_secs_f64(), peak: 0 })
}

fn index() -> Vec<u8> {
    const SITE: &str = "https://lights.example";
    let entity = |n: usize| Entity {
        id: Some(format!("{SITE}/l{n}")),
        entity_type: Some("Place".to_owned()),
        name: Some(format!("Light {n}")),
        negative_tags: ["NOT a ship", "NOT a bar", "NOT a song"].map(str::to_owned).to_vec(),
        markers: vec![format!("flashes {n} times"), format!("kept by house {n}")],
        ..Entity::default()
    };
    let index = SemanticIndex {
        id: Some(format!("{SITE}/spxi-index.jsonld")),
        kernel: Some(Kernel {
            summary: Some("Three hundred lights along the sound, and their keepers.".to_owned()),
            specification: Some("10.5555/lights".to_owned()),
        }),
        entities: (0..N_ENTITIES).map(entity).collect(),
        surfaces: vec![Surface { id: Some(format!("{SITE}/")), ..Surface::default() }],
        ..SemanticIndex::default()
    };
    IndexWriter::new(index).finish(ModifiedDate::parse("2026-05-01")).bytes
}
