//! Inputs that grow: a fixed start, a repeated unit, a fixed end.
//!
//! `{n}` in a unit is the number of the repetition, so that names can differ.

use std::fmt::Write as _;

/// One worst case of a reader.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    head: &'static str,
    shape: Shape,
    tail: &'static str,
}

#[derive(Debug)]
enum Shape {
    /// The unit, repeated.
    Repeat(&'static str),
    /// The first unit repeated, the text, then as many of the second.
    Nest(&'static str, &'static str, &'static str),
    /// Half of the bytes in the first unit, the text, the other half in the second.
    Halves(&'static str, &'static str, &'static str),
}

/// `head`, then `unit` as often as fits, then `tail`.
pub(crate) const fn repeat(
    name: &'static str,
    head: &'static str,
    unit: &'static str,
    tail: &'static str,
) -> Case {
    Case { name, head, shape: Shape::Repeat(unit), tail }
}

/// `open` as often as fits, `middle`, and as many of `close`.
pub(crate) const fn nest(
    name: &'static str,
    [head, tail]: [&'static str; 2],
    open: &'static str,
    middle: &'static str,
    close: &'static str,
) -> Case {
    Case { name, head, shape: Shape::Nest(open, middle, close), tail }
}

/// Half of the bytes from each of two units, with `middle` between them.
pub(crate) const fn halves(
    name: &'static str,
    [head, tail]: [&'static str; 2],
    first: &'static str,
    middle: &'static str,
    second: &'static str,
) -> Case {
    Case { name, head, shape: Shape::Halves(first, middle, second), tail }
}

impl Case {
    /// The case with about `size` bytes of repetitions; none for 0.
    pub(crate) fn bytes(&self, size: usize) -> Vec<u8> {
        let mut text = self.head.to_owned();
        match self.shape {
            Shape::Repeat(unit) => {
                fill(&mut text, unit, size);
            }
            Shape::Nest(open, middle, close) => {
                let length = open.len() + close.len();
                let n = fill(&mut text, open, size * open.len() / length.max(1));
                text.push_str(middle);
                for _ in 0..n {
                    text.push_str(close);
                }
            }
            Shape::Halves(first, middle, second) => {
                fill(&mut text, first, size / 2);
                text.push_str(middle);
                fill(&mut text, second, size / 2);
            }
        }
        text.push_str(self.tail);
        text.into_bytes()
    }
}

/// Appends a unit until `size` bytes are added; returns how often.
fn fill(text: &mut String, unit: &str, size: usize) -> usize {
    let end = text.len() + size;
    let mut n = 0;
    while text.len() < end {
        let mut parts = unit.split("{n}");
        text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            // Numbers have a fixed width, so that sizes stay multiples.
            write!(text, "{n:07}").expect("a String takes every write");
            text.push_str(part);
        }
        n += 1;
    }
    n
}
