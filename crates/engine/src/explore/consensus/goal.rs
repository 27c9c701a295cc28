//! What a search looks for: an invariant broken, or a claim come true.
//!
//! The question on the search party's card. Claims about spans of time are not understood here.

use crate::claim::{Claim, ClaimError, EventClaim, Part, Scene};
use crate::event::Fact;
use crate::monitor::Invariant;
use crate::setup::{Kind, Names};
use crate::units::ProcessId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    Break(Invariant),
    Reach(Claim),
}

/// Why a world cannot be searched for a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The world's time flows.
    Timed,
    /// Only servers and clients are searched.
    Kind {
        name: String,
        kind: Kind,
    },
    Asleep {
        name: String,
    },
    /// Reads by a leader's lease need a clock.
    LeaseReads,
    /// A budget above [`super::Bounds::BUDGET_MAX`], or no room on links.
    Bounds,
    /// It is about leases, workers or stores; searched are those of [`Goal::INVARIANTS`].
    Invariant(Invariant),
    Claim(ClaimError),
    /// A claim about a span of time.
    Window,
    /// A claim of more than eight parts.
    Parts,
}

/// The parts of a claim that are noted in a state: a bit each.
const PARTS_MAX: usize = 8;

impl Goal {
    /// The invariants that a search without time can look for.
    pub const INVARIANTS: [Invariant; 5] = [
        Invariant::ElectionSafety,
        Invariant::LogMatching,
        Invariant::LeaderCompleteness,
        Invariant::StateMachineSafety,
        Invariant::NoLostWrite,
    ];

    pub(super) fn check(&self, names: &Names) -> Result<(), Refused> {
        match self {
            Self::Break(invariant) if Self::INVARIANTS.contains(invariant) => Ok(()),
            Self::Break(invariant) => Err(Refused::Invariant(*invariant)),
            Self::Reach(claim) => {
                claim.check(names).map_err(Refused::Claim)?;
                let windowed = |part: &Part| {
                    matches!(
                        part,
                        Part::Event(EventClaim {
                            window: Some(_),
                            ..
                        })
                    )
                };
                if claim.parts.iter().any(windowed) {
                    return Err(Refused::Window);
                }
                if PARTS_MAX < claim.parts.len() {
                    return Err(Refused::Parts);
                }
                Ok(())
            }
        }
    }

    fn events(&self) -> impl Iterator<Item = (u8, &EventClaim)> {
        let parts = match self {
            Self::Break(_) => &[],
            Self::Reach(claim) => claim.parts.as_slice(),
        };
        let bits = (0..PARTS_MAX).map(|at| 1 << at);
        bits.zip(parts).filter_map(|(bit, part)| match part {
            Part::Event(event) => Some((bit, event)),
            Part::State(_) => None,
        })
    }

    /// The parts of which these facts hold an event.
    pub(super) fn matched(&self, facts: &[Fact], who: ProcessId, names: &Names) -> u8 {
        let holds = |event: &EventClaim| {
            let mut facts = facts.iter();
            facts.any(|fact| event.what.matches(&fact.event, Some(who), names))
        };
        let held = self.events().filter(|(_, event)| holds(event));
        held.fold(0, |bits, (bit, _)| bits | bit)
    }

    /// Those of the matched parts whose `while` holds too.
    pub(super) fn meanwhile(&self, matched: u8, scene: &dyn Scene) -> u8 {
        let held = self.events().filter(|(bit, event)| {
            let meanwhile = event.meanwhile.as_ref();
            matched & bit != 0 && meanwhile.is_none_or(|state| state.holds(scene))
        });
        held.fold(0, |bits, (bit, _)| bits | bit)
    }

    pub(super) fn is_reached(&self, claim: &Claim, matched: u8, scene: &dyn Scene) -> bool {
        let as_wanted = |(bit, event): (u8, &EventClaim)| (matched & bit != 0) == event.positive;
        let states = claim.parts.iter().all(|part| match part {
            Part::State(state) => state.holds(scene),
            Part::Event(_) => true,
        });
        states && self.events().all(as_wanted)
    }
}
