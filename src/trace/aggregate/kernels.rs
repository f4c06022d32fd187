//! Rows of kernels and of their categories.

use super::figures::{Groups, Measure};
use super::select::{Chosen, Numbers};
use super::work_categories::WorkCategories;
use super::{KernelsBy, Options, fraction, totals};

use crate::memory::{self, Room as _, collected};
use crate::trace::{CategoryRow, Figures, KernelName, KernelRow, Kind, NameId, Names, Shape, Trace, Work, short_name};

/// Key of a row. Two functions may have the same readable name, and then differ in the linker's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    names: (NameId, Option<NameId>),
    /// A place in [`Chosen::numbers`].
    device: Option<u32>,
    /// Grid and block.
    shape: Option<[Option<[u32; 3]>; 2]>,
}

/// Properties that the launches of a row share.
#[derive(Debug, Clone, Copy)]
struct Common {
    name: KernelName,
    shape: Shape,
    device_id: Option<i64>,
    /// A place in [`Chosen::numbers`]; totals have none.
    device: Option<u32>,
}

/// The rows, the longest in total first. Their `device` is a place in [`Chosen::numbers`] until [`place`] replaces it.
pub(super) fn rows(
    trace: &Trace,
    chosen: &Chosen<'_>,
    options: &Options<'_>,
    categories: &WorkCategories<'_>,
) -> Vec<KernelRow> {
    let mut groups = Groups::default();
    let mut common: Vec<Common> = Vec::new();
    let group = |(work, &counts): (&Work, &bool)| {
        let Kind::Kernel(name, shape) = work.kind else { return None };
        let device_id = trace.devices[work.queue.device as usize].device_id;
        let device = Some(chosen.number(work.queue.device));
        let key = Key {
            names: (name.full, name.mangled),
            device: device.filter(|_| options.kernels_by == KernelsBy::Device),
            shape: (options.kernels_by == KernelsBy::Shape).then_some([shape.grid, shape.block]),
        };
        counts.then(|| {
            let group = groups.of(key);
            match common.get_mut(group as usize) {
                Some(common) => common.narrow(name, shape, device_id, device),
                None => common.put(Common { name, shape, device_id, device }),
            }
            group
        })
    };
    let group_of: Vec<Option<u32>> = collected(trace.works.all().iter().zip(&chosen.works).map(group));
    let figures = groups.figures(&trace.kernels, &group_of, Measure::Duration, |entry| chosen.operation(entry));
    let of_totals = totals::kernels(trace, chosen, options.kernels_by == KernelsBy::Device);
    let of_totals = of_totals.into_iter().map(|((name, device_id), figures)| {
        (Common { name, shape: Shape::default(), device_id, device: None }, figures)
    });
    let figures: Vec<(Common, Figures)> = collected(common.into_iter().zip(figures).chain(of_totals));
    let total: u64 = figures.iter().fold(0, |sum, (_, figures)| sum.saturating_add(figures.total));
    // Names for which a capture has only totals have no work.
    let category = |name: NameId| {
        categories.of_kernel(name).unwrap_or_else(|| options.categories.of(trace.names.text(name))).into()
    };
    let mut short_names = Names::default();
    let row = |(common, figures): &(Common, Figures)| {
        row(trace, common, figures, category(common.name.full), total, &mut short_names)
    };
    let mut rows: Vec<KernelRow> = collected(figures.iter().filter_map(row));
    // In place: there may be a million.
    rows.sort_unstable_by(|one, other| {
        let key = |row: &KernelRow| (row.device_id, row.device, row.grid, row.block);
        other
            .total_ns
            .cmp(&one.total_ns)
            .then_with(|| one.name.cmp(&other.name))
            .then_with(|| key(one).cmp(&key(other)))
            .then_with(|| one.mangled_name.cmp(&other.mangled_name))
    });
    rows
}

impl Common {
    /// Removes the properties that another launch does not share.
    fn narrow(&mut self, name: KernelName, shape: Shape, device_id: Option<i64>, device: Option<u32>) {
        fn keep<T: PartialEq + Copy>(mine: &mut Option<T>, other: Option<T>) {
            if *mine != other {
                *mine = None;
            }
        }
        keep(&mut self.name.short, name.short);
        keep(&mut self.name.mangled, name.mangled);
        keep(&mut self.shape.grid, shape.grid);
        keep(&mut self.shape.block, shape.block);
        keep(&mut self.shape.registers_per_thread, shape.registers_per_thread);
        keep(&mut self.shape.shared_memory_bytes, shape.shared_memory_bytes);
        keep(&mut self.device_id, device_id);
        keep(&mut self.device, device);
    }
}

fn row(
    trace: &Trace,
    common: &Common,
    figures: &Figures,
    category: Box<str>,
    total: u64,
    short_names: &mut Names,
) -> Option<KernelRow> {
    memory::check();
    let (names, name) = (&trace.names, trace.names.shared(common.name.full));
    let short = common.name.short.map_or_else(|| short_names.share(short_name(&name)), |short| names.shared(short));
    Some(KernelRow {
        name,
        short_name: short,
        mangled_name: common.name.mangled.map(|mangled| names.shared(mangled)),
        category,
        device_id: common.device_id,
        device: common.device,
        count: figures.count,
        total_ns: figures.total,
        mean_ns: figures.mean?,
        median_ns: figures.median,
        min_ns: figures.min?,
        max_ns: figures.max?,
        stddev_ns: figures.stddev,
        p95_ns: figures.p95,
        kernel_time_fraction: fraction(figures.total, total),
        span_fraction: None,
        grid: common.shape.grid,
        block: common.shape.block,
        registers_per_thread: common.shape.registers_per_thread,
        shared_memory_bytes: common.shape.shared_memory_bytes,
    })
}

/// Says of each row which device it belongs to, and the part of the time of that device.
pub(super) fn place(rows: &mut [KernelRow], numbers: &Numbers) {
    for row in rows {
        let number = row.device.map(|number| numbers.of[number as usize]).unwrap_or_default();
        (row.device, row.span_fraction) = (number.row, fraction(row.total_ns, number.span_ns));
    }
}

/// A row for each category that has kernels, the longest in total first.
pub(super) fn categories(kernels: &[KernelRow]) -> Vec<CategoryRow> {
    let mut rows: Vec<CategoryRow> = Vec::new();
    for kernel in kernels {
        let found = rows.iter().position(|row| *row.name == *kernel.category).unwrap_or_else(|| {
            let name = kernel.category.to_string();
            rows.push(CategoryRow { name, count: 0, total_ns: 0, kernel_time_fraction: None });
            rows.len() - 1
        });
        rows[found].count = rows[found].count.saturating_add(kernel.count);
        rows[found].total_ns = rows[found].total_ns.saturating_add(kernel.total_ns);
    }
    let total = rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.total_ns));
    for row in &mut rows {
        row.kernel_time_fraction = fraction(row.total_ns, total);
    }
    rows.sort_by(|one, other| other.total_ns.cmp(&one.total_ns).then_with(|| one.name.cmp(&other.name)));
    rows
}
