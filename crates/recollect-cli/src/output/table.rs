//! Aligned tables; on a terminal too narrow for them, the last column is cut.

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Row, Table, presets};

use super::{STRONG, paint, text};

/// Which way a column is aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Lays rows out under a header. Cells may hold styles but must be harmless already: see [`cell`].
pub(crate) fn table(columns: &[(&str, Align)], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(columns.iter().map(|(name, _)| Cell::new(paint(STRONG, name))).collect::<Vec<_>>());
    for cells in rows {
        let mut row = Row::from(cells);
        row.max_height(1);
        table.add_row(row);
    }
    for (index, (column, (_, align))) in table.column_iter_mut().zip(columns).enumerate() {
        let is_last = index + 1 == columns.len();
        // Cut where the line ends, not where a word does.
        column.set_delimiter('\0');
        column.set_padding((0, if is_last { 0 } else { 2 }));
        if !is_last {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
        column.set_cell_alignment(match align {
            Align::Left => CellAlignment::Left,
            Align::Right => CellAlignment::Right,
        });
    }
    let mut drawn = table.trim_fmt();
    drawn.push('\n');
    drawn
}

/// Lays out names and values, one pair a line.
pub(crate) fn pairs(rows: &[(&str, String)]) -> String {
    let widest = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    rows.iter().map(|(name, value)| format!("{}  {value}\n", paint(STRONG, format!("{name:<widest$}")))).collect()
}

/// Text of a transcript or a file name as a cell.
pub(crate) fn cell(content: &str) -> String {
    text::line(content).into_owned()
}
