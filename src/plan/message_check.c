/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the bytes that flowops move: where rsize and rcvlowat have an effect, and the files
 * that are sent. */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "flowop/files.h"
#include "plan/diag.h"
#include "plan/http_check.h"
#include "plan/ir.h"
#include "plan/plan.h"
#include "plan/replays.h"

/* Why rsize has no effect; NULL: it has one. */
static const char *rsize_is_vain(const struct nm_ir_group *group, const struct nm_ir_step *step)
{
	if (step->op->flags & NM_FLOWOP_FOLLOWS)
		return "the slave sends what is received here, exactly `size` bytes";
	if (step->rsize < step->size)
		return "it is smaller than size";
	if (step->transport && (step->transport->caps & NM_TRANSPORT_MESSAGES))
		return "its connection keeps messages apart";
	for (size_t i = 0; i < group->n_steps; i++)
		if (group->steps[i].op->flags & NM_FLOWOP_FILES)
			return "where files are sent, nothing is received before its turn";
	return NULL;
}

static uint64_t rcvlowat_of(const struct nm_ir_step *step)
{
	if (!(step->op->flags & NM_FLOWOP_MOVES) || (step->op->flags & NM_FLOWOP_FILES))
		return 0;
	return ((const struct nm_opts_message *)step->opts)->rcvlowat_bytes;
}

/* Why rcvlowat has no effect; NULL: it has one. The data must go on coming, until the other end is
 * told to stop: otherwise the last bytes would wake no reader. */
static const char *rcvlowat_is_vain(const struct nm_ir_transaction *transaction,
				    const struct nm_ir_step *step)
{
	if (step->transport && !(step->transport->caps & NM_TRANSPORT_TCP))
		return "its connection is not one over tcp";
	if (step->op->flags & (NM_FLOWOP_FILES | NM_FLOWOP_BOTH))
		return "it does more than to receive";
	if (!transaction->has_duration)
		return "its transaction has no duration";
	if (transaction->n_steps != 1)
		return "its transaction has other flowops, which wait for every message";
	return NULL;
}

uint64_t nm_ir_rcvlowat(const struct nm_ir_transaction *transaction, const struct nm_ir_step *step)
{
	return rcvlowat_is_vain(transaction, step) ? 0 : rcvlowat_of(step);
}

static void check_rcvlowat(struct nm_ir *ir, const struct nm_ir_group *group)
{
	for (size_t t = 0; t < group->n_transactions; t++) {
		const struct nm_ir_transaction *transaction = &group->transactions[t];

		NM_EACH_STEP(step, group, transaction) {
			const char *vain =
				rcvlowat_of(step) ? rcvlowat_is_vain(transaction, step) : NULL;

			if (!vain)
				continue;
			nm_option_warn(ir, step, "rcvlowat", ": rcvlowat has no effect: %s", vain);
		}
	}
}

static void check_stream(struct nm_ir *ir, const struct nm_ir_step *step)
{
	const unsigned caps = step->transport ? step->transport->caps : NM_TRANSPORT_RELIABLE;

	if (!(caps & NM_TRANSPORT_RELIABLE) || (caps & NM_TRANSPORT_MESSAGES))
		nm_step_error(ir, step,
			      ": its connection is one over %s, which has no stream of bytes; %s "
			      "one, as that of tcp",
			      step->transport->name,
			      step->op->flags & NM_FLOWOP_FILES ? "files need" : "it needs");
}

/* The step that follows on the connection, also with the next pass, and moves the other way or
 * closes; NULL: none does. */
static const struct nm_ir_step *turn_after(const struct nm_ir_group *group,
					   const struct nm_ir_transaction *transaction,
					   const struct nm_ir_step *step)
{
	size_t own = (size_t)(step - group->steps) - transaction->first;

	for (size_t i = 1; i <= transaction->n_steps; i++) {
		const struct nm_ir_step *next =
			&group->steps[transaction->first + (own + i) % transaction->n_steps];

		if (!(next->op->flags & (NM_FLOWOP_MOVES | NM_FLOWOP_CLOSES)) ||
		    next->slot != step->slot)
			continue;
		bool goes_on = (next->op->flags & NM_FLOWOP_MOVES) &&
			       !((next->op->flags ^ step->op->flags) & NM_FLOWOP_INITIATES);

		return goes_on ? NULL : next;
	}
	return NULL;
}

/* Whether what is done next is not always the same. */
static bool varies(const struct nm_ir_group *group, const struct nm_ir_transaction *transaction)
{
	for (size_t i = 0; i < transaction->n_steps; i++) {
		const struct nm_ir_within *in = &group->steps[transaction->first + i].in;

		if (in->member ||
		    (in->sequence && group->sequences[in->sequence - 1].count->max > 1))
			return true;
	}
	return false;
}

