/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the verbs' --json needs beyond json-c. Running out of memory ends the command: there is
 * nothing to be saved.
 */
#pragma once

#include <json-c/json.h>
#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"

void json_add(struct json_object *to, const char *key, struct json_object *value);
void json_add_u64(struct json_object *to, const char *key, uint64_t value);
void json_add_i64(struct json_object *to, const char *key, int64_t value);

/* With six digits that matter. */
void json_add_double(struct json_object *to, const char *key, double value);

/* N bytes of text that nobody vouches for: what is not UTF-8 becomes U+FFFD; NULL becomes null. */
struct json_object *json_from_bytes(const char *p, size_t n);
void json_add_bytes(struct json_object *to, const char *key, const char *p, size_t n);

/* A string, or null. */
void json_add_string(struct json_object *to, const char *key, const char *text);

/* N bytes as hexadecimal digits. */
void json_add_hex(struct json_object *to, const char *key, const uint8_t *p, size_t n);

/*
 * Appends VALUE, with FLAGS of json-c's, in one line or several; nothing of it is a command to a
 * terminal. Returns 0 or -ENOMEM.
 */
int json_append(struct outbuf *to, struct json_object *value, int flags);

/* Prints it in the same way. */
void json_print_value(struct json_object *value, int flags);

/* Prints ROOT, on one line or for people to read, and lets go of it. */
void json_print_line(struct json_object *root);
void json_print_pretty(struct json_object *root);
