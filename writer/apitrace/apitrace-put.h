/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What events and values are made of. Only for the writer itself.
 */
#pragma once

#include "writer/apitrace/apitrace-writer.h"

/* Notes that the event cannot be written: the first reason holds. */
void apitrace_put_failed(struct apitrace_writer *w, int error);

void apitrace_put_byte(struct apitrace_writer *w, uint8_t byte);
void apitrace_put_number(struct apitrace_writer *w, uint64_t number);
void apitrace_put_text(struct apitrace_writer *w, const struct apitrace_text *text);

/* The id of a signature, with its *NUMBER; *LAST counts those of its kind. Returns whether its body
 * has to follow. */
bool apitrace_put_id(struct apitrace_writer *w, uint32_t *number, uint32_t *last);

/* The signature of a function or struct. */
void apitrace_put_names(struct apitrace_writer *w, struct apitrace_names *names, uint32_t *last);
