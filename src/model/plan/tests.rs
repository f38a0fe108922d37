use std::collections::HashSet;

use super::*;

fn draft() -> Draft {
    Draft {
        operation: Operation::Restore,
        subject: "W".into(),
        name: "0123456789ab".into(),
        undoes: None,
        restored: None,
        keep: "/keep".into(),
        preview: Preview::default(),
        traces: None,
        steps: vec![
            Step::Copy { from: "/saves".into(), items: vec!["W.fwl".into(), "W.db".into()], to: "/keep/stage".into() },
            Step::Exchange { stage: "/keep/stage/W.db".into(), live: "/saves/W.db".into() },
        ],
        bytes: 4096,
        space: Space { on: "/saves".into(), bytes: 8192 },
        warnings: Vec::new(),
        witnesses: vec![
            Witness { path: "/saves/W.db".into(), was: Some(mark(7)) },
            Witness { path: "/keep/stage".into(), was: None },
        ],
    }
}

fn mark(inode: u64) -> Fingerprint {
    Fingerprint { device: 1, inode, size: 4096, modified: (-3, 5) }
}

fn by(proof: Proof) -> Consent {
    Consent { proof, accepted: Vec::new() }
}

#[test]
fn the_same_plan_has_the_same_id_in_every_run() {
    assert_eq!(draft().seal().id(), draft().seal().id());
    // A number that changes here breaks `--yes=ID` between a dry run of one build and the run of another.
    assert_eq!(draft().seal().id().to_string(), "9051e83bc8421bae");
}

#[test]
fn a_plan_that_differs_in_anything_has_another_id() {
    let changes: Vec<fn(&mut Draft)> = vec![
        |_| {},
        |d| d.operation = Operation::Copy,
        |d| d.subject.push('x'),
        |d| d.name.push('x'),
        |d| d.undoes = Some("0123456789ab".into()),
        |d| d.keep.push("x"),
        |d| d.steps[1] = Step::Place { from: "/keep/stage/W.db".into(), to: "/saves/W.db".into() },
        |d| {
            let (path, like) = ("/keep/stage".into(), "/saves/W.db".into());
            d.steps[1] = Step::Dress { path, like, rights: Rights::Keep };
        },
        |d| {
            let (path, like) = ("/keep/stage".into(), "/saves/W.db".into());
            d.steps[1] = Step::Dress { path, like, rights: Rights::Like };
        },
        |d| {
            let (archive, to) = ("/saves/a.zip".into(), "/keep/stage".into());
            d.steps[1] = Step::Unpack { archive, members: vec![("a".into(), "b".into())], to };
        },
        |d| d.steps.truncate(1),
        |d| d.steps.reverse(),
        |d| {
            d.steps[0] = Step::Copy { from: "/saves".into(), items: vec!["W.fwlW.db".into()], to: "/keep/stage".into() }
        },
        |d| {
            d.steps[0] = Step::Copy {
                from: "/saves".into(),
                items: vec!["W.fwl".into(), "W.d".into()],
                to: "b/keep/stage".into(),
            }
        },
        |d| d.steps[1] = Step::Park { from: "/keep/stage/W.db".into(), to: "/saves/W.db".into() },
        |d| d.steps[1] = Step::Remove { path: "/keep/stage/W.db".into() },
        |d| d.steps[1] = Step::Write { path: "/keep/stage/W.db".into(), bytes: vec![0] },
        |d| d.steps[1] = Step::Write { path: "/keep/stage/W.db".into(), bytes: vec![1] },
        |d| d.bytes += 1,
        |d| d.space.on = "/".into(),
        |d| d.space.bytes += 1,
        |d| d.warnings.push(Warning { code: WarningCode::NotKept, text: "x".into() }),
        |d| d.warnings.push(Warning { code: WarningCode::OtherWorld, text: "x".into() }),
        |d| d.witnesses[0].path = "/saves/X.db".into(),
        |d| d.witnesses[0].was = None,
        |d| d.witnesses[0].was = Some(mark(8)),
        |d| d.witnesses[0].was = Some(Fingerprint { device: 2, ..mark(7) }),
        |d| d.witnesses[0].was = Some(Fingerprint { size: 2, ..mark(7) }),
        |d| d.witnesses[0].was = Some(Fingerprint { modified: (-3, 6), ..mark(7) }),
        |d| d.witnesses[0].was = Some(Fingerprint { modified: (3, 5), ..mark(7) }),
        |d| d.witnesses.truncate(1),
    ];
    let ids: HashSet<_> = changes
        .iter()
        .map(|change| {
            let mut draft = draft();
            change(&mut draft);
            draft.seal().id()
        })
        .collect();
    assert_eq!(ids.len(), changes.len());
}

