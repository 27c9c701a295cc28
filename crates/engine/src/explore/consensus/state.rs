//! A state of the search: a handful of numbers, written in few bytes.
//!
//! A library slip: which book of each shelf, not the books. What the numbers stand for is kept by the
//! model.

/// What has been taken from the budgets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spent {
    pub(super) crashes: u8,
    pub(super) duplicates: u8,
    pub(super) puts: u8,
    pub(super) rings: u8,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// By process.
    pub(super) locals: Vec<u32>,
    /// On their way, in order of their numbers; one that is there twice stands twice.
    pub(super) packets: Vec<u32>,
    pub(super) seen: u32,
    pub(super) spent: Spent,
    /// Which of the goal's events have happened.
    pub(super) matched: u8,
}

impl State {
    pub(super) fn add(&mut self, packet: u32) {
        let at = self.packets.partition_point(|other| *other <= packet);
        self.packets.insert(at, packet);
    }

    pub(super) fn take(&mut self, packet: u32) {
        let at = self.packets.binary_search(&packet);
        self.packets
            .remove(at.expect("only what is on its way is taken"));
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        for local in &self.locals {
            number(*local, bytes);
        }
        number(self.seen, bytes);
        let Spent {
            crashes,
            duplicates,
            puts,
            rings,
        } = self.spent;
        bytes.extend([crashes << 4 | duplicates, puts << 4 | rings, self.matched]);
        let mut before = 0;
        for packet in &self.packets {
            number(packet - before, bytes);
            before = *packet;
        }
    }

    pub(super) fn read(mut bytes: &[u8], processes: usize) -> Self {
        let locals = (0..processes).map(|_| take_number(&mut bytes)).collect();
        let seen = take_number(&mut bytes);
        let (head, mut rest) = bytes.split_at(3);
        let spent = Spent {
            crashes: head[0] >> 4,
            duplicates: head[0] & 15,
            puts: head[1] >> 4,
            rings: head[1] & 15,
        };
        let mut packets = Vec::with_capacity(rest.len() + 2);
        let mut before = 0;
        while !rest.is_empty() {
            before += take_number(&mut rest);
            packets.push(before);
        }
        Self {
            locals,
            packets,
            seen,
            spent,
            matched: head[2],
        }
    }
}

/// Seven bits a byte, the lowest first.
fn number(mut n: u32, bytes: &mut Vec<u8>) {
    while n >= 0x80 {
        bytes.push(n as u8 | 0x80);
        n >>= 7;
    }
    bytes.push(n as u8);
}

fn take_number(bytes: &mut &[u8]) -> u32 {
    let (mut n, mut shift) = (0, 0);
    while let Some((first, rest)) = bytes.split_first() {
        *bytes = rest;
        n |= u32::from(first & 0x7f) << shift;
        shift += 7;
        if first & 0x80 == 0 {
            break;
        }
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read_as_they_are_written() {
        let state = State {
            locals: vec![0, 127, 128, u32::MAX],
            packets: vec![3, 3, 300, 70_000],
            seen: 16_384,
            spent: Spent {
                crashes: 15,
                duplicates: 1,
                puts: 2,
                rings: 9,
            },
            matched: 5,
        };
        let mut bytes = Vec::new();
        state.write(&mut bytes);
        assert_eq!(State::read(&bytes, 4), state);
    }
}
