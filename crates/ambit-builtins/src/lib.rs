#![doc = include_str!("../README.md")]

use std::sync::Arc;

use ambit_runtime::resolver::CapabilityResolver;

pub mod compute;
mod declare;
pub mod files;
pub mod shell;
mod stop;

/// Everything this crate makes grantable.
pub fn resolvers() -> Vec<Arc<dyn CapabilityResolver>> {
    vec![
        Arc::new(compute::ComputeResolver),
        Arc::new(files::FilesResolver),
        Arc::new(shell::ShellResolver),
    ]
}

#[cfg(test)]
mod tests {
    use ambit_core::manifest::CapabilityManifest;
    use ambit_core::schema::CompiledSchema;
    use ambit_runtime::resolver::{Offer, describe};
    use expect_test::expect;

    use super::*;

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
            local__files__read_file | reads | low | fs:read
            local__files__write_file | reads writes | medium | fs:write
            local__files__edit_file | reads writes | medium | fs:read fs:write
            local__files__list_dir | reads | low | fs:read
            local__files__glob | reads | low | fs:read
            local__files__grep | reads | low | fs:read
            local__shell__run_command | reads writes destructive open-world egress | high | proc:exec"#]]
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
