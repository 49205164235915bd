/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes the parts of events and values. Internal to the writer.
 */
#pragma once

#include "writer/apitrace/apitrace-writer.h"

/* Marks the event as invalid. The first error is kept. */
void apitrace_put_failed(struct apitrace_writer *w, int error);

void apitrace_put_byte(struct apitrace_writer *w, uint8_t byte);
void apitrace_put_number(struct apitrace_writer *w, uint64_t number);
void apitrace_put_text(struct apitrace_writer *w, const struct apitrace_text *text);

/* Writes the id of a signature with its *NUMBER. *LAST counts the signatures of its kind. Returns
 * whether its body must follow. */
bool apitrace_put_id(struct apitrace_writer *w, uint32_t *number, uint32_t *last);

/* The signature of a function or struct. */
void apitrace_put_names(struct apitrace_writer *w, struct apitrace_names *names, uint32_t *last);