/* Data that are held back must not be those that the other end waits for. */
static void check_more(struct nm_ir *ir, const struct nm_ir_group *group)
{
	for (size_t t = 0; t < group->n_transactions; t++) {
		const struct nm_ir_transaction *transaction = &group->transactions[t];

		NM_EACH_STEP(step, group, transaction) {
			const struct nm_ir_step *next = NULL;

			if (!nm_flowop_moves_message(step->op) || !step->transport ||
			    !(step->transport->caps & NM_TRANSPORT_TCP))
				continue;
			if (!((const struct nm_opts_message *)step->opts)->more)
				continue;
			next = turn_after(group, transaction, step);
			if (varies(group, transaction))
				nm_option_warn(ir, step, "more",
					       ": more has no effect in a transaction with a mix "
					       "or a sequence: what follows may be another flowop");
			else if (next)
				nm_option_warn(ir, step, "more",
					       ": more has no effect: what follows on its "
					       "connection is a %s",
					       next->op->name);
		}
	}
}

/* Options that have an effect only over some transports, and options that exclude each other. */
static void check_special(struct nm_ir *ir, const struct nm_ir_step *step)
{
	const struct nm_opts_message *opts = step->opts;
	const struct {
		const char *name;
		bool given;
		unsigned caps; /* of transports that have it, too */
	} flags[] = {{"more", opts->more, 0},
		     {"zerocopy", opts->zerocopy, NM_TRANSPORT_UDP},
		     {"discard", opts->discard, 0},
		     {"rx_zerocopy", opts->rx_zerocopy, 0}};

	if (opts->discard && opts->rx_zerocopy)
		nm_origin_named(nm_step_error(ir, step,
					      ": discard and rx_zerocopy: only one of them can be"),
				step, "discard", "rx_zerocopy");
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (!flags[i].given || !step->transport)
			continue;
		else if (step->op->flags & NM_FLOWOP_BOTH)
			nm_step_warn(ir, step, ": %s has no effect", flags[i].name);
		else if (!(step->transport->caps & (flags[i].caps | NM_TRANSPORT_TCP)))
			nm_option_warn(ir, step, flags[i].name,
				       ": %s has no effect: its connection is one over %s",
				       flags[i].name, step->transport->name);
}

/* How much the slave takes at once of data that go one way without an rsize, or as much as wakes
 * it, if that is more: the messages are counted all the same. */
#define ONE_WAY_BYTES 65536u

static void read_ahead(struct nm_ir_group *group)
{
	for (size_t t = 0; t < group->n_transactions; t++) {
		const struct nm_ir_transaction *transaction = &group->transactions[t];
		struct nm_ir_step *step = &group->steps[transaction->first];

		if (transaction->n_steps != 1 || !nm_flowop_sends_message(step->op) ||
		    step->rsize || step->law || !step->transport ||
		    !(step->transport->caps & NM_TRANSPORT_TCP))
			continue;
		uint64_t usual = nm_ir_rcvlowat(transaction, step);

		if (usual < ONE_WAY_BYTES)
			usual = ONE_WAY_BYTES;
		if (step->size < usual && !step->common->can_fail && !step->common->timeout_ns)
			step->rsize = usual;
		if (rsize_is_vain(group, step))
			step->rsize = 0;
	}
}

void nm_ir_check_messages(struct nm_ir *ir, struct nm_ir_group *group)
{
	check_rcvlowat(ir, group);
	read_ahead(group);
	check_more(ir, group);
	for (size_t i = 0; i < group->n_steps; i++) {
		struct nm_ir_step *step = &group->steps[i];
		const char *vain = step->rsize ? rsize_is_vain(group, step) : NULL;

		if (step->op->flags & (NM_FLOWOP_FILES | NM_FLOWOP_BOTH))
			check_stream(ir, step);
		if ((step->op->flags & (NM_FLOWOP_MOVES | NM_FLOWOP_FILES)) == NM_FLOWOP_MOVES)
			check_special(ir, step);
		if (!vain)
			continue;
		nm_option_warn(ir, step, "rsize", ": rsize has no effect: %s", vain);
		step->rsize = 0;
	}
}

static void find_files(struct nm_ir *ir, struct nm_ir_step *step)
{
	const struct nm_opts_files *opts = step->opts;
	struct nm_files *files = NULL;
	char why[256];

	if (nm_files_find(opts->dir, &files, why, sizeof why) < 0)
		nm_option_error(ir, step, "dir", " dir=\"%s\": %s", opts->dir, why);
	else if (nm_arena_keep(ir->arena, files) < 0)
		nm_diag_error(ir->diags, ir->file, step->line, "out of memory");
	else
		step->files = files;
}

void nm_ir_find_files(struct nm_ir *ir)
{
	for (size_t g = 0; g < ir->n_groups; g++) {
		struct nm_ir_group *group = &ir->groups[g];

		for (size_t i = 0; i < group->n_steps; i++)
			if (group->steps[i].op->flags & NM_FLOWOP_FILES)
				find_files(ir, &group->steps[i]);
			else if (nm_ir_has_names(&group->steps[i]))
				nm_ir_read_names(ir, &group->steps[i]);
			else if (group->steps[i].op->verb == NM_VERB_HTTP)
				nm_ir_read_http_files(ir, &group->steps[i]);
		for (size_t i = 0; i < group->n_transactions; i++) {
			struct nm_ir_transaction *t = &group->transactions[i];
			const struct nm_ir_times *times = nm_ir_read_requests(ir, group, t);

			if (t->arrivals.law && t->arrivals.law->by_trace)
				nm_ir_read_trace(ir, t, times);
		}
	}
}
