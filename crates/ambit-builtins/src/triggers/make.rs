//! `create_trigger`, `update_trigger`, `remove_trigger` and `run_trigger_now`. A trigger starts
//! its agent later with nobody watching, so these are high risk; what the run itself may do is
//! decided when it runs, by the agent's own bounds and mode.

use ambit_core::effects::{Effects, Risk};
use ambit_core::observation::{Failure, Output};
use ambit_runtime::random::random_word;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::plan::Missed;
use super::schedule::Schedule;
use super::trigger::{RunReason, Trigger};
use super::{LONGEST_PROMPT, LOOKS, Triggers, id_schema, show, watch, webhook};
use crate::declare::{arguments, object};
use crate::pack::Tool;
use crate::store::cell::kept;

const MAKES: Tool<Triggers> = Tool {
    effects: Effects::WRITES,
    risk: Some(Risk::High),
    permissions: &["triggers:write"],
    ..LOOKS
};

pub(super) const CREATE: Tool<Triggers> = Tool {
    name: "create_trigger",
    title: "Create trigger",
    description: "Have yourself started later, with a prompt you write now: at times by the clock \
        (`cron`, `every`), when files change (`watch`), or when somebody calls a URL (`webhook`). \
        Give exactly one of these. You will remember nothing of this conversation, so the prompt \
        has to say everything.",
    input: || {
        let mut properties = properties();
        properties.insert(
            "webhook".to_owned(),
            json!({
                "type": "boolean", "const": true,
                "description": "Start when POST /hooks/ID of `ambit serve` is called with the token you are given. The token is shown once.",
            }),
        );
        object(&["prompt"], Value::Object(properties))
    },
    run: create,
    ..MAKES
};

pub(super) const UPDATE: Tool<Triggers> = Tool {
    name: "update_trigger",
    title: "Update trigger",
    description: "Change when one of your triggers starts you or what it tells you, or pause it. \
        What is not given stays as it is. A webhook stays one.",
    input: || {
        let mut properties = properties();
        properties.insert("trigger".to_owned(), id_schema());
        properties.insert(
            "paused".to_owned(),
            json!({
                "type": "boolean",
                "description": "Whether it rests. What comes due meanwhile is not made up for.",
            }),
        );
        object(&["trigger"], Value::Object(properties))
    },
    run: update,
    ..MAKES
};

pub(super) const REMOVE: Tool<Triggers> = Tool {
    name: "remove_trigger",
    title: "Remove trigger",
    description: "Remove one of your triggers and what is known of its runs. To stop it for a \
        while, pause it with update_trigger.",
    input: || object(&["trigger"], json!({ "trigger": id_schema() })),
    run: remove,
    risk: None,
    ..MAKES
};

pub(super) const RUN: Tool<Triggers> = Tool {
    name: "run_trigger_now",
    title: "Run trigger now",
    description: "Start one of your triggers once, beside its times, for instance to try it. It \
        runs in the background; list_triggers shows how it ended.",
    input: || object(&["trigger"], json!({ "trigger": id_schema() })),
    run: run_now,
    ..MAKES
};

fn properties() -> Map<String, Value> {
    let text = |longest: usize, description: &str| {
        json!({
            "type": "string", "minLength": 1, "maxLength": longest, "description": description,
        })
    };
    let missed = json!({
        "type": "string", "enum": Missed::WORDS, "default": "once",
        "description": "What to do about times nobody was there for, a machine that was off say: `once` starts once for all of them, `skip` does nothing.",
    });
    let properties = [
        (
            "cron",
            text(
                200,
                "Minute, hour, day of the month, month, day of the week: `30 9 * * mon-fri`. Also `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`.",
            ),
        ),
        (
            "timezone",
            text(
                64,
                "Whose clocks `cron` means, such as `Europe/Berlin`. Default: that of the configuration, else `UTC`.",
            ),
        ),
        (
            "every",
            text(
                64,
                "A span of time from now on, such as `15m` or `2h 30m`; a minute at least.",
            ),
        ),
        (
            "watch",
            text(
                1_000,
                "Files of the workspace, such as `docs/**/*.md`: start when one of them is changed, new or gone.",
            ),
        ),
        (
            "prompt",
            text(
                LONGEST_PROMPT,
                "What you are to do when it starts you, with everything you have to know.",
            ),
        ),
        ("missed", missed),
    ];
    properties
        .into_iter()
        .map(|(name, schema)| (name.to_owned(), schema))
        .collect()
}

#[derive(Deserialize)]
struct Asked {
    trigger: Option<String>,
    cron: Option<String>,
    timezone: Option<String>,
    every: Option<String>,
    watch: Option<String>,
    webhook: Option<bool>,
    prompt: Option<String>,
    missed: Option<String>,
    paused: Option<bool>,
}

impl Asked {
    /// The schedule that is asked for, if any is. `zone` is meant where none is named.
    fn schedule(&self, zone: &str) -> Result<Option<Schedule>, Failure> {
        let zone = self.timezone.as_deref().unwrap_or(zone);
        if self.timezone.is_some() && self.cron.is_none() {
            return Err(Failure::refused(
                "`timezone` says whose clocks `cron` means; give `cron` with it",
            ));
        }
        let made = [
            self.cron.as_deref().map(|it| Schedule::cron(it, zone)),
            self.every.as_deref().map(Schedule::every),
            self.watch.as_deref().map(Schedule::watch),
            self.webhook.map(|_| Ok(Schedule::Webhook)),
        ];
        let mut made = made.into_iter().flatten();
        match (made.next(), made.next()) {
            (schedule, None) => schedule.transpose(),
            (_, Some(_)) => Err(Failure::refused(
                "give one of `cron`, `every`, `watch` and `webhook`, not several; make a trigger for each",
            )),
        }
    }

