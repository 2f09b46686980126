//! `ls`, `show`, `resolve`: what there is, and what an agent has of it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use ambit_core::catalog::CatalogSnapshot;
use ambit_core::descriptor::CapabilityDescriptor;
use ambit_core::id::CapabilityId;
use ambit_core::printable::printable;
use ambit_core::suggest::suggest;
use ambit_runtime::approver::NobodyThere;
use ambit_runtime::injection::INJECTION_SOURCE;
use ambit_runtime::journal::Journal;
use ambit_runtime::marketplace::CapabilityMarketplace;
use ambit_runtime::registry::{CheckedGrants, Resolved};
use serde_json::{Map, Value, json};

use crate::cli::args::{LsArgs, ResolveArgs, ResolveFormat, ShowArgs};
use crate::cli::check::grant_problem;
use crate::cli::fail::{Exit, Fail};
use crate::cli::listing::{List, Listed, Shown, Unavailable};
use crate::cli::printer::{BAD, BOLD, DIM, GOOD, Printer, WARN, columns, counted, fit, styled};
use crate::cli::setup::{Setup, seen};
use crate::cli::unresolved::unresolved;
use crate::config::Problem;

/// An entry, and why it cannot be used, if so.
type Row<'a> = (&'a CapabilityDescriptor, Option<Cow<'a, str>>);

/// A catalog to look at. Looking leaves no trace, so the journal is not opened.
fn look(setup: &Setup) -> Result<Arc<CapabilityMarketplace>, Fail> {
    setup.market(Journal::in_memory()?, Arc::new(NobodyThere))
}

/// An agent's capabilities, checked and resolved.
fn resolved(
    setup: &Setup,
    market: &CapabilityMarketplace,
    name: Option<&str>,
) -> Result<(CheckedGrants, Resolved), Fail> {
    let (name, agent) = setup.agent(name)?;
    let unknown = setup.loaded.config.unknown_capabilities_of(agent);
    let checked = market
        .registry()
        .check(&agent.capabilities.to_value(), unknown)
        .map_err(|problems| {
            problems
                .iter()
                .map(|it| grant_problem(setup, name, it))
                .collect::<Vec<Problem>>()
        })?;
    let context = setup.looking(name);
    let resolved = setup
        .runtime()?
        .block_on(market.registry().resolve(checked.clone(), &context));
    Ok((checked, resolved))
}

pub(crate) fn ls(setup: &Setup, args: &LsArgs, printer: &Printer) -> Result<Exit, Fail> {
    if args.refresh {
        let cache = setup.cache()?;
        let servers = setup.servers(&cache);
        setup.runtime()?.block_on(servers.see_again(&cache, seen));
    }
    let market = look(setup)?;
    let catalog = market.catalog();
    let revision = market.revision();
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut down: Vec<Unavailable<'_>> = catalog
        .unavailable_sources()
        .map(|(source, reason)| Unavailable { source, reason })
        .collect();
    if args.agent.agent.is_some() || args.agent.mode.is_some() {
        let (checked, resolved) = resolved(setup, &market, args.agent.agent.as_deref())?;
        // What a resolver's own config leaves out is not granted.
        let left: BTreeMap<_, _> = resolved
            .granted
            .iter()
            .map(|it| (it.key.as_str(), &it.ids))
            .collect();
        let reasons: BTreeMap<_, _> = resolved
            .skipped
            .iter()
            .map(|it| (it.key.clone(), it.reason.clone()))
            .collect();
        let (_, agent) = setup.agent(args.agent.agent.as_deref())?;
        let mode = setup.mode(&args.agent, agent);
        let is_granted = |source: &str| {
            let keys = checked.grants.iter().map(|it| it.key.as_str());
            keys.into_iter()
                .any(|key| source.split_once(':').is_some_and(|it| it.1 == key))
        };
        down.retain(|it| is_granted(it.source));
        for grant in checked.grants {
            let ids = left.get(grant.key.as_str()).copied().unwrap_or(&grant.ids);
            for entry in ids.iter().filter_map(|id| catalog.get(id)) {
                let hidden =
                    (!mode.shows(entry)).then(|| format!("the mode `{}` hides it", mode.as_str()));
                let reason = reasons
                    .get(&grant.key)
                    .map(|it| Cow::Owned(it.clone()))
                    .or_else(|| why_not(&catalog, entry))
                    .or(hidden.map(Cow::Owned));
                rows.push((entry, reason));
            }
        }
    } else {
        let unresolved = unresolved(setup, &market)?;
        let nobody = |entry: &CapabilityDescriptor| {
            let key = entry.source.split_once(':').map(|it| it.1);
            let found = unresolved.get(key?)?;
            Some(Cow::Owned(found.reason.clone()))
        };
        rows.extend(catalog.iter().map(|entry| {
            let reason = why_not(&catalog, entry).or_else(|| nobody(entry));
            (&**entry, reason)
        }));
    }
    rows.sort_by(|(a, _), (b, _)| a.id.cmp(&b.id));
    if printer.is_json() {
        printer.document(List {
            revision,
            capabilities: rows
                .iter()
                .map(|(it, why)| Listed::new(it, why.as_deref()))
                .collect(),
            unavailable: down,
        });
    } else {
        down.retain(|down| !rows.iter().any(|(entry, _)| entry.source == down.source));
        print_list(&rows, &down, printer);
    }
    Ok(Exit::Done)
}

