/* SPDX-License-Identifier: Apache-2.0 */
/* What lower.c has of lower_mix.c, lower_pipeline.c and lower_chunk.c. */
#ifndef NM_PLAN_LOWER_PRIV_H
#define NM_PLAN_LOWER_PRIV_H

#include <stdbool.h>
#include <stdint.h>

struct nm_app;
struct nm_app_use;
struct nm_group;
struct nm_ir_group;
struct nm_ir_step;
struct nm_ir_transaction;
struct nm_phase;

/* --- mixes and sequences: the instruction that draws before the first member of a mix, a jump
 * behind each but the last; behind a sequence, the one that begins its next round --- */

/* Where the program of a transaction is; all zero at its begin. */
struct nm_mix_lowering {
	uint32_t member;	   /* of the last step: as in struct nm_ir_within */
	uint32_t draws;		   /* the instruction that draws for the mix that it is in */
	uint32_t sequence, begins; /* the sequence of the last step, and its first instruction */
};

/* Before a step is emitted, and also where this side leaves it out; NULL: after the last step of
 * the transaction. True: another way than from the step before may lead to this one. The group has
 * room for two instructions more than its steps need for each member, and one for each sequence. */
bool nm_mix_lower(struct nm_mix_lowering *at, const struct nm_ir_group *from,
		  const struct nm_ir_step *step, struct nm_group *group);

/* --- passes of which several may be under way --- */

/* Emits the instruction that the passes of t's phase begin with, behind all others of it: see
 * flowop/pipeline.h, window.h and queue.h. */
void nm_pipeline_lower(struct nm_group *group, const struct nm_ir_group *from,
		       const struct nm_ir_transaction *t, struct nm_phase *phase);

/* The most bytes of a request of a verb, but for its payload of `size` bytes; of a batch, with
 * those of all keys. */
uint32_t nm_request_head_bytes(const struct nm_app_use *ask, int verb, uint64_t size);

/* --- one call --- */

/* The most bytes that one call of the group's workers moves. */
uint64_t nm_chunk_of(const struct nm_ir_group *group);

#endif
