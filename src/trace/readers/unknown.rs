//! Says what a file looks like that no reader takes.

use crate::error::Error;

/// Whether a file that begins so looks like something, what that is, and what to do with it.
type Look = (fn(&[u8]) -> bool, &'static str, &'static str);

/// What files that are often given by mistake look like, and what to do with them.
const LOOKS: &[Look] = &[
    (<[u8]>::is_empty, "it is empty", "capture again"),
    (
        is_session,
        "it looks like a session of the Visual Profiler",
        "export the profile with `nvprof -o`, or open it there",
    ),
    (is_html, "it looks like a web page", "download the file itself"),
    (is_zip, "it is an archive", "unpack it first"),
    (is_utf16, "it is text in UTF-16", "convert it to UTF-8"),
    (is_of_nsys, "it looks like a report of nsys", "export it: nsys export --type=sqlite FILE"),
    (is_text, "it is text, but no trace in JSON", FORMATS_HINT),
];

const FORMATS_HINT: &str =
    "give a trace of torch.profiler, an export of nsys to SQLite, what nvprof wrote or a record of `profile`";

/// The error for a file that begins with `head`.
pub(super) fn explain(path: &str, head: &[u8]) -> Error {
    let found = LOOKS.iter().find(|(matches, ..)| matches(head));
    let (reason, hint) =
        found.map_or(("it is of no format that is read here", FORMATS_HINT), |&(_, reason, hint)| (reason, hint));
    Error::NotACapture { path: path.to_owned(), reason: reason.to_owned(), hint: hint.to_owned() }
}

fn is_session(head: &[u8]) -> bool {
    head.trim_ascii_start().starts_with(b"<?xml")
}

fn is_html(head: &[u8]) -> bool {
    let start: Vec<u8> = head.trim_ascii_start().iter().take(14).map(u8::to_ascii_lowercase).collect();
    start.starts_with(b"<!doctype html") || start.starts_with(b"<html")
}

fn is_zip(head: &[u8]) -> bool {
    [&b"PK\x03\x04"[..], b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"BZh"].iter().any(|magic| head.starts_with(magic))
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
