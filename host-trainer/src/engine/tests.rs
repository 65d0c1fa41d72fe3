//! Engines made of a few lines of shell.
use std::fs;

use super::*;

/// An engine in sh that answers `go` with `answer`.
fn fake(folder: &std::path::Path, answer: &str) -> String {
    let path = folder.join("engine");
    let script = format!(
        "while read -r word rest; do case $word in\n\
         uci) echo id name Fake 1; echo 'option name MultiPV type spin default 1 min 1 max 7';\n\
         echo 'option name Move Overhead type spin'; echo uciok;;\nisready) echo readyok;;\n\
         go) {answer};;\nstop) echo bestmove e2e4;;\nquit) exit;;\nesac; done\n"
    );
    fs::write(&path, script).unwrap();
    // Run by the shell: a script that another test's child still holds open cannot be executed.
    format!("sh {}", path.display())
}

fn started(folder: &std::path::Path, script: &str) -> Engine {
    let command = fake(folder, script);
    let setup = Setup { patience: Duration::from_millis(500), ..Setup::new(&command) };
    Engine::start(&setup).unwrap()
}

fn answer(answer: &str) -> Result<String, Fault> {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = started(folder.path(), answer);
    assert_eq!((engine.name.as_str(), engine.most_lines), ("Fake 1", 7));
    Ok(uci(engine.best_move(&Chess::default(), 1)?))
}

#[test]
fn a_good_engine_s_move_is_taken() {
    assert_eq!(answer("echo info depth 1; echo bestmove e2e4 ponder e7e5").unwrap(), "e2e4");
}

#[test]
fn an_engine_that_dies_hangs_or_cheats_is_named() {
    let said = |script: &str| answer(script).unwrap_err().of("e").to_string();
    assert!(said("exit").contains("the engine stopped answering"));
    assert!(said("sleep 20").contains("the engine did not answer within 0.5 s"));
    assert!(said("echo bestmove e2e5").contains("illegal move e2e5"));
    let start = |command: &str| {
        let patience = Duration::from_millis(300);
        let setup = Setup { start_patience: patience, ..Setup::new(command) };
        Engine::start(&setup).unwrap_err().to_string()
    };
    let gone = start("/no/such/engine --flag");
    assert!(gone.contains("engine /no/such/engine --flag"), "{gone}");
    let echo = start("cat");
    assert!(echo.contains("the engine did not answer within 0.3 s"), "{echo}");
}

#[test]
fn options_must_be_those_of_the_engine() {
    let folder = tempfile::tempdir().unwrap();
    let command = fake(folder.path(), "echo bestmove e2e4");
    let start = |option: &str| {
        let options = vec![option.parse().unwrap()];
        Engine::start(&Setup { options, ..Setup::new(&command) })
    };
    assert!(start("move overhead=5").is_ok(), "as UCI says, whatever the case");
    let line = start("Hash=5").unwrap_err().to_string();
    assert!(line.starts_with("the engine has no option Hash, engine sh "), "{line}");
    assert!(line.ends_with(": use one of MultiPV, Move Overhead"), "{line}");
    assert!("MultiPV=3".parse::<UciOption>().is_err() && "Hash".parse::<UciOption>().is_err());
}

#[test]
fn a_search_is_stopped_in_time_and_tells_the_depth_that_it_reached() {
    let folder = tempfile::tempdir().unwrap();
    let lines = "echo info depth 4 multipv 1 score cp 9 pv e2e4 e7e5;\
                 echo info depth 4 multipv 2 score cp 7 pv d2d4;\
                 echo info depth 5 multipv 1 score cp 9 pv e2e4 e7e5";
    let mut engine = started(folder.path(), lines);
    let until = Some(Instant::now() + Duration::from_millis(100));
    let search = Search { depth: 30, lines: 2, only: &[], until };
    let (depth, found) = engine.search(&Chess::default(), &search).unwrap();
    assert_eq!((depth, found.len(), found[0].line.len()), (4, 2, 2));
    let search = Search { until: Some(Instant::now()), ..search };
    let (depth, _) = engine.search(&Chess::default(), &search).unwrap();
    assert_eq!(depth, 4, "the first whole iteration is waited for");
    let search = Search { lines: 3, until: Some(Instant::now()), ..search };
    let fault = engine.search(&Chess::default(), &search).unwrap_err();
    assert!(matches!(fault, Fault::Missing { wanted: 3, .. }), "{fault}");
}
