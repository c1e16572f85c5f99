/* SPDX-License-Identifier: Apache-2.0 */
/* Keyspaces: their elements, which flowops name them, and transactions that fill them. */
#include <errno.h>
#include <stdio.h>

#include "app/keyspace.h"
#include "base/ascii.h"
#include "base/diag.h"
#include "flowop/ask.h"
#include "flowop/open_opts.h"
#include "plan/attributes.h"
#include "plan/diag.h"
#include "plan/ir.h"
#include "plan/keyspaces.h"

/* Its law may have a table, which goes with its options. */
static const struct nm_opt kept_opts[] = {
	NM_OPT(SIZES, struct nm_ir_keyspace, keyspace.ranks, "ranks"),
	NM_OPT_END,
};

struct nm_ir_keyspace *nm_ir_keyspace_find(const struct nm_ir *ir, const char *name)
{
	struct nm_ir_keyspace *at = ir->keyspaces;

	while (at && !nm_ascii_equals(at->name, name))
		at = at->next;
	return at;
}

static void declare(struct nm_ir *ir, struct nm_ir_keyspace *own,
		    const struct nm_keyspace_attrs *attrs)
{
	own->name = attrs->name;
	own->trace = attrs->trace;
	own->next = ir->keyspaces;
	ir->keyspaces = own;
}

static const char *why_not(const struct nm_ir *ir, const struct nm_node *node,
			   const struct nm_keyspace_attrs *attrs)
{
	if (nm_ir_keyspace_find(ir, attrs->name))
		return "another keyspace has this name";
	if (attrs->trace &&
	    (attrs->count || attrs->length.max || *attrs->prefix || nm_node_attr(node, "law")))
		return "trace, and count, length, prefix or law: its keys are those of the file";
	for (const char *c = attrs->prefix; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 127)
			return "its prefix has a blank, which no key may have";
	return NULL;
}

void nm_ir_read_keyspace(struct nm_ir *ir, const struct nm_node *node)
{
	const struct nm_opt *table = nm_element_find("keyspace")->attrs;
	struct nm_keyspace_attrs *attrs = nm_arena_opts(ir->arena, table, sizeof *attrs);
	struct nm_ir_keyspace *own = nm_arena_opts(ir->arena, kept_opts, sizeof *own);
	size_t errors = ir->diags->n_errors;
	char why[256] = "";

	if (!attrs || !own) {
		nm_diag_error(ir->diags, ir->file, node->line, "out of memory");
		return;
	}
	nm_ir_attrs(ir, node, attrs);
	for (size_t i = 0; i < node->n_children; i++)
		nm_diag_error(ir->diags, ir->file, node->children[i]->line,
			      "<%s> inside <keyspace>: a keyspace has no elements inside",
			      node->children[i]->name);
	if (ir->diags->n_errors != errors)
		return;
	const char *wrong = why_not(ir, node, attrs);

	if (wrong) {
		nm_node_error(ir, node, " name=\"%s\": %s", attrs->name, wrong);
		return;
	}
	if (attrs->trace && !*attrs->trace)
		nm_attr_error(ir, node, "trace",
			      " trace=\"\": must be a file of recorded requests; that of a stock "
			      "profile is given by -D trace=FILE");
	if (attrs->trace) {
		/* Only the master has the file, which is read later. */
		own->keyspace.law = NM_KEYS_RECORDED;
		declare(ir, own, attrs);
		return;
	}
	int r = nm_keyspace_init(&own->keyspace, attrs->law, attrs->prefix, attrs->count,
				 attrs->length.max, why, sizeof why);

	if (r == -ENOMEM)
		nm_node_error(ir, node, " out of memory");
	else if (r < 0)
		nm_attr_error(ir, node,
			      r == -ERANGE  ? "length"
			      : r == -E2BIG ? "prefix"
					    : "law",
			      " %s", why);
	if (attrs->length.kind != NM_LAW_CONST)
		own->keyspace.lengths = &attrs->length;
	declare(ir, own, attrs);
}

void nm_ir_keyspace_nearest(const struct nm_ir *ir, const char *name, char *buf, size_t size)
{
	const char *names[32];
	size_t count = 0;

	for (struct nm_ir_keyspace *at = ir->keyspaces; at && count < 32; at = at->next)
		names[count++] = at->name;
	const char *nearest = nm_nearest(name, names, count);

	snprintf(buf, size,
		 "the profile has no such keyspace%s%s%s; <keyspace name=\"...\" count=\"...\"/> "
		 "declares one",
		 nearest ? ", did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
}

const struct nm_keyspace *nm_ir_find_keys(struct nm_ir *ir, const struct nm_ir_step *step)
{
	const char *name = ((const struct nm_opts_ask *)step->opts)->keys;
	struct nm_ir_keyspace *found = name ? nm_ir_keyspace_find(ir, name) : NULL;
	char why[256];

	if (found || !name)
		return found ? &found->keyspace : NULL;
	nm_ir_keyspace_nearest(ir, name, why, sizeof why);
	nm_option_error(ir, step, "keys", " keys=\"%s\": %s", name, why);
	return NULL;
}

/* How many servers are filled. */
static uint32_t n_servers(const struct nm_ir_step *step)
{
	const struct nm_opts_open *opened = step->opened ? step->opened->opts : NULL;

	return opened && opened->server ? nm_servers_count(opened->server) : 1;
}

/* Why the transaction cannot fill the keyspace; NULL: it can. */
static const char *why_not_filled(const struct nm_ir_keyspace *keyspace,
				  const struct nm_ir_group *group,
				  const struct nm_ir_transaction *t, const struct nm_ir_step *step)
{
	if (t->has_duration || t->has_iterations || t->attrs.total || t->arrivals.law)
		return "not with iterations, duration, total or arrivals: it is over with the last "
		       "key";
	if (keyspace->trace)
		return "its keys are those of recorded requests, which a mix replays";
	if (t->n_steps != 1 || step->op->verb != NM_VERB_SET || step->common->count != 1 ||
	    step->in.member || step->in.sequence)
		return "the transaction must have one set, once, and nothing else";
	if (step->ask.keyspace && step->ask.keyspace != &keyspace->keyspace)
		return "its set has another keyspace";
	if (group->attrs.nflows % n_servers(step) != 0)
		return "each server is filled by as many flows: their number must be a multiple of "
		       "that of the servers";
	return NULL;
}

void nm_ir_set_fill(struct nm_ir *ir, struct nm_ir_group *group, struct nm_ir_transaction *t)
{
	struct nm_ir_step *step = &group->steps[t->first];
	const struct nm_ir_keyspace *keyspace = nm_ir_keyspace_find(ir, t->attrs.fill);
	char unknown[256];
	const char *why = unknown;

	if (keyspace)
		why = why_not_filled(keyspace, group, t, step);
	else
		nm_ir_keyspace_nearest(ir, t->attrs.fill, unknown, sizeof unknown);
	if (why) {
		nm_attr_error(ir, t->node, "fill", " fill=\"%s\": %s", t->attrs.fill, why);
		return;
	}
	if (step->ask.batch)
		nm_option_error(ir, step, "batch", " batch: a fill sets one key with each request");
	step->ask.fills = step->ask.own_keys = true;
	t->attrs.total = keyspace->keyspace.count * n_servers(step);
	t->attrs.iterations = (t->attrs.total + group->attrs.nflows - 1) / group->attrs.nflows;
}
