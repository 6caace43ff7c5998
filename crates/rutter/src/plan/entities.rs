//! Turns the settings about entities into the SPXI layer of the plan.
//!
//! Rejects entities without a kernel, a kernel without entities, pages outside the site, and two
//! entities with one page.

use std::path::{Path, PathBuf};

use rutter_build::{BaseUrl, EntityDeclaration, SpxiSettings};
use rutter_page::PageUrl;
use rutter_spxi::{Entity, Kernel, Party, SemanticIndex};

use crate::config::entity::{self, DeclaredEntity};
use crate::config::{Config, FILE, SettingSource, SettingsError, SiteSettings};
use crate::plan::{SettingsFolder, value_of, value_or};

pub(super) fn entity_folder(from: &SettingsFolder, settings: &SiteSettings) -> PathBuf {
    let given = settings.spxi.entities.clone();
    given.map_or_else(|| from.0.join(entity::FOLDER), |given| from.path(given))
}

/// Returns the folder of entity files.
pub(crate) fn entity_files_folder(config: &Config) -> PathBuf {
    let folder = config.file.as_deref().and_then(Path::parent);
    entity_folder(&SettingsFolder(folder.map(Path::to_owned).unwrap_or_default()), &config.settings)
}

/// Returns the folder of entity files, and the entities of the settings and of the files.
pub(super) fn entities(
    from: &SettingsFolder,
    settings: &SiteSettings,
    remarks: &mut Vec<String>,
) -> anyhow::Result<(PathBuf, Vec<DeclaredEntity>)> {
    let mut all = Vec::new();
    if let Some(given) = &settings.top.entities {
        let by = &given.by;
        all.extend(given.value.iter().map(|one| DeclaredEntity { by: by.clone(), ..one.clone() }));
    }
    let folder = entity_folder(from, settings);
    if let Some(given) = settings.spxi.entities.as_ref().filter(|_| !folder.is_dir()) {
        let what = format_args!("entities: folder {} does not exist", folder.display());
        return Err(SettingsError::new(&given.by, what).into());
    }
    let found = entity::files::from_folder(&folder)?;
    for (file, empty) in found.drafts {
        let empty = empty.join(", ");
        remarks.push(format!("skipping draft {}; empty: {empty}", file.display()));
    }
    all.extend(found.entities);
    Ok((folder, all))
}

/// Returns the SPXI layer, or `None` without a kernel and entities.
pub(super) fn spxi(
    settings: &SiteSettings,
    entities: &[DeclaredEntity],
    base: &BaseUrl,
) -> Result<Option<SpxiSettings>, SettingsError> {
    let kernel = &settings.spxi.kernel;
    let Some(kernel) = kernel else {
        return match entities.first() {
            None => Ok(None),
            Some(first) => {
                let what = format!("{}: an entity is declared, but `kernel` is missing", first.by);
                let hint = format!("set `kernel` in [spxi] of {FILE}, a summary of the site");
                Err(SettingsError::missing(what, hint))
            }
        };
    };
    entity::check_kernel(&kernel.value)
        .map_err(|what| SettingsError::new(&kernel.by, format_args!("kernel: {what}")))?;
    if entities.is_empty() {
        let what = format!("{}: `kernel` is set, but no entity is declared", kernel.by);
        let hint =
            "create one with `rutter spxi new NAME`, or draft some with `rutter spxi suggest`";
        return Err(SettingsError::missing(what, hint));
    }
    let party = |kind: &str, name: Option<String>| {
        name.map(|name| Party { kind: Some(kind.to_owned()), name: Some(name), ..Party::default() })
    };
    let publisher = party("Organization", value_of(settings.spxi.publisher.as_ref()));
    let publisher =
        publisher.map(|it| Party { url: value_of(settings.spxi.publisher_url.as_ref()), ..it });
    let author = party("Person", value_of(settings.spxi.author.as_ref()));
    let author =
        author.map(|it| Party { identifier: value_of(settings.spxi.author_id.as_ref()), ..it });
    let index = SemanticIndex {
        protocol_doi: value_of(settings.spxi.protocol_doi.as_ref()),
        publisher,
        author,
        license: value_of(settings.spxi.license.as_ref()),
        kernel: Some(Kernel {
            summary: Some(kernel.value.trim().to_owned()),
            specification: value_of(settings.spxi.kernel_doi.as_ref()),
        }),
        ..SemanticIndex::default()
    };
    let places: Vec<SettingSource> = entities.iter().map(|one| one.by.clone()).collect();
    let entities: Vec<EntityDeclaration> =
        entities.iter().map(|one| settled(one, base)).collect::<Result<_, _>>()?;
    check_names(&entities, &places, settings)?;
    Ok(Some(SpxiSettings {
        index,
        entities,
        surfaces: value_of(settings.spxi.surfaces.as_ref()).unwrap_or_default(),
        packets: value_or(settings.spxi.packets.as_ref(), true),
        robots_group: value_or(settings.spxi.robots_group.as_ref(), true),
        agents: value_of(settings.spxi.agents.as_ref()).unwrap_or_default(),
    }))
}

