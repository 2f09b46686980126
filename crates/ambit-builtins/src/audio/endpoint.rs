//! An endpoint that speaks OpenAI's audio API: `/audio/transcriptions` and `/audio/speech`.

use ambit_core::observation::Failure;
use ambit_runtime::random::random_word;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde::Deserialize;
use serde_json::json;

use super::MOST_AUDIO;
use crate::files::WholeFile;

/// How much of an answer in words is read.
const MOST_TEXT: u64 = 1 << 20;
/// How much of a refusal is quoted.
const QUOTED: usize = 300;

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Endpoint {
    url: String,
    model: String,
    voice: Option<String>,
    key: Option<String>,
}

impl Endpoint {
    pub(super) async fn transcribe(
        &self,
        file: &WholeFile,
        language: Option<&str>,
    ) -> Result<String, Failure> {
        let boundary = format!("ambit-{}", random_word(24));
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        let mut fields = vec![("model", self.model.as_str()), ("response_format", "json")];
        fields.extend(language.map(|it| ("language", it)));
        let body = form(&boundary, &fields, &name, &file.content);
        let request = self
            .request("audio/transcriptions")?
            .header(
                CONTENT_TYPE,
                format!("multipart/form-data; boundary={boundary}"),
            )
            .body(body);
        let answer = self.send(request, MOST_TEXT).await?;
        #[derive(Deserialize)]
        struct Transcript {
            text: String,
        }
        serde_json::from_slice::<Transcript>(&answer)
            .map(|it| it.text)
            .map_err(|error| {
                Failure::provider(format!("the endpoint's answer is no transcript: {error}"))
            })
    }

    pub(super) async fn speak(
        &self,
        text: &str,
        voice: Option<&str>,
        format: &str,
    ) -> Result<Vec<u8>, Failure> {
        let voice = voice.or(self.voice.as_deref()).unwrap_or("alloy");
        let body = json!({
            "model": self.model, "input": text, "voice": voice, "response_format": format,
        });
        let request = self
            .request("audio/speech")?
            .header(CONTENT_TYPE, "application/json")
            .body(body.to_string());
        let audio = self.send(request, MOST_AUDIO).await?;
        match audio.is_empty() {
            true => Err(Failure::provider("the endpoint answered with no audio")),
            false => Ok(audio),
        }
    }

    fn request(&self, path: &str) -> Result<RequestBuilder, Failure> {
        // A key must not follow a redirect to somebody else.
        let client = Client::builder()
            .redirect(Policy::none())
            .build()
            .map_err(|error| Failure::provider(format!("no connection can be made: {error}")))?;
        let request = client.post(format!("{}/{path}", self.url.trim_end_matches('/')));
        Ok(match &self.key {
            Some(key) => request.header(AUTHORIZATION, format!("Bearer {key}")),
            None => request,
        })
    }

    async fn send(&self, request: RequestBuilder, most: u64) -> Result<Vec<u8>, Failure> {
        let unreachable = |error: reqwest::Error| {
            Failure::unreachable(format!(
                "`{}` cannot be reached: {}",
                self.url,
                error.without_url()
            ))
        };
        let response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let body = bounded(response, most).await.map_err(unreachable)?;
        if status.is_success() {
            return body.ok_or_else(|| {
                Failure::provider(format!("the endpoint's answer has more than {most} bytes"))
            });
        }
        let said: String = String::from_utf8_lossy(&body.unwrap_or_default())
            .chars()
            .take(QUOTED)
            .collect();
        let retryable = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
        Err(Failure {
            retryable,
            ..Failure::provider(format!("the endpoint answered {status}: {said}"))
        })
    }
}

/// The body, unless it is larger than it may be.
async fn bounded(mut response: Response, most: u64) -> reqwest::Result<Option<Vec<u8>>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if (body.len() + chunk.len()) as u64 > most {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

/// A form with a file, as `multipart/form-data`.
fn form(boundary: &str, fields: &[(&str, &str)], name: &str, content: &[u8]) -> Vec<u8> {
    let mut body = Vec::with_capacity(content.len() + 1024);
    for (field, value) in fields {
        body.extend_from_slice(
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{field}\"\r\n\r\n{value}\r\n")
                .as_bytes(),
        );
    }
    // A name is quoted: what would end the quotes or the line is left out.
    let name: String = name
        .chars()
        .filter(|it| !it.is_control() && *it != '"')
        .collect();
    body.extend_from_slice(
        format!("--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\nContent-Type: application/octet-stream\r\n\r\n")
            .as_bytes(),
    );
    body.extend_from_slice(content);
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    body
}
