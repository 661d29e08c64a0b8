//! The same in other languages. Words are without accents here, as they are in the view.

use super::rules::{Kind, Negated, Rule};

const fn rule(kind: Kind, words: &'static [&'static str], pattern: &'static str) -> Rule {
    Rule { kind, words, pattern, negated: Negated::Counts, hosts: &[] }
}

pub(super) const TONGUES: &[Rule] = &[
    // German.
    rule(
        Kind::Instruction,
        &["ignorier", "vergiss", "missachte", "vergesse"],
        " (?:ignorieren?|ignoriert|ignorier|vergiss|vergesst|vergessen?|missachten?|missachtet)~5 (?:anweisungen?|regeln?|vorgaben|instruktionen|befehle) ",
    ),
    rule(
        Kind::Instruction,
        &["du bist", "ab jetzt", "ab sofort", "von nun an"],
        " (?:du bist (?:jetzt|nun|ab sofort)|(?:ab jetzt|ab sofort|von nun an) (?:musst|bist|wirst|sollst|ignorier[a-z]*|befolg[a-z]*|antworte) ?(?:du)?) ?",
    ),
    rule(
        Kind::Secrecy,
        &["benutzer", "nutzer", "anwender", "niemand"],
        " (?:sag|sage|sagen|verrate|verraten|erzahl|erzahle|teile|melde|informiere)~4 (?:(?:benutzern?|nutzern?|anwendern?)~2 (?:nichts|nicht)|niemandem?) ",
    ),
    rule(
        Kind::Permanence,
        &["fur immer", "dauerhaft", "auf ewig", "fur alle zeit"],
        " (?:merke?n?|behalte|erinnere|speichere)~5 (?:fur immer|dauerhaft|auf ewig|fur alle zeit(?:en)?) ",
    ),
    rule(
        Kind::Authority,
        &["diese regel", "dieser eintrag", "diesen eintrag", "diese anweisung"],
        " (?:diese (?:regel|anweisung)~1 (?:uberschreibt|hat vorrang|gilt vor|steht uber|ersetzt alle)|dieser eintrag darf (?:nie|nicht|niemals)|losche~1 diesen eintrag (?:nie|niemals|nicht)) ",
    ),
    rule(
        Kind::Secrets,
        &["passwort", "passworter", "schlussel", "zugangsdaten", "geheimnis", "umgebungsvariablen"],
        " (?:sende|schicke|gib|zeige|verrate|lade)~5 (?:passwort|passworter|schlussel|zugangsdaten|geheimnisse?|umgebungsvariablen)~5 (?:an|aus|hoch|http|https|in die antwort) ",
    ),
    // French.
    rule(
        Kind::Instruction,
        &["instructions", "consignes", "regles", "directives"],
        " (?:ignore|ignorez|ignorer|oublie|oubliez|neglige|negligez)~4 (?:instructions|consignes|regles|directives)~2 (?:precedentes|anterieures|ci dessus|ci dessous) ",
    ),
    rule(
        Kind::Instruction,
        &["tenez pas compte", "tiens pas compte", "tenir compte", "hagas caso", "haga caso"],
        " (?:ne (?:tenez|tiens) pas compte|ne pas tenir compte|no (?:hagas|haga) caso)~4 (?:instructions|consignes|regles|directives|instrucciones|reglas|ordenes) ",
    ),
    rule(
        Kind::Instruction,
        &["tu es", "vous etes", "desormais", "a partir de maintenant"],
        " (?:tu es|vous etes|desormais|a partir de maintenant) (?:maintenant|desormais|tu|vous|obeis|ignore) ",
    ),
    rule(
        Kind::Secrecy,
        &["utilisateur", "lutilisateur"],
        " (?:ne|nen)~1 (?:dis|dites|parle|parlez|previens|prevenez|informe|informez|revele|revelez)~4 l?utilisateurs? ",
    ),
    rule(
        Kind::Permanence,
        &["pour toujours", "a jamais", "definitivement"],
        " (?:souviens|souvenez|retiens|retenez|memorise|memorisez|rappelle)~6 (?:pour toujours|a jamais|definitivement) ",
    ),
    rule(
        Kind::Authority,
        &["cette regle", "cette note", "cette entree"],
        " cette (?:regle|note|entree|consigne)~1 (?:remplace toutes|prevaut|lemporte|annule|ne doit jamais etre|est prioritaire) ",
    ),
    // Spanish, Portuguese and Italian.
    rule(
        Kind::Instruction,
        &["instrucciones", "reglas", "ordenes", "instrucoes", "istruzioni"],
        " (?:ignora|ignore|ignorar|olvida|olvide|desatiende|esqueca|dimentica)~4 (?:instrucciones|reglas|ordenes|instrucoes|istruzioni)~2 (?:anteriores|previas|precedenti) ",
    ),
    rule(
        Kind::Instruction,
        &["ahora eres", "a partir de ahora"],
        " (?:ahora eres|a partir de ahora (?:eres|debes|siempre|ignora|obedece)) ",
    ),
    rule(
        Kind::Secrecy,
        &["usuario", "utente", "allutente"],
        " (?:no|non)~1 (?:digas|diga|informes|informe|avises|cuentes|dire)~3 (?:usuario|usuarios|utente|allutente) ",
    ),
    rule(
        Kind::Permanence,
        &["para siempre", "permanentemente", "per sempre", "para sempre"],
        " (?:recuerda|recuerde|memoriza|guarda|ricorda|lembre)~6 (?:para siempre|permanentemente|per sempre|para sempre) ",
    ),
    rule(
        Kind::Authority,
        &["esta regla", "esta entrada", "esta nota"],
        " esta (?:regla|entrada|nota)~1 (?:anula|prevalece|tiene prioridad|sustituye|nunca debe) ",
    ),
    // Chinese.
    rule(
        Kind::Instruction,
        &["指令", "指示", "规则", "提示", "命令"],
        "(?:忽略|无视|忘记|忽视|不要理会|不要遵守|不要遵循).{0,10}(?:指令|指示|规则|提示|命令)",
    ),
    rule(
        Kind::Instruction,
        &["你现在是", "从现在起", "从现在开始"],
        "(?:你现在是|从现在起.{0,3}你|从现在开始.{0,3}你)",
    ),
    rule(
        Kind::Secrecy,
        &["告诉", "透露", "告知"],
        "(?:不要|别|切勿|不得).{0,3}(?:告诉|透露|告知).{0,4}(?:用户|任何人|使用者|人类)",
    ),
    rule(
        Kind::Permanence,
        &["永远", "永久"],
        "(?:永远记住|永久记住|永久保存|记住.{0,10}永远|永远不要忘记)",
    ),
    rule(
        Kind::Authority,
        &["优先", "覆盖"],
        "(?:此|本|这条|该)(?:规则|条目|指令).{0,8}(?:优先|覆盖)",
    ),
    // Russian.
    rule(
        Kind::Instruction,
        &["игнорируи", "забудь", "проигнорируи", "не обращаи"],
        " (?:игнорируи|игнорируите|проигнорируи|проигнорируите|забудь|забудьте|не обращаи внимания|не обращаите внимания)~4 (?:инструкции|указания|правила|команды) ",
    ),
    rule(
        Kind::Instruction,
        &["ты теперь", "теперь ты", "отныне", "с этого момента"],
        " (?:ты теперь|теперь ты|отныне ты|с этого момента ты) ",
    ),
    rule(
        Kind::Secrecy,
        &["пользовател", "никому", "человеку"],
        " (?:не|никогда не)~1 (?:говори|говорите|сообщаи|сообщаите|рассказываи|рассказываите)~3 (?:пользователю|пользователям|никому|человеку) ",
    ),
    rule(
        Kind::Permanence,
        &["навсегда", "навечно"],
        " (?:запомни|запомните|помни|помните|сохрани)~5 (?:навсегда|навечно) ",
    ),
    rule(
        Kind::Authority,
        &["это правило", "эта запись"],
        " (?:это правило|эта запись)~1 (?:отменяет|важнее|имеет приоритет|заменяет|нельзя) ",
    ),
    // Japanese.
    rule(
        Kind::Instruction,
        &["無視", "忘れ"],
        "(?:指示|命令|ルール|規則|プロンプト).{0,6}(?:無視|忘れ)",
    ),
    rule(Kind::Instruction, &["あなたは"], "あなたは(?:今|いま|これから|今から)"),
    rule(
        Kind::Secrecy,
        &["言わない", "伝えない", "知らせない", "教えない", "報告しない"],
        "(?:ユーザー|利用者|使用者|人間).{0,8}(?:言わない|伝えない|知らせない|教えない|報告しない)",
    ),
    rule(
        Kind::Permanence,
        &["永遠", "ずっと", "永久"],
        "(?:永遠に|永久に|ずっと).{0,4}(?:覚え|記憶)",
    ),
    rule(
        Kind::Authority,
        &["優先", "上書き"],
        "この(?:ルール|規則|指示|項目).{0,10}(?:優先|上書き)",
    ),
    // What was said before, in the words of French and Spanish that do not call it instructions.
    rule(
        Kind::Instruction,
        &["ignorez", "ignore tout", "oubliez", "oublie", "olvida", "olvide", "ignora"],
        " (?:(?:ignorez|ignore|oubliez|oublie) tout ce qui|(?:olvida|olvide|ignora|ignore) (?:todo )?lo que~3 (?:antes|dijeron|dijo|anterior)) ",
    ),
    rule(
        Kind::Secrets,
        &["zugangsdaten", "passwort", "passworter", "schlussel"],
        " (?:teile|poste|schreibe|nenne|kopiere)~2 (?:zugangsdaten|passwort|passworter|schlussel)~3 (?:ticket|kommentar|issue|chat|antwort|bericht) ",
    ),
    rule(
        Kind::Instruction,
        &["beachte", "halte dich", "befolge"],
        " (?:(?:beachte|beachten|befolge|befolgen)~3 (?:anweisungen|regeln|vorgaben)~1 nicht|halte dich~4 nur~3 (?:diesen text|diese seite|diese datei|diesen eintrag)) ",
    ),
    // Dutch.
    rule(
        Kind::Instruction,
        &["negeer", "ignoreer", "vergeet"],
        " (?:negeer|ignoreer|vergeet)~4 (?:instructies|regels|opdrachten|eerder|eerdere|hierboven) ",
    ),
    // Polish and Czech.
    rule(
        Kind::Instruction,
        &["zignoruj", "ignoruj", "zapomnij", "zapomen"],
        " (?:zignoruj|ignoruj|ignorujte|zapomnij|zapomen)~4 (?:instrukcje|polecenia|zasady|wytyczne|pokyny|instrukce|pravidla) ",
    ),
    // Turkish.
    rule(
        Kind::Instruction,
        &["onceki", "yukaridaki"],
        " (?:onceki|yukaridaki)~2 (?:talimatlari|kurallari|yonergeleri|komutlari)~1 (?:yok|unut|gormezden|dikkate) ",
    ),
    // Vietnamese.
    rule(Kind::Instruction, &["bo qua"], " bo qua~3 (?:huong dan|chi dan|lenh|quy tac|chi thi) "),
    // Korean.
    rule(Kind::Instruction, &["무시"], " [^ ]*(?:지시|명령|규칙|지침)[^ ]*~2 무시"),
    // Arabic.
    rule(Kind::Instruction, &["تجاهل", "انس"], " (?:تجاهل|انس)~3 (?:التعليمات|الاوامر|القواعد) "),
    // Hindi.
    rule(Kind::Instruction, &["अनदेखा"], " (?:पिछले|सभी|ऊपर)~6 अनदेखा "),
];
