/* SPDX-License-Identifier: Apache-2.0 */
/* The phase machine: which state follows which, and when. */
#include "engine/phase/machine.h"

bool nm_phase_is_quiescent(const struct nm_phase_input *in, uint64_t now_ns)
{
	return in->moved_ns && now_ns > in->moved_ns && now_ns - in->moved_ns >= in->patience_ns;
}

enum nm_phase_state nm_phase_next(enum nm_phase_state state, const struct nm_phase_input *in,
				  uint64_t now_ns)
{
	bool quiescent = nm_phase_is_quiescent(in, now_ns);

	switch (state) {
	case NM_PHASE_IDLE:
		return in->begun ? NM_PHASE_RUN : NM_PHASE_IDLE;
	case NM_PHASE_RUN:
		if (!in->passes_done && !quiescent)
			return NM_PHASE_RUN;
		/* All that open senders have sent is drained, also the rest of abandoned
		 * messages. */
		if (in->drains)
			return NM_PHASE_DRAIN;
		return in->passes_done && in->n_abandoning ? NM_PHASE_FLUSH : NM_PHASE_DONE;
	case NM_PHASE_FLUSH:
		return in->n_abandoning && !quiescent ? NM_PHASE_FLUSH : NM_PHASE_DONE;
	case NM_PHASE_DRAIN:
		return in->drained < in->to_drain && !quiescent ? NM_PHASE_DRAIN : NM_PHASE_DONE;
	case NM_PHASE_DONE:
		break;
	}
	return in->begun ? NM_PHASE_DONE : NM_PHASE_IDLE;
}

void nm_quiesce_begin(struct nm_quiesce *quiesce, uint64_t moved, uint64_t now_ns)
{
	*quiesce = (struct nm_quiesce){.seen = moved, .moved_ns = now_ns};
}

void nm_quiesce_look(struct nm_quiesce *quiesce, uint64_t moved, uint64_t now_ns)
{
	if (moved != quiesce->seen)
		nm_quiesce_begin(quiesce, moved, now_ns);
}

void nm_quiesce_end(struct nm_quiesce *quiesce)
{
	quiesce->moved_ns = 0;
}
