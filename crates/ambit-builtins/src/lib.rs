#![doc = include_str!("../README.md")]

use std::sync::Arc;

use ambit_runtime::journal::{JournalError, JournalReader};
use ambit_runtime::resolver::CapabilityResolver;
use jiff::Timestamp;
use secrets::{SecretsResolver, Vault};
use store::Store;

pub mod agents;
mod asked;
pub mod audio;
pub mod compute;
mod declare;
pub mod files;
pub mod history;
pub mod management;
pub mod media;
pub mod memory;
mod moment;
pub mod notes;
pub mod notices;
pub mod own;
mod pack;
pub mod secrets;
pub mod shell;
mod stop;
pub mod store;
pub mod tasks;
#[cfg(test)]
mod trial;
pub mod triggers;

/// The keys this crate makes grantable, known without anything around.
pub const KEYS: &[&str] = &[
    "files",
    "shell",
    "compute",
    "agents",
    "secrets",
    "media",
    "audio",
    "memory",
    "notes",
    "history",
    "tasks",
    "self",
    "agent-management",
    "triggers",
];

/// Tells the time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Opens the journal for reading. Nothing where nothing has been recorded yet.
pub type OpenJournal = Arc<dyn Fn() -> Result<Option<JournalReader>, JournalError> + Send + Sync>;

/// What built-in capabilities stand on.
#[derive(Clone)]
pub struct Builtins {
    /// Where they keep what they keep: the workspace's.
    pub store: Arc<Store>,
    /// What time it is.
    pub clock: Clock,
    /// Where secrets are kept, if anywhere.
    pub vault: Option<Arc<dyn Vault>>,
    /// What was recorded, if anything is.
    pub journal: Option<OpenJournal>,
    /// Where agents are configured, if that can be edited.
    pub agents: Option<Arc<dyn management::AgentsFile>>,
    /// What agents' own skills are written by; without it they write none.
    pub skills: Option<Arc<dyn own::SkillFormat>>,
}

impl Builtins {
    /// On this store, by the time of this machine.
    pub fn new(store: Arc<Store>) -> Self {
        Builtins {
            store,
            clock: Arc::new(Timestamp::now),
            vault: None,
            journal: None,
            agents: None,
            skills: None,
        }
    }

    /// All triggers of the workspace, for the person.
    pub fn triggers(&self) -> triggers::Overview {
        triggers::Overview::new(Arc::clone(&self.store), Arc::clone(&self.clock))
    }

    /// What runs in the background had to say.
    pub fn notices(&self) -> notices::Notices {
        notices::Notices::new(Arc::clone(&self.store), Arc::clone(&self.clock))
    }

