use std::path::{Path, PathBuf};

use super::{Config, Environment};
use crate::model::{Found, GameId};
use crate::scan::{Memory, Request, Root};

/// What a scan looks at.
///
/// `paths` are looked at instead of everything else; `roots` come in addition to the configured profiles. The usual
/// places are looked at only when neither was given.
pub fn request(
    config: &Config,
    env: &Environment,
    paths: &[PathBuf],
    roots: &[PathBuf],
    game: Option<GameId>,
) -> Request {
    let argument = |path: &PathBuf| Root { path: absolute(path, env), found: Found::Argument, game, name: None };
    let mut list: Vec<Root> = paths.iter().chain(roots).map(argument).collect();
    if paths.is_empty() {
        list.extend(config.profiles.iter().filter(|p| game.is_none() || p.game.is_none() || p.game == game).map(|p| {
            Root { path: p.path.clone(), found: Found::Configured, game: p.game.or(game), name: Some(p.name.clone()) }
        }));
    }
    let discover = config.discover && paths.is_empty() && roots.is_empty();
    Request {
        roots: list,
        discover: discover.then(|| env.places()),
        game,
        clock: config.clock,
        zone: Some(config.zone.clone()),
        ceilings: config.ceilings.clone(),
        memory: Memory::default(),
    }
}

/// An absolute path, so that messages and ids do not depend on where a command was started.
fn absolute(path: &Path, env: &Environment) -> PathBuf {
    let joined = match &env.current_dir {
        Some(dir) if path.is_relative() => dir.join(path),
        _ => path.to_path_buf(),
    };
    // Takes out `.` and doubled separators; `..` stays, since a link may stand before it.
    let plain: PathBuf = joined.components().collect();
    if plain.components().any(|part| part == std::path::Component::ParentDir) {
        return plain.canonicalize().unwrap_or(plain);
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::request;
    use crate::config::{Config, ConfiguredProfile, Environment};
    use crate::model::Found;

    fn looked_at(paths: &[&str], roots: &[&str], game: Option<&'static str>) -> (Vec<(String, Found)>, bool) {
        let profile = |name: &str, game| ConfiguredProfile {
            name: name.into(),
            path: format!("/srv/{name}").into(),
            game,
            server_log: None,
        };
        let config = Config { profiles: vec![profile("a", None), profile("b", Some("other"))], ..Config::default() };
        let env = Environment { current_dir: Some("/cur".into()), ..Environment::default() };
        let list = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        let request = request(&config, &env, &list(paths), &list(roots), game);
        let roots = request.roots.iter().map(|r| (r.path.display().to_string(), r.found)).collect();
        (roots, request.discover.is_some())
    }

    #[test]
    fn paths_replace_everything_and_roots_come_in_addition() {
        let configured = |name: &str| (format!("/srv/{name}"), Found::Configured);
        let argument = |path: &str| (path.to_owned(), Found::Argument);
        assert_eq!(looked_at(&[], &[], None), (vec![configured("a"), configured("b")], true));
        assert_eq!(looked_at(&["./x/"], &[], None), (vec![argument("/cur/x")], false));
        assert_eq!(looked_at(&[], &["/r"], None), (vec![argument("/r"), configured("a"), configured("b")], false));
        assert_eq!(looked_at(&["x"], &["/r"], None), (vec![argument("/cur/x"), argument("/r")], false));
    }

    #[test]
    fn a_profile_of_another_game_is_left_out() {
        assert_eq!(looked_at(&[], &[], Some("valheim")), (vec![("/srv/a".to_owned(), Found::Configured)], true));
    }
}
