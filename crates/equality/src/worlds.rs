//! A hundred worlds in which much goes wrong, each drawn from its number.
//!
//! Bad weather by lottery: networks that lose and repeat, processes that sleep, crash and jump,
//! switches turned off. Nothing is judged here; only that the same weather comes twice.

use leasehold_engine::command::Command;
use leasehold_engine::draw::{Purpose, below, draw};
use leasehold_engine::event::Step;
use leasehold_engine::monitor::Invariant;
use leasehold_engine::setup::Setup;
use leasehold_engine::switch::{Position, Switch};
use leasehold_engine::units::Duration;
use leasehold_engine::world::World;
use leasehold_lesson::words;

use crate::{STEPS, Trace};

/// Draws for one world, counted.
struct Dice {
    world: u64,
    count: u64,
}

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.count += 1;
        below(draw(self.world, Purpose::Test, 0, self.count), n)
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }

    fn millis(&mut self, low: u64, high: u64) -> Duration {
        Duration::millis(low + self.below(high - low + 1))
    }
}

/// How many invariants a world has seen broken.
pub(crate) fn broken(world: &World) -> u64 {
    Invariant::ALL
        .iter()
        .filter(|invariant| world.broken(**invariant).is_some())
        .count() as u64
}

/// Runs the world with this number; the number of invariants that broke.
pub(crate) fn run(number: u64, trace: &mut Trace) -> u64 {
    let mut dice = Dice {
        world: number,
        count: 0,
    };
    let setup = setup(&mut dice);
    let mut world = World::new(setup.clone()).expect("only sound setups are drawn");
    let mut step = Step::empty();
    let mut calm = dice.below(40);
    while world.step_count().0 < STEPS {
        if calm == 0 {
            calm = 1 + dice.below(40);
            let command = command(&mut dice, &setup);
            match world.apply(&command, &mut step) {
                Ok(()) => trace.step(&step, &world),
                Err(error) => {
                    trace.refused(&command.to_string(), &words::command_error(&error).what)
                }
            }
            continue;
        }
        calm -= 1;
        if !world.step(&mut step) {
            calm = 0;
            continue;
        }
        trace.step(&step, &world);
    }
    broken(&world)
}

fn setup(dice: &mut Dice) -> Setup {
    let names = |prefix: &str, count: u64| (1..=count).map(|n| format!("{prefix}{n}")).collect();
    let latency = dice.millis(1, 50);
    let mut setup = Setup {
        seed: dice.below(u64::MAX),
        servers: *dice.pick(&[1, 3, 3, 5]),
        workers: names("w", 1 + dice.below(3)),
        clients: names("c", 1 + dice.below(2)),
        stores: names("t", 1 + dice.below(2)),
        after_first_election: !dice.one_in(4),
        lease: dice.millis(1_000, 6_000),
        work: dice.millis(0, 900),
        latency_min: latency,
        latency_max: Duration(latency.0 + dice.millis(0, 60).0),
        loss_ppm: *dice.pick(&[0, 0, 20_000, 100_000]),
        duplication_ppm: *dice.pick(&[0, 0, 20_000]),
        sync: *dice.pick(&[Duration::ZERO, Duration::millis(5), Duration::millis(80)]),
        ..Setup::default()
    };
    setup.renew_every = Duration(setup.lease.0 / 3);
    for switch in Switch::ALL {
        if dice.one_in(8) {
            let word = switch.word(Position::Off).to_owned();
            setup.switches.push((switch.name().to_owned(), word));
        }
    }
    setup
}

fn command(dice: &mut Dice, setup: &Setup) -> Command {
    let servers: Vec<String> = (1..=setup.servers).map(|n| format!("s{n}")).collect();
    let writers: Vec<String> = servers.iter().chain(&setup.workers).cloned().collect();
    let others = setup.clients.iter().chain(&setup.stores);
    let all: Vec<String> = writers.iter().chain(others).cloned().collect();
    let resource = setup.stores[0].clone();
    let process = dice.pick(&all).clone();
    let other = dice.pick(&all).clone();
    let ppm = dice.below(3) as u32 * 100_000;
    match dice.below(20) {
        0 | 1 => Command::Pause { process },
        2..=4 => Command::Resume { process },
        5 => Command::PauseBeforeSend {
            process: dice.pick(&writers).clone(),
        },
        6 => Command::Crash { process },
        7 | 8 => Command::Restart { process },
        9 => Command::Partition {
            groups: groups(dice, &all),
        },
        10 => Command::Cut {
            from: process,
            to: other,
            both: dice.one_in(2),
        },
        11 | 12 => Command::Heal,
        13 => Command::Latency {
            from: process,
            to: other,
            min: dice.millis(1, 50),
            max: dice.millis(50, 2_000),
        },
        14 => Command::Loss {
            from: process,
            to: other,
            ppm,
        },
        15 => match dice.below(3) {
            0 => Command::ClockRate {
                process,
                ppm: 800_000 + dice.below(400_001) as u32,
            },
            1 => Command::ClockJump {
                process,
                micros: dice.below(6_000_001) as i64 - 3_000_000,
            },
            _ => Command::Campaign {
                server: dice.pick(&servers).clone(),
            },
        },
        16 | 17 => {
            let value = format!("v{}", dice.below(9));
            let store = dice.pick(&setup.stores).clone();
            Command::Write {
                process: dice.pick(&writers).clone(),
                store,
                value,
            }
        }
        18 => Command::Put {
            client: dice.pick(&setup.clients).clone(),
            key: dice.pick(&["x", "y"]).to_string(),
            value: format!("v{}", dice.below(9)),
        },
        _ => {
            let worker = dice.pick(&setup.workers).clone();
            if dice.one_in(2) {
                Command::Release { worker }
            } else {
                Command::Acquire { worker, resource }
            }
        }
    }
}

/// Two groups that name everybody once.
fn groups(dice: &mut Dice, all: &[String]) -> Vec<Vec<String>> {
    let mut groups = vec![vec![all[0].clone()], vec![all[1].clone()]];
    for name in &all[2..] {
        groups[dice.below(2) as usize].push(name.clone());
    }
    groups
}
