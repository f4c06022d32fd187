//! A stream that another thread reads ahead.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::memory::{self, Room as _};
use crate::panics::{self, Caught};
use crate::par::Start;

/// Size of a part, and number of parts that wait.
const PART: usize = 256 * 1024;
const WAITING: usize = 2;

/// Reads `source` on another thread while its reader does something else; that thread ends with either. Without a thread,
/// returns `source` itself.
pub(crate) fn ahead(source: impl Read + Send + 'static) -> Box<dyn Read> {
    let Some(start) = Start::new(1) else { return Box::new(source) };
    let (parts, filled) = sync_channel(WAITING);
    let (used, empty) = channel();
    let source = Arc::new(Mutex::new(Some(source)));
    let theirs = Arc::clone(&source);
    let caught = Arc::new(Mutex::new(None));
    let panic = Arc::clone(&caught);
    let ready = start.ready();
    let read = move || {
        ready.signal();
        if let Some(source) = take(&theirs)
            && let Err(caught) = panics::catch(|| fill(source, &parts, &empty))
        {
            // There before the reader finds that no more parts come.
            *panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(caught);
        }
        drop(parts);
    };
    let thread = thread::Builder::new().name("reading ahead".to_owned()).spawn(read);
    start.finish();
    if thread.is_err()
        && let Some(source) = take(&source)
    {
        return Box::new(source);
    }
    Box::new(Ahead { filled, used, caught, part: Vec::new(), at: 0, ended: false })
}

fn take<T>(place: &Mutex<Option<T>>) -> Option<T> {
    place.lock().unwrap_or_else(PoisonError::into_inner).take()
}

struct Ahead {
    /// Parts of the stream; the one behind its end is empty.
    filled: Receiver<io::Result<Vec<u8>>>,
    /// Takes parts back.
    used: Sender<Vec<u8>>,
    /// The unwinding of the other thread.
    caught: Arc<Mutex<Option<Caught>>>,
    part: Vec<u8>,
    at: usize,
    ended: bool,
}

fn fill(mut source: impl Read, parts: &SyncSender<io::Result<Vec<u8>>>, empty: &Receiver<Vec<u8>>) {
    loop {
        let mut part = empty.try_recv().unwrap_or_default();
        memory::check();
        part.room(PART.saturating_sub(part.len()));
        part.resize(PART, 0);
        let mut length = 0;
        let fault = loop {
            match source.read(&mut part[length..]) {
                Ok(0) => break None,
                Ok(count) => length += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Some(error),
            }
            if length == PART {
                break None;
            }
        };
        part.truncate(length);
        let ends = length == 0 || fault.is_some();
        // If the reader is gone, there is nothing left to do.
        let mut sent = Ok(());
        if length > 0 || fault.is_none() {
            sent = parts.send(Ok(part));
        }
        if let (Some(error), Ok(())) = (fault, &sent) {
            sent = parts.send(Err(error));
        }
        if ends || sent.is_err() {
            return;
        }
    }
}

impl Read for Ahead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.part.len() && !self.ended {
            let _ = self.used.send(std::mem::take(&mut self.part));
            self.at = 0;
            self.part = match self.filled.recv() {
                Ok(part) => part?,
                Err(_) => match take(&self.caught) {
                    Some(caught) => caught.pass_on(),
                    None => return Err(io::Error::other("the thread that reads ahead has ended")),
                },
            };
            self.ended = self.part.is_empty();
        }
        let count = buffer.len().min(self.part.len() - self.at);
        buffer[..count].copy_from_slice(&self.part[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes, and then a fault.
    struct Faulty(usize);

    impl Read for Faulty {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0 == 0 {
                return Err(io::Error::other("a fault"));
            }
            let count = self.0.min(buffer.len());
            self.0 -= count;
            Ok(count)
        }
    }

    #[test]
    fn gives_the_same_bytes() {
        let bytes: Vec<u8> = (0..3 * PART + 7).map(|place| (place % 251) as u8).collect();
        let mut found = Vec::new();
        let mut reader = ahead(io::Cursor::new(bytes.clone()));
        reader.read_to_end(&mut found).expect("bytes");
        assert!(found == bytes);
        assert_eq!(reader.read(&mut [0]).expect("the end"), 0);
    }

    #[test]
    fn gives_what_comes_before_a_fault() {
        let mut found = Vec::new();
        let error = ahead(Faulty(PART + 3)).read_to_end(&mut found).expect_err("a fault");
        assert_eq!((found.len(), error.to_string()), (PART + 3, "a fault".to_owned()));
        let mut reader = ahead(Faulty(0));
        assert_eq!(reader.read(&mut [0]).expect_err("a fault").to_string(), "a fault");
        assert!(reader.read(&mut [0]).is_err());
    }

    #[test]
    #[should_panic(expected = "a panic of the source")]
    fn passes_a_panic_on() {
        struct Panics;
        impl Read for Panics {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                panic!("a panic of the source")
            }
        }
        let _ = ahead(Panics).read(&mut [0]);
    }

    #[test]
    fn ends_without_a_reader() {
        struct Dropped(Sender<()>);
        impl Read for Dropped {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                Ok(buffer.len())
            }
        }
        impl Drop for Dropped {
            fn drop(&mut self) {
                let _ = self.0.send(());
            }
        }
        let (sender, dropped) = channel();
        drop(ahead(Dropped(sender)));
        assert_eq!(dropped.recv(), Ok(()));
    }
}
