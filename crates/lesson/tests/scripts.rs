//! A random run, written down as a command script and read back, is the same run.

#![allow(clippy::unwrap_used, reason = "a test may")]

use leasehold_engine::history::History;
use leasehold_engine::swarm::{Beyond, Swarm};
use leasehold_engine::timed_script::TimedScript;
use leasehold_engine::units::SimTime;
use leasehold_lesson::{parse_script, script, write_script};

#[test]
fn random_runs_are_read_back_as_they_were() {
    let beyond = Beyond {
        drift: true,
        switches: true,
    };
    for seed in 0..40 {
        let mut swarm = Swarm::new(seed, beyond);
        let mut run = History::new(swarm.setup()).unwrap();
        swarm.play(&mut run, 600, |_, _| {});
        let end = SimTime(run.world().now().0 + 1_000);
        run.run_to(end, |_, _| {});
        let commands = run.commands().iter();
        let timed = TimedScript {
            setup: run.world().setup().clone(),
            commands: commands.map(|(p, c)| (p.at, c.clone())).collect(),
            end,
        };
        let text = write_script(&timed, &["One remark.".to_owned()]);
        let read = parse_script(&text, "run.txt").unwrap_or_else(|e| panic!("{e:?}\n{text}"));
        assert_eq!(read.setup, timed.setup, "{text}");
        let mut again = History::new(read.setup).unwrap();
        script::play(&mut again, &read.directives, |_, _| {}).unwrap_or_else(|e| panic!("{e:?}"));
        assert_eq!(
            again.world().state_hash(),
            run.world().state_hash(),
            "seed {seed}"
        );
    }
}
