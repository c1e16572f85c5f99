/* SPDX-License-Identifier: Apache-2.0 */
/* Mixes that replay recorded requests. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "flowop/mix.h"
#include "plan/diag.h"
#include "plan/ir.h"
#include "plan/keyspaces.h"
#include "plan/mixes.h"
#include "plan/recorder.h"
#include "plan/replays.h"

/* Why the step of a mix that replays requests of the keyspace cannot be there; NULL: it can. first:
 * of the transaction. */
static const char *why_no_member(const struct nm_ir_group *group, const struct nm_ir_step *first,
				 const struct nm_ir_step *step,
				 const struct nm_ir_keyspace *keyspace)
{
	if (!nm_recorder_knows((enum nm_verb)step->op->verb) || step->in.sequence ||
	    step->common->count != 1)
		return "what was recorded is made by one get, set or delete each";
	if (step->ask.keyspace != &keyspace->keyspace)
		return "it must have the keys that are replayed";
	for (const struct nm_ir_step *other = first; other < step; other++) {
		if (nm_ir_replay_of(group, other) != nm_ir_replay_of(group, step))
			return "a pass must begin with what is replayed";
		if (other->op == step->op)
			return "the mix has another one, and each verb may be there once";
	}
	return NULL;
}

static void check_step(struct nm_ir *ir, const struct nm_ir_group *group,
		       const struct nm_ir_transaction *t, const struct nm_ir_step *step)
{
	const struct nm_ir_mix *mix = nm_ir_replay_of(group, step);
	const struct nm_ir_keyspace *keyspace = mix ? nm_ir_keyspace_find(ir, mix->replay) : NULL;
	const char *why = NULL;

	if (keyspace && keyspace->trace)
		why = why_no_member(group, &group->steps[t->first], step, keyspace);
	else if (!mix && step->ask.keyspace && step->ask.keyspace->law == NM_KEYS_RECORDED)
		why = "its keys are those of recorded requests: it must be in a <mix "
		      "replay=\"...\"> of their keyspace";
	if (why)
		nm_option_error(ir, step, "keys", "%s: %s", mix ? " in a replay" : "", why);
}

static void check_mix(struct nm_ir *ir, const struct nm_ir_mix *mix)
{
	const struct nm_ir_keyspace *keyspace = nm_ir_keyspace_find(ir, mix->replay);
	char why[256] = "the keyspace has no trace=\"FILE\" of recorded requests";

	if (!keyspace)
		nm_ir_keyspace_nearest(ir, mix->replay, why, sizeof why);
	if (!keyspace || !keyspace->trace)
		nm_attr_error(ir, mix->node, "replay", " replay=\"%s\": %s", mix->replay, why);
}

void nm_ir_check_replays(struct nm_ir *ir, const struct nm_ir_group *group)
{
	for (size_t m = 0; m < group->n_mixes; m++)
		if (group->mixes[m].replay)
			check_mix(ir, &group->mixes[m]);
	for (size_t k = 0; k < group->n_transactions; k++) {
		const struct nm_ir_transaction *t = &group->transactions[k];
		const struct nm_ir_step *first = &group->steps[t->first];

		for (const struct nm_ir_step *step = first; step < first + t->n_steps; step++)
			check_step(ir, group, t, step);
		if (t->n_steps && nm_ir_replay_of(group, first) && !t->has_duration)
			nm_node_error(ir, t->node,
				      ": what replays requests needs a duration, with which it is "
				      "over at the latest");
	}
}

/* --- the file --- */

/* Tells what is not sent. */
static void tell(struct nm_ir *ir, const struct nm_ir_mix *mix, const struct nm_ir_keyspace *of,
		 const struct nm_recorder *recorder)
{
	if (recorder->n_unsent)
		nm_node_warn(ir, mix->node,
			     " replay=\"%s\": %s: %llu of %llu requests are not sent, as no flowop "
			     "of the mix is their verb; the first is \"%s\" of line %u",
			     mix->replay, of->trace, (unsigned long long)recorder->n_unsent,
			     (unsigned long long)(recorder->n_unsent + recorder->count),
			     recorder->unsent_verb, recorder->unsent_line);
}

