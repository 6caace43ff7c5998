//! `rutter entities`: prints the entities that the sites of a replica describe.

use std::io::Write;

use rutter_finding::visible;
use rutter_spxi::{BasinState, CollisionRisk, Entity, VerificationLevel};
use rutter_store::prelude::*;
use serde_json::{Value, json};

use crate::exit::ExitStatus;
use crate::output::Output;
use crate::records::RecordArgs;
use crate::replica::{SiteArgs, StoreArgs};

/// Arguments of `rutter entities`.
#[derive(Debug, clap::Args)]
pub(crate) struct EntitiesArgs {
    /// Show only entities whose name or URL contains this text
    ///
    /// Upper and lower case letters count as equal. By default, all entities are shown.
    #[arg(value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    rows: RecordArgs,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    store: StoreArgs,
}

pub(crate) fn run(args: &EntitiesArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    execute(args, out).map_err(|error| args.store.named(error))
}

fn execute(args: &EntitiesArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let store = args.store.open()?;
    let name = args.name.as_ref().map(|name| name.to_lowercase());
    let mut n_shown = 0;
    let mut rows = args.rows.rows("entities");
    for publisher in args.site.publishers(&store)? {
        for entity in store.entities(publisher.id)? {
            if !name.as_deref().is_none_or(|name| is_called(&entity, name)) {
                continue;
            }
            n_shown += 1;
            if rows.is_text() {
                let gap = if n_shown == 1 { "" } else { "\n" };
                write!(out.data(), "{gap}")?;
                write_entity(out.data(), &entity)?;
            } else {
                rows.push(entity_json(&publisher.origin, &entity).to_string(), out)?;
            }
        }
    }
    rows.finish(out)?;
    if n_shown == 0 {
        out.say("no entities");
    }
    Ok(ExitStatus::Clean)
}

fn is_called(entity: &Entity, name: &str) -> bool {
    let own = entity.name.iter().chain(&entity.id);
    own.chain(&entity.alternate_names).any(|text| text.to_lowercase().contains(name))
}

fn entity_json(site: &str, entity: &Entity) -> Value {
    let collisions: Vec<Value> = entity
        .collisions
        .iter()
        .map(|collision| {
            json!({
                "with": collision.with,
                "attribute": collision.attribute,
                "risk": collision.risk.map(CollisionRisk::word),
            })
        })
        .collect();
    json!({
        "site": site,
        "url": entity.id,
        "type": entity.entity_type,
        "name": entity.name,
        "alternate_names": entity.alternate_names,
        "description": entity.description,
        "negative_tags": entity.negative_tags,
        "markers": entity.markers,
        "basin_state": entity.basin_state.map(BasinState::word),
        "bdr": entity.bdr,
        "verification": entity.verification.map(VerificationLevel::word),
        "packet_ref": entity.packet_ref,
        "collisions": collisions,
        "same_as": entity.same_as,
        "identifiers": entity.identifiers,
    })
}

fn write_entity(data: &mut dyn Write, entity: &Entity) -> std::io::Result<()> {
    let name = entity.name.as_deref().unwrap_or("(no name)");
    let kind = entity.entity_type.as_deref().map(|kind| format!(" ({})", visible(kind)));
    writeln!(data, "{}{}", visible(name), kind.unwrap_or_default())?;
    let mut put = |what: &str, text: &str| writeln!(data, "  {what:<9}{}", visible(text));
    if let Some(text) = &entity.id {
        put("page", text)?;
    }
    for text in &entity.alternate_names {
        put("also", text)?;
    }
    if let Some(text) = &entity.description {
        put("is", text)?;
    }
    for text in &entity.negative_tags {
        put("is not", text.strip_prefix("NOT ").unwrap_or(text))?;
    }
    for text in &entity.markers {
        put("marker", text)?;
    }
    for collision in &entity.collisions {
        let with = collision.with.as_deref().unwrap_or("another entity");
        let risk = collision.risk.map(|risk| format!(" (risk {})", risk.word()));
        let how = collision.attribute.as_deref().map(|text| format!(": {text}"));
        put("unlike", &format!("{with}{}{}", risk.unwrap_or_default(), how.unwrap_or_default()))?;
    }
    for text in &entity.same_as {
        put("same as", text)?;
    }
    Ok(())
}
