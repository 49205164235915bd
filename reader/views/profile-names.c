/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/views/profile-names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

int profile_names_find(const struct profile *p, const struct profile_names *names,
		       const struct profile_place *place, const struct frame **ret)
{
	/* (names can be recorded after the stacks that need them, so they are searched again) */
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

size_t profile_names_path_length(const struct mapping *mapping)
{
	return text_path_length(mapping->path);
}

const char *profile_names_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/*
 * True if MAP is memory without a file. The offset of such a mapping means nothing: the kernel
 * reports it as the address in a record of mmap(), and as 0 in /proc.
 */
static bool profile_names_is_anonymous(const struct mapping *map)
{
	static const char *const paths[] = { "//anon", "[heap]", "[stack", "[anon" };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (strncmp(map->path, paths[i], strlen(paths[i])) == 0)
			return true;
	return false;
}

const char *profile_names_label(char to[PROFILE_LABEL_MAX], const struct profile_place *place,
				const struct frame *frame)
{
	const struct mapping *map = place->mapping;
	const char *base;
	ptrdiff_t n;

	if (frame && *frame->function)
		return frame->function;
	if (!map || !*map->path)
		return maps_is_kernel(place->address) ? "[kernel]" : "[unknown]";
	base = profile_names_base(map->path);
	n = map->path + profile_names_path_length(map) - base;
	snprintf(to, PROFILE_LABEL_MAX, "%.*s+%#" PRIx64, (int)(n < 255 ? n : 255), base,
		 profile_names_is_anonymous(map) ? place->address
						 : place->address - map->start + map->file_offset);
	return to;
}

const char *profile_names_process(char to[PROFILE_LABEL_MAX], const struct profile *p,
				  const struct profile_names *names,
				  const struct profile_stack *stack)
{
	const char *name = profile_program_name(p, stack);
	uint32_t pid = stack->pid;

	if (pid == 0)
		return "idle";
	if (!name && names->process)
		name = names->process(names->userdata, pid);
	if (name && *name)
		return name;
	snprintf(to, PROFILE_LABEL_MAX, "pid %" PRIu32, pid);
	return to;
}

int profile_names_add_processes(struct profile *p, const struct profile_names *names)
{
	for (size_t i = 0; i < p->n_places; i++) {
		struct profile_place *place = &p->places[i];
		const struct profile_stack of = { .pid = place->owner,
						  .program = (uint32_t)place->address };
		char label[PROFILE_LABEL_MAX], *text;
		struct frame_list *list;
		const char *name;
		size_t bytes;

		if (!place->is_made_up || place->frames)
			continue;
		name = profile_names_process(label, p, names, &of);
		bytes = strlen(name) + 1;
		list = malloc(sizeof(*list) + sizeof(*list->list) + bytes);
		if (!list)
			return -ENOMEM;
		*list = (struct frame_list){ .n = 1,
					     .list = (struct frame *)(list + 1),
					     .next = p->processes };
		text = memcpy(list->list + 1, name, bytes);
		*list->list = (struct frame){ .function = text, .source = "", .module = "" };
		p->processes = list;
		place->frames = list;
	}
	return 0;
}

const char *profile_names_stack(char *to, size_t room, const struct profile *p,
				const struct profile_names *names, uint32_t node, unsigned max)
{
	unsigned n_shown = 0;
	size_t n = 0;

	*to = '\0';
	for (; node != 0 && n_shown < max; node = p->nodes[node].parent) {
		const struct profile_place *place = &p->places[p->nodes[node].place];
		const struct frame *frames = NULL;
		char label[PROFILE_LABEL_MAX];
		int n_frames = profile_names_find(p, names, place, &frames);

		for (int i = 0; (i < n_frames || i == 0) && n < room; i++, n_shown++)
			n += (size_t)snprintf(to + n, room - n, "%s%s", n_shown ? " < " : "",
					      profile_names_label(label, place,
								  n_frames > 0 ? &frames[i]
									       : NULL));
	}
	if (node != 0 && n < room)
		snprintf(to + n, room - n, " < ...");
	return to;
}
