//! `kibitzer device` on whatever this machine has, and where there is no adapter.
mod common;

use std::path::Path;

use common::{command, mistake, succeed};
use serde_json::Value;

#[test]
fn the_list_says_what_matters_of_each_adapter() {
    let list: Value =
        serde_json::from_str(&succeed(Path::new("."), &["device", "--json"])).unwrap();
    for adapter in list["adapters"].as_array().unwrap() {
        assert!(adapter["name"].as_str().is_some_and(|name| !name.is_empty()));
        assert!(adapter["max_binding"].as_u64().unwrap() > 0, "{adapter}");
        assert!(adapter["software"].is_boolean() && adapter["f16"].is_boolean(), "{adapter}");
    }
}

#[test]
fn the_processor_is_no_adapter() {
    for flag in ["--test", "--bench", "--tune"] {
        assert_eq!(
            mistake(Path::new("."), &["device", flag, "--device", "cpu"]),
            "the processor has no shaders, --device: use --device gpu or software"
        );
    }
}

/// The loader is told of no driver; only Vulkan has such a switch.
#[cfg(target_os = "linux")]
#[test]
fn without_an_adapter_there_is_one_line() {
    let without = |arguments: &[&str]| {
        let mut command = command(Path::new("."), arguments);
        let output = command.env("VK_DRIVER_FILES", "/no/such/driver.json").output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (status, out, _) = without(&["device"]);
    assert_eq!((status, out.lines().count()), (Some(0), 1), "{out}");
    assert!(out.starts_with("no adapter; training runs on the processor"), "{out}");
    let (status, out, error) = without(&["-q", "device", "--test", "--device", "software"]);
    assert_eq!((status, out.as_str()), (Some(2), ""));
    let last = error.lines().last().unwrap();
    assert!(last.contains("apt-get install mesa-vulkan-drivers"), "{error}");
}
