//! A server that goes on by itself: it answers a call with a task, and the task is looked at until
//! it ends. To everybody behind Ambit it is still one call.

use std::time::Duration;

use ambit_core::observation::{Failure, Output};
use ambit_runtime::conversation::{Answers, Conversation, Notice};
use rmcp::model::{
    CancelTaskParams, CancelTaskRequest, ClientRequest, CreateTaskResult, GetTaskParams,
    GetTaskRequest, InputRequests, ServerResult, TaskPayload, UpdateTaskParams, UpdateTaskRequest,
};
use rmcp::service::PeerRequestOptions;
use serde_json::Value;
use tokio::time::sleep;

use crate::connection::Connection;
use crate::exchange::{Reply, ask, meta};
use crate::map;
use crate::results;

/// How long to wait between two looks at a task whose server does not say.
const POLL: Duration = Duration::from_millis(500);
const SHORTEST_POLL: Duration = Duration::from_millis(20);
const LONGEST_POLL: Duration = Duration::from_secs(10);

impl Connection {
    /// Waits for a task to end. Dropping the future cancels the task.
    pub(crate) async fn see_through(
        &self,
        created: CreateTaskResult,
        conversation: &Conversation,
    ) -> Reply<Output> {
        let mut abandoned = Abandoned {
            connection: self,
            conversation,
            task: Some(created.task.task_id.clone()),
        };
        let (poll, keeps) = (created.task.poll_interval_ms, created.task.ttl_ms);
        conversation
            .tell(Notice::Task {
                poll: poll.map(Duration::from_millis),
                keeps: keeps.map(Duration::from_millis),
            })
            .await;
        let ended = self.poll(created.task.task_id, conversation).await?;
        abandoned.task = None;
        Ok(ended)
    }

    async fn poll(&self, id: String, conversation: &Conversation) -> Reply<Output> {
        let mut answered = Answers::new();
        loop {
            let look =
                ClientRequest::GetTaskRequest(GetTaskRequest::new(GetTaskParams::new(id.clone())));
            let task = match self.exchange(look, conversation).await? {
                Ok(ServerResult::GetTaskResult(result)) => result.task,
                Ok(_) => return Ok(Err(results::unexpected())),
                Err(error) => return Ok(Err(map::refusal(&error))),
            };
            // Alive and in hand: that is progress enough.
            conversation.renew();
            let mut pause = task
                .task
                .poll_interval_ms
                .map_or(POLL, Duration::from_millis);
            match task.payload {
                TaskPayload::Completed { result } => {
                    let result = serde_json::from_value(Value::Object(result));
                    return Ok(result
                        .map_err(|_| results::unexpected())
                        .and_then(map::completed));
                }
                TaskPayload::Failed { error } => {
                    return Ok(Err(results::task_failure(&Value::Object(error))));
                }
                TaskPayload::Cancelled => {
                    return Ok(Err(Failure::provider("the server cancelled its task")));
                }
                TaskPayload::InputRequired { input_requests } => {
                    let open: InputRequests = input_requests
                        .into_iter()
                        .filter(|(key, _)| !answered.contains_key(key))
                        .collect();
                    if !open.is_empty() {
                        let answers = match ask(open, conversation).await {
                            Ok(answers) => answers,
                            Err(failure) => return Ok(Err(failure)),
                        };
                        answered.extend(answers.clone());
                        let params = UpdateTaskParams::new(id.clone(), answers);
                        let update = UpdateTaskRequest::new(params);
                        let update = ClientRequest::UpdateTaskRequest(update);
                        if let Err(error) = self.exchange(update, conversation).await? {
                            return Ok(Err(map::refusal(&error)));
                        }
                    }
                    pause = SHORTEST_POLL;
                }
                _ => {}
            }
            sleep(pause.clamp(SHORTEST_POLL, LONGEST_POLL)).await;
        }
    }
}

/// Cancels a task nobody waits for any more.
struct Abandoned<'a> {
    connection: &'a Connection,
    conversation: &'a Conversation,
    task: Option<String>,
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        let (Some(task), Ok(runtime)) = (self.task.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let peer = self.connection.peer().clone();
        let options = PeerRequestOptions::no_options().with_meta(meta(self.conversation));
        let cancel = CancelTaskRequest::new(CancelTaskParams::new(task));
        runtime.spawn(async move {
            let request = ClientRequest::CancelTaskRequest(cancel);
            let _ = peer.send_request_with_option(request, options).await;
        });
    }
}
