//! What steers a reader by its form: commands, marks of a role, markup that hides. These are looked for in a view
//! that has all signs, in lower case, without emphasis and without what nobody sees.

use super::rules::{Kind, Negated, Rule};

const fn rule(kind: Kind, words: &'static [&'static str], pattern: &'static str) -> Rule {
    Rule { kind, words, pattern, negated: Negated::Counts, hosts: &[] }
}

pub(super) const SHAPES: &[Rule] = &[
    // Somebody else's program, run unread.
    rule(
        Kind::Command,
        &["curl", "wget", "iwr", "invoke-webrequest"],
        r"(?:curl|wget|iwr|invoke-webrequest)\b[^|]{0,300}\|\s*(?:sudo\s+)?(?:(?:ba|z|da|k|fi)?sh|python3?|perl|node|ruby|iex)\b",
    ),
    rule(
        Kind::Command,
        &["curl", "wget"],
        r#"(?:sh\s+(?:-c\s+)?|eval\s+|source\s+|\.\s+)["']?(?:<\(|\$\()\s*(?:curl|wget)\b"#,
    ),
    // Secrets on their way out.
    rule(
        Kind::Command,
        &[
            "id_rsa",
            "id_ed25519",
            "/etc/shadow",
            ".aws/credentials",
            "vault.age",
            "identity.txt",
            ".env",
        ],
        r"(?:curl|wget|nc|ncat|netcat|scp|sftp|rsync|mail)\b[^\n]{0,300}(?:id_rsa|id_ed25519|/etc/shadow|\.aws/credentials|vault\.age|identity\.txt|[\s/@]\.env\b)",
    ),
    rule(
        Kind::Command,
        &["curl", "wget"],
        r"(?:curl|wget)\b[^\n]{0,200}(?:\s-d|--data[a-z-]*|\s-f|--form|\s-t|--upload-file|--post-data|--post-file|\?[a-z_]+=)[^\n]{0,80}(?:\$\(|\$\{?[a-z_]*(?:token|key|secret|pass)|\benv\b|printenv|\.ssh|vault)",
    ),
    rule(
        Kind::Command,
        &["| curl", "|curl", "| nc", "|nc", "| ncat", "| wget", "| base64", "|base64", "| xxd"],
        r"(?:\benv|\bprintenv|\bcat\s+[^\n|]{1,80})\s*\|\s*(?:curl|nc|ncat|wget|base64|xxd)\b",
    ),
    rule(
        Kind::Command,
        &[
            "/dev/tcp/",
            "nc -e",
            "bash -i",
            "base64 -d",
            "base64 --decode",
            "powershell",
            "rm -",
            "authorized_keys",
            ".bashrc",
            ".zshrc",
            ".profile",
        ],
        r#"/dev/tcp/|\bnc\s+-e\b|\bbash\s+-i\s*>&|base64\s+(?:-d|--decode)[^\n]{0,80}\|\s*(?:ba|z)?sh\b|powershell[^\n]{0,80}\s-e(?:nc|ncodedcommand)?\s|\brm\s+-[a-z]*r[a-z]*\s+(?:-[a-z-]+\s+)*(?:/|~|\$home)/?(?:\s|$|["'])|>>\s*["']?(?:~|\$home|/)[^\s]{0,60}(?:\.bashrc|\.zshrc|\.profile|authorized_keys)"#,
    ),
    rule(
        Kind::Command,
        &["exec(", "eval("],
        r"\b(?:exec|eval)\(\s*[^\n]{0,120}(?:urlopen|requests\.get|fetch\(|b64decode|curl)",
    ),
    rule(Kind::Command, &["ao trust"], r"\bao\s+(?:-[^\s]+\s+)*trust\b[^\n]{0,160}--vouch"),
    rule(
        Kind::Link,
        &["]("],
        r"!\[[^\]]{0,200}\]\(\s*<?https?://[^)\s]{0,300}[?&][a-z_]*(?:data|secret|token|key|env|payload|content|leak|context|prompt|exfil|q|d)=",
    ),
    rule(
        Kind::Link,
        &["data:", "javascript:", "vbscript:"],
        r"\]\(\s*<?(?:data|javascript|vbscript):|\bdata:(?:text|application)/[a-z0-9.+-]{1,40}(?:;[a-z0-9=-]{1,40}){0,4},",
    ),
    // Marks of whoever speaks to a model.
    rule(
        Kind::Role,
        &["<|", "[inst]", "[/inst]", "<<sys>>", "<</sys>>"],
        r"<\|[a-z_]{2,30}\|>|\[/?inst\]|<</?sys>>",
    ),
    rule(
        Kind::Role,
        &[
            "<system",
            "</system",
            "<assistant",
            "</assistant",
            "<function",
            "</function",
            "<invoke",
            "<tool",
            "</tool",
            "<antml",
            "<human",
            "<developer",
            "<instruction",
            "</instruction",
            "<user-prompt",
            "<user_prompt",
            "<important",
        ],
        r"</?(?:system|assistant|system[-_ ](?:reminder|prompt|message|note)|function_calls?|function_results?|invoke|tool[-_](?:use|calls?|results?|response)|antml:[a-z_]+|user[-_]prompt[-_][a-z-]+|human|developer[-_]message|instructions?|important)(?:\s[^>]{0,200})?/?>",
    ),
    rule(
        Kind::Role,
        &["human:", "assistant:", "human :", "assistant :", "system prompt", "developer message"],
        r"(?m)^[ \t>#-]*(?:human|assistant|system prompt|developer message)\s*:",
    ),
    rule(
        Kind::Role,
        &["system:", "system]:", "system :"],
        r"(?m)^[ \t>#\[-]*system\]?\s*:\s*(?:you|ignore|override|from now|new|always|never|do not|disregard|all|attention|update|the following)\b",
    ),
    rule(
        Kind::Role,
        &["# system", "# instruction", "# assistant", "#system", "#instruction"],
        r"(?m)^#{1,6}\s*(?:system|instructions?|assistant)\s*(?:prompt|message|override)?\s*:",
    ),
    rule(
        Kind::Role,
        &[
            "tool_calls",
            "function_call",
            "tool_use",
            "\"role\"",
            "\"arguments\"",
            "\"parameters\"",
            "\"input\"",
            "\"args\"",
        ],
        r#""(?:tool_calls|function_call|tool_use)"\s*:|"role"\s*:\s*"(?:system|assistant|developer|tool)"|\{\s*"(?:name|tool)"\s*:\s*"[a-z_.-]{1,40}"\s*,\s*"(?:arguments|parameters|input|args)"\s*:"#,
    ),
    rule(
        Kind::Role,
        &[
            "untrusted",
            "system prompt",
            "trusted",
            "user input",
            "quoted text",
            "end of document",
            "end document",
            "end of context",
            "end context",
        ],
        r"(?:<{2,}|\[{2,}|-{3,}|={3,}|#{3,})\s*/?(?:(?:end|begin|start)(?:[ _-]of)?[ _-])?(?:untrusted|system prompt|trusted|user input|context|quoted text|document)\b[^\n]{0,40}(?:>{2,}|\]{2,}|-{3,}|={3,}|#{3,})",
    ),
    // Markup that a person does not see, and a model does.
    rule(
        Kind::Markup,
        &["style"],
        r"<[a-z][^>]{0,200}\bstyle\s*=\s*[^>]{0,200}(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0|color\s*:\s*(?:white|#fff|transparent|rgba?\(\s*255)|left\s*:\s*-\d{3,})",
    ),
    rule(
        Kind::Markup,
        &["hidden"],
        r"<[a-z][a-z0-9]{0,10}\s(?:[^>]{0,200}\s)?(?:aria-)?hidden\b[^>]{0,100}>",
    ),
    rule(
        Kind::Markup,
        &["<script", "<iframe", "<object", "<embed", "onerror", "onload"],
        r#"<(?:script|iframe|object|embed)\b|<[a-z][^>]{0,200}\bon(?:error|load|click)\s*=\s*["']?"#,
    ),
    rule(
        Kind::Markup,
        &["<!--"],
        r"<!--[^>]{0,600}?\b(?:agents?|assistants?|llms?|ai|claude|codex|copilot|you|your|instructions?)\b",
    ),
    rule(
        Kind::Markup,
        &["[//]:", "[comment]:", "[_]:"],
        r"\[(?://|comment|_)\]:\s*(?:#|<>)\s*[^\n]{0,300}?\b(?:agents?|assistants?|llms?|ai|claude|codex|copilot|you|your|instructions?)\b",
    ),
];
