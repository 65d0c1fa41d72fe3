//! Dispatches with their pipelines and bind groups made, ready to be encoded again and again.
use std::collections::HashMap;

use wgpu::{
    BindGroupDescriptor, BindGroupEntry, BindGroupLayout, BindGroupLayoutDescriptor,
    BindGroupLayoutEntry, BindingResource, BindingType, BufferBinding, BufferBindingType,
    BufferSize, ComputePass, ComputePipeline, ComputePipelineDescriptor,
    PipelineCompilationOptions, PipelineLayoutDescriptor, ShaderModuleDescriptor, ShaderSource,
    ShaderStages,
};

use super::{
    device::Device,
    memory::Memory,
    plan::{Binding, Dispatch, Grid},
    trusted,
};
use crate::{Error, program::Sizes};

/// A dispatch, ready.
#[derive(Debug)]
pub(super) struct Recorded {
    pipeline: ComputePipeline,
    group: wgpu::BindGroup,
    grid: Grid,
}

impl Recorded {
    /// Encodes it for a run of these sizes.
    pub fn encode(&self, pass: &mut ComputePass<'_>, sizes: Sizes) -> Result<(), Error> {
        let (x, y) = self.grid.workgroups(sizes)?;
        if x > 0 {
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &self.group, &[]);
            pass.dispatch_workgroups(x, y, 1);
        }
        Ok(())
    }
}

/// Makes pipelines, one for each shader text.
pub(super) struct Recorder<'a> {
    device: &'a Device,
    memory: &'a Memory,
    /// The uniform that every shader binds at 0.
    run: &'a wgpu::Buffer,
    layouts: HashMap<Vec<(u32, bool)>, BindGroupLayout>,
    pipelines: HashMap<String, ComputePipeline>,
}

impl<'a> Recorder<'a> {
    pub fn new(device: &'a Device, memory: &'a Memory, run: &'a wgpu::Buffer) -> Recorder<'a> {
        let (layouts, pipelines) = (HashMap::new(), HashMap::new());
        Recorder { device, memory, run, layouts, pipelines }
    }

    /// Makes a list of dispatches ready.
    pub fn record(&mut self, dispatches: &[Dispatch]) -> Result<Vec<Recorded>, Error> {
        dispatches.iter().map(|dispatch| self.one(dispatch)).collect()
    }

    fn one(&mut self, dispatch: &Dispatch) -> Result<Recorded, Error> {
        let layout = self.layout(&dispatch.bindings);
        let pipeline = match self.pipelines.get(&dispatch.text) {
            Some(pipeline) => pipeline.clone(),
            None => {
                let pipeline = self.pipeline(dispatch, &layout)?;
                self.pipelines.insert(dispatch.text.clone(), pipeline.clone());
                pipeline
            }
        };
        let bindings = dispatch.bindings.iter().map(|binding| BindGroupEntry {
            binding: binding.number,
            resource: self.resource(binding),
        });
        let run = BindGroupEntry { binding: 0, resource: self.run.as_entire_binding() };
        let entries: Vec<_> = std::iter::once(run).chain(bindings).collect();
        let group = self.device.device.create_bind_group(&BindGroupDescriptor {
            label: Some(dispatch.name),
            layout: &layout,
            entries: &entries,
        });
        self.device.check()?;
        Ok(Recorded { pipeline, group, grid: dispatch.grid })
    }

    fn resource(&self, binding: &Binding) -> BindingResource<'a> {
        let slice = binding.slice;
        BindingResource::Buffer(BufferBinding {
            buffer: self.memory.get(slice.buffer),
            offset: slice.offset(),
            size: BufferSize::new(slice.bytes()),
        })
    }

    fn layout(&mut self, bindings: &[Binding]) -> BindGroupLayout {
        let key: Vec<_> = bindings.iter().map(|b| (b.number, b.writable)).collect();
        if let Some(layout) = self.layouts.get(&key) {
            return layout.clone();
        }
        let entry = |binding, ty| BindGroupLayoutEntry {
            binding,
            visibility: ShaderStages::COMPUTE,
            ty: BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
            count: None,
        };
        let storage = |&(number, writable): &(u32, bool)| {
            entry(number, BufferBindingType::Storage { read_only: !writable })
        };
        let run = entry(0, BufferBindingType::Uniform);
        let entries: Vec<_> = std::iter::once(run).chain(key.iter().map(storage)).collect();
        let layout = self.device.device.create_bind_group_layout(&BindGroupLayoutDescriptor {
            label: None,
            entries: &entries,
        });
        self.layouts.insert(key, layout.clone());
        layout
    }

    fn pipeline(
        &self,
        dispatch: &Dispatch,
        layout: &BindGroupLayout,
    ) -> Result<ComputePipeline, Error> {
        let device = &self.device.device;
        let descriptor = ShaderModuleDescriptor {
            label: Some(dispatch.name),
            source: ShaderSource::Wgsl(dispatch.text.as_str().into()),
        };
        let module = trusted::module(device, self.device.is_checked(), descriptor);
        let layout = device.create_pipeline_layout(&PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(layout)],
            immediate_size: 0,
        });
        // Every kernel writes its workgroup memory before it reads it.
        let compilation_options = PipelineCompilationOptions {
            zero_initialize_workgroup_memory: false,
            ..Default::default()
        };
        let pipeline = device.create_compute_pipeline(&ComputePipelineDescriptor {
            label: Some(dispatch.name),
            layout: Some(&layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options,
            cache: None,
        });
        self.device.check()?;
        Ok(pipeline)
    }
}
