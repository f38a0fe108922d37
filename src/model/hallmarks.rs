use std::fmt;

/// What tells one state of a world from another, and one world from another: little enough to be written down with an
/// operation, so that a later look can say whether the game went on from it or began anew.
///
/// A field is none, and an identity empty, where it could not be read or the game has no such thing; what is unknown on
/// either side is never taken for a difference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hallmarks {
    /// What stays the same as long as it is the same world, such as its seed: the words for a person and the value.
    /// Untrusted.
    pub identity: Vec<(String, String)>,
    /// The time in the game, in minutes of the game; it only grows.
    pub clock: Option<i64>,
    /// The number of objects.
    pub objects: Option<u64>,
    /// The number of the save, where the game counts them.
    pub generation: Option<u64>,
}

/// What became of a state that was put in place, by its hallmarks then and those of what lies there now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Went {
    /// It lies there as it was put: the game has not saved since.
    Untouched,
    /// The game saved, and it is the same world.
    On,
    /// The game saved something that is not what came of it; here why, never empty, each the end of a sentence.
    Astray(Vec<String>),
}

/// Of a world with fewer objects than this nothing is said of how many it lost: a new one has thousands.
const FEW: u64 = 200;

impl Hallmarks {
    /// What became of this state, of which `now` lies in place.
    pub fn went(&self, now: &Self) -> Went {
        if self == now {
            return Went::Untouched;
        }
        let mut why = Vec::new();
        for (label, was) in &self.identity {
            let is = now.identity.iter().find(|(other, _)| other == label).map(|(_, is)| is);
            if let Some(is) = is.filter(|is| *is != was) {
                why.push(format!("its {label} is {} and was {}", super::shown(is), super::shown(was)));
            }
        }
        if let (Some(was), Some(is)) = (self.clock, now.clock)
            && is < was
        {
            why.push(format!("its time is {} and was {}", Clock(is), Clock(was)));
        }
        if let (Some(was), Some(is)) = (self.objects, now.objects)
            && was >= FEW
            && is < was / 2
        {
            let [is, was] = [is, was].map(|n| super::human::count(i64::try_from(n).unwrap_or(i64::MAX)));
            why.push(format!("it holds {is} objects and held {was}"));
        }
        if why.is_empty() { Went::On } else { Went::Astray(why) }
    }
}

/// Minutes of a game's time as day and time of day.
struct Clock(i64);

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let minute = self.0.rem_euclid(1440);
        write!(f, "day {}, {:02}:{:02}", self.0.div_euclid(1440), minute / 60, minute % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::{Hallmarks, Went};

    fn marks() -> Hallmarks {
        Hallmarks {
            identity: vec![("seed".into(), "42".into()), ("uid".into(), "7".into())],
            clock: Some(214 * 1440 + 600),
            objects: Some(77_504),
            generation: Some(17),
        }
    }

    fn why(now: &Hallmarks) -> Vec<String> {
        match marks().went(now) {
            Went::Astray(why) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_nobody_saved_over_is_untouched_and_a_later_save_went_on() {
        assert_eq!(marks().went(&marks()), Went::Untouched);
        let later = Hallmarks { generation: Some(18), clock: Some(214 * 1440 + 620), objects: Some(77_000), ..marks() };
        assert_eq!(marks().went(&later), Went::On);
        // A conversion begins to count the saves anew.
        assert_eq!(marks().went(&Hallmarks { generation: Some(1), ..later }), Went::On);
    }

    #[test]
    fn another_seed_a_clock_that_went_back_and_lost_objects_are_each_said() {
        let other = Hallmarks { identity: vec![("seed".into(), "43".into()), ("uid".into(), "7".into())], ..marks() };
        assert_eq!(why(&other), ["its seed is 43 and was 42"]);
        assert_eq!(
            why(&Hallmarks { clock: Some(1441), ..marks() }),
            ["its time is day 1, 00:01 and was day 214, 10:00"]
        );
        assert_eq!(why(&Hallmarks { objects: Some(38_751), ..marks() }), ["it holds 38,751 objects and held 77,504"]);
        assert_eq!(marks().went(&Hallmarks { objects: Some(38_752), ..marks() }), Went::On);
    }

    #[test]
    fn what_is_unknown_on_either_side_is_no_difference() {
        assert_eq!(marks().went(&Hallmarks::default()), Went::On);
        assert_eq!(Hallmarks::default().went(&marks()), Went::On);
        let few = Hallmarks { objects: Some(150), ..Hallmarks::default() };
        assert_eq!(few.went(&Hallmarks { objects: Some(3), ..Hallmarks::default() }), Went::On);
    }

    #[test]
    fn what_a_file_says_is_printed_safely() {
        let other = Hallmarks { identity: vec![("seed".into(), "\u{1b}[31m".into())], ..marks() };
        assert!(!why(&other).concat().contains('\u{1b}'));
    }
}
