/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Splits a recording (docs/architecture/chunks.md). The head and the tail of a chunk have tables of
 * their own, so the body between them registers its strings and threads again.
 */
#include "writer/fxt/fxt-archive.h"

#include <string.h>

int fxt_archive_init_part(struct fxt_archive *part, const struct fxt_archive *of,
			  struct outbuf *out)
{
	int r = fxt_archive_init(part, out, of->n_cpus);

	if (r < 0)
		return r;
	memcpy(part->lost, of->lost, (size_t)of->n_cpus * CLASS_MAX * sizeof(*part->lost));
	/*
	 * A batch of packets can continue only in the archive where it began, so a part has no
	 * packets.
	 */
	part->no_perfetto_samples = true;
	return 0;
}

void fxt_archive_continue(struct fxt_archive *part)
{
	part->provider.introduced = true;
	memset(part->provider.registered, 0xff, sizeof(part->provider.registered));
	part->writer.provider = &part->provider;
}

int fxt_archive_forget(struct fxt_archive *a)
{
	return fxt_out_provider_forget(&a->provider);
}

int fxt_archive_repeat_tracks(struct fxt_archive *part, const struct fxt_archive *of)
{
	int r = 0;

	for (uint32_t cpu = 0; r == 0 && cpu < of->n_tracks; cpu++)
		for (enum fxt_track track = 0; r == 0 && track < FXT_TRACK_MAX; track++)
			if (of->tracks[cpu] >> track & 1)
				r = fxt_archive_track(part, track, cpu);
	return r;
}

int fxt_archive_repeat_losses(struct fxt_archive *part, const struct fxt_archive *of,
			      uint64_t at_ns)
{
	struct event ev = { .kind = EVENT_LOST, .ts_ns = at_ns, .lost = { .first_ns = at_ns } };
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < of->n_cpus * CLASS_MAX; i++) {
		if (of->lost_until_ns[i] <= at_ns)
			continue;
		ev.cpu = i / CLASS_MAX;
		ev.lost.class_name = event_class_names[i % CLASS_MAX];
		ev.lost.last_ns = of->lost_until_ns[i];
		r = fxt_archive_event(part, &ev);
	}
	return r;
}
