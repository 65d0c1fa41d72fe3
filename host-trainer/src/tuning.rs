//! The shapes of a GPU's matrix products: timed once for an adapter and driver, and kept in the
//! user's cache folder.
//!
//! Software adapters keep what is taken untimed unless `kibitzer device --tune` was asked to time
//! them: tests run on them, and a timing must decide no bit of a test.
use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::Result;
use kibitzer_gpu::gpu::{
    AdapterDescription, Device,
    bench::{Meter, Trial, tune},
    gemm::{Choices, Class, Shape, version},
};
use serde::{Deserialize, Serialize};

use crate::files::{atomic_write, cache_folder, require_folder};

/// The longest that timing may take.
const LIMIT: Duration = Duration::from_secs(5);
/// The file in the cache folder.
const FILE: &str = "matrix-products.json";

/// The file of choices.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    /// [`version`] in hexadecimal; what was kept for another does not hold.
    version: String,
    /// By adapter and driver.
    adapters: BTreeMap<String, KeptFor>,
}

/// The choices for an adapter.
#[derive(Debug, Serialize, Deserialize)]
struct KeptFor {
    /// The name of each class's shape.
    shapes: BTreeMap<String, String>,
    /// [`Choices::mflops`].
    mflops: Option<u64>,
}

/// The device with the choices kept for it; a GPU without any is timed first.
///
/// # Errors
/// If the device fails.
pub fn with_choices(device: Device) -> Result<Device> {
    if let Some(choices) = path().and_then(|path| kept(&path, device.description())) {
        return Ok(device.with_choices(choices));
    }
    if device.description().software {
        return Ok(device);
    }
    tracing::info!("timing matrix products, once for this adapter and driver");
    let choices = timed(&device, &mut |_| ())?;
    Ok(device.with_choices(choices))
}

/// Times the shapes on a device and keeps the choices; `tried` hears of every trial.
///
/// # Errors
/// If the device fails.
pub fn timed(device: &Device, tried: &mut dyn FnMut(&Trial)) -> Result<Choices> {
    let start = Instant::now();
    let clock = move || start.elapsed();
    let choices = tune(&Meter::new(device, &clock)?, LIMIT, tried)?;
    if let Some(path) = path()
        && let Err(error) = keep(&path, device.description(), &choices)
    {
        // The choices hold for this run; the next one times again.
        tracing::warn!("{error:#}");
    }
    Ok(choices)
}

/// The name of each class's shape.
pub fn named(choices: &Choices) -> BTreeMap<String, String> {
    let name = |class: Class| (class.name().to_owned(), choices.get(class).name.to_owned());
    Class::ALL.into_iter().map(name).collect()
}

/// The file of choices, if this system says where caches are.
fn path() -> Option<PathBuf> {
    Some(cache_folder()?.join(FILE))
}

fn key(description: &AdapterDescription) -> String {
    format!("{}, {}, {}", description.name, description.backend, description.driver)
}

fn current() -> String {
    format!("{:016x}", version())
}

/// The whole file; an unreadable one, or one of another version, is as good as none.
fn read(path: &Path) -> Option<Kept> {
    let text = fs::read_to_string(path).ok()?;
    match serde_json::from_str::<Kept>(&text) {
        Ok(kept) if kept.version == current() => Some(kept),
        Ok(_) => {
            tracing::info!("{} is of another version and not used", path.display());
            None
        }
        Err(error) => {
            tracing::warn!("{} is damaged and not used: {error}", path.display());
            None
        }
    }
}

/// The choices kept for an adapter, if all of them are there and run on it.
fn kept(path: &Path, description: &AdapterDescription) -> Option<Choices> {
    let kept = read(path)?;
    let KeptFor { shapes: names, mflops } = kept.adapters.get(&key(description))?;
    let mut choices = Choices::untimed(description.software, description.lanes());
    choices.mflops = *mflops;
    let set = |class: Class| {
        let shape = names.get(class.name()).and_then(|name| Shape::named(name));
        shape.is_some_and(|shape| choices.set(class, shape))
    };
    if Class::ALL.into_iter().map(set).fold(true, |all, one| all & one) {
        Some(choices)
    } else {
        tracing::warn!("{} names shapes that do not run here", path.display());
        None
    }
}

fn keep(path: &Path, description: &AdapterDescription, choices: &Choices) -> Result<()> {
    require_folder(path.parent().unwrap_or(Path::new(".")))?;
    let mut kept = read(path).unwrap_or_default();
    kept.version = current();
    let shapes = named(choices);
    kept.adapters.insert(key(description), KeptFor { shapes, mflops: choices.mflops });
    let text = serde_json::to_string_pretty(&kept)?;
    atomic_write(path, |file| Ok(file.write_all(text.as_bytes())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapter(driver: &str) -> AdapterDescription {
        AdapterDescription {
            name: "An adapter".to_owned(),
            backend: "vulkan".to_owned(),
            kind: "discrete GPU",
            driver: driver.to_owned(),
            software: false,
            max_buffer: 1 << 30,
            max_binding: 1 << 27,
            workgroup_memory: 16 << 10,
            workgroup_invocations: 256,
            storage_buffers: 8,
            f16: false,
            subgroups: Some((32, 32)),
            timestamps: true,
            cooperative_matrices: false,
        }
    }

    fn choices() -> Choices {
        let mut choices = Choices::untimed(false, Some(32));
        assert!(choices.set(Class::Output, Shape::named("subgroup 8x4").unwrap()));
        choices.mflops = Some(1234);
        choices
    }

    #[test]
    fn choices_are_kept_by_adapter_and_driver() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/products.json");
        assert_eq!(kept(&path, &adapter("1")), None);
        keep(&path, &adapter("1"), &choices()).unwrap();
        assert_eq!(kept(&path, &adapter("1")), Some(choices()));
        assert_eq!(kept(&path, &adapter("2")), None);
        keep(&path, &adapter("2"), &Choices::untimed(false, Some(32))).unwrap();
        assert_eq!(kept(&path, &adapter("1")), Some(choices()));
    }

    #[test]
    fn a_damaged_or_foreign_file_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("products.json");
        keep(&path, &adapter("1"), &choices()).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        // The subgroup that the choice needs is gone.
        let without = AdapterDescription { subgroups: None, ..adapter("1") };
        assert_eq!(kept(&path, &without), None);
        let spoilt = [
            text[..text.len() / 2].to_owned(),
            text.replace(&current(), "0000000000000000"),
            text.replace("subgroup 8x4", "no such shape"),
            text.replace("\"short output\"", "\"no such class\""),
        ];
        for spoilt in spoilt {
            fs::write(&path, &spoilt).unwrap();
            assert_eq!(kept(&path, &adapter("1")), None, "{spoilt}");
        }
        keep(&path, &adapter("1"), &choices()).unwrap();
        assert_eq!(kept(&path, &adapter("1")), Some(choices()));
    }
}
