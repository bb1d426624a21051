//! Plans that are written and read back.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use base::clock::ClockAnchor;
use base::progress::NoProgress;
use conversion::convert::decoders::Decoders;
use conversion::plan::filter::Filter;
use conversion::plan::{self, DatasetSplit, Partition, PlanFile, PlanOptions, PlannedInputs, partition};
use conversion::survey::{SurveyOptions, survey};
use etl::input::{InputId, Inputs};
use schema::load;
use spill::SpillSpace;
use support::corpus;

/// The plan of one input.
fn planned(path: &Path, options: &PlanOptions) -> Option<PlanFile> {
    cut(path, options, 1 << 20)
}

/// The plan of one input with partitions of so many bytes.
fn cut(path: &Path, options: &PlanOptions, size: u64) -> Option<PlanFile> {
    let inputs = Inputs::open([path.to_owned()]).unwrap();
    let surveyed = SurveyOptions { anchor: ClockAnchor::Start, hash: true, ..SurveyOptions::default() };
    let file = survey(&*inputs.get(InputId::default()).unwrap(), "a.etl".to_owned(), &surveyed, &NoProgress).ok()?;
    let files = [file];
    let (result, _) = plan::plan(&files, &inputs, options, &NoProgress).unwrap();
    let planned = PlannedInputs::of(&files, &inputs);
    let partitions = partition::cut(&files, &planned, size, &SpillSpace::temporary(), &NoProgress).unwrap();
    Some(PlanFile::new(planned.into_planned(), result, partitions.list().to_vec()))
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/example.etl")
}

fn written(plan: &PlanFile) -> Vec<u8> {
    plan.to_text().unwrap().bytes().to_vec()
}

fn hash(plan: &PlanFile) -> String {
    plan.to_text().unwrap().hash().to_owned()
}

/// The plan that a text holds, and its hash.
fn read(bytes: &[u8]) -> Result<(PlanFile, String), String> {
    PlanFile::read(bytes, Path::new("plan.json")).map_err(|error| error.to_string())
}

#[track_caller]
fn round_trip(plan: &PlanFile) {
    let bytes = written(plan);
    let (found, read_hash) = read(&bytes).unwrap();
    assert!(found == *plan, "another plan was read than was written");
    assert!(written(&found) == bytes, "what was read is written in another way");
    assert_eq!(read_hash, hash(plan));
    Decoders::new(&found.result, &NoProgress).unwrap();
}

#[test]
fn a_plan_is_read_as_it_was_written() {
    let filter = Filter {
        providers: vec!["*-DNS-*".parse().unwrap(), "Kernel-*".parse().unwrap()],
        excluded_providers: vec!["{E13C0D23-CCBC-4E12-931B-D9CC2EEE27E4}".parse().unwrap()],
        events: vec!["1".parse().unwrap(), "*Start".parse().unwrap()],
        level: Some(4),
        keywords: Some(u64::MAX),
        keyword_names: vec!["gc*".parse().unwrap()],
        processes: vec!["0-99999".parse().unwrap()],
        process_names: vec!["*.exe".parse().unwrap()],
        threads: vec!["1,7-9".parse().unwrap()],
        cpus: vec!["0-63".parse().unwrap()],
        from: Some("+1ns".parse().unwrap()),
        to: Some("2100-01-01T00:00:00Z".parse().unwrap()),
    };
    let all = [
        PlanOptions::default(),
        PlanOptions { all_columns: true, layout: DatasetSplit::Event, ..PlanOptions::default() },
        PlanOptions { filter, ..PlanOptions::default() },
    ];
    for options in all {
        let plan = planned(&example(), &options).unwrap();
        assert!(plan.result.shapes.len() > 10 && plan.result.schemas.len() > 10);
        round_trip(&plan);
    }
}

