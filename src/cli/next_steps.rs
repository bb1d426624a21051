//! What to type once traces are converted: a page about them, a question that they answer, and where more are.

use batch::Asked;

use super::text_table::TextTable;

/// Adds the lines. `published` is the folder of a trace, or the one that holds several; `page` is where a page about it
/// goes.
pub(super) fn lines(published: &str, page: &str, asked: Asked, table: &mut TextTable) {
    let (folder, page) = (word(published), word(page));
    table.value_to_copy("page", format!("etl2parquet report {folder} -o {page}"));
    table.value_to_copy("ask", format!("etl2parquet query {folder} \"{} LIMIT 10\"", asked.statement()));
    table.value_to_copy("ask more", "etl2parquet query --help");
}

/// A word as a shell takes it for one: a POSIX one, on Windows its own.
pub(super) fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./\\:=,@+%".contains(c) && (c != '\\' || cfg!(windows));
    // What begins so is taken for an option.
    let text = if text.starts_with('-') { format!("./{text}") } else { text.to_owned() };
    match () {
        () if !text.is_empty() && text.chars().all(is_plain) => text,
        () if cfg!(windows) => format!("\"{text}\""),
        () => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(not(windows))]
    fn words_are_one_word_of_a_shell() {
        let words = ["out/trace=a", "my out/trace=it's", "a$b", "a\\b", "", "-x"].map(word);
        assert_eq!(words, ["out/trace=a", r"'my out/trace=it'\''s'", "'a$b'", r"'a\b'", "''", "./-x"]);
    }
}
