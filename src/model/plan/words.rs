use std::fmt;

macro_rules! words {
    ($(#[$about:meta])* $kind:ident { $($name:ident $text:literal $extra:expr, $meaning:literal;)* } $(#[$doc:meta])* $method:ident -> $result:ty) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $kind {
            $(#[doc = $meaning] $name,)*
        }

        impl $kind {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The word used in JSON and on the command line.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// What it means, in one sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)* }
            }

            $(#[$doc])*
            pub fn $method(self) -> $result {
                match self { $(Self::$name => $extra,)* }
            }
        }
    };
}

words! {
    /// What a person should read before agreeing. The list is closed.
    WarningCode {
        LivenessUnknown "liveness-unknown" true, "Whether a server uses this save could not be told.";
        SourceNotWhole "source-not-whole" true, "The state that would be used is not whole.";
        FormatUnproven "format-unproven" false, "No real file has proven here that this format is read rightly.";
        OtherWorld "other-world" false, "The state that would be used is of another world.";
        ConvertsOnSave "converts-on-save" false, "The game converts this world at its next save, one way.";
        OnlyInLive "only-in-live" false, "Files of the live world are not in the state that would be used, and would be parked.";
        OlderBuilds "older-builds" false, "Older builds of the game cannot open the result.";
        Adopts "adopts-layers" false, "A new world of this name would take the layers that stay for its own, and prune them.";
        BetterCopy "better-copy" true, "The live world is broken in a way that this operation could make worse; a copy under a new name is safer.";
        ChangedSince "changed-since" false, "What an undo would take away has changed since the operation.";
        NamesDiffer "names-differ" false, "The name inside is not the name on disk.";
        Restarts "restarts" false, "Something may start the server again while this runs.";
        NotKept "not-kept" false, "Something about the files cannot be kept here, such as their owner.";
    }
    /// True when it has to be accepted by name before the plan can be confirmed.
    needs_acceptance -> bool
}

words! {
    /// Why nothing is done. The list is closed.
    Reason {
        Running "running" "Stop the server, and ask again.", "A server uses this save.";
        ReadOnly "read-only" "Start again without --read-only.", "Changes are switched off.";
        NotConfirmed "not-confirmed" "Read the plan with --dry-run, then confirm it with --yes or --yes=ID.", "Nobody agreed to the plan.";
        NotAccepted "not-accepted" "Read the warning; accept it with --accept and its code if it is no obstacle.", "A warning of the plan was not accepted by name.";
        OtherPlan "other-plan" "Read the plan as it is now, and confirm its id.", "The plan that was agreed to is not this one.";
        Stale "stale" "Ask again: the plan is computed anew from what is there now.", "What the plan was computed from has changed.";
        NoFinishedSave "no-finished-save" "Choose a layer that holds a finished save.", "The state that would be used holds no finished save.";
        NameTaken "name-taken" "Choose another name.", "Something of that name is already there.";
        NoSpace "no-space" "Free space on that file system, for instance with purge, and ask again.", "There is too little free space.";
        NoStage "no-stage" "Move the save to a file system with a folder that we may write and no game scans.", "There is no place for the stage on the save's file system.";
        NotPermitted "not-permitted" "Run as the user who owns the save.", "We may not write there.";
        Mounted "mounted" "Run this where the save is an ordinary folder: stop the container, or name the folder behind the mount.", "The save is a mount point, or is mounted elsewhere, so that a rename would not be seen by the server.";
        BadName "bad-name" "Choose a name without those characters.", "The game cannot use that name.";
        SamePlace "same-place" "Choose another name or another place.", "The copy would be the save itself.";
        NotRestorable "not-restorable" "Choose another layer.", "This is not a state that could be put back.";
        SourceGone "source-gone" "List the saves again.", "What would be used is not there any more, or cannot be read.";
        NothingToUndo "nothing-to-undo" "Look at `worldkeep history`.", "There is no operation that could be taken back.";
        NewerJournal "newer-journal" "Use that newer version to finish it.", "An operation of a newer version of worldkeep was interrupted here.";
        Unfinished "unfinished" "Run `worldkeep recover`, and follow what it says.", "An earlier operation was interrupted here and could not be finished by itself.";
        NotSupported "not-supported" "Name a world or a layer that this operation is for.", "This operation does not apply to that.";
        Busy "busy" "Wait until the other operation is done.", "Another operation is being run.";
        NotCopyable "not-copyable" "Take it out of the save, or put a plain file in its place.", "The save holds something that is never copied, such as a pipe or a link that leads out.";
        Platform "platform" "Run worldkeep on Linux for operations.", "Operations are not proven on this system.";
    }
    /// What to do about it, in one sentence.
    next -> &'static str
}

impl WarningCode {
    /// True for what is seen of servers, whose words may change without a change of the plan.
    pub fn is_of_the_moment(self) -> bool {
        matches!(self, Self::LivenessUnknown | Self::Restarts)
    }
}

/// One warning of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Which.
    pub code: WarningCode,
    /// In whole sentences, safe to print.
    pub text: String,
}

/// Why nothing is done, with the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why, for scripts.
    pub reason: Reason,
    /// Why, for people: which file, which process, how many bytes; safe to print.
    pub text: String,
}

impl Refusal {
    /// A refusal.
    pub fn new(reason: Reason, text: impl Into<String>) -> Self {
        Self { reason, text: text.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.text, self.reason.next())
    }
}

impl std::error::Error for Refusal {}
