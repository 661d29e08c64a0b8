//! Words that look random: letters and digits change as nobody writes them who means something.

/// A random piece of a word of this length is a key where somebody speaks of keys.
pub(super) const KEY_BYTES_MIN: usize = 12;
/// A key in base 64 may have signs at any place; a path of this length has words in it.
pub(super) const JOINED_BYTES_MIN: usize = 32;

pub(super) fn pieces(word: &str) -> impl Iterator<Item = &str> {
    word.split(|c: char| !c.is_ascii_alphanumeric()).filter(|piece| !piece.is_empty())
}

pub(super) fn has_random(word: &str, bytes_min: usize) -> bool {
    pieces(word).any(|piece| is_random(piece, bytes_min))
        || joined(word).is_some_and(|piece| is_random(&piece, JOINED_BYTES_MIN))
}

/// A long word of the letters of base 64, without its signs.
pub(super) fn joined(word: &str) -> Option<String> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=_-".contains(&byte);
    let is_one = word.len() >= JOINED_BYTES_MIN && word.bytes().all(is_part);
    is_one.then(|| word.chars().filter(char::is_ascii_alphanumeric).collect())
}

/// Whether letters and digits change as nobody writes them who means a word.
pub(super) fn is_random(piece: &str, bytes_min: usize) -> bool {
    if piece.len() < bytes_min {
        return false;
    }
    let bytes = piece.as_bytes();
    // Runs of small letters, capitals and digits; a word with a capital is one run.
    let (mut runs, mut flips, mut capitals) = (1_usize, 0_usize, 0_usize);
    for pair in bytes.windows(2) {
        let (one, next) = (pair[0], pair[1]);
        let is_flip = one.is_ascii_digit() != next.is_ascii_digit();
        let is_turn = one.is_ascii_uppercase() != next.is_ascii_uppercase();
        capitals = if one.is_ascii_uppercase() { capitals + 1 } else { 0 };
        let is_word = capitals == 1 && next.is_ascii_lowercase();
        flips += usize::from(is_flip);
        runs += usize::from((is_flip || is_turn) && !is_word);
    }
    let is_long = piece.len() >= KEY_BYTES_MIN;
    // Names have runs of four letters or so, keys of not quite two.
    let is_broken = piece.len() * 10 <= runs * if is_long { 26 } else { 22 };
    let is_flipping = is_long && flips >= 4 && flips * 6 >= piece.len();
    is_broken || is_flipping
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_random_and_names_are_not() {
        for key in [
            "u8jzPde0IgxLd6",
            "RHHJEYXg4JdpmrcXgGCJbW56eCuNGMGm",
            "71c17149d439536b3216fdaeeb975729fae923d5",
            "7CgQ0PBQFI14zG",
            "k3j9x0q2m5z8w1",
        ] {
            assert!(is_random(key, 8), "{key}");
        }
        for name in [
            "createUserToken2FA",
            "secp256k1",
            "x25519kyber768",
            "useQueryClient",
            "IOErrorKindOf",
            "OAuth2PKCE",
            "20261116T151513Z",
            "authentication",
            "12345678901234567890",
        ] {
            assert!(!is_random(name, 8), "{name}");
        }
    }
}
