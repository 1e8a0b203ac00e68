//! A table in Markdown.

/// Figures by name and column.
#[derive(Debug)]
pub(super) struct Table {
    /// What they are.
    pub(super) title: String,
    /// The columns.
    pub(super) columns: Vec<String>,
    /// What each way of choosing gives; Recollect first.
    pub(super) rows: Vec<(String, Vec<f64>)>,
}

impl Table {
    /// Prints it, with one decimal.
    #[expect(clippy::print_stdout, reason = "the table is what this program is for")]
    pub(super) fn print(&self) {
        println!("\n{}\n| | {} |\n|---|{}", self.title, self.columns.join(" | "), "---|".repeat(self.columns.len()));
        for (name, figures) in &self.rows {
            let figures: Vec<String> = figures.iter().map(|figure| format!("{figure:.1}")).collect();
            println!("| {name} | {} |", figures.join(" | "));
        }
    }
}

/// The mean, in percent; 0 of nothing.
pub(super) fn percent(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { 100.0 * values.iter().sum::<f64>() / values.len() as f64 }
}
