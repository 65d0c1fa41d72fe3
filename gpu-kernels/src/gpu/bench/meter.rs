use std::time::Duration;

use wgpu::{
    BufferDescriptor, BufferUsages, ComputePass, ComputePassDescriptor, ComputePassTimestampWrites,
    QuerySet, QuerySetDescriptor, QueryType,
};

use crate::{Error, gpu::Device};

/// How long a measurement should take, and how long no submission may: watchdogs end those of
/// seconds, and a screen stands still meanwhile.
const WANTED: f64 = 0.02;
const MOST: f64 = 0.25;
/// Measurements, of which the median counts.
const REPEATS: usize = 5;
/// Most runs of the measured work in one submission.
const MOST_RUNS: u32 = 1 << 16;

/// Times work on a device.
pub struct Meter<'a> {
    device: Device,
    clock: &'a dyn Fn() -> Duration,
    timestamps: Option<Timestamps>,
}

/// The device's own times of a pass's start and end.
struct Timestamps {
    queries: QuerySet,
    resolved: wgpu::Buffer,
    read: wgpu::Buffer,
    /// Seconds of a tick.
    tick: f64,
}

impl<'a> Meter<'a> {
    /// A meter on an open device, by the device's timestamps where it has them, else by `clock`,
    /// which tells the time since any fixed moment.
    ///
    /// # Errors
    /// If the device fails.
    pub fn new(device: &Device, clock: &'a dyn Fn() -> Duration) -> Result<Meter<'a>, Error> {
        let timestamps = device.description().timestamps.then(|| Timestamps::new(device));
        device.check()?;
        Ok(Meter { device: device.clone(), clock, timestamps })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The time since the clock's fixed moment.
    pub fn now(&self) -> Duration {
        (self.clock)()
    }

    /// Seconds that one run of `encode` takes: the median of some measurements, each of as many
    /// runs as make it last long enough to be told from nothing.
    pub(in crate::gpu) fn seconds(
        &self,
        encode: &dyn Fn(&mut ComputePass<'_>) -> Result<(), Error>,
    ) -> Result<f64, Error> {
        // The first run compiles what the driver has put off.
        self.time(encode, 1)?;
        let mut runs = 1;
        let mut took = self.time(encode, runs)?;
        while took < WANTED && runs < MOST_RUNS {
            let wanted = (WANTED / took.max(1e-6)).clamp(2.0, 64.0) as u32;
            runs = runs.saturating_mul(wanted).min(MOST_RUNS);
            took = self.time(encode, runs)?;
        }
        if took > MOST {
            return Ok(took / f64::from(runs));
        }
        let mut all = vec![took];
        for _ in 1..REPEATS {
            all.push(self.time(encode, runs)?);
        }
        all.sort_by(f64::total_cmp);
        Ok(all[all.len() / 2] / f64::from(runs))
    }

    /// Seconds of so many runs in one submission.
    fn time(
        &self,
        encode: &dyn Fn(&mut ComputePass<'_>) -> Result<(), Error>,
        runs: u32,
    ) -> Result<f64, Error> {
        let Device { device, queue, .. } = &self.device;
        let mut encoder = device.create_command_encoder(&Default::default());
        {
            let timestamp_writes = self.timestamps.as_ref().map(|t| ComputePassTimestampWrites {
                query_set: &t.queries,
                beginning_of_pass_write_index: Some(0),
                end_of_pass_write_index: Some(1),
            });
            let descriptor = ComputePassDescriptor { label: None, timestamp_writes };
            let mut pass = encoder.begin_compute_pass(&descriptor);
            for _ in 0..runs {
                encode(&mut pass)?;
            }
        }
        if let Some(t) = &self.timestamps {
            encoder.resolve_query_set(&t.queries, 0..2, &t.resolved, 0);
            encoder.copy_buffer_to_buffer(&t.resolved, 0, &t.read, 0, 16);
        }
        let commands = encoder.finish();
        let start = self.now();
        queue.submit([commands]);
        self.device.wait()?;
        let waited = (self.now() - start).as_secs_f64();
        match &self.timestamps {
            Some(timestamps) => timestamps.read(&self.device, waited),
            None => Ok(waited),
        }
    }
}

impl Timestamps {
    fn new(device: &Device) -> Timestamps {
        let buffer = |usage| {
            device.device.create_buffer(&BufferDescriptor {
                label: Some("timestamps"),
                size: 16,
                usage: usage | BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        Timestamps {
            queries: device.device.create_query_set(&QuerySetDescriptor {
                label: None,
                ty: QueryType::Timestamp,
                count: 2,
            }),
            resolved: buffer(BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC),
            read: buffer(BufferUsages::MAP_READ),
            tick: f64::from(device.queue.get_timestamp_period()) * 1e-9,
        }
    }

    /// Seconds between the two; the time waited where a driver gives nothing sensible.
    fn read(&self, device: &Device, waited: f64) -> Result<f64, Error> {
        let failed = |e: &dyn std::fmt::Display| Error::Device(format!("timestamps: {e}"));
        self.read.map_async(wgpu::MapMode::Read, .., |_| ());
        device.wait()?;
        let ticks: Vec<u64> = {
            let mapped = self.read.get_mapped_range(..).map_err(|e| failed(&e))?;
            mapped.as_chunks().0.iter().map(|&bytes| u64::from_le_bytes(bytes)).collect()
        };
        self.read.unmap();
        let seconds = ticks[1].wrapping_sub(ticks[0]) as f64 * self.tick;
        Ok(if seconds > 0.0 && seconds < waited { seconds } else { waited })
    }
}
