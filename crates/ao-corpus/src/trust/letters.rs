//! What letters are taken for, and which are not seen at all.

/// Letters that look like Latin ones, a script a line (Cyrillic, Greek, Armenian, Coptic, Lisu, Cherokee, and
/// what is written with Latin letters of other kinds); each with what it is taken for.
const LOOKALIKES: [(&str, &str); 7] = [
    ("авеіјкмнорсѕтухуԁһԛԝгьпϲӏѵє", "abeijkmhopcstyxydhqwrbnclve"),
    ("αβεικνορτυχγηωγσςμϳ", "abeiknoptuxynwyocuj"),
    ("օոսհցզյալ", "onuhgqjwl"),
    ("ⲟⲣⲥⲓⲕⲏⲉⲧⲩⲭⲁⲃⲙⲛ", "opcikhetyxabmn"),
    ("ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ", "bpdtgkjczfmnlsrvhwxyaeiou"),
    ("ᎠᎡᎢᎥᎩᎪᎫᎬᎳᎷᎻᎽᏀᏃᏏᏒᏔᏕᏙᏚᏞᏟᏢᏦᏧᏫᏴ", "drtiyajewmhygzbrwsvslcpkdob"),
    ("ɡɑɛɩɔəɨʋɱɳɭʈʂʐıȷøđłħŧɓɗƙƒŋ", "gaeioeivmnltszijodlhtbdkfn"),
];
/// Small capitals, and their letters. No language is written with them.
const SMALL_CAPITALS: (&str, &str) = ("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz");
/// Alphabets of pictures, by their first letter: negative circled and squared ones, and those of flags.
const DRAWN: [char; 3] = ['\u{1F150}', '\u{1F170}', '\u{1F1E6}'];
/// How far the small letters of Cherokee, which are rare, stand from those that people know.
const CHEROKEE_SMALL: (char, char) = ('\u{AB70}', '\u{13A0}');

/// Who a letter of a word belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    Latin,
    /// One that is taken for Latin, or stands between Latin letters for no honest reason.
    Like,
    /// One that words are often written beside without a blank, as in Chinese or Hebrew.
    Beside,
}

/// Whose letter it is.
pub(super) fn script(c: char) -> Script {
    match c {
        // Languages are written with those that have no range.
        'a'..='z'
        | 'A'..='Z'
        | '\u{00C0}'..='\u{024F}'
        | '\u{1E00}'..='\u{1EFF}'
        | 'ə'
        | 'ɛ'
        | 'ɔ'
        | 'ɓ'
        | 'ɗ'
        | 'ɖ'
        | 'ɣ'
        | 'ɲ'
        | 'ʋ'
        | 'ɨ'
        | 'ʉ' => Script::Latin,
        '\u{0250}'..='\u{02AF}'
        | '\u{0370}'..='\u{058F}'
        | '\u{10A0}'..='\u{10FF}'
        | '\u{13A0}'..='\u{16FF}'
        | '\u{1C80}'..='\u{1CBF}'
        | '\u{1D00}'..='\u{1DBF}'
        | '\u{1F00}'..='\u{1FFF}'
        | '\u{2C00}'..='\u{2D7F}'
        | '\u{2DE0}'..='\u{2DFF}'
        | '\u{A4D0}'..='\u{A4FF}'
        | '\u{A640}'..='\u{A7FF}'
        | '\u{AB30}'..='\u{ABBF}'
        | '\u{10280}'..='\u{105FF}'
        | '\u{1F150}'..='\u{1F189}' => Script::Like,
        _ => Script::Beside,
    }
}

/// Whether a letter by itself is a symbol: `Δt`, `ρmax`. Nobody calls anything by those that look like an `o` or an `i`.
pub(super) fn is_symbol(c: char) -> bool {
    matches!(c, '\u{0391}'..='\u{03C9}') && !"οινυΟΙΝΥ".contains(c)
}

/// What a letter of another script is taken for in a Latin word.
pub(super) fn lookalike(c: char) -> Option<char> {
    if c.is_ascii() {
        return None;
    }
    let c = match u32::from(c).checked_sub(u32::from(CHEROKEE_SMALL.0)) {
        Some(place) if place < 80 => char::from_u32(u32::from(CHEROKEE_SMALL.1) + place)?,
        _ => c,
    };
    LOOKALIKES.iter().find_map(|(from, to)| same_place(c, from, to))
}

/// The letter that is drawn as a small capital, or as a picture of its own.
pub(super) fn drawn(c: char) -> Option<char> {
    let alphabet = |first: &char| {
        let place = u8::try_from(u32::from(c).checked_sub(u32::from(*first))?).ok()?;
        (place < 26).then(|| char::from(b'a' + place))
    };
    DRAWN.iter().find_map(alphabet).or_else(|| same_place(c, SMALL_CAPITALS.0, SMALL_CAPITALS.1))
}

fn same_place(c: char, from: &str, to: &str) -> Option<char> {
    let place = from.chars().position(|one| one == c)?;
    to.chars().nth(place)
}

/// Whether nobody sees it: it has no width, turns the text around, or only marks the letter before it.
pub(super) fn is_unseen(c: char) -> bool {
    is_between_letters(c) || is_turn(c) || is_tag(c) || is_selector(c)
}

/// Marks that stand on the letter before them.
pub(super) fn is_mark(c: char) -> bool {
    matches!(c, '\u{0300}'..='\u{036F}' | '\u{0483}'..='\u{0489}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}')
}

/// No width, and no business in a word: what Unicode calls default ignorable or a format character, but for
/// those that have a name of their own below.
pub(super) fn is_between_letters(c: char) -> bool {
    matches!(
        c,
        '\u{00AD}'
            | '\u{034F}'
            | '\u{0600}'..='\u{0605}'
            | '\u{061C}'
            | '\u{06DD}'
            | '\u{070F}'
            | '\u{0890}'..='\u{0891}'
            | '\u{08E2}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{2060}'..='\u{2065}'
            | '\u{206A}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}'
            | '\u{110BD}'
            | '\u{110CD}'
            | '\u{13430}'..='\u{1343F}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
    )
}

pub(super) fn is_turn(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// The whole plane that nobody sees, but for the selectors in it.
pub(super) fn is_tag(c: char) -> bool {
    matches!(c, '\u{E0000}'..='\u{E00FF}' | '\u{E01F0}'..='\u{E0FFF}')
}

pub(super) fn is_selector(c: char) -> bool {
    matches!(c, '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}')
}

pub(super) fn is_east_asian(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{FF66}'..='\u{FF9F}')
}

/// Letters that are read from right to left.
pub(super) fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{05D0}'..='\u{08FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_letter_has_one_that_it_is_taken_for() {
        for (from, to) in LOOKALIKES.into_iter().chain([SMALL_CAPITALS]) {
            assert_eq!(from.chars().count(), to.chars().count(), "{from}");
            assert!(to.bytes().all(|byte| byte.is_ascii_lowercase()), "{to}");
        }
        for (c, letter) in [('\u{13eb}', 'o'), ('\u{abbb}', 'o'), ('օ', 'o'), ('ɡ', 'g')] {
            assert_eq!(lookalike(c), Some(letter), "{c}");
        }
        for (c, letter) in [('\u{1f178}', 'i'), ('\u{1f1ff}', 'z'), ('\u{1f150}', 'a'), ('ᴛ', 't')]
        {
            assert_eq!(drawn(c), Some(letter), "{c}");
        }
        assert_eq!((drawn('\u{1f200}'), drawn('x'), lookalike('ж')), (None, None, None));
    }
}
