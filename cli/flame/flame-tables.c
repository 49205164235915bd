/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/flame/flame-tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/protobuf.h"

void flame_tables_init(struct flame_tables *t, unsigned text_field)
{
	*t = (struct flame_tables){ .text_field = text_field, .n_texts = 1 };
	protobuf_add_text(&t->text_list, text_field, "");
}

void flame_tables_deinit(struct flame_tables *t)
{
	text_set_deinit(&t->texts);
	table_deinit(&t->text_numbers);
	table_deinit(&t->function_numbers);
	table_deinit(&t->mapping_numbers);
	outbuf_deinit(&t->text_list);
	free(t->mappings);
	free(t->functions);
}

int flame_tables_finish(const struct flame_tables *t, struct outbuf *out)
{
	outbuf_append(out, t->text_list.data, t->text_list.size);
	return t->error ?: t->text_list.error ?: out->error;
}

void flame_tables_fail(struct flame_tables *t, int error)
{
	if (t->error == 0)
		t->error = error;
}

uint64_t flame_tables_text(struct flame_tables *t, const char *text)
{
	const char *kept = text_set_keep(&t->texts, text);
	uint64_t number;

	if (!kept) {
		flame_tables_fail(t, -ENOMEM);
		return 0;
	}
	if (!*kept)
		return 0;
	number = (uint64_t)(uintptr_t)table_get(&t->text_numbers, (uintptr_t)kept);
	if (number != 0)
		return number - 1;
	protobuf_add_text(&t->text_list, t->text_field, kept);
	number = t->n_texts++;
	if (table_set(&t->text_numbers, (uintptr_t)kept, (void *)(uintptr_t)(number + 1)) < 0)
		flame_tables_fail(t, -ENOMEM);
	return number;
}

uint64_t flame_tables_mapping(struct flame_tables *t, const struct profile_place *place)
{
	uint64_t id;

	if (!place->mapping)
		return 0;
	id = (uint64_t)(uintptr_t)table_get(&t->mapping_numbers, place->mapping->number);
	if (id != 0)
		return id;
	if (GROW(t->mappings, t->room_mappings, t->n_mappings + 1) < 0) {
		flame_tables_fail(t, -ENOMEM);
		return 0;
	}
	t->mappings[t->n_mappings++] = (struct flame_mapping){ place->mapping, true, true, true };
	id = t->n_mappings;
	if (table_set(&t->mapping_numbers, place->mapping->number, (void *)(uintptr_t)id) < 0)
		flame_tables_fail(t, -ENOMEM);
	return id;
}

uint64_t flame_tables_function(struct flame_tables *t, const struct frame *frame)
{
	const struct flame_function wanted = { flame_tables_text(t, frame->function),
					       flame_tables_text(t, frame->source) };
	uint64_t key[] = { wanted.name, wanted.file, 0 }, hash;
	size_t id;

	for (;; key[2]++) {
		hash = table_hash(key, sizeof(key));
		id = (size_t)(uintptr_t)table_get(&t->function_numbers, hash);
		if (id == 0)
			break;
		if (t->functions[id - 1].name == wanted.name &&
		    t->functions[id - 1].file == wanted.file)
			return id;
	}
	if (GROW(t->functions, t->room_functions, t->n_functions + 1) < 0) {
		flame_tables_fail(t, -ENOMEM);
		return 0;
	}
	t->functions[t->n_functions++] = wanted;
	if (table_set(&t->function_numbers, hash, (void *)(uintptr_t)t->n_functions) < 0)
		flame_tables_fail(t, -ENOMEM);
	return t->n_functions;
}

uint64_t flame_tables_file_name(struct flame_tables *t, const struct mapping *map)
{
	_cleanup_free_ char *path = strndup(map->path, profile_names_path_length(map));

	if (path)
		return flame_tables_text(t, path);
	flame_tables_fail(t, -ENOMEM);
	return 0;
}

const char *flame_tables_build_id(struct flame_tables *t, const struct mapping *map)
{
	_cleanup_free_ char *digits = calloc(1, 2 * (size_t)map->build_id_size + 1);
	const char *kept;

	for (uint32_t i = 0; digits && i < map->build_id_size; i++)
		snprintf(digits + 2 * i, 3, "%02x", map->build_id[i]);
	kept = digits ? text_set_keep(&t->texts, digits) : NULL;
	if (!kept)
		flame_tables_fail(t, -ENOMEM);
	return kept ?: "";
}

uint64_t flame_tables_address(const struct profile_place *place)
{
	if (place->is_made_up)
		return 0;
	return place->address - (place->returns && place->address);
}
