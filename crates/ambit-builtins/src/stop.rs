//! Blocking work that ends with its call. A thread cannot be dropped like a future, so work on
//! one carries a [`Stop`] that is set when the future waiting for it goes away.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ambit_core::code::Code;
use ambit_core::observation::Failure;

/// Whether nobody waits any more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Ends the work if nobody waits any more. Called between steps, and before a change.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.is_set() {
            let message = "stopped: the call was cancelled or ran out of time";
            return Err(Failure {
                retryable: true,
                ..Failure::new(Code::Cancelled, message)
            });
        }
        Ok(())
    }

    /// A reader that fails once nobody waits any more.
    pub(crate) fn reader<R: Read>(&self, inner: R) -> StoppableReader<'_, R> {
        StoppableReader { inner, stop: self }
    }

    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

pub(crate) struct StoppableReader<'a, R> {
    inner: R,
    stop: &'a Stop,
}

impl<R: Read> Read for StoppableReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_set() {
            return Err(io::Error::other("stopped"));
        }
        self.inner.read(buffer)
    }
}

struct SetOnDrop(Stop);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// Runs work off the async threads and stops it when the returned future is dropped.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce(&Stop) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let stop = Stop::default();
    let _set = SetOnDrop(stop.clone());
    tokio::task::spawn_blocking(move || work(&stop))
        .await
        .unwrap_or_else(|error| {
            let message = format!("the work ended abnormally: {error}");
            Err(Failure::new(Code::Internal, message))
        })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn dropping_the_future_stops_the_work() {
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let (ended, has_ended) = mpsc::channel();
        let work = blocking(move |stop| -> Result<(), Failure> {
            begun.send(()).unwrap();
            let reason = loop {
                if let Err(reason) = stop.check() {
                    break reason;
                }
                std::thread::yield_now();
            };
            assert!(stop.reader(&b"x"[..]).read(&mut [0]).is_err());
            ended.send(reason.code).unwrap();
            Ok(())
        });
        tokio::select! {
            _ = work => unreachable!(),
            _ = has_begun => {}
        }
        assert_eq!(has_ended.recv().unwrap(), Code::Cancelled);
    }
}
