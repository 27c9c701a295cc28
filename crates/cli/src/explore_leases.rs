//! The part of `leasehold explore` in which time passes: who can be made to act on a lease that is over?
//!
//! A fire drill on the hour: at every tick somebody may fall asleep or write, and between ticks the world
//! goes on as it always does.

use leasehold_engine::command::Command;
use leasehold_engine::event::Step;
use leasehold_engine::explore::leases::{Action, Bounds, Goal, Leases, run};
use leasehold_engine::explore::{Explorer, Outcome};
use leasehold_engine::setup::Setup;
use leasehold_engine::units::{Duration, SpanText};
use leasehold_engine::world::World;
use leasehold_lesson::director::set_switch;
use leasehold_lesson::lesson::Do;
use leasehold_lesson::{script, words, world_block};

use crate::args::{Explore, Wanted};
use crate::explore::{self, Trouble, trouble};
use crate::{End, out};

/// Moves tried between two looks at the clock: each may be half a second of a world.
const SLICE: u64 = 200;

pub(crate) fn look(search: &Explore, bounds: &Bounds) -> Result<End, Trouble> {
    if !search.forbid.is_empty() {
        return trouble(
            "--forbid is for searches without time",
            "take the move out of the budget instead: pauses=0",
        );
    }
    let (setup, prefix) = stage(search)?;
    let mut world = World::new(setup.clone()).map_err(|error| {
        let wrong = words::setup_error(&error);
        (wrong.what, wrong.remedy)
    })?;
    play(&mut world, &prefix)?;
    let goal = match &search.goal {
        Wanted::Break(invariant) => Goal::Break(*invariant),
        Wanted::Reach(text) => {
            let claim = script::claim(text, world.names());
            Goal::Reach(claim.map_err(|error| (error.trouble.what, error.trouble.remedy))?)
        }
    };
    let bounds = Bounds {
        crashes: if search.crashes_given {
            search.bounds.crashes
        } else {
            0
        },
        menu: menu(search, &world)?,
        ..bounds.clone()
    };
    let tick = SpanText(bounds.tick);
    let model = Leases::new(&world, bounds, goal);
    let mut explorer = Explorer::new(model, search.limits);
    explore::run(&mut explorer, search.limits, SLICE);
    let told = explore::tell(&explorer.outcome().cloned(), explorer.progress());
    explore::call(search);
    out::line(&format!(
        "# searched in time: {}, something may be done every {tick}",
        world.names().list()
    ));
    out::line(&format!("# {told}"));
    let Some(Outcome::Found { path, .. }) = explorer.outcome() else {
        return Ok(End::Wrong);
    };
    play(&mut world, path)?;
    if let Wanted::Break(invariant) = &search.goal {
        let Some(broken) = world.broken(*invariant) else {
            return trouble(
                "what was found does not play",
                "this is a fault of the search: please report it with the line above",
            );
        };
        let why = words::reason(&broken.reason, world.names());
        out::line(&format!("# {invariant} breaks: {why}"));
    }
    out::line(&format!("{}----", world_block(&setup)));
    print(&prefix);
    if !prefix.is_empty() {
        out::line("# found:");
    }
    print(path);
    out::line(&format!("run until {}", explore::wanted(search)));
    Ok(End::Well)
}

fn menu(search: &Explore, world: &World) -> Result<Vec<Command>, Trouble> {
    let read = |text: &String| {
        script::command(text, world.names()).map_err(|error| {
            let what = format!("--may {text}: {}", error.trouble.what);
            (what, error.trouble.remedy)
        })
    };
    search.may.iter().map(read).collect()
}

/// The file's world, with one latency and no loss, and what its script does before the search.
fn stage(search: &Explore) -> Result<(Setup, Vec<Action>), Trouble> {
    let file = &search.file;
    let (mut setup, directives) = explore::read(file)?;
    let mut prefix = Vec::new();
    for directive in directives {
        match directive.what {
            Do::Act(command) => prefix.push(Action::Act(command)),
            Do::RunFor(span) => prefix.push(Action::Run(span)),
            // What a found script ends with: that it came true.
            Do::RunUntil { .. } => {}
            Do::Stop { .. } | Do::Again(_) => {
                let what = format!("{file}:{}: this is for a reader", directive.place);
                return trouble(what, "before a search stand commands and `run 500ms`");
            }
        }
    }
    if setup.untimed {
        return trouble(
            format!("{file}: its world has no time"),
            "leases are searched in time: leave out time = \"none\"",
        );
    }
    setup.latency_max = setup.latency_min;
    (setup.loss_ppm, setup.duplication_ppm) = (0, 0);
    for (switch, position) in &search.set {
        set_switch(&mut setup, *switch, *position);
    }
    Ok((setup, prefix))
}

fn play(world: &mut World, actions: &[Action]) -> Result<(), Trouble> {
    for action in actions {
        match action {
            Action::Run(span) => run(world, *span, |_, _| {}),
            Action::Act(command) => {
                let done = world.apply(command, &mut Step::empty());
                done.map_err(|error| {
                    let wrong = words::command_error(&error);
                    (format!("{command}: {}", wrong.what), wrong.remedy)
                })?;
            }
        }
    }
    Ok(())
}

/// Ticks in which nothing is done become one `run`.
fn print(actions: &[Action]) {
    let mut passed = Duration::ZERO;
    let pass = |passed: &mut Duration| {
        if *passed != Duration::ZERO {
            out::line(&format!("run {}", SpanText(*passed)));
        }
        *passed = Duration::ZERO;
    };
    for action in actions {
        match action {
            Action::Run(span) => passed = Duration(passed.0 + span.0),
            Action::Act(command) => {
                pass(&mut passed);
                print_command(command);
            }
        }
    }
    pass(&mut passed);
}

fn print_command(command: &Command) {
    out::line(&command.to_string());
}
