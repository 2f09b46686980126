//! Skills on disk: found, shadowed, refused.

// Helpers are test code too.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::indexing_slicing)]

mod disk;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;

use ambit_skills::hints::RunIn;
use ambit_skills::load::load;
use ambit_skills::problem::SkillProblem;
use ambit_skills::root::{RootTrust, SkillRoot, standard_roots};
use ambit_skills::scan::{MAX_INDEX_TEXT, MAX_SKILLS_PER_ROOT, SkillSet, scan, validate_folder};
use disk::{one_skill, scan_user, summary, write, write_skill};
use proptest::prelude::*;
use tempfile::tempdir;

#[test]
fn broken_skills_are_skipped_and_listed() {
    let root = one_skill();
    let at = root.path();
    write(at, "README.md", "not a skill");
    write(at, ".git/config", "");
    write(at, "empty/notes.txt", "");
    write(at, "folder/SKILL.md/x", "");
    write(
        at,
        "lower/skill.md",
        "---\nname: lower\ndescription: x\n---\n",
    );
    write(
        at,
        "wrong/SKILL.md",
        "---\nname: right\ndescription: x\n---\n",
    );
    write(
        at,
        "extra/SKILL.md",
        "---\nname: extra\ndescription: x\ncolor: red\n---\n",
    );
    symlink(at.join("README.md"), at.join("link-to-file")).unwrap();
    symlink("nowhere", at.join("dangling")).unwrap();
    let (names, problems) = (
        vec!["extra", "it", "lower"],
        vec![
            "dangling: missing required file `SKILL.md`",
            "empty: missing required file `SKILL.md`",
            "extra: unknown keys `color`",
            "folder: `SKILL.md` is not a regular file",
            "wrong: the name `right` differs from its folder `wrong`",
        ],
    );
    let set = scan_user(at);
    assert_eq!(summary(&set).0, names);
    assert_eq!(summary(&set).1, problems);
    assert_eq!(scan_user(&at.join("none")), SkillSet::default());
    let (_, problems) = summary(&scan_user(&at.join("README.md")));
    assert!(problems[0].ends_with("is not a folder"), "{problems:?}");
}

#[test]
fn one_folder_can_be_judged_alone() {
    let root = one_skill();
    assert_eq!(validate_folder(&root.path().join("it")), []);
    assert_eq!(validate_folder(root.path()), [SkillProblem::MissingSkillMd]);
    for missing in ["none", "it/SKILL.md"] {
        assert_eq!(validate_folder(&root.path().join(missing)).len(), 1);
    }
    assert_eq!(
        validate_folder(Path::new("/")),
        [SkillProblem::MissingSkillMd]
    );
}

#[test]
fn the_scan_keeps_a_line_and_hides_the_body() {
    let root = tempdir().unwrap();
    let text = format!(
        "---\nname: it\ndescription: |\n  Two\n  lines.\nmetadata:\n  ambit-fork: true\n---\n{}",
        "ä".repeat(MAX_INDEX_TEXT)
    );
    write(root.path(), "it/SKILL.md", text);
    let set = scan_user(root.path());
    let skill = set.get("it").unwrap();
    assert_eq!(skill.index_line(), "it: Two lines.");
    assert_eq!(skill.id.as_str(), "skill__it");
    assert_eq!(skill.index_text.len(), MAX_INDEX_TEXT);
    assert_eq!(skill.hints.run_in, RunIn::SubAgent);
    assert_eq!(load(skill).unwrap().body.len(), 2 * MAX_INDEX_TEXT);
}

