/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The C++ part of leak-plant: operator new in all its forms, and exceptions through functions with
 * probes. The program checks that these exceptions arrive.
 */
#include <csetjmp>
#include <new>
#include <stdexcept>
#include <string>

#include "leak-plant.h"

namespace
{

struct thing {
	char bytes[60];
};

struct alignas(128) wide {
	char bytes[384];
};

struct fragile {
	char bytes[50];
	explicit fragile(bool breaks)
	{
		if (breaks)
			throw std::runtime_error("does not want to be");
		bytes[0] = 0;
	}
};

struct out_of_patience {
	int number;
};

std::jmp_buf away;
int n_handled;

size_t huge()
{
	size_t n = static_cast<size_t>(1) << 60;

	BARRIER(n);
	return n;
}

void handle_by_throwing()
{
	n_handled++;
	throw out_of_patience{ n_handled };
}

void handle_by_jumping()
{
	n_handled++;
	std::longjmp(away, 1);
}

} // namespace

extern "C" {

static NOINLINE thing *make_thing()
{
	thing *p = new thing;

	BARRIER(p);
	return p;
}

static NOINLINE char *make_many(size_t n)
{
	char *p = new char[n];

	BARRIER(p);
	return p;
}

static NOINLINE wide *make_wide()
{
	wide *p = new wide;

	BARRIER(p);
	return p;
}

static NOINLINE thing *make_quietly()
{
	thing *p = new (std::nothrow) thing;

	BARRIER(p);
	return p;
}

NOINLINE void plant_wide()
{
	for (unsigned i = 0; i < 20; i++) {
		wide *p = make_wide();

		if (i < 3)
			plant_keep(p);
		else
			delete p;
	}
	plant_truth("make_wide,plant_wide,main", 3, 3 * sizeof(wide));
}

/* Unwinding frees the blocks that were made on the way. */
static NOINLINE void go_down(unsigned depth)
{
	std::string text(100 + depth, 'x');
	fragile *p;

	if (depth > 0)
		go_down(depth - 1);
	p = new fragile(true);
	BARRIER(p);
}

NOINLINE void plant_news()
{
	for (unsigned i = 0; i < 20; i++) {
		thing *a = make_thing(), *d = make_quietly();
		char *b = make_many(30 + i);

		if (i < 7)
			plant_keep(a);
		else
			delete a;
		if (i < 5)
			plant_keep(b);
		else
			delete[] b;
		if (i < 2)
			plant_keep(d);
		else
			delete d;
	}
	plant_truth("make_thing,plant_news,main", 7, 7 * sizeof(thing));
	plant_truth("make_many,plant_news,main", 5, 5 * 30 + 1 + 2 + 3 + 4);
	plant_truth("make_quietly,plant_news,main", 2, 2 * sizeof(thing));
}

static NOINLINE void plant_throws()
{
	int n_caught = 0;

	for (unsigned i = 0; i < 100; i++) {
		try {
			go_down(i % 20);
		} catch (const std::runtime_error &error) {
			n_caught += std::string(error.what()) == "does not want to be";
		}
		try {
			plant_keep(make_many(huge()));
		} catch (const std::bad_alloc &) {
			n_caught++;
		}
	}
	if (n_caught != 200)
		plant_die("leak-plant: an exception has been lost");
	if (new (std::nothrow) char[huge()])
		plant_die("leak-plant: operator new gave what nobody has");
}

/* A handler jumps out of operator new. */
static NOINLINE void plant_handlers()
{
	volatile int n_caught = 0;

	n_handled = 0;
	std::set_new_handler(handle_by_throwing);
	for (int i = 0; i < 100; i++) {
		try {
			plant_keep(make_many(huge()));
		} catch (const out_of_patience &gone) {
			n_caught = n_caught + (gone.number == i + 1);
		}
	}
	std::set_new_handler(handle_by_jumping);
	for (volatile int i = 0; i < 100; i = i + 1) {
		if (setjmp(away) == 0)
			plant_keep(make_many(huge()));
		else
			n_caught = n_caught + 1;
	}
	std::set_new_handler(nullptr);
	if (n_caught != 200 || n_handled != 200)
		plant_die("leak-plant: a handler has not come back");
}

void plant_exceptions()
{
	plant_throws();
	plant_handlers();
	plant_throws();
	BARRIER(n_handled);
}
}
