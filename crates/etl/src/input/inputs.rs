//! The inputs of a recording: opened when they are asked for, few at a time.
//!
//! A recording may have more files than a process may have open. Those that were asked for last stay open; one that is
//! opened again must be the one that was opened first.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::error::{Error, ErrorKind, Result};
use base::progress::Progress;
use serde::{Deserialize, Serialize};

use super::access::{Identity, Input, Since, changed};
use super::address::Address;
use super::counted::CountedInput;
use super::local::{self, LocalFile};
use super::opener::{OpenOptions, Opener};

/// The number of an input in its recording, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InputId(pub u16);

impl InputId {
    /// As an index of lists with an entry per input.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// The inputs of a recording, by number.
#[derive(Debug)]
pub struct Inputs {
    list: Vec<InputPlace>,
    /// The local files that are open, the one that was asked for last in front.
    open: Mutex<VecDeque<(InputId, Arc<dyn Input>)>>,
    most_open: usize,
    /// Bytes that were read of all of them.
    bytes_read: Arc<AtomicU64>,
    /// From when on the local files must stay as they are.
    since: Since,
}

/// How an input is had.
#[derive(Debug)]
enum InputPlace {
    /// A local file, opened when it is asked for.
    Local(Identity),
    /// There, whatever it is.
    There(Arc<dyn Input>),
}

impl Inputs {
    /// Opens local files once, to know what they are.
    ///
    /// # Errors
    /// Those of [`LocalFile::open`].
    pub fn open(paths: impl IntoIterator<Item = PathBuf>) -> Result<Inputs> {
        let mut inputs = Inputs::local([]);
        paths.into_iter().try_for_each(|path| inputs.push_file(&path))?;
        Ok(inputs)
    }

    fn push_file(&mut self, path: &Path) -> Result<()> {
        let file = LocalFile::open(path)?;
        let id = self.push(path, InputPlace::Local(file.identity().clone()))?;
        self.keep(id, counted(Arc::new(file), &self.bytes_read));
        Ok(())
    }

    fn push(&mut self, path: &Path, place: InputPlace) -> Result<InputId> {
        let id = u16::try_from(self.len()).map(InputId).map_err(|_| too_many_inputs(path))?;
        self.list.push(place);
        Ok(id)
    }

    /// Opens files, and members of containers as [`OpenOptions`] say; `begin` gets how many bytes of a container are to
    /// be read for that.
    ///
    /// # Errors
    /// Those of [`LocalFile::open`]; of the kind `Input` when a container is damaged or a member cannot be read, `Output`
    /// when there is no room to unpack it, `Interrupted` when the caller asked to stop.
    pub fn open_any(
        addresses: &[Address],
        options: &OpenOptions,
        begin: &dyn Fn(u64),
        progress: &dyn Progress,
    ) -> Result<Inputs> {
        let opener = Opener { options, since: Since::Opened, begin, progress };
        let opened = opener.open(addresses.iter())?;
        let mut inputs = Inputs::local([]);
        for (address, opened) in addresses.iter().zip(opened) {
            match opened {
                Some(input) => {
                    let input = counted(input, &inputs.bytes_read);
                    inputs.push(address, InputPlace::There(input))?;
                }
                None => inputs.push_file(address)?,
            }
        }
        Ok(inputs)
    }

    /// Local files that were opened before; none is opened now.
    pub fn local(identities: impl IntoIterator<Item = Identity>) -> Inputs {
        Inputs::new(identities.into_iter().map(InputPlace::Local).collect(), Since::Opened)
    }

    /// What a plan names, which another process may have made. Local files are opened when they are asked for; of
    /// members of containers those that are `needed` are unpacked now, as in [`Inputs::open_any`].
    ///
    /// # Errors
    /// Those of [`Inputs::open_any`], and [`ErrorKind::Internal`] when a member is not the one that was planned.
    pub fn planned(
        identities: impl IntoIterator<Item = Identity>,
        needed: impl Fn(InputId) -> bool,
        options: &OpenOptions,
        begin: &dyn Fn(u64),
        progress: &dyn Progress,
    ) -> Result<Inputs> {
        let mut list: Vec<InputPlace> = identities.into_iter().map(InputPlace::Local).collect();
        let wanted: Vec<(usize, Identity)> = (0..)
            .zip(0..)
            .zip(&list)
            .filter_map(|((position, id), place)| match place {
                InputPlace::Local(identity) if needed(InputId(id)) => Some((position, identity.clone())),
                _ => None,
            })
            .collect();
        let opener = Opener { options, since: Since::Planned, begin, progress };
        let opened = opener.open(wanted.iter().map(|(_, identity)| &identity.source))?;
        for ((position, identity), opened) in wanted.into_iter().zip(opened) {
            let Some(input) = opened else { continue };
            if *input.identity() != identity {
                return Err(changed(&identity.source, Since::Planned));
            }
            list[position] = InputPlace::There(input);
        }
        Ok(Inputs::new(list, Since::Planned))
    }

