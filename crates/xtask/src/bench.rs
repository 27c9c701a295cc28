//! Runs the benchmarks, which live in a package of their own; builds their wasm side first.

use crate::shell::{self, Failure, Output, Site};
use crate::{packages, tools};

const WASM: &str = "--package leasehold-bench --lib --target wasm32-unknown-unknown";
/// The profiles, and the variables by which the benchmark finds what they made.
const MODULES: [(&str, &str); 2] = [
    ("bench", "LEASEHOLD_BENCH_WASM"),
    ("page", "LEASEHOLD_BENCH_WASM_PAGE"),
];

pub(crate) fn run(site: &Site) -> Result<(), Failure> {
    tools::ensure_wasm_target(site, Output::Terminal)?;
    packages::ensure_node(site, Output::Terminal)?;
    let mut command = site.cargo("run --profile bench --package leasehold-bench");
    for (profile, variable) in MODULES {
        let line = format!("build --profile {profile} {WASM}");
        shell::run(&mut site.cargo(&line), Output::Terminal)?;
        // Cargo puts what the profile `bench` makes beside that of `release`.
        let folder = if profile == "bench" {
            "release"
        } else {
            profile
        };
        let module = format!("wasm32-unknown-unknown/{folder}/leasehold_bench.wasm");
        command.env(variable, site.target_dir().join(module));
    }
    shell::run(&mut command, Output::Terminal)
}
