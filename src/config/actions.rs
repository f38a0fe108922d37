//! Everything that a key can do, in one table: the key map, the help, the hint line, the palette and the
//! documentation are made from it.

use std::fmt::Write as _;

/// Where the focus is when a key arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Context {
    /// The tree of saves.
    Tree,
    /// The details of the selected node.
    Details,
    /// The map of the selected node.
    Map,
    /// Two layers side by side.
    Compare,
    /// What was done before.
    History,
    /// A line that takes text: the filter, the search in the help, the palette.
    Entry,
}

impl Context {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Tree, Self::Details, Self::Map, Self::Compare, Self::History, Self::Entry];

    /// The word for a person.
    pub fn word(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Details => "details",
            Self::Map => "map",
            Self::Compare => "comparison",
            Self::History => "history",
            Self::Entry => "text line",
        }
    }
}

/// Under which heading an action stands in the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// Moving about.
    Moving,
    /// Looking closer.
    Looking,
    /// Finding things.
    Finding,
    /// Changing saves.
    Changing,
    /// The program itself.
    Program,
}

impl Group {
    /// The heading.
    pub fn word(self) -> &'static str {
        match self {
            Self::Moving => "Moving",
            Self::Looking => "Looking",
            Self::Finding => "Finding",
            Self::Changing => "Changing",
            Self::Program => "Program",
        }
    }
}

/// One action of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// What it does.
    pub action: Action,
    /// The name in the configuration and the palette; stable.
    pub id: &'static str,
    /// The built-in keys.
    pub keys: &'static [&'static str],
    /// Where it applies.
    pub contexts: &'static [Context],
    /// One or two words for the hint line; empty: not shown there.
    pub hint: &'static str,
    /// One line of help.
    pub doc: &'static str,
    /// The heading in the help.
    pub group: Group,
    /// It changes saves: gone in read-only mode, never on a Ctrl key, never without a question.
    pub operation: bool,
}

macro_rules! actions {
    ($($name:ident $id:literal $keys:tt $contexts:ident $hint:literal $group:ident $operation:literal $doc:literal;)*) => {
        /// What a key can do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Action {
            $(#[doc = $doc] $name,)*
        }

        /// The table, in the order of the help; the hint line shows the first rows that have a hint.
        pub const ACTIONS: &[Row] = &[$(Row {
            action: Action::$name,
            id: $id,
            keys: &$keys,
            contexts: $contexts,
            hint: $hint,
            doc: $doc,
            group: Group::$group,
            operation: $operation,
        },)*];
    };
}

const PANES: &[Context] = &[Context::Tree, Context::Details, Context::Map];
const TREE: &[Context] = &[Context::Tree];
const MAP: &[Context] = &[Context::Map];
const SCROLLED: &[Context] = &[Context::Tree, Context::Details, Context::Map, Context::Compare, Context::History];
const PAST: &[Context] = &[Context::Tree, Context::Details, Context::Map, Context::History];
const NOT_TEXT: &[Context] = SCROLLED;
const EVERYWHERE: &[Context] = Context::ALL;
const ENTRY: &[Context] = &[Context::Entry];

