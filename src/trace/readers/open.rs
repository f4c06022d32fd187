//! Opens a file, compressed or not, and sees how it begins.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Cursor, Read};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::Arc;

use flate2::bufread::GzDecoder;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::Interrupted;
use crate::par;

/// Number of bytes that suffice to recognise a file.
const HEAD: usize = 4096;
/// Smaller files are decompressed sooner than a thread has begun to.
const WORTH_A_THREAD: u64 = 64 * 1024;
/// Time between two checks for an interruption.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// Larger files are not hashed: it would take longer than reading them.
const LARGEST_HASHED: u64 = 16 * 1024 * 1024;
/// Zeros that may follow streams: blocks of the largest size have fewer.
const MOST_ZEROS: u64 = 64 * 1024 * 1024;
/// Compressed bytes that may follow each other without content. Members and blocks may be empty, and a pipe may have no end of them.
const MOST_WITHOUT_CONTENT: usize = 1024 * 1024;

/// A file that has been opened.
pub(super) struct Opened {
    pub(super) head: Vec<u8>,
    pub(super) bytes: Box<dyn Read>,
    /// The file, where its bytes are the content as they lie there.
    pub(super) plain: Option<Arc<File>>,
    pub(super) size_bytes: u64,
    /// True if it can be read once more: a pipe cannot.
    pub(super) is_file: bool,
}

/// Opens `path`.
pub(super) fn open(path: &Path, interrupted: Interrupted<'_>) -> io::Result<Opened> {
    let file = open_file(path, interrupted)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "the path is a folder"));
    }
    let (size_bytes, is_file) = (metadata.len(), metadata.is_file());
    let is_pipe = metadata.file_type().is_fifo();
    let file = Arc::new(file);
    let (head, bytes) = with_head(Waiting { file: Arc::clone(&file), is_pipe }, interrupted)?;
    if head.starts_with(b"\x1f\x8b") {
        let (head, bytes) = with_head(Unpacked::new(bytes), interrupted)?;
        // A thread that waits for a pipe must be interruptible.
        let bytes: Box<dyn Read> = if is_file && size_bytes >= WORTH_A_THREAD && par::threads() > 1 {
            par::ahead(bytes)
        } else {
            Box::new(bytes)
        };
        return Ok(Opened { head, bytes, plain: None, size_bytes, is_file });
    }
    Ok(Opened { head, bytes: Box::new(bytes), plain: is_file.then_some(file), size_bytes, is_file })
}

/// Opens a file. For a pipe, waits until its other end is opened, unless interrupted.
fn open_file(path: &Path, interrupted: Interrupted<'_>) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        // Some files of /proc have no end: reading them would wait for new content.
        return Ok(file);
    }
    if kind.is_fifo() {
        while !is_ready(&file)? {
            if interrupted() {
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
    }
    fcntl_setfl(&file, OFlags::empty())?;
    Ok(file)
}

/// Returns true once something can be read from a pipe, or nothing ever will; false after a while.
fn is_ready(pipe: &File) -> io::Result<bool> {
    match poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&PATIENCE)) {
        Ok(count) => Ok(count > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// A file. Reading a pipe into which nothing is written fails again and again, as if interrupted: signals reach one thread only,
/// and any other would wait for ever.
struct Waiting {
    file: Arc<File>,
    is_pipe: bool,
}

impl Read for Waiting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_pipe && !is_ready(&self.file)? {
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.file.read(buffer)
    }
}

/// The content of a gzip stream, or of several; zeros after each are passed over, as programs that write whole blocks leave them.
struct Unpacked<R: Read> {
    decoder: Option<GzDecoder<BufReader<Compressed<R>>>>,
    /// Zeros that were passed over.
    zeros: u64,
}

impl<R: Read> Unpacked<R> {
    fn new(source: R) -> Self {
        let source = BufReader::new(Compressed { source, without_content: 0 });
        Self { decoder: Some(GzDecoder::new(source)), zeros: 0 }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = &mut self.decoder {
            let count = decoder.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                decoder.get_mut().get_mut().without_content = 0;
                return Ok(count);
            }
            let rest = decoder.get_mut();
            loop {
                let zeros = rest.fill_buf()?.iter().take_while(|&&byte| byte == 0).count();
                if zeros == 0 {
                    break;
                }
                rest.consume(zeros);
                self.zeros += zeros as u64;
                if self.zeros <= MOST_ZEROS {
                    rest.get_mut().without_content = 0;
                }
            }
            if rest.fill_buf()?.is_empty() {
                break;
            }
            self.decoder = self.decoder.take().map(|decoder| GzDecoder::new(decoder.into_inner()));
        }
        Ok(0)
    }
}

/// A gzip stream. A read of its content does not return before there is content, or an error here.
struct Compressed<R> {
    source: R,
    without_content: usize,
}

impl<R: Read> Read for Compressed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.without_content > MOST_WITHOUT_CONTENT {
            return Err(io::Error::other("1 MiB of the gzip stream has no content"));
        }
        let count = self.source.read(buffer)?;
        self.without_content += count;
        Ok(count)
    }
}

/// Returns the start of a stream, and the whole of it. An error after the start is returned when that part is read.
fn with_head<R: Read>(mut source: R, interrupted: Interrupted<'_>) -> io::Result<(Vec<u8>, impl Read + use<R>)> {
    let (mut head, mut filled, mut fault) = (vec![0; HEAD], 0, None);
    while filled < HEAD {
        match source.read(&mut head[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted && !interrupted() => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(io::Error::other("the file has no end"));
            }
            Err(error) if filled == 0 || error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(error) => {
                fault = Some(error);
                break;
            }
        }
    }
    head.truncate(filled);
    Ok((head.clone(), Cursor::new(head).chain(Faulty(fault)).chain(source)))
}

/// Nothing, or an error first.
struct Faulty(Option<io::Error>);

impl Read for Faulty {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// The SHA-256 of a file in hexadecimal, if it is not too large.
pub(super) fn digest(path: &Path, size_bytes: u64) -> Option<String> {
    if size_bytes > LARGEST_HASHED {
        return None;
    }
    let (mut hasher, mut part) = (Sha256::new(), vec![0; 64 * 1024]);
    let mut file = File::open(path).ok()?.take(LARGEST_HASHED);
    loop {
        match file.read(&mut part).ok()? {
            0 => break,
            count => hasher.update(&part[..count]),
        }
    }
    let mut text = String::with_capacity(64);
    for byte in hasher.finalize() {
        // Writing into a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Some(text)
}
