/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arrays that grow: a pointer, and how many elements there is room for. How many are used the
 * owner counts; free() lets go. And the order that they are sorted into.
 */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Less than, equal to or greater than 0 as A is to B: for qsort(), the next one behind `?:`. */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/*
 * Defines NAME(), an order of elements of TYPE for SORT(): the expression compares *x with *y. The
 * second one is for arrays of pointers to TYPE: x and y are the elements.
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
 * The first INDEX from LOW on for which CONDITION holds, or HIGH. It holds for all behind the
 * first.
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
 * Makes room for WANTED elements of SIZE bytes in the array ARRAY, which has room for *ROOM and
 * never more than MAX. Returns where it is now, with *ROOM changed, or NULL if there is no memory
 * or that many cannot be: then nothing has changed.
 */
void *array_grow(void *array, size_t *room, size_t wanted, size_t size, size_t max);

/*
 * Sees to it that ARRAY, which has room for ROOM elements, has it for WANTED; both are changed. At
 * least doubles what there is, so that appending one by one is cheap; what is new is undefined.
 * ROOM is of any unsigned type. Returns 0 or -ENOMEM, with nothing changed; so it does for 0, which
 * a sum that overflows can be.
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

/* Likewise; what is new is zero. */
#define GROW_ZERO(array, room, wanted)                                                             \
	({                                                                                         \
		size_t before_ = (room);                                                           \
		int error_ = GROW(array, room, wanted);                                            \
                                                                                                   \
		if ((room) > before_)                                                              \
			memset((array) + before_, 0, ((room)-before_) * sizeof(*(array)));         \
		error_;                                                                            \
	})