actions! {
    Down "down" ["j", "Down"] SCROLLED "move" Moving false "Go down; on the map, go south.";
    Up "up" ["k", "Up"] SCROLLED "" Moving false "Go up; on the map, go north.";
    Right "right" ["l", "Right"] SCROLLED "" Moving false "Open the node or go into it; on the map, go east.";
    Left "left" ["h", "Left"] SCROLLED "" Moving false "Close the node or go to its parent; on the map, go west.";
    Toggle "open" ["Enter"] TREE "open" Moving false "Open or close the node.";
    First "first" ["g", "Home"] SCROLLED "" Moving false "Go to the first line.";
    Last "last" ["G", "End"] SCROLLED "" Moving false "Go to the last line.";
    PageDown "page-down" ["PageDown", "Ctrl-f"] SCROLLED "" Moving false "Go down by a page.";
    PageUp "page-up" ["PageUp", "Ctrl-b"] SCROLLED "" Moving false "Go up by a page.";
    HalfDown "half-down" ["Ctrl-d"] SCROLLED "" Moving false "Go down by half a page.";
    HalfUp "half-up" ["Ctrl-u"] SCROLLED "" Moving false "Go up by half a page.";
    FocusNext "focus-next" ["Tab"] PANES "pane" Moving false "Go to the next pane: tree, details, map.";
    FocusPrevious "focus-previous" ["Shift-Tab"] PANES "" Moving false "Go to the pane before.";
    Verify "verify" ["v"] PANES "verify" Looking false "Check every byte of the layer now; on a world, of all its layers.";
    Compare "compare" ["="] PANES "compare" Looking false "Take this layer as one side of a comparison; on a second one, compare.";
    Map "map" ["m"] PANES "map" Looking false "Show or hide the map.";
    ZoomIn "zoom-in" ["+"] MAP "closer" Looking false "Look closer at the map.";
    ZoomOut "zoom-out" ["-"] MAP "farther" Looking false "Look at more of the map.";
    ZoomReset "zoom-reset" ["0"] MAP "all" Looking false "Look at the whole map again.";
    CopyPath "copy-path" ["y"] PANES "" Looking false "Send the path to the clipboard of your terminal.";
    Filter "filter" ["/"] PANES "filter" Finding false "Show only what matches a text: names, kinds, rules, hidden pairs.";
    NextMatch "next-match" ["n"] PANES "" Finding false "Go to the next match of the filter.";
    PreviousMatch "previous-match" ["N"] PANES "" Finding false "Go to the match before.";
    Sort "sort" ["s"] PANES "sort" Finding false "Sort by name, age or size.";
    Rescan "rescan" ["R", "F5"] PANES "" Finding false "Look at the disk again.";
    Mark "mark" ["Space"] TREE "mark" Changing true "Mark this line for one question about several, or take the mark away.";
    Restore "restore" ["r"] PANES "restore" Changing true "Put this layer in the place of the live world.";
    Copy "copy" ["c"] PANES "copy" Changing true "Copy a world or a layer to another place or name.";
    Rename "rename" ["F2"] PANES "" Changing true "Give a world another name.";
    Backup "backup" ["b"] PANES "back up" Changing true "Make a safety copy of the live world, or of those that are marked.";
    Delete "delete" ["d"] PANES "delete" Changing true "Move a world, a layer, or all that is marked to the recycle folder.";
    Undo "undo" ["u"] PAST "undo" Changing true "Take back the last operation; in the history, the chosen one.";
    History "history" ["U"] PANES "" Changing false "Show what was done, and what taking it back would do.";
    Purge "purge" ["P"] PAST "purge" Changing true "Empty the recycle folder for good; in the history, of one operation.";
    Theme "theme" ["t"] PANES "" Program false "Take the next theme.";
    Palette "palette" [":"] PANES "commands" Program false "Look an action up by its name and run it.";
    Help "help" ["?"] PANES "help" Program false "Show the keys; type to search.";
    Redraw "redraw" ["Ctrl-l"] NOT_TEXT "" Program false "Paint the whole screen again.";
    Close "close" ["Esc"] EVERYWHERE "" Program false "Close what is on top, stop checking, or clear the filter.";
    Suspend "suspend" ["Ctrl-z"] EVERYWHERE "" Program false "Go to the background; fg comes back.";
    Interrupt "interrupt" ["Ctrl-c"] EVERYWHERE "" Program false "Close what is on top, else quit.";
    Quit "quit" ["q"] NOT_TEXT "quit" Program false "Quit; in a comparison, close it.";
    Accept "accept" ["Enter"] ENTRY "keep" Finding false "Keep the filter, or run the selected command.";
    EntryDown "entry-down" ["Down", "Ctrl-n"] ENTRY "" Finding false "Go down in the list under the text.";
    EntryUp "entry-up" ["Up", "Ctrl-p"] ENTRY "" Finding false "Go up in the list under the text.";
    EntryPageDown "entry-page-down" ["PageDown"] ENTRY "" Finding false "Go down by a page in the list under the text.";
    EntryPageUp "entry-page-up" ["PageUp"] ENTRY "" Finding false "Go up by a page in the list under the text.";
    EraseChar "erase" ["Backspace", "Ctrl-h"] ENTRY "" Finding false "Take away the last character.";
    EraseWord "erase-word" ["Ctrl-w"] ENTRY "" Finding false "Take away the last word.";
    EraseAll "erase-all" ["Ctrl-u"] ENTRY "" Finding false "Take away the whole text.";
}

impl Action {
    /// Its row in the table.
    pub fn row(self) -> Option<&'static Row> {
        ACTIONS.iter().find(|row| row.action == self)
    }
}

/// The table of built-in keys as Markdown, for `worldkeep keys` and the documentation.
pub fn keys_markdown() -> String {
    let mut out = String::from("| action | keys | where | what it does |\n|---|---|---|---|\n");
    for row in ACTIONS {
        let keys: Vec<String> = row.keys.iter().map(|key| format!("`{key}`")).collect();
        let places: Vec<&str> = if row.contexts.len() == Context::ALL.len() {
            vec!["everywhere"]
        } else {
            row.contexts.iter().map(|context| context.word()).collect()
        };
        let keys = if keys.is_empty() { "–".to_owned() } else { keys.join(" ") };
        let _ = writeln!(out, "| {} | {keys} | {} | {} |", row.id, places.join(", "), row.doc);
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{ACTIONS, keys_markdown};

    #[test]
    fn ids_are_distinct_words_and_every_action_has_a_sentence() {
        let ids: HashSet<_> = ACTIONS.iter().map(|row| row.id).collect();
        assert_eq!(ids.len(), ACTIONS.len());
        for row in ACTIONS {
            assert!(row.id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{}", row.id);
            assert!(row.doc.ends_with('.') && row.doc.len() < 80, "{}", row.id);
            assert!(!row.contexts.is_empty(), "{}", row.id);
        }
    }

    #[test]
    fn the_documentation_has_a_line_for_each_action() {
        let text = keys_markdown();
        assert_eq!(text.lines().count(), ACTIONS.len() + 2);
        assert!(text.contains("| verify | `v` | tree, details, map |"));
        assert!(text.contains("| purge | `P` | tree, details, map, history |"));
    }
}
