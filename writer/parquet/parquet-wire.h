/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The numbers of the Parquet format that kymo uses, as in parquet.thrift of Apache Parquet.
 */
#pragma once

#define PARQUET_MAGIC "PAR1"

enum parquet_physical {
	PARQUET_PHYSICAL_BOOLEAN = 0,
	PARQUET_PHYSICAL_INT64 = 2,
	PARQUET_PHYSICAL_DOUBLE = 5,
	PARQUET_PHYSICAL_BYTES = 6,
};

enum parquet_repetition {
	PARQUET_REQUIRED = 0,
	PARQUET_OPTIONAL = 1,
};

enum parquet_converted {
	PARQUET_CONVERTED_UTF8 = 0,
	PARQUET_CONVERTED_UINT_64 = 14,
};

/* The members of the union LogicalType, and of its TimeUnit. */
enum parquet_logical {
	PARQUET_LOGICAL_STRING = 1,
	PARQUET_LOGICAL_TIMESTAMP = 8,
	PARQUET_LOGICAL_INTEGER = 10,
	PARQUET_UNIT_NANOS = 3,
};

enum parquet_encoding {
	PARQUET_ENCODING_PLAIN = 0,
	PARQUET_ENCODING_RLE = 3,
	PARQUET_ENCODING_DELTA = 5, /* DELTA_BINARY_PACKED */
	PARQUET_ENCODING_DICTIONARY = 8,
};

enum parquet_page {
	PARQUET_PAGE_DATA = 0,
	PARQUET_PAGE_DICTIONARY = 2,
};

enum { PARQUET_CODEC_ZSTD = 6 };

/* DELTA_BINARY_PACKED: values in a block, and miniblocks in a block. */
enum {
	PARQUET_DELTA_BLOCK = 128,
	PARQUET_DELTA_MINIBLOCKS = 4,
	PARQUET_DELTA_MINIBLOCK = PARQUET_DELTA_BLOCK / PARQUET_DELTA_MINIBLOCKS,
};

/* Types of the Thrift compact protocol. */
enum thrift_type {
	THRIFT_STOP = 0,
	THRIFT_TRUE = 1,
	THRIFT_FALSE = 2,
	THRIFT_I8 = 3,
	THRIFT_I16 = 4,
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_DOUBLE = 7,
	THRIFT_BINARY = 8,
	THRIFT_LIST = 9,
	THRIFT_SET = 10,
	THRIFT_MAP = 11,
	THRIFT_STRUCT = 12,
};
