//! Programs that fetch: a read from elsewhere, a file that is written here, or something that is sent.

use super::words::{Call, has};
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

    fn curl(&mut self, call: &Call<'_>) -> Judged {
        let unplain = [
            "-K",
            "--config",
            "-O",
            "--remote-name",
            "-J",
            "--remote-header-name",
            "--libcurl",
            "--output-dir",
            "--remote-name-all",
            "--create-dirs",
            "--engine",
            "--output",
            "-c",
            "--cookie-jar",
            "-D",
            "--dump-header",
            "--trace",
            "--trace-ascii",
            "--stderr",
            "--etag-save",
            "--hsts",
            "--alt-svc",
        ];
        if is_sending(call) {
            return Err(call.doubt("it sends something, or starts a request that is no question"));
        }
        let mut words = call.arguments.iter();
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            if word.surety == Surety::Unknown && !text.starts_with("http") {
                return Err(call.doubt("one of its words is not known, and could be any option"));
            }
            if text == "-o" || text == "--output" {
                let file = words.next().cloned().unwrap_or_else(Word::unknown);
                self.write_word(&file, Change::Unknown, call.directories)?;
            } else if matches!(
                text,
                "-c" | "--cookie-jar" | "-D" | "--dump-header" | "--trace" | "--stderr"
            ) {
                let file = words.next().cloned().unwrap_or_else(Word::unknown);
                if file.text != "-" {
                    self.write_word(&file, Change::Unknown, call.directories)?;
                }
            } else if matches!(
                text,
                "-H" | "--header"
                    | "-A"
                    | "--user-agent"
                    | "-m"
                    | "--max-time"
                    | "-w"
                    | "--write-out"
            ) {
                words.next();
            } else if text.starts_with("file:") || text.starts_with('@') {
                return Err(call.doubt("it reads a file as if it were elsewhere"));
            } else if has(std::slice::from_ref(word), &unplain)
                || text.starts_with("-o")
                || text.starts_with("--output=")
                || text.starts_with('-') && !text.starts_with("--") && text.contains('o')
            {
                return Err(call.doubt("it writes a file that is not known beforehand"));
            }
        }
        self.reads(call)
    }

    /// Without `-O -` it writes a file that the other side names.
    fn wget(&mut self, call: &Call<'_>) -> Judged {
        call.all_known()?;
        let texts: Vec<&str> = call.arguments.iter().map(|word| word.text.as_str()).collect();
        let is_shown = texts.contains(&"--spider")
            || texts.iter().any(|text| matches!(*text, "-O-" | "-qO-" | "--output-document=-"))
            || texts.windows(2).any(|pair| matches!(pair, ["-O" | "-qO", "-"]));
        let odd =
            ["-e", "--execute", "-i", "-o", "-a", "-r", "-m", "-P", "--config", "--use-askpass"];
        let is_odd = texts.iter().any(|text| odd.contains(text));
        if !is_shown || is_odd || is_sending(call) {
            return Err(call.doubt("it writes a file that is not known beforehand"));
        }
        self.reads(call)
    }
}
