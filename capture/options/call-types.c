/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/options/call-types.h"

#include <string.h>

#include "base/cleanup.h"
#include "model/calls/call-sets.h"

/* If several rows have the same form and width, call_type_name() returns the first name. */
static const struct type_row {
	const char *name;
	enum call_form form;
	uint8_t bits;
	const char *set; /* the set of names that the type has by default; NULL = no set */
} types[] = {
	{ "void", CALL_VOID, 64 },
	{ "int", CALL_INT, 32 },
	{ "int8", CALL_INT, 8 },
	{ "int16", CALL_INT, 16 },
	{ "int32", CALL_INT, 32 },
	{ "int64", CALL_INT, 64 },
	{ "long", CALL_INT, 64 },
	{ "ssize_t", CALL_INT, 64 },
	{ "uint", CALL_UINT, 32 },
	{ "uint8", CALL_UINT, 8 },
	{ "uint16", CALL_UINT, 16 },
	{ "uint32", CALL_UINT, 32 },
	{ "uint64", CALL_UINT, 64 },
	{ "ulong", CALL_UINT, 64 },
	{ "size_t", CALL_UINT, 64 },
	{ "hex", CALL_HEX, 64 },
	{ "hex32", CALL_HEX, 32 },
	{ "bool", CALL_BOOL, 8 },
	{ "fd", CALL_FD, 32 },
	{ "ptr", CALL_PTR, 64 },
	{ "str", CALL_STR, 64 },
	{ "buf", CALL_BUF, 64 },
	{ "bytes", CALL_BUF, 64 },
	{ "struct", CALL_STRUCT, 64 },
	{ "errno", CALL_ERRNO, 32 },
	{ "errno64", CALL_ERRNO, 64 },
	{ "dirfd", CALL_FD, 32, "enum:dirfd" },
	{ "double", CALL_FLOAT, 64 },
	{ "float", CALL_FLOAT, 32 },
	{ "slice", CALL_SLICE, 64 },
	{ "view", CALL_VIEW, 64 },
	{ "int128", CALL_INT128, 64 },
	{ "uint128", CALL_UINT128, 64 },
};

static const struct reason_row {
	const char *name, *text;
} reasons[CALL_REASON_MAX] = {
	[CALL_REASON_NONE] = { "", "" },
	[CALL_REASON_VECTOR] = { "vector", "in a vector register" },
	[CALL_REASON_OPTIMISED] = { "optimised", "optimised out" },
	[CALL_REASON_COMPLEX] = { "complex", "its location is too complex" },
	[CALL_REASON_NOT_KEPT] = { "lost", "its register is not kept" },
	[CALL_REASON_NO_NUMBER] = { "whole", "neither a number nor a pointer" },
	[CALL_REASON_UNREADABLE] = { "unreadable", "its memory cannot be read" },
	[CALL_REASON_WIDE] = { "wide", "larger than a register" },
};

static bool call_types_same(const char *name, const char *word, size_t n)
{
	return strlen(name) == n && memcmp(name, word, n) == 0;
}

bool call_type_find(const char *word, size_t n, struct call_type *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (!call_types_same(types[i].name, word, n))
			continue;
		*ret = (struct call_type){ .form = types[i].form,
					   .bits = types[i].bits,
					   .in_hex = call_types_same("bytes", word, n) };
		if (types[i].set)
			ret->set = (uint16_t)call_set_find(types[i].set, strlen(types[i].set));
		return true;
	}
	return false;
}

bool call_type_is_memory(const struct call_type *type)
{
	return type->form == CALL_STR || type->form == CALL_BUF || type->form == CALL_STRUCT;
}

bool call_type_is_wide(const struct call_type *type)
{
	return type->form >= CALL_SLICE && type->form < CALL_FORM_MAX;
}

bool call_type_is_of_result(const struct call_type *type)
{
	return type->form == CALL_VOID || type->form == CALL_ERRNO || call_type_is_wide(type);
}

bool call_type_is_signed(const struct call_type *type)
{
	return type->form == CALL_INT || type->form == CALL_FD || type->form == CALL_ERRNO;
}

const char *call_type_name(const struct call_type *type)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i].form == type->form && types[i].bits == type->bits)
			return types[i].name;
	return "";
}

uint64_t call_type_value(const struct call_type *type, uint64_t value)
{
	unsigned unused = 64 - type->bits;

	if (call_type_is_signed(type))
		return (uint64_t)((int64_t)(value << unused) >> unused);
	return value << unused >> unused;
}

enum call_reason call_reason_find(const char *name, size_t n)
{
	for (uint8_t i = 1; i < CALL_REASON_MAX; i++)
		if (call_types_same(reasons[i].name, name, n))
			return (enum call_reason)i;
	return CALL_REASON_NONE;
}

const char *call_reason_name(enum call_reason reason)
{
	return reasons[reason].name;
}

const char *call_reason_text(enum call_reason reason)
{
	return reasons[reason].text;
}
