use crate::games::Game;
use crate::model::Heard;

/// So many different things are told of what is read at once; a log that holds more is no log of a server.
const MOST: usize = 256;

/// Turns lines into what they say, and remembers which world is spoken of.
pub(super) struct Ear {
    game: &'static dyn Game,
    /// The world that the server loaded last.
    world: Option<String>,
    /// What was heard and not taken yet, and how many more lines said the same.
    heard: Vec<(Heard, usize)>,
}

impl Ear {
    pub(super) fn new(game: &'static dyn Game) -> Self {
        Self { game, world: None, heard: Vec::new() }
    }

    pub(super) fn line(&mut self, line: &str) {
        let Some(mut heard) = self.game.hears(line) else { return };
        match &heard.world {
            Some(world) => self.world = Some(world.clone()),
            None => heard.world.clone_from(&self.world),
        }
        // A load removes files by the hundred: once is news.
        let same = |(earlier, _): &&mut (Heard, usize)| {
            (earlier.event, &earlier.world, earlier.generation) == (heard.event, &heard.world, heard.generation)
        };
        if let Some((_, more)) = self.heard.iter_mut().find(same) {
            *more += 1;
        } else if self.heard.len() < MOST {
            self.heard.push((heard, 0));
        }
    }

    /// What was heard since the last time, in the order in which it was first said.
    pub(super) fn take(&mut self) -> Vec<(Heard, usize)> {
        std::mem::take(&mut self.heard)
    }
}

#[cfg(test)]
mod tests {
    use super::Ear;
    use crate::games::by_id;

    #[test]
    fn what_a_line_says_is_of_the_world_that_was_loaded_and_the_same_thing_is_told_once() {
        let mut ear = Ear::new(by_id("valheim").unwrap());
        for line in [
            "ZNet.LoadWorld: Midgard (Midgard), save number 30",
            "ZDOMan.LoadChunks - Starting to load 38.757 zdos from 4 Chunks.",
            "Removing orphan CHUNK file: 00_00__0_1.chunk",
            "Removing orphan save file _main.29.db2",
            "Removing orphan CHUNK file: 00_00__0_2.chunk",
            "Got connection SteamID 1",
            "Removing orphan CHUNK file: 00_00__0_3.chunk",
        ] {
            ear.line(line);
        }
        let told: Vec<_> =
            ear.take().into_iter().map(|(h, more)| (h.event, h.world.unwrap_or_default(), more)).collect();
        let midgard = |event, more| (event, "Midgard".to_owned(), more);
        assert_eq!(
            told,
            [
                midgard("world-loading", 0),
                midgard("objects-loading", 0),
                midgard("orphan-chunk-removed", 2),
                midgard("orphan-save-removed", 0)
            ]
        );
        assert!(ear.take().is_empty());
    }
}
