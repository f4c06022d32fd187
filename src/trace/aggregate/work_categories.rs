//! The category of each piece of work, found once for each name of a kernel.

use rustc_hash::FxHashMap;

use crate::memory::{Room as _, collected};
use crate::trace::categories::Categories;
use crate::trace::{Distinct, Kind, NameId, Trace, Work};

/// Category of kernels of communication.
const COMMUNICATION: &str = "communication";

/// Categories of kernels, and kinds of copies and sets.
pub(super) struct WorkCategories<'a> {
    names: Distinct<&'a str>,
    /// By number of work.
    of_works: Vec<u32>,
    of_kernels: FxHashMap<NameId, u32>,
}

impl<'a> WorkCategories<'a> {
    pub(super) fn new(trace: &'a Trace, categories: &'a Categories) -> Self {
        let mut names = Distinct::default();
        let mut of_kernels: FxHashMap<NameId, u32> = FxHashMap::default();
        let of_works = trace.works.all().iter().map(|work| match work.kind {
            Kind::Kernel(name, _) => {
                of_kernels.room(1);
                *of_kernels.entry(name.full).or_insert_with(|| names.intern(categories.of(trace.names.text(name.full))))
            }
            // A kind of copy that is called as a category is has the number of that category.
            Kind::Memory { kind, .. } => names.intern(trace.names.text(kind)),
        });
        let of_works = collected(of_works);
        Self { names, of_works, of_kernels }
    }

    /// The number of the category of a piece of work.
    pub(super) fn of_work(&self, what: u32) -> u32 {
        self.of_works[what as usize]
    }

    /// Returns true for kernels of communication, which may wait for other ranks.
    pub(super) fn is_communication(&self, what: u32, work: &Work) -> bool {
        matches!(work.kind, Kind::Kernel(..)) && self.name(self.of_work(what)) == COMMUNICATION
    }

    /// The category of the kernels of a name.
    pub(super) fn of_kernel(&self, name: NameId) -> Option<&'a str> {
        self.of_kernels.get(&name).map(|&category| self.name(category))
    }

    pub(super) fn name(&self, category: u32) -> &'a str {
        self.names.all()[category as usize]
    }
}
