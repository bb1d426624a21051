//! Which buffers are read side by side, and what becomes of them meanwhile.

use base::error::Result;

use super::buffer_summary::BufferSummary;

/// Buffers that are read side by side.
const TOGETHER: usize = 256;

/// Whether a buffer is read with the one before it, of no more than so many bytes together: for `chunk_by`.
pub fn together(most: u64) -> impl FnMut(&&BufferSummary, &&BufferSummary) -> bool {
    let (mut buffers, mut bytes) = (1, 0_u64);
    move |before, buffer| {
        bytes += before.used_bytes();
        buffers += 1;
        let is_beside = buffers <= TOGETHER && bytes + buffer.used_bytes() <= most;
        if !is_beside {
            (buffers, bytes) = (1, 0);
        }
        is_beside
    }
}

/// What was made of the last buffers that were read, to be taken by one thread while the others read the next.
#[derive(Debug)]
pub struct OneBehind<T>(Option<T>);

impl<T> Default for OneBehind<T> {
    /// Nothing was made yet.
    fn default() -> Self {
        OneBehind(None)
    }
}

impl<T: Send> OneBehind<T> {
    /// Takes what was made before, and makes the next on the current pool.
    ///
    /// # Errors
    /// Those of `take`, and else those of `make`.
    pub fn turn(
        &mut self,
        make: impl FnOnce() -> Result<T> + Send,
        take: impl FnOnce(T) -> Result<()> + Send,
    ) -> Result<()> {
        let before = self.0.take();
        // Where there is one thread, it takes what it has just made.
        let (taken, next) = rayon::join(|| before.map_or(Ok(()), take), make);
        taken?;
        self.0 = Some(next?);
        Ok(())
    }

    /// Takes what was made last.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn end(&mut self, take: impl FnOnce(T) -> Result<()>) -> Result<()> {
        self.0.take().map_or(Ok(()), take)
    }
}

#[cfg(test)]
mod tests {
    use base::error::Error;

    use super::*;

    #[test]
    fn all_is_taken_in_its_order() {
        let (mut behind, mut taken) = (OneBehind::default(), Vec::new());
        for number in 0..4 {
            let mut take = |made| {
                taken.push(made);
                Ok(())
            };
            behind.turn(|| Ok(number), &mut take).unwrap();
            assert_eq!(taken.len(), number);
        }
        for _ in 0..2 {
            behind
                .end(|made| {
                    taken.push(made);
                    Ok(())
                })
                .unwrap();
        }
        assert_eq!(taken, [0, 1, 2, 3]);
    }

    #[test]
    fn what_was_read_first_fails_first() {
        let mut behind = OneBehind::default();
        behind.turn(|| Ok(1), |_| Ok(())).unwrap();
        let failed = behind.turn(|| Err(Error::bug("made")), |_| Err(Error::bug("taken")));
        assert!(failed.unwrap_err().to_string().contains("taken"));
        assert!(behind.turn(|| Err(Error::bug("made")), |_: i32| Ok(())).is_err());
    }
}
