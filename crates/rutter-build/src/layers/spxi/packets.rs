//! Writes the packets of entities beside their pages.

use std::path::Path;

use rutter_site::LedgerRow;
use rutter_spxi::{Entity, INDEX_FILE, MetadataPacket, packet_path};

use super::{EntitiesByPage, entities_by_page};
use crate::entities::declared;
use crate::error::BuildError;
use crate::layers::{Entry, Layer, LayerInput, LayerOutput, OpenLayer, PageEntry};
use crate::plan::{EntityDeclaration, SpxiSettings};
use crate::staging::PublishOrder;
use crate::{address, rules};

/// Writer of the packets.
struct PacketLayer<'p> {
    input: &'p LayerInput<'p>,
    spxi: &'p SpxiSettings,
    /// URL of the SPXI index.
    address: String,
    pages: EntitiesByPage,
}

/// Opens the layer; `None` if no entity is declared or the layer is off.
pub(crate) fn open<'p>(input: &'p LayerInput<'p>) -> Option<OpenLayer<'p>> {
    let spxi = declared(input.plan)?;
    let address = input.plan.base.join(INDEX_FILE);
    Some(Box::new(PacketLayer { input, spxi, address, pages: entities_by_page(spxi) }))
}

impl Layer for PacketLayer<'_> {
    fn entry(
        &mut self,
        entry: &mut Entry<'_>,
        out: &mut LayerOutput<'_>,
    ) -> Result<(), BuildError> {
        let Entry::Page(page) = entry else { return Ok(()) };
        if page.row.is_public()
            && let Some(entities) = self.pages.remove(&page.row.url)
        {
            page.links.has_entity = true;
            page.links.packet = self.packet(page, &entities, out)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: &mut LayerOutput<'_>) -> Result<(), BuildError> {
        Ok(())
    }
}

impl PacketLayer<'_> {
    /// Writes the packet of a page and returns the path of the packet.
    fn packet(
        &self,
        PageEntry { row, path, .. }: &PageEntry<'_>,
        entities: &[usize],
        out: &mut LayerOutput<'_>,
    ) -> Result<Option<String>, BuildError> {
        let declared = entities.iter().filter_map(|at| self.spxi.entities.get(*at));
        let about: Vec<&EntityDeclaration> = declared.filter(|one| one.has_packet).collect();
        if !self.spxi.packets || about.is_empty() {
            return Ok(None);
        }
        let plan = self.input.plan;
        let Some((file, address)) = self.place(row, *path) else { return Ok(None) };
        // The folder of the packet cannot be created if a file has its name.
        let in_the_way = Path::new(&file)
            .ancestors()
            .skip(1)
            .filter(|folder| !folder.as_os_str().is_empty())
            .find(|folder| {
                plan.site.join(folder).is_file() || plan.target().join(folder).is_file()
            });
        if let Some(other) = in_the_way {
            out.report(&file, &rules::FOREIGN_FILE, format!("{} is a file", other.display()));
            return Ok(None);
        }
        if !out.is_free(self.input, &file) {
            return Ok(None);
        }
        let entity = |one: &&EntityDeclaration| {
            let packet_ref = one.entity.packet_ref.clone().or_else(|| Some(address.clone()));
            Entity { packet_ref, ..one.entity.clone() }
        };
        let packet = MetadataPacket {
            id: Some(address.clone()),
            page: Some(row.url.clone()),
            index: Some(self.address.clone()),
            modified: Some(row.modified.into()),
            about: about.iter().map(entity).collect(),
            kernel: about.iter().find_map(|one| one.kernel.clone()),
            questions: about.iter().flat_map(|one| one.questions.iter().cloned()).collect(),
        };
        let is_put = out.put(PublishOrder::Deltas, &file, packet.to_json().as_bytes())?;
        Ok(is_put.then_some(file))
    }

    /// Returns the path and the URL of the packet of a page; `None` if the page can have none.
    fn place(&self, row: &LedgerRow, path: Option<&str>) -> Option<(String, String)> {
        let base = &self.input.plan.base;
        let derived = row.url.get(base.origin().len()..).and_then(packet_path);
        let address = derived.map(|path| format!("{}{path}", base.origin()))?;
        // If the URL has percent-encoded characters, the path of the packet follows from the file
        // of the page.
        let of_file = || {
            packet_path(&format!("/{}", path?)).map(|file| file.trim_start_matches('/').to_owned())
        };
        let file = address::path_inside(base, &address).map(str::to_owned).or_else(of_file);
        let is_there = |file: &String| address::file_address(base, file) == address;
        Some((file.filter(is_there)?, address))
    }
}
