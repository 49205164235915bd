/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON output. An object is one list of its members, in the order of the output.
 *
 *     JSON_OBJECT(JSON("id", t->pid), JSON_IF(t->exited, "code", t->code), JSON_OF(t, name),
 *                 JSON("cpus", JSON_LIST(c, t->cpus, t->n_cpus, JSON_OBJECT(JSON_OF(c, busy_ns)))))
 *
 * If there is no memory, these functions exit, so callers need not check for errors.
 */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"

struct json_member {
	const char *key; /* NULL = end of the list; "" = left out */
	struct json_object *value;
};

/* A value by its C type: true or false, a number (a double has six significant digits), text (NULL
 * becomes null), or an object of json-c. */
#define JSON_VALUE(value)                                                                          \
	_Generic((value),                                                                          \
		bool: json_boolean, \
		int: json_i64,                                                                     \
		long: json_i64, \
		long long: json_i64, \
		double: json_double,                                                               \
		char *: json_string,                                                               \
		const char *: json_string,                                                         \
		struct json_object *: json_same,                                                   \
		default: json_u64)(value)

/* A member. JSON_IF omits the member, and does not evaluate its value, unless CONDITION holds. */
#define JSON(key, value)               ((struct json_member){ key, JSON_VALUE(value) })
#define JSON_IF(condition, key, value) ((condition) ? JSON(key, value) : (struct json_member){ "" })

/* Members with the names and values of members of the struct at P, at most 16. */
#define JSON_OF(p, ...) JSON_EXPAND(JSON_OF_NEXT(p, __VA_ARGS__))
#define JSON_OF_NEXT(p, member, ...)                                                               \
	JSON(#member, (p)->member) __VA_OPT__(, JSON_OF_AGAIN JSON_NO_ARGS(p, __VA_ARGS__))
#define JSON_OF_AGAIN()  JSON_OF_NEXT
#define JSON_NO_ARGS     ()
#define JSON_EXPAND(...) JSON_TWICE(JSON_TWICE(JSON_TWICE(JSON_TWICE(JSON_TWICE(__VA_ARGS__)))))
#define JSON_TWICE(...)  JSON_ONCE(JSON_ONCE(__VA_ARGS__))
#define JSON_ONCE(...)   __VA_ARGS__

/* JSON_ADD adds the members to TO; JSON_OBJECT makes an object of them. */
#define JSON_ADD(to, ...) json_add_members(to, (struct json_member[]){ __VA_ARGS__, { NULL } })
#define JSON_OBJECT(...)  JSON_ADD(json_object_new_object(), __VA_ARGS__)

/* An array with a VALUE for each of the N elements at FIRST. VALUE can use the pointer ITEM to the
 * element. A null is omitted. */
#define JSON_LIST(item, first, n, value)                                                           \
	({                                                                                         \
		struct json_object *item##_list_ = json_object_new_array();                        \
		size_t item##_left_ = (n);                                                         \
		for (typeof(&*(first)) item = (first); item##_left_ > 0; item++, item##_left_--)   \
			json_append_item(item##_list_, JSON_VALUE(value));                         \
		item##_list_;                                                                      \
	})

/*
 * An object with a MEMBER for each of the N elements at FIRST, which can use ITEM like in
 * JSON_LIST.
 */
#define JSON_MAP(item, first, n, ...)                                                              \
	({                                                                                         \
		struct json_object *item##_map_ = json_object_new_object();                        \
		size_t item##_left_ = (n);                                                         \
		for (typeof(&*(first)) item = (first); item##_left_ > 0; item++, item##_left_--)   \
			JSON_ADD(item##_map_, __VA_ARGS__);                                        \
		item##_map_;                                                                       \
	})

struct json_object *json_boolean(bool value);
struct json_object *json_i64(int64_t value);
struct json_object *json_u64(uint64_t value);
struct json_object *json_double(double value);
struct json_object *json_string(const char *value);
struct json_object *json_same(struct json_object *value);

/*
 * Returns a number with all its digits. JSON has no NaN and no infinities, so these become the
 * texts "nan" and "inf".
 */
struct json_object *json_real(double value);

/* Adds MEMBERS to TO. Returns TO. */
struct json_object *json_add_members(struct json_object *to, const struct json_member *members);

/* Appends ITEM, unless it is NULL. */
void json_append_item(struct json_object *list, struct json_object *item);

/* N bytes of untrusted text as JSON: invalid UTF-8 becomes U+FFFD; NULL becomes null.
 * json_from_text() takes a string. */
struct json_object *json_from_bytes(const char *p, size_t n);
struct json_object *json_from_text(const char *text);

/* N bytes as hexadecimal digits. */
struct json_object *json_from_hex(const uint8_t *p, size_t n);

/* Appends VALUE, with FLAGS of json-c, on one or several lines, without control characters for a
 * terminal. Returns 0 or -ENOMEM. */
int json_append(struct outbuf *to, struct json_object *value, int flags);

/* Prints VALUE like json_append(). */
void json_print_value(struct json_object *value, int flags);

/* Prints ROOT, on one line or indented, and releases it. */
void json_print_line(struct json_object *root);
void json_print_pretty(struct json_object *root);
