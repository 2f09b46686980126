//! Reads the end of SQLite's write-ahead log, to tell what recovery will drop.
//!
//! SQLite repairs the log by itself and says nothing. The format is public
//! (<https://sqlite.org/fileformat2.html#the_write_ahead_log>): a header of 32 bytes, then
//! frames of a 24 byte header and one page. A frame counts if it carries the header's salts and
//! its checksum, which continues the one before it, is right; a transaction counts if its last
//! frame does. Frames with other salts are left over from before the log was last begun anew.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// What is at the end of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// The end of a transaction.
    Clean,
    /// A transaction that never ended.
    Unfinished { bytes: u64 },
    /// Frames that are damaged and may have ended a transaction.
    Unreadable { bytes: u64 },
}

/// What one frame turned out to be.
enum Frame {
    Valid,
    /// Of this log, and not as it was written.
    Broken,
    /// Left over from an earlier log.
    Stale,
}

/// Reads the whole log once. Changes nothing.
pub(super) fn inspect(path: &Path) -> io::Result<Tail> {
    let mut file = BufReader::with_capacity(1 << 20, File::open(path)?);
    let mut header = [0; HEADER];
    let length = read_up_to(&mut file, &mut header)?;
    if length < HEADER {
        let bytes = length as u64;
        return Ok(Tail::Unfinished { bytes });
    }
    let Some(mut log) = Log::begin(&header) else {
        let bytes = HEADER as u64 + io::copy(&mut file, &mut io::sink())?;
        return Ok(Tail::Unreadable { bytes });
    };
    let mut frame = vec![0; FRAME_HEADER + log.page];
    // Since the last transaction that counts.
    let mut bytes = 0;
    let mut broken = false;
    let mut commit_lost = false;
    loop {
        let length = read_up_to(&mut file, &mut frame)?;
        let (head, page) = frame.split_at(FRAME_HEADER);
        if length < frame.len() {
            if length > 0 && log.may_be_of_this(head, length) {
                bytes += length as u64;
            }
            break;
        }
        let commits = word(head, 4, u32::from_be_bytes) != 0;
        match log.check(head, page, broken) {
            Frame::Stale => break,
            Frame::Valid if commits => bytes = 0,
            Frame::Valid => bytes += length as u64,
            Frame::Broken => {
                broken = true;
                commit_lost |= commits;
                bytes += length as u64;
            }
        }
    }
    Ok(match bytes {
        0 => Tail::Clean,
        bytes if commit_lost => Tail::Unreadable { bytes },
        bytes => Tail::Unfinished { bytes },
    })
}

/// A log being read.
struct Log {
    page: usize,
    salts: [u8; 8],
    word: fn([u8; 4]) -> u32,
    checksum: (u32, u32),
}

impl Log {
    fn begin(header: &[u8; HEADER]) -> Option<Log> {
        let word_of = match word(header, 0, u32::from_be_bytes) {
            0x377f_0682 => u32::from_le_bytes,
            0x377f_0683 => u32::from_be_bytes,
            _ => return None,
        };
        let page = word(header, 8, u32::from_be_bytes) as usize;
        let mut log = Log {
            page,
            salts: bytes(header, 16),
            word: word_of,
            checksum: (0, 0),
        };
        log.checksum = log.add((0, 0), header.get(..24)?);
        let right = log.checksum == stored_checksum(header, 24);
        (right && (512..=65_536).contains(&page)).then_some(log)
    }

    fn check(&mut self, head: &[u8], page: &[u8], broken: bool) -> Frame {
        if bytes::<8>(head, 8) != self.salts {
            // Space that was given to the file and never filled reads as zeros.
            return match head.iter().all(|byte| *byte == 0) {
                true => Frame::Broken,
                false => Frame::Stale,
            };
        }
        let checksum = self.add(self.checksum, head.get(..8).unwrap_or_default());
        let checksum = self.add(checksum, page);
        if broken || checksum != stored_checksum(head, 16) {
            return Frame::Broken;
        }
        self.checksum = checksum;
        Frame::Valid
    }

    /// Whether an incomplete frame was being written to this log.
    fn may_be_of_this(&self, head: &[u8], length: usize) -> bool {
        length < 16 || bytes::<8>(head, 8) == self.salts
    }

    fn add(&self, sum: (u32, u32), data: &[u8]) -> (u32, u32) {
        data.chunks_exact(8).fold(sum, |(a, b), pair| {
            let a = a.wrapping_add(word(pair, 0, self.word)).wrapping_add(b);
            let b = b.wrapping_add(word(pair, 4, self.word)).wrapping_add(a);
            (a, b)
        })
    }
}

fn stored_checksum(data: &[u8], at: usize) -> (u32, u32) {
    (
        word(data, at, u32::from_be_bytes),
        word(data, at + 4, u32::from_be_bytes),
    )
}

fn word(data: &[u8], at: usize, of: fn([u8; 4]) -> u32) -> u32 {
    of(bytes(data, at))
}

fn bytes<const N: usize>(data: &[u8], at: usize) -> [u8; N] {
    data.get(at..at + N)
        .and_then(|it| it.try_into().ok())
        .unwrap_or([0; N])
}

fn read_up_to(file: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while let Some(rest) = into.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}
