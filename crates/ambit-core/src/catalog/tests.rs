//! Sources come and go, and the catalog says what that changed.

use super::*;
use crate::fixture::descriptor;

fn source(name: &str, lines: &[&str]) -> SourceSnapshot {
    SourceSnapshot {
        source: name.to_owned(),
        descriptors: lines
            .iter()
            .map(|line| {
                let mut it = descriptor(line);
                it.source = name.to_owned();
                Arc::new(it)
            })
            .collect(),
        unavailable: None,
        quarantined: BTreeMap::new(),
    }
}

fn names(ids: &[CapabilityId]) -> Vec<&str> {
    ids.iter().map(CapabilityId::as_str).collect()
}

#[test]
fn a_source_speaks_for_all_it_offers() {
    let (one, change) = CatalogSnapshot::default()
        .with_source(source("mcp:a", &["mcp__a__x reads", "mcp__a__y reads"]));
    assert_eq!(names(&change.added), ["mcp__a__x", "mcp__a__y"]);
    let (two, change) = one.with_source(source("mcp:a", &["mcp__a__y writes", "mcp__a__z reads"]));
    assert_eq!(
        (
            names(&change.added),
            names(&change.removed),
            names(&change.changed)
        ),
        (vec!["mcp__a__z"], vec!["mcp__a__x"], vec!["mcp__a__y"])
    );
    let (same, change) = two.with_source(source("mcp:a", &["mcp__a__z reads", "mcp__a__y writes"]));
    assert!(change.is_empty());
    assert_eq!(
        (same.revision(), same.digest()),
        (two.revision(), two.digest())
    );
    let (gone, _) = same.without_source("mcp:a");
    assert!(gone.is_empty());
}

#[test]
fn sources_told_together_end_as_they_do_one_by_one() {
    let (before, _) = CatalogSnapshot::default()
        .with_source(source("mcp:a", &["mcp__a__x reads", "mcp__a__y reads"]));
    let mut down = source("mcp:b", &["mcp__b__x reads", "mcp__a__y writes"]);
    down.unavailable = Some("exited".to_owned());
    let told = [
        source("mcp:a", &["mcp__a__y writes"]),
        down,
        source("mcp:c", &["mcp__c__x reads"]),
    ];
    let one_by_one = told.iter().fold(before.clone(), |it, source| {
        it.with_source(source.clone()).0
    });
    let (together, change) = before.with_sources(told);
    assert_eq!(together.digest(), one_by_one.digest());
    assert_eq!(together.revision(), before.revision() + 1);
    assert_eq!(names(&change.added), ["mcp__b__x", "mcp__c__x"]);
    assert_eq!(names(&change.removed), ["mcp__a__x"]);
    assert_eq!(names(&change.changed), ["mcp__a__y"]);
    assert_eq!((change.refused.len(), change.availability.len()), (1, 1));
}

#[test]
fn an_unavailable_source_stays_known() {
    let mut down = source("mcp:a", &["mcp__a__x reads"]);
    down.unavailable = Some("exited".to_owned());
    let (catalog, change) = CatalogSnapshot::default().with_source(down);
    assert_eq!(change.availability["mcp:a"].as_deref(), Some("exited"));
    assert_eq!(
        catalog.iter().next().and_then(|it| catalog.unavailable(it)),
        Some("exited")
    );
    let (up, change) = catalog.with_source(source("mcp:a", &["mcp__a__x reads"]));
    assert_eq!(change.availability["mcp:a"], None);
    assert_ne!(up.digest(), catalog.digest());
}

#[test]
fn what_is_held_back_is_part_of_the_contents() {
    let mut held = source("mcp:a", &["mcp__a__x reads", "mcp__a__y reads"]);
    let free = held.clone();
    let x: CapabilityId = "mcp__a__x".parse().unwrap();
    let quarantine = Quarantine {
        reason: QuarantineReason::Changed,
        diff: "- a\n+ b".to_owned(),
    };
    held.quarantined.insert(x.clone(), quarantine.clone());
    let (before, _) = CatalogSnapshot::default().with_source(free.clone());
    let (catalog, change) = before.with_source(held.clone());
    assert_eq!(names(&change.quarantined), ["mcp__a__x"]);
    assert_eq!(catalog.quarantine(&x), Some(&quarantine));
    assert_ne!(catalog.digest(), before.digest());
    assert!(catalog.with_source(held).1.is_empty());

    let text = serde_json::to_string(&StoredCatalog::from(&catalog)).unwrap();
    let back: CatalogSnapshot = serde_json::from_str::<StoredCatalog>(&text).unwrap().into();
    assert_eq!(back.digest(), catalog.digest());

    let (after, change) = catalog.with_source(free);
    assert_eq!(names(&change.released), ["mcp__a__x"]);
    assert_eq!(after.digest(), before.digest());
    assert_eq!(catalog.without_source("mcp:a").0.quarantined().count(), 0);
}

#[test]
fn look_alikes_are_refused_and_the_known_one_stays() {
    let (first, _) =
        CatalogSnapshot::default().with_source(source("mcp:a", &["mcp__a__list reads"]));
    let (second, change) = first.with_source(source(
        "mcp:a",
        &[
            "mcp__a__list reads",
            "mcp__a__1ist reads",
            "mcp__a__LIST reads",
        ],
    ));
    assert_eq!(change.refused.len(), 2);
    assert_eq!(second.len(), 1);
    let (none, change) = CatalogSnapshot::default()
        .with_source(source("mcp:a", &["mcp__a__get reads", "mcp__a__Get reads"]));
    assert_eq!((none.len(), change.refused.len()), (0, 2));
}

#[test]
fn a_source_cannot_shadow_another() {
    let (first, _) = CatalogSnapshot::default().with_source(source("mcp:a", &["mcp__a__x reads"]));
    let (second, change) = first.with_source(source("mcp:b", &["mcp__a__x writes"]));
    assert_eq!(change.refused.len(), 1);
    assert_eq!(second.digest(), first.digest());
}

#[test]
fn storing_keeps_the_digest() {
    let (catalog, _) =
        CatalogSnapshot::default().with_source(source("mcp:a", &["mcp__a__x reads"]));
    let text = serde_json::to_string(&StoredCatalog::from(&catalog)).unwrap();
    let back: CatalogSnapshot = serde_json::from_str::<StoredCatalog>(&text).unwrap().into();
    assert_eq!(back, catalog);
}
