//! What ends a run from outside: each fault is one clear line, and the last checkpoint stays.
mod common;

use std::{collections::VecDeque, fs, path::Path, sync::Arc};

use common::{folder_with_records, kibitzer, mistake, names, succeed};
use kibitzer_core::net::{Config, tensors};
use kibitzer_gpu::{AdamW, Backend, Batch, Error, Losses, MemoryPlan, OptimizerState, Outputs};
use kibitzer_trainer::{
    checkpoint::{self, Checkpoint, State},
    device::{Device, Precision},
    error::UserError,
    model::Model,
    records::Records,
    train::{Run, Settings},
};

const TRAIN: &str = "-q train bc records -o run --config tiny.json --batch 4 --device cpu";
const RESUME: &str = "-q train bc records -o run --resume --steps 9";

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// A folder with records and a run of two steps in `run`.
fn folder_with_run() -> tempfile::TempDir {
    let folder = folder_with_records();
    succeed(folder.path(), &words(&format!("{TRAIN} --steps 2")));
    folder
}

/// Saves the run's checkpoint again with other weights, as a run that went astray would have.
fn with_weights(run: &Path, change: impl Fn(&Config, &mut [f32])) {
    let folder = run.join("step-00000002");
    let mut checkpoint = Checkpoint::load(&folder).unwrap();
    let Model { config, parameters } = &mut checkpoint.model;
    change(config, parameters);
    fs::remove_dir_all(&folder).unwrap();
    checkpoint.save(run, 1).unwrap();
}

fn fill(name: &'static str, value: f32) -> impl Fn(&Config, &mut [f32]) {
    move |config, parameters| {
        let tensor = tensors(config).find(|t| t.to_string() == name).unwrap();
        parameters[tensor.range()].fill(value);
    }
}

/// The loss is not a number: the step, the tensor and the sound checkpoint are named.
#[test]
fn a_loss_that_is_no_number_names_step_and_tensor() {
    let folder = folder_with_run();
    let run = folder.path().join("run");
    with_weights(&run, fill("encoder.blocks.0.ffn.down.weight", 3e38));
    let line = mistake(folder.path(), &words(RESUME));
    let start = "training diverged: the loss is NaN, the gradient's norm NaN in step 3; \
                 the first tensor not finite: Output of encoder.blocks.0's feed-forward holds ";
    assert!(line.starts_with(start), "{line}");
    let end = ", run/step-00000002: it is kept; start again with a lower --lr";
    assert!(line.ends_with(end), "{line}");
    assert_eq!(names(&run), ["lock", "metrics.jsonl", "run.json", "step-00000002"]);
}

/// A write fails in the middle of a save, as on a full disk: the old checkpoint stays, whole.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_last_checkpoint() {
    let folder = folder_with_run();
    // Files may have 16 KiB: less than the network.
    let script =
        format!("trap '' XFSZ; ulimit -f 32; exec '{}' {RESUME}", env!("CARGO_BIN_EXE_kibitzer"));
    let mut shell = std::process::Command::new("sh");
    let output = shell.current_dir(folder.path()).args(["-c", &script]).output().unwrap();
    let line = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert!(line.starts_with("kibitzer: cannot write there (file too large), run: "), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    let run = folder.path().join("run");
    assert_eq!(names(&run), ["lock", "metrics.jsonl", "run.json", "step-00000002"]);
    assert_eq!(Checkpoint::load(&run.join("step-00000002")).unwrap().state.step, 2);
    succeed(folder.path(), &words(RESUME));
}

/// Flips the last bit of a weight: what it says is still a number.
fn damage(path: &Path, from_end: usize) {
    let mut bytes = fs::read(path).unwrap();
    let at = bytes.len() - 4 * from_end;
    bytes[at] ^= 1;
    fs::write(path, &bytes).unwrap();
}

