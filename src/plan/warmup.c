/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the option --warmup, and puts warm-ups that end by a plateau into a profile: each is the
 * measured transaction itself, unmeasured, until its figure has settled. */
#include "plan/warmup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/opt.h"
#include "base/units.h"
#include "plan/insert.h"
#include "plan/ir.h"
#include "plan/plan.h"

#define WORD "plateau("
#define MAX  ",max="
#define FORM                                                                                       \
	"must be a time, as 5s, or plateau(FIGURE,SHARE,max=TIME), as "                            \
	"plateau(latency.p50,5%,max=60s); " NM_PLATEAU_FIGURES

static const struct nm_opt time_opt = {.name = "warmup", .type = NM_TYPE_DURATION};

static int refuse(char *why, size_t why_size)
{
	(void)snprintf(why, why_size, "%s", FORM);
	return -EINVAL;
}

static int parse_plateau(const char *text, struct nm_warmup *ret, char *why, size_t why_size)
{
	struct nm_warmup warmup = {0};
	const char *max = strstr(text, MAX), *end = text + strlen(text) - 1;
	char plateau[128], longest[32];

	if (!max || *end != ')' || (size_t)(max - text) + 2 > sizeof plateau ||
	    (size_t)(end - max) - strlen(MAX) >= sizeof longest)
		return refuse(why, why_size);
	(void)snprintf(plateau, sizeof plateau, "%.*s)", (int)(max - text), text);
	(void)snprintf(longest, sizeof longest, "%.*s", (int)(end - max - (ptrdiff_t)strlen(MAX)),
		       max + strlen(MAX));
	if (nm_plateau_parse(plateau, &warmup.plateau, why, why_size) != 0 ||
	    nm_parse_duration(longest, NM_READING_NETMODEL, &warmup.max_ns) != 0 ||
	    warmup.max_ns == 0 || warmup.max_ns > NM_PLAN_MAX_WAIT_NS)
		return refuse(why, why_size);
	*ret = warmup;
	return 0;
}

int nm_warmup_parse(const char *text, struct nm_warmup *ret, char *why, size_t why_size)
{
	uint64_t ns;

	if (strncmp(text, WORD, strlen(WORD)) == 0)
		return parse_plateau(text, ret, why, why_size);
	if (nm_opt_set(&time_opt, &ns, text, why, why_size) != 0)
		return -EINVAL;
	*ret = (struct nm_warmup){.ns = ns};
	return 0;
}

/* ---- into a profile ---- */

static struct nm_node *warmup_of(const struct nm_ir_transaction *t, const struct nm_warmup *warmup)
{
	/* What a warm-up has otherwise, or not at all. */
	static const char *const gone[] = {"iterations", "total", "slowdown", "measure"};
	char name[128], until[64], duration[32];
	struct nm_node *node = nm_node_copy(t->node);

	if (!node)
		return NULL;
	(void)snprintf(name, sizeof name, "warm-up%s%.100s", t->attrs.name ? " of " : "",
		       t->attrs.name ? t->attrs.name : "");
	(void)snprintf(until, sizeof until, WORD "%s,%.8f%%)", warmup->plateau.name,
		       warmup->plateau.share * 100);
	(void)snprintf(duration, sizeof duration, "%" PRIu64 "ns", warmup->max_ns);
	for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
		nm_node_remove_attr(node, gone[i]);
	if (nm_node_set_attr(node, "name", name) != 0 ||
	    nm_node_set_attr(node, "until", until) != 0 ||
	    nm_node_set_attr(node, "duration", duration) != 0)
		return nm_node_free(node);
	return node;
}

static bool is_measured(const struct nm_ir *ir, size_t k)
{
	for (size_t g = 0; g < ir->n_groups; g++) {
		const struct nm_ir_group *group = &ir->groups[g];

		if (k < group->n_transactions && group->transactions[k].measured &&
		    group->transactions[k].has_duration)
			return true;
	}
	return false;
}

static int add_warmups(const struct nm_ir *ir, const void *arg)
{
	const struct nm_warmup *warmup = arg;
	int count = 0, error = 0;

	for (size_t g = 0; g < ir->n_groups; g++)
		for (size_t k = 0; k < ir->groups[g].n_transactions && !error; k++) {
			const struct nm_ir_group *group = &ir->groups[g];
			const struct nm_ir_transaction *t = &group->transactions[k];

			if (!is_measured(ir, k))
				continue;
			/* All groups count their phases alike: one that has nothing to warm up
			 * waits for the others. */
			error = nm_ir_insert(group, t,
					     t->has_duration && !nm_ir_is_skipped(t)
						     ? warmup_of(t, warmup)
						     : nm_node_new("transaction", t->line));
			count += t->measured && t->has_duration;
		}
	return error ? error : count;
}

int nm_plan_add_warmups(struct nm_node *root, const struct nm_warmup *warmup)
{
	return nm_ir_change(root, add_warmups, warmup);
}
