//! The search for headers of tables: a result whose rows no header explains is not an empty one.

/// Findings so far about the headers of a file.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Headers {
    /// No banner of a result and no header.
    #[default]
    None,
    /// A banner of a result is the last one, and nothing follows it yet.
    Awaited,
    /// A result without a table: nvprof reports that nothing was profiled.
    Empty,
    /// Text follows the banner of a result, and no line of the file is a header.
    Unknown,
    /// A header.
    Known,
}

impl Headers {
    /// Takes the text of a banner.
    pub(super) fn banner(&mut self, text: &str) {
        self.nothing(text);
        if !text.contains("rofiling result") {
            return;
        }
        // A file whose lines end with CR alone is one line.
        let goes_on = text.trim_end().contains('\r');
        *self = match *self {
            Self::None | Self::Awaited | Self::Empty if goes_on => Self::Unknown,
            // Older tables of unified memory, as text, have a header of their own.
            Self::None if text.starts_with("Unified") => Self::Empty,
            Self::None | Self::Empty if !text.starts_with("Unified") => Self::Awaited,
            same => same,
        };
    }

    /// Takes a line that is a header.
    pub(super) fn found(&mut self) {
        *self = Self::Known;
    }

    /// Takes a line with text that is neither a banner nor a part of a table.
    pub(super) fn other(&mut self, line: &str) {
        self.nothing(line);
        if *self == Self::Awaited {
            *self = Self::Unknown;
        }
    }

    /// Takes the line that reports an empty result: `No kernels were profiled.`
    fn nothing(&mut self, text: &str) {
        let text = text.trim();
        if *self == Self::Awaited && text.starts_with("No ") && text.ends_with(" profiled.") {
            *self = Self::Empty;
        }
    }
}
