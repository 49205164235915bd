/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>

enum { FIRST_ROOM = 4 };

void *array_grow(void *array, size_t *room, size_t wanted, size_t size, size_t max)
{
	size_t more;

	/* No allocation is larger than PTRDIFF_MAX. The product below cannot overflow. */
	if (max > PTRDIFF_MAX / size)
		max = PTRDIFF_MAX / size;
	if (wanted == 0 || wanted > max)
		return NULL;
	more = *room > max / 2 ? max : 2 * *room;
	if (more < wanted)
		more = wanted;
	if (more < FIRST_ROOM && FIRST_ROOM <= max)
		more = FIRST_ROOM;
	array = realloc(array, more * size);
	if (array)
		*room = more;
	return array;
}