    /// Inputs of the caller's own kind.
    pub fn of(inputs: impl IntoIterator<Item = Arc<dyn Input>>) -> Inputs {
        Inputs::new(inputs.into_iter().map(InputPlace::There).collect(), Since::Opened)
    }

    fn new(mut list: Vec<InputPlace>, since: Since) -> Inputs {
        let bytes_read = Arc::<AtomicU64>::default();
        for place in &mut list {
            if let InputPlace::There(input) = place {
                *input = counted(Arc::clone(input), &bytes_read);
            }
        }
        Inputs { list, open: Mutex::default(), most_open: local::most_open(), bytes_read, since }
    }

    /// Bytes that were read of the inputs so far, those that were read again among them.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// What was opened, in order.
    pub fn identities(&self) -> impl Iterator<Item = &Identity> {
        self.list.iter().map(|place| match place {
            InputPlace::Local(identity) => identity,
            InputPlace::There(input) => input.identity(),
        })
    }

    /// An input, opened if it is not.
    ///
    /// # Errors
    /// Those of [`LocalFile::open`], and [`ErrorKind::Internal`] when it is no more what it was.
    pub fn get(&self, id: InputId) -> Result<Arc<dyn Input>> {
        let place = self.list.get(id.index()).ok_or_else(|| no_such_input(id, self.len()))?;
        let identity = match place {
            InputPlace::There(input) => return Ok(Arc::clone(input)),
            InputPlace::Local(identity) => identity,
        };
        if let Some(open) = self.already_open(id) {
            return Ok(open);
        }
        // Nobody waits meanwhile: a file of a network drive may take its time. One that two threads open is kept once.
        let file = LocalFile::reopen(identity, self.since)?;
        Ok(self.keep(id, counted(Arc::new(file), &self.bytes_read)))
    }

    /// Makes sure that all inputs are still what they were.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] when one has changed.
    pub fn check_unchanged(&self) -> Result<()> {
        self.list.iter().try_for_each(|place| match place {
            InputPlace::Local(identity) => local::check_unchanged(identity, self.since),
            InputPlace::There(input) => input.check_unchanged(),
        })
    }

    fn opened(&self) -> MutexGuard<'_, VecDeque<(InputId, Arc<dyn Input>)>> {
        // Nothing that can panic runs while it is locked.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn already_open(&self, id: InputId) -> Option<Arc<dyn Input>> {
        let mut open = self.opened();
        let place = open.iter().position(|(other, _)| *other == id)?;
        if place > 0 {
            let found = open.remove(place)?;
            open.push_front(found);
        }
        open.front().map(|(_, input)| Arc::clone(input))
    }

    /// Keeps a file open, and lets go of the one that nobody asked for the longest.
    fn keep(&self, id: InputId, file: Arc<dyn Input>) -> Arc<dyn Input> {
        let mut open = self.opened();
        if let Some((_, there)) = open.iter().find(|(other, _)| *other == id) {
            return Arc::clone(there);
        }
        open.push_front((id, Arc::clone(&file)));
        let most = open.len().min(self.most_open);
        let released = open.split_off(most);
        drop(open);
        drop(released);
        file
    }
}

fn counted(input: Arc<dyn Input>, bytes_read: &Arc<AtomicU64>) -> Arc<dyn Input> {
    Arc::new(CountedInput { input, bytes_read: Arc::clone(bytes_read) })
}

fn too_many_inputs(path: &Path) -> Error {
    Error::new(ErrorKind::Input, "expected at most 65,536 files in a recording, found more").in_file(path)
}

