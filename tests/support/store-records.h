/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For tests of stores: chunks of records that are numbers, as far as their headers tell, and what
 * of them is in a file.
 */
#pragma once

#include <stdint.h>

#include "base/outbuf.h"
#include "capture/store/store.h"

enum { RECORD_BYTES = 80 };

/* What the one record in a head, and in a tail, has for a number. */
#define RECORD_HEAD UINT64_C(1000000)
#define RECORD_TAIL UINT64_C(2000000)

/* The directory NAME, made if it is not there. */
int directory_fd(const char *name);

/* Appends N records, numbered from FIRST on. */
void add_records(struct outbuf *to, uint64_t first, unsigned n);

/* Writes N records as PART. Returns what the store does. */
int store_records(struct store *s, enum store_part part, uint64_t first, unsigned n);

/* Begins a chunk and writes its head; then a body of N records. Both must succeed. */
void store_chunk(struct store *s, uint64_t begin_ns, uint64_t first, unsigned n);

/*
 * The numbers of the records in the N bytes at P, or in FILE, unpacked: "H 0-9 T", with "?" for
 * bytes that are none. Static, until the next call.
 */
const char *records_in(const void *p, size_t n);
const char *records_in_file(const char *file);
