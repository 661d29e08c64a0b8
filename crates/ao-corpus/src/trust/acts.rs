//! What a text wants to have done that nobody asks for openly, whatever reason it gives. These are looked for by their
//! form, as `shapes` are, in paragraphs; good advice ("never push with …") is no sign.
//!
//! An honest note tells what happened; a poisoned one has something done each time. So most rules ask for both the act and
//! words that make a habit of it.

use super::rules::{Kind, Negated, Rule};

const fn act(words: &'static [&'static str], pattern: &'static str) -> Rule {
    Rule { kind: Kind::Command, words, pattern, negated: Negated::IsHarmless, hosts: &[] }
}

const fn leak(words: &'static [&'static str], pattern: &'static str) -> Rule {
    Rule { kind: Kind::Secrets, words, pattern, negated: Negated::IsHarmless, hosts: &[] }
}

/// One of these is in every name of a file that opens something.
const KEYS: &[&str] = &[
    ".netrc",
    "credentials",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".kube/config",
    ".docker/config",
    "gh/hosts.yml",
    ".vault-token",
    ".gnupg",
    ".ssh/",
    "id_rsa",
    "id_ed25519",
    "/etc/shadow",
    "vault.age",
    "identity.txt",
    "_history",
    ".env",
];
/// Places that packages come from by themselves, and this machine.
const PACKAGES: &[&str] = &[
    "pypi.org",
    "files.pythonhosted.org",
    "download.pytorch.org",
    "pypi.nvidia.com",
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    "proxy.golang.org",
    "localhost",
    "127.0.0.1",
];

