//! Texts, functions, modules and locations of a profile, each written where it occurs first.
//!
//! A list of a message may be cut into pieces with other fields between; so nothing is kept but the number that each has.

use std::collections::HashMap;
use std::io::Write;

use base::error::Result;

use crate::output::failure;
use crate::profile::{Call, Code, build_id};
use crate::protobuf::Message;

/// Fields of `Profile`.
const MAPPING: u64 = 3;
const LOCATION: u64 = 4;
const FUNCTION: u64 = 5;
const STRING_TABLE: u64 = 6;

/// What is written of a profile so far.
pub(super) struct Tables<'a, W: Write> {
    writer: W,
    code: &'a Code,
    strings: HashMap<String, u64>,
    functions: HashMap<(u64, u64, u64), u64>,
    mappings: HashMap<u32, u64>,
    /// By the number of the frame.
    locations: HashMap<u32, u64>,
    last: u64,
}

impl<'a, W: Write> Tables<'a, W> {
    /// Begins a profile: its first text is the empty one.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when it cannot be written.
    pub(super) fn begin(writer: W, code: &'a Code) -> Result<Tables<'a, W>> {
        let mut tables = Tables {
            writer,
            code,
            strings: HashMap::new(),
            functions: HashMap::new(),
            mappings: HashMap::new(),
            locations: HashMap::new(),
            last: 0,
        };
        tables.string("")?;
        Ok(tables)
    }

    /// Writes fields of the profile.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when they cannot be written.
    pub(super) fn put(&mut self, fields: &Message) -> Result<()> {
        self.writer.write_all(fields.as_bytes()).map_err(failure)
    }

    /// The number of a text.
    ///
    /// # Errors
    /// As [`Tables::put`].
    pub(super) fn string(&mut self, text: &str) -> Result<u64> {
        if let Some(number) = self.strings.get(text) {
            return Ok(*number);
        }
        self.put(&Message::default().bytes(STRING_TABLE, text.as_bytes()))?;
        let number = u64::try_from(self.strings.len()).unwrap_or(u64::MAX);
        self.strings.insert(text.to_owned(), number);
        Ok(number)
    }

    /// The location of a frame.
    ///
    /// # Errors
    /// As [`Tables::put`].
    pub(super) fn location(&mut self, frame: u32) -> Result<u64> {
        if let Some(number) = self.locations.get(&frame) {
            return Ok(*number);
        }
        let calls: Vec<Call<'_>> = self.code.calls(frame).collect();
        let Some(own) = calls.last() else { return Ok(0) };
        let mapping = own.module.map_or(Ok(0), |module| self.mapping(module))?;
        let address = own.offset.and_then(|offset| u64::try_from(offset).ok()).unwrap_or(0);
        let mut location = Message::default().number(2, mapping).number(3, address);
        // A viewer shows a module without a function as the module.
        for call in calls.iter().filter(|call| call.function.is_some() || call.module.is_none()) {
            location = location.message(4, &self.line(call)?);
        }
        let number = self.put_location(&location)?;
        self.locations.insert(frame, number);
        Ok(number)
    }

    /// The location of what has no stack, under what stands in its place.
    ///
    /// # Errors
    /// As [`Tables::put`].
    pub(super) fn nowhere(&mut self, text: &str) -> Result<u64> {
        let function = self.function(text, text, "")?;
        self.put_location(&Message::default().message(4, &Message::default().number(1, function)))
    }

    fn put_location(&mut self, location: &Message) -> Result<u64> {
        self.last = self.last.saturating_add(1);
        let numbered = Message::default().number(1, self.last);
        let mut bytes = numbered.as_bytes().to_vec();
        bytes.extend_from_slice(location.as_bytes());
        self.put(&Message::default().bytes(LOCATION, &bytes))?;
        Ok(self.last)
    }

    fn line(&mut self, call: &Call<'_>) -> Result<Message> {
        let name = call.to_string();
        let function = self.function(&name, call.full_name.unwrap_or(&name), call.source_file.unwrap_or_default())?;
        let line = call.line.and_then(|line| u64::try_from(line).ok()).unwrap_or(0);
        Ok(Message::default().number(1, function).number(2, line))
    }

    fn function(&mut self, name: &str, system_name: &str, file: &str) -> Result<u64> {
        let texts = (self.string(name)?, self.string(system_name)?, self.string(file)?);
        if let Some(number) = self.functions.get(&texts) {
            return Ok(*number);
        }
        let number = u64::try_from(self.functions.len()).unwrap_or(u64::MAX).saturating_add(1);
        let function = Message::default().number(1, number).number(2, texts.0).number(3, texts.1).number(4, texts.2);
        self.put(&Message::default().message(FUNCTION, &function))?;
        self.functions.insert(texts, number);
        Ok(number)
    }

    /// The number of a module. Locations in it have their offsets as addresses, since it is at another place in each process.
    fn mapping(&mut self, module: u32) -> Result<u64> {
        if let Some(number) = self.mappings.get(&module) {
            return Ok(*number);
        }
        let Some(id) = self.code.module(module) else { return Ok(0) };
        let number = u64::try_from(self.mappings.len()).unwrap_or(u64::MAX).saturating_add(1);
        let name = self.string(id.file_name.as_deref().unwrap_or("module without a name"))?;
        let build_id = self.string(&build_id(id))?;
        let size = id.size.and_then(|size| u64::try_from(size).ok()).unwrap_or(0);
        let mapping = Message::default().number(1, number).number(3, size).number(5, name).number(6, build_id);
        self.put(&Message::default().message(MAPPING, &mapping))?;
        self.mappings.insert(module, number);
        Ok(number)
    }

    /// Ends the profile; its writer.
    pub(super) fn end(self) -> W {
        self.writer
    }
}