    /// Everything this crate makes grantable.
    pub fn resolvers(&self) -> Vec<Arc<dyn CapabilityResolver>> {
        vec![
            Arc::new(files::FilesResolver),
            Arc::new(shell::ShellResolver),
            Arc::new(compute::ComputeResolver),
            Arc::new(agents::AgentsResolver),
            Arc::new(SecretsResolver {
                vault: self.vault.clone(),
                store: Arc::clone(&self.store),
                clock: Arc::clone(&self.clock),
            }),
            Arc::new(media::MediaResolver),
            Arc::new(audio::AudioResolver),
            Arc::new(memory::MemoryResolver(self.clone())),
            Arc::new(notes::NotesResolver(self.clone())),
            Arc::new(history::HistoryResolver(self.clone())),
            Arc::new(tasks::TasksResolver::new(&self.store, &self.clock)),
            Arc::new(own::SelfResolver(self.clone())),
            Arc::new(management::ManagementResolver(self.clone())),
            Arc::new(triggers::TriggersResolver::new(&self.store, &self.clock)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use ambit_core::manifest::CapabilityManifest;
    use ambit_core::schema::CompiledSchema;
    use ambit_runtime::resolver::{Offer, describe};
    use expect_test::expect;

    use super::*;

    fn resolvers() -> Vec<Arc<dyn CapabilityResolver>> {
        // Only what is called opens it.
        Builtins::new(Store::at("nowhere".as_ref())).resolvers()
    }

    #[test]
    fn every_key_is_known_without_anything_around() {
        let keys: Vec<_> = resolvers().iter().map(|it| it.key().to_owned()).collect();
        assert_eq!(keys, KEYS);
    }

    fn declared(resolver: &dyn CapabilityResolver) -> Vec<CapabilityManifest> {
        match resolver.offer() {
            Offer::Declared(manifests) => manifests,
            Offer::Seen { .. } => panic!("a built-in declares what it brings"),
        }
    }

    #[test]
    fn every_tool_is_declared() {
        let listed: Vec<String> = resolvers()
            .iter()
            .flat_map(|it| declared(it.as_ref()))
            .map(|it| {
                let permissions: Vec<_> = it.permissions.iter().map(|p| p.as_str()).collect();
                format!(
                    "{} | {} | {} | {}",
                    it.id,
                    it.effects,
                    it.risk.as_str(),
                    permissions.join(" ")
                )
            })
            .collect();
        expect![[r#"
            local__files__read_file | reads | low | fs:read
            local__files__write_file | reads writes | medium | fs:write
            local__files__edit_file | reads writes | medium | fs:read fs:write
            local__files__list_dir | reads | low | fs:read
            local__files__glob | reads | low | fs:read
            local__files__grep | reads | low | fs:read
            local__shell__run_command | reads writes destructive open-world egress | high | proc:exec
            local__compute__calculate | reads | low | 
            local__compute__statistics | reads | low | 
            local__compute__convert_units | reads | low | 
            local__compute__date_convert | reads | low | 
            local__compute__date_add | reads | low | 
            local__compute__date_difference | reads | low | 
            local__compute__json_query | reads | low | 
            local__compute__json_patch | reads | low | 
            local__compute__json_merge | reads | low | 
            local__compute__text_diff | reads | low | 
            local__compute__regex_find | reads | low | 
            local__compute__regex_replace | reads | low | 
            local__compute__regex_split | reads | low | 
            local__compute__hash | reads | low | 
            local__compute__base64_encode | reads | low | 
            local__compute__base64_decode | reads | low | 
            local__agents__list_available_agents | reads | low | agent:list
            local__agents__ask_agent | reads | low | agent:ask
            local__secrets__list_secrets | reads | low | secrets:list
            local__secrets__describe_secret | reads | low | secrets:list
            local__secrets__request_secret | reads writes | medium | secrets:request
            local__secrets__use_secret | reads | medium | secrets:use
            local__media__send_file | reads egress | medium | fs:read media:send
            local__audio__transcribe | reads open-world egress | medium | audio:transcribe fs:read
            local__audio__text_to_speech | reads writes open-world egress | high | audio:speak fs:write
            local__memory__save_memory | reads writes | medium | memory:write
            local__memory__search_memories | reads | low | memory:read
            local__memory__list_memories | reads | low | memory:read
            local__memory__update_memory | reads writes | medium | memory:write
            local__memory__delete_memory | reads writes destructive | high | memory:write
            local__notes__save_note | reads writes | medium | notes:write
            local__notes__read_note | reads | low | notes:read
            local__notes__list_notes | reads | low | notes:read
            local__notes__search_notes | reads | low | notes:read
            local__notes__update_note | reads writes | medium | notes:write
            local__notes__delete_note | reads writes | medium | notes:write
            local__notes__share_note | reads writes | medium | notes:write
            local__notes__pin_note | reads writes | medium | notes:write
            local__notes__unpin_note | reads writes | medium | notes:write
            local__history__search_threads | reads | low | history:read
            local__history__read_thread | reads | low | history:read
            local__tasks__create_task | reads writes | medium | tasks:write
            local__tasks__list_tasks | reads | low | tasks:read
            local__tasks__get_task | reads | low | tasks:read
            local__tasks__update_task | reads writes | medium | tasks:write
            local__tasks__update_steps | reads writes | medium | tasks:write
            local__tasks__create_subtask | reads writes | medium | tasks:write
            local__tasks__complete_task | reads writes | medium | tasks:write
            local__tasks__cancel_task | reads writes | medium | tasks:write
            local__tasks__add_resource | reads writes | medium | tasks:write
            local__tasks__remove_resource | reads writes | medium | tasks:write
            local__tasks__list_task_history | reads | low | tasks:read
            local__self__read_my_instructions | reads | low | self:read
            local__self__update_my_instructions | reads writes | high | self:write
            local__self__list_responsibilities | reads | low | self:read
            local__self__add_responsibility | reads writes | high | self:write
            local__self__update_responsibility | reads writes | high | self:write
            local__self__remove_responsibility | reads writes | high | self:write
            local__self__list_my_skills | reads | low | self:read
            local__self__create_skill | reads writes | high | self:write
            local__self__update_skill | reads writes | high | self:write
            local__self__delete_skill | reads writes | high | self:write
            local__agent-management__list_agents | reads | low | agents:read
            local__agent-management__read_agent | reads | low | agents:read
            local__agent-management__create_agent | reads writes | high | agents:write
            local__agent-management__update_agent | reads writes | high | agents:write
            local__agent-management__delete_agent | reads writes destructive | high | agents:write
            local__triggers__list_triggers | reads | low | triggers:read
            local__triggers__create_trigger | reads writes | high | triggers:write
            local__triggers__update_trigger | reads writes | high | triggers:write
            local__triggers__remove_trigger | reads writes | medium | triggers:write
            local__triggers__run_trigger_now | reads writes | high | triggers:write"#]]
        .assert_eq(&listed.join("\n"));
    }

    #[test]
    fn schemas_compile_and_say_what_each_parameter_is() {
        for resolver in resolvers() {
            let descriptor = describe(resolver.as_ref());
            let mut schemas = vec![("config".to_owned(), descriptor.config_schema)];
            for manifest in declared(resolver.as_ref()) {
                assert!(!manifest.summary().is_empty() && !manifest.title.is_empty());
                schemas.push((manifest.id.to_string(), manifest.input_schema));
                if let Some(output) = manifest.output_schema {
                    CompiledSchema::compile(&output).unwrap();
                }
            }
            for (of, schema) in schemas {
                CompiledSchema::compile(&schema).unwrap();
                assert_eq!(schema["additionalProperties"], false, "{of}");
                for (name, property) in schema["properties"].as_object().unwrap() {
                    assert!(property["description"].is_string(), "{of}: {name}");
                }
            }
        }
    }
}
