//! The table's schema, for hosts that create the table themselves. On AWS, the template declares
//! the same schema.

use aws_sdk_dynamodb::{
    Client,
    error::{BuildError, DisplayErrorContext},
    operation::create_table::CreateTableError,
    types::{
        AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType,
        Projection, ProjectionType, ScalarAttributeType, TimeToLiveSpecification,
    },
};

use crate::{
    Error, Result,
    table::indexes::{Index, KeyNames},
};

/// Creates the table `name`, unless it exists.
pub async fn create_table(client: &Client, name: &str) -> Result<()> {
    let mut create = client
        .create_table()
        .table_name(name)
        .billing_mode(BillingMode::PayPerRequest)
        .set_key_schema(Some(key_schema(KeyNames::TABLE)?));
    let keys = [KeyNames::TABLE].into_iter().chain(Index::ALL.map(|index| index.keys));
    for attribute in keys.flat_map(|KeyNames { pk, sk }| [pk, sk]) {
        let definition = AttributeDefinition::builder()
            .attribute_name(attribute)
            .attribute_type(ScalarAttributeType::S);
        create = create.attribute_definitions(definition.build().map_err(build_error)?);
    }
    for Index { name, keys } in Index::ALL {
        let projection = Projection::builder().projection_type(ProjectionType::KeysOnly).build();
        let index = GlobalSecondaryIndex::builder()
            .index_name(name)
            .set_key_schema(Some(key_schema(keys)?))
            .projection(projection);
        create = create.global_secondary_indexes(index.build().map_err(build_error)?);
    }
    match create.send().await {
        Ok(_) => set_ttl(client, name).await,
        Err(error)
            if error
                .as_service_error()
                .is_some_and(CreateTableError::is_resource_in_use_exception) =>
        {
            Ok(())
        }
        Err(error) => Err(Error::Internal(format!(
            "the table could not be created: {}",
            DisplayErrorContext(error)
        ))),
    }
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
