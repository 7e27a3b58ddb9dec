//! Reads a TOML table key by key. An error names the key, the found value and the expected one.

use super::error::ProfileError;
use super::spread::Spread;
use toml::{Table, Value};

/// The keys of one table that were not read yet.
pub(crate) struct Keys {
    table: Table,
    /// The prefix of a key in an error: the path of the table, with a dot.
    path: String,
    known: Vec<&'static str>,
}

impl Keys {
    /// Reads the keys of a whole document.
    ///
    /// # Errors
    /// [`ProfileError::Syntax`].
    pub(crate) fn of_document(text: &str) -> Result<Self, ProfileError> {
        let table = text
            .parse()
            .map_err(|error: toml::de::Error| ProfileError::Syntax(error.to_string()))?;
        Ok(Self { table, path: String::new(), known: Vec::new() })
    }

    fn take(&mut self, key: &'static str) -> Option<Value> {
        self.known.push(key);
        self.table.remove(key)
    }

    /// Returns an error about one key of this table.
    pub(crate) fn refuse(
        &self,
        key: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> ProfileError {
        ProfileError::Key {
            key: format!("{}{key}", self.path),
            found: found.into(),
            expected: expected.into(),
        }
    }

    /// Reads a text that is not empty.
    pub(crate) fn text(&mut self, key: &'static str) -> Result<String, ProfileError> {
        const EXPECTED: &str = "a text that is not empty";
        match self.take(key) {
            Some(Value::String(text)) if !text.is_empty() => Ok(text),
            other => Err(self.refuse(key, describe(other.as_ref()), EXPECTED)),
        }
    }

    /// Reads `true` or `false`.
    pub(crate) fn flag(&mut self, key: &'static str) -> Result<bool, ProfileError> {
        match self.take(key) {
            Some(Value::Boolean(flag)) => Ok(flag),
            other => Err(self.refuse(key, describe(other.as_ref()), "true or false")),
        }
    }

    /// Reads a whole number from `min` to `max`.
    pub(crate) fn number(
        &mut self,
        key: &'static str,
        min: u32,
        max: u32,
    ) -> Result<u32, ProfileError> {
        let value = self.take(key);
        let number = match value {
            Some(Value::Integer(number)) => {
                u32::try_from(number).ok().filter(|n| (min..=max).contains(n))
            }
            _ => None,
        };
        number.ok_or_else(|| {
            let expected = format!("a whole number from {min} to {max}");
            self.refuse(key, describe(value.as_ref()), expected)
        })
    }

    /// Reads a whole number that is not zero.
    pub(crate) fn count(&mut self, key: &'static str) -> Result<u32, ProfileError> {
        self.number(key, 1, u32::MAX)
    }

    /// Reads a power of two from `min` to `max`.
    pub(crate) fn power_of_two(
        &mut self,
        key: &'static str,
        min: u32,
        max: u32,
    ) -> Result<u32, ProfileError> {
        let number = self.number(key, min, max)?;
        if !number.is_power_of_two() {
            return Err(self.refuse(key, number.to_string(), "a power of two"));
        }
        Ok(number)
    }

    /// Reads a power of two from `min` to `max`. Returns `default` if the key is missing.
    pub(crate) fn power_of_two_or(
        &mut self,
        key: &'static str,
        min: u32,
        max: u32,
        default: u32,
    ) -> Result<u32, ProfileError> {
        if self.table.contains_key(key) {
            return self.power_of_two(key, min, max);
        }
        self.known.push(key);
        Ok(default)
    }

    /// Reads a whole number from `min` to `max`. Returns `default` if the key is missing.
    pub(crate) fn number_or(
        &mut self,
        key: &'static str,
        min: u32,
        max: u32,
        default: u32,
    ) -> Result<u32, ProfileError> {
        if self.table.contains_key(key) {
            return self.number(key, min, max);
        }
        self.known.push(key);
        Ok(default)
    }

    /// Reads a table. Returns `None` if the key is missing.
    pub(crate) fn table(&mut self, key: &'static str) -> Result<Option<Keys>, ProfileError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Table(table)) => Ok(Some(self.below(key, table))),
            other => Err(self.refuse(key, describe(other.as_ref()), "a table")),
        }
    }

    /// Reads a typical and a maximum figure. A single number is both.
    pub(crate) fn spread(&mut self, key: &'static str) -> Result<Spread, ProfileError> {
        const EXPECTED: &str = "{ typical = …, maximum = … }, or one number for both";
        if matches!(self.table.get(key), Some(Value::Integer(_))) {
            let both = self.count(key)?;
            return Ok(Spread { typical: both, maximum: both });
        }
        let mut inner = match self.take(key) {
            Some(Value::Table(table)) => self.below(key, table),
            other => return Err(self.refuse(key, describe(other.as_ref()), EXPECTED)),
        };
        let spread = Spread { typical: inner.count("typical")?, maximum: inner.count("maximum")? };
        inner.finish()?;
        if spread.maximum < spread.typical {
            let found = format!("maximum {} below typical {}", spread.maximum, spread.typical);
            return Err(self.refuse(key, found, "a maximum not below the typical figure"));
        }
        Ok(spread)
    }