#[test]
fn a_damaged_checkpoint_is_refused_where_none_is_whole() {
    for (file, from_end) in [("model.safetensors", 5), ("optimizer.safetensors", 9)] {
        let folder = folder_with_run();
        let path = folder.path().join("run/step-00000002").join(file);
        damage(&path, from_end);
        let line = mistake(folder.path(), &words(RESUME));
        assert!(line.starts_with("damaged: its CRC-32 is "), "{line}");
        let end = format!(", run/step-00000002/{file}: take another checkpoint or start a new run");
        assert!(line.ends_with(&end), "{line}");
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        let line = mistake(folder.path(), &words(RESUME));
        assert!(line.starts_with("not a whole safetensors file ("), "{line}");
        fs::remove_file(&path).unwrap();
        let line = mistake(folder.path(), &words(RESUME));
        assert!(line.starts_with("cannot read the file (no such file"), "{line}");
        let left = ["lock", "metrics.jsonl", "run.json", "step-00000002"];
        assert_eq!(names(&folder.path().join("run")), left);
    }
}

/// Whoever reads a checkpoint's weights sees that they are not those that were saved.
#[test]
fn damaged_weights_are_refused_by_all_that_read_them() {
    let folder = folder_with_records();
    succeed(folder.path(), &words(&format!("{TRAIN} --steps 2 --ema 0.9")));
    let checkpoint = folder.path().join("run/step-00000002");
    fs::copy(checkpoint.join("model.safetensors"), folder.path().join("copy.safetensors")).unwrap();
    damage(&checkpoint.join("model.safetensors"), 5);
    for line in [
        "-q eval run records --device cpu",
        "-q eval run/step-00000002/model.safetensors records --device cpu",
        "-q quantize run records -o net.kbz --device cpu",
        "-q train bc records -o other --from run --steps 1 --batch 4 --device cpu",
        "-q train bc records -o other --from run --memory --device cpu",
    ] {
        let said = mistake(folder.path(), &words(line));
        assert!(said.starts_with("damaged: its CRC-32 is "), "{line}: {said}");
        let end =
            ", run/step-00000002/model.safetensors: take another checkpoint or start a new run";
        assert!(said.ends_with(end), "{line}: {said}");
    }
    assert!(!folder.path().join("net.kbz").exists() && !folder.path().join("other").exists());
    // The other weights are whole, and so is a copy that no checkpoint vouches for.
    succeed(folder.path(), &words("-q eval run records --device cpu --ema"));
    succeed(folder.path(), &words("-q eval copy.safetensors records --device cpu"));
    damage(&checkpoint.join("ema.safetensors"), 5);
    let said = mistake(folder.path(), &words("-q eval run records --device cpu --ema"));
    assert!(said.contains(", run/step-00000002/ema.safetensors: "), "{said}");
    fs::write(checkpoint.join("state.json"), "{").unwrap();
    let said = mistake(folder.path(), &words("-q eval run records --device cpu"));
    assert!(said.starts_with("the state is broken ("), "{said}");
}

/// Damage to the newest checkpoints costs the steps since the last whole one, and nothing more:
/// they are kept aside, and the run ends as one whose checkpoints were all whole.
#[test]
fn a_damaged_checkpoint_is_passed_up_for_the_one_before_it() {
    let folder = folder_with_records();
    let run = |name: &str, steps: u32, more: &str| {
        let line = TRAIN.replace("-o run", &format!("-o {name}")).replace("-q ", "");
        let line = format!("{line} --save-every 2 --seed 3 --steps {steps} {more}");
        let output = kibitzer(folder.path(), &words(&line));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        said
    };
    run("whole", 10, "");
    run("run", 10, "");
    let path = folder.path().join("run");
    damage(&path.join("step-00000010/optimizer.safetensors"), 9);
    fs::write(path.join("step-00000008/state.json"), "{").unwrap();
    let said = run("run", 10, "--resume");
    let warnings: Vec<&str> = said.lines().filter(|line| line.contains("going on from")).collect();
    let [first, second] = warnings[..] else { panic!("{said}") };
    assert!(first.contains("run/step-00000010/optimizer.safetensors"), "{first}");
    assert!(first.contains("going on from run/step-00000006"), "{first}");
    assert!(second.contains("run/step-00000008/state.json"), "{second}");
    let file = |run: &str| {
        fs::read(folder.path().join(run).join("step-00000010/model.safetensors")).unwrap()
    };
    assert_eq!(file("run"), file("whole"));
    let all = names(&path);
    let aside: Vec<_> = all.iter().filter(|name| name.starts_with("damaged-")).collect();
    assert_eq!(aside, ["damaged-step-00000008", "damaged-step-00000010"]);
}

