use std::path::{Path, PathBuf};

fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn the_state_and_the_views_touch_no_file_no_clock_and_no_environment() {
    let room = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tui");
    let outside = ["term.rs", "pump.rs", "runner.rs", "operator.rs"];
    let mut seen = 0;
    for path in sources(&room) {
        let name = path.strip_prefix(&room).unwrap().display().to_string();
        if name.starts_with("tests") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        for word in ["std::fs", "fs::", "File::"] {
            assert!(!code.contains(word), "{name} has {word}");
        }
        if !outside.contains(&name.as_str()) && name != "mod.rs" && name != "input.rs" {
            for word in ["std::env", "Instant::now", "SystemTime", "Timestamp::now", "std::thread", "stdout"] {
                assert!(!code.contains(word), "{name} has {word}");
            }
        }
        seen += 1;
    }
    assert!(seen > 20);
}
