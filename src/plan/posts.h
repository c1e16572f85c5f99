/* SPDX-License-Identifier: Apache-2.0 */
/* Which phases post their messages (io_uring). Whoever makes the plan calls these, on one thread;
 * they own nothing. */
#ifndef NM_PLAN_POSTS_H
#define NM_PLAN_POSTS_H

struct nm_group;
struct nm_ir;
struct nm_phase;
struct nm_plan;

/* Notes whether the messages of a phase can be moved by io_uring, once all else is noted
 * (notes.h): the other end sends nothing beyond the passes, as what is posted takes it. */
void nm_phase_note_posts(struct nm_group *group, struct nm_phase *phase);
/* An error for each group that asks for io_uring and has no use for it. */
void nm_plan_check_posts(const struct nm_plan *plan, const struct nm_ir *ir);

#endif
