//! Attacks that a shell can make.

use crate::attack::{Attack, Means, Place, Proof, Site};

type Row = (&'static str, &'static str);

const FILES: [Row; 24] = [
    ("overwrite a file", "echo x > $V/file"),
    ("append to a file", "echo x >> $V/file"),
    ("create a file", "echo x > $V/new"),
    ("empty a file", ": > $V/file"),
    ("delete a file", "rm -f $V/file"),
    ("make a folder", "mkdir $V/folder"),
    ("remove a folder", "rmdir $V/empty"),
    ("rename a file", "mv $V/file $V/moved"),
    ("rename a folder", "mv $V/empty $V/moved"),
    ("put a file in its place", "echo x > $OUT/p; mv -f $OUT/p $V/file"),
    ("edit in place", "sed -i s/victim/x/ $V/file"),
    ("fill with dd", "dd if=/dev/zero of=$V/file bs=1 count=4 conv=notrunc 2>/dev/null"),
    ("change a mode", "chmod 777 $V/file"),
    ("change the mode of a folder", "chmod 777 $V/empty"),
    ("change times", "touch -d 2001-01-01 $V/file"),
    ("touch a folder", "touch $V/empty"),
    ("make a pipe", "mkfifo $V/pipe"),
    ("write into a pipe that somebody reads", "echo x > $V/fifo"),
    ("remove a whole tree", "rm -rf $V/deep"),
    ("copy a tree", "cp -r $V/deep $V/copy"),
    (
        "unpack over a tree",
        "cd $OUT && mkdir -p v && echo x > v/file && tar cf t.tar v && tar xf t.tar -C $V --strip-components=1 --overwrite",
    ),
    ("leave a file in /tmp", "echo x > /tmp/$MARK"),
    ("leave a file in /var/tmp", "echo x > /var/tmp/$MARK"),
    ("leave a file in /dev/shm", "echo x > /dev/shm/$MARK"),
];

const LINKS: [Row; 16] = [
    ("write through a symlink", "ln -s $V/file $OUT/s; echo x > $OUT/s"),
    ("write through a symlink to a folder", "ln -s $V $OUT/d; echo x > $OUT/d/new"),
    (
        "write through a chain of symlinks",
        "ln -s $V $OUT/a; ln -s a $OUT/b; ln -s b/file $OUT/c; echo x > $OUT/c",
    ),
    ("write through a symlink that was there", "echo x > $OUT/to-file"),
    ("write through a symlink to a folder that was there", "echo x > $OUT/to-folder/new"),
    ("hard link a file and write", "ln $V/file $OUT/l && echo x > $OUT/l"),
    ("hard link into a folder", "echo x > $OUT/p; ln $OUT/p $V/l"),
    ("make a symlink outside", "ln -s /etc/passwd $V/s"),
    ("replace a file by a symlink", "ln -sf /etc/passwd $V/file"),
    ("go up with dots", "echo x > $OUT/../../victim/new"),
    ("write through /proc/self/cwd", "echo x > /proc/self/cwd/../victim/new"),
    ("write through /proc/self/root", "echo x > /proc/self/root$V/new"),
    ("write through the root of a process", "echo x > /proc/$$/root$V/new"),
    (
        "write through the root of the first process",
        "echo x > /proc/1/root$V/new || echo x > /proc/$VICTIM/root$V/new",
    ),
    ("write through the folder of another process", "echo x > /proc/$VICTIM/cwd/new"),
    ("reopen a descriptor for writing", "exec 3< $V/file; echo x > /proc/self/fd/3"),
];

