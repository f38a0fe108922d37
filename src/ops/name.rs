//! Names of operations that are about operations.

use std::fmt::Write as _;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::keep::{record_of, recycle_of, stage_of};
use crate::model::plan::{OPERATION_DIGITS, Operation, Witness};

/// The name of an operation on these others: the same for the same request on an unchanged disk, and one that the keeping
/// folder does not hold yet.
pub(super) fn of(keep: &Path, operation: Operation, about: &[&str], witnesses: &[Witness]) -> String {
    let mut counter = 0_u64;
    loop {
        let name = candidate(operation, about, witnesses, counter);
        let places = [record_of(keep, &name), recycle_of(keep, &name), stage_of(keep, &name)];
        if counter >= 1000 || !places.iter().any(|place| place.symlink_metadata().is_ok()) {
            return name;
        }
        counter += 1;
    }
}

fn candidate(operation: Operation, about: &[&str], witnesses: &[Witness], counter: u64) -> String {
    let mut sum = Sha256::new();
    let mut bytes = |bytes: &[u8]| {
        sum.update((bytes.len() as u64).to_be_bytes());
        sum.update(bytes);
    };
    bytes(b"worldkeep operation 1");
    bytes(operation.as_str().as_bytes());
    bytes(&counter.to_be_bytes());
    for name in about {
        bytes(name.as_bytes());
    }
    for witness in witnesses {
        bytes(witness.path.as_os_str().as_encoded_bytes());
        if let Some(was) = witness.was {
            let (seconds, nanoseconds) = was.modified;
            for number in [was.device, was.inode, was.size, seconds.cast_unsigned(), nanoseconds.into()] {
                bytes(&number.to_be_bytes());
            }
        }
    }
    let mut name = sum.finalize().iter().fold(String::new(), |mut name, byte| {
        let _ = write!(name, "{byte:02x}");
        name
    });
    name.truncate(OPERATION_DIGITS);
    name
}