/// Why an entry cannot be used by anybody now, if so.
fn why_not<'a>(catalog: &'a CatalogSnapshot, entry: &CapabilityDescriptor) -> Option<Cow<'a, str>> {
    let held = catalog.quarantine(&entry.id);
    let held = held.map(|it| Cow::Owned(format!("quarantined: {}", it.reason)));
    held.or_else(|| catalog.unavailable(entry).map(Cow::Borrowed))
}

fn print_list(rows: &[Row<'_>], empty: &[Unavailable<'_>], printer: &Printer) {
    let mut sources: BTreeMap<&str, Vec<&Row<'_>>> = BTreeMap::new();
    for row in rows {
        sources.entry(&row.0.source).or_default().push(row);
    }
    for (source, rows) in &sources {
        let tokens: u32 = rows.iter().map(|(entry, _)| entry.tokens.full).sum();
        let note = if *source == INJECTION_SOURCE {
            ", wired by the runtime"
        } else {
            ""
        };
        let count = counted(rows.len(), "capability", "capabilities");
        let count = format!("{count}, {tokens} tokens in full{note}");
        printer.line(format!("{}  {}", styled(BOLD, source), styled(DIM, count)));
        if let Some(reason) = rows
            .iter()
            .find_map(|(_, reason)| reason.as_ref())
            .filter(|_| rows.iter().all(|it| it.1.is_some()))
        {
            printer.line(format!(
                "  {}",
                styled(WARN, format!("unavailable: {reason}"))
            ));
        }
        let cells: Vec<Vec<String>> = rows
            .iter()
            .map(|(entry, _)| {
                vec![
                    format!("  {}", entry.id),
                    entry.risk.as_str().to_owned(),
                    fit(&entry.summary, 72),
                ]
            })
            .collect();
        for (line, (entry, reason)) in columns(&cells).into_iter().zip(rows) {
            let style = match entry.risk {
                _ if reason.is_some() => DIM,
                ambit_core::effects::Risk::Low => GOOD,
                ambit_core::effects::Risk::Medium => WARN,
                ambit_core::effects::Risk::High => BAD,
            };
            let word = format!("  {}  ", entry.risk.as_str());
            printer.line(line.replacen(
                &word,
                &format!("  {}  ", styled(style, entry.risk.as_str())),
                1,
            ));
        }
    }
    for Unavailable { source, reason } in empty {
        let count = styled(DIM, "nothing is known of it");
        printer.line(format!("{}  {count}", styled(BOLD, source)));
        let reason = format!("unavailable: {}", printable(reason));
        printer.line(format!("  {}", styled(WARN, reason)));
    }
    let tokens: u32 = rows.iter().map(|(entry, _)| entry.tokens.full).sum();
    printer.note(styled(
        DIM,
        format!(
            "{} from {}, {tokens} tokens if all were shown in full",
            counted(rows.len(), "capability", "capabilities"),
            counted(sources.len(), "source", "sources")
        ),
    ));
}

