/* SPDX-License-Identifier: Apache-2.0 */
/* Notes on the instructions of a phase that follow from those around them: replies, thinks, writes
 * that are held back, pipelines, handshakes, resets and connections that are replaced. Whoever
 * makes the plan calls this, on one thread; the group owns what is noted. */
#ifndef NM_PLAN_NOTES_H
#define NM_PLAN_NOTES_H

struct nm_group;
struct nm_ir_group;
struct nm_phase;

/* Completes the instructions of a phase, which are the last of the group so far, and the phase:
 * what may be done with one call, held back or left to a later one, and whether connections can be
 * replaced. */
void nm_phase_note(struct nm_group *group, const struct nm_ir_group *from, struct nm_phase *phase);

#endif
