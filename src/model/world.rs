use super::{Finding, Layer, LayerKind, Verdict};

/// What a save unit is to the game; the words of JSON's `kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorldKind {
    /// A world.
    World,
}

impl WorldKind {
    /// The word used in JSON; a closed list.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::World => "world",
        }
    }
}

/// One save unit as the game sees it, with every layer of it that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    /// `PROFILE/WORLD`, unique in a catalog.
    pub id: String,
    /// The name on disk, as text; show it through [`crate::model::shown`].
    pub name: String,
    /// What it is to the game.
    pub kind: WorldKind,
    /// Where in the profile it lies (`worlds_local`, `worlds`), when that needs saying.
    pub place: Option<String>,
    /// The name stored inside, where one could be read.
    pub inner_name: Option<String>,
    /// Which builds of the game open the live state, in words.
    pub opens_with: Option<String>,
    /// What concerns the world as a whole.
    pub findings: Vec<Finding>,
    /// Its layers: live first, then the newest first.
    pub layers: Vec<Layer>,
}

impl World {
    /// The layer that the game would load.
    pub fn live(&self) -> Option<&Layer> {
        self.layers.iter().find(|l| l.kind == LayerKind::Live)
    }

    /// The verdict of the live layer and the world's own findings; for a world without a live layer, of its best
    /// layer.
    pub fn verdict(&self) -> Verdict {
        let layers = match self.live() {
            Some(live) => live.verdict,
            None => self.layers.iter().map(|l| l.verdict).min().unwrap_or_default(),
        };
        match layers {
            // Nobody looked, so the findings of names alone must not make it look checked.
            Verdict::Unchecked => Verdict::Unchecked,
            looked => looked.max(Verdict::from_findings(&self.findings)),
        }
    }

    /// Sum of the sizes of all layers, in bytes.
    pub fn bytes(&self) -> u64 {
        self.layers.iter().map(|l| l.bytes).sum()
    }
}
