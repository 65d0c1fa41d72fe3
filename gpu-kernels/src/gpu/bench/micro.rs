use wgpu::{
    BindGroupDescriptor, BindGroupEntry, BufferDescriptor, BufferUsages, ComputePipeline,
    ComputePipelineDescriptor, ShaderModuleDescriptor, ShaderSource,
};

use super::Meter;
use crate::{
    Error,
    gpu::{
        Device, Shader,
        gemm::expand,
        shader::{self, Source},
    },
};

/// Invocations of a workgroup of the micro-kernels.
const INVOCATIONS: u64 = 256;
/// Links that a turn takes a chain on, in vectors of four: see `bench_fma.wgsl`.
const LINKS: u64 = 8 * 4;
/// Chains of an invocation: as many as hide a multiply-add's latency, and not more than fit the
/// registers, which differs among adapters.
const CHAINS: [usize; 3] = [2, 4, 8];
/// Bytes that are copied: more than caches hold, where it is no software adapter.
const COPIED: u64 = 128 << 20;
const COPIED_BY_SOFTWARE: u64 = 16 << 20;

/// What an adapter reaches at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Roof {
    /// Multiply-adds in registers, two operations each, in 10⁹ a second.
    pub fma_gflops: f64,
    /// Bytes read and written by a copy, in 10⁹ a second.
    pub copy_gbs: f64,
}

impl Roof {
    /// The least seconds for so many operations and bytes.
    pub fn seconds(&self, flops: f64, bytes: f64) -> f64 {
        (flops / self.fma_gflops).max(bytes / self.copy_gbs) * 1e-9
    }
}

/// The micro-kernels. For validation.
pub fn shaders() -> Vec<Shader> {
    let shader = |source: &Source, text, bindings| Shader { name: source.name, text, bindings };
    let fma = |chains| {
        let text = expand(shader::BENCH_FMA.text, &[("CHAINS", chains)]);
        shader(&shader::BENCH_FMA, text, vec![(0, true)])
    };
    let copy = shader::BENCH_COPY;
    let copy = shader(&copy, copy.text.to_owned(), vec![(0, true), (2, false)]);
    CHAINS.into_iter().map(fma).chain([copy]).collect()
}

/// Measures an adapter's peaks by micro-kernels.
///
/// # Errors
/// If the device fails.
pub fn roof(meter: &Meter<'_>) -> Result<Roof, Error> {
    let mut fma_gflops: f64 = 0.0;
    for chains in CHAINS {
        fma_gflops = fma_gflops.max(fma(meter, chains)?);
    }
    Ok(Roof { fma_gflops, copy_gbs: copy(meter)? })
}

/// 10⁹ operations a second with so many chains an invocation.
fn fma(meter: &Meter<'_>, chains: usize) -> Result<f64, Error> {
    let device = meter.device();
    let groups = if device.description().software { 64 } else { 4096 };
    let text = expand(shader::BENCH_FMA.text, &[("CHAINS", chains)]);
    let turns = 64;
    let result = buffer(device, groups * INVOCATIONS * 4);
    let kernel = Kernel::new(device, &text, [turns, 1, 0, 0], &[&result])?;
    let seconds = meter.seconds(&|pass| {
        kernel.encode(pass, groups as u32);
        Ok(())
    })?;
    let links = groups * INVOCATIONS * u64::from(turns) * LINKS * chains as u64;
    Ok(2.0 * links as f64 / seconds * 1e-9)
}

/// 10⁹ bytes a second, those read and those written.
fn copy(meter: &Meter<'_>) -> Result<f64, Error> {
    let device = meter.device();
    let limits = device.limits();
    let wanted = if device.description().software { COPIED_BY_SOFTWARE } else { COPIED };
    let bytes = wanted.min(limits.max_storage_buffer_binding_size).min(limits.max_buffer_size);
    let (to, from) = (buffer(device, bytes), buffer(device, bytes));
    let vectors = bytes / 16;
    let kernel =
        Kernel::new(device, shader::BENCH_COPY.text, [vectors as u32, 0, 0, 0], &[&to, &from])?;
    let groups = (vectors / INVOCATIONS / 8).clamp(1, 32_768) as u32;
    let seconds = meter.seconds(&|pass| {
        kernel.encode(pass, groups);
        Ok(())
    })?;
    Ok(2.0 * bytes as f64 / seconds * 1e-9)
}

fn buffer(device: &Device, size: u64) -> wgpu::Buffer {
    device.device.create_buffer(&BufferDescriptor {
        label: Some("bench"),
        size,
        usage: BufferUsages::STORAGE,
        mapped_at_creation: false,
    })
}

/// A micro-kernel, bound: its first buffer at 0, a uniform of four numbers at 1, the rest from 2.
struct Kernel {
    pipeline: ComputePipeline,
    group: wgpu::BindGroup,
}

impl Kernel {
    fn new(
        device: &Device,
        text: &str,
        numbers: [u32; 4],
        buffers: &[&wgpu::Buffer],
    ) -> Result<Kernel, Error> {
        let uniform = device.device.create_buffer(&BufferDescriptor {
            label: Some("bench"),
            size: 16,
            usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        device.queue.write_buffer(&uniform, 0, bytemuck::bytes_of(&numbers));
        let module = device.device.create_shader_module(ShaderModuleDescriptor {
            label: Some("bench"),
            source: ShaderSource::Wgsl(text.into()),
        });
        let pipeline = device.device.create_compute_pipeline(&ComputePipelineDescriptor {
            label: Some("bench"),
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: Default::default(),
            cache: None,
        });
        let bound = [buffers[0], &uniform].into_iter().chain(buffers[1..].iter().copied());
        let entries: Vec<_> = (0..)
            .zip(bound)
            .map(|(binding, buffer)| BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let group = device.device.create_bind_group(&BindGroupDescriptor {
            label: Some("bench"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        device.check()?;
        Ok(Kernel { pipeline, group })
    }

    fn encode(&self, pass: &mut wgpu::ComputePass<'_>, groups: u32) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(groups, 1, 1);
    }
}
