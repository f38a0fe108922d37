//! Looks at a store as the browser does: every world at L1, then every layer at L2.

use std::path::PathBuf;

use worldkeep::games::{self, Context};
use worldkeep::model::{Code, Finding, Layer, LayerKind, Severity, Verdict, World, shown};
use worldkeep::store::Store;

/// What was found in a store.
pub(crate) struct Seen {
    /// What concerns the place as a whole.
    pub(crate) findings: Vec<Finding>,
    /// Every world, its layers checked at L2.
    pub(crate) worlds: Vec<World>,
}

impl Seen {
    /// A world by its name.
    pub(crate) fn world(&self, name: &str) -> Option<&World> {
        self.worlds.iter().find(|world| world.name == name)
    }

    /// The live layer of a world.
    pub(crate) fn live(&self, name: &str) -> Option<&Layer> {
        self.world(name)?.live()
    }

    /// The first layer of a kind.
    pub(crate) fn layer(&self, name: &str, kind: LayerKind) -> Option<&Layer> {
        self.world(name)?.layers.iter().find(|layer| layer.kind == kind)
    }

    /// Every finding of the place, the worlds and the layers.
    pub(crate) fn all_findings(&self) -> impl Iterator<Item = &Finding> {
        let worlds = self
            .worlds
            .iter()
            .flat_map(|world| world.findings.iter().chain(world.layers.iter().flat_map(Layer::all_findings)));
        self.findings.iter().chain(worlds)
    }

    /// The greatest verdict of all layers and worlds.
    pub(crate) fn verdict(&self) -> Verdict {
        let layers = self.worlds.iter().flat_map(|world| &world.layers).map(|layer| layer.verdict);
        layers.chain(self.worlds.iter().map(World::verdict)).max().unwrap_or_default()
    }
}

/// Looks at everything, maps included.
pub(crate) fn look(store: &dyn Store, context: &Context) -> Seen {
    look_at(store, context, true)
}

/// Looks at everything, with or without maps.
pub(crate) fn look_at(store: &dyn Store, context: &Context, maps: bool) -> Seen {
    let game = games::by_id("valheim").unwrap();
    let mut roots = game.roots(store, context, &mut Vec::new());
    if roots.is_empty() {
        // A place that a person names is looked at even when nothing in it looks like a save root.
        roots.push(PathBuf::new());
    }
    let (mut findings, mut entries) = (Vec::new(), Vec::new());
    for root in roots {
        let roster = game.roster(store, &root, context);
        findings.extend(roster.findings);
        entries.extend(roster.entries);
    }
    let mut worlds = Vec::new();
    for entry in &entries {
        let mut world = game.survey(store, "p", entry, context);
        for layer in &mut world.layers {
            let checked = game.check(store, layer, context);
            layer.apply(checked);
            if maps && let Err(finding) = game.chart(store, layer, context) {
                must_be_readable(&finding);
            }
        }
        worlds.push(world);
    }
    Seen { findings, worlds }
}

/// The codes of damage at a byte of a file, which a finding must therefore name.
const AT_A_BYTE: [Code; 10] = [
    Code::Truncated,
    Code::BadLength,
    Code::OverCeiling,
    Code::BadValue,
    Code::BadText,
    Code::TrailingBytes,
    Code::BadChecksum,
    Code::BadCompression,
    Code::SectorMismatch,
    Code::PositionRange,
];

/// What is true of every answer, whatever the bytes were: damage has a reason and a place, and nothing that is said
/// could steer a terminal.
pub(crate) fn must_make_sense(seen: &Seen) {
    must_make_sense_but(seen, &[]);
}

/// The same, where findings of some codes may concern a file as a whole.
pub(crate) fn must_make_sense_but(seen: &Seen, whole_file: &[Code]) {
    for finding in seen.all_findings() {
        must_be_readable(finding);
        let at_a_byte = AT_A_BYTE.contains(&finding.code) && !whole_file.contains(&finding.code);
        if finding.severity == Severity::Error && at_a_byte {
            assert!(finding.place.file.is_some() && finding.place.offset.is_some(), "no place: {finding:?}");
        }
    }
    for world in &seen.worlds {
        for layer in &world.layers {
            let texts = [Some(&layer.rule), layer.reason.as_ref()];
            assert!(texts.into_iter().flatten().all(|text| shown(text) == *text), "{layer:?}");
            let errors: Vec<_> = layer.all_findings().filter(|finding| finding.severity == Severity::Error).collect();
            match layer.verdict {
                Verdict::Damaged => {
                    assert!(
                        errors.iter().any(|finding| finding.place.file.is_some()),
                        "damage without a file: {layer:?}"
                    );
                }
                Verdict::Unsupported | Verdict::Unreadable | Verdict::Unfinished => {
                    assert!(!errors.is_empty(), "no reason: {layer:?}");
                }
                Verdict::Unchecked => unreachable!("not checked: {layer:?}"),
                Verdict::Sound | Verdict::Notes => assert!(errors.is_empty(), "whole with an error: {layer:?}"),
            }
        }
    }
}

fn must_be_readable(finding: &Finding) {
    let texts = [&finding.text, &finding.next].into_iter().chain(&finding.place.file).chain(&finding.place.chunk);
    for text in texts {
        assert_eq!(shown(text), *text, "{finding:?}");
    }
    assert!(!finding.text.is_empty(), "{finding:?}");
}
