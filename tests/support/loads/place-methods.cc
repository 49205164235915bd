// SPDX-License-Identifier: GPL-2.0-or-later
//
// Functions and methods that tests find by name, line and static probe. The program calls each of
// them as often as its argument says.
#include <cstdio>
#include <cstdlib>

#include "static-probe.h"

#define KEEP(x) __asm__ volatile("" ::"r"(x) : "memory")

extern "C" {
__attribute__((section(".probes"))) volatile unsigned short guarded_semaphore = 0;
}

namespace shop {

enum Colour { RED, GREEN, BLUE = 7 };
enum class Size : unsigned char { SMALL = 1, LARGE = 2 };

struct Point {
	int x, y;
};

struct Mixed {
	long id;
	double price;
};

struct Large {
	long id, from, to;
};

class Counter {
public:
	explicit Counter(int start) : value(start)
	{
	}
	__attribute__((noinline)) int add(int by, const char *why);
	__attribute__((noinline)) int add(Point by, Colour colour) const;
	virtual ~Counter()
	{
		KEEP(this);
	}

private:
	int value;
};

int Counter::add(int by, const char *why)
{
	value += by;
	KEEP(why);
	return value; // line of the sum
}

int Counter::add(Point by, Colour colour) const
{
	KEEP(this);
	return value + by.x * by.y + colour;
}

__attribute__((noinline)) long price(Mixed m, Large l, Size size, bool yes, float rate)
{
	KEEP(size);
	return m.id + l.id + l.to + yes + static_cast<long>(m.price + rate);
}

template <typename T> __attribute__((noinline)) T twice(T value)
{
	KEEP(&value);
	return value + value;
}

static inline __attribute__((always_inline)) int copied(int n)
{
	KEEP(n);
	return n * 5; // line that is inlined
}

} // namespace shop

extern "C" __attribute__((noinline)) int plain_one(int n, unsigned char c, short *where)
{
	PROBE("entered", "0", "-4@%0 1@%1 8@$-7", "r"(n), "r"(c));
	if (guarded_semaphore)
		PROBE("guarded", "guarded_semaphore", "4@%0", "r"(n));
	return shop::copied(n) + c + *where;
}

extern "C" __attribute__((noinline)) int plain_two(int a, int b, int c, int d, int e, int f, int g,
						   const char *last)
{
	KEEP(last);
	return shop::copied(a) + b + c + d + e + f + g;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;
	shop::Counter counter(3);
	short five = 5;
	long sum = 0;

	for (int i = 0; i < times; i++) {
		sum += counter.add(i + 10, "because");
		sum += counter.add(shop::Point{ i, -2 }, shop::BLUE);
		sum += shop::price({ 7, 1.5 }, { 21, 22, 23 }, shop::Size::LARGE, true, 0.5f);
		sum += shop::twice(i) + shop::twice(static_cast<long>(i));
		sum += plain_one(i, 'c', &five);
		sum += plain_two(1, 2, 3, 4, 5, 6, 7, "last");
	}
	printf("%ld\n", sum);
	return 0;
}
