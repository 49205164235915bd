// SPDX-License-Identifier: GPL-2.0-or-later
//
// Functions whose symbols have more in them than the source: clones, tags of the ABI, arguments of
// templates and of Rust's generic functions.
#include <cstdio>

#define KEEP(x) __asm__ volatile("" ::"r"(x) : "memory")

// Called with one value only, from here only: gcc makes a clone of it with fewer arguments.
extern "C" {
static __attribute__((noinline)) int cloned(const char *text, int n)
{
	volatile int copy = n;

	KEEP(text);
	return copy + 1;
}
}

__attribute__((noinline, abi_tag("v2"))) int tagged(int n)
{
	KEEP(n);
	return n + 2;
}

template <typename T> __attribute__((noinline)) T twice(T value)
{
	KEEP(&value);
	return value + value;
}

// Rust's name of a::generic::<i32>
extern "C" __attribute__((noinline)) int generic(int n) __asm__("_RINvC1a7genericlE");

int generic(int n)
{
	KEEP(n);
	return n + 3;
}

int main(int argc, char **argv)
{
	int sum = 0;

	for (int i = 0; i < 3; i++)
		sum += cloned(argv[0], 7) + tagged(argc) + twice(argc) + generic(argc);
	printf("%d\n", sum);
	return 0;
}
