//! Every shader, through naga's validator and its writers for every platform. No GPU needed.
use std::collections::BTreeSet;

use kibitzer_core::net::{Config, PolicyHead};
use kibitzer_gpu::gpu::{
    Precision, Shader, bench,
    gemm::{Choices, SHAPES},
    shaders,
};
use naga::{
    AddressSpace, Module, ShaderStage, StorageAccess,
    back::{hlsl, msl, spv},
    valid::{
        Capabilities, ModuleInfo, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator,
    },
};

/// wgpu's default limits.
const STORAGE_BUFFERS: usize = 8;
const WORKGROUP_BYTES: u32 = 16 << 10;
const INVOCATIONS: u32 = 256;

/// Configurations that between them use every operation, in round and in odd sizes.
fn configurations() -> Vec<Config> {
    let small = Config {
        width: 32,
        heads: 4,
        encoder_blocks: 1,
        trunk: "SA".try_into().unwrap(),
        ssm_state: 4,
        ssm_rank: 4,
        ..Config::default()
    };
    let from_to = Config {
        policy_head: PolicyHead::FromTo,
        policy_dim: 16,
        attention_bias: true,
        ..small.clone()
    };
    let odd =
        Config { width: 30, heads: 3, ssm_state: 3, ssm_rank: 5, ssm_conv: 3, ..from_to.clone() };
    let one_head = Config { width: 512, heads: 1, ..from_to.clone() };
    vec![Config::default(), small, from_to, odd, one_head]
}

/// Every shape of the matrix products in one configuration of odd sizes and one of round ones,
/// for subgroups of 32; all configurations in what a GPU without subgroups takes, and the rest of
/// them in what takes the place of workgroup memory where there are.
fn all() -> Vec<Shader> {
    let untimed = Choices::untimed(false, None);
    let of = |config: &Config| {
        let some = [(3, Precision::F32), (256, Precision::F32), (3, Precision::F16)];
        let of = |(positions, precision)| shaders(config, positions, precision, &untimed).unwrap();
        some.into_iter().flat_map(of).collect::<Vec<_>>()
    };
    let configurations = configurations();
    let mut all: Vec<Shader> = configurations.iter().flat_map(of).chain(bench::shaders()).collect();
    for shape in &SHAPES {
        let choices = Choices::untimed(false, Some(32)).all(shape).unwrap();
        for (config, precision) in [(2, Precision::F16), (2, Precision::F32), (3, Precision::F32)] {
            let config = &configurations[config];
            let shaders = shaders(config, 256, precision, &choices).unwrap();
            all.extend(shaders.into_iter().filter(is_gemm));
        }
    }
    for lanes in [8, 64] {
        let choices = Choices::untimed(true, Some(lanes));
        for (config, precision) in
            configurations.iter().zip([Precision::F32, Precision::F16].into_iter().cycle())
        {
            let shaders = shaders(config, 256, precision, &choices).unwrap();
            all.extend(shaders.into_iter().filter(|shader| !is_gemm(shader)));
        }
    }
    all
}

fn is_gemm(shader: &Shader) -> bool {
    shader.name == "gemm"
}

fn validated(shader: &Shader) -> (Module, ModuleInfo) {
    let module = naga::front::wgsl::parse_str(&shader.text)
        .unwrap_or_else(|e| panic!("{}: {}", shader.name, e.emit_to_string(&shader.text)));
    let info = Validator::new(
        ValidationFlags::all(),
        Capabilities::SHADER_FLOAT16 | Capabilities::SUBGROUP,
    )
    .subgroup_stages(ShaderStages::COMPUTE)
    .subgroup_operations(SubgroupOperationSet::all())
    .validate(&module)
    .unwrap_or_else(|e| panic!("{}: {}", shader.name, e.emit_to_string(&shader.text)));
    (module, info)
}

