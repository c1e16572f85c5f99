/* SPDX-License-Identifier: Apache-2.0 */
/* The times of each CPU, from the lines of /proc/stat. */
#include "host/cpu_loads.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/usage_priv.h"

const struct nm_field nm_cpu_load_fields[] = {
	NM_FIELD(U32, struct nm_cpu_load, cpu),
#define CLASS(member) NM_FIELD(U32, struct nm_cpu_load, member),
	NM_CPU_CLASSES(CLASS)
#undef CLASS
		NM_FIELD_END,
};

void host__take_cpu_loads(const char *text, long n, struct nm_cpu_loads *ret_loads)
{
	int r = n < 0 ? (int)n : host__parse_cpu_loads(text, ret_loads);

	if (r == 0)
		return;
	ret_loads->count = 0;
	(void)snprintf(ret_loads->why, sizeof ret_loads->why, "/proc/stat: %s",
		       r == -EINVAL  ? "unknown form"
		       : r == -E2BIG ? "more CPUs than can be told apart"
				     : strerror(-r));
}

uint64_t nm_cpu_load_ticks(const struct nm_cpu_load *load)
{
	uint64_t sum = 0;
#define ADD(member) sum += load->member;
	NM_CPU_CLASSES(ADD)
#undef ADD
	return sum;
}

/* A time in which a CPU was idle, and which the kernel finds to be less than it was, has not
 * grown. */
static uint32_t grown(uint32_t before, uint32_t after)
{
	uint32_t ticks = after - before;

	return ticks > INT32_MAX ? 0 : ticks;
}

static const struct nm_cpu_load *find(const struct nm_cpu_loads *loads, uint32_t cpu)
{
	for (size_t i = 0; i < loads->count; i++)
		if (loads->items[i].cpu == cpu)
			return &loads->items[i];
	return NULL;
}

void nm_cpu_loads_delta(const struct nm_cpu_loads *before, const struct nm_cpu_loads *after,
			struct nm_cpu_loads *ret_delta)
{
	ret_delta->count = 0;
	(void)snprintf(ret_delta->why, sizeof ret_delta->why, "%s",
		       *before->why ? before->why : after->why);
	for (size_t i = 0; i < after->count; i++) {
		const struct nm_cpu_load *load = &after->items[i], *old = find(before, load->cpu);
		struct nm_cpu_load *next = &ret_delta->items[ret_delta->count];

		if (!old)
			continue;
		next->cpu = load->cpu;
#define GROWN(member) next->member = grown(old->member, load->member);
		NM_CPU_CLASSES(GROWN)
#undef GROWN
		ret_delta->count += nm_cpu_load_ticks(next) >= NM_CPU_TICKS_MIN;
	}
	if (!ret_delta->count && !*ret_delta->why)
		(void)snprintf(ret_delta->why, sizeof ret_delta->why, NM_CPU_TOO_SHORT,
			       NM_CPU_TICKS_MIN);
}
