//! Carries out one operation on files that are named on the command line: what the tests kill and trace.
//!
//! ```text
//! operate restore-folder LIVE SOURCE KEEP     operate copy SOURCE TO KEEP      operate undo KEEP NAME
//! operate restore-pair LIVE SOURCE KEEP       operate rename LIVE TO KEEP      operate purge KEEP NAME
//! operate delete KEEP LIVE...                 operate recover KEEP
//! ```
//!
//! Paths are absolute; those of a pair are without `.db` and `.fwl`; KEEP is a `.worldkeep` in a folder above LIVE. With
//! `OPERATE_STATE` in the environment, that folder remembers KEEP. It prints the name of the operation and how it ended.
//! Exit codes are those of `Outcome::exit_code`, of `recover` 0 when nothing is left over, else 1; 2 for wrong arguments.

#[cfg(target_os = "linux")]
#[path = "../tests/support/drafts.rs"]
mod drafts;

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
#[allow(clippy::print_stdout, clippy::print_stderr, reason = "it is a program")]
fn main() -> std::process::ExitCode {
    use std::path::{Path, PathBuf};
    use std::process::ExitCode;

    use jiff::tz::TimeZone;
    use worldkeep::model::Cancel;
    use worldkeep::ops::recover::{Became, recover};
    use worldkeep::ops::{Setting, fresh, record, run};

    let setting = Setting {
        now: jiff::Timestamp::from_second(1_796_040_000).unwrap_or_default(),
        zone: TimeZone::UTC,
        state: std::env::var_os("OPERATE_STATE").map(PathBuf::from),
        proc: PathBuf::from("/proc"),
        read_only: false,
    };
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let name = |keep: &str| drafts::free_name(Path::new(keep), &words);
    let hand = match words.as_slice() {
        ["restore-folder", live, source, keep] => {
            drafts::restore_folder(live.as_ref(), source.as_ref(), keep.as_ref(), &name(keep))
        }
        ["restore-pair", live, source, keep] => {
            drafts::restore_pair(live.as_ref(), source.as_ref(), keep.as_ref(), &name(keep))
        }
        ["copy", source, to, keep] => drafts::copy(source.as_ref(), to.as_ref(), keep.as_ref(), &name(keep)),
        ["rename", live, to, keep] => drafts::rename(live.as_ref(), to.as_ref(), keep.as_ref(), &name(keep)),
        ["delete", keep, lives @ ..] => {
            let lives: Vec<&Path> = lives.iter().map(Path::new).collect();
            drafts::delete(&lives, keep.as_ref(), &name(keep))
        }
        ["purge", keep, parked] => drafts::purge(keep.as_ref(), parked, &name(keep)),
        ["undo", keep, earlier] => {
            let file = worldkeep::ops::keep::record_of(keep.as_ref(), earlier);
            let record = std::fs::read(&file).map_err(|error| error.to_string());
            let record = record.and_then(|bytes| record::Record::parse(&bytes).map_err(|error| error.to_string()));
            match record {
                Ok(record) => drafts::undo(&record, keep.as_ref(), &name(keep)),
                Err(error) => {
                    eprintln!("{}: {error}", file.display());
                    return ExitCode::from(2);
                }
            }
        }
        ["recover", keep] => {
            let found = recover(&[PathBuf::from(keep)], &setting);
            for one in &found {
                println!("{:?}: {}", one.became, one.text);
            }
            let ended = found.iter().all(|one| matches!(one.became, Became::Finished | Became::RolledBack));
            return ExitCode::from(u8::from(!ended));
        }
        _ => {
            eprintln!("The arguments are wrong; the first lines of examples/operate.rs say what there is.");
            return ExitCode::from(2);
        }
    };
    let done = match fresh::check(drafts::confirmed(hand.draft())) {
        Ok(fresh) => run::run(&fresh, &setting, &Cancel::new(), &mut |_| {}),
        Err(refusal) => {
            eprintln!("{refusal}");
            return ExitCode::from(4);
        }
    };
    println!("{} {:?}", done.name, done.outcome);
    for told in done.told {
        println!("{told}");
    }
    ExitCode::from(done.outcome.exit_code())
}
