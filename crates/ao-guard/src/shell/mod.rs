//! Shell text, read into the commands that it would start.
//!
//! This is a reader, not a shell: it knows quotes, escapes, substitutions, here-documents, pipes, lists
//! and redirections as bash does, finds every command wherever it is nested, and says what it cannot
//! know. It expands nothing. Whatever it does not understand is a doubt, and a doubt is never a
//! permission.

mod condition;
mod count;
mod parameter;
mod read;
mod redirect;
mod word;

pub use read::read;

/// How much of a word is known before it is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Surety {
    /// It is what it says.
    Literal,
    /// It stands for the names that it matches.
    Pattern,
    /// One word, but which is not known: a variable between quotes.
    Whole,
    /// A variable, the output of a command, or several words: anything.
    Unknown,
}

/// A part of a word, before anything in it is expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordPart {
    /// It stands for itself.
    Quoted(String),
    /// A tilde, a pattern or braces in it mean something.
    Bare(String),
    /// The value of this variable.
    Variable(String),
    /// What nobody knows.
    Hole,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Without quotes; what is not known is left out.
    pub text: String,
    pub surety: Surety,
    /// The same in full: the texts of these are the text.
    pub parts: Vec<WordPart>,
}

impl Word {
    pub fn literal(text: impl Into<String>) -> Self {
        let text = text.into();
        let parts = vec![WordPart::Quoted(text.clone())];
        Self { text, surety: Surety::Literal, parts }
    }

    pub fn unknown() -> Self {
        Self { text: String::new(), surety: Surety::Unknown, parts: vec![WordPart::Hole] }
    }

    /// What follows this place in the text.
    #[must_use]
    pub fn after(&self, at: usize) -> Self {
        let mut left = at;
        let mut parts = Vec::new();
        for part in &self.parts {
            let (WordPart::Quoted(text) | WordPart::Bare(text)) = part else {
                if left == 0 {
                    parts.push(part.clone());
                }
                continue;
            };
            let cut = left.min(text.len());
            left -= cut;
            let rest = text.get(cut..).unwrap_or_default().to_owned();
            if !rest.is_empty() {
                let is_quoted = matches!(part, WordPart::Quoted(_));
                parts.push(if is_quoted { WordPart::Quoted(rest) } else { WordPart::Bare(rest) });
            }
        }
        let text = self.text.get(at..).unwrap_or_default().to_owned();
        Self { text, surety: self.surety, parts }
    }

    /// The text, if it is what it says.
    pub fn known(&self) -> Option<&str> {
        (self.surety == Surety::Literal).then_some(self.text.as_str())
    }
}

/// What a command reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// Whatever the shell itself reads.
    Inherited,
    /// What the command before it says.
    Pipe,
    Text(Word),
    File(Word),
}

/// How a command follows the one before it in its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// Whatever that one did.
    Fresh,
    /// Only if that one succeeded.
    And,
    /// Only if that one failed.
    Or,
    /// Beside it, reading what it says.
    Pipe,
}

/// A simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Lists are numbered: the commands of one follow each other.
    pub list: usize,
    pub join: Join,
    pub is_negated: bool,
    /// It stands in a loop, so that what comes after it may also come before it.
    pub is_repeated: bool,
    pub assignments: Vec<(String, Word)>,
    /// The program and its arguments; empty if there are only assignments and redirections.
    pub words: Vec<Word>,
    /// Files that are written, or opened for it, whatever the command is.
    pub writes: Vec<Word>,
    /// Files that are read.
    pub reads: Vec<Word>,
    pub stdin: Stdin,
    /// Of a pipe, the one simple command that all of it comes from, by its place in the script.
    pub fed_by: Option<usize>,
}

