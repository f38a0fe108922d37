//! An outline becomes a plan: where it is staged, what is parked where, and whether it can be done here at all.
//!
//! Everything that would stop the operation in the middle is looked for here, before anything is touched: a server that runs,
//! a mount or a link where a rename would not do what it seems to, a folder that we may not write, too little space, something
//! in a save that is never copied.

#[cfg(target_os = "linux")]
mod names;
#[cfg(target_os = "linux")]
mod places;
#[cfg(target_os = "linux")]
mod rights;
#[cfg(target_os = "linux")]
mod room;
#[cfg(target_os = "linux")]
mod sources;
#[cfg(target_os = "linux")]
mod steps;

use super::setting::Setting;
use crate::model::Server;
#[cfg(target_os = "linux")]
use crate::model::ServerState;
use crate::model::outline::Outline;
#[cfg(target_os = "linux")]
use crate::model::plan::{Draft, Warning, WarningCode};
use crate::model::plan::{Plan, Reason, Refusal};

/// The plan, or why it cannot be carried out here. Looks at the disk and changes nothing.
#[cfg(target_os = "linux")]
pub fn draft(outline: Outline, server: Option<&Server>, setting: &Setting) -> Result<Plan, Refusal> {
    if setting.read_only {
        return Err(Refusal::new(Reason::ReadOnly, "Changes are switched off."));
    }
    let mut warnings = outline.warnings.clone();
    warnings.extend(of_server(server)?);
    places::apart(&outline)?;
    places::check(&outline, setting)?;
    rights::check(&outline)?;
    let places = places::find(&outline)?;
    let sources = sources::look(&outline)?;
    let mut witnesses = sources.witnesses.clone();
    names::witness(&outline, &mut witnesses)?;
    let name = names::name(&outline, &places.keep, &witnesses)?;
    let steps = steps::steps(&outline, &places.keep, &name)?;
    witnesses.extend(names::not_yet(&places.keep, &name));
    let space = room::check(&sources, &places)?;
    warnings.extend(places::of_file_system(&outline, &places));
    warnings.extend(places::unseen(setting));
    warnings.extend(rights::not_kept(&outline)?);
    warnings.extend(rights::attributes_not_kept(&sources));
    let mut preview = outline.preview;
    if let Some(parked) = steps.parked {
        preview.lines.push(("kept in".to_owned(), crate::model::shown_path(&parked)));
    }
    let draft = Draft {
        operation: outline.operation,
        subject: outline.subject,
        name,
        undoes: None,
        restored: outline.restored,
        keep: places.keep,
        steps: steps.steps,
        preview,
        traces: outline.traces,
        bytes: sources.bytes,
        space,
        warnings,
        witnesses,
    };
    Ok(draft.seal())
}

/// Refuses: operations are not proven on this system.
#[cfg(not(target_os = "linux"))]
pub fn draft(_: Outline, _: Option<&Server>, _: &Setting) -> Result<Plan, Refusal> {
    Err(Refusal::new(Reason::Platform, "Operations are not proven on this system."))
}

/// What a server means for the operation.
#[cfg(target_os = "linux")]
fn of_server(server: Option<&Server>) -> Result<Vec<Warning>, Refusal> {
    let Some(server) = server else { return Ok(Vec::new()) };
    let restarts = server.restarts.join(" ");
    let reasons = server.reasons.join(" ");
    let mut warnings = Vec::new();
    match server.state {
        ServerState::Running => {
            let words = [format!("A server uses this save. {reasons}").trim().to_owned(), restarts];
            return Err(Refusal::new(Reason::Running, words.join(" ").trim()));
        }
        ServerState::Unknown => {
            let text = format!("Whether a server uses this save could not be told. {reasons}").trim().to_owned();
            warnings.push(Warning { code: WarningCode::LivenessUnknown, text });
        }
        ServerState::Stopped => {}
    }
    if !restarts.is_empty() {
        warnings.push(Warning { code: WarningCode::Restarts, text: restarts });
    }
    Ok(warnings)
}
