/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/views/profile-names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int profile_names_find(const struct profile *p, const struct profile_names *names,
		       const struct profile_place *place, const struct frame **ret)
{
	/* Names can be recorded after the stacks that need them. */
	const struct frame_list *known =
		place->frames
			?: frames_find(p->frames, place->owner,
				       frames_code(place->address, place->returns));

	if (known) {
		*ret = known->list;
		return (int)known->n;
	}
	return names->find ? names->find(names->userdata, place, ret) : 0;
}

const char *profile_names_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

const char *profile_names_label(char to[PROFILE_LABEL_MAX], const struct profile_place *place,
				const struct frame *frame)
{
	const struct mapping *map = place->mapping;

	if (frame && *frame->function)
		return frame->function;
	if (!map || !*map->path)
		return maps_is_kernel(place->address) ? "[kernel]" : "[unknown]";
	snprintf(to, PROFILE_LABEL_MAX, "%.255s+%#" PRIx64, profile_names_base(map->path),
		 place->address - map->start + map->file_offset);
	return to;
}

const char *profile_names_process(char to[PROFILE_LABEL_MAX], const struct profile_names *names,
				  uint32_t pid)
{
	const char *name = names->process ? names->process(names->userdata, pid) : NULL;

	if (pid == 0)
		return "idle";
	if (name && *name)
		return name;
	snprintf(to, PROFILE_LABEL_MAX, "pid %" PRIu32, pid);
	return to;
}
