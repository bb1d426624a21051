//! Members that are packed together, in one stream that is unpacked once.

use std::io::{self, Read};

use base::error::Result;

use super::fault::{invalid, own};

/// The unpacked bytes of a stream, up to the damage in it if there is any: what lies behind that is an error of whoever reads it.
pub(super) struct Stream<R> {
    /// What unpacks it, or what it says to whoever reads on.
    decoder: std::result::Result<R, String>,
}

impl<R: Read> Stream<R> {
    /// A stream that begins, or one whose decoder cannot.
    ///
    /// # Errors
    /// Where the file cannot be read, or the caller asked to stop.
    pub(super) fn new(decoder: io::Result<R>) -> Result<Self> {
        match decoder.map_err(own) {
            Ok(decoder) => Ok(Stream { decoder: Ok(decoder) }),
            Err(Err(cause)) => Ok(Stream { decoder: Err(cause.to_string()) }),
            Err(Ok(error)) => Err(error),
        }
    }

    /// Passes over so many bytes, as far as they are there.
    ///
    /// # Errors
    /// Where the file cannot be read, or the caller asked to stop.
    pub(super) fn skip(&mut self, bytes: u64) -> Result<()> {
        if bytes == 0 || self.decoder.is_err() {
            return Ok(());
        }
        match io::copy(&mut self.by_ref().take(bytes), &mut io::sink()).map_err(own) {
            Ok(skipped) if skipped == bytes => {}
            Ok(_) | Err(Err(_)) => self.decoder = Err(behind_damage()),
            Err(Ok(error)) => return Err(error),
        }
        Ok(())
    }
}

impl<R: Read> Read for Stream<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let decoder = self.decoder.as_mut().map_err(|message| invalid(message.clone()))?;
        let read = decoder.read(target);
        if read.as_ref().is_err_and(|cause| cause.kind() != io::ErrorKind::Interrupted) {
            self.decoder = Err(behind_damage());
        }
        read
    }
}

fn behind_damage() -> String {
    "what lies before it in its stream cannot be unpacked".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest(stream: &mut Stream<impl Read>, most: u64) -> String {
        let mut text = String::new();
        match stream.by_ref().take(most).read_to_string(&mut text) {
            Ok(_) => text,
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_lies_behind_damage_is_an_error_every_time() {
        let damaged = b"abcdef".chain(Damage(0)).chain(&b"ghi"[..]);
        let mut stream = Stream::new(Ok(damaged)).unwrap();
        assert_eq!(rest(&mut stream, 2), "ab");
        stream.skip(2).unwrap();
        assert_eq!(rest(&mut stream, 2), "ef");
        assert_eq!(rest(&mut stream, 2), "no data");
        for _ in 0..2 {
            assert_eq!(rest(&mut stream, 2), "what lies before it in its stream cannot be unpacked");
            stream.skip(1).unwrap();
        }
        let mut short = Stream::new(Ok(&b"abc"[..])).unwrap();
        short.skip(4).unwrap();
        assert_eq!(rest(&mut short, 1), "what lies before it in its stream cannot be unpacked");
        let mut none = Stream::new(Err::<&[u8], _>(invalid("no such coder"))).unwrap();
        assert_eq!(rest(&mut none, 1), "no such coder");
    }

    /// A decoder that finds damage, once.
    struct Damage(u32);

    impl Read for Damage {
        fn read(&mut self, _target: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            if self.0 == 1 { Err(invalid("no data")) } else { Ok(0) }
        }
    }
}
