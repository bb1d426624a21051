//! Changes to files, the same in every run.

#![allow(dead_code, unreachable_pub, reason = "not each test needs all of it")]
#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

/// Numbers that are the same every time.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// Numbers that are often wrong.
const ODD: [u32; 8] = [0, 1, 4, 0x7F, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, u32::MAX];

/// Changes a few bytes.
pub fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        match random.below(6) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = u8::try_from(random.below(256)).unwrap(),
            2 | 3 => {
                let odd = ODD[random.below(ODD.len())].to_le_bytes();
                let at = at & !3;
                let count = odd.len().min(bytes.len() - at);
                bytes[at..at + count].copy_from_slice(&odd[..count]);
            }
            4 => {
                let (from, len) = (random.below(bytes.len()), random.below(32));
                let part = bytes[from..bytes.len().min(from + len)].to_vec();
                let count = part.len().min(bytes.len() - at);
                bytes[at..at + count].copy_from_slice(&part[..count]);
            }
            _ if random.below(8) == 0 => bytes.truncate(at.max(1)),
            _ => bytes[at] = 0,
        }
    }
}
