//! Whether a plan is one that can be journaled: what it renames and removes, and where that lies.

use std::path::{Path, PathBuf};

use crate::model::plan::{Draft, Move, Step};
use crate::model::shown_path;
use crate::ops::keep::{purging_of, stage_of};

/// The renames of a plan with those that mark what is removed for good, and what they need.
pub(super) struct Shape {
    /// Every rename: those of the plan, then the marks.
    pub(super) renames: Vec<Planned>,
    /// What is removed for good.
    pub(super) removes: Vec<PathBuf>,
    /// True when something is staged.
    pub(super) stages: bool,
    /// A folder outside the keeping folder that holds something of the save.
    pub(super) holder: PathBuf,
    /// Folders of the keeping folder that have to be there.
    pub(super) folders: Vec<PathBuf>,
}

/// One rename, before it is known what lies where.
#[derive(Clone, Debug)]
pub(super) enum Planned {
    Exchange { stage: PathBuf, live: PathBuf },
    Rename { from: PathBuf, to: PathBuf },
}

impl Shape {
    /// The error is a whole sentence. That paths lie where they may is checked with the record that is made of this.
    pub(super) fn of(draft: &Draft) -> Result<Self, String> {
        let keep = draft.keep.as_path();
        let above = keep.parent().ok_or("The keeping folder of the plan is not one.")?;
        let mut shape = Self {
            renames: Vec::new(),
            removes: Vec::new(),
            stages: false,
            holder: above.to_path_buf(),
            folders: vec![stage_of(keep, &draft.name)],
        };
        let mut phase = 0;
        for step in &draft.steps {
            let of = match step {
                Step::Copy { to: path, .. }
                | Step::Unpack { to: path, .. }
                | Step::Write { path, .. }
                | Step::Dress { path, .. } => {
                    if !path.starts_with(stage_of(keep, &draft.name)) {
                        return Err(format!("The plan would write to '{}', outside its stage.", shown_path(path)));
                    }
                    shape.stages = true;
                    0
                }
                Step::Exchange { .. } | Step::Place { .. } | Step::Park { .. } => 1,
                Step::Remove { .. } => 2,
            };
            if of < phase {
                return Err("The steps of the plan are not in an order that can be carried out.".to_owned());
            }
            phase = of;
            match (step.as_move(), step) {
                (Some(Move::Exchange { stage, live }), _) => {
                    shape.renames.push(Planned::Exchange { stage: stage.to_path_buf(), live: live.to_path_buf() });
                }
                (Some(Move::Rename { from, to }), _) => {
                    shape.renames.push(Planned::Rename { from: from.to_path_buf(), to: to.to_path_buf() });
                }
                // The stage goes anyway.
                (None, Step::Remove { path }) if !path.starts_with(stage_of(keep, &draft.name)) => {
                    shape.removes.push(path.clone());
                }
                _ => {}
            }
        }
        shape.find_folders(keep);
        for path in &shape.removes {
            shape.renames.push(Planned::Rename { from: path.clone(), to: purging_of(path) });
        }
        if shape.renames.is_empty() {
            return Err("The plan changes nothing.".to_owned());
        }
        Ok(shape)
    }

    fn find_folders(&mut self, keep: &Path) {
        let mut holder = None;
        for rename in &self.renames {
            let (paths, to) = match rename {
                Planned::Exchange { stage, live } => ([live, stage], None),
                Planned::Rename { from, to } => ([from, to], to.parent()),
            };
            for path in paths {
                if !path.starts_with(keep) {
                    holder = holder.or_else(|| path.parent().map(Path::to_path_buf));
                }
            }
            if let Some(folder) = to.filter(|folder| folder.starts_with(keep))
                && !self.folders.iter().any(|known| known == folder)
            {
                self.folders.push(folder.to_path_buf());
            }
        }
        if let Some(holder) = holder {
            self.holder = holder;
        }
    }
}
