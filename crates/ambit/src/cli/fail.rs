//! How a command ends when it does not end well: one stable code, what to do next, and an exit
//! code with one meaning.

use crate::config::Problem;

/// Exit codes, as promised to scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// The answer is no: denied, failed, differences.
    No = 1,
    /// Usage or configuration.
    Usage = 2,
    /// A provider could not be reached.
    Unreachable = 3,
    /// A bug.
    Bug = 70,
}

/// Why a command could not do its work. Everything that is wrong, worst first.
#[derive(Debug)]
pub(crate) struct Fail {
    pub(crate) exit: Exit,
    pub(crate) problems: Vec<Problem>,
}

impl Fail {
    /// The command or the configuration is wrong.
    pub(crate) fn usage(problem: Problem) -> Self {
        Fail {
            exit: Exit::Usage,
            problems: vec![problem],
        }
    }

    /// The answer is no.
    pub(crate) fn no(problem: Problem) -> Self {
        Fail {
            exit: Exit::No,
            problems: vec![problem],
        }
    }
}

impl From<Vec<Problem>> for Fail {
    fn from(problems: Vec<Problem>) -> Self {
        Fail {
            exit: Exit::Usage,
            problems,
        }
    }
}

impl From<Problem> for Fail {
    fn from(problem: Problem) -> Self {
        Fail::usage(problem)
    }
}

/// State on disk that cannot be used: what is wrong, and the way out.
fn state(code: &'static str, error: &dyn std::error::Error, hint: Option<String>) -> Fail {
    let problem = Problem::error(code, with_sources(error));
    Fail::usage(match hint {
        Some(hint) => problem.hint(hint),
        None => problem.hint("`ambit doctor` looks at every part of the installation"),
    })
}

impl From<ambit_runtime::journal::JournalError> for Fail {
    fn from(error: ambit_runtime::journal::JournalError) -> Self {
        state("journal", &error, error.hint())
    }
}

impl From<ambit_runtime::cache::CacheError> for Fail {
    fn from(error: ambit_runtime::cache::CacheError) -> Self {
        state(
            "cache",
            &error,
            Some("the file can be deleted: it is only a cache".to_owned()),
        )
    }
}

impl From<ambit_gateway::GatewayError> for Fail {
    fn from(error: ambit_gateway::GatewayError) -> Self {
        state("gateway", &error, None)
    }
}

impl From<crate::trust::TrustError> for Fail {
    fn from(error: crate::trust::TrustError) -> Self {
        state("trust_store", &error, None)
    }
}

impl From<crate::secrets::SecretsError> for Fail {
    fn from(error: crate::secrets::SecretsError) -> Self {
        state("secrets", &error, error.hint())
    }
}

impl From<crate::places::NoHome> for Fail {
    fn from(error: crate::places::NoHome) -> Self {
        state(
            "no_home",
            &error,
            Some("set HOME to a directory".to_owned()),
        )
    }
}

impl From<std::io::Error> for Fail {
    fn from(error: std::io::Error) -> Self {
        Fail::usage(Problem::error("io", error.to_string()))
    }
}

/// An error with what caused it, on one line.
pub(crate) fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}
