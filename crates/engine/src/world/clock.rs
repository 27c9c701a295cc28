//! One process's clocks: a monotonic one with a rate, and a wall clock that can also jump.
//!
//! A watch that may run fast, and a calendar that somebody may turn a page of. Only the world can
//! relate either to true time.

use crate::units::{LocalTime, SimTime, WallTime};

const TRUE_RATE: u32 = 1_000_000;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Clock {
    /// Since when the rate below holds, in true and in local time.
    since: SimTime,
    local_since: LocalTime,
    /// What it had counted beyond that whole microsecond, in millionths: below a million.
    rest: u32,
    rate_ppm: u32,
    /// How far the wall clock has been moved against the monotonic one, in microseconds.
    wall_offset: i64,
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            since: SimTime(0),
            local_since: LocalTime(0),
            rest: 0,
            rate_ppm: TRUE_RATE,
            wall_offset: 0,
        }
    }
}

impl Clock {
    /// Local microseconds a true second, 1,000,000 for a true clock.
    #[must_use]
    pub const fn rate_ppm(&self) -> u32 {
        self.rate_ppm
    }

    #[must_use]
    pub const fn wall_offset_micros(&self) -> i64 {
        self.wall_offset
    }

    /// What the monotonic clock shows at `at`, which is not before the last change of its rate.
    #[must_use]
    pub fn local(&self, at: SimTime) -> LocalTime {
        if self.rate_ppm == TRUE_RATE {
            return LocalTime(self.local_since.0 + at.since(self.since).0);
        }
        let passed = self.millionths(at) / u128::from(TRUE_RATE);
        LocalTime(
            self.local_since
                .0
                .saturating_add(u64::try_from(passed).unwrap_or(u64::MAX)),
        )
    }

    /// What it has counted since `local_since`, in millionths of a microsecond.
    fn millionths(&self, at: SimTime) -> u128 {
        u128::from(at.since(self.since).0) * u128::from(self.rate_ppm) + u128::from(self.rest)
    }

    #[must_use]
    pub fn wall(&self, at: SimTime) -> WallTime {
        WallTime(
            i64::try_from(self.local(at).0)
                .unwrap_or(i64::MAX)
                .saturating_add(self.wall_offset),
        )
    }

    /// The first true moment at which the monotonic clock shows `local` or later.
    #[must_use]
    pub fn true_time(&self, local: LocalTime) -> SimTime {
        if local < self.local_since {
            let before = u128::from(self.local_since.0 - local.0) * u128::from(TRUE_RATE);
            let span = u64::try_from(before / u128::from(self.rate_ppm)).unwrap_or(u64::MAX);
            return SimTime(self.since.0.saturating_sub(span));
        }
        let ahead = local.since(self.local_since).0;
        if self.rate_ppm == TRUE_RATE {
            return SimTime(self.since.0.saturating_add(ahead));
        }
        let millionths = u128::from(ahead) * u128::from(TRUE_RATE);
        let scaled = millionths
            .saturating_sub(u128::from(self.rest))
            .div_ceil(u128::from(self.rate_ppm));
        SimTime(
            self.since
                .0
                .saturating_add(u64::try_from(scaled).unwrap_or(u64::MAX)),
        )
    }

    /// The first true moment at which the wall clock shows `wall` or later, if it does not jump again.
    #[must_use]
    pub fn true_time_of_wall(&self, wall: WallTime) -> SimTime {
        let local = wall.0.saturating_sub(self.wall_offset);
        self.true_time(LocalTime(u64::try_from(local).unwrap_or(0)))
    }

    pub(super) fn set_rate(&mut self, now: SimTime, rate_ppm: u32) {
        assert!(0 < rate_ppm);
        // Without what it has counted of the next microsecond, each change would set it back a little.
        self.rest = (self.millionths(now) % u128::from(TRUE_RATE)) as u32;
        self.local_since = self.local(now);
        self.since = now;
        self.rate_ppm = rate_ppm;
    }

    pub(super) const fn jump(&mut self, micros: i64) {
        self.wall_offset = self.wall_offset.saturating_add(micros);
    }

    /// Calls `now` zero, without changing what the clocks show.
    pub(super) fn rebase(&mut self, now: SimTime) {
        self.rest = (self.millionths(now) % u128::from(TRUE_RATE)) as u32;
        self.local_since = self.local(now);
        self.since = SimTime(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_change_keeps_what_the_clock_shows() {
        let mut clock = Clock::default();
        clock.set_rate(SimTime(1_000), 500_000);
        assert_eq!(clock.local(SimTime(1_000)), LocalTime(1_000));
        assert_eq!(clock.local(SimTime(3_000)), LocalTime(2_000));
        assert_eq!(clock.true_time(LocalTime(2_000)), SimTime(3_000));
        clock.set_rate(SimTime(3_000), 1_500_000);
        assert_eq!(clock.local(SimTime(5_000)), LocalTime(5_000));
        assert_eq!(
            clock.true_time(LocalTime(2_001)),
            SimTime(3_001),
            "never before it shows it"
        );
    }

    #[test]
    fn no_change_of_rate_loses_what_was_counted() {
        let mut clock = Clock::default();
        for n in 0..1_000 {
            clock.set_rate(SimTime(n), 900_000 + (n % 2) as u32);
        }
        clock.set_rate(SimTime(1_000), TRUE_RATE);
        assert_eq!(clock.local(SimTime(1_000)), LocalTime(900));
        for at in 0..5_000 {
            let local = clock.local(SimTime(1_000 + at));
            assert_eq!(clock.true_time(local), SimTime(1_000 + at));
        }
    }

    #[test]
    fn a_jump_moves_the_wall_clock_alone() {
        let mut clock = Clock::default();
        clock.jump(-2_000);
        assert_eq!(clock.local(SimTime(5_000)), LocalTime(5_000));
        assert_eq!(clock.wall(SimTime(5_000)), WallTime(3_000));
        assert_eq!(clock.true_time_of_wall(WallTime(3_000)), SimTime(5_000));
    }
}
