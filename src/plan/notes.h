/* SPDX-License-Identifier: Apache-2.0 */
/* What an instruction has to know of those around it. */
#ifndef NM_PLAN_NOTES_H
#define NM_PLAN_NOTES_H

#include <stdbool.h>

struct nm_diags;
struct nm_draft_group;
struct nm_group;
struct nm_phase;
struct nm_plan;

/* Completes the instructions of a phase, which are the last of the group so far, and the phase:
 * what may be done with one call, held back or left to a later one, and whether connections can be
 * replaced. */
void nm_phase_note(struct nm_group *group, const struct nm_draft_group *from,
		   struct nm_phase *phase);
/* Whether any of its transactions is run by io_uring on this side. */
bool nm_group_posts(const struct nm_group *group);
/* An error for each group that asks for io_uring and has no use for it. */
void nm_plan_check_posts(const struct nm_plan *plan, const char *file, struct nm_diags *diags);

#endif
