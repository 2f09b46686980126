//! Reading what a client sends: no more than fits, no longer than patience lasts, and all of them
//! together within one budget.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http_body::Body;
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::limits::HttpLimits;

/// What a body may take without being counted: so small that all connections together cannot hurt,
/// and enough for nearly every request. Large bodies that hold the budget do not hold those up.
const FREE: usize = 16 << 10;
/// What the budget counts in.
const UNIT: usize = 1 << 10;

/// Reads bodies.
pub(crate) struct Bodies {
    limits: HttpLimits,
    budget: Arc<Semaphore>,
}

/// A body, read whole, and its share of the budget.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) bytes: Bytes,
    pub(crate) _share: Vec<OwnedSemaphorePermit>,
}

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyRefusal {
    TooLarge,
    TooSlow,
    Broken,
}

impl BodyRefusal {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            BodyRefusal::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            BodyRefusal::TooSlow => StatusCode::REQUEST_TIMEOUT,
            BodyRefusal::Broken => StatusCode::BAD_REQUEST,
        }
    }

    pub(crate) fn text(self) -> &'static str {
        match self {
            BodyRefusal::TooLarge => {
                "the request is too large; `serve.maxBodyBytes` in ambit.json raises the limit"
            }
            BodyRefusal::TooSlow => "the request took too long to arrive; send it again",
            BodyRefusal::Broken => "the request broke off; send it again",
        }
    }
}

impl Bodies {
    pub(crate) fn new(limits: &HttpLimits) -> Self {
        let units = (limits.bodies_bytes / UNIT).min(Semaphore::MAX_PERMITS);
        Bodies {
            limits: limits.clone(),
            budget: Arc::new(Semaphore::new(units)),
        }
    }

    /// Reads one to its end.
    pub(crate) async fn read<B>(&self, body: B) -> Result<Read, BodyRefusal>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        if announced > self.limits.body_bytes {
            return Err(BodyRefusal::TooLarge);
        }
        timeout(self.limits.body_time, self.collect(body))
            .await
            .unwrap_or(Err(BodyRefusal::TooSlow))
    }

    async fn collect<B>(&self, mut body: B) -> Result<Read, BodyRefusal>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let mut collected = Collected::Nothing;
        let mut share = Vec::new();
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|_| BodyRefusal::Broken)?.into_data() else {
                continue;
            };
            let length = collected.len() + data.len();
            if length > self.limits.body_bytes {
                return Err(BodyRefusal::TooLarge);
            }
            let counted = length.saturating_sub(FREE).min(data.len()).div_ceil(UNIT);
            if counted > 0 {
                let units = u32::try_from(counted).map_err(|_| BodyRefusal::TooLarge)?;
                let taken = Arc::clone(&self.budget).acquire_many_owned(units).await;
                share.push(taken.map_err(|_| BodyRefusal::Broken)?);
            }
            collected = collected.and(data);
        }
        Ok(Read {
            bytes: collected.into_bytes(),
            _share: share,
        })
    }
}

/// What has arrived. Most bodies are one piece, which need not be copied.
enum Collected {
    Nothing,
    One(Bytes),
    More(BytesMut),
}

impl Collected {
    fn len(&self) -> usize {
        match self {
            Collected::Nothing => 0,
            Collected::One(piece) => piece.len(),
            Collected::More(pieces) => pieces.len(),
        }
    }

    fn and(self, next: Bytes) -> Self {
        match self {
            Collected::Nothing => Collected::One(next),
            Collected::One(first) => {
                let mut pieces = BytesMut::from(first);
                pieces.extend_from_slice(&next);
                Collected::More(pieces)
            }
            Collected::More(mut pieces) => {
                pieces.extend_from_slice(&next);
                Collected::More(pieces)
            }
        }
    }

    fn into_bytes(self) -> Bytes {
        match self {
            Collected::Nothing => Bytes::new(),
            Collected::One(piece) => piece,
            Collected::More(pieces) => pieces.freeze(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http_body_util::Full;

    use super::*;

    fn body(kilobytes: usize) -> Full<Bytes> {
        Full::new(Bytes::from(vec![b' '; kilobytes << 10]))
    }

    #[tokio::test]
    async fn large_bodies_share_a_budget_that_small_ones_do_not_need() {
        let bodies = Bodies::new(&HttpLimits {
            body_bytes: 64 << 10,
            bodies_bytes: 32 << 10,
            body_time: Duration::from_millis(50),
            ..HttpLimits::default()
        });
        let held = bodies.read(body(40)).await.ok().unwrap();
        assert_eq!((held.bytes.len(), held._share.len()), (40 << 10, 1));
        for (kilobytes, expected) in [
            (0, None),
            (16, None),
            (40, Some(BodyRefusal::TooSlow)),
            (65, Some(BodyRefusal::TooLarge)),
        ] {
            let read = bodies.read(body(kilobytes)).await;
            assert_eq!(read.err(), expected, "{kilobytes}");
        }
        drop(held);
        assert!(bodies.read(body(40)).await.is_ok());
    }
}