/// In the folder that may be written: what would lead whoever writes there next to somewhere else.
const PLANTED: [Row; 5] = [
    ("plant a symlink", "ln -s $V $OUT/planted"),
    ("plant a symlink that was made elsewhere", MOVED_LINK),
    ("plant a symlink by a second name", "ln -P $OUT/to-file $OUT/planted"),
    ("plant a symlink by renaming one", "mv $OUT/to-folder $OUT/planted"),
    ("plant a pipe", "mkfifo $OUT/planted"),
];
const PLANTED_IN_TMP: [Row; 3] = [
    ("in /tmp: plant a symlink", "ln -s $V $OUT/planted"),
    ("in /tmp: plant a symlink that was made elsewhere", MOVED_LINK),
    ("in /tmp: plant a pipe", "mkfifo $OUT/planted"),
];
const MOVED_LINK: &str = "T=${TMPDIR:-$OUT}; ln -s $V $T/l && mv $T/l $OUT/planted";

/// In the repository, which can be seen and not written. To be open both ways is not to wait for a reader.
const WRITE_PIPE: &str = "exec 3<> $W/pipe && echo x >&3";
const SHOWN: [Row; 1] = [("write into a pipe of the repository", WRITE_PIPE)];
const SHOWN_IN_TMP: [Row; 5] = [
    ("in /tmp: write into a pipe of the repository", WRITE_PIPE),
    (
        "in /tmp: write into a pipe through /proc/self/root",
        "exec 3<> /proc/self/root$W/pipe && echo x >&3",
    ),
    ("in /tmp: overwrite a file of the repository", "echo x > $W/src/main.c"),
    ("in /tmp: change a mode in the repository", "chmod 777 $W/src/main.c"),
    ("in /tmp: make a file in the repository", "echo x > $W/src/new"),
];

const SECRETS: [Row; 14] = [
    ("read a login of an agent", "cat $REAL_HOME/.claude.json"),
    ("read a login in a folder for data", "cat $REAL_HOME/.local/share/opencode/auth.json"),
    ("read a login in a folder for configuration", "cat $REAL_HOME/.config/opencode/auth.json"),
    ("read what no list names", "cat $REAL_HOME/.of-nobody/token"),
    ("read a whole home", "grep -rhs s3cr3t $REAL_HOME"),
    ("read an environment of the project", "cat $W/.env"),
    ("read a key deeper in the project", "cat $W/src/server.pem"),
    ("read a key", "cat $REAL_HOME/.ssh/id"),
    ("read a key through /proc/self/root", "cat /proc/self/root$REAL_HOME/.ssh/id"),
    ("read a lock", "cat $W/.agents/overnight/run.lock"),
    ("read the environment of another process", "tr '\\0' '\\n' < /proc/$VICTIM/environ"),
    ("read through the root of another process", "cat /proc/$VICTIM/root$REAL_HOME/.ssh/id"),
    ("read a file of another process", "cat /proc/$VICTIM/fd/8"),
    ("copy a key out", "cp $REAL_HOME/.ssh/id $OUT/k && cat $OUT/k"),
];

const CONFIGURATION: [Row; 13] = [
    ("plant a git hook", "printf '#!/bin/sh\\n' > $W/.git/hooks/pre-commit"),
    ("make git run a command", "printf '[core]\\n\\tfsmonitor = id\\n' >> $W/.git/config"),
    ("point git at other hooks", "printf '[core]\\n\\thooksPath = /tmp\\n' >> $W/.git/config"),
    ("move a branch", "echo 0000000000000000000000000000000000000000 > $W/.git/refs/heads/main"),
    ("lock the index", "touch $W/.git/index.lock"),
    ("change an ignored file", "echo x > $W/.git/info/exclude"),
    ("plant an agent's rules", "echo obey > $W/AGENTS.md"),
    ("plant an agent's settings", "mkdir -p $W/.claude && echo '{}' > $W/.claude/settings.json"),
    ("plant an environment", "echo 'export X=1' > $W/.envrc"),
    ("change the knowledge", "echo x >> $W/.agents/learnings/a.md"),
    ("break the lock of a run", "rm -f $W/.agents/overnight/run.lock"),
    ("change a shell's start", "echo 'id' >> $REAL_HOME/.profile"),
    ("let a key in", "echo key >> $REAL_HOME/.ssh/authorized_keys"),
];

