//! `cargo xtask shaders`: the suite of the GPU backend on a chosen Vulkan implementation, and
//! under Vulkan's validation layer.
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::shell;

/// Mesa's software driver, which the ordinary tests use.
const LLVMPIPE: &str = "llvmpipe";
/// The layer's name.
const LAYER: &str = "VK_LAYER_KHRONOS_validation";
/// Debian's packages.
const SWIFTSHADER: &str = "chromium-common";
const VALIDATION: &str = "vulkan-validationlayers";

#[derive(Args)]
pub struct Options {
    /// Run on SwiftShader instead of Mesa's llvmpipe; downloads Debian's chromium-common (32 MB)
    #[arg(long)]
    swiftshader: bool,
    /// Watch with Vulkan's validation layer, and fail if it says anything; downloads Debian's
    /// vulkan-validationlayers (5 MB)
    #[arg(long)]
    validate: bool,
    /// Only tests with this in their name
    filter: Option<String>,
}

/// Runs the suite.
pub fn command(options: &Options) -> Result<()> {
    let folder = shell::target_dir()?.join("vulkan");
    fs::create_dir_all(&folder)?;
    let mut suite = shell::cargo();
    suite.args(["test", "--locked", "--workspace", "--test", "gpu", "--"]);
    suite.args(&options.filter);
    let adapter = if options.swiftshader {
        let driver = "usr/lib/chromium/vk_swiftshader_icd.json";
        let driver = unpacked(&folder, SWIFTSHADER, driver)?;
        suite.env("VK_DRIVER_FILES", driver);
        "SwiftShader"
    } else {
        LLVMPIPE
    };
    suite.env("KIBITZER_REQUIRE_ADAPTER", adapter);
    if !options.validate {
        return shell::run(&mut suite);
    }
    let messages = watch(&mut suite, &folder)?;
    shell::run(&mut suite)?;
    report(&messages)
}

/// Switches the validation layer on; returns the file that its messages go to.
fn watch(suite: &mut Command, folder: &Path) -> Result<PathBuf> {
    let manifest = "usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json";
    let manifest = unpacked(folder, VALIDATION, manifest)?;
    let library = library(&folder.join(VALIDATION), "libVkLayer_khronos_validation.so")
        .with_context(|| format!("{VALIDATION} holds no library"))?;
    // The manifest names the library as if it were installed.
    let text = fs::read_to_string(&manifest)?.replace(
        "\"libVkLayer_khronos_validation.so\"",
        &format!("{:?}", library.to_string_lossy()),
    );
    let layers = folder.join("layers");
    fs::create_dir_all(&layers)?;
    fs::write(layers.join("validation.json"), text)?;
    let messages = folder.join("messages.txt");
    if messages.exists() {
        fs::remove_file(&messages)?;
    }
    let settings = [
        ("debug_action", "VK_DBG_LAYER_ACTION_LOG_MSG"),
        ("log_filename", &messages.to_string_lossy()),
        ("report_flags", "error,warn,perf"),
        ("enables", "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT"),
    ];
    let line = |(key, value): (&str, &str)| format!("khronos_validation.{key} = {value}\n");
    fs::write(folder.join("vk_layer_settings.txt"), settings.map(line).concat())?;
    suite.env("VK_LAYER_PATH", layers).env("VK_INSTANCE_LAYERS", LAYER);
    suite.env("VK_LAYER_SETTINGS_PATH", folder);
    // With wgpu's debug information SPIR-V names its source's language by a number that layers
    // of Debian 12 do not know.
    suite.env("WGPU_DEBUG", "0");
    Ok(messages)
}

/// Fails if the layer has said anything, or was not there.
fn report(messages: &Path) -> Result<()> {
    // The layer makes the file when it starts.
    let said = fs::read_to_string(messages).with_context(|| {
        format!("the validation layer did not start: there is no {}", messages.display())
    })?;
    if !said.trim().is_empty() {
        println!("{said}");
        bail!("the validation layer has said what stands above");
    }
    println!("the validation layer had nothing to say");
    Ok(())
}

/// The path of a package's file; the package is downloaded and unpacked in a folder of its own
/// below `folder`, not installed.
fn unpacked(folder: &Path, package: &str, file: &str) -> Result<PathBuf> {
    let folder = folder.join(package);
    let wanted = folder.join(file);
    if !wanted.exists() {
        fs::create_dir_all(&folder)?;
        download(&folder, package).with_context(|| {
            format!(
                "{package} is not here; by hand, in {}: apt-get update && apt-get download \
                 {package} && dpkg -x {package}_*.deb .",
                folder.display()
            )
        })?;
    }
    if wanted.exists() { Ok(wanted) } else { bail!("{package} holds no {file}") }
}

fn download(folder: &Path, package: &str) -> Result<()> {
    shell::run(Command::new("apt-get").current_dir(folder).args(["-q", "download", package]))?;
    let archive = fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&format!("{package}_")) && name.ends_with(".deb")
        })
        .context("apt-get left no archive")?;
    shell::run(Command::new("dpkg").arg("-x").arg(&archive).arg(folder))?;
    Ok(fs::remove_file(archive)?)
}

/// A library of the package that is unpacked in `folder`, whatever the processor.
fn library(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(folder.join("usr/lib")).ok()?;
    entries.filter_map(|entry| Some(entry.ok()?.path().join(name))).find(|path| path.is_file())
}
