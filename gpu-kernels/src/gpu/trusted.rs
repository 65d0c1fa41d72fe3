//! Shaders without the checks that wgpu adds. The one file that may use `unsafe` here: wgpu makes
//! such modules only so.
#![allow(unsafe_code)]
use wgpu::{ShaderModule, ShaderModuleDescriptor, ShaderRuntimeChecks};

/// Kernels that prove their bounds: every index is below a size that the plan made the buffer
/// for, no loop depends on data, and no divisor is zero.
const PROVED: [&str; 1] = ["gemm"];

/// A shader module; `checked` asks for wgpu's checks even where the kernel does without.
pub(super) fn module(
    device: &wgpu::Device,
    checked: bool,
    descriptor: ShaderModuleDescriptor<'_>,
) -> ShaderModule {
    let proved = descriptor.label.is_some_and(|label| PROVED.contains(&label));
    if checked || !proved {
        return device.create_shader_module(descriptor);
    }
    // SAFETY: a matrix product reads and writes rows and columns below the constants M, N and K,
    // times the positions of the run where they scale (`a_row`, `b_row`, `store`), and the plan
    // binds slices of that size for runs of at most its capacity. Workgroup memory is indexed by
    // the invocation and by constants. Its loops end at sizes, its divisors are constants above
    // zero and a number of tiles that is above zero where there is a workgroup. The tests run
    // every shape at sizes that nothing divides, with the checks and without, to the same bits.
    unsafe { device.create_shader_module_trusted(descriptor, ShaderRuntimeChecks::unchecked()) }
}
