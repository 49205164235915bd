/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/unwind-map-set.h"

#include <bpf/bpf.h>

static int make_map(enum bpf_map_type type, uint32_t key_bytes, uint32_t value_bytes, uint32_t n,
		    uint32_t flags)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = flags);

	return bpf_map_create(type, "test", key_bytes, value_bytes, n, &opts);
}

static int make_tables(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	int inner =
		make_map(BPF_MAP_TYPE_ARRAY, 4, sizeof(struct unwind_block), 1, BPF_F_INNER_MAP);
	int fd;

	opts.inner_map_fd = (uint32_t)inner;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "test", 4, 4, UNWIND_FILES_MAX, &opts);
	close_fd(inner);
	return fd;
}

int unwind_map_set_make(struct unwind_maps *maps)
{
	struct unwind_maps from = {
		.asks_fd = make_map(BPF_MAP_TYPE_RINGBUF, 0, 0, 65536, 0),
		.files_fd = make_map(BPF_MAP_TYPE_ARRAY, 4, sizeof(struct unwind_file),
				     UNWIND_FILES_MAX, BPF_F_MMAPABLE),
		.tables_fd = make_tables(),
		.names_fd = make_map(BPF_MAP_TYPE_HASH, sizeof(struct unwind_file_key),
				     sizeof(struct unwind_file_name), UNWIND_FILES_MAX,
				     BPF_F_NO_PREALLOC),
		.free_names_fd = make_map(BPF_MAP_TYPE_QUEUE, 0, sizeof(struct unwind_file_name),
					  UNWIND_FILES_MAX, 0),
		.processes_fd = make_map(BPF_MAP_TYPE_HASH, 4, sizeof(struct unwind_process), 16,
					 BPF_F_NO_PREALLOC),
	};
	int r = unwind_maps_init(maps, &from);

	close_fd(from.asks_fd);
	close_fd(from.files_fd);
	close_fd(from.tables_fd);
	close_fd(from.names_fd);
	close_fd(from.free_names_fd);
	close_fd(from.processes_fd);
	return from.asks_fd < 0 ? from.asks_fd : r;
}