/// All that a text would start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    pub commands: Vec<Command>,
    /// What variables are given, wherever that is.
    pub values: Vec<(String, Word)>,
    /// Words that stand for a variable that has no value.
    pub defaults: Vec<Word>,
    /// What could not be understood.
    pub doubts: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::{Join, Script, Stdin, Surety, read};

    fn programs(script: &Script) -> Vec<String> {
        let named = script.commands.iter().filter_map(|command| command.words.first());
        named.map(|word| word.text.clone()).collect()
    }

    #[test]
    fn every_command_is_found_wherever_it_is_nested() {
        let cases: [(&str, &[&str]); 9] = [
            ("a; b && c || d | e & f\ng", &["a", "b", "c", "d", "e", "f", "g"]),
            ("a $(b `c` \"$(d)\") <(e)", &["b", "c", "d", "e", "a"]),
            ("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]),
            ("while a; do b; done; for x in $(c); do d; done", &["a", "b", "c", "d"]),
            ("(a; (b)) && { c; }", &["a", "b", "c"]),
            ("a <<X\n$(b)\nX\nc", &["b", "a", "c"]),
            ("a <<'X'\n$(b)\nX\nc", &["a", "c"]),
            ("a # b\nc '# d' \\# e", &["a", "c"]),
            ("x=$(a) y=1 b", &["a", "b"]),
        ];
        for (text, wanted) in cases {
            let script = read(text);
            assert!(script.doubts.is_empty(), "{text}: {:?}", script.doubts);
            let mut found = programs(&script);
            let mut wanted: Vec<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
            // In which order a substitution comes beside its command matters to nobody.
            found.sort();
            wanted.sort();
            assert_eq!(found, wanted, "{text}");
        }
    }

    #[test]
    fn words_are_what_a_shell_would_make_of_them() {
        let script = read(r#"a 'b c'd "e \"f\" \g" h\ i $'\n\t' ~/l *.m "$n" {o,p} q=r '' [ ]"#);
        let words = &script.commands[0].words;
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let wanted = [
            "a",
            "b cd",
            "e \"f\" \\g",
            "h i",
            "\n\t",
            "~/l",
            "*.m",
            "",
            "{o,p}",
            "q=r",
            "",
            "[",
            "]",
        ];
        assert_eq!(texts, wanted);
        let odd: Vec<Surety> = words[6..9].iter().map(|word| word.surety).collect();
        assert_eq!(odd, [Surety::Pattern, Surety::Whole, Surety::Unknown]);
    }

    #[test]
    fn redirections_and_joins_are_kept() {
        let script = read("a < i > o 2>> e 3>&1 && b <<< t | c >& f || d");
        let [a, b, c, d] = script.commands.as_slice() else { panic!("{script:?}") };
        let texts =
            |words: &[super::Word]| words.iter().map(|w| w.text.clone()).collect::<Vec<_>>();
        assert_eq!(
            (texts(&a.reads), texts(&a.writes)),
            (vec!["i".into()], vec!["o".into(), "e".into()])
        );
        assert!(matches!(&b.stdin, Stdin::Text(word) if word.known() == Some("t")));
        assert_eq!((c.stdin.clone(), texts(&c.writes)), (Stdin::Pipe, vec!["f".to_owned()]));
        assert_eq!(
            [a.join, b.join, c.join, d.join],
            [Join::Fresh, Join::And, Join::Pipe, Join::Or]
        );
    }

    #[test]
    fn what_is_not_understood_is_a_doubt() {
        let deep = "$(".repeat(5000);
        for text in [
            "'",
            "\"",
            "`a",
            "$(a",
            "${a",
            "$((1",
            "a <<X",
            "a )",
            "a >",
            "case x in x) a;; esac",
            "function f { a; }",
            "f() { a; }",
            "x=(a b)",
            "((x=1))",
            "a \0",
            "a <<$X\n",
            "${a:=b}",
            "${a:-<(b)}",
            "${a:+>(b)}",
            "${a#=(b)}",
            "${a/x/$(b)(e:c:)}",
            "${a:$b}",
            "${a[b]}",
            "${!a}",
            "${a@P}",
            "${#a:-b}",
            "$a[b]",
            "$'\\'' b",
            &deep,
        ] {
            assert!(!read(text).doubts.is_empty(), "{text}");
        }
    }
}
