//! Settings that are one of a few words: on the command line, in a file of options, and in the record of a trace.

/// A setting that is one of a few words; [`words!`](crate::words!) implements it.
pub trait Words: Copy + Send + Sync + Sized + 'static {
    /// Every value with its word and what it means, in the order in which help lists them.
    const WORDS: &'static [(Self, &'static str, &'static str)];

    /// The word of the value.
    fn word(self) -> &'static str;

    /// The value of a word.
    ///
    /// ```
    /// use etl2parquet_base::names::NameFrom;
    /// use etl2parquet_base::words::Words;
    /// assert_eq!(NameFrom::of_word("path"), Some(NameFrom::Path));
    /// assert_eq!((NameFrom::of_word("Path"), NameFrom::Path.word()), (None, "path"));
    /// ```
    fn of_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(_, own, _)| *own == word).map(|(value, ..)| *value)
    }
}

/// Gives the variants of an enum their words, each with what it means.
#[macro_export]
macro_rules! words {
    ($kind:ident { $($variant:ident = $word:literal: $meaning:literal,)+ }) => {
        impl $crate::words::Words for $kind {
            const WORDS: &'static [(Self, &'static str, &'static str)] =
                &[$(($kind::$variant, $word, $meaning)),+];

            fn word(self) -> &'static str {
                match self {
                    $($kind::$variant => $word,)+
                }
            }
        }
    };
}
