//! A logger that has the queue open over a commit, and writes to it for a long time after: each start carries
//! what is whole, each crash of a start carries nothing twice.

use crate::check::{check_generation, check_verified};
use crate::fates::{Breadth, choices};
use crate::image::Ino;
use crate::scenario::one_commit;
use crate::sim::SimFs;
use crate::subject::Subject;
use crate::table::Report;

const QUEUE: &str = "rpi/next-work.jsonl";
const OURS: &str = "{\"id\":\"w2\"}\n";
/// What is written between two starts; the third line is written in two halves.
const WRITTEN: [&str; 4] =
    ["{\"n\":1}\n", "{\"n\":2}\n{\"n\"", ":3}\n{\"n\":4}\n", "{\"n\":5}\n{\"n\":6}"];
const BREADTH: Breadth = Breadth { exhaustive: 32, telling: 16, samples: 4 };

fn append(fs: &SimFs, ino: Ino, text: &str) {
    fs.edit_inode(ino, |bytes| [bytes, text.as_bytes()].concat());
}

/// Ours, and all that was written, in order and once; of the last line as much as may be there.
fn check(fs: &SimFs, written: &str, is_over: bool) -> Result<(), String> {
    check_generation(fs)?;
    check_verified(fs)?;
    let live = String::from_utf8_lossy(&fs.bytes(QUEUE).unwrap_or_default()).into_owned();
    let whole = written.rfind('\n').map_or(0, |at| at + 1);
    let wanted = [format!("{OURS}{}", &written[..whole]), format!("{OURS}{written}")];
    if live == wanted[1] || live == wanted[0] && !is_over {
        return Ok(());
    }
    Err(format!("the queue is {live:?} instead of {:?}", wanted[usize::from(is_over)]))
}

// proves: LOOP-07
#[test]
fn a_logger_loses_no_line_and_gets_none_twice() {
    let (step, start) = one_commit();
    let fs = start.branch();
    let ino = fs.inode(QUEUE).expect("the queue is there");
    fs.open_for_writing(ino);
    step.run(fs.clone()).expect("an open file does not stop a commit");
    let mut written = String::new();
    let mut report = Report::default();
    for (turn, text) in WRITTEN.into_iter().enumerate() {
        append(&fs, ino, text);
        written += text;
        let is_over = turn + 1 == WRITTEN.len();
        if is_over {
            fs.close(ino);
        }
        fs.record();
        step.recover(fs.clone()).expect("a start goes through");
        let tape = fs.take_tape();
        report.case(check(&fs, &written, is_over).map_err(|why| format!("turn {turn}: {why}")));
        for (at, point) in tape.points.iter().enumerate() {
            let killed = SimFs::on(point.clone());
            if !is_over {
                killed.open_for_writing(ino);
            }
            let lost = choices(&point.open_fates(), BREADTH, at as u64).into_iter();
            let images = lost.map(|fates| SimFs::on(point.crash(&fates))).chain([killed]);
            for image in images {
                let settled = step.recover(image.clone());
                let settled = settled.and_then(|()| check(&image, &written, false));
                report.case(settled.map_err(|why| {
                    format!("turn {turn}: {why}\nstopped before {at}:\n{}", tape.steps.join("\n"))
                }));
            }
        }
    }
    assert!(fs.inode("overnight/displaced").is_none(), "nobody can write to it any more");
    report.conclude("standing", 100);
}
