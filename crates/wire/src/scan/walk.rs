//! Going through the members of an object and the elements of an array.

use super::{Scan, Scanner, Text};

/// Where a scanner is within an object: ask for a key, then have the scanner read or skip its value.
pub(crate) struct ObjectWalk {
    first: bool,
}

impl ObjectWalk {
    /// Enters the object at the cursor.
    pub(crate) fn enter(scanner: &mut Scanner<'_>) -> Scan<Self> {
        scanner.expect(b'{', "expected an object")?;
        Ok(Self { first: true })
    }

    /// The next key, with the cursor at its value; `None` behind the end of the object.
    pub(crate) fn next_key(&mut self, scanner: &mut Scanner<'_>) -> Scan<Option<Text>> {
        scanner.skip_space();
        if scanner.take(b'}') {
            return Ok(None);
        }
        if !self.first {
            scanner.expect(b',', "expected a comma or the end of an object")?;
            scanner.skip_space();
        }
        self.first = false;
        // A comma with nothing behind it is caught here: `}` is no key.
        scanner.key().map(Some)
    }
}

/// Where a scanner is within an array: ask for an element, then have the scanner read or skip it.
pub(crate) struct ArrayWalk {
    first: bool,
}

impl ArrayWalk {
    /// Enters the array at the cursor.
    pub(crate) fn enter(scanner: &mut Scanner<'_>) -> Scan<Self> {
        scanner.expect(b'[', "expected an array")?;
        Ok(Self { first: true })
    }

    /// Whether there is another element, with the cursor at it; `false` behind the end of the array.
    pub(crate) fn next_element(&mut self, scanner: &mut Scanner<'_>) -> Scan<bool> {
        scanner.skip_space();
        if scanner.take(b']') {
            return Ok(false);
        }
        if !self.first {
            scanner.expect(b',', "expected a comma or the end of an array")?;
            scanner.skip_space();
        }
        self.first = false;
        Ok(true)
    }
}
