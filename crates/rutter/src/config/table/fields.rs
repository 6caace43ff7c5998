//! The values of one table, by key.

use std::ops::Range;

/// The values of one table.
#[derive(Debug, Default)]
pub(crate) struct TableFields(pub(super) Vec<TableField>);

#[derive(Debug)]
pub(in crate::config) struct TableField {
    pub(super) name: &'static str,
    pub(super) datum: FieldValue,
    /// Position of the value in the file.
    pub(super) span: Range<usize>,
}

#[derive(Debug)]
pub(in crate::config) enum FieldValue {
    Text(String),
    Share(f64),
    Texts(Vec<(String, Range<usize>)>),
    Switch(bool),
    Rows(Vec<TableFields>),
}

impl TableFields {
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|part| part.name == name)
    }

    pub(in crate::config) fn push(&mut self, name: &'static str, datum: FieldValue) {
        self.0.push(TableField { name, datum, span: 0..0 });
    }

    fn take(&mut self, name: &str) -> Option<FieldValue> {
        let at = self.0.iter().position(|part| part.name == name)?;
        Some(self.0.swap_remove(at).datum)
    }

    /// Returns the position of a value in the file.
    pub(crate) fn span(&self, name: &str) -> Option<Range<usize>> {
        self.0.iter().find(|part| part.name == name).map(|part| part.span.clone())
    }

    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        if let FieldValue::Text(text) = self.take(name)? { Some(text) } else { None }
    }

    pub(crate) fn texts(&mut self, name: &str) -> Vec<String> {
        self.placed_texts(name).into_iter().map(|(text, _)| text).collect()
    }

    /// Takes a list of texts, each with its position in the file.
    pub(crate) fn placed_texts(&mut self, name: &str) -> Vec<(String, Range<usize>)> {
        if let Some(FieldValue::Texts(texts)) = self.take(name) { texts } else { Vec::new() }
    }

    pub(crate) fn share(&mut self, name: &str) -> Option<f64> {
        if let FieldValue::Share(share) = self.take(name)? { Some(share) } else { None }
    }

    pub(crate) fn switch(&mut self, name: &str) -> Option<bool> {
        if let FieldValue::Switch(switch) = self.take(name)? { Some(switch) } else { None }
    }

    pub(crate) fn rows(&mut self, name: &str) -> Vec<Self> {
        if let Some(FieldValue::Rows(rows)) = self.take(name) { rows } else { Vec::new() }
    }
}