    /// Reads an array of tables, at least one.
    pub(crate) fn tables(&mut self, key: &'static str) -> Result<Vec<Keys>, ProfileError> {
        let expected = format!("one or more [[{key}]] tables");
        let items = match self.take(key) {
            Some(Value::Array(items)) if !items.is_empty() => items,
            other => return Err(self.refuse(key, describe(other.as_ref()), expected)),
        };
        let mut tables = Vec::new();
        for (index, item) in items.into_iter().enumerate() {
            match item {
                Value::Table(table) => tables.push(self.below(&format!("{key}[{index}]"), table)),
                other => return Err(self.refuse(key, describe(Some(&other)), expected)),
            }
        }
        Ok(tables)
    }

    /// Reads a table of texts. Returns no texts if the key is missing.
    pub(crate) fn texts(
        &mut self,
        key: &'static str,
    ) -> Result<Vec<(String, String)>, ProfileError> {
        let table = match self.take(key) {
            None => return Ok(Vec::new()),
            Some(Value::Table(table)) => table,
            other => return Err(self.refuse(key, describe(other.as_ref()), "a table of texts")),
        };
        let mut texts = Vec::new();
        for (name, value) in table {
            match value {
                Value::String(text) => texts.push((name, text)),
                other => {
                    return Err(self.refuse(
                        &format!("{key}.{name}"),
                        describe(Some(&other)),
                        "a text",
                    ));
                }
            }
        }
        Ok(texts)
    }

    /// Refuses keys that were not read.
    pub(crate) fn finish(self) -> Result<(), ProfileError> {
        match self.table.keys().next() {
            None => Ok(()),
            Some(key) => {
                Err(self.refuse(key, "unknown key", format!("only {}", self.known.join(", "))))
            }
        }
    }

    fn below(&self, key: &str, table: Table) -> Keys {
        Keys { table, path: format!("{}{key}.", self.path), known: Vec::new() }
    }
}

/// Describes the value at a key, in the words of an error.
fn describe(value: Option<&Value>) -> String {
    match value {
        None => "missing".into(),
        Some(Value::Table(_)) => "a table".into(),
        Some(Value::Array(_)) => "an array".into(),
        Some(Value::String(text)) => format!("the text \"{text}\""),
        Some(Value::Integer(number)) => number.to_string(),
        Some(Value::Float(number)) => number.to_string(),
        Some(Value::Boolean(flag)) => flag.to_string(),
        Some(Value::Datetime(_)) => "a date or time".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Keys {
        Keys::of_document(text).unwrap()
    }

    #[test]
    fn errors_name_the_key_the_value_and_the_expectation() {
        let told = |result: Result<u32, ProfileError>| result.unwrap_err().to_string();
        assert_eq!(
            told(keys("").count("a")),
            "key `a`: missing; expected a whole number from 1 to 4294967295"
        );
        assert_eq!(
            told(keys("a = 0").number("a", 1, 9)),
            "key `a`: 0; expected a whole number from 1 to 9"
        );
        assert_eq!(
            told(keys("a = 1.5").number("a", 1, 9)),
            "key `a`: 1.5; expected a whole number from 1 to 9"
        );
        assert_eq!(
            told(keys("a = -1").number("a", 0, 9)),
            "key `a`: -1; expected a whole number from 0 to 9"
        );
        assert_eq!(
            told(keys("a = 48").power_of_two("a", 1, 64)),
            "key `a`: 48; expected a power of two"
        );
    }

    #[test]
    fn inner_keys_are_named_with_their_path() {
        let error = keys("t = { typical = 5 }").spread("t").unwrap_err();
        assert_eq!(
            error.to_string(),
            "key `t.maximum`: missing; expected a whole number from 1 to 4294967295"
        );
        let error = keys("t = { typical = 5, maximum = 4 }").spread("t").unwrap_err();
        assert!(error.to_string().starts_with("key `t`: maximum 4 below typical 5;"), "{error}");
        let one = keys("t = 46").spread("t").unwrap();
        assert_eq!((one.typical, one.maximum), (46, 46));
        let error = keys("t = 0").spread("t").unwrap_err();
        assert!(error.to_string().starts_with("key `t`: 0; expected a whole number"), "{error}");
        let mut erases = keys("[[erase]]\nbytes = 1").tables("erase").unwrap();
        let error = erases[0].spread("us").unwrap_err();
        assert!(error.to_string().starts_with("key `erase[0].us`: missing;"), "{error}");
    }

    #[test]
    fn unread_keys_are_refused_with_the_known_ones() {
        let mut keys = keys("a = 1\nbb = 2");
        keys.count("a").unwrap();
        assert_eq!(
            keys.finish().unwrap_err().to_string(),
            "key `bb`: unknown key; expected only a"
        );
    }
}
