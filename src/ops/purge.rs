//! Emptying the recycle folder for good, as a plan like any other.

use super::fresh::fingerprint;
use super::history::{Entry, Kind, effect, named_below, weigh};
use super::keep::{record_of, recycle_of};
use super::name;
use super::setting::Setting;
use crate::model::human::{age, size, when};
use crate::model::outline::Preview;
use crate::model::plan::{Draft, Operation, Plan, Reason, Refusal, Space, Step, Witness};
use crate::model::shown;

/// What has to be typed before the things of several worlds are removed.
const WORD: &str = "purge";

/// The plan that removes what these operations parked, all of one keeping folder, for good.
pub fn plan(entries: &[Entry], setting: &Setting) -> Result<Plan, Refusal> {
    if setting.read_only {
        return Err(Refusal::new(Reason::ReadOnly, "Changes are switched off."));
    }
    let Some(keep) = entries.first().map(|entry| entry.record.keep.clone()) else {
        return Err(Refusal::new(Reason::SourceGone, "Nothing is kept that could be removed."));
    };
    if let Some(other) = entries.iter().find(|entry| entry.record.keep != keep) {
        let text = format!("{} is kept elsewhere; each keeping folder has a plan of its own.", other.record.name);
        return Err(Refusal::new(Reason::NotSupported, text));
    }
    let mut steps = Vec::new();
    let mut witnesses = Vec::new();
    let mut kept = Vec::new();
    for entry in entries {
        let path = recycle_of(&keep, &entry.record.name);
        let was = look(&path)?;
        if was.is_none() || steps.contains(&(Step::Remove { path: path.clone() })) {
            continue;
        }
        let record = record_of(&keep, &entry.record.name);
        let of_record = look(&record)?;
        steps.push(Step::Remove { path: path.clone() });
        witnesses.push(Witness { path, was });
        witnesses.push(Witness { path: record, was: of_record });
        kept.push(entry);
    }
    if kept.is_empty() {
        return Err(Refusal::new(Reason::SourceGone, "Nothing of that is kept any more."));
    }
    let names: Vec<&str> = kept.iter().map(|entry| entry.record.name.as_str()).collect();
    let mut subjects: Vec<&str> = kept.iter().map(|entry| entry.record.subject.as_str()).collect();
    subjects.sort_unstable();
    subjects.dedup();
    let subject = match subjects.as_slice() {
        [one] => (*one).to_owned(),
        several => format!("{} worlds", several.len()),
    };
    let type_name = if subjects.len() == 1 { subject.clone() } else { WORD.to_owned() };
    let top = keep.parent().unwrap_or(&keep).to_path_buf();
    Ok(Draft {
        operation: Operation::Purge,
        name: name::of(&keep, Operation::Purge, &names, &witnesses),
        undoes: None,
        restored: None,
        steps,
        preview: preview(&kept, type_name, setting),
        traces: None,
        bytes: 0,
        space: Space { on: top, bytes: 0 },
        warnings: Vec::new(),
        witnesses,
        keep,
        subject,
    }
    .seal())
}

fn look(path: &std::path::Path) -> Result<Option<crate::model::plan::Fingerprint>, Refusal> {
    fingerprint(path).map_err(|failure| {
        let reason = match failure.cause {
            super::Cause::Platform => Reason::Platform,
            _ => Reason::SourceGone,
        };
        Refusal::new(reason, failure.to_string())
    })
}

fn preview(kept: &[&Entry], type_name: String, setting: &Setting) -> Preview {
    let mut total = 0_u64;
    let mut lines = Vec::new();
    for entry in kept {
        let record = &entry.record;
        let weight = weigh(&recycle_of(&record.keep, &record.name), (i64::MAX, 0));
        total = total.saturating_add(weight.bytes);
        let parked = effect(record).into_iter().filter(|thing| thing.kind == Kind::Went);
        let names: Vec<String> = parked.map(|thing| named_below(&thing.first, &record.keep)).collect();
        lines.push((
            record.name.clone(),
            format!(
                "{} of {}, {} ({} ago): {} with {} files, {}",
                record.operation.as_str(),
                shown(&record.subject),
                when(record.at, &setting.zone),
                age(setting.now, record.at),
                names.join(", "),
                weight.files,
                size(weight.bytes)
            ),
        ));
    }
    let count = if kept.len() == 1 { "one operation".to_owned() } else { format!("{} operations", kept.len()) };
    Preview {
        title: format!("Remove for good what {count} put aside: {}", size(total)),
        lines,
        notes: vec!["These operations cannot be taken back afterwards, and nothing brings the files back.".to_owned()],
        type_name,
        done: format!("Removed what {count} had put aside: {}.", size(total)),
    }
}
