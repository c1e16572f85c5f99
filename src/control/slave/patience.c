/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of the table of states, with their times. */
#include "control/slave/patience.h"

#include <stdio.h>

#define SECOND_NS UINT64_C(1000000000)
/* The longest wait that a master may ask for: the most that --timeout and --wait-slaves can be. */
#define LONGEST_NS (86400 * SECOND_NS)

void nm_patience_init(struct nm_patience *patience, uint64_t timeout_ns, uint64_t now_ns)
{
	*patience = (struct nm_patience){
		.timeout_ns = timeout_ns, .state = NM_SESSION_HELLO, .since_ns = now_ns};
}

void nm_patience_enter(struct nm_patience *patience, enum nm_session_state state, uint64_t now_ns)
{
	if (state == patience->state)
		return;
	patience->state = state;
	patience->since_ns = now_ns;
	patience->wait_ns = 0;
	patience->has_asked = false;
}

static uint64_t at_most(uint64_t ns)
{
	return ns < LONGEST_NS ? ns : LONGEST_NS;
}

bool nm_patience_wait(struct nm_patience *patience, uint64_t wait_ns, uint64_t now_ns)
{
	if (patience->has_asked)
		return false;
	patience->has_asked = true;
	patience->since_ns = now_ns;
	patience->wait_ns = at_most(wait_ns);
	return true;
}

uint64_t nm_patience_until_ns(const struct nm_patience *patience)
{
	uint64_t ns = patience->wait_ns + SECOND_NS * nm_session_state_seconds(patience->state);

	if (patience->state == NM_SESSION_END)
		return UINT64_MAX;
	switch (nm_session_state_rule(patience->state)) {
	case NM_RULE_PROGRESS:
		ns += patience->stall_ns;
		/* fall through */
	case NM_RULE_TIMEOUT:
		ns += patience->timeout_ns + at_most(patience->master_timeout_ns);
		break;
	case NM_RULE_ONCE:
		break;
	}
	return patience->since_ns + ns;
}

bool nm_patience_ends(struct nm_patience *patience, uint64_t progress, uint64_t now_ns)
{
	if (now_ns < nm_patience_until_ns(patience))
		return false;
	bool moved = progress != patience->progress &&
		     nm_session_state_rule(patience->state) == NM_RULE_PROGRESS;

	patience->progress = progress;
	if (moved)
		patience->since_ns = now_ns;
	return !moved;
}

const char *nm_patience_text(const struct nm_patience *patience, uint64_t now_ns, char *buf,
			     size_t size)
{
	(void)snprintf(buf, size, "the master has sent no %s for %.3g s",
		       nm_session_state_owes(patience->state),
		       (double)(now_ns - patience->since_ns) / 1e9);
	return buf;
}