    fn missed(&self) -> Result<Option<Missed>, Failure> {
        let missed = self.missed.as_deref().map(str::parse);
        missed.transpose().map_err(Failure::refused)
    }
}

impl Triggers {
    /// What the files of a schedule look like now, if it watches any.
    fn look(&self, schedule: &Schedule) -> Option<String> {
        match schedule {
            Schedule::Watch { glob, .. } => Some(watch::look(&self.workspace, glob)),
            _ => None,
        }
    }

    /// A trigger after a change.
    fn told(&self, said: &str, trigger: &Trigger, now: Timestamp) -> Output {
        let line = show::line(trigger, None, now);
        Output::text(format!("{said} {line}{}", self.warning()))
            .with_structured(show::data(trigger, None, now))
    }
}

fn create(triggers: &Triggers, value: Value) -> Result<Output, Failure> {
    let asked: Asked = arguments(value)?;
    let schedule = asked.schedule(&triggers.timezone)?.ok_or_else(|| {
        Failure::refused("when? give one of `cron`, `every`, `watch` and `webhook`")
    })?;
    let token = match schedule {
        Schedule::Webhook => Some(webhook::token()?),
        _ => None,
    };
    let now = kept((triggers.clock)());
    let trigger = Trigger {
        id: format!("g-{}", random_word(8)),
        owner: triggers.agent.clone(),
        seen: triggers.look(&schedule),
        schedule,
        missed: asked.missed()?.unwrap_or_default(),
        prompt: asked.prompt.unwrap_or_default(),
        paused: false,
        anchor: now,
        last: now,
        secret: token.as_deref().map(webhook::digest),
        created: now,
    };
    triggers.write(|roster| roster.add(&trigger))?;
    let mut output = triggers.told("created", &trigger, now);
    if let Some(token) = token {
        let path = format!("/hooks/{}", trigger.id);
        let text = format!(
            "call it with: POST {path}, header `Authorization: Bearer {token}`. The token is not shown again; a body of text is handed to you with the prompt, as somebody else's words"
        );
        output
            .content
            .push(ambit_core::observation::Content::text(text));
        if let Some(data) = output.structured.as_mut().and_then(Value::as_object_mut) {
            data.insert("path".to_owned(), json!(path));
            data.insert("token".to_owned(), json!(token));
        }
    }
    Ok(output)
}

fn update(triggers: &Triggers, value: Value) -> Result<Output, Failure> {
    let asked: Asked = arguments(value)?;
    let id = asked.trigger.clone().unwrap_or_default();
    let missed = asked.missed()?;
    let now = kept((triggers.clock)());
    let before = triggers.read(|roster| roster.find(&id, Some(&triggers.agent)))?;
    let zone = match &before.schedule {
        Schedule::Cron { timezone, .. } => timezone.clone(),
        _ => triggers.timezone.clone(),
    };
    let schedule = asked.schedule(&zone)?;
    if schedule.is_some() && matches!(before.schedule, Schedule::Webhook) {
        return Err(Failure::refused(format!(
            "`{id}` is a webhook and stays one; create another trigger for times or files"
        )));
    }
    if schedule.is_none() && asked.prompt.is_none() && missed.is_none() && asked.paused.is_none() {
        return Err(Failure::refused(
            "nothing to change: give `cron`, `every`, `watch`, `prompt`, `missed` or `paused`",
        ));
    }
    let is_moved = schedule.is_some() || asked.paused == Some(false) && before.paused;
    let seen = match is_moved {
        true => triggers.look(schedule.as_ref().unwrap_or(&before.schedule)),
        false => None,
    };
    let trigger = triggers.write(|roster| {
        // As it is now: a run may have been started meanwhile.
        let mut trigger = roster.find(&id, Some(&triggers.agent))?;
        if is_moved {
            // What came due before is settled; it begins anew.
            trigger.anchor = now;
            trigger.last = trigger.last.max(now);
            trigger.seen = seen;
        }
        trigger.schedule = schedule.unwrap_or(trigger.schedule);
        trigger.prompt = asked.prompt.unwrap_or(trigger.prompt);
        trigger.missed = missed.unwrap_or(trigger.missed);
        trigger.paused = asked.paused.unwrap_or(trigger.paused);
        roster.put(&trigger)?;
        Ok(trigger)
    })?;
    Ok(triggers.told("updated", &trigger, now))
}

#[derive(Deserialize)]
struct Named {
    trigger: String,
}

fn remove(triggers: &Triggers, value: Value) -> Result<Output, Failure> {
    let Named { trigger: id } = arguments(value)?;
    triggers.write(|roster| {
        let trigger = roster.find(&id, Some(&triggers.agent))?;
        roster.remove(&trigger.id)
    })?;
    Ok(Output::text(format!(
        "removed {id}; a run of it that has begun goes on"
    )))
}

fn run_now(triggers: &Triggers, value: Value) -> Result<Output, Failure> {
    let Named { trigger: id } = arguments(value)?;
    let due = triggers.write(|roster| {
        let trigger = roster.find(&id, Some(&triggers.agent))?;
        roster.request(&trigger, RunReason::Asked, None)
    })?;
    let text = format!(
        "{id} will be started in a few seconds; list_triggers shows how it ends{}",
        triggers.warning()
    );
    Ok(Output::text(text).with_structured(json!({ "trigger": id, "due": due.to_string() })))
}
