//! Adapters, and the choice among them.
use std::sync::{Arc, Mutex};

use wgpu::{Adapter, DeviceType, Features, Limits, SubmissionIndex};

use super::{gemm::Choices, plan::Element};
use crate::Error;

/// What is used of an adapter that has it.
const WANTED: Features =
    Features::SHADER_F16.union(Features::SUBGROUP).union(Features::TIMESTAMP_QUERY);

/// Which kind of adapter to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// A real GPU if there is one.
    #[default]
    Auto,
    /// A real GPU, or an error.
    Gpu,
    /// A software adapter, or an error: slow, for tests of the shaders.
    Software,
}

/// How much of the adapter's memory limits to ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MemoryLimits {
    /// As much as the adapter gives.
    #[default]
    Adapter,
    /// wgpu's defaults, which every adapter has: 128 MiB a binding, 256 MiB a buffer.
    Default,
    /// The defaults, but no more than so many bytes a binding.
    AtMost(u64),
}

/// How activations and their gradients are stored; everything is computed in 32 bits, and
/// parameters, their gradients and the optimizer's moments are stored so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// In 32 bits.
    #[default]
    F32,
    /// In 16 bits, in half the memory. The loss is scaled so that gradients neither vanish nor
    /// overflow; a step whose gradients overflow is skipped, and the next one scaled down.
    F16,
}

impl Precision {
    /// What activations and their gradients are made of.
    pub(super) const fn element(self) -> Element {
        match self {
            Precision::F32 => Element::F32,
            Precision::F16 => Element::F16,
        }
    }
}

/// What an adapter is and how much it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct AdapterDescription {
    /// The adapter's name, as its driver gives it.
    pub name: String,
    /// The programming interface: `vulkan`, `metal` or `dx12`.
    pub backend: String,
    /// `discrete GPU`, `integrated GPU`, `virtual GPU`, `software` or `other`.
    pub kind: &'static str,
    /// The driver and its version.
    pub driver: String,
    /// Whether it runs shaders on the CPU.
    pub software: bool,
    /// Largest buffer, in bytes.
    pub max_buffer: u64,
    /// Largest range of a buffer that a shader sees at once, in bytes.
    pub max_binding: u64,
    /// Workgroup memory, in bytes.
    pub workgroup_memory: u32,
    /// Most invocations of a workgroup.
    pub workgroup_invocations: u32,
    /// Most storage buffers of a shader.
    pub storage_buffers: u32,
    /// Whether shaders may use 16-bit floats.
    pub f16: bool,
    /// Fewest and most invocations of a subgroup, where shaders may exchange values in one.
    pub subgroups: Option<(u32, u32)>,
    /// Whether the adapter times what it runs.
    pub timestamps: bool,
    /// Whether shaders may use cooperative matrices.
    pub cooperative_matrices: bool,
}

impl AdapterDescription {
    fn new(adapter: &Adapter) -> AdapterDescription {
        let info = adapter.get_info();
        let limits = adapter.limits();
        let features = adapter.features();
        let sizes = (info.subgroup_min_size, info.subgroup_max_size);
        AdapterDescription {
            kind: match info.device_type {
                DeviceType::DiscreteGpu => "discrete GPU",
                DeviceType::IntegratedGpu => "integrated GPU",
                DeviceType::VirtualGpu => "virtual GPU",
                DeviceType::Cpu => "software",
                DeviceType::Other => "other",
            },
            name: info.name,
            backend: info.backend.to_str().to_owned(),
            driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
            software: info.device_type == DeviceType::Cpu,
            max_buffer: limits.max_buffer_size,
            max_binding: limits.max_storage_buffer_binding_size,
            workgroup_memory: limits.max_compute_workgroup_storage_size,
            workgroup_invocations: limits.max_compute_invocations_per_workgroup,
            storage_buffers: limits.max_storage_buffers_per_shader_stage,
            f16: features.contains(Features::SHADER_F16),
            subgroups: features.contains(Features::SUBGROUP).then_some(sizes),
            timestamps: features.contains(Features::TIMESTAMP_QUERY),
            cooperative_matrices: features.contains(Features::EXPERIMENTAL_COOPERATIVE_MATRIX),
        }
    }

    /// Invocations of every subgroup, where that is one number that a workgroup may have. With
    /// four a block would go round in too few steps to be worth it, and SwiftShader, which has
    /// four, takes gigabytes to compile it.
    pub fn lanes(&self) -> Option<usize> {
        let fixed = self.subgroups.filter(|(least, most)| least == most && (8..=64).contains(most));
        fixed.map(|(lanes, _)| lanes as usize)
    }
}

/// Every adapter of this machine, best first.
pub fn adapters() -> Vec<AdapterDescription> {
    enumerate().iter().map(AdapterDescription::new).collect()
}

/// Adapters in order of preference; the driver's own order among equals.
fn enumerate() -> Vec<Adapter> {
    // wgpu's own variables, such as WGPU_BACKEND and WGPU_DEBUG, count.
    let instance =
        wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    adapters.sort_by_key(|adapter| match adapter.get_info().device_type {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    });
    adapters
}

