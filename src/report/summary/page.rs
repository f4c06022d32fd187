//! What stands on a page: what a reader must know first, then the lists of the view.

use super::columns::{
    API_CALLS, CAPTURES, CATEGORIES, DEVICES, Head, INDUCTOR, INDUCTOR_CATEGORIES, INDUCTOR_KERNELS, KERNELS, MEMORY,
    Place, STREAMS,
};
use super::sheet::Sheet;
use super::{Names, Options, View};
use crate::trace::Summary;

/// Rows of each list of the overview, unless the caller says otherwise.
const OVERVIEW_ROWS: usize = 10;
const OVERVIEW_KERNELS: [&str; 6] = ["kernel_time_fraction", "total_ns", "count", "mean_ns", "median_ns", "name"];
const OVERVIEW_MEMORY: [&str; 5] = ["total_ns", "count", "total_bytes", "bandwidth_gb_per_s", "kind"];

/// A line that is not part of a list.
#[derive(Debug)]
pub(super) struct Note {
    /// `warning` begins something; the lines about it follow.
    pub(super) label: &'static str,
    /// As it came, to be escaped.
    pub(super) text: String,
}

/// Everything that people read of a view.
#[derive(Debug)]
pub(super) struct Page<'a> {
    pub(super) notes: Vec<Note>,
    /// None of them empty.
    pub(super) sheets: Vec<Sheet<'a>>,
    /// Said where there is no list.
    pub(super) nothing: Option<&'static str>,
}

impl<'a> Page<'a> {
    pub(super) fn of(summary: &'a Summary, options: &Options) -> Self {
        let view = options.view;
        let mut notes: Vec<_> = warnings(summary).collect();
        let (mut sheets, nothing) = if view == View::Overview {
            (overview(summary, options), "no device operations")
        } else {
            let keep = |head: &Head| match head.place {
                Place::Everywhere | Place::Screen => true,
                Place::LaunchShape => view == View::LaunchShape,
                Place::Data => false,
            };
            (vec![list(summary, view, (options.names, options.top), &keep)], nothing(view))
        };
        if let (View::Inductor, Some(inductor)) = (view, &summary.inductor) {
            let figures = std::slice::from_ref(inductor);
            sheets.insert(0, Sheet::new("Inductor", INDUCTOR, figures, (options.names, None), |_| true));
            let cut = (options.names, options.top);
            sheets.extend(
                inductor
                    .categories
                    .iter()
                    .map(|category| Sheet::new(&category.name, INDUCTOR_KERNELS, &category.kernels, cut, |_| true)),
            );
            notes.push(Note { label: "tabulate", text: inductor.tabulate_line.clone() });
        }
        // A list of which no row was asked for still says what it would hold.
        sheets.retain(|sheet| !sheet.rows.is_empty() || sheet.more.is_some());
        let told = sheets.iter().any(|sheet| sheet.title != CAPTURES_TITLE);
        Self { notes, sheets, nothing: (!told).then_some(nothing) }
    }
}

const CAPTURES_TITLE: &str = "Captures";

/// The list of a view; that of the overview is the kernels.
pub(super) fn list<'a>(
    summary: &'a Summary,
    view: View,
    cut: (Names, Option<usize>),
    keep: &dyn Fn(&Head) -> bool,
) -> Sheet<'a> {
    match view {
        View::Overview | View::Kernel => Sheet::new("Kernels", KERNELS, &summary.kernels, cut, keep),
        View::LaunchShape => Sheet::new("Kernels by launch shape", KERNELS, &summary.kernels, cut, keep),
        View::Category => Sheet::new("Categories", CATEGORIES, &summary.categories, cut, keep),
        View::Device => Sheet::new("Devices", DEVICES, &summary.devices, cut, keep),
        View::Stream => Sheet::new("Streams", STREAMS, &summary.streams, cut, keep),
        View::Api => Sheet::new("Calls of the device's interface", API_CALLS, &summary.api_calls, cut, keep),
        View::Memory => Sheet::new("Memory operations", MEMORY, &summary.memory_operations, cut, keep),
        View::Inductor => {
            let categories = summary.inductor.as_ref().map_or(&[][..], |inductor| &inductor.categories);
            Sheet::new("Inductor's categories", INDUCTOR_CATEGORIES, categories, cut, keep)
        }
    }
}

fn nothing(view: View) -> &'static str {
    match view {
        View::Overview | View::Kernel | View::LaunchShape => "no kernels",
        View::Category => "no categories",
        View::Device => "no devices",
        View::Stream => "no streams",
        View::Api => "no calls of the device's interface",
        View::Memory => "no memory operations",
        View::Inductor => "no figures of Inductor",
    }
}

fn overview<'a>(summary: &'a Summary, options: &Options) -> Vec<Sheet<'a>> {
    let cut = (options.names, Some(options.top.unwrap_or(OVERVIEW_ROWS)));
    let screen = |head: &Head| matches!(head.place, Place::Everywhere | Place::Screen);
    // With one device the column would repeat what the list of devices says.
    let several = summary.devices.len() > 1;
    let brief = |keys: &[&str], head: &Head| keys.contains(&head.key) || (several && head.key == "device_id");
    vec![
        Sheet::new(CAPTURES_TITLE, CAPTURES, &summary.captures, (options.names, None), screen),
        Sheet::new("Where the time went", DEVICES, &summary.devices, (options.names, None), screen),
        list(summary, View::Category, cut, &screen),
        list(summary, View::Kernel, cut, &|head| brief(&OVERVIEW_KERNELS, head)),
        list(summary, View::Memory, cut, &|head| brief(&OVERVIEW_MEMORY, head)),
    ]
}

fn warnings(summary: &Summary) -> impl Iterator<Item = Note> {
    summary.warnings.iter().flat_map(|warning| {
        let parts = [("warning", &warning.message), ("seen", &warning.evidence), ("hint", &warning.hint)];
        parts
            .into_iter()
            .filter(|(label, text)| *label == "warning" || !text.is_empty())
            .map(|(label, text)| Note { label, text: text.clone() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::summary::columns::Columns;

    #[test]
    fn the_overview_picks_columns_that_exist() {
        fn check<R>(keys: &[&str], columns: Columns<R>) {
            for key in keys {
                assert!(columns.iter().any(|column| column.head.key == *key), "{key}");
            }
        }
        check(&OVERVIEW_KERNELS, KERNELS);
        check(&OVERVIEW_MEMORY, MEMORY);
    }
}