/// Returns an entity with the URL of its page as its id.
fn settled(stated: &DeclaredEntity, base: &BaseUrl) -> Result<EntityDeclaration, SettingsError> {
    let page = match stated.page.strip_prefix('/') {
        Some(_) => format!("{}{}", base.origin(), stated.page),
        None => stated.page.clone(),
    };
    let (address, fragment) = page.split_once('#').unwrap_or((&page, ""));
    let url = PageUrl::parse(address).ok().map(|url| without_index(url.key()).to_owned());
    let Some(url) = url.filter(|url| url.starts_with(base.as_str())) else {
        let (name, page) = (stated.name(), &stated.page);
        let what = format_args!("entity `{name}`: page {page} is not below {}", base.as_str());
        return Err(SettingsError::new(&stated.by, what));
    };
    let id = if fragment.is_empty() { url } else { format!("{url}#{fragment}") };
    let entity = Entity { id: Some(id), ..stated.declared.entity.clone() };
    Ok(EntityDeclaration { entity, ..stated.declared.clone() })
}

/// Returns the URL of a folder for the URL of its index file, in the same way as a build:
/// `/museum/` for `/museum/index.html`.
fn without_index(url: &str) -> &str {
    let (folder, name) = url.rsplit_once('/').unwrap_or((url, ""));
    match name {
        "index.html" | "index.htm" | "index.xhtml" => url.get(..=folder.len()).unwrap_or(url),
        _ => url,
    }
}

/// Checks that no two entities have one page, and that surfaces name existing entities.
fn check_names(
    entities: &[EntityDeclaration],
    places: &[SettingSource],
    settings: &SiteSettings,
) -> Result<(), SettingsError> {
    for (at, one) in entities.iter().enumerate() {
        let twin = entities.iter().take(at).find(|other| other.entity.id == one.entity.id);
        if let Some(twin) = twin {
            let name =
                |declared: &EntityDeclaration| declared.entity.name.clone().unwrap_or_default();
            let by = |declared: &EntityDeclaration| {
                let at = entities.iter().position(|it| std::ptr::eq(it, declared));
                at.and_then(|at| places.get(at)).map(ToString::to_string).unwrap_or_default()
            };
            let what = format!(
                "{} and {}: entities `{}` and `{}` have the same page {}",
                by(twin),
                by(one),
                name(twin),
                name(one),
                one.entity.id.as_deref().unwrap_or_default()
            );
            let hint = "distinguish them by fragments, such as /about/#founder";
            return Err(SettingsError::missing(what, hint));
        }
    }
    let Some(surfaces) = &settings.spxi.surfaces else { return Ok(()) };
    for name in surfaces.value.iter().flat_map(|surface| &surface.protects) {
        let n = entities.iter().filter(|one| one.entity.name.as_ref() == Some(name)).count();
        let shown = rutter_finding::quoted(name);
        if n == 0 {
            let what = format_args!("surfaces: no entity has the name {shown}");
            return Err(SettingsError::new(&surfaces.by, what));
        }
        if 1 < n {
            let what = format_args!("surfaces: {n} entities have the name {shown}");
            return Err(SettingsError::new(&surfaces.by, what));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_file_has_the_url_of_its_folder() {
        for (url, page) in [
            ("https://h.example/index.html", "https://h.example/"),
            ("https://h.example/museum/index.htm", "https://h.example/museum/"),
            ("https://h.example/museum/", "https://h.example/museum/"),
            ("https://h.example/myindex.html", "https://h.example/myindex.html"),
            ("https://h.example/index.html/", "https://h.example/index.html/"),
        ] {
            assert_eq!(without_index(url), page);
        }
    }
}
