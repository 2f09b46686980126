//! What there is of this process: children, what they left behind, descriptors, memory.

use std::fs;

/// The variable by which everything a test started is known, however far down.
pub(crate) const MARK: &str = "AMBIT_FAULT_MARK";

/// This process's mark.
pub(crate) fn mark() -> String {
    std::process::id().to_string()
}

/// Open descriptors of this process.
pub(crate) fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Children of this process, zombies among them.
pub(crate) fn children() -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    let lists = tasks.filter_map(|it| fs::read_to_string(it.path().join("children")).ok());
    lists.map(|it| it.split_whitespace().count()).sum()
}

/// Running processes with this process's mark, whoever their parent is by now.
pub(crate) fn marked() -> usize {
    let mark = format!("{MARK}={}", mark());
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|it| fs::read(it.path().join("environ")).ok())
        .filter(|it| it.split(|byte| *byte == 0).any(|it| it == mark.as_bytes()))
        .count()
}

/// Resident memory of this process now and at its highest, in bytes.
pub(crate) fn memory() -> (usize, usize) {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let field = |name: &str| {
        let line = status.lines().find_map(|it| it.strip_prefix(name)).unwrap();
        let kilobytes: usize = line.trim().trim_end_matches(" kB").parse().unwrap();
        kilobytes * 1024
    };
    (field("VmRSS:"), field("VmHWM:"))
}