pub(crate) fn show(setup: &Setup, args: &ShowArgs, printer: &Printer) -> Result<Exit, Fail> {
    let market = look(setup)?;
    let catalog = market.catalog();
    let names = catalog.bare_names();
    let found = catalog
        .iter()
        .find(|it| it.id.as_str() == args.id || names.name(&it.id) == args.id);
    let Some(entry) = found else {
        return Err(unknown_id(&catalog, &args.id));
    };
    let Some(manifest) = market.definition(&entry.digest) else {
        return Err(Fail::usage(
            Problem::error(
                "no_definition",
                format!("the definition of `{}` is not at hand", entry.id),
            )
            .hint("its source has to be reached once"),
        ));
    };
    let reason = why_not(&catalog, entry);
    if printer.is_json() {
        printer.document(Shown {
            listed: Listed::new(entry, reason.as_deref()),
            wire_name: names.name(&entry.id),
            description: &manifest.description,
            permissions: &manifest.permissions,
            needs: &manifest.needs,
            input_schema: &manifest.input_schema,
            output_schema: manifest.output_schema.as_ref(),
        });
        return Ok(Exit::Done);
    }
    printer.line(format!(
        "{}  {}",
        styled(BOLD, &entry.id),
        printable(&entry.title)
    ));
    let paragraphs = manifest.description.lines();
    paragraphs.for_each(|it| printer.line(printable(it)));
    printer.line("");
    let permissions: Vec<_> = manifest
        .permissions
        .iter()
        .map(ToString::to_string)
        .collect();
    let facts = [
        ("wire name", names.name(&entry.id)),
        ("source", entry.source.clone()),
        ("version", entry.version.to_string()),
        ("effects", entry.effects.to_string()),
        ("risk", entry.risk.as_str().to_owned()),
        ("permissions", permissions.join(" ")),
        (
            "tokens",
            format!(
                "{} as a line, {} in full",
                entry.tokens.index, entry.tokens.full
            ),
        ),
        ("digest", entry.digest.to_string()),
        ("unavailable", reason.unwrap_or_default().into_owned()),
    ];
    let rows: Vec<Vec<String>> = facts
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| vec![name.to_owned(), value])
        .collect();
    columns(&rows).iter().for_each(|it| printer.line(it));
    for (title, schema) in [
        ("input", Some(&manifest.input_schema)),
        ("output", manifest.output_schema.as_ref()),
    ] {
        if let Some(text) = schema.and_then(|it| serde_json::to_string_pretty(it).ok()) {
            printer.line(format!("\n{}", styled(BOLD, format!("{title} schema"))));
            text.lines().for_each(|it| printer.line(printable(it)));
        }
    }
    Ok(Exit::Done)
}

/// An id nobody has, with those near it.
pub(crate) fn unknown_id(catalog: &CatalogSnapshot, wanted: &str) -> Fail {
    let ids: Vec<&str> = catalog.iter().map(|it| it.id.as_str()).collect();
    let mut near = suggest(wanted, ids.iter().copied());
    if near.is_empty() {
        // Perhaps only the last part was remembered.
        let tail = wanted.rsplit("__").next().unwrap_or(wanted);
        let matches = |id: &&&str| id.parse().is_ok_and(|id: CapabilityId| id.name() == tail);
        near = ids
            .iter()
            .filter(matches)
            .take(3)
            .map(|it| (*it).to_owned())
            .collect();
    }
    let hint = ambit_core::suggest::did_you_mean(&near)
        .unwrap_or_else(|| "`ambit ls` lists what there is".to_owned());
    Fail::usage(
        Problem::error(
            "unknown_capability",
            format!("there is no capability `{wanted}`"),
        )
        .hint(hint),
    )
}

pub(crate) fn resolve(setup: &Setup, args: &ResolveArgs, printer: &Printer) -> Result<Exit, Fail> {
    let market = look(setup)?;
    let (name, _) = setup.agent(args.agent.as_deref())?;
    let (_, resolved) = resolved(setup, &market, args.agent.as_deref())?;
    if let Some(ResolveFormat::McpServers) = args.format {
        return mcp_servers(setup, name, &resolved, printer);
    }
    if printer.is_json() {
        let granted: Vec<Value> = resolved
            .granted
            .iter()
            .map(|it| json!({"key": it.key, "tools": it.ids.iter().map(CapabilityId::name).collect::<Vec<_>>(), "ids": it.ids}))
            .collect();
        printer.document(json!({"agent": name, "granted": granted, "skipped": resolved.skipped}));
        return Ok(Exit::Done);
    }
    printer.line(styled(BOLD, name));
    for grant in &resolved.granted {
        let tools: Vec<_> = grant.ids.iter().map(CapabilityId::name).collect();
        let tools = if tools.is_empty() {
            "no tools".to_owned()
        } else {
            tools.join(", ")
        };
        printer.line(format!("  {}  {tools}", styled(GOOD, &grant.key)));
    }
    for skipped in &resolved.skipped {
        printer.line(format!(
            "  {}  {}",
            styled(WARN, &skipped.key),
            styled(DIM, format!("skipped: {}", skipped.reason))
        ));
    }
    Ok(Exit::Done)
}

/// For another engine. An engine that spoke to a server itself would see all its tools, so each
/// entry is this program, narrowed to one server; how that is reached stays here, secrets included.
fn mcp_servers(
    setup: &Setup,
    agent: &str,
    resolved: &Resolved,
    printer: &Printer,
) -> Result<Exit, Fail> {
    let ambit = std::env::current_exe()?;
    let servers = resolved.granted.iter().map(|it| &it.key);
    let servers = servers.filter(|it| setup.loaded.config.mcp_servers.contains_key(*it));
    let entries: Map<String, Value> = servers
        .map(|server| {
            let args = [
                "mcp", "--agent", agent, "--server", server, "--style", "full",
            ];
            (server.clone(), json!({"command": ambit, "args": args}))
        })
        .collect();
    let object = json!({"mcpServers": entries});
    match printer.is_json() {
        true => printer.document(object),
        // To be pasted as it is.
        false => printer.line(format!("{object:#}")),
    }
    Ok(Exit::Done)
}
