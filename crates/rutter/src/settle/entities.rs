//! What the owner's words about entities mean: a layer of the plan.

use std::path::{Path, PathBuf};

use rutter_build::{Base, Declared, Spxi};
use rutter_page::PageUrl;
use rutter_spxi::{Entity, Index, Kernel, Party};

use crate::config::entity::{self, Stated};
use crate::config::{By, Config, FILE, Fault, Written};
use crate::settle::{Start, chosen, stated};

pub(super) fn entity_folder(from: &Start, written: &Written) -> PathBuf {
    let given = written.spxi_entities.clone();
    given.map_or_else(|| from.0.join(entity::FOLDER), |given| from.path(given))
}

/// Where files of entities go, whatever else the settings say.
pub(crate) fn folder_of_entities(config: &Config) -> PathBuf {
    let folder = config.file.as_deref().and_then(Path::parent);
    entity_folder(&Start(folder.map(Path::to_owned).unwrap_or_default()), &config.written)
}

/// What the owner says of entities, in the settings and in files.
pub(super) fn entities(
    from: &Start,
    written: &Written,
    remarks: &mut Vec<String>,
) -> anyhow::Result<(PathBuf, Vec<Stated>)> {
    let mut all = Vec::new();
    if let Some(given) = &written.entities {
        let by = &given.by;
        all.extend(given.value.iter().map(|one| Stated { by: by.clone(), ..one.clone() }));
    }
    let folder = entity_folder(from, written);
    if let Some(given) = written.spxi_entities.as_ref().filter(|_| !folder.is_dir()) {
        let what = format_args!("entities: {}: no such folder", folder.display());
        return Err(Fault::new(&given.by, what).into());
    }
    let found = entity::of_folder(&folder)?;
    for (file, empty) in found.drafts {
        let empty = empty.join(", ");
        remarks.push(format!("{}: is a draft and left out; empty: {empty}", file.display()));
    }
    all.extend(found.entities);
    Ok((folder, all))
}

/// The layer, where there is an entity or a word about one.
pub(super) fn spxi(
    written: &Written,
    entities: &[Stated],
    base: &Base,
) -> Result<Option<Spxi>, Fault> {
    let kernel = &written.spxi_kernel;
    let Some(kernel) = kernel else {
        return match entities.first() {
            None => Ok(None),
            Some(first) => {
                let what = format!("{}: an entity is declared, but `kernel` is missing", first.by);
                let hint =
                    format!("write `kernel` in [spxi] of {FILE}: what must remain of the site");
                Err(Fault::missing(what, hint))
            }
        };
    };
    entity::check_kernel(&kernel.value)
        .map_err(|what| Fault::new(&kernel.by, format_args!("kernel: {what}")))?;
    if entities.is_empty() {
        let what = format!("{}: a kernel is written, but no entity is declared", kernel.by);
        let hint =
            "write one with `rutter spxi new NAME`, or draft some with `rutter spxi suggest`";
        return Err(Fault::missing(what, hint));
    }
    let party = |kind: &str, name: Option<String>| {
        name.map(|name| Party { kind: Some(kind.to_owned()), name: Some(name), ..Party::default() })
    };
    let publisher = party("Organization", stated(written.spxi_publisher.as_ref()));
    let publisher =
        publisher.map(|it| Party { url: stated(written.spxi_publisher_url.as_ref()), ..it });
    let author = party("Person", stated(written.spxi_author.as_ref()));
    let author =
        author.map(|it| Party { identifier: stated(written.spxi_author_id.as_ref()), ..it });
    let index = Index {
        protocol_doi: stated(written.spxi_protocol_doi.as_ref()),
        publisher,
        author,
        license: stated(written.spxi_license.as_ref()),
        kernel: Some(Kernel {
            summary: Some(kernel.value.trim().to_owned()),
            specification: stated(written.spxi_kernel_doi.as_ref()),
        }),
        ..Index::default()
    };
    let places: Vec<By> = entities.iter().map(|one| one.by.clone()).collect();
    let entities: Vec<Declared> =
        entities.iter().map(|one| settled(one, base)).collect::<Result<_, _>>()?;
    check_names(&entities, &places, written)?;
    Ok(Some(Spxi {
        index,
        entities,
        surfaces: stated(written.spxi_surfaces.as_ref()).unwrap_or_default(),
        packets: chosen(written.spxi_packets.as_ref(), true),
        robots_group: chosen(written.spxi_robots_group.as_ref(), true),
        agents: stated(written.spxi_agents.as_ref()).unwrap_or_default(),
    }))
}

/// An entity with the address of its page.
fn settled(stated: &Stated, base: &Base) -> Result<Declared, Fault> {
    let page = match stated.page.strip_prefix('/') {
        Some(_) => format!("{}{}", base.origin(), stated.page),
        None => stated.page.clone(),
    };
    let (address, fragment) = page.split_once('#').unwrap_or((&page, ""));
    let url = PageUrl::parse(address).ok().map(|url| without_index(url.key()).to_owned());
    let Some(url) = url.filter(|url| url.starts_with(base.as_str())) else {
        let (name, page) = (stated.name(), &stated.page);
        let what = format_args!("entity `{name}`: page {page} is not below {}", base.as_str());
        return Err(Fault::new(&stated.by, what));
    };
    let id = if fragment.is_empty() { url } else { format!("{url}#{fragment}") };
    let entity = Entity { id: Some(id), ..stated.declared.entity.clone() };
    Ok(Declared { entity, ..stated.declared.clone() })
}

/// The address of a folder for that of its index file: a build gives
/// `/museum/index.html` the address `/museum/`.
fn without_index(url: &str) -> &str {
    let (folder, name) = url.rsplit_once('/').unwrap_or((url, ""));
    match name {
        "index.html" | "index.htm" | "index.xhtml" => url.get(..=folder.len()).unwrap_or(url),
        _ => url,
    }
}

/// Two entities need two addresses, and a surface protects entities there are.
fn check_names(entities: &[Declared], places: &[By], written: &Written) -> Result<(), Fault> {
    for (at, one) in entities.iter().enumerate() {
        let twin = entities.iter().take(at).find(|other| other.entity.id == one.entity.id);
        if let Some(twin) = twin {
            let name = |declared: &Declared| declared.entity.name.clone().unwrap_or_default();
            let by = |declared: &Declared| {
                let at = entities.iter().position(|it| std::ptr::eq(it, declared));
                at.and_then(|at| places.get(at)).map(ToString::to_string).unwrap_or_default()
            };
            let what = format!(
                "{} and {}: entities `{}` and `{}` have one page, {}",
                by(twin),
                by(one),
                name(twin),
                name(one),
                one.entity.id.as_deref().unwrap_or_default()
            );
            let hint = "tell them apart by fragments, as in /about/#founder";
            return Err(Fault::missing(what, hint));
        }
    }
    let Some(surfaces) = &written.spxi_surfaces else { return Ok(()) };
    for name in surfaces.value.iter().flat_map(|surface| &surface.protects) {
        let n = entities.iter().filter(|one| one.entity.name.as_ref() == Some(name)).count();
        let shown = rutter_finding::quoted(name);
        if n == 0 {
            let what = format_args!("surfaces: no entity is called {shown}");
            return Err(Fault::new(&surfaces.by, what));
        }
        if 1 < n {
            let what = format_args!("surfaces: {n} entities are called {shown}");
            return Err(Fault::new(&surfaces.by, what));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_file_of_a_folder_is_the_page_of_the_folder() {
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
