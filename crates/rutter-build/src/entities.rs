//! The entities that the site owner declared: their pages, their robots.txt group, and secrets in their statements.

use std::collections::BTreeSet;
use std::path::Path;

use rutter_page::SensitiveData;
use rutter_robots::AgentGroup;
use rutter_site::LedgerReader;
use rutter_spxi::{AGENTS, Entity, INDEX_FILE, PACKET_FILE, without_fragment};

use crate::error::BuildError;
use crate::plan::{BuildPlan, SourceKind, SpxiSettings};

/// Returns the SPXI settings; `None` if no entity is declared or the layer is off.
pub(crate) fn declared(plan: &BuildPlan) -> Option<&SpxiSettings> {
    plan.spxi.as_ref().filter(|_| plan.layers.spxi)
}

/// Returns the robots.txt group that allows AI agents to fetch the SPXI index and packets (D79,
/// D80).
pub(crate) fn agent_group(plan: &BuildPlan) -> Option<AgentGroup> {
    let spxi = declared(plan).filter(|spxi| spxi.robots_group)?;
    let own = spxi.agents.iter().map(String::as_str);
    let mut allow = vec![format!("/{INDEX_FILE}")];
    if spxi.packets {
        allow.extend([format!("/{PACKET_FILE}"), format!("/*/{PACKET_FILE}")]);
    }
    let agents = AGENTS.into_iter().chain(own).map(str::to_owned).collect();
    Some(AgentGroup { agents, allow })
}

/// Searches the declared SPXI statements for secrets, because these statements are published like
/// pages (D94). Returns the place and the kind of each secret.
pub(crate) fn find_secrets(plan: &BuildPlan) -> Vec<(String, String)> {
    let Some(spxi) = declared(plan) else { return Vec::new() };
    let acknowledged = &plan.privacy.acknowledged;
    let mut found = Vec::new();
    let mut look = |place: &str, text: &str| {
        for (kind, mark) in SensitiveData::find_in(text).secrets {
            let is_known = acknowledged.contains(&mark);
            if !is_known {
                found.push((place.to_owned(), format!("{kind}, mark {mark}")));
            }
        }
    };
    look(INDEX_FILE, &format!("{:?}", spxi.index));
    for declared in &spxi.entities {
        let name = declared.entity.name.as_deref().unwrap_or_default();
        look(name, &format!("{declared:?}"));
    }
    found
}

/// Returns the URLs of the public pages that describe entities.
pub(crate) fn public_pages(
    plan: &BuildPlan,
    ledger: &Path,
) -> Result<BTreeSet<String>, BuildError> {
    let mut public = BTreeSet::new();
    let Some(spxi) = declared(plan) else { return Ok(public) };
    let wanted: BTreeSet<String> =
        spxi.entities.iter().map(|declared| page_of(&declared.entity)).collect();
    let mut rows = LedgerReader::open(ledger)?;
    while let Some(row) = rows.next_row()? {
        if row.is_public() && wanted.contains(&row.url) {
            public.insert(row.url);
        }
    }
    Ok(public)
}

/// Returns the plan with the published URL of each entity's page, because `/a/index.html`, `/a/`,
/// `/a` and `/a.html` may name the same file. Returns `None` if no URL changes.
pub(crate) fn with_published_pages(plan: &BuildPlan) -> Result<Option<BuildPlan>, BuildError> {
    let entities = declared(plan).map_or(&[][..], |spxi| &spxi.entities);
    if entities.is_empty() || plan.source == SourceKind::Lines {
        return Ok(None);
    }
    let pages = plan.list_pages()?;
    let pages: BTreeSet<&str> = pages.iter().map(|page| page.url.as_str()).collect();
    let ids: BTreeSet<Option<String>> = entities.iter().map(|it| it.entity.id.clone()).collect();
    let mut resolved = plan.clone();
    let mut is_changed = false;
    for declared in resolved.spxi.iter_mut().flat_map(|spxi| &mut spxi.entities) {
        let page = page_of(&declared.entity);
        if pages.contains(page.as_str()) {
            continue;
        }
        let bare = page.trim_end_matches('/');
        let bare = bare.strip_suffix("/index.html").or(bare.strip_suffix(".html")).unwrap_or(bare);
        let forms = ["/", "", "/index.html", ".html"].map(|ending| format!("{bare}{ending}"));
        let Some(found) = forms.into_iter().find(|form| pages.contains(form.as_str())) else {
            continue;
        };
        let id = declared.entity.id.as_deref().unwrap_or_default();
        let fragment = id.find('#').and_then(|at| id.get(at..)).unwrap_or_default();
        let id = Some(format!("{found}{fragment}"));
        // Two entities must not have the same URL.
        if !ids.contains(&id) {
            declared.entity.id = id;
            is_changed = true;
        }
    }
    Ok(is_changed.then_some(resolved))
}

/// Returns the URL of an entity's page in the form in which the ledger stores it.
pub(crate) fn page_of(entity: &Entity) -> String {
    let page = without_fragment(entity.id.as_deref().unwrap_or_default());
    let parsed = rutter_page::PageUrl::parse(page);
    parsed.map_or_else(|_| page.to_owned(), |url| url.key().to_owned())
}
