/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the frequency of the time stamp counter in kHz. The kernel of the test machine can find it
 * out by itself only when the host is not busy. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct reading {
	uint64_t ticks, ns;
};

/* Both at one moment: the reading that took the shortest. */
static struct reading read_both(void)
{
	struct reading best = {0, 0};
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < 100; i++) {
		struct timespec now;
		uint64_t before = __rdtsc();

		(void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
		uint64_t after = __rdtsc();

		if (after - before < shortest) {
			shortest = after - before;
			best.ticks = before + shortest / 2;
			best.ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
		}
	}
	return best;
}

int main(void)
{
	const struct timespec pause = {.tv_nsec = 200000000};
	struct reading begin = read_both();

	(void)nanosleep(&pause, NULL);
	struct reading end = read_both();

	printf("%llu\n", (unsigned long long)((double)(end.ticks - begin.ticks) * 1e6 /
					      (double)(end.ns - begin.ns)));
	return 0;
}
