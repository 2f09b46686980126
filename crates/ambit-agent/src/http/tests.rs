//! However a stream is cut into pieces, the turn is the same.

use std::sync::LazyLock;

use bytes::Bytes;
use futures_util::{FutureExt as _, stream};
use parking_lot::Mutex;
use proptest::prelude::*;
use tokio::runtime::{Builder, Runtime};

use super::{Assembly, assemble};
use crate::anthropic::Blocks;
use crate::engine::{ModelNews, ModelTurn, Unheard};
use crate::openai::Completion;

const COMPLETION: &str = r#": hello

data: {"choices":[{"delta":{"role":"assistant","content":""}}]}

data: {"choices":[{"delta":{"reasoning_content":"hm, é"}}]}

data: {"choices":[{"delta":{"content":"Grüße 🌞"}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"grep","arguments":""}},{"index":1,"id":"b","function":{"name":"read","arguments":"{\"pa"}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"th\":\"ü\"}"}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]},"finish_reason":"tool_calls"}]}

data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4}}}

data: [DONE]

"#;

const BLOCKS: &str = r#"event: message_start
data: {"type":"message_start","message":{"usage":{"input_tokens":3,"cache_read_input_tokens":7,"output_tokens":1}}}

event: ping
data: {"type":"ping"}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,
data: "delta":{"type":"text_delta","text":"Grüße 🌞"}}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"a","name":"grep","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"\"ü\"}"}}

event: something_new
data: {"type":"something_new"}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}

event: message_stop
data: {"type":"message_stop"}

"#;

/// All of a stream is there, so there is nothing to wait for.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    static RUNTIME: LazyLock<Runtime> =
        LazyLock::new(|| Builder::new_current_thread().enable_time().build().unwrap());
    let _guard = RUNTIME.enter();
    future.now_or_never().expect("all of it is there")
}

/// The turn, and what was heard on the way, when the text comes in these pieces.
fn played<A: Assembly>(text: &str, cuts: &[usize], assembly: A) -> (ModelTurn, String) {
    let bytes = Bytes::from(text.to_owned());
    let mut places: Vec<usize> = cuts.iter().map(|it| it % (bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    let pieces: Vec<_> = places
        .windows(2)
        .map(|it| Ok(bytes.slice(it[0]..it[1])))
        .collect();
    let heard = Mutex::new(String::new());
    let listener = |news: ModelNews<'_>| {
        let text = match news {
            ModelNews::Text(text) | ModelNews::Thinking(text) | ModelNews::Calling(text) => text,
            ModelNews::StartsOver { why, .. } => why,
        };
        heard.lock().push_str(text);
    };
    let turn = at_once(assemble(stream::iter(pieces), assembly, &listener)).unwrap();
    (turn, heard.into_inner())
}

/// With both ways to end a line.
fn written() -> impl Strategy<Value = (String, String)> {
    any::<bool>().prop_map(|crlf| match crlf {
        true => (
            COMPLETION.replace('\n', "\r\n"),
            BLOCKS.replace('\n', "\r\n"),
        ),
        false => (COMPLETION.to_owned(), BLOCKS.to_owned()),
    })
}

proptest! {
    #[test]
    fn cuts_make_no_difference(
        (completion, blocks) in written(),
        cuts in prop::collection::vec(any::<usize>(), 0..200),
    ) {
        prop_assert_eq!(
            played(&completion, &cuts, Completion::default()),
            played(COMPLETION, &[], Completion::default())
        );
        prop_assert_eq!(
            played(&blocks, &cuts, Blocks::default()),
            played(BLOCKS, &[], Blocks::default())
        );
    }

    /// Whatever comes, there is a turn or a fault.
    #[test]
    fn nothing_makes_it_panic(text in "(data: |event: |\\{|\\}|\"type\"|:|\"choices\"|\\[|\\]|\"delta\"|\r|\n|[a-z]){0,60}") {
        let pieces = || stream::iter([Ok(Bytes::from(text.clone()))]);
        drop(at_once(assemble(pieces(), Completion::default(), &Unheard)));
        drop(at_once(assemble(pieces(), Blocks::default(), &Unheard)));
    }
}

#[test]
fn turns_are_what_was_said() {
    let shown = |(turn, heard): (ModelTurn, String)| {
        let turn = serde_json::to_string(&turn).unwrap();
        format!("{turn}\n{heard}\n")
    };
    let both = [
        shown(played(COMPLETION, &[], Completion::default())),
        shown(played(BLOCKS, &[], Blocks::default())),
    ];
    expect_test::expect![[r#"
        {"parts":[{"type":"kept","engine":"openai","value":{"reasoning_content":"hm, é"}},{"type":"text","text":"Grüße 🌞"},{"type":"call","id":"a","name":"grep","arguments":{"object":{}}},{"type":"call","id":"b","name":"read","arguments":{"object":{"path":"ü"}}}],"stop":"wantsTools","usage":{"input":6,"cachedInput":4,"cacheWrite":0,"output":5}}
        hm, éGrüße 🌞grepread
        {"parts":[{"type":"kept","engine":"anthropic","value":{"signature":"s","thinking":"hm","type":"thinking"}},{"type":"text","text":"Grüße 🌞"},{"type":"call","id":"a","name":"grep","arguments":{"object":{"a":"ü"}}}],"stop":"wantsTools","usage":{"input":3,"cachedInput":7,"cacheWrite":0,"output":9}}
        hmGrüße 🌞grep
    "#]].assert_eq(&both.concat());
}
