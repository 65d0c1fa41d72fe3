//! Chooses the kernels by the target's architecture, which stable Rust tells build scripts only.
use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(kernels, values(\"dsp\", \"armv6m\", \"x86\"))");
    let target = env::var("TARGET").expect("cargo sets it");
    // Armv7E-M has the DSP extension. In Armv8-M it is optional: the feature says it is there.
    let has_dsp = target.starts_with("thumbv7em")
        || target.starts_with("thumbv8m.main") && env::var_os("CARGO_FEATURE_DSP").is_some();
    if has_dsp {
        println!("cargo::rustc-cfg=kernels=\"dsp\"");
    } else if target.starts_with("thumbv6m") {
        println!("cargo::rustc-cfg=kernels=\"armv6m\"");
    } else if target.starts_with("x86_64") && env::var_os("CARGO_FEATURE_STD").is_some() {
        println!("cargo::rustc-cfg=kernels=\"x86\"");
    }
}
