//! Types of Arrow as types of DuckDB: those that its reader of Parquet files finds in the files of a conversion.

use std::sync::Arc;

use arrow_schema::{DataType, Field, TimeUnit};
use base::error::{Error, Result};
use quack_rs::types::{LogicalType, TypeId};

/// The type of a column.
///
/// # Errors
/// [`ErrorKind::Internal`](base::error::ErrorKind::Internal) for a type that no column has.
pub(crate) fn logical_type(data_type: &DataType) -> Result<LogicalType> {
    let plain = match data_type {
        DataType::Boolean => TypeId::Boolean,
        DataType::Int8 => TypeId::TinyInt,
        DataType::Int16 => TypeId::SmallInt,
        DataType::Int32 => TypeId::Integer,
        DataType::Int64 => TypeId::BigInt,
        DataType::UInt8 => TypeId::UTinyInt,
        DataType::UInt16 => TypeId::USmallInt,
        DataType::UInt32 => TypeId::UInteger,
        DataType::UInt64 => TypeId::UBigInt,
        DataType::Float32 => TypeId::Float,
        DataType::Float64 => TypeId::Double,
        DataType::Utf8 => TypeId::Varchar,
        DataType::Binary => TypeId::Blob,
        DataType::Timestamp(TimeUnit::Microsecond, None) => TypeId::Timestamp,
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => TypeId::TimestampTz,
        DataType::List(element) => {
            let element = logical_type(element.data_type())?;
            return LogicalType::try_list_from_logical(&element).map_err(failed);
        }
        DataType::Struct(fields) => {
            let members = fields.iter().map(member).collect::<Result<Vec<_>>>()?;
            return LogicalType::try_struct_type_from_logical(&members).map_err(failed);
        }
        other => return Err(Error::bug(format!("a column of {other} has no type in DuckDB"))),
    };
    LogicalType::try_new(plain).map_err(failed)
}

fn member(field: &Arc<Field>) -> Result<(&str, LogicalType)> {
    Ok((field.name().as_str(), logical_type(field.data_type())?))
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::bug("DuckDB has no such type").caused_by(error)
}
