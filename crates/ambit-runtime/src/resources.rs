//! Which capability an address belongs to: the skill whose file it is, else the resource that is
//! listed there, else a template it fits, else whatever its server makes of it.

use ambit_core::id::{CapabilityId, Kind};
use ambit_core::visible::VisibleSet;

use crate::skill::own_place;

/// The capability behind an address. `template` knows templates by id; `server` says whose it is,
/// where that is known.
pub(crate) fn at<'a>(
    visible: &'a VisibleSet,
    uri: &str,
    server: Option<&str>,
    template: impl Fn(&CapabilityId) -> Option<String>,
) -> Option<&'a CapabilityId> {
    if server.is_none()
        && let Some(skill) = skill_at(visible, uri)
    {
        return Some(skill);
    }
    let ids = || {
        visible
            .entries()
            .iter()
            .map(|it| &it.id)
            .filter(|id| id.kind() == Kind::Resource)
            .filter(|id| server.is_none_or(|it| it == id.owner()))
    };
    let listed = ids().find(|id| id.is_resource_at(uri));
    let fits =
        |id: &&CapabilityId| id.is_template() && template(id).is_some_and(|it| matches(&it, uri));
    let of_any = || {
        let mut any = ids().filter(|id| id.is_any_resource());
        // Of several nobody knows which.
        any.next().filter(|_| any.next().is_none())
    };
    listed
        .or_else(|| ids().filter(|id| !id.is_any_resource()).find(fits))
        .or_else(of_any)
}

/// The visible skill an address is inside of. No server can take it over.
fn skill_at<'a>(visible: &'a VisibleSet, uri: &str) -> Option<&'a CapabilityId> {
    let (name, _) = own_place(uri)?;
    let id = CapabilityId::skill(name).ok()?;
    visible
        .find(id.as_str())
        .filter(|it| it.kind() == Kind::Skill)
}

/// Whether an address can be an expansion of a template (RFC 6570). A plain variable stands for
/// one segment, one with an operator for anything.
fn matches(template: &str, uri: &str) -> bool {
    let Some((literal, rest)) = template.split_once('{') else {
        return template == uri;
    };
    let Some(uri) = uri.strip_prefix(literal) else {
        return false;
    };
    let Some((variable, rest)) = rest.split_once('}') else {
        return false;
    };
    let is_operator = |c: char| matches!(c, '+' | '#' | '.' | '/' | ';' | '?' | '&');
    let anything = variable.starts_with(is_operator);
    let longest = match anything {
        true => uri.len(),
        false => uri.find(['/', '?', '#']).unwrap_or(uri.len()),
    };
    let shortest = usize::from(!anything);
    // The longest first: what follows a variable usually ends the address.
    (shortest..=longest)
        .rev()
        .filter_map(|end| uri.get(end..))
        .take(MAX_TRIES)
        .any(|left| matches(rest, left))
}

/// An address is no place for puzzles.
const MAX_TRIES: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_fit_their_expansions() {
        for (template, uri, fits) in [
            ("test://static", "test://static", true),
            ("test://{id}/data", "test://123/data", true),
            ("test://{id}/data", "test:///data", false),
            ("test://{id}/data", "test://1/2/data", false),
            ("test://{id}/data", "test://1/date", false),
            ("file:///{+path}", "file:///a/b/c.txt", true),
            ("db://{table}{?limit,offset}", "db://users?limit=3", true),
            ("db://{table}{?limit,offset}", "db://users", true),
            ("a://{x}-{y}", "a://1-2-3", true),
            ("a://{x", "a://1", false),
            ("é://{x}", "é://ü", true),
        ] {
            assert_eq!(matches(template, uri), fits, "{template} {uri}");
        }
    }
}