#[test]
fn plans_of_real_traces_are_read_as_they_were_written() {
    let Some(corpus) = corpus() else { return };
    let schemas = load::load(&[corpus.join("wpp/tmf")]).unwrap().schemas;
    let options = PlanOptions { schemas: schemas.into(), ..PlanOptions::default() };
    let traces = |folder: PathBuf| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let all = traces(corpus.clone()).chain(traces(corpus.join("wpp")));
    let mut messages = 0;
    for path in all.filter(|path| path.extension().is_some_and(|extension| extension == "etl")) {
        let Some(plan) = planned(&path, &options) else { continue };
        messages += plan.result.messages.len();
        round_trip(&plan);
    }
    assert!(messages > 20, "{messages} messages");
}

#[test]
fn a_hash_stands_for_what_was_planned_and_not_when() {
    let plan = planned(&example(), &PlanOptions::default()).unwrap();
    let before = hash(&plan);
    let changed = |change: &dyn Fn(&mut PlanFile)| {
        let mut plan = plan.clone();
        change(&mut plan);
        hash(&plan) != before
    };
    assert!(!changed(&|plan| plan.inputs[0].identity.modified = Some(7)));
    assert!(changed(&|plan| plan.inputs[0].identity.size += 1));
    assert!(changed(&|plan| plan.result.shapes[3].is_refused ^= true));
    assert!(changed(&|plan| plan.result.tables[0].dataset.push('x')));
    assert!(changed(&|plan| plan.partitions[0].slice_bytes += 1));
}