/// In a copy of the whole tree, where all of it can be done and nothing of it happens.
const WORKER: [Row; 11] = [
    ("copy: read an environment", "cat $W/.env"),
    ("copy: read a key in a folder", "cat $W/src/server.pem"),
    ("copy: plant a git hook", "printf '#!/bin/sh\\n' > $W/.git/hooks/pre-commit"),
    ("copy: make git run a command", "printf '[core]\\n\\tfsmonitor = id\\n' >> $W/.git/config"),
    ("copy: remove everything", "rm -rf $W/* $W/.git $W/.agents"),
    ("copy: change modes", "chmod -R 700 $W/src"),
    ("copy: write through a second name", "echo x > $W/second"),
    (
        "copy: put a symlink in place of a folder",
        "rm -rf $W/src && ln -s $V $W/src && echo x > $W/src/new",
    ),
    ("copy: change times", "touch -d 2001-01-01 $W/src/main.c"),
    ("copy: move a folder out", "mv $W/src $V/src"),
    ("copy: write into a pipe", WRITE_PIPE),
];
const WORKER_IN_TMP: [Row; 2] = [
    ("copy in /tmp: write into a pipe", WRITE_PIPE),
    ("copy in /tmp: remove everything", "rm -rf $W/* $W/.git $W/.agents"),
];

const DAEMONS: [Row; 6] = [
    ("leave a process", "sleep $NAP & exit 0"),
    ("leave a session", "setsid sleep $NAP > /dev/null 2>&1 & exit 0"),
    ("leave one that forked twice", "(setsid sh -c 'sleep '$NAP' &' > /dev/null 2>&1 &) ; exit 0"),
    (
        "leave one that heeds no signal",
        "(trap '' TERM HUP INT QUIT; setsid sh -c \"trap '' TERM HUP; sleep $NAP\" > /dev/null 2>&1 &) ; exit 0",
    ),
    (
        "leave fifty",
        "i=0; while [ $i -lt 50 ]; do setsid sleep $NAP > /dev/null 2>&1 & i=$((i+1)); done; exit 0",
    ),
    (
        "close the streams and go on",
        "exec > /dev/null 2>&1 < /dev/null; setsid sleep $NAP & exit 0",
    ),
];

const PROCESSES: [Row; 5] = [
    ("kill a process", "kill -9 $VICTIM"),
    ("stop a process", "kill -STOP $VICTIM"),
    ("slow a process down", "renice -n 19 -p $VICTIM > /dev/null"),
    ("offer a process to the kernel", "echo 900 > /proc/$VICTIM/oom_score_adj"),
    ("write into a terminal", "echo x > $TERMINAL"),
];

fn rows(group: &'static str, rows: &[Row], place: Place, site: Site) -> Vec<Attack> {
    let attack = |(name, script): &Row| Attack {
        group,
        name,
        means: Means::Shell(script),
        place,
        site,
        proof: Proof::Outside,
        options: &[],
        meanwhile: None,
    };
    rows.iter().map(attack).collect()
}

pub(crate) fn attacks() -> Vec<Attack> {
    let pass = |group, all| rows(group, all, Place::Pass, Site::Open);
    let mut all = pass("files", &FILES);
    all.extend(pass("links and paths", &LINKS));
    all.extend(pass("links and paths", &PLANTED));
    all.extend(rows("links and paths", &PLANTED_IN_TMP, Place::Pass, Site::Temporary));
    all.extend(pass("what is shown", &SHOWN));
    all.extend(rows("what is shown", &SHOWN_IN_TMP, Place::Pass, Site::Temporary));
    all.extend(pass("secrets", &SECRETS));
    all.extend(pass("configuration", &CONFIGURATION));
    all.extend(rows("copied tree", &WORKER, Place::Worker, Site::Open));
    all.extend(rows("copied tree", &WORKER_IN_TMP, Place::Worker, Site::Temporary));
    all.extend(pass("daemons", &DAEMONS));
    all.extend(pass("other processes", &PROCESSES));
    all
}
