/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a BPF ring buffer. Unlike with libbpf's reader, which reads a group of rings until the
 * first error, each ring is read by itself, and a record can stay in its ring.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct bpf_ring;

/*
 * Maps the ring of FD, which has BYTES (a power of two, and a multiple of the page size). FD can be
 * closed afterwards. Returns 0 or a negative errno.
 */
int bpf_ring_new(int fd, size_t bytes, struct bpf_ring **ret);
struct bpf_ring *bpf_ring_free(struct bpf_ring *ring);

DEFINE_CLEANUP(struct bpf_ring *, bpf_ring_free)

/*
 * Called with each record. Returns 0 if the record can leave the ring; a positive number if it has
 * to stay, and all later records with it; or a negative errno, after which the record leaves the
 * ring, too.
 */
typedef int (*bpf_ring_fn)(void *data, size_t size, void *userdata);

/*
 * Passes the records to FN that the ring has at the call, up to the first record that an eBPF
 * program has not finished. Returns 0 or the result of FN that ended the call.
 */
int bpf_ring_read(struct bpf_ring *ring, bpf_ring_fn fn, void *userdata);
