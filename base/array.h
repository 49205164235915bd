/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Growing arrays: a pointer, and the number of elements for which there is room. The owner counts
 * the used elements, and frees the array with free(). This file also defines how arrays are sorted.
 */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/*
 * Evaluates to a negative number, 0 or a positive number if A is less than, equal to or greater
 * than B. For qsort(); the next criterion can follow after `?:`.
 */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/*
 * DEFINE_ORDER() defines the function NAME(), which compares two elements of TYPE for SORT(): the
 * expression compares *x with *y. The second macro is for arrays of pointers to TYPE: x and y then
 * point to the elements.
 */
#define DEFINE_ORDER(name, type, ...)                                                              \
	static int name(const void *x_, const void *y_)                                            \
	{                                                                                          \
		const type *x = x_, *y = y_;                                                       \
                                                                                                   \
		return __VA_ARGS__;                                                                \
	}
#define DEFINE_ORDER_OF_POINTERS(name, type, ...)                                                  \
	static int name(const void *x_, const void *y_)                                            \
	{                                                                                          \
		const type *x = *(const type *const *)x_, *y = *(const type *const *)y_;           \
                                                                                                   \
		return __VA_ARGS__;                                                                \
	}

/* Sorts the N elements at ARRAY, which can be NULL if there are none. */
#define SORT(array, n, order)                                                                      \
	({                                                                                         \
		if ((n) > 1)                                                                       \
			qsort((array), (n), sizeof(*(array)), (order));                            \
	})

/*
 * Evaluates to the first INDEX from LOW on for which CONDITION is true, or to HIGH if there is
 * none. CONDITION must also be true for all later indices.
 */
#define ARRAY_FIRST(index, low, high, condition)                                                   \
	({                                                                                         \
		size_t low_ = (low), high_ = (high);                                               \
                                                                                                   \
		while (low_ < high_) {                                                             \
			size_t index = low_ + (high_ - low_) / 2;                                  \
                                                                                                   \
			if (condition)                                                             \
				high_ = index;                                                     \
			else                                                                       \
				low_ = index + 1;                                                  \
		}                                                                                  \
		low_;                                                                              \
	})

/*
 * Makes room for WANTED elements of SIZE bytes in ARRAY, but never for more than MAX. ARRAY has
 * room for *ROOM elements. Returns the new address and changes *ROOM, or returns NULL without a
 * change.
 */
void *array_grow(void *array, size_t *room, size_t wanted, size_t size, size_t max);

/*
 * Makes room for WANTED elements in ARRAY. ROOM is its current room. ARRAY and ROOM are changed. At
 * least doubles the room, so that appending one by one is cheap. New elements are undefined. ROOM
 * is of any unsigned type. Returns 0, or -ENOMEM without a change. WANTED = 0 fails, since it can
 * be a sum that has overflowed.
 */
#define GROW(array, room, wanted)                                                                  \
	({                                                                                         \
		size_t room_ = (room), wanted_ = (wanted);                                         \
		typeof(array) grown_ = (array);                                                    \
                                                                                                   \
		if (wanted_ - 1 >= room_)                                                          \
			grown_ = array_grow(grown_, &room_, wanted_, sizeof(*grown_),              \
					    (typeof(room))-1);                                     \
		if (grown_) {                                                                      \
			(array) = grown_;                                                          \
			(room) = (typeof(room))room_;                                              \
		}                                                                                  \
		grown_ ? 0 : -ENOMEM;                                                              \
	})

/* Like GROW(), with zeroed new elements. */
#define GROW_ZERO(array, room, wanted)                                                             \
	({                                                                                         \
		size_t before_ = (room);                                                           \
		int error_ = GROW(array, room, wanted);                                            \
                                                                                                   \
		if ((room) > before_)                                                              \
			memset((array) + before_, 0, ((room)-before_) * sizeof(*(array)));         \
		error_;                                                                            \
	})
