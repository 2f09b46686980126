#![doc = include_str!("../README.md")]

use std::sync::Arc;

use ambit_runtime::resolver::CapabilityResolver;
use jiff::Timestamp;
use store::Store;

mod declare;
pub mod files;
mod pack;
pub mod shell;
mod stop;
pub mod store;
pub mod tasks;
#[cfg(test)]
mod trial;
pub mod triggers;

/// The keys this crate makes grantable, known without anything around.
pub const KEYS: &[&str] = &["files", "shell", "tasks", "triggers"];

/// Tells the time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What built-in capabilities stand on.
#[derive(Clone)]
pub struct Builtins {
    /// Where they keep what they keep: the workspace's.
    pub store: Arc<Store>,
    /// What time it is.
    pub clock: Clock,
}

impl Builtins {
    /// On this store, by the time of this machine.
    pub fn new(store: Arc<Store>) -> Self {
        Builtins {
            store,
            clock: Arc::new(Timestamp::now),
        }
    }

    /// Everything this crate makes grantable.
    pub fn resolvers(&self) -> Vec<Arc<dyn CapabilityResolver>> {
        vec![
            Arc::new(files::FilesResolver),
            Arc::new(shell::ShellResolver),
            Arc::new(tasks::TasksResolver::new(&self.store, &self.clock)),
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
