//! Lines and fields of the text formats, without memory of their own.

use crate::error::ProgramError;
use std::io::{BufRead, Read};
use std::ops::RangeInclusive;

/// The longest line: something that is no text must not fill the memory \[bytes\].
const LONGEST: u64 = 1 << 28;

/// The lines of a text, one after the other.
pub struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    /// The number of the current line, from 1.
    pub number: u64,
}

impl<R: BufRead> Lines<R> {
    /// The lines of a text, before the first one.
    pub fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), number: 0 }
    }

    /// Goes to the next line; false at the end of the text, which counts as a line of its own.
    #[inline]
    pub fn advance(&mut self) -> Result<bool, ProgramError> {
        self.advance_within(LONGEST)
    }

    /// Goes to the next line, which must be shorter than `longest` bytes; false at the end of the text.
    #[inline]
    pub fn advance_within(&mut self, longest: u64) -> Result<bool, ProgramError> {
        self.number += 1;
        self.buffer.clear();
        let read = self.reader.by_ref().take(longest).read_until(b'\n', &mut self.buffer);
        let length = read.map_err(|error| self.error(format!("the file cannot be read: {error}")))?;
        if self.buffer.last() == Some(&b'\n') {
            self.buffer.pop();
        } else if length as u64 == longest {
            return Err(self.error(format!("the line is longer than {longest} bytes; this is no such text")));
        }
        if self.buffer.last() == Some(&b'\r') {
            self.buffer.pop();
        }
        Ok(length > 0)
    }

    /// Goes to the next line that is not empty and does not begin with `#`; false at the end of the text.
    #[inline]
    pub fn advance_to_text(&mut self) -> Result<bool, ProgramError> {
        loop {
            if !self.advance()? {
                return Ok(false);
            }
            if self.fields().next().is_some_and(|field| field[0] != b'#') {
                return Ok(true);
            }
        }
    }

    /// The current line without its end.
    pub fn text(&self) -> &[u8] {
        &self.buffer
    }

    /// The fields of the current line, between its spaces.
    #[inline]
    pub fn fields(&self) -> Fields<'_> {
        Fields { rest: &self.buffer }
    }

    /// A mistake in the current line.
    pub fn error(&self, reason: impl Into<String>) -> ProgramError {
        ProgramError::new(reason).line(self.number)
    }
}

/// The fields of a line, separated by spaces.
#[derive(Clone)]
pub struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
        let first = self.rest.iter().position(|byte| !is_space(byte))?;
        let rest = &self.rest[first..];
        let end = rest.iter().position(is_space).unwrap_or(rest.len());
        let (field, rest) = rest.split_at(end);
        self.rest = rest;
        Some(field)
    }
}

impl<'a> Fields<'a> {
    /// The fields of a text.
    #[inline]
    pub fn of(text: &'a [u8]) -> Self {
        Self { rest: text }
    }

    /// The next field, which must be this keyword.
    #[inline]
    pub fn keyword(&mut self, keyword: &str) -> Result<(), ProgramError> {
        let got = self.next();
        if got == Some(keyword.as_bytes()) {
            return Ok(());
        }
        let got = got.map_or("the end of the line".to_string(), quoted);
        Err(ProgramError::new(format!("expected `{keyword}`, got {got}")))
    }

    /// What follows the fields so far and the space behind them.
    pub fn rest(self) -> &'a [u8] {
        self.rest.get(1..).unwrap_or_default()
    }

    /// The next field.
    #[inline]
    pub fn word(&mut self, what: &str) -> Result<&'a [u8], ProgramError> {
        self.next().ok_or_else(|| missing(what))
    }

    /// The next field, a whole number of this range.
    #[inline]
    pub fn number(&mut self, what: &str, range: RangeInclusive<u64>) -> Result<u64, ProgramError> {
        number(self.word(what)?, what, range)
    }

    /// The next field, a whole number of 32 bits.
    #[inline]
    pub fn small(&mut self, what: &str) -> Result<u32, ProgramError> {
        Ok(self.number(what, 0..=u32::MAX.into())? as u32)
    }

    /// Refuses further fields.
    #[inline]
    pub fn end(mut self) -> Result<(), ProgramError> {
        self.next().map_or(Ok(()), |field| Err(surplus(field)))
    }
}

/// The fields of a line, separated by colons.
pub struct Colons<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> Iterator for Colons<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        let (field, rest) = split(rest, b':').map_or((rest, None), |(field, rest)| (field, Some(rest)));
        self.rest = rest;
        Some(field)
    }
}

impl<'a> Colons<'a> {
    /// The fields of a line.
    pub fn of(line: &'a [u8]) -> Self {
        Self { rest: Some(line) }
    }

    /// Whether there are no further fields.
    pub fn is_over(&self) -> bool {
        self.rest.is_none()
    }

    /// The next field, a whole number of this range.
    #[inline]
    pub fn number(&mut self, what: &str, range: RangeInclusive<u64>) -> Result<u64, ProgramError> {
        number(self.next().ok_or_else(|| missing(what))?, what, range)
    }

    /// Refuses further fields.
    pub fn end(self) -> Result<(), ProgramError> {
        self.rest.map_or(Ok(()), |rest| Err(surplus(rest)))
    }
}

/// What is before and what is behind the first such byte.
pub fn split(text: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|&byte| byte == separator)?;
    Some((&text[..at], &text[at + 1..]))
}

#[cold]
fn missing(what: &str) -> ProgramError {
    ProgramError::new(format!("expected {what}, got the end of the line"))
}

#[cold]
fn surplus(field: &[u8]) -> ProgramError {
    ProgramError::new(format!("expected the end of the line, got {}", quoted(field)))
}

/// The number that a field says.
#[inline]
pub fn number(field: &[u8], what: &str, range: RangeInclusive<u64>) -> Result<u64, ProgramError> {
    digits(field).filter(|number| range.contains(number)).ok_or_else(|| out_of_range(field, what, &range))
}

#[cold]
fn out_of_range(field: &[u8], what: &str, range: &RangeInclusive<u64>) -> ProgramError {
    let (start, end) = (range.start(), range.end());
    ProgramError::new(format!("expected {what}, a whole number from {start} to {end}, got {}", quoted(field)))
}

/// The number that a text of digits says, if 64 bits hold it.
#[inline]
pub fn digits(text: &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(digit.into())?;
    }
    (!text.is_empty()).then_some(number)
}

/// The number that a decimal says, such as `1`, `0.5` or `12.25`, times ten to the number of decimals that it may have; none for
/// anything else.
pub fn decimal(text: &[u8], decimals: u32) -> Option<u64> {
    let point = text.iter().position(|&byte| byte == b'.');
    let (whole, part) = point.map_or((text, &b"0"[..]), |point| (&text[..point], &text[point + 1..]));
    let missing = decimals.checked_sub(u32::try_from(part.len()).ok()?)?;
    let part = digits(part)?.checked_mul(10u64.checked_pow(missing)?)?;
    digits(whole)?.checked_mul(10u64.checked_pow(decimals)?)?.checked_add(part)
}

/// The beginning of a text of a file as a message shows it.
pub fn quoted(text: &[u8]) -> String {
    const SHOWN: usize = 40;
    let text = String::from_utf8_lossy(text);
    let mut characters = text.chars().map(|character| if character.is_control() { '?' } else { character });
    let shown: String = characters.by_ref().take(SHOWN).collect();
    format!("`{shown}{}`", if characters.next().is_some() { "…" } else { "" })
}
