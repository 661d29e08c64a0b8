//! Programs that fetch: a read from elsewhere, a file that is written here, or something that is sent.

use super::options::Options;
use super::words::{Call, has, is_listed};
use super::{Class, Judged, Walk};
use crate::scope::Change;
use crate::shell::{Surety, Word};

/// Hosts where a request that is not a question sends mail, a message or money.
const REAL: [&str; 14] = [
    "api.stripe.com",
    "api.paddle.com",
    "api.lemonsqueezy.com",
    "api.paypal.com",
    "api-m.paypal.com",
    "api.twilio.com",
    "api.sendgrid.com",
    "api.mailgun.net",
    "api.postmarkapp.com",
    "api.resend.com",
    "api.telegram.org",
    "hooks.slack.com",
    "rest.nexmo.com",
    "smtp",
];

const SENDING: [&str; 14] = [
    "-d",
    "--data",
    "--data-raw",
    "--data-binary",
    "--data-urlencode",
    "--json",
    "-F",
    "--form",
    "-T",
    "--upload-file",
    "--mail-rcpt",
    "--post-data",
    "--post-file",
    "--body-data",
];

/// Options of curl that take no value, and letters of such.
const CURL_FLAGS: &str = "\
    compressed fail fail-early fail-with-body get globoff head http1.1 http2 include insecure ipv4 \
    ipv6 location no-buffer no-progress-meter progress-bar show-error silent verbose";
const CURL_LETTERS: &str = "#0146GILNSfgijksv";
/// Those whose value is neither written nor read.
const CURL_VALUED: &str = "\
    A X b connect-timeout e limit-rate m max-redirs max-time proto r range referer request retry \
    retry-delay retry-max-time u url user user-agent";
const WGET: Options = Options {
    flags: "dqvS46",
    valued: "OtTU",
    long: "quiet spider no-verbose server-response output-document= timeout= tries= header= \
           user-agent= no-check-certificate",
};

/// The class of a request that sends, to a host where that is real.
pub(super) fn sending(call: &Call<'_>) -> Option<(Class, &'static str)> {
    let is_real = call.arguments.iter().any(|word| {
        let text = word.text.to_ascii_lowercase();
        let rest = text.split_once("://").map_or(text.as_str(), |(_, rest)| rest);
        text.starts_with("smtp://")
            || text.starts_with("smtps://")
            || REAL.iter().any(|host| rest.starts_with(host) || rest.contains(&format!("@{host}")))
    });
    (is_real && is_sending(call))
        .then_some((Class::RealSending, "it sends a message or moves money"))
}

fn is_sending(call: &Call<'_>) -> bool {
    let methods = ["POST", "PUT", "PATCH", "DELETE"];
    let has_method = call.arguments.iter().any(|word| {
        methods.iter().any(|method| {
            let text = word.text.trim_start_matches("-X").trim_start_matches("--request=");
            text.trim_start_matches("--method=").eq_ignore_ascii_case(method)
        })
    });
    has_method || has(call.arguments, &SENDING)
}

impl Walk<'_> {
    pub(super) fn judge_network(&mut self, call: &Call<'_>) -> Option<Judged> {
        match call.name.as_str() {
            "curl" => Some(self.curl(call)),
            "wget" => Some(self.wget(call)),
            _ => None,
        }
    }

    /// Where it writes is said by options, and only those that are known are taken.
    fn curl(&mut self, call: &Call<'_>) -> Judged {
        if is_sending(call) {
            return Err(call.doubt("it sends something, or starts a request that is no question"));
        }
        let mut words = call.arguments.iter();
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            let Some(option) = text.strip_prefix('-').filter(|option| !option.is_empty()) else {
                if word.surety == Surety::Unknown
                    || word.surety == Surety::Whole && !text.starts_with("http")
                {
                    return Err(
                        call.doubt("one of its words is not known, and could be any option")
                    );
                }
                let is_elsewhere = text.to_ascii_lowercase().starts_with("http")
                    || !text.contains(':') && !text.starts_with('@');
                if !is_elsewhere && text != "-" {
                    return Err(call.doubt("it reads a file as if it were elsewhere"));
                }
                continue;
            };
            let unknown = || call.doubt("it could write a file that is not known beforehand");
            let name = word.known().map(|_| option).ok_or_else(unknown)?;
            if let Some(long) = name.strip_prefix('-') {
                if is_listed(CURL_FLAGS, long) {
                    continue;
                }
                let value = words.next().ok_or_else(unknown)?;
                self.curl_value(call, long, value)?;
                continue;
            }
            let flags: String = name.chars().take_while(|l| CURL_LETTERS.contains(*l)).collect();
            let Some(letter) = name[flags.len()..].chars().next() else { continue };
            let attached = &name[flags.len() + letter.len_utf8()..];
            let value = match attached {
                "" => words.next().cloned().ok_or_else(unknown)?,
                attached => Word::literal(attached),
            };
            self.curl_value(call, &letter.to_string(), &value)?;
        }
        self.reads(call)
    }

    fn curl_value(&mut self, call: &Call<'_>, name: &str, value: &Word) -> Judged {
        if value.surety == Surety::Unknown {
            return Err(call.doubt("one of its words could be several"));
        }
        let is_from_file = value.text.starts_with('@');
        match name {
            "o" | "output" | "D" | "dump-header" | "c" | "cookie-jar" | "stderr" => {
                if value.text == "-" {
                    return Ok(());
                }
                self.write_word(value, Change::Unknown, call.directories)
            }
            // What it says at the end can name a file of its own.
            "w" | "write-out" if value.known().is_some_and(|text| !text.contains("%output")) => {
                if is_from_file {
                    Err(call.doubt("it reads a file"))
                } else {
                    Ok(())
                }
            }
            "H" | "header" if !is_from_file => Ok(()),
            _ if is_listed(CURL_VALUED, name) => Ok(()),
            _ => Err(call.doubt("it could write a file that is not known beforehand")),
        }
    }

    /// Without `-O -` it writes a file that the other side names.
    fn wget(&mut self, call: &Call<'_>) -> Judged {
        call.all_known()?;
        let mut is_shown = false;
        let (given, _) = WGET.read(call)?;
        let later =
            call.arguments.iter().any(|word| word.text.starts_with('-') && word.text.len() > 1);
        let count = call.arguments.iter().take_while(|word| word.text.starts_with('-')).count();
        let is_mixed =
            later && call.arguments[count..].iter().skip(1).any(|word| word.text.starts_with('-'));
        for option in &given {
            match (option.name.as_str(), option.value.as_deref()) {
                ("O" | "output-document", Some("-")) | ("spider", _) => is_shown = true,
                ("O" | "output-document", _) => is_shown = false,
                _ => {}
            }
        }
        if !is_shown || is_mixed || is_sending(call) {
            return Err(call.doubt("it writes a file that is not known beforehand"));
        }
        self.reads(call)
    }
}
