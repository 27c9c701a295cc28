//! Runs the side-by-side benchmark, which lives in a package of its own.

use crate::shell::{self, Failure, Output, Site};

pub(crate) fn run(site: &Site) -> Result<(), Failure> {
    shell::run(
        &mut site.cargo("run --profile bench --package leasehold-bench"),
        Output::Terminal,
    )
}
