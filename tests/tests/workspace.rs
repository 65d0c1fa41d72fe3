//! The arrows between the crates, and what no crate may do.
use std::fs;
use std::path::Path;
use std::process::Command;

use kibitzer_tests::root;
use serde_json::Value;

/// Crate, and the workspace's crates that it may depend on outside its tests.
const ARROWS: &[(&str, &[&str])] = &[
    ("kibitzer-core", &[]),
    ("kibitzer-gpu", &["kibitzer-core"]),
    ("kibitzer-trainer", &["kibitzer-core", "kibitzer-gpu"]),
    ("kibitzer-simulator", &["kibitzer-core"]),
    ("kibitzer-tests", &["kibitzer-core", "kibitzer-gpu", "kibitzer-trainer"]),
    ("xtask", &[]),
    ("kibitzer-firmware", &["kibitzer-core"]),
    ("kibitzer-core-fuzz", &["kibitzer-core"]),
    ("kibitzer-trainer-fuzz", &["kibitzer-core", "kibitzer-trainer"]),
];

fn packages_in(folder: &Path) -> Vec<Value> {
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(folder)
        .output()
        .expect("cargo runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let metadata: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    metadata["packages"].as_array().expect("a list").clone()
}

fn all_packages() -> Vec<Value> {
    let others = ["firmware-demo", "core-nostd/fuzz", "host-trainer/fuzz"];
    let mut packages = packages_in(root());
    packages.extend(others.iter().flat_map(|folder| packages_in(&root().join(folder))));
    packages
}

#[test]
fn crates_depend_along_the_arrows_only() {
    let packages = all_packages();
    assert_eq!(packages.len(), ARROWS.len(), "a crate without a row in ARROWS");
    for package in &packages {
        let name = package["name"].as_str().expect("a name");
        let (_, allowed) =
            ARROWS.iter().find(|(row, _)| *row == name).unwrap_or_else(|| panic!("{name}"));
        for dependency in package["dependencies"].as_array().expect("a list") {
            let to = dependency["name"].as_str().expect("a name");
            let ours = ARROWS.iter().any(|(row, _)| *row == to);
            let in_tests = dependency["kind"] == "dev";
            assert!(!ours || in_tests || allowed.contains(&to), "{name} depends on {to}");
        }
    }
}

#[test]
fn every_crate_has_the_licence_and_the_lints() {
    for package in all_packages() {
        let name = package["name"].as_str().expect("a name");
        assert_eq!(package["license"], "GPL-3.0-or-later", "{name}");
        let manifest = package["manifest_path"].as_str().expect("a path");
        let text = fs::read_to_string(manifest).expect("readable");
        let lints = text.contains("[lints]\nworkspace = true") || text.contains("[lints.rust]");
        assert!(lints, "{name} takes no lints");
    }
}
