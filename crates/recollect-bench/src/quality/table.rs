//! A table in Markdown.

/// Prints a title, a head and rows of figures with one decimal.
#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
pub(super) fn print(title: &str, columns: &[String], rows: &[(String, Vec<f64>)]) {
    println!("\n{title}\n| | {} |\n|---|{}", columns.join(" | "), "---|".repeat(columns.len()));
    for (name, figures) in rows {
        let figures: Vec<String> = figures.iter().map(|figure| format!("{figure:.1}")).collect();
        println!("| {name} | {} |", figures.join(" | "));
    }
}

/// The mean, in percent; 0 of nothing.
pub(super) fn percent(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { 100.0 * values.iter().sum::<f64>() / values.len() as f64 }
}