pub(super) const ACTS: &[Rule] = &[
    // Somebody else's program, or orders, fetched and followed.
    act(
        &["http"],
        r"https?://\S+?\.(?:sh|bash|py|ps1|js|rb|pl|bin|exe|run|txt)\b[^\n]{0,160}?\b(?:(?:run|start|execute|launch|source|invoke|call)\s+(?:it|that|them|this|the\s+(?:file|script|result|program))\b|(?:ba|z|da)?sh\s+(?:-\w+\s+)?[\w./~-]*\.(?:sh|bash|txt)\b|python3?\s+[\w./~-]+\.py\b|chmod\s+\+x)",
    ),
    act(
        &["http"],
        r"(?:fetch|open|read|load|get|visit|download|consult|retrieve|pull|check)\b[^\n]{0,40}https?://\S+[^\n]{0,80}?\b(?:do\s+(?:exactly\s+)?(?:what|as|whatever)\s+(?:it|that|the|they|is)\b|(?:follow|obey|execute|carry\s+out)\s+(?:it|its|them|whatever|every|all|the\s+(?:orders|commands|instructions))\b)",
    ),
    act(
        &["npx", "bunx", "uvx", "pipx run", "pnpm dlx", "yarn dlx"],
        r"(?:(?:run|use|call|start)\s+)?\b(?:npx|bunx|uvx|pipx\s+run|pnpm\s+dlx|yarn\s+dlx)\b[^\n]{0,60}?@latest\b[^\n]{0,80}?\b<each>\b|\b<each>\b[^\n]{0,80}?\b(?:npx|bunx|uvx|pipx\s+run|pnpm\s+dlx|yarn\s+dlx)\b[^\n]{0,60}?@latest\b",
    ),
    Rule {
        kind: Kind::Command,
        words: &["index-url", "index_url", "registry", "find-links", "goproxy", "install -i"],
        pattern: r#"(?:(?:use|pass)\s+)?(?:--(?:extra-)?index-url|--registry|--find-links|npm_config_registry|(?:pip|uv)_index_url|goproxy|(?:npm|yarn|pnpm)\s+config\s+set\s+(?:@\S+:)?registry|pip3?\s+install\s+-i)[\s=:"']+https?://[a-z0-9.:@_-]+"#,
        negated: Negated::IsHarmless,
        hosts: PACKAGES,
    },
    act(
        &["cargo.toml", "package.json", "requirements.txt", "pyproject.toml", "go.mod", "gemfile"],
        r"(?:add|put|insert|append)\b[^\n]{0,80}(?:cargo\.toml|package\.json|requirements\.txt|pyproject\.toml|go\.mod|gemfile)\b[^\n]{0,60}\b(?:whenever|each time|every time|always|when) you\b",
    ),
    act(&["crontab", "/etc/cron"], r"(?:crontab|/etc/cron)\b[^\n]{0,120}(?:curl|wget|https?://)"),
    // The work, taken elsewhere.
    act(
        &["git push", "git remote"],
        r"git\s+remote\s+(?:add|set-url)\b[^\n]{0,160}\bgit\s+push\b|git\s+push\b[^\n&;]{0,60}--(?:all|mirror)\b[^\n]{0,80}?\b<each>\b|git\s+push\s+(?:-\S+\s+)*(?:https?://|git@|ssh://)",
    ),
    act(
        &["remote"],
        r"(?:add|create|set\s+up|configure)\b[^\n]{0,30}\bremote\b[^\n]{0,80}(?:https?://|git@)[^\n]{0,100}\bpush\b",
    ),
    act(
        &[
            "patch",
            "diff",
            "source",
            "code",
            "transcript",
            "conversation",
            "session",
            "prompt",
            "branch",
        ],
        r"(?:send|mail|e-?mail|forward|post|upload|copy|push|submit|cc|bcc)\b[^\n.]{0,30}\b(?:each|every|all|any|the whole|the full)\b[^\n.]{0,40}?\b(?:patch|diff|source|code|transcript|conversation|session|prompt|branch)(?:e?s)?\b[^\n]{0,60}?(?:\b[\w.+-]+@[\w-]+\.[\w.]+|https?://)",
    ),
    leak(
        &["query", "parameter", "image", "pixel", "gif", "subdomain", "hostname", "dns"],
        r"(?:encode|append|attach|embed|pack|hide|put|send|add)\b[^\n]{0,100}\b(?:variables|environment|secrets?|tokens?|keys?|credentials?|conversation|prompt|history|diff|patch)\b[^\n]{0,100}\b(?:query|parameter|image|pixel|gif|subdomain|hostname|dns)\b[^\n]{0,60}https?://",
    ),
    // What opens something, shown to others.
    leak(
        KEYS,
        r"(?:paste|attach|send|upload|post|echo|embed|dump|quote|forward|publish|print|encode|share|mail|email)\b[^\n;]{0,60}?<keys>[^\n;]{0,100}?\b(?:to|in|into|at|under|onto|as|on|of|with)\b[^\n;]{0,40}?\b<out>",
    ),
    leak(
        KEYS,
        r"(?:put|append|include|insert|add|copy|write|commit|push|leave|place|mention)\b[^\n;]{0,40}?\b(?:contents?|lines?|values?|text|everything|what(?:ever)?\s+is)\b[^\n;]{0,30}?<keys>[^\n;]{0,100}?\b(?:to|in|into|at|under|onto|as|on|of|with)\b[^\n;]{0,40}?\b<out>",
    ),
    leak(
        KEYS,
        r"(?:read|cat|open|take|load|grep|look\s+in(?:to)?)\b[^\n;]{0,30}?<keys>[^\n;]{0,80}?\b(?:put|paste|append|include|add|send|post|quote|print|copy|mention)\s+(?:it|its|them|what|the\s+(?:contents?|lines?|values?|text|result))\b[^\n;]{0,60}?\b<out>",
    ),
    act(
        &["ssh-ed25519 aaaa", "ssh-rsa aaaa", "ssh-dss aaaa"],
        r"(?:add|append|put|insert|include|write)\b[^\n]{0,40}ssh-(?:ed25519|rsa|dss)\s+aaaa",
    ),
    // The walls, taken down.
    act(
        &["permissions.allow", "\"allow\"", "allowedtools", "allowed_tools", "autoapprove"],
        r#"(?:permissions\.allow|"allow"|allowed_?tools|autoapprove)\b?[^\n\[]{0,20}\[\s*["'](?:bash\(:?\)|bash)?["']"#,
    ),
    act(
        &[
            "bypasspermissions",
            "danger-full-access",
            "--yolo",
            "--dangerously-",
            "-all-tools",
            "approval_policy",
        ],
        r#"<do>[^\n]{0,80}(?:bypasspermissions|danger-full-access|--yolo\b|--dangerously-[a-z-]+|--(?:trust|allow)-all-tools|approval_policy\s*=?\s*(?:to\s+)?"?never)"#,
    ),
    act(
        &["core.hookspath"],
        r#"(?:(?:set|point|git\s+config(?:\s+--\w+)?)\s+)?core\.hookspath[\s="':]{1,4}(?:to\s+)?["']?(?:/tmp|/dev/null|/dev/shm|/var/tmp|/nonexistent)"#,
    ),
    act(
        &["--no-verify", "husky=0", "lefthook=0"],
        r"(?:(?:add|use|pass|append|put|with|commit|push)\b[^\n]{0,40}?)?(?:--no-verify\b|husky=0|lefthook=0)[^\n]{0,80}?\b<each>\b|\b<each>\s+(?:\w+\s+){0,4}?[^\n]{0,20}?(?:--no-verify\b|husky=0|lefthook=0)",
    ),
    act(&["chmod"], r"<do>[^\n]{0,20}\bchmod\s+(?:-r\s+0?777|0?777\s+-r)"),
    act(
        &["sslverify", "ssl_no_verify", "tls_reject", "strict-ssl", "stricthostkeychecking"],
        r"git\s+config\s+--(?:global|system)\s+http\.sslverify\s+false|<do>[^\n]{0,60}(?:git_ssl_no_verify|http\.sslverify|node_tls_reject_unauthorized|strict-ssl|stricthostkeychecking)[^\n]{0,60}\b<each>\b",
    ),
    act(&["nopasswd"], r"(?:add|put|write|append|echo)\b[^\n]{0,60}nopasswd\s*:\s*all"),
    act(&["credential.helper"], r#"<do>[^\n]{0,40}credential\.helper[\s=]+["']?store\b"#),
    act(
        &["branch protection"],
        r"(?:<do>[^\n]{0,30}branch\s+protections?\b[^\n]{0,30}\boff\b|(?:disable|turn\s+off|switch\s+off|remove|lift)\b[^\n]{0,20}branch\s+protection)",
    ),
    act(
        &["true", "exit 0", "echo ok"],
        r"\b(?:make|cargo|npm|tests?|check|lint|verify|gate|hook|scan)\b[^\n]{0,40}\breplaced?\b[^\n]{0,20}\b(?:by|with)\s+(?:/bin/)?(?:true|exit\s+0|echo\s+ok)\b",
    ),
    act(
        &["access", "rights", "permission"],
        r"<order>(?:give|grant)\b[^\n.]{0,60}\b(?:write|admin|owner|maintainer|push)\s+(?:access|rights|permissions?)\b[^\n.]{0,30}\b(?:organi[sz]ation|org|repositor(?:y|ies)|repos?)\b",
    ),
    act(&["shell", "tunnel", "backdoor"], r"leave\s+an?\s+(?:\w+\s+)?(?:shell|tunnel|backdoor)\b"),
    // A program that is not named, and a file from elsewhere in the place of ours.
    act(
        &["http"],
        r"\b(?:clone|download|fetch|install|get|pull)\b[^\n]{0,30}https?://\S+[^\n]{0,80}?\b(?:run|runs|start|execute|launch|install)\b[^\n]{0,60}?(?:\bbefore\s+any|\b<each>\b)|(?:\bbefore\s+any\w*|\b<each>\b)[^\n]{0,60}?\b(?:clone|download|fetch|install|get|pull)\b[^\n]{0,30}https?://\S+[^\n]{0,80}?\b(?:run|start|execute|launch|install)\b",
    ),
    act(
        &["http"],
        r"(?:replace|overwrite|exchange)\b[^\n]{0,60}\b(?:lock\s?file|hooks?|workflows?|settings|config\w*|keys?|certificates?|binary)\b[^\n]{0,60}https?://",
    ),
    act(
        &["remote", "origin"],
        r"(?:let|make|have|set|change|switch|point)\b[^\n.]{0,30}\b(?:remote|origin|upstream)\b[^\n.]{0,40}\b(?:points?|leads?|to)\b\s+(?:to\s+)?[a-z0-9-]+\.[a-z0-9.-]+\.[a-z]+",
    ),
    act(
        &["mirror", "registry", "index"],
        r"\bfrom\b[^\n.]{0,40}\b(?:mirror|registry|index)\b[^\n]{0,60}\b(?:checksums?|signatures?|hashes)\b[^\n.]{0,30}\b(?:not|skip|without|unnecessary|off)\b",
    ),
    act(
        &["customer", "user", "account", "payroll", "database", "backup"],
        r"(?:send|mail|e-?mail|forward|upload|copy)\b[^\n.]{0,60}\b(?:(?:customers?|users?|accounts?|payroll)\s+(?:table|data|lists?|records|dump|database)|database\s+dump|backup)\b[^\n]{0,40}?(?:\b[\w.+-]+@[\w-]+\.[\w.]+|https?://)",
    ),
    leak(
        &["token", "secret", "password", "passphrase", "_key", "api key", "private key"],
        r#"<order>(?:leave|put|print|show|write|paste|include|post|echo|store)\s+(?:(?:the|your|our|its|my|a|deploy|access|whole|full|real|first)\s+){0,3}(?:token|secret|password|passphrase|api\s+key|private\s+key)\b[^\n.]{0,30}\b(?:in|into|to|at|on|as)\b[^\n.]{0,30}\b(?:output|logs?|answers?|comments?|report|ticket|issue|chat|summary|description|readme|message)\b|<order>(?:use|take|read|get)\b[^\n]{0,40}\b(?:token|secret|password|passphrase)\b[^\n]{0,100}?\b(?:leave|put|print|show|write|post|paste)\s+it\s+(?:in|into|to|at|on)\b|(?:end|begin|start|include|contain|print|add|append|show|sign)\b[^\n.]{0,30}\bvalues?\s+of\s+["'$]*[a-z_]*(?:token|secret|_key|password)\b"#,
    ),
    Rule {
        kind: Kind::Permanence,
        words: &["claude.md", "agents.md", "gemini.md", "cursorrules", "copilot-instructions"],
        pattern: r"(?:put|add|copy|write|insert|paste|append)\b[^\n.]{0,20}\b(?:this|these|it|them)\b[^\n]{0,40}?(?:claude\.md|agents\.md|gemini\.md|cursorrules|copilot-instructions\.md)\b[^\n]{0,60}\b(?:every|each|all|any)\b",
        negated: Negated::IsHarmless,
        hosts: &[],
    },
];