/// An open device: its queue, its description, and the first error it reported. Clones are the
/// same device.
#[derive(Debug, Clone)]
pub struct Device {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    description: AdapterDescription,
    precision: Precision,
    choices: Arc<Choices>,
    checked: bool,
    fault: Arc<Mutex<Option<Error>>>,
}

impl Device {
    /// Opens the best adapter of the wanted kind; `None` only for [`Choice::Auto`] without a GPU.
    ///
    /// # Errors
    /// If there is no such adapter or it cannot be opened.
    pub fn open(choice: Choice, memory: MemoryLimits) -> Result<Option<Device>, Error> {
        let software = choice == Choice::Software;
        let suits = |adapter: &Adapter| {
            (adapter.get_info().device_type == DeviceType::Cpu) == software
                && Limits::default().check_limits(&adapter.limits())
        };
        match enumerate().into_iter().find(suits) {
            Some(adapter) => Device::request(&adapter, memory).map(Some),
            None if choice == Choice::Auto => Ok(None),
            None => Err(Error::Device(missing(software))),
        }
    }

    fn request(adapter: &Adapter, memory: MemoryLimits) -> Result<Device, Error> {
        let has = adapter.limits();
        let mut limits = Limits::default();
        match memory {
            MemoryLimits::Adapter => {
                limits.max_buffer_size = has.max_buffer_size;
                limits.max_storage_buffer_binding_size = has.max_storage_buffer_binding_size;
            }
            MemoryLimits::Default => {}
            MemoryLimits::AtMost(bytes) => {
                let binding = limits.max_storage_buffer_binding_size.min(bytes);
                limits.max_storage_buffer_binding_size = binding;
            }
        }
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("kibitzer"),
            required_limits: limits,
            required_features: adapter.features() & WANTED,
            ..Default::default()
        };
        let description = AdapterDescription::new(adapter);
        let choices = Arc::new(Choices::untimed(description.software, description.lanes()));
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .map_err(|e| Error::Device(format!("{} cannot be opened: {e}", description.name)))?;
        let fault = Arc::new(Mutex::new(None));
        let first = Arc::clone(&fault);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            if let Ok(mut slot) = first.lock() {
                slot.get_or_insert_with(|| match error {
                    wgpu::Error::OutOfMemory { .. } => Error::OutOfMemory,
                    other => Error::Device(other.to_string().replace('\n', " ")),
                });
            }
        }));
        Ok(Device {
            device,
            queue,
            description,
            precision: Precision::F32,
            choices,
            checked: false,
            fault,
        })
    }

    /// The same device with this precision.
    ///
    /// # Errors
    /// If its adapter has no 16-bit floats.
    pub fn with_precision(self, precision: Precision) -> Result<Device, Error> {
        if precision == Precision::F16 && !self.description.f16 {
            let name = self.description.name;
            return Err(Error::Device(format!(
                "{name} has no 16-bit floats in shaders; use --precision f32"
            )));
        }
        Ok(Device { precision, ..self })
    }

    /// The precision of activations and their gradients.
    pub const fn precision(&self) -> Precision {
        self.precision
    }

    /// The same device with these shapes of matrix products.
    #[must_use]
    pub fn with_choices(self, choices: Choices) -> Device {
        Device { choices: Arc::new(choices), ..self }
    }

    /// The same device, with wgpu's checks also in shaders that prove their bounds.
    #[must_use]
    pub fn with_checks(self) -> Device {
        Device { checked: true, ..self }
    }

    /// The shapes of its matrix products.
    pub fn choices(&self) -> &Choices {
        &self.choices
    }

    /// Whether every shader has wgpu's checks.
    pub(super) const fn is_checked(&self) -> bool {
        self.checked
    }

    /// What the device is.
    pub fn description(&self) -> &AdapterDescription {
        &self.description
    }

    /// The limits that the device was opened with.
    pub fn limits(&self) -> Limits {
        self.device.limits()
    }

    /// The first error that the device reported since it was opened, if any.
    pub(super) fn check(&self) -> Result<(), Error> {
        let slot = self.fault.lock().map_err(|e| Error::Device(e.to_string()))?;
        slot.clone().map_or(Ok(()), Err)
    }

    /// Waits until everything submitted is done.
    pub(super) fn wait(&self) -> Result<(), Error> {
        self.wait_for(None)
    }

    /// Waits until a submission is done, or all of them.
    pub(super) fn wait_for(&self, submission: Option<SubmissionIndex>) -> Result<(), Error> {
        let wait = wgpu::PollType::Wait { submission_index: submission, timeout: None };
        let polled = self.device.poll(wait);
        polled.map_err(|e| Error::Device(format!("{} stopped: {e}", self.description.name)))?;
        self.check()
    }
}

fn missing(software: bool) -> String {
    if software {
        "no software adapter found; install a software Vulkan driver (Debian and Ubuntu: apt-get \
         install mesa-vulkan-drivers)"
    } else {
        "no GPU found; install its Vulkan driver (Debian and Ubuntu, AMD and Intel: apt-get \
         install mesa-vulkan-drivers), or use --device cpu"
    }
    .to_owned()
}
