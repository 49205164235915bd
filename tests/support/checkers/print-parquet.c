/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print-parquet FILE: checks a Parquet file of kymo, and prints each row as a JSON object on its
 * own line, without nulls. Times are nanoseconds.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "reader/parquet/parquet-read.h"
#include "tests/support/fixtures/whole-file.h"

static struct json_object *value_of(enum parquet_type type, const struct parquet_value *v)
{
	double number;

	switch (type) {
	case PARQUET_TEXT:
		return json_object_new_string_len(v->text, (int)v->number);
	case PARQUET_BOOL:
		return json_object_new_boolean(v->number != 0);
	case PARQUET_DOUBLE:
		memcpy(&number, &v->number, sizeof(number));
		return json_object_new_double(number);
	case PARQUET_UINT:
		return json_object_new_uint64(v->number);
	default:
		return json_object_new_int64((int64_t)v->number);
	}
}

int main(int argc, char **argv)
{
	_cleanup_(parquet_read_deinit) struct parquet_read r = { 0 };
	_cleanup_free_ uint8_t *data = NULL;
	size_t n = 0;

	if (argc != 2 || !(data = whole_file(argv[1], &n)))
		return 2;
	if (parquet_read(&r, data, n) < 0) {
		fprintf(stderr, "%s: %s\n", argv[1], r.wrong ? r.wrong : "out of memory");
		return 1;
	}
	for (size_t i = 0; i < r.n_rows; i++) {
		struct json_object *row = json_object_new_object();

		for (size_t k = 0; k < r.n_columns; k++) {
			const struct parquet_value *v = &r.columns[k].values[i];

			if (v->present)
				json_object_object_add(row, r.columns[k].name,
						       value_of(r.columns[k].type, v));
		}
		puts(json_object_to_json_string_ext(row, JSON_C_TO_STRING_PLAIN |
								 JSON_C_TO_STRING_NOSLASHESCAPE));
		json_object_put(row);
	}
	return 0;
}