#[test]
fn another_plan_is_refused() {
    let plan = planned(&example(), &PlanOptions::default()).unwrap();
    let text = String::from_utf8(written(&plan)).unwrap();
    let refused = |text: &str, expected: &str| {
        let error = read(text.as_bytes()).unwrap_err();
        assert!(error.starts_with("plan.json: ") && error.contains(expected), "{error}");
        assert!(error.ends_with("(plan the recording again, with this program)"), "{error}");
    };
    let version = env!("CARGO_PKG_VERSION");
    let own = format!("\"tool_version\":\"{version}\"");
    assert!(text.contains(&own));
    let foreign = format!("expected a plan of version {version} (format 5), found one of version 9.9.9 (format 5)");
    refused(&text.replace(&own, "\"tool_version\":\"9.9.9\""), &foreign);
    refused(r#"{"tool_version":"9.9.9","format_version":5,"hash":"","something":"else"}"#, &foreign);
    refused(&text.replace("\"format_version\":5", "\"format_version\":6"), "(format 6)");
    refused(&text.replacen("\"slice_bytes\":", "\"slice_bytes\":1", 1), "it was changed");
    refused(&text.replace(&hash(&plan), &"0".repeat(64)), "it was changed");
    let time = format!("\"modified\":[{}]", plan.inputs[0].identity.modified.unwrap());
    refused(&text.replace(&time, "\"modified\":[]"), "without contradictions, found 0 times of 1 inputs");
    refused("", "expected a whole plan");
    refused("[]", "expected a whole plan");
    for end in (0..text.len()).step_by(997).filter(|end| text.is_char_boundary(*end)) {
        refused(&text[..end], "expected a whole plan");
    }
}

#[test]
fn a_plan_that_contradicts_itself_is_refused() {
    let plan = planned(&example(), &PlanOptions::default()).unwrap();
    let shapes = &plan.result.shapes;
    let bound = shapes.iter().position(|shape| shape.binding.is_some()).unwrap();
    let table = shapes[bound].table as usize;
    let placed =
        format!("{} shapes in tables instead of {}", shapes.len() - plan.result.tables[0].shapes.len(), shapes.len());
    let t = |expected: &str, change: &dyn Fn(&mut PlanFile)| {
        let mut plan = plan.clone();
        change(&mut plan);
        let error = read(&written(&plan)).unwrap_err();
        assert!(error.contains(&format!("expected a plan without contradictions, found {expected}")), "{error}");
    };
    let of = |fault: &str| format!("{fault} of shape {bound}");
    t(&of("no table"), &|plan| plan.result.shapes[bound].table = u32::MAX);
    t(&of("no schema"), &|plan| plan.result.shapes[bound].schema = Some(u32::MAX));
    t(&of("no message format"), &|plan| plan.result.shapes[bound].message = Some(0));
    t(&of("no columns"), &|plan| plan.result.shapes[bound].binding = Some(u32::MAX));
    t(&of("columns without a schema"), &|plan| plan.result.shapes[bound].schema = None);
    let evil = "a dataset \"../../evil\" of table 0, which leads out of the trace,";
    t(evil, &|plan| plan.result.tables[0].dataset = "../../evil".to_owned());
    t("other shapes of table 0", &|plan| plan.result.tables[0].shapes.push(u32::MAX));
    t("other shapes of table 0", &|plan| plan.result.tables[0].shapes.insert(0, 0));
    t(&placed, &|plan| plan.result.tables[0].shapes.clear());
    t(&format!("other columns of table {table}"), &|plan| plan.result.tables[table].columns.columns.clear());
    let large = "buffers of more than 16777216 bytes in input 0";
    t(large, &|plan| plan.inputs[0].rules.max_buffer_size = 0x100_0001);
    t("65537 inputs", &|plan| plan.inputs = vec![plan.inputs[0].clone(); 0x1_0001]);
    t("a filter of", &|plan| {
        let filter = Filter { level: Some(1), ..Filter::default() };
        let filtered = planned(&example(), &PlanOptions { filter, ..PlanOptions::default() }).unwrap();
        plan.result.filter = filtered.result.filter;
        let table = plan.result.shapes.pop().unwrap().table;
        plan.result.tables[table as usize].shapes.pop();
    });
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_the_parts_of_a_plan_is_not_followed() {
    let sandbox = support::Sandbox::new();
    fs::copy(example(), sandbox.path("a.etl")).unwrap();
    let plan = sandbox.t("plan a.etl -o out", 0).out;
    let (plan, elsewhere) = (plan.trim(), sandbox.path("elsewhere"));
    fs::create_dir(&elsewhere).unwrap();
    fs::remove_dir(sandbox.path(plan).join("parts")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, sandbox.path(plan).join("parts")).unwrap();
    for step in [format!("convert-partition {plan} 0"), format!("commit {plan}")] {
        let said = sandbox.t(&step, 6).err;
        assert!(said.contains("parts: expected the folder that a trace is built in, found a link"), "{said}");
    }
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert!(!sandbox.path("out/trace=a").exists());
}

#[test]
fn partitions_that_do_not_follow_one_another_are_refused() {
    let plan = cut(&example(), &PlanOptions::default(), 1 << 14).unwrap();
    let [first, .., last] = &plan.partitions[..] else { panic!("expected several partitions") };
    let end = plan.partitions.len() - 1;
    let t = |expected: &str, change: &dyn Fn(&mut Vec<Partition>)| {
        let mut plan = plan.clone();
        change(&mut plan.partitions);
        let error = read(&written(&plan)).unwrap_err();
        assert!(error.contains(&format!("expected a plan without contradictions, found {expected} (")), "{error}");
    };
    t("no partition", &Vec::clear);
    t("another partition in the place of partition 0", &|list| list.swap(0, end));
    t("another partition in the place of partition 1", &|list| list[1].number += 1);
    t("a wrong number of events before partition 1", &|list| list[0].events += 1);
    t("a wrong number of events before partition 0", &|list| list[0].first_seq = 1);
    t("more events than can be counted up to partition 0", &|list| list[0].damaged = u64::MAX);
    let count = format!("more events than can be counted up to partition {end}");
    t(&count, &|list| list[end].events = u64::MAX);
    t("a gap in the order before partition 0", &|list| list[0].range.from = last.range.from);
    t("a gap in the order before partition 1", &|list| list[0].range.to = None);
    t("an end of the order behind the last partition", &|list| list[end].range.to = first.range.to);
}
