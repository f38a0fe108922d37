//! Which builds of the game open a world of a version.

use crate::model::Shape;

/// Which builds open it, in words. Facts: the version table of `docs/formats/valheim.md`.
pub(super) fn opens_with(version: i32, shape: Shape) -> String {
    let since = match version {
        i32::MIN..=8 => return "no build that is known: the version is below the oldest one".to_owned(),
        9..=25 => "builds since before Early Access",
        26 | 27 => "every build since Early Access (2021)",
        28 => "builds since Hearth and Home (2021)",
        29 => "builds since Mistlands (2022)",
        30 | 31 => "builds since 2023",
        32 => "builds since mid-2023",
        33 => "builds since 0.217",
        34 => "builds since Ashlands (0.218)",
        35 => "builds since 0.218",
        36 => "builds since Bog Witch (0.219)",
        37 => "builds since 0.220",
        38 | 39 => "internal builds between 0.221 and 1.0",
        40 => "the public test 0.221.13 and builds since 1.0",
        41 => "builds since 1.0",
        42.. => return format!("a build newer than 1.0: world version {version} is newer than the known 41"),
    };
    match shape {
        Shape::ValheimPair if version < 40 => format!("{since}; a 1.0 build converts it at its next save, one way"),
        Shape::ValheimPair => since.to_owned(),
        Shape::ValheimFolder => format!("{since}; builds up to 0.221 cannot open the folder"),
    }
}

#[cfg(test)]
mod tests {
    use super::opens_with;
    use crate::model::Shape;

    #[test]
    fn a_converted_world_says_that_older_builds_cannot_open_it() {
        assert!(opens_with(41, Shape::ValheimFolder).contains("up to 0.221 cannot"));
        assert!(opens_with(36, Shape::ValheimPair).contains("converts it at its next save, one way"));
        assert!(opens_with(42, Shape::ValheimFolder).contains("newer than the known 41"));
    }
}
