//! Makes inputs from seeds.

use crate::fields::{Field, fields, turning_points};
use crate::random::Random;
use crate::target::{Form, Target};

/// The input with this number of a target: the seeds first, then what becomes of them. The same in every run.
pub fn input(target: &Target, seeds: &[Vec<u8>], number: u64) -> Vec<u8> {
    let seed = usize::try_from(number).ok().and_then(|number| seeds.get(number));
    let mut input = match (seed, target.form) {
        (Some(seed), _) => seed.clone(),
        (None, Form::Numbered(limit)) => numbered(limit(), number, &mut Random::of(target.name, number)),
        (None, form) => changed(form, seeds, &mut Random::of(target.name, number)),
    };
    input.truncate(target.max_len);
    input
}

fn numbered(limit: usize, number: u64, random: &mut Random) -> Vec<u8> {
    let number = (number % limit.max(1) as u64) as u32;
    let mut input = number.to_le_bytes().to_vec();
    input.extend(noise(random, 200));
    input
}

fn changed(form: Form, seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut input = match seeds {
        [] => noise(random, 300),
        _ if matches!(form, Form::Binary) && random.one_in(12) => noise(random, 300),
        seeds => random.pick(seeds).clone(),
    };
    let known = if matches!(form, Form::Trace) { fields(&input) } else { Vec::new() };
    // Few changes keep what stands around them intact; many lead into the wild.
    let changes = 1 << random.below(5);
    for _ in 0..changes {
        match form {
            Form::Trace if !known.is_empty() && !random.one_in(4) => {
                change_field(&mut input, random.pick(&known), random);
            }
            Form::Text(words) if random.one_in(2) => put_word(&mut input, words, random),
            _ => change(&mut input, seeds, random),
        }
    }
    input
}

/// Bytes of one of several kinds.
fn noise(random: &mut Random, most: usize) -> Vec<u8> {
    let len = random.below(most);
    let kind = random.below(4);
    let byte = |random: &mut Random| match (kind, random.below(5)) {
        (0, _) | (1, 0) => random.any() as u8,
        // Small numbers make counts and lengths that are met.
        (1, _) => random.below(4) as u8,
        (2, _) => b' ' + random.below(95) as u8,
        (_, 0) => 0,
        _ => b'a' + random.below(26) as u8,
    };
    (0..len).map(|_| byte(random)).collect()
}

/// Gives a known field another value.
pub fn change_field(input: &mut [u8], field: &Field, random: &mut Random) {
    let Some(target) = input.get_mut(field.at..field.at + field.len) else { return };
    match random.below(8) {
        0 => target.fill(0),
        1 => target.fill(0xFF),
        2 | 3 => target[random.below(field.len)] ^= 1 << random.below(8),
        4 => target.fill_with(|| random.any() as u8),
        _ => {
            let mut old = [0; 8];
            let width = target.len().min(8);
            old[..width].copy_from_slice(&target[..width]);
            let new = *random.pick(&turning_points(u64::from_le_bytes(old), width));
            target[..width].copy_from_slice(&new.to_le_bytes()[..width]);
        }
    }
}

fn put_word(input: &mut Vec<u8>, words: &[&str], random: &mut Random) {
    let word = random.pick(words).as_bytes();
    let at = random.below(input.len() + 1);
    let over = if random.one_in(2) { word.len().min(input.len() - at) } else { 0 };
    input.splice(at..at + over, word.iter().copied());
}

/// Changes bytes without a thought of what they are.
fn change(input: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    let at = random.below(input.len() + 1);
    let most = 1 << random.below(8);
    let len = random.below(most).min(input.len() - at);
    let stretch = at..at + len;
    match random.below(12) {
        0 => input.truncate(at),
        1 => drop(input.drain(stretch)),
        2 => {
            let copy = input[stretch].to_vec();
            input.splice(at..at, copy);
        }
        3 => {
            let moved = input[stretch].to_vec();
            let to = random.below(input.len() + 1);
            input.splice(to..to, moved);
        }
        4 => input[stretch].fill(*random.pick(&[0, 0xFF])),
        5 => drop(input.splice(at..at, noise(random, 40))),
        6 if !seeds.is_empty() => {
            let other = random.pick(seeds);
            let from = random.below(other.len() + 1);
            input.truncate(at);
            input.extend_from_slice(&other[from..]);
        }
        7 | 8 if at < input.len() => input[at] ^= 1 << random.below(8),
        9 if at < input.len() => input[at] = random.any() as u8,
        _ => {
            let width = *random.pick(&[1, 2, 4, 8]);
            if let Some(target) = input.get_mut(at..at + width) {
                let mut old = [0; 8];
                old[..width].copy_from_slice(target);
                let new = *random.pick(&turning_points(u64::from_le_bytes(old), width));
                target.copy_from_slice(&new.to_le_bytes()[..width]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{ALL, Target};

    #[test]
    fn an_input_is_the_same_every_time_and_its_neighbours_are_others() {
        let target = Target { form: Form::Binary, ..ALL[0] };
        let seeds = vec![b"a seed of some length, so that changes differ".to_vec()];
        let made: Vec<Vec<u8>> = (0..200).map(|number| input(&target, &seeds, number)).collect();
        assert_eq!(made[0], seeds[0]);
        assert!((0..200).zip(&made).all(|(number, made)| input(&target, &seeds, number) == *made));
        let distinct: std::collections::HashSet<_> = made.iter().collect();
        assert!(distinct.len() > 180, "{}", distinct.len());
    }
}
