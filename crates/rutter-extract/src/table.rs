//! Converts tables to rows of cells, and expands spans by repetition (D45).
//!
//! Input: a `table` element. Output: rows and a caption. Rejects layout tables, whose cells hold
//! content of a page, and spans that would multiply the size.

use html5ever::local_name;
use rutter_page::CowStr;

use crate::blocks::BlockWalker;
use crate::code;
use crate::survey::InheritedMarks;
use crate::tag::Tag;
use rutter_page::InlineSpan;

/// Maximum number of cells that spans may add to a table.
const MOST_REPEATED: usize = 20_000;
/// Maximum number of bytes that spans may repeat.
const MOST_BYTES: usize = 1 << 20;

/// Maximum number of characters of code in a cell of a data table.
const LONGEST_CODE: u32 = 600;

type Rows = (Vec<Vec<CowStr<'static>>>, Vec<InlineSpan>, Option<u32>);
type Cell = (String, Vec<InlineSpan>);

/// Returns the rows of a table, their spans and the caption; `None` if the table is not a data
/// table.
pub(crate) fn rows(walk: &mut BlockWalker<'_>, at: u32) -> Option<Rows> {
    let shape = TableShape::of(walk, at)?;
    let mut rows: Vec<Vec<CowStr<'static>>> = Vec::with_capacity(shape.rows.len());
    let (mut spans, mut part) = (Vec::new(), 0);
    // Cells of earlier rows that span into the current row, by column.
    let mut above: Vec<Option<(usize, Cell)>> = Vec::new();
    let (mut n_repeated, mut n_bytes) = (0, 0);
    for row in &shape.rows {
        let mut cells: Vec<Cell> = Vec::new();
        for &(cell, columns, deep) in row {
            fill(&mut above, &mut cells);
            let content = words(walk, cell);
            let cost = content.0.len() + 32;
            let room = MOST_REPEATED
                .saturating_sub(n_repeated)
                .min(MOST_BYTES.saturating_sub(n_bytes) / cost);
            let columns = columns.min(1 + room);
            let deep = deep.min(shape.rows.len()).min(1 + room / columns.max(1));
            n_repeated += columns * deep - 1;
            n_bytes += (columns * deep - 1) * cost;
            for _ in 0..columns {
                let column = cells.len();
                if 1 < deep {
                    if above.len() <= column {
                        above.resize(column + 1, None);
                    }
                    above[column] = Some((deep, content.clone()));
                }
                cells.push(content.clone());
            }
        }
        fill(&mut above, &mut cells);
        for reach in &mut above {
            if let Some((deep, _)) = reach {
                *deep -= 1;
                if *deep == 0 {
                    *reach = None;
                }
            }
        }
        if cells.iter().all(|(text, _)| text.is_empty()) {
            continue;
        }
        let row = cells.into_iter().map(|(text, cell_spans)| {
            spans.extend(cell_spans.into_iter().map(|span| InlineSpan { part, ..span }));
            part += 1;
            CowStr::from(text)
        });
        rows.push(row.collect());
    }
    Some((rows, spans, shape.caption))
}

/// Copies the cells of earlier rows that span into this row at the next columns.
fn fill(above: &mut [Option<(usize, Cell)>], cells: &mut Vec<Cell>) {
    while let Some(Some((deep, content))) = above.get(cells.len()) {
        // A cell with a depth of 0 does not reach into this row.
        if *deep == 0 {
            return;
        }
        cells.push(content.clone());
    }
}

/// Returns the text of a cell. Paragraphs, items and code become separate lines, and line breaks
/// become spaces.
fn words(walk: &mut BlockWalker<'_>, cell: u32) -> Cell {
    inline(walk, cell);
    walk.paragraph.take()
}

fn inline(walk: &mut BlockWalker<'_>, at: u32) {
    let mut child = at + 1;
    let end = walk.dom.item(at).end;
    while child < end {
        let tag = walk.dom.item(child).tag;
        let is_seen =
            !walk.survey.marks(child).has(InheritedMarks::UNSEEN) && !walk.is_left_out(child);
        if tag == Tag::Br {
            walk.paragraph.push(" ");
        } else if tag == Tag::Pre && is_seen {
            walk.code_line(child);
        } else if tag.is_block() && is_seen {
            walk.paragraph.line_break();
            if walk.is_panel(child) {
                walk.inside(child);
            } else {
                inline(walk, child);
            }
            walk.paragraph.line_break();
        } else {
            walk.inside(child);
        }
        child = walk.dom.item(child).end;
    }
}

/// The cells of a table by row.
struct TableShape {
    /// The cells of each row, with the number of columns and rows that each cell spans.
    rows: Vec<Vec<(u32, usize, usize)>>,
    caption: Option<u32>,
}

impl TableShape {
    fn of(walk: &BlockWalker<'_>, at: u32) -> Option<Self> {
        let dom = walk.dom;
        let role = dom.attr(at, &local_name!("role"));
        let is_layout = matches!(role, Some("presentation" | "none"));
        let mut shape = Self { rows: Vec::new(), caption: None };
        let (mut n_cells, mut n_long, mut n_headers, mut has_code) = (0, 0, 0, false);
        let mut here = at + 1;
        let end = dom.item(at).end;
        while here < end {
            let item = dom.item(here);
            match item.tag {
                // A table with another table inside it is a layout table.
                Tag::Table => return None,
                Tag::Caption => {
                    shape.caption = shape.caption.or(Some(here));
                    here = item.end;
                    continue;
                }
                Tag::Tr => shape.rows.push(Vec::new()),
                Tag::Td | Tag::Th => {
                    if shape.rows.is_empty() {
                        shape.rows.push(Vec::new());
                    }
                    let sum = walk.survey.sum(dom, here);
                    n_cells += 1;
                    n_long += usize::from(600 < sum.chars);
                    n_headers += usize::from(item.tag == Tag::Th);
                    match CellContent::of(walk, here) {
                        CellContent::Page => return None,
                        CellContent::Code => has_code = true,
                        CellContent::Lines => {}
                    }
                    let number = |name: &str, most: usize| {
                        let value =
                            dom.attribute(here, name).and_then(|value| value.trim().parse().ok());
                        value.unwrap_or(1_usize).clamp(1, most)
                    };
                    if !walk.is_left_out(here)
                        && !walk.survey.marks(here).has(InheritedMarks::UNSEEN)
                    {
                        let cell = (here, number("colspan", 1000), number("rowspan", 65_534));
                        shape.rows.last_mut()?.push(cell);
                    }
                    here = item.end;
                    continue;
                }
                _ if walk.survey.marks(here).has(InheritedMarks::UNSEEN)
                    || walk.is_left_out(here) =>
                {
                    here = item.end;
                    continue;
                }
                _ => {}
            }
            here += 1;
        }
        shape.rows.retain(|row| !row.is_empty());
        let n_columns = shape.rows.iter().map(Vec::len).max().unwrap_or(0);
        let is_column = n_columns < 2 && n_headers == 0;
        let is_long = n_cells < 2 * n_long && n_headers == 0;
        // Some pages use the role "presentation" on data tables to remove borders.
        let is_headed = 0 < n_headers && 1 < n_columns;
        // The table holds code beside its line numbers, or code in columns.
        let is_code = has_code && n_headers == 0;
        let is_data = !is_column && !is_long && !is_code;
        (is_data && (!is_layout || is_headed)).then_some(shape)
    }
}

/// The kind of content of a cell.
enum CellContent {
    Lines,
    Code,
    /// Content that cells of a data table do not have, so the table is a layout table.
    Page,
}

impl CellContent {
    fn of(walk: &BlockWalker<'_>, cell: u32) -> Self {
        let dom = walk.dom;
        let mut n_paragraphs = 0;
        let mut n_code = 0;
        for here in dom.subtree(cell).skip(1) {
            let tag = dom.item(here).tag;
            if tag.heading().is_some() || matches!(tag, Tag::Form | Tag::Article | Tag::Video) {
                return Self::Page;
            }
            if tag == Tag::Pre && code::is_gutter(dom, here) {
                return Self::Page;
            }
            if tag == Tag::Pre {
                n_code += walk.survey.sum(dom, here).chars + 1;
            }
            n_paragraphs += usize::from(tag == Tag::P && 200 < walk.survey.sum(dom, here).chars);
        }
        if 3 < n_paragraphs || LONGEST_CODE < n_code {
            Self::Page
        } else if 0 < n_code {
            Self::Code
        } else {
            Self::Lines
        }
    }
}
