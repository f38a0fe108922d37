//! Whether somebody agrees: by flags, or by answers on a terminal.

use std::io::{self, BufRead as _, IsTerminal as _};

use super::super::args::Agree;
use super::super::output;
use super::super::session::Session;
use super::Item;
use crate::model::plan::{Consent, Plan, PlanId, Proof, Reason, Refusal, WarningCode};
use crate::model::shown;

/// The consent to each plan; the error names the item that it is about. Nothing is begun unless all of them are agreed to.
pub(super) fn of(session: &Session, agree: &Agree, items: &[Item]) -> Result<Vec<Consent>, (usize, Refusal)> {
    let plans: Vec<&Plan> = items.iter().filter_map(|item| Some(&item.planned.as_ref()?.plan)).collect();
    let ids = agree.yes.iter().filter(|id| !id.is_empty()).map(|id| id.parse());
    let ids: Vec<PlanId> = ids.collect::<Result<_, _>>().map_err(|refusal| (0, refusal))?;
    let mut accepted = agree.accept.clone();
    let proofs: Vec<Proof> = if agree.yes.is_empty() {
        if session.json || !terminal(session) {
            let text = "Nobody agreed to the plan, and there is no terminal to ask on.";
            return Err((0, Refusal::new(Reason::NotConfirmed, text)));
        }
        ask(session, &plans, &mut accepted).map_err(|refusal| (0, refusal))?;
        plans.iter().map(|plan| Proof::Dialog { shown: plan.id() }).collect()
    } else {
        plans.iter().map(|plan| proof(plan, &ids)).collect()
    };
    let consents: Vec<Consent> =
        proofs.into_iter().map(|proof| Consent { proof, accepted: accepted.clone() }).collect();
    for (at, (plan, consent)) in plans.iter().zip(&consents).enumerate() {
        (*plan).clone().confirm(consent).map_err(|refusal| (at, refusal))?;
    }
    Ok(consents)
}

fn proof(plan: &Plan, ids: &[PlanId]) -> Proof {
    match ids {
        [] => Proof::Yes,
        [first, ..] => Proof::YesTo(*ids.iter().find(|id| **id == plan.id()).unwrap_or(first)),
    }
}

fn terminal(session: &Session) -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal() && !session.env.is_dumb()
}

/// Asks on the terminal: for each warning that needs it its code, for what cannot be undone its name, else yes or no.
fn ask(session: &Session, plans: &[&Plan], accepted: &mut Vec<WarningCode>) -> Result<(), Refusal> {
    for warning in plans.iter().flat_map(|plan| &plan.content().warnings) {
        if !warning.code.needs_acceptance() || accepted.contains(&warning.code) {
            continue;
        }
        let code = warning.code.as_str();
        let question = format!("{} To go on all the same, type {code}: ", shown(&warning.text));
        if answer(session, &question) != code {
            return Err(Refusal::new(Reason::NotAccepted, format!("The warning {code} was not accepted.")));
        }
        accepted.push(warning.code);
    }
    let names = plans.iter().map(|plan| plan.content().preview.type_name.as_str()).filter(|name| !name.is_empty());
    let names: std::collections::BTreeSet<&str> = names.collect();
    for name in &names {
        let typed = answer(session, &format!("To do it, type the name {}: ", shown(name)));
        if typed != *name && typed != shown(name) {
            return Err(declined());
        }
    }
    if names.is_empty() {
        let what = if plans.len() == 1 { "Do it?".to_owned() } else { format!("Do all {}?", plans.len()) };
        let typed = answer(session, &format!("{what} [y/N] "));
        if !matches!(typed.to_ascii_lowercase().as_str(), "y" | "yes") {
            return Err(declined());
        }
    }
    Ok(())
}

fn declined() -> Refusal {
    Refusal::new(Reason::NotConfirmed, "The answer was no.")
}

/// One line from the terminal; the end of the input is an empty one. Ctrl-C ends at once: nothing is begun.
fn answer(session: &Session, question: &str) -> String {
    let (_, interrupt) = session.stop();
    interrupt.asking(true);
    output::complain(question);
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    interrupt.asking(false);
    if !matches!(read, Ok(1..)) {
        output::complain("\n");
        return String::new();
    }
    line.trim_end_matches(['\n', '\r']).to_owned()
}
