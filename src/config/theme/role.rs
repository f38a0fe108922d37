macro_rules! roles {
    ($($name:ident $id:literal $($fallback:ident)?, $meaning:literal;)*) => {
        /// What something on the screen means; a theme gives meanings a look.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Role {
            $(#[doc = $meaning] $name,)*
        }

        impl Role {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The name in a theme file.
            pub fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)* }
            }

            /// What it is for, in one sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)* }
            }

            /// The meaning whose look it takes when a theme says nothing about it; none for plain text.
            pub fn fallback(self) -> Option<Self> {
                match self { $(Self::$name => roles!(@some $($fallback)?),)* }
            }
        }
    };
    (@some) => { None };
    (@some $fallback:ident) => { Some(Self::$fallback) };
}

roles! {
    Text "text", "Plain text.";
    Muted "muted" Text, "Text that may be overlooked.";
    Title "title" Text, "The title of a pane.";
    Border "border" Muted, "The frame of a pane.";
    BorderFocus "border-focus" Title, "The frame of the pane with the focus.";
    Selection "selection" Text, "The selected line.";
    Mark "mark" Title, "A line that was chosen for a comparison.";
    Match "match" Title, "What matches the filter.";
    Differ "differ" Warn, "What differs in a comparison.";
    Live "live" Text, "The state that the game would load.";
    Ok "ok" Text, "A whole save.";
    Warn "warn" Text, "A whole save with notes, and warnings.";
    Danger "danger" Warn, "A damaged save, and errors.";
    Unfinished "unfinished" Muted, "A save that was never finished.";
    Unsupported "unsupported" Warn, "A save of an unknown version.";
    Unreadable "unreadable" Warn, "A save that may not be read.";
    HintKey "hint-key" Title, "A key in the hint line.";
    HintText "hint-text" Muted, "The words beside a key.";
    MapVoid "map-void" Text, "Outside the world.";
    MapUnknown "map-unknown" Text, "Inside the world, never generated.";
    MapGenerated "map-generated" Muted, "Generated land.";
    MapBuilt "map-built" Warn, "Land with things that players built.";
    MapLocation "map-location" Muted, "A location that players came near.";
    MapStart "map-start" Title, "Where players start.";
    MapPortal "map-portal" Title, "A portal.";
    MapBed "map-bed" Title, "A bed.";
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::Role;

    #[test]
    fn names_are_distinct_and_every_chain_of_fallbacks_ends_at_plain_text() {
        let names: HashSet<_> = Role::ALL.iter().map(|role| role.id()).collect();
        assert_eq!(names.len(), Role::ALL.len());
        for role in Role::ALL {
            let mut at = *role;
            let mut steps = 0;
            while let Some(next) = at.fallback() {
                at = next;
                steps += 1;
                assert!(steps < Role::ALL.len(), "{} runs in a circle", role.id());
            }
            assert_eq!(at, Role::Text);
        }
    }
}
