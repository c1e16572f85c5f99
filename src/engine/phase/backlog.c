/* SPDX-License-Identifier: Apache-2.0 */
/* A limited queue of passes that are due. */
#include "engine/phase/backlog.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/tune.h"

int nm_backlog_init(struct nm_backlog *backlog, size_t room)
{
	*backlog = (struct nm_backlog){.room = room};
	backlog->ring = calloc(room, sizeof *backlog->ring);
	return backlog->ring ? 0 : -ENOMEM;
}

void nm_backlog_fini(struct nm_backlog *backlog)
{
	free(backlog->ring);
	backlog->ring = NULL;
}

static size_t place(const struct nm_backlog *backlog, size_t at)
{
	return at < backlog->room ? at : at - backlog->room;
}

uint64_t nm_backlog_admit(struct nm_backlog *backlog, struct nm_schedule *schedule, double at_ns,
			  uint32_t room)
{
	uint64_t dropped = 0;

	for (uint32_t n = 0; n < NM_TUNE_OPEN_COUNTED && nm_schedule_at_ns(schedule) < at_ns; n++) {
		if (backlog->count < backlog->most + room)
			backlog->ring[place(backlog, backlog->first + backlog->count++)] =
				(struct nm_arrival){nm_schedule_number(schedule),
						    (uint64_t)nm_schedule_at_ns(schedule)};
		else
			dropped++;
		nm_schedule_step(schedule);
	}
	return dropped;
}

void nm_backlog_step(struct nm_backlog *backlog)
{
	/* One that is empty begins anew, so that it touches no more than it needs. */
	backlog->first = --backlog->count ? place(backlog, backlog->first + 1) : 0;
}
