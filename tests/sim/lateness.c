/* SPDX-License-Identifier: Apache-2.0 */
/* The timers of workers fire when they are due: the linker has them go through here. A timer may be
 * late while tasks compute, as what computes takes the world's time. It is too late when no task
 * could go on meanwhile: then its worker has slept in spite of it, longer than it takes from the
 * look at the clock to the sleep. */
#include "engine/timer.h"
#include "object.h"
#include "world.h"

void __real_nm_timers_add(struct nm_timers *timers, struct nm_timer *timer);
struct nm_timer *__real_nm_timers_take(struct nm_timers *timers, uint64_t now_ns);
void __wrap_nm_timers_add(struct nm_timers *timers, struct nm_timer *timer);
struct nm_timer *__wrap_nm_timers_take(struct nm_timers *timers, uint64_t now_ns);

#define PLACES	   4096
#define CALLS_LATE 10 /* a look at the clock, a wait, and a turn of others between them */

/* Each timer has one place, for which another may take its turn: then it is not judged. */
static struct place {
	const struct nm_timer *timer;
	uint64_t set_ns;
} places[PLACES];

static struct place *place_of(const struct nm_timer *timer)
{
	return &places[(uintptr_t)timer / sizeof *timer % PLACES];
}

void __wrap_nm_timers_add(struct nm_timers *timers, struct nm_timer *timer)
{
	*place_of(timer) = (struct place){.timer = timer, .set_ns = sim_clock_at(sim_now())};
	__real_nm_timers_add(timers, timer);
}

/* The timer fires: it was due at its time, or when it was set, if that was later. */
static void judge(const struct nm_timer *timer)
{
	const struct place *place = place_of(timer);
	const uint64_t due_ns = timer->at_ns > place->set_ns ? timer->at_ns : place->set_ns;
	const uint64_t idle_until_ns = sim_clock_at(sim_idle_until());
	const uint64_t allowed_ns = CALLS_LATE * sim_kernel.config.call_ns;

	if (place->timer == timer && idle_until_ns > due_ns + allowed_ns &&
	    idle_until_ns - due_ns > sim_kernel.state.late_ns)
		sim_kernel.state.late_ns = idle_until_ns - due_ns;
}

struct nm_timer *__wrap_nm_timers_take(struct nm_timers *timers, uint64_t now_ns)
{
	struct nm_timer *timer = __real_nm_timers_take(timers, now_ns);

	if (timer)
		judge(timer);
	return timer;
}
