//! The table's schema, for hosts that create the table themselves. On AWS, the template declares
//! the same schema.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::{
    Client,
    error::{BuildError, DisplayErrorContext},
    operation::create_table::CreateTableError,
    types::{
        AttributeDefinition, BillingMode, CreateGlobalSecondaryIndexAction, GlobalSecondaryIndex,
        GlobalSecondaryIndexUpdate, KeySchemaElement, KeyType, Projection, ProjectionType,
        ScalarAttributeType, TableDescription, TimeToLiveSpecification,
    },
};

use crate::{
    Error, Result,
    table::indexes::{Index, KeyNames},
};

/// Creates the table `name`, unless it exists. A table of an earlier version gets the indexes that
/// it lacks.
pub async fn create_table(client: &Client, name: &str) -> Result<()> {
    let mut create = client
        .create_table()
        .table_name(name)
        .billing_mode(BillingMode::PayPerRequest)
        .set_key_schema(Some(key_schema(KeyNames::TABLE)?));
    for definition in attributes()? {
        create = create.attribute_definitions(definition);
    }
    for Index { name, keys } in Index::ALL {
        let index = GlobalSecondaryIndex::builder()
            .index_name(name)
            .set_key_schema(Some(key_schema(keys)?))
            .projection(keys_only());
        create = create.global_secondary_indexes(index.build().map_err(build_error)?);
    }
    match create.send().await {
        Ok(_) => set_ttl(client, name).await,
        Err(error)
            if error
                .as_service_error()
                .is_some_and(CreateTableError::is_resource_in_use_exception) =>
        {
            add_missing_indexes(client, name).await
        }
        Err(error) => Err(Error::Internal(format!(
            "the table could not be created: {}",
            DisplayErrorContext(error)
        ))),
    }
}

async fn add_missing_indexes(client: &Client, name: &str) -> Result<()> {
    let failed = |error: String| Error::Internal(format!("the table has no new index: {error}"));
    let described = client.describe_table().table_name(name).send().await;
    let described = described.map_err(|error| failed(DisplayErrorContext(error).to_string()))?;
    let has = |index: &Index| {
        let indexes = described.table().map(TableDescription::global_secondary_indexes);
        indexes.unwrap_or_default().iter().any(|it| it.index_name() == Some(index.name))
    };
    for index in Index::ALL.iter().filter(|index| !has(index)) {
        let create = CreateGlobalSecondaryIndexAction::builder()
            .index_name(index.name)
            .set_key_schema(Some(key_schema(index.keys)?))
            .projection(keys_only())
            .build()
            .map_err(build_error)?;
        let added = client
            .update_table()
            .table_name(name)
            .set_attribute_definitions(Some(attributes()?))
            .global_secondary_index_updates(
                GlobalSecondaryIndexUpdate::builder().create(create).build(),
            )
            .send()
            .await;
        added.map_err(|error| failed(DisplayErrorContext(error).to_string()))?;
    }
    Ok(())
}

/// The definitions of all key attributes, each once.
fn attributes() -> Result<Vec<AttributeDefinition>> {
    let keys = [KeyNames::TABLE].into_iter().chain(Index::ALL.map(|index| index.keys));
    let names: BTreeSet<_> = keys.flat_map(|KeyNames { pk, sk }| [pk, sk]).collect();
    let definition = |name| {
        AttributeDefinition::builder()
            .attribute_name(name)
            .attribute_type(ScalarAttributeType::S)
            .build()
            .map_err(build_error)
    };
    names.into_iter().map(definition).collect()
}

fn keys_only() -> Projection {
    Projection::builder().projection_type(ProjectionType::KeysOnly).build()
}

async fn set_ttl(client: &Client, name: &str) -> Result<()> {
    let ttl = TimeToLiveSpecification::builder()
        .attribute_name("expiresAt")
        .enabled(true)
        .build()
        .map_err(build_error)?;
    let set =
        client.update_time_to_live().table_name(name).time_to_live_specification(ttl).send().await;
    set.map_err(|error| {
        Error::Internal(format!("the table's TTL could not be set: {}", DisplayErrorContext(error)))
    })?;
    Ok(())
}

fn key_schema(keys: KeyNames) -> Result<Vec<KeySchemaElement>> {
    let element = |attribute: &str, kind| {
        KeySchemaElement::builder()
            .attribute_name(attribute)
            .key_type(kind)
            .build()
            .map_err(build_error)
    };
    Ok(vec![element(keys.pk, KeyType::Hash)?, element(keys.sk, KeyType::Range)?])
}

fn build_error(error: BuildError) -> Error {
    Error::Internal(error.to_string())
}
