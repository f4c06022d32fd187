//! Errors for files that no reader accepts.

use crate::error::Error;

/// Test of a file's start, the kind of file that it recognises, and a hint.
type Look = (fn(&[u8]) -> bool, &'static str, &'static str);

/// Kinds of files that are often given by mistake.
const LOOKS: &[Look] = &[
    (<[u8]>::is_empty, "the file is empty", "Capture again: fastrnns-rs profile RUNNER"),
    (
        is_session,
        "the file looks like a session of the Visual Profiler",
        "Use a profile of nvprof: nvprof --export-profile FILE COMMAND",
    ),
    (is_html, "the file looks like a web page", "Download the capture instead of its web page."),
    (is_archive, "the file is an archive", "Unpack the archive, and use the capture in it."),
    (is_utf16, "the text is in UTF-16", "Convert the file: iconv -f UTF-16 -t UTF-8 FILE"),
    (is_of_nsys, "the file looks like an nsys report", "Export the report: nsys export --type sqlite REPORT"),
    (is_text, "the file is text, but not a JSON trace", FORMATS_HINT),
];

pub(super) const FORMATS_HINT: &str =
    "Use a torch.profiler trace, an nsys export to SQLite, an nvprof file or a capture manifest.";

/// The error for a file that begins with `head`.
pub(super) fn explain(path: &str, head: &[u8]) -> Error {
    let found = LOOKS.iter().find(|(matches, ..)| matches(head));
    let (reason, hint) = found.map_or(("unknown format", FORMATS_HINT), |&(_, reason, hint)| (reason, hint));
    Error::NotACapture { path: path.to_owned(), reason: reason.to_owned(), hint: hint.to_owned() }
}

fn is_session(head: &[u8]) -> bool {
    head.trim_ascii_start().starts_with(b"<?xml")
}

fn is_html(head: &[u8]) -> bool {
    let start: Vec<u8> = head.trim_ascii_start().iter().take(14).map(u8::to_ascii_lowercase).collect();
    start.starts_with(b"<!doctype html") || start.starts_with(b"<html")
}

fn is_archive(head: &[u8]) -> bool {
    head.get(257..).is_some_and(|rest| rest.starts_with(b"ustar"))
        || [&b"PK\x03\x04"[..], b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"BZh"].iter().any(|magic| head.starts_with(magic))
}

fn is_utf16(head: &[u8]) -> bool {
    head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff")
}

fn is_of_nsys(head: &[u8]) -> bool {
    head.starts_with(b"U3w[END]NVIDIA") || head.starts_with(b"NVIDIA Tegra Profiler Report")
}

fn is_text(head: &[u8]) -> bool {
    !head.contains(&0) && head.utf8_chunks().all(|chunk| chunk.invalid().len() < 4 && !chunk.valid().contains('\u{1}'))
}