fn no_such_input(id: InputId, inputs: usize) -> Error {
    Error::bug(format!("expected the number of one of {inputs} inputs, found {}", id.0))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use base::progress::NoProgress;

    use super::super::memory::MemoryInput;
    use super::*;

    /// Files that hold their own number, and inputs of which two may be open.
    fn files(folder: &Path, count: u8) -> Inputs {
        let paths = (0..count).map(|number| folder.join(number.to_string()));
        paths.clone().zip(0..).for_each(|(path, number): (_, u8)| fs::write(path, [number]).unwrap());
        let opened = Inputs::open(paths).unwrap();
        Inputs { most_open: 2, ..Inputs::local(opened.identities().cloned()) }
    }

    fn number(inputs: &Inputs, id: u16) -> u8 {
        inputs.get(InputId(id)).unwrap().bytes(0, 1, &mut Vec::new()).unwrap()[0]
    }

    fn open(inputs: &Inputs) -> Vec<u16> {
        inputs.opened().iter().map(|(id, _)| id.0).collect()
    }

    #[test]
    fn those_asked_for_last_stay_open() {
        let folder = tempfile::tempdir().unwrap();
        let inputs = files(folder.path(), 4);
        let order: [(u16, &[u16]); 5] = [(0, &[0]), (1, &[1, 0]), (0, &[0, 1]), (3, &[3, 0]), (0, &[0, 3])];
        for (id, expected) in order {
            assert_eq!((u16::from(number(&inputs, id)), &open(&inputs)[..]), (id, expected));
        }
        let held = inputs.get(InputId(1)).unwrap();
        assert_eq!([2, 3].map(|id| number(&inputs, id)), [2, 3]);
        assert_eq!(held.bytes(0, 9, &mut Vec::new()).unwrap(), [1], "what somebody holds is open until it is dropped");
        inputs.check_unchanged().unwrap();
        // Six files were asked for through the inputs, one more byte of what was held.
        assert_eq!(inputs.bytes_read(), 5 + 2 + 1);
    }

    #[test]
    fn a_file_that_is_opened_again_must_be_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let inputs = Inputs::local(files(folder.path(), 3).identities().cloned());
        assert_eq!((number(&inputs, 2), open(&inputs)), (2, vec![2]));
        fs::write(folder.path().join("1"), [1, 1]).unwrap();
        let error = inputs.get(InputId(1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal);
        assert!(error.to_string().contains("the file changed"), "{error}");
        assert_eq!(inputs.check_unchanged().unwrap_err().to_string(), error.to_string());
        assert_eq!(inputs.get(InputId(3)).unwrap_err().kind(), ErrorKind::Internal);
    }

    #[test]
    fn a_file_that_is_not_the_planned_one_is_to_be_planned_again() {
        let folder = tempfile::tempdir().unwrap();
        let identities: Vec<Identity> = files(folder.path(), 2).identities().cloned().collect();
        let inputs = Inputs::planned(identities, |_| true, &OpenOptions::default(), &|_| (), &NoProgress).unwrap();
        let open = inputs.get(InputId(0)).unwrap();
        for path in ["0", "1"] {
            fs::write(folder.path().join(path), []).unwrap();
        }
        fs::write(folder.path().join("1"), [1, 1]).unwrap();
        let cut = open.bytes(0, 1, &mut Vec::new()).unwrap_err();
        for error in [cut, open.check_unchanged().unwrap_err(), inputs.get(InputId(1)).unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::Internal);
            let text = error.to_string();
            assert!(text.contains("the file changed since it was planned (plan the recording again"), "{text}");
        }
    }

    #[test]
    fn an_input_may_be_anything() {
        let inputs = Inputs::of([Arc::new(MemoryInput::new("made.etl", vec![1, 2, 3])) as Arc<dyn Input>]);
        let input = inputs.get(InputId(0)).unwrap();
        let mut scratch = Vec::new();
        assert_eq!(input.bytes(1, 9, &mut scratch).unwrap(), [2, 3]);
        assert_eq!(input.bytes(9, 9, &mut scratch).unwrap(), [0; 0]);
        let error = input.read_into(2, &mut [0; 2]).unwrap_err();
        assert!(error.to_string().contains("made.etl, offset 0x2: the file changed"), "{error}");
        inputs.check_unchanged().unwrap();
        assert_eq!(inputs.identities().map(|identity| identity.size).sum::<u64>(), 3);
        assert_eq!(inputs.bytes_read(), 2, "what there is of nine bytes from 1 on, and nothing of what there is not");
    }
}
