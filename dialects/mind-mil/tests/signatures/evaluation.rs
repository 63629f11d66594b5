//! Every row has an evaluation or a reason why not.

use mind_mil::ops::ROWS;

#[test]
fn every_op_is_evaluated_or_says_why_not() {
    for row in ROWS {
        let excused = row.not_run.is_some_and(|reason| !reason.is_empty());
        assert_ne!(row.eval.is_some(), excused, "{}", row.name);
    }
}