/// A checkpoint of another version is no damage: the run is left alone.
#[test]
fn a_newer_program_s_checkpoint_is_not_passed_up() {
    let folder = folder_with_run();
    succeed(folder.path(), &words("-q train bc records -o run --resume --steps 4"));
    let path = folder.path().join("run/step-00000004/state.json");
    fs::write(&path, "{\"version\": 9, \"novelty\": 1}").unwrap();
    let line = mistake(folder.path(), &words(RESUME));
    assert!(line.starts_with("state of version 9 where "), "{line}");
    assert!(path.exists());
}

/// Memory that is not there is refused before it is needed: this much holds the network and its
/// buffers, but not what a checkpoint copies besides.
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_is_one_line() {
    let folder = folder_with_records();
    let script = format!(
        "ulimit -v 1300000; exec '{}' -q train bc records -o run --preset full --device cpu",
        env!("CARGO_BIN_EXE_kibitzer")
    );
    let mut shell = std::process::Command::new("sh");
    let output = shell.current_dir(folder.path()).args(["-c", &script]).output().unwrap();
    let line = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert!(line.starts_with("kibitzer: out of memory: "), "{line}");
    assert!(
        line.ends_with("take a smaller --preset or --config, or end other programs\n"),
        "{line}"
    );
    assert_eq!(line.lines().count(), 1, "{line}");
}

#[test]
fn a_broken_state_is_refused() {
    let folder = folder_with_run();
    let path = folder.path().join("run/step-00000002/state.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() / 2]).unwrap();
    let line = mistake(folder.path(), &words(RESUME));
    assert!(line.starts_with("the state is broken ("), "{line}");
    fs::write(&path, text.replacen("\"version\": ", "\"version\": 9", 1)).unwrap();
    let line = mistake(folder.path(), &words(RESUME));
    assert!(line.starts_with("state of version 9"), "{line}");
}

/// The optimizer's file is another architecture's: both hashes are told.
#[test]
fn parts_of_two_checkpoints_do_not_mix() {
    let folder = folder_with_run();
    let wide = fs::read_to_string(folder.path().join("tiny.json")).unwrap();
    fs::write(folder.path().join("wide.json"), wide.replace("16", "24")).unwrap();
    let other = TRAIN.replace("-o run", "-o other").replace("tiny", "wide");
    succeed(folder.path(), &words(&format!("{other} --steps 2")));
    let file = "step-00000002/optimizer.safetensors";
    let [run, other] = ["run", "other"].map(|run| folder.path().join(run));
    fs::copy(other.join(file), run.join(file)).unwrap();
    let line = mistake(folder.path(), &words(RESUME));
    let hash = |run: &Path| -> String {
        let state = fs::read(run.join("step-00000002/state.json")).unwrap();
        serde_json::from_slice::<State>(&state).unwrap().hash
    };
    let start = format!("architecture hash {} where the run has {}", hash(&other), hash(&run));
    assert!(line.starts_with(&start), "{line}");
}

/// The records are cut short between two starts: the run is refused, and untouched.
#[test]
fn records_cut_short_between_two_starts_are_refused() {
    let folder = folder_with_run();
    let path = folder.path().join("records");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 48]).unwrap();
    let line = mistake(folder.path(), &words(RESUME));
    assert!(line.contains(" bytes where the header promises "), "{line}");
    fs::write(&path, whole).unwrap();
    succeed(folder.path(), &words(RESUME));
}

/// A device that is lost from its third step on, which one of its functions is the first to see.
struct Lost {
    inner: Box<dyn Backend>,
    steps: u32,
    seen_by: &'static str,
}