/* What was read belongs to the keyspace from now on. 0 or -ENOMEM. */
static int keep(struct nm_ir *ir, struct nm_ir_keyspace *keyspace, struct nm_recorder *recorder)
{
	struct nm_recording *recording = &keyspace->recording;

	nm_recorder_end(recorder, recording);
	memcpy(keyspace->members, recorder->members, sizeof keyspace->members);
	int list = nm_arena_keep(ir->arena, (void *)recording->list);
	int texts = nm_arena_keep(ir->arena, (void *)recording->texts);

	return nm_arena_keep(ir->arena, (void *)recording->key_list) < 0 || list < 0 || texts < 0
		       ? -ENOMEM
		       : 0;
}

/* Whether requests are due at their own times: the same file, by whatever path. */
static bool is_timed(const struct nm_ir_transaction *t, const struct nm_ir_keyspace *keyspace)
{
	struct stat times, requests;

	return t->arrivals.law && t->arrivals.law->by_trace &&
	       stat(t->arrivals.file, &times) == 0 && stat(keyspace->trace, &requests) == 0 &&
	       times.st_dev == requests.st_dev && times.st_ino == requests.st_ino;
}

/* Reads what has not been read for another mix. times: of the keyspace; NULL: they are not asked
 * for. 0, -ENOMEM, or another error with a phrase in why. */
static int read_requests(struct nm_ir *ir, const struct nm_ir_mix *mix,
			 struct nm_ir_keyspace *keyspace, struct nm_recorder *recorder,
			 struct nm_ir_times *times, char *why, size_t why_size)
{
	const bool is_known = keyspace->recording.count;
	struct nm_ir_times read = {.trace = NULL};

	if (is_known &&
	    memcmp(keyspace->members, recorder->members, sizeof keyspace->members) != 0) {
		(void)snprintf(why, why_size,
			       "another mix replays it with other flowops; a keyspace of its own "
			       "may have the same file");
		return -EINVAL;
	}
	if (is_known && (!times || times->trace))
		return 0;
	int r = nm_times_read(keyspace->trace, recorder, times, &read, why, why_size);

	if (r == 0 && times)
		r = nm_arena_keep(ir->arena, read.trace);
	if (r == 0 && times)
		*times = read;
	if (r < 0 || is_known)
		return r;
	tell(ir, mix, keyspace, recorder);
	return keep(ir, keyspace, recorder);
}

const struct nm_ir_times *nm_ir_read_requests(struct nm_ir *ir, const struct nm_ir_group *group,
					      struct nm_ir_transaction *t)
{
	const struct nm_ir_step *first = &group->steps[t->first];
	struct nm_ir_mix *mix = t->n_steps ? nm_ir_replay_of(group, first) : NULL;
	struct nm_recorder recorder = {.count = 0};
	struct nm_ir_times *times = NULL;
	char why[320];

	struct nm_ir_keyspace *keyspace = mix ? nm_ir_keyspace_find(ir, mix->replay) : NULL;

	if (!keyspace || !keyspace->trace || !mix->table)
		return NULL;
	if (is_timed(t, keyspace))
		times = &keyspace->times[(t->arrivals.words & NM_ARRIVAL_EXACT) != 0];
	for (const struct nm_ir_step *step = first; step < first + t->n_steps; step++)
		if (nm_ir_replay_of(group, step) == mix)
			recorder.members[step->op->verb] = step->in.member - (uint32_t)mix->first;
	int r = read_requests(ir, mix, keyspace, &recorder, times, why, sizeof why);

	nm_recorder_fini(&recorder);
	if (r == -ENOMEM)
		nm_diag_error(ir->diags, ir->file, mix->node->line, "out of memory");
	else if (r < 0)
		nm_node_error(ir, mix->node, " replay=\"%s\": %s: %s", mix->replay, keyspace->trace,
			      why);
	if (r < 0)
		return NULL;
	mix->table->replays = &keyspace->recording;
	/* Each request is made once, unless arrivals or the profile want more. */
	if (!t->arrivals.law && !t->attrs.total)
		t->attrs.total = keyspace->recording.count;
	return times;
}
