//! A deeper look at one layer.

use super::Request;
use super::walk::pause;
use crate::games::{self, Game};
use crate::model::{Cancel, Checked, Code, Container, Depth, Facts, Finding, GameId, Layer, Verdict};
use crate::raster::Chart;
use crate::store::{self, Effort, Store};

/// Checks one layer at L2.
///
/// A live half that is missing is looked at once more after the game's settle time, since a save may be taking its
/// place this very moment. When cancelled, the answer is worthless and must be thrown away.
pub fn check(request: &Request, game: GameId, layer: &Layer, cancel: &Cancel) -> Checked {
    let (game, store) = match open(request, game, layer, cancel) {
        Ok(opened) => opened,
        Err(finding) => return unread(*finding),
    };
    let context = request.context(cancel);
    let first = game.check(store.as_ref(), layer, &context);
    let mut seen = layer.clone();
    seen.apply(first.clone());
    // A half that the scan did not find either was waited for then.
    let lost = game.unsettled(&seen) && !game.unsettled(layer);
    if store.container() == Container::Folder && lost && pause(game.settle_time(), cancel) {
        return game.check(store.as_ref(), layer, &context);
    }
    first
}

/// What a map of one layer shows.
pub fn chart(request: &Request, game: GameId, layer: &Layer, cancel: &Cancel) -> Result<Chart, Box<Finding>> {
    let (game, store) = open(request, game, layer, cancel)?;
    game.chart(store.as_ref(), layer, &request.context(cancel))
}

type Opened = (&'static dyn Game, Box<dyn Store>);

fn open(request: &Request, game: GameId, layer: &Layer, cancel: &Cancel) -> Result<Opened, Box<Finding>> {
    let game = games::by_id(game).ok_or_else(|| {
        Box::new(Finding::error(Code::UnsupportedArchive, format!("The game {game} is not known here."), ""))
    })?;
    let store = store::open_within(&layer.source.outer, &request.ceilings, &Effort::any(cancel))
        .map_err(|error| Box::new(error.finding()))?;
    Ok((game, store))
}

fn unread(finding: Finding) -> Checked {
    let findings = vec![finding];
    Checked {
        verdict: Verdict::from_findings(&findings),
        depth: Depth::Full,
        findings,
        facts: Facts::default(),
        restorable: false,
        reason: Some("It could not be opened.".to_owned()),
        moved: None,
    }
}
