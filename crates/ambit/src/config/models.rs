//! Which model an agent is run with.

use ambit_agent::config::EngineConfig;
use ambit_core::suggest::{did_you_mean, suggest};

use super::file::Agent;
use super::merged::Config;
use super::problem::Problem;

impl Config {
    /// The model of this name; without a name the agent's, the file's, or the only one there is.
    pub fn model_of(
        &self,
        agent: &Agent,
        name: Option<&str>,
    ) -> Result<(&str, &EngineConfig), Problem> {
        let named = name
            .or(agent.model.as_deref())
            .or(self.default_model.as_deref());
        let names = || self.models.keys().map(String::as_str);
        let listed = || {
            let names: Vec<String> = names().map(|it| format!("`{it}`")).collect();
            names.join(", ")
        };
        let Some(name) = named else {
            let mut all = self.models.iter();
            return match (all.next(), all.next()) {
                (Some((name, model)), None) => Ok((name, model)),
                (None, _) => Err(Problem::error("no_model", "no model is configured").hint(
                    "add one to `models` in ambit.json, such as {\"models\": {\"main\": {\"provider\": \"openai\", \"model\": \"…\", \"key\": \"${secret:OPENAI_KEY}\"}}}; or play a file with `--script`",
                )),
                _ => Err(Problem::error(
                    "model_not_chosen",
                    format!("there are {} models, and none was named", self.models.len()),
                )
                .hint(format!("name one with `--model` or in `defaultModel`: {}", listed()))),
            };
        };
        self.models
            .get_key_value(name)
            .map(|(name, model)| (name.as_str(), model))
            .ok_or_else(|| {
                let hint =
                    did_you_mean(&suggest(name, names())).unwrap_or_else(|| match names().next() {
                        Some(_) => format!("configured: {}", listed()),
                        None => "add it to `models` in ambit.json".to_owned(),
                    });
                Problem::error("unknown_model", format!("there is no model `{name}`")).hint(hint)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ambit_agent::config::Provider;

    #[track_caller]
    fn check(
        models: &[&str],
        default: Option<&str>,
        agent: Option<&str>,
        name: Option<&str>,
        expected: Result<&str, &str>,
    ) {
        let model = |name: &&str| (name.to_string(), EngineConfig::new(Provider::OpenAi, *name));
        let config = Config {
            models: models.iter().map(model).collect(),
            default_model: default.map(str::to_owned),
            ..Config::default()
        };
        let agent = Agent {
            model: agent.map(str::to_owned),
            ..Agent::default()
        };
        let found = config.model_of(&agent, name).map(|(name, _)| name);
        assert_eq!(found.map_err(|it| it.code), expected);
    }

    #[test]
    fn the_nearest_word_counts() {
        check(&["a"], None, None, None, Ok("a"));
        check(&["a", "b"], None, None, None, Err("model_not_chosen"));
        check(&["a", "b"], Some("b"), None, None, Ok("b"));
        check(&["a", "b"], Some("b"), Some("a"), None, Ok("a"));
        check(&["a", "b"], Some("b"), Some("a"), Some("b"), Ok("b"));
        check(&["a"], None, None, Some("c"), Err("unknown_model"));
        check(&[], None, None, None, Err("no_model"));
    }
}