#[test]
fn the_more_trusted_skill_of_a_name_wins() {
    let at = tempdir().unwrap();
    let at = at.path();
    let (home, config, workspace) = (at.join("home"), at.join("config"), at.join("work"));
    write_skill(&home.join(".agents/skills"), "both", "user");
    write_skill(&home.join(".claude/skills"), "both", "user, later root");
    write_skill(&config.join("ambit/skills"), "mine", "user");
    write_skill(&workspace.join(".agents/skills"), "both", "project");
    write_skill(
        &workspace.join(".agents/skills"),
        "rnine",
        "looks like `mine`",
    );
    write_skill(&workspace.join(".agent/skills"), "theirs", "project");
    symlink("../.agents/skills", {
        fs::create_dir_all(workspace.join(".claude")).unwrap();
        workspace.join(".claude/skills")
    })
    .unwrap();
    let mut roots = standard_roots(&home, &config, &workspace);
    roots.reverse();
    roots.sort_by_key(|it| it.path().to_owned());
    let set = scan(&roots);
    let (names, problems) = summary(&set);
    assert_eq!(names, ["both", "mine", "theirs"]);
    assert_eq!(
        problems,
        ["rnine: the name `rnine` looks like `mine`, which has precedence"; 2]
    );
    let winner = home.join(".agents/skills/both");
    let shadowed: Vec<_> = set.shadowed.iter().map(|it| (&it.path, &it.by)).collect();
    assert_eq!(
        shadowed,
        [
            (&home.join(".claude/skills/both"), &winner),
            (&workspace.join(".agents/skills/both"), &winner),
            (&workspace.join(".claude/skills/both"), &winner),
        ]
    );
    let trusts = ["both", "theirs"].map(|it| set.get(it).unwrap().trust());
    assert_eq!(trusts, [RootTrust::User, RootTrust::Project]);
    assert_eq!(trusts.map(RootTrust::needs_approval), [false, true]);
}

#[test]
fn one_folder_seen_twice_shadows_nothing() {
    let at = tempdir().unwrap();
    write_skill(&at.path().join("a"), "it", "");
    symlink("a", at.path().join("b")).unwrap();
    let set = scan(&[
        SkillRoot::user(at.path().join("a")),
        SkillRoot::user(at.path().join("b")),
    ]);
    assert_eq!((set.skills.len(), set.shadowed.len()), (1, 0));
}

#[test]
fn trust_is_ordered() {
    use RootTrust::{Managed, Mcp, Plugin, Project, User};
    let mut all = [Plugin, Managed, Mcp, User, Project];
    all.sort();
    all.reverse();
    assert_eq!(all, [Managed, User, Project, Plugin, Mcp]);
}

#[test]
fn names_outside_the_id_alphabet_get_an_id() {
    let root = tempdir().unwrap();
    for name in ["café", "数据", "数-据"] {
        write_skill(root.path(), name, "");
    }
    let set = scan_user(root.path());
    let ids: Vec<_> = set.skills.iter().map(|it| it.id.to_string()).collect();
    assert_eq!(ids.len(), 3, "{:?}", set.problems);
    assert!(ids.iter().all(|it| it.is_ascii()), "{ids:?}");
    assert!(ids[0].starts_with("skill__caf-"), "{ids:?}");
}

#[test]
fn a_skill_md_of_20_mb_is_refused_unread() {
    let root = one_skill();
    fs::create_dir(root.path().join("big")).unwrap();
    let file = File::create(root.path().join("big/SKILL.md")).unwrap();
    file.set_len(20 << 20).unwrap();
    let set = scan_user(root.path());
    let (names, problems) = summary(&set);
    assert_eq!(names, ["it"]);
    assert_eq!(
        problems,
        ["big: `SKILL.md` has 20971520 bytes, more than 1048576"]
    );
}

#[test]
fn a_root_of_too_many_folders_is_cut_by_name() {
    let root = tempdir().unwrap();
    for n in (0..MAX_SKILLS_PER_ROOT + 5).rev() {
        write_skill(root.path(), &format!("s{n:05}"), "");
    }
    let set = scan_user(root.path());
    assert_eq!(
        set.skills.len() + set.problems.len(),
        MAX_SKILLS_PER_ROOT + 1
    );
    assert!(set.get("s01003").is_none());
    assert_eq!(
        set.problems[0].problem,
        SkillProblem::TooManySkills {
            limit: MAX_SKILLS_PER_ROOT,
            left_out: 5
        }
    );
}

