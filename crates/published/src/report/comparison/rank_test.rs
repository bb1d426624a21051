//! Whether one list of numbers is larger than another by more than chance: the test of Mann and Whitney, which asks for no
//! distribution.

use std::f64::consts::SQRT_2;

/// Numbers of both lists together up to which all ways to divide them are counted; beyond, the sum of ranks is taken as normal, which it is
/// to three digits then.
const MOST_COUNTED: usize = 40;

/// The probability that lists of these lengths differ as much as these do, or more, in either direction, where nothing but chance
/// distinguishes them; 1 where one is empty.
pub(super) fn p_value(a: &[f64], b: &[f64]) -> f64 {
    let ranks = doubled_ranks(a, b);
    let of_a: u64 = ranks.iter().take(a.len()).sum();
    match (a.len(), b.len()) {
        (0, _) | (_, 0) => 1.0,
        (_, _) if ranks.len() <= MOST_COUNTED => counted(&ranks, a.len(), of_a),
        (_, _) => normal(&ranks, a.len(), of_a),
    }
}

/// The smallest probability that lists of these lengths can have: as long as it is too large, no difference is proven.
pub(super) fn smallest(a: usize, b: usize) -> f64 {
    let ascending: Vec<f64> = (0_u32..).map(f64::from).take(a + b).collect();
    let (below, above) = ascending.split_at(a);
    p_value(below, above)
}

/// The ranks of all numbers, those of `a` first, times two: equal numbers have the mean of their ranks.
fn doubled_ranks(a: &[f64], b: &[f64]) -> Vec<u64> {
    let all: Vec<f64> = a.iter().chain(b).copied().collect();
    let rank = |number: &f64| {
        let below = all.iter().filter(|other| other.total_cmp(number).is_lt()).count() as u64;
        let equal = all.iter().filter(|other| other.total_cmp(number).is_eq()).count() as u64;
        2 * below + equal + 1
    };
    all.iter().map(rank).collect()
}

/// By counting the ways to choose so many ranks by their sum.
fn counted(ranks: &[u64], chosen: usize, sum: u64) -> f64 {
    let all: u64 = ranks.iter().sum();
    let sums = usize::try_from(all).unwrap_or(0) + 1;
    let mut ways = vec![vec![0.0_f64; sums]; chosen + 1];
    ways[0][0] = 1.0;
    for &rank in ranks {
        let rank = usize::try_from(rank).unwrap_or(sums);
        for count in (1..=chosen).rev() {
            let (fewer, more) = ways.split_at_mut(count);
            for (target, ways) in more[0][rank..].iter_mut().zip(&fewer[count - 1]) {
                *target += ways;
            }
        }
    }
    // The mean of the sum is `chosen / ranks.len()` of all; in whole numbers, so that equal distances are equal.
    let distance = |sum: u64| (sum * ranks.len() as u64).abs_diff(all * chosen as u64);
    let observed = distance(sum);
    let ways = &ways[chosen];
    let as_far: f64 = (0..).zip(ways).filter(|(sum, _)| distance(*sum) >= observed).map(|(_, ways)| ways).sum();
    as_far / ways.iter().sum::<f64>()
}

/// By the normal distribution, with its correction for equal numbers and for whole ones.
#[expect(clippy::cast_precision_loss, reason = "sums of ranks of lists that were read, far below 2^53")]
fn normal(ranks: &[u64], chosen: usize, sum: u64) -> f64 {
    let (n, all) = (chosen as f64, ranks.len() as f64);
    let mean = n * (all + 1.0);
    let squares: f64 = ranks.iter().map(|rank| (*rank as f64 - (all + 1.0)).powi(2)).sum();
    let variance = n * (all - n) / (all * (all - 1.0)) * squares;
    if variance <= 0.0 {
        return 1.0;
    }
    // Doubled sums differ by two.
    let distance = ((sum as f64 - mean).abs() - 1.0).max(0.0);
    libm::erfc(distance / variance.sqrt() / SQRT_2).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two numbers, as far as three digits go.
    #[track_caller]
    fn t(a: &[f64], b: &[f64], expected: f64) {
        let found = p_value(a, b);
        assert!((found - expected).abs() < 0.0005, "{found} instead of {expected}");
        assert!((p_value(b, a) - expected).abs() < 0.0005, "it depends on the order");
    }

    #[test]
    fn all_ways_are_counted() {
        // Of 70 ways to choose 4 of 8, two are as far apart as can be.
        t(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0], 2.0 / 70.0);
        t(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], 2.0 / 20.0);
        t(&[1.0], &[2.0], 1.0);
        // Ranks 1, 3 and 4 are 8, the mean is 10.5: of 20 sums four are at most 8, and four at least 13.
        t(&[1.0, 3.0, 4.0], &[2.0, 5.0, 6.0], 8.0 / 20.0);
        // All equal.
        t(&[5.0, 5.0], &[5.0, 5.0, 5.0], 1.0);
        t(&[], &[1.0], 1.0);
        // Ties share their ranks: 1.5 + 1.5 against 3 + 4; one of six ways on each side.
        t(&[1.0, 1.0], &[2.0, 3.0], 2.0 / 6.0);
    }

    #[test]
    fn long_lists_are_nearly_normal() {
        let list = |from: i32, count: i32| -> Vec<f64> { (0..count).map(|n| f64::from(from + n)).collect() };
        let (a, b) = (list(0, 20), list(7, 20));
        let ranks = doubled_ranks(&a, &b);
        let sum: u64 = ranks.iter().take(20).sum();
        let (exact, near) = (counted(&ranks, 20, sum), normal(&ranks, 20, sum));
        assert!((exact - near).abs() < 0.002, "{exact} {near}");
        t(&list(0, 50), &list(0, 50), 1.0);
        assert!(p_value(&list(0, 50), &list(100, 50)) < 1e-15);
    }

    #[test]
    fn few_numbers_prove_nothing() {
        assert!(smallest(3, 3) > 0.05 && smallest(4, 4) < 0.05 && smallest(3, 5) < 0.05 && smallest(1, 38) > 0.05);
    }
}
