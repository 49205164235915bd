/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program with variables of many kinds, which stops itself at marks. A debugger's output there is
 * the truth for tests that compile variables into loads.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STOP()  __asm__ volatile("int3" ::: "memory")
#define KEEP(x) __asm__ volatile("" ::"r"(x) : "memory")

enum colour { RED, GREEN, BLUE = 7 };
enum mode { MODE_READ = 1, MODE_WRITE = 2, MODE_EXEC = 4 };

struct point {
	int x, y;
};

struct fds_message {
	char label[12];
	struct point at;
	unsigned int open : 1, weight : 5;
	signed int tilt : 4;
	double price;
	struct point *next;
	union {
		int number;
		float real;
	} any;
	short grid[2][3];
};

int counter = 41;
static long hidden = -7;
static const char *title = "a \"title\"";
struct fds_message shop = { .label = "box",
			    .at = { 3, -4 },
			    .open = 1,
			    .weight = 17,
			    .tilt = -3,
			    .price = 2.5,
			    .any = { 9 },
			    .grid = { { 1, 2, 3 }, { 4, 5, 6 } } };

__attribute__((noinline)) static int plain(int n, const char *text, struct point p, double d,
					   unsigned char c, long long wide, short small, bool yes)
{
	enum colour colour = n > 3 ? GREEN : BLUE;
	enum mode mode = (enum mode)(MODE_READ | MODE_EXEC);
	int table[4] = { n, 2, 3, 4 };
	float half = 0.5f;
	const int *ptr = table;
	unsigned long len = 3;

	KEEP(table);
	KEEP(ptr);
	STOP();
	KEEP(text);
	KEEP(len);
	return (int)(n + p.x + p.y + d + c + wide + small + yes + colour + mode + half) + table[1] +
	       ptr[0];
}

static inline __attribute__((always_inline)) int inner(int a, int b)
{
	int sum = a + b;
	int twice = sum * 2;

	KEEP(twice);
	STOP();
	KEEP(sum);
	return twice + a;
}

__attribute__((noinline)) static int outer(int argc, char **argv)
{
	int before = argc * 3;
	int result;

	KEEP(before);
	result = inner(before, 4);
	for (int i = 0; i < 2; i++) {
		long square = (long)i * i + before;

		KEEP(square);
		STOP();
		KEEP(i);
	}
	KEEP(argv);
	return result;
}

__attribute__((noinline)) static long many(long a, long b, long c, long d, long e, long f, long g,
					   int h)
{
	struct fds_message mine = shop;
	struct fds_message *where = &mine;

	mine.at.x = (int)a;
	mine.next = &mine.at;
	KEEP(where);
	STOP();
	return a + b + c + d + e + f + g + h + where->at.x + hidden;
}

/* Values that a compiler computes elsewhere, or not at all. */
__attribute__((noinline)) static unsigned narrow(unsigned char *bytes, short n, unsigned count)
{
	unsigned sum = 0;
	const char *last = NULL;

	for (unsigned short i = 0; i < count; i++) {
		unsigned char byte = bytes[i];
		short scaled = (short)(byte * n);
		long half = scaled / 2;
		unsigned doubled = count * 2;
		bool large = scaled > 300;

		sum += (unsigned)scaled + i;
		KEEP(sum);
		if (i == 2)
			STOP();
		KEEP(byte);
		(void)half;
		(void)doubled;
		(void)large;
	}
	last = (const char *)bytes + count;
	KEEP(last);
	return sum;
}

/* The length of the array is known only at run time. */
__attribute__((noinline)) static int variable_length(int n)
{
	short numbers[n];

	for (int i = 0; i < n; i++)
		numbers[i] = (short)(i - 2);
	KEEP(numbers);
	STOP();
	KEEP(n);
	return numbers[n - 1];
}

int main(int argc, char **argv)
{
	unsigned char data[6] = { 200, 3, 250, 7, 9, 0 };
	char buffer[32];
	long sum;

	snprintf(buffer, sizeof(buffer), "text %d", argc);
	sum = plain(argc + 4, buffer, (struct point){ 11, -12 }, 1.25, 'Q', 1LL << 40, -5, true);
	sum += outer(argc, argv);
	sum += many(1, 2, 3, 4, 5, 6, 7, -8);
	sum += variable_length(argc + 4);
	sum += narrow(data, -3, 5);
	printf("%ld %d %s\n", sum, counter, title);
	return 0;
}