#[test]
fn an_id_survives_being_typed() {
    let id = draft().seal().id();
    assert_eq!(id.to_string().parse::<PlanId>().unwrap(), id);
    for bad in ["", "12", "+123456789abcdef", "0123456789abcdeg", "0123456789abcdef0", "\u{1b}[2J"] {
        let refusal = bad.parse::<PlanId>().unwrap_err();
        assert_eq!(refusal.reason, Reason::OtherPlan, "{bad:?}");
        assert!(!refusal.to_string().contains('\u{1b}'));
    }
}

#[test]
fn consent_to_another_plan_confirms_nothing() {
    let plan = draft().seal();
    let other = Draft { bytes: 1, ..draft() }.seal().id();
    for proof in [Proof::Dialog { shown: other }, Proof::YesTo(other)] {
        let refusal = plan.clone().confirm(&by(proof)).unwrap_err();
        assert_eq!(refusal.reason, Reason::OtherPlan);
        assert!(refusal.text.contains(&plan.id().to_string()) && refusal.text.contains(&other.to_string()));
    }
    for proof in [Proof::Dialog { shown: plan.id() }, Proof::YesTo(plan.id()), Proof::Yes] {
        assert_eq!(plan.clone().confirm(&by(proof)).unwrap().plan(), &plan);
    }
}

#[test]
fn a_warning_that_needs_it_is_accepted_by_name_or_nothing_is_confirmed() {
    for code in WarningCode::ALL.iter().copied() {
        let mut draft = draft();
        draft.warnings.push(Warning { code, text: "Read this.".into() });
        let plan = draft.seal();
        let without = plan.clone().confirm(&by(Proof::Yes));
        assert_eq!(without.is_err(), code.needs_acceptance(), "{}", code.as_str());
        if let Err(refusal) = without {
            assert_eq!(refusal.reason, Reason::NotAccepted);
            assert!(refusal.text.contains("Read this.") && refusal.text.contains(code.as_str()));
        }
        let others = WarningCode::ALL.iter().copied().filter(|other| *other != code).collect();
        let wrong = plan.clone().confirm(&Consent { proof: Proof::Yes, accepted: others });
        assert_eq!(wrong.is_err(), code.needs_acceptance());
        plan.confirm(&Consent { proof: Proof::Yes, accepted: vec![code] }).unwrap();
    }
}

#[test]
fn reasons_and_warnings_are_distinct_words_with_a_sentence() {
    let reasons = Reason::ALL.iter().map(|r| (r.as_str(), r.meaning(), r.next()));
    let warnings = WarningCode::ALL.iter().map(|w| (w.as_str(), w.meaning(), w.meaning()));
    let all: Vec<_> = reasons.chain(warnings).collect();
    assert_eq!(all.iter().map(|(word, ..)| word).collect::<HashSet<_>>().len(), all.len());
    for (word, meaning, next) in all {
        assert!(word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{word}");
        assert!(meaning.ends_with('.') && next.ends_with('.'), "{word}");
    }
}

#[test]
fn a_clean_up_that_is_pending_is_neither_success_nor_failure() {
    let refused = Outcome::Refused(Refusal::new(Reason::Busy, "Busy."));
    let pending = Outcome::CleanUpPending { left: vec!["/keep/old".into()], why: "x".into() };
    let unchanged = Outcome::Unchanged { why: "x".into() };
    let codes = [Outcome::Done, unchanged, refused, pending, Outcome::Cancelled].map(|o| o.exit_code());
    assert_eq!(codes, [0, 1, 4, 5, 130]);
}
