/* SPDX-License-Identifier: Apache-2.0 */
/* How much one call moves. */
#include "plan/lower_priv.h"

#include "flowop/flowop.h"
#include "plan/ir.h"
#include "transport/transport.h"

#define CHUNK_MIN   4096u
#define CHUNK_MAX   (1024u * 1024u)
#define CHUNK_FILES (256u * 1024u)
#define CHUNK_QUEUE (64u * 1024u) /* of many requests or answers together */

/* Whether all that it moves may be moved in parts. */
static bool is_stream(const struct nm_ir_group *group)
{
	for (size_t i = 0; i < group->n_steps; i++)
		if ((group->steps[i].op->flags & NM_FLOWOP_FILES) ||
		    (group->steps[i].transport &&
		     (group->steps[i].transport->caps & NM_TRANSPORT_MESSAGES)))
			return false;
	return true;
}

uint64_t nm_chunk_of(const struct nm_ir_group *group)
{
	uint64_t chunk = CHUNK_MIN, whole = 0; /* whole: a head is put together in one piece */

	for (size_t k = 0; k < group->n_transactions; k++)
		if (group->transactions[k].attrs.pipeline > 1 &&
		    nm_ir_is_queue(group, &group->transactions[k]))
			chunk = CHUNK_QUEUE;
	for (size_t i = 0; i < group->n_steps; i++) {
		const struct nm_ir_step *step = &group->steps[i];
		uint64_t most = step->rsize > step->size ? step->rsize : step->size;

		if (step->op->flags & NM_FLOWOP_FILES)
			most = CHUNK_FILES;
		if (step->ask.app && (step->op->flags & NM_FLOWOP_ASKS)) {
			uint64_t head =
				nm_request_head_bytes(&step->ask, step->op->verb, step->size);

			most += head;
			head = head > CHUNK_MIN ? head : CHUNK_MIN;
			whole = head > whole ? head : whole;
		}
		if (most > chunk)
			chunk = most;
	}
	if (group->attrs.buffer_bytes && is_stream(group))
		return group->attrs.buffer_bytes > whole ? group->attrs.buffer_bytes : whole;
	return chunk < CHUNK_MAX ? chunk : CHUNK_MAX;
}
