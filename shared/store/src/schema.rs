//! The table's own shape, for hosts that make it themselves. On AWS the template says the same.

use aws_sdk_dynamodb::{
    Client,
    error::DisplayErrorContext,
    operation::create_table::CreateTableError,
    types::{
        AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection, ProjectionType, ScalarAttributeType,
        TimeToLiveSpecification,
    },
};

use crate::{Error, Result};

/// The indexes, with their keys. They project keys only.
pub const INDEXES: [(&str, &str, &str); 3] = [("GSI1", "due", "dueAt"), ("GSI2", "g2pk", "g2sk"), ("GSI3", "g3pk", "g3sk")];

/// Makes the table `name`, unless it is there.
pub async fn create_table(client: &Client, name: &str) -> Result<()> {
    let refused = |error: aws_sdk_dynamodb::error::BuildError| Error::Internal(error.to_string());
    let key = |attribute: &str, kind| KeySchemaElement::builder().attribute_name(attribute).key_type(kind).build().map_err(refused);
    let keys = |pk: &str, sk: &str| Ok::<_, Error>(vec![key(pk, KeyType::Hash)?, key(sk, KeyType::Range)?]);
    let mut create =
        client.create_table().table_name(name).billing_mode(BillingMode::PayPerRequest).set_key_schema(Some(keys("PK", "SK")?));
    for attribute in ["PK", "SK"].into_iter().chain(INDEXES.iter().flat_map(|(_, pk, sk)| [*pk, *sk])) {
        let definition = AttributeDefinition::builder().attribute_name(attribute).attribute_type(ScalarAttributeType::S);
        create = create.attribute_definitions(definition.build().map_err(refused)?);
    }
    for (index, pk, sk) in INDEXES {
        let projection = Projection::builder().projection_type(ProjectionType::KeysOnly).build();
        let index = GlobalSecondaryIndex::builder().index_name(index).set_key_schema(Some(keys(pk, sk)?)).projection(projection);
        create = create.global_secondary_indexes(index.build().map_err(refused)?);
    }
    match create.send().await {
        Ok(_) => {}
        Err(error) if error.as_service_error().is_some_and(CreateTableError::is_resource_in_use_exception) => return Ok(()),
        Err(error) => return Err(Error::Internal(format!("the table could not be made: {}", DisplayErrorContext(error)))),
    }
    let ttl = TimeToLiveSpecification::builder().attribute_name("expiresAt").enabled(true).build().map_err(refused)?;
    let ttl = client.update_time_to_live().table_name(name).time_to_live_specification(ttl).send().await;
    ttl.map_err(|error| Error::Internal(format!("the table's TTL could not be set: {}", DisplayErrorContext(error))))?;
    Ok(())
}
