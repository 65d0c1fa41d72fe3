//! Batches prepared ahead by threads of their own, in an order that only the seed decides.
use std::{
    ops::Range,
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use kibitzer_core::inputs::Perspective;
use kibitzer_gpu::Batch;

use crate::{
    batches,
    records::{Order, Record, RecordError},
};

/// Batches that each thread prepares ahead.
const AHEAD: usize = 3;

/// What the loader reads and in which order.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Positions a batch.
    pub batch: usize,
    /// The order of the training records.
    pub order: Order,
    /// From whose side the network sees the board.
    pub perspective: Perspective,
}

/// The batches of a range of steps, one after the other.
///
/// Thread t of n prepares every n-th batch from the t-th on, so that their order never depends
/// on which thread is faster.
#[derive(Debug)]
pub struct Loader {
    lanes: Vec<Receiver<Result<Batch, RecordError>>>,
    next: usize,
    waited: Duration,
}

impl Loader {
    /// Starts `threads` threads on the batches of `steps`.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn start<R>(
        records: &Arc<R>,
        plan: &Plan,
        steps: &Range<u64>,
        threads: usize,
    ) -> Result<Loader>
    where
        R: std::ops::Deref<Target = [Record]> + Send + Sync + 'static,
    {
        let lane = |thread: usize| {
            let (sender, receiver) = sync_channel(AHEAD);
            let (records, plan) = (Arc::clone(records), plan.clone());
            let steps = (steps.start + thread as u64..steps.end).step_by(threads);
            thread::Builder::new()
                .name(format!("loader {thread}"))
                .spawn(move || prepare(&records, plan, steps, &sender))
                .context("starting a thread")?;
            Ok(receiver)
        };
        let lanes = (0..threads).map(lane).collect::<Result<_>>()?;
        Ok(Loader { lanes, next: 0, waited: Duration::ZERO })
    }

    /// The next batch, or `None` after the last one.
    ///
    /// # Errors
    /// If a record is damaged.
    pub fn next_batch(&mut self) -> Result<Option<Batch>, RecordError> {
        let start = Instant::now();
        let batch = self.lanes[self.next].recv().ok().transpose();
        self.waited += start.elapsed();
        self.next = (self.next + 1) % self.lanes.len();
        batch
    }

    /// Time spent in [`Loader::next_batch`] since this was last asked.
    pub fn take_waited(&mut self) -> Duration {
        std::mem::take(&mut self.waited)
    }
}

/// Prepares the batches of `steps` until they are done or nobody takes them any more.
fn prepare(
    records: &[Record],
    mut plan: Plan,
    steps: impl Iterator<Item = u64>,
    sender: &SyncSender<Result<Batch, RecordError>>,
) {
    for step in steps {
        if sender.send(plan.batch_of(records, step)).is_err() {
            return;
        }
    }
}

impl Plan {
    /// The batch of step `step` (from 0).
    ///
    /// # Errors
    /// If a record is damaged.
    pub fn batch_of(&mut self, records: &[Record], step: u64) -> Result<Batch, RecordError> {
        let mut batch = batches::with_capacity(self.batch);
        let first = step * self.batch as u64;
        for place in first..first + self.batch as u64 {
            let record = &records[self.order.at(place) as usize];
            batches::push_record(&mut batch, record, self.perspective)?;
        }
        Ok(batch)
    }
}

#[cfg(test)]
mod tests {
    use kibitzer_core::shakmaty::{Chess, Position as _};

    use super::*;

    fn records() -> Arc<Vec<Record>> {
        let position = Chess::default();
        let moves = position.legal_moves();
        Arc::new(moves.iter().map(|&mv| Record::new(&position, mv, 0)).collect())
    }

    fn plan() -> Plan {
        Plan { batch: 3, order: Order::new((0..20).collect(), 1), perspective: Perspective::Mover }
    }

    fn load(steps: Range<u64>, threads: usize) -> Vec<Batch> {
        let mut loader = Loader::start(&records(), &plan(), &steps, threads).unwrap();
        std::iter::from_fn(|| loader.next_batch().unwrap()).collect()
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let one = load(0..15, 1);
        assert_eq!(one.len(), 15);
        assert_eq!(load(0..15, 3), one);
        assert_eq!(load(7..15, 2), one[7..]);
    }

    #[test]
    fn a_damaged_record_is_reported() {
        let mut damaged = records().to_vec();
        damaged[3] = bytemuck::Zeroable::zeroed();
        let mut loader = Loader::start(&Arc::new(damaged), &plan(), &(0..7), 1).unwrap();
        let outcome: Result<Vec<Option<Batch>>, RecordError> =
            (0..7).map(|_| loader.next_batch()).collect();
        assert_eq!(outcome, Err(RecordError::Position));
    }
}
