//! Questions of DNS, and their answers.

use super::action::{Action, Question, What};
use super::known::Known;
use super::row::ActionRow;

/// Events of `Microsoft-Windows-DNS-Client`: a program asks for a name, and gets an answer.
const ASKED: i64 = 3006;
const ANSWERED: i64 = 3008;

/// A question, or its answer. Events between the two repeat them for each interface and server.
pub(super) fn action<'a>(known: &'a Known, row: &ActionRow<'a>) -> Option<Action<'a>> {
    let question = Question { name: row.query.filter(|name| !name.is_empty())?, kind: row.query_type };
    let what = match row.id? {
        ASKED => What::Asked(question),
        ANSWERED => What::Answered { question, status: row.query_status, results: row.query_results },
        _ => return None,
    };
    Some(Action { machine: known.machines.of(row.input), actor: known.actor(row), what })
}
