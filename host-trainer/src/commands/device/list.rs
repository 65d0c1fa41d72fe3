//! Every adapter of this machine.
use std::io::{self, Write as _};

use anyhow::Result;
use kibitzer_gpu::gpu::{AdapterDescription, adapters};
use serde_json::{Value, json};

const MIB: u64 = 1 << 20;

/// Prints the adapters.
pub fn run(as_json: bool) -> Result<()> {
    let all = adapters();
    let mut out = io::stdout().lock();
    if as_json {
        let all: Vec<Value> = all.iter().map(to_json).collect();
        return Ok(writeln!(out, "{}", json!({ "adapters": all }))?);
    }
    if all.is_empty() {
        let mend = "install a Vulkan driver, such as mesa-vulkan-drivers on Debian and Ubuntu";
        return Ok(writeln!(out, "no adapter; training runs on the processor ({mend})")?);
    }
    for adapter in &all {
        print(&mut out, adapter)?;
    }
    Ok(())
}

fn print(out: &mut impl io::Write, a: &AdapterDescription) -> io::Result<()> {
    writeln!(out, "{} ({}, {})", a.name, a.kind, a.backend)?;
    writeln!(out, "  driver     {}", a.driver)?;
    let (buffer, binding) = (a.max_buffer / MIB, a.max_binding / MIB);
    writeln!(out, "  memory     {buffer} MiB a buffer, {binding} MiB a binding")?;
    writeln!(
        out,
        "  workgroup  {} invocations, {} KiB, {} storage buffers",
        a.workgroup_invocations,
        a.workgroup_memory / 1024,
        a.storage_buffers
    )?;
    let yes = |has, name: &str| if has { name.to_owned() } else { format!("no {name}") };
    let subgroups = match a.subgroups {
        Some((least, most)) if least == most => format!("subgroups of {least}"),
        Some((least, most)) => format!("subgroups of {least} to {most}"),
        None => "no subgroups".to_owned(),
    };
    let f16 = yes(a.f16, "f16");
    let timestamps = yes(a.timestamps, "timestamp queries");
    let matrices = yes(a.cooperative_matrices, "cooperative matrices");
    writeln!(out, "  shaders    {f16}, {subgroups}, {timestamps}, {matrices}")
}

fn to_json(a: &AdapterDescription) -> Value {
    json!({
        "name": a.name,
        "kind": a.kind,
        "backend": a.backend,
        "driver": a.driver,
        "software": a.software,
        "max_buffer": a.max_buffer,
        "max_binding": a.max_binding,
        "workgroup_memory": a.workgroup_memory,
        "workgroup_invocations": a.workgroup_invocations,
        "storage_buffers": a.storage_buffers,
        "f16": a.f16,
        "subgroups": a.subgroups,
        "timestamps": a.timestamps,
        "cooperative_matrices": a.cooperative_matrices,
    })
}