#[test]
fn every_shader_is_valid_and_can_be_written_for_every_platform() {
    let mut seen = BTreeSet::new();
    for shader in all() {
        if !seen.insert(shader.text.clone()) {
            continue;
        }
        let (module, info) = validated(&shader);
        let name = shader.name;
        let spirv = spv::PipelineOptions {
            shader_stage: ShaderStage::Compute,
            entry_point: "main".to_owned(),
        };
        let options = spv::Options { lang_version: (1, 3), ..Default::default() };
        let words = spv::write_vec(&module, &info, &options, Some(&spirv));
        assert!(!words.unwrap_or_else(|e| panic!("{name} as SPIR-V: {e}")).is_empty());

        let options = msl::Options {
            fake_missing_bindings: true,
            lang_version: (2, 1),
            ..Default::default()
        };
        let metal = msl::write_string(&module, &info, &options, &msl::PipelineOptions::default());
        assert!(metal.unwrap_or_else(|e| panic!("{name} as MSL: {e}")).0.contains("kernel void"));

        let mut text = String::new();
        let options = hlsl::Options {
            fake_missing_bindings: true,
            shader_model: hlsl::ShaderModel::V6_0,
            ..Default::default()
        };
        let pipeline = hlsl::PipelineOptions::default();
        hlsl::Writer::new(&mut text, &options, &pipeline)
            .write(&module, &info, None)
            .unwrap_or_else(|e| panic!("{name} as HLSL: {e}"));
        assert!(text.contains("numthreads"), "{name}");
    }
    assert!(seen.len() > 100, "only {} shaders", seen.len());
}

/// The storage buffers that an entry point uses, and whether it may write them.
fn storage(module: &Module, info: &ModuleInfo) -> Vec<(u32, bool)> {
    let used = info.get_entry_point(0);
    let buffers =
        module.global_variables.iter().filter_map(|(handle, global)| match global.space {
            AddressSpace::Storage { access } if !used[handle].is_empty() => {
                let binding = global.binding.as_ref().expect("a storage buffer has a binding");
                Some((binding.binding, access.contains(StorageAccess::STORE)))
            }
            _ => None,
        });
    let mut buffers: Vec<_> = buffers.collect();
    buffers.sort_unstable();
    buffers
}

#[test]
fn every_shader_has_what_it_uses_and_keeps_to_the_default_limits() {
    for shader in all() {
        let (module, info) = validated(&shader);
        let name = shader.name;
        assert_eq!(module.entry_points.len(), 1, "{name}");
        let bound = &shader.bindings;
        for used in storage(&module, &info) {
            assert!(bound.contains(&used), "{name} uses {used:?}, but only {bound:?} are bound");
        }
        assert!(bound.len() <= STORAGE_BUFFERS, "{name} binds {}", bound.len());
        let invocations: u32 = module.entry_points[0].workgroup_size.iter().product();
        assert!(invocations <= INVOCATIONS, "{name} has {invocations} invocations");
        let workgroup: u32 = module
            .global_variables
            .iter()
            .filter(|(_, global)| global.space == AddressSpace::WorkGroup)
            .map(|(_, global)| module.types[global.ty].inner.size(module.to_ctx()))
            .sum();
        assert!(workgroup <= WORKGROUP_BYTES, "{name} takes {workgroup} bytes of a workgroup");
    }
}

#[test]
fn every_file_is_part_of_some_shader() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/gpu/wgsl");
    let texts: Vec<_> = all().into_iter().map(|shader| shader.text).collect();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        // Lines with names in braces are written out, some of them many times.
        let written_out = |line: &str| {
            ["each ", "{LOCAL}", "{x}", "{X}"].into_iter().any(|name| line.contains(name))
        };
        let plain: Vec<_> = text.lines().filter(|line| !written_out(line)).collect();
        let used = |whole: &String| plain.iter().all(|line| whole.contains(line));
        assert!(texts.iter().any(used), "{} is unused", path.display());
    }
}