#[test]
fn links_out_of_a_project_find_nothing() {
    let at = tempdir().unwrap();
    let workspace = at.path().join("work");
    let skills = workspace.join(".agents/skills");
    write_skill(&at.path().join("outside"), "stolen", "");
    write_skill(&workspace.join("elsewhere"), "linked", "");
    write_skill(&skills, "plain", "");
    symlink("../../elsewhere/linked", skills.join("linked")).unwrap();
    symlink(at.path().join("outside/stolen"), skills.join("stolen")).unwrap();
    symlink("/", skills.join("everything")).unwrap();
    write(&skills, "md/x", "");
    symlink(
        "../../../../outside/stolen/SKILL.md",
        skills.join("md/SKILL.md"),
    )
    .unwrap();
    let set = scan(&[SkillRoot::project(&workspace, ".agents/skills")]);
    let (names, problems) = summary(&set);
    assert_eq!(names, ["linked", "plain"]);
    assert_eq!(
        problems,
        [
            "everything: `everything` is a link that leads outside",
            "md: `SKILL.md` is a link that leads outside",
            "stolen: `stolen` is a link that leads outside",
        ]
    );
    // A user links where they like.
    assert!(scan(&[SkillRoot::user(&skills)]).get("stolen").is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The outcome depends on what the roots hold, not on the order it was written in; every
    /// folder is accounted for once; and no skill loses to a less trusted one.
    #[test]
    fn scans_are_deterministic(
        folders in prop::collection::btree_map((0_usize..4, "[ab1l]{1,2}"), 0_usize..3, 0..12),
    ) {
        let scan_written = |folders: Vec<(&(usize, String), &usize)>| {
            let at = tempdir().unwrap();
            let roots: Vec<_> = (0..4).map(|n| at.path().join(n.to_string())).collect();
            for ((root, name), kind) in folders {
                match kind {
                    0 => write(&roots[*root], &format!("{name}/SKILL.md"), "broken"),
                    1 => write_skill(&roots[*root], name, "one"),
                    _ => write_skill(&roots[*root], name, "another"),
                }
            }
            let set = scan(&[
                SkillRoot::mcp(&roots[0]),
                SkillRoot::project(at.path(), "1"),
                SkillRoot::user(&roots[2]),
                SkillRoot::user(&roots[3]),
            ]);
            let below = |path: &Path| path.strip_prefix(at.path()).unwrap().to_owned();
            (
                set.skills.iter().map(|it| (it.name().to_owned(), it.trust(), below(&it.folder.path()), it.skill_md)).collect::<Vec<_>>(),
                set.shadowed.iter().map(|it| (below(&it.path), below(&it.by))).collect::<Vec<_>>(),
                set.problems.iter().map(|it| (below(&it.path), it.problem.to_string())).collect::<Vec<_>>(),
            )
        };
        let forward = scan_written(folders.iter().collect());
        let backward = scan_written(folders.iter().rev().collect());
        prop_assert_eq!(&forward, &backward);
        let (skills, shadowed, problems) = forward;
        prop_assert_eq!(skills.len() + shadowed.len() + problems.len(), folders.len());
        let best: BTreeMap<&str, usize> = folders
            .iter()
            .filter(|(_, kind)| **kind > 0)
            .map(|((root, name), _)| (name.as_str(), [0, 1, 3, 2][*root]))
            .fold(BTreeMap::new(), |mut best, (name, rank)| {
                let entry = best.entry(name).or_insert(rank);
                *entry = rank.max(*entry);
                best
            });
        for (name, _, path, _) in &skills {
            let root: usize = path.iter().next().unwrap().to_str().unwrap().parse().unwrap();
            prop_assert_eq!(Some(&[0, 1, 3, 2][root]), best.get(name.as_str()));
        }
    }
}