impl Lost {
    fn check(&self, function: &str) -> Result<(), Error> {
        let lost = self.steps >= 3 && function == self.seen_by;
        if lost { Err(Error::Device("the device is lost".into())) } else { Ok(()) }
    }
}

impl Backend for Lost {
    fn evaluate(&mut self, batch: &Batch) -> Result<Outputs, Error> {
        self.check("evaluate")?;
        self.inner.evaluate(batch)
    }

    fn gradient(&mut self, batch: &Batch, weight: f32) -> Result<(Losses, Vec<f32>), Error> {
        self.check("gradient")?;
        self.inner.gradient(batch, weight)
    }

    fn submit(&mut self, batch: &Batch, hyper: &AdamW, weight: f32) -> Result<(), Error> {
        self.steps += 1;
        self.check("submit")?;
        self.inner.submit(batch, hyper, weight)
    }

    fn losses(&mut self, under_way: usize) -> Result<Option<Losses>, Error> {
        self.check("losses")?;
        self.inner.losses(under_way)
    }

    fn parameters(&mut self) -> Result<Vec<f32>, Error> {
        self.check("parameters")?;
        self.inner.parameters()
    }

    fn optimizer_state(&mut self) -> Result<OptimizerState, Error> {
        self.check("optimizer_state")?;
        self.inner.optimizer_state()
    }

    fn average(&mut self, weight: f32) -> Result<(), Error> {
        self.check("average")?;
        self.inner.average(weight)
    }

    fn averaged(&mut self) -> Result<Vec<f32>, Error> {
        self.check("averaged")?;
        self.inner.averaged()
    }

    fn restore_average(&mut self, average: &[f32]) -> Result<(), Error> {
        self.inner.restore_average(average)
    }

    fn restore(&mut self, parameters: &[f32], state: &OptimizerState) -> Result<(), Error> {
        self.inner.restore(parameters, state)
    }

    fn memory(&self) -> MemoryPlan {
        self.inner.memory()
    }
}

/// The line that a run ends with when `seen_by` sees that the device is lost, and the step of the
/// last checkpoint, which is whole.
fn line_of_a_lost_device(seen_by: &'static str) -> (String, u64) {
    let folder = folder_with_run();
    let path = folder.path().join("run");
    let Checkpoint { model, optimizer, state, .. } =
        Checkpoint::load(&path.join("step-00000002")).unwrap();
    let inner = Device::Cpu.trainer(&model, &optimizer, 64, Precision::F32, true).unwrap().backend;
    let settings = Settings { steps: 9, held_out: 0.5, ema: Some(0.9), ..state.settings.clone() };
    let run = Run {
        folder: path.clone(),
        examples: Arc::new(Records::open(&folder.path().join("records")).unwrap()),
        backend: Box::new(Lost { inner, steps: 0, seen_by }),
        state: State { settings, ..state },
        save_every: 1,
        diagnose_every: 1,
        keep: 1,
        loaders: 1,
        stop: Arc::default(),
        untold: VecDeque::new(),
    };
    let error = run.train().unwrap_err();
    assert!(error.is::<UserError>(), "{seen_by}: {error:?}");
    let newest = checkpoint::newest(&path).unwrap().unwrap();
    let line = error.to_string().replace(&newest.display().to_string(), "NEWEST");
    (line, Checkpoint::load(&newest).unwrap().state.step)
}

#[test]
fn a_lost_device_leaves_the_last_checkpoint() {
    let line = "the device failed in step 5 (the device is lost), NEWEST: it is kept; \
                go on with --resume, or with --resume --device cpu";
    assert_eq!(line_of_a_lost_device("submit"), (line.to_owned(), 4));
    // Whoever sees it.
    let others =
        ["evaluate", "gradient", "losses", "parameters", "optimizer_state", "average", "averaged"];
    for seen_by in others {
        let (line, saved) = line_of_a_lost_device(seen_by);
        assert!(line.starts_with("the device failed in step "), "{seen_by}: {line}");
        assert!(line.contains("(the device is lost), NEWEST: it is kept; "), "{seen_by}: {line}");
        assert!((4..=5).contains(&saved), "{seen_by}: {saved}");
    }
}
