//! A person who answers as the test says.

use std::collections::VecDeque;
use std::sync::Mutex;

use ambit_core::permission::{Answer, StandingApproval};
use ambit_runtime::approver::{ApprovalReply, ApprovalRequest, Approver};
use async_trait::async_trait;

/// Gives these answers in order; after the last, there is nobody.
#[derive(Default)]
pub struct Answers {
    answers: Mutex<VecDeque<Answer>>,
    asked: Mutex<Vec<ApprovalRequest>>,
}

impl Answers {
    /// These, in order.
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        Answers {
            answers: Mutex::new(answers.into_iter().collect()),
            asked: Mutex::default(),
        }
    }

    /// What was asked.
    pub fn asked(&self) -> Vec<ApprovalRequest> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Approver for Answers {
    async fn ask(&self, request: &ApprovalRequest) -> ApprovalReply {
        self.asked.lock().unwrap().push(request.clone());
        match self.answers.lock().unwrap().pop_front() {
            Some(answer) => ApprovalReply::Answered(answer),
            None => ApprovalReply::NobodyToAsk {
                how: "ask later".to_owned(),
            },
        }
    }

    fn standing(&self, _: &str) -> Vec<StandingApproval> {
        Vec::new()
    }
}

/// A person who is there and says nothing.
pub struct NeverAnswers;

#[async_trait]
impl Approver for NeverAnswers {
    async fn ask(&self, _: &ApprovalRequest) -> ApprovalReply {
        std::future::pending().await
    }

    fn standing(&self, _: &str) -> Vec<StandingApproval> {
        Vec::new()
    }
}
