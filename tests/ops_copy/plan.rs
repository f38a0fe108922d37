//! From a plan to a proved stage.

use std::fs;

use worldkeep::model::Cancel;
use worldkeep::model::plan::{
    Confirmed, Consent, Draft, Operation, Plan, Proof, Reason, Space, Step, Warning, WarningCode, Witness,
};
use worldkeep::ops::fresh::{check, fingerprint};
use worldkeep::ops::stage::stage;
use worldkeep::ops::{Cause, State};

use crate::lab::{Lab, noise, picture};

fn plan(lab: &Lab, names: &[&str]) -> Plan {
    let copy = |name: &&str| Step::Copy {
        from: lab.source(""),
        items: vec![name.into()],
        to: lab.keep().join(format!("stage-{name}")),
    };
    let mut witnesses = Vec::new();
    for name in names {
        witnesses.push(Witness { path: lab.source(name), was: fingerprint(&lab.source(name)).unwrap() });
        witnesses.push(Witness { path: lab.keep().join(format!("stage-{name}")), was: None });
    }
    Draft {
        operation: Operation::Backup,
        subject: "World".into(),
        name: "0123456789ab".into(),
        undoes: None,
        restored: None,
        keep: lab.keep(),
        preview: worldkeep::model::outline::Preview::default(),
        traces: None,
        steps: names.iter().map(copy).collect(),
        bytes: 1,
        space: Space { on: lab.keep(), bytes: 1 },
        warnings: vec![Warning { code: WarningCode::FormatUnproven, text: "Unproven.".into() }],
        witnesses,
    }
    .seal()
}

fn confirmed(plan: Plan) -> Confirmed {
    plan.confirm(&Consent { proof: Proof::Yes, accepted: Vec::new() }).unwrap()
}

#[test]
fn a_confirmed_plan_that_fits_the_disk_is_staged_and_proved() {
    let lab = Lab::new();
    lab.with_everything();
    let fresh = check(confirmed(plan(&lab, &["W.db", "World"]))).unwrap();
    let staged = stage(&fresh, &Cancel::new(), &mut |_| {}).unwrap();
    assert_eq!(staged.len(), 2);
    assert!(staged.iter().all(|staged| staged.proof.equal()));
    let whole = picture(&lab.source(""));
    let parts = [picture(&lab.keep().join("stage-W.db")), picture(&lab.keep().join("stage-World"))];
    for (path, is) in parts.iter().flatten() {
        assert_eq!(whole.get(path), Some(is));
    }
    assert_eq!(parts.iter().map(std::collections::BTreeMap::len).sum::<usize>() + 1, whole.len(), "all but W.fwl");
}

#[test]
fn a_plan_from_before_a_change_is_stale() {
    type Change = (fn(&Lab), &'static str);
    let changes: [Change; 5] = [
        (|lab| fs::write(lab.source("W.db"), b"another length").unwrap(), "changed"),
        (|lab| fs::remove_file(lab.source("W.db")).unwrap(), "is gone"),
        (
            |lab| {
                // Another file with the same bytes and times under the name.
                let time = fs::metadata(lab.source("W.db")).unwrap().modified().unwrap();
                fs::copy(lab.source("W.db"), lab.source("new")).unwrap();
                let file = fs::File::open(lab.source("new")).unwrap();
                file.set_times(fs::FileTimes::new().set_modified(time)).unwrap();
                fs::rename(lab.source("new"), lab.source("W.db")).unwrap();
            },
            "changed",
        ),
        (|lab| fs::create_dir(lab.keep().join("stage-W.db")).unwrap(), "is there now"),
        (
            |lab| {
                fs::rename(lab.source(""), lab.base.join("moved")).unwrap();
                std::os::unix::fs::symlink("moved", lab.base.join("source")).unwrap();
            },
            "a link is part of it",
        ),
    ];
    for (change, words) in changes {
        let lab = Lab::new();
        lab.file("W.db", b"bytes");
        let confirmed = confirmed(plan(&lab, &["W.db"]));
        change(&lab);
        let refusal = check(confirmed).unwrap_err();
        assert_eq!(refusal.reason, Reason::Stale, "{refusal}");
        assert!(refusal.to_string().contains(words), "{refusal}");
    }
}

#[test]
fn when_one_copy_of_a_plan_fails_those_before_it_are_taken_back() {
    let lab = Lab::new();
    lab.file("W.db", &noise(1000)).file("World/a", b"a");
    std::os::unix::fs::symlink("/", lab.source("World/out")).unwrap();
    let fresh = check(confirmed(plan(&lab, &["W.db", "World"]))).unwrap();
    let failure = stage(&fresh, &Cancel::new(), &mut |_| {}).unwrap_err();
    assert!(matches!(failure.cause, Cause::LeadsOut(_)) && failure.state == State::Removed, "{failure}");
    assert_eq!(fs::read_dir(lab.keep()).unwrap().count(), 0);
}

#[test]
fn a_source_that_changes_before_the_proof_is_not_staged() {
    let lab = Lab::new();
    lab.file("World/a", b"a").file("World/b", b"b");
    let fresh = check(confirmed(plan(&lab, &["World"]))).unwrap();
    // The last report comes when all is copied, so the copier itself cannot see this.
    let failure = stage(&fresh, &Cancel::new(), &mut |at| {
        if at.files == 2 && at.path.ends_with("World") {
            fs::write(lab.source("World/a"), b"A").unwrap();
        }
    })
    .unwrap_err();
    assert!(matches!(failure.cause, Cause::Differs(_)) && failure.state == State::Removed, "{failure}");
    assert!(failure.to_string().contains("World/a"), "{failure}");
    assert_eq!(fs::read_dir(lab.keep()).unwrap().count(), 0);
}
