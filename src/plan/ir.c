/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the elements of a substituted profile into the intermediate representation: attributes and
 * options typed, flowops looked up, nothing checked beyond one element. */
#include "plan/ir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/ascii.h"
#include "flowop/mix.h"
#include "plan/attributes.h"
#include "plan/diag.h"
#include "plan/mixes.h"
#include "plan/params.h"
#include "plan/plan.h"

/* What may be in an element, NULL behind the last. */
static const char *const in_profile[] = {"group", NULL};
static const char *const in_group[] = {"transaction", NULL};
static const char *const in_transaction[] = {"flowop", "mix", "sequence", NULL};
static const char *const in_mix[] = {"flowop", "sequence", NULL};
static const char *const in_sequence[] = {"flowop", NULL};
static const char *const in_flowop[] = {"header", NULL};

/* Whether the node is one of those that are wanted; otherwise an error says what is wrong. */
static bool expect(struct nm_ir *ir, const struct nm_node *parent, const struct nm_node *node,
		   const char *const *wanted)
{
	const struct nm_element *element = nm_element_find(node->name);
	const char *names[16];
	char parents[64], here[64];
	size_t count = 0, used = 0;

	for (const char *const *w = wanted; *w; w++) {
		const char *between = w == wanted ? "" : w[1] ? ", " : " or ";

		if (nm_ascii_equals(node->name, *w))
			return true;
		used += (size_t)snprintf(here + used, sizeof here - used, "%s<%s>", between, *w);
	}
	for (const struct nm_element *e = nm_elements; e->name; e++)
		names[count++] = e->name;
	const char *nearest = element ? NULL : nm_nearest(node->name, names, count);

	if (element && element->parents[0])
		nm_node_error(ir, node,
			      " inside <%s>: a <%s> belongs inside %s; here %s is allowed",
			      parent->name, node->name,
			      nm_element_parents(element, true, parents, sizeof parents), here);
	else
		nm_node_unknown(ir, node, " inside <%s>: unknown element%s%s%s; here %s is allowed",
				parent->name, nearest ? ", did you mean <" : "",
				nearest ? nearest : "", nearest ? ">?" : "", here);
	return false;
}

/* The flowop that a word of other programs stands for, also when it is misspelt. */
static const char *other_word(const char *type)
{
	static const struct {
		const char *word, *meant;
	} others[] = {
		{"receive", "recv"},  {"transmit", "send"},    {"open", "connect"},
		{"listen", "accept"}, {"close", "disconnect"}, {"sleep", "think"},
	};
	const char *words[sizeof others / sizeof *others];
	size_t count = sizeof others / sizeof *others;

	for (size_t i = 0; i < count; i++)
		words[i] = others[i].word;
	const char *nearest = nm_nearest(type, words, count);

	for (size_t i = 0; nearest && i < count; i++)
		if (words[i] == nearest)
			return others[i].meant;
	return NULL;
}

static void unknown_flowop(struct nm_ir *ir, const struct nm_node *node, const char *type)
{
	const char *names[64];
	char allowed[256];
	size_t count = 0;

	for (const struct nm_flowop *const *op = nm_flowops; *op && count < 64; op++)
		names[count++] = (*op)->name;
	const char *nearest = nm_nearest(type, names, count);

	if (!nearest)
		nearest = other_word(type);
	nm_ir_list_flowops(allowed, sizeof allowed);
	nm_origin_of_attr(nm_node_unknown(ir, node,
					  " type=\"%s\": unknown flowop%s%s%s; must be one of: %s",
					  type, nearest ? ", did you mean \"" : "",
					  nearest ? nearest : "", nearest ? "\"?" : "", allowed),
			  node, "type");
}

/* Thinks are numbered from the upper half of all numbers on, and mixes and sequences from the upper
 * half of that. */
#define FIRST_THINK (UINT32_MAX / 2 + 1)
#define FIRST_MIX   (UINT32_MAX / 4 * 3 + 1)

static uint32_t count_mixes(const struct nm_ir_group *group)
{
	return (uint32_t)(group->n_mixes + group->n_sequences);
}

static uint32_t count_others(const struct nm_ir_group *group)
{
	return (uint32_t)group->n_steps - group->n_thinks;
}

/* The next of a kind that has so many numbers from first on, some in transactions before. */
static struct nm_ir_site site_at(uint32_t first, uint32_t count, uint32_t before)
{
	return (struct nm_ir_site){first + count, first + count - before};
}

static struct nm_ir_site next_mix_site(const struct nm_ir_group *group)
{
	return site_at(FIRST_MIX, count_mixes(group), group->before.mixes);
}

static struct nm_ir_site next_site(struct nm_ir_group *group, const struct nm_flowop *op)
{
	if (op->flags & NM_FLOWOP_THINKS)
		return site_at(FIRST_THINK, group->n_thinks++, group->before.thinks);
	return site_at(0, count_others(group), group->before.others);
}

/* Opening or closing several connections is as many flowops. */
static void add_step(struct nm_ir *ir, struct nm_ir_group *group, const struct nm_ir_step *step)
{
	bool unrolled = step->op->flags & (NM_FLOWOP_OPENS | NM_FLOWOP_CLOSES);
	uint64_t count = unrolled ? step->common->count : 1;

	if (count > NM_PLAN_MAX_INSTRS - group->n_steps) {
		nm_origin_option(
			nm_step_error(ir, step,
				      " count=\"%llu\": the group would have more than %d flowops",
				      (unsigned long long)count, NM_PLAN_MAX_INSTRS),
			step, "count");
		count = 0;
	}
	if (group->n_steps + count > group->room) {
		size_t room = 2 * group->room + count;
		struct nm_ir_step *steps = realloc(group->steps, room * sizeof *steps);

		if (!steps) {
			nm_diag_error(ir->diags, ir->file, step->line, "out of memory");
			return;
		}
		group->steps = steps;
		group->room = room;
	}
	for (uint64_t i = 0; i < count; i++) {
		group->steps[group->n_steps] = *step;
		group->steps[group->n_steps].site = next_site(group, step->op);
		if (unrolled)
			group->steps[group->n_steps].unrolled = true;
		group->n_steps++;
	}
}

static void check_weight(struct nm_ir *ir, const struct nm_node *node,
			 const struct nm_ir_group *group, struct nm_ir_within within)
{
	const char *weight = nm_node_attr(node, "weight");
	const struct nm_ir_mix *mix = within.sequence ? NULL : nm_ir_mix_of(group, within.member);
	bool replays = mix && mix->replay;

	if (weight && (!mix || replays))
		nm_origin_of_attr(nm_node_error(ir, node,
						" weight=\"%s\": only in a <mix>%s, "
						"which draws by it",
						weight, replays ? " without replay" : ""),
				  node, "weight");
}

static void check_text(struct nm_ir *ir, const struct nm_node *node, const struct nm_ir_step *step)
{
	const char *text = nm_node_attr(node, "text");

	if (step->op && text && step->op->verb != NM_VERB_COMMAND)
		nm_origin_of_attr(nm_node_error(ir, node, " text=\"%.64s\": only of command", text),
				  node, "text");
}

/* For their form alone: what they say is of their application protocol. */
static void read_headers(struct nm_ir *ir, const struct nm_node *node,
			 const struct nm_ir_step *step)
{
	const struct nm_opt *table = nm_element_find("header")->attrs;

	for (size_t i = 0; i < node->n_children; i++) {
		const struct nm_node *child = node->children[i];
		struct nm_header_attrs attrs = {0};

		if (!expect(ir, node, child, in_flowop))
			continue;
		nm_ir_attrs(ir, child, &attrs);
		nm_opts_fini(table, &attrs);
		if (step->op && step->op->verb != NM_VERB_HTTP)
			nm_node_error(ir, child, " inside <flowop %s>: only http has fields",
				      step->op->name);
		for (size_t k = 0; k < child->n_children; k++)
			nm_diag_error(ir->diags, ir->file, child->children[k]->line,
				      "<%s> inside <header>: a header has no elements inside",
				      child->children[k]->name);
	}
}

/* Answers the flowop's weight. */
static uint64_t read_flowop(struct nm_ir *ir, const struct nm_node *node, struct nm_ir_group *group,
			    struct nm_ir_within within)
{
	struct nm_flowop_attrs attrs = {0};
	struct nm_ir_step step = {
		.line = node->line, .host = NM_NO_HOST, .in = within, .written.node = node};

	nm_ir_attrs(ir, node, &attrs);
	for (size_t i = 0; i < node->n_attrs; i++)
		if (nm_ascii_equals(node->attrs[i].name, "options"))
			step.written.options = &node->attrs[i];
	check_weight(ir, node, group, within);
	if (attrs.type) {
		step.op = nm_flowop_find(attrs.type);
		if (step.op)
			nm_ir_options(ir, &step);
		else
			unknown_flowop(ir, node, attrs.type);
	}
	check_text(ir, node, &step);
	read_headers(ir, node, &step);
	nm_opts_fini(nm_element_find("flowop")->attrs, &attrs);
	if (step.op && step.opts && !step.absent)
		add_step(ir, group, &step);
	return attrs.weight;
}

/* Answers the sequence's weight. One of which when= and unless= leave nothing is not there. */
static uint64_t read_sequence(struct nm_ir *ir, const struct nm_node *node,
			      struct nm_ir_group *group, uint32_t member)
{
	const struct nm_opt *table = nm_element_find("sequence")->attrs;
	struct nm_sequence_attrs *attrs = nm_arena_opts(ir->arena, table, sizeof *attrs);
	const struct nm_ir_within within = {member, (uint32_t)group->n_sequences + 1};
	const size_t n_steps = group->n_steps;

	if (!attrs) {
		nm_diag_error(ir->diags, ir->file, node->line, "out of memory");
		return 0;
	}
	nm_ir_attrs(ir, node, attrs);
	check_weight(ir, node, group, (struct nm_ir_within){.member = member});
	group->sequences[group->n_sequences] = (struct nm_ir_sequence){
		.line = node->line, .site = next_mix_site(group), .count = &attrs->count};
	if (node->n_children == 0)
		nm_node_error(ir, node, ": has no flowops");
	for (size_t i = 0; i < node->n_children; i++)
		if (expect(ir, node, node->children[i], in_sequence))
			read_flowop(ir, node->children[i], group, within);
	group->n_sequences += group->n_steps > n_steps;
	return attrs->weight;
}

/* Makes the table by which the mix draws. */
static void weigh(struct nm_ir *ir, const struct nm_ir_group *group, struct nm_ir_mix *mix)
{
	uint64_t *weights = calloc(mix->n_members + 1, sizeof *weights);
	uint64_t sum = 0;

	for (size_t i = 0; weights && i < mix->n_members; i++)
		sum += weights[i] = group->members[mix->first + i].weight;
	if (sum)
		mix->table = nm_mix_new(weights, (uint32_t)mix->n_members);
	else if (weights && mix->n_members && !mix->replay)
		nm_node_error(ir, mix->node,
			      ": all its weights are 0, so that nothing can be drawn");
	if (!weights || (sum && (!mix->table || nm_arena_keep(ir->arena, mix->table) < 0)))
		nm_diag_error(ir->diags, ir->file, mix->node->line, "out of memory");
	free(weights);
}

/* A member of which when= and unless= leave nothing is no part of the mix. */
static void read_mix(struct nm_ir *ir, const struct nm_node *node, struct nm_ir_group *group)
{
	const struct nm_ir_site site = next_mix_site(group);
	struct nm_ir_mix *mix = &group->mixes[group->n_mixes++];
	struct nm_mix_attrs *attrs =
		nm_arena_opts(ir->arena, nm_element_find("mix")->attrs, sizeof *attrs);

	*mix = (struct nm_ir_mix){.node = node, .site = site, .first = group->n_members};
	if (!attrs) {
		nm_diag_error(ir->diags, ir->file, node->line, "out of memory");
		return;
	}
	nm_ir_attrs(ir, node, attrs);
	mix->replay = attrs->replay;
	if (node->n_children == 0)
		nm_node_error(ir, node, ": has no flowops of which one could be drawn");
	for (size_t i = 0; i < node->n_children; i++) {
		struct nm_ir_member *member = &group->members[group->n_members];
		const struct nm_ir_within within = {.member = (uint32_t)group->n_members + 1};
		size_t n_steps = group->n_steps;

		if (!expect(ir, node, node->children[i], in_mix))
			continue;
		member->mix = (uint32_t)(mix - group->mixes);
		member->weight =
			nm_ascii_equals(node->children[i]->name, "sequence")
				? read_sequence(ir, node->children[i], group, within.member)
				: read_flowop(ir, node->children[i], group, within);
		group->n_members += group->n_steps > n_steps;
	}
	mix->n_members = group->n_members - mix->first;
	weigh(ir, group, mix);
}

static bool has_other_attr(const struct nm_node *node, const char *name)
{
	for (size_t i = 0; i < node->n_attrs; i++)
		if (!nm_ascii_equals(node->attrs[i].name, name))
			return true;
	return false;
}

static void check_transaction(struct nm_ir *ir, const struct nm_node *node,
			      struct nm_ir_transaction *t)
{
	if (t->has_duration && t->has_iterations)
		nm_node_warn(ir, node, ": has both iterations and duration; duration counts");
	if (t->attrs.total && !t->has_duration)
		nm_origin_of_attr(
			nm_node_error(ir, node,
				      " total=\"%llu\": only with a duration, which it may end "
				      "before its time",
				      (unsigned long long)t->attrs.total),
			node, "total");
	if (nm_node_attr(node, "lanes") && !nm_node_attr(node, "arrivals"))
		nm_origin_of_attr(nm_node_error(ir, node,
						" lanes=\"%llu\": only with arrivals, whose "
						"schedule has them",
						(unsigned long long)t->attrs.lanes),
				  node, "lanes");
	if (node->n_children == 0 && has_other_attr(node, "name"))
		nm_node_error(ir, node,
			      ": has no flowops; without them it may have a name only, and waits "
			      "until the other groups have done theirs");
}

/* The three ways to tell how often passes are due. */
static void set_rate(struct nm_ir *ir, const struct nm_node *node, const struct nm_ir_group *group,
		     struct nm_transaction_attrs *attrs)
{
	unsigned given = (attrs->rate_per_s > 0) + !!attrs->period_ns + !!attrs->spacing_ns;

	if (given > 1)
		nm_node_error(ir, node,
			      ": rate, period and spacing say the same; only one of "
			      "them may be given");
	if (attrs->period_ns)
		attrs->rate_per_s = 1e9 / (double)attrs->period_ns;
	else if (attrs->spacing_ns)
		attrs->rate_per_s = 1e9 / ((double)attrs->spacing_ns * (double)group->attrs.nflows);
}

static void read_arrivals(struct nm_ir *ir, const struct nm_node *node, struct nm_ir_transaction *t)
{
	char why[512];

	if (t->attrs.arrivals && *t->attrs.arrivals &&
	    nm_arrivals_parse(t->attrs.arrivals, t->attrs.duration_ns, &t->arrivals, why,
			      sizeof(why)) != 0)
		nm_origin_of_attr(nm_node_error(ir, node, " arrivals=%s", why), node, "arrivals");
}

static void read_until(struct nm_ir *ir, const struct nm_node *node, struct nm_ir_transaction *t)
{
	char why[256] = "";

	if (!t->attrs.until || !*t->attrs.until)
		return;
	if (nm_plateau_parse(t->attrs.until, &t->until, why, sizeof why) == 0) {
		if (!t->has_duration)
			(void)snprintf(why, sizeof why,
				       "only with a duration, in which the figure has to settle");
		else if (t->attrs.measure == NM_MEASURE_YES)
			(void)snprintf(why, sizeof why,
				       "not with measure=\"yes\": a warm-up is not measured");
		else if (t->until.figure == NM_PLATEAU_RESPONSE && !t->arrivals.law &&
			 t->attrs.rate_per_s <= 0)
			(void)snprintf(why, sizeof why,
				       "only with a rate or arrivals there are response times");
		if (!*why) {
			t->attrs.measure = NM_MEASURE_NO;
			return;
		}
	}
	nm_origin_of_attr(nm_node_error(ir, node, " until=\"%s\": %s", t->attrs.until, why), node,
			  "until");
}

static void read_transaction(struct nm_ir *ir, const struct nm_node *node,
			     struct nm_ir_group *group)
{
	struct nm_ir_transaction *t = &group->transactions[group->n_transactions++];

	t->line = node->line;
	t->node = node;
	t->first = group->n_steps;
	group->before.thinks = group->n_thinks;
	group->before.others = count_others(group);
	group->before.mixes = count_mixes(group);
	t->has_iterations = nm_node_attr(node, "iterations") != NULL;
	t->has_duration = nm_node_attr(node, "duration") != NULL;
	nm_ir_attrs(ir, node, &t->attrs);
	set_rate(ir, node, group, &t->attrs);
	read_arrivals(ir, node, t);
	nm_ir_read_backlog(ir, node, t);
	read_until(ir, node, t);
	for (size_t i = 0; i < node->n_children; i++)
		if (!expect(ir, node, node->children[i], in_transaction))
			continue;
		else if (nm_ascii_equals(node->children[i]->name, "mix"))
			read_mix(ir, node->children[i], group);
		else if (nm_ascii_equals(node->children[i]->name, "sequence"))
			read_sequence(ir, node->children[i], group, 0);
		else
			read_flowop(ir, node->children[i], group, (struct nm_ir_within){0, 0});
	t->n_steps = group->n_steps - t->first;
	t->left_out = node->n_children && !t->n_steps;
	check_transaction(ir, node, t);
}

/* How many elements of the name an element has, however deep. */
static size_t count_elements(const struct nm_node *node, const char *name)
{
	size_t count = nm_ascii_equals(node->name, name);

	for (size_t i = 0; i < node->n_children; i++)
		count += count_elements(node->children[i], name);
	return count;
}

/* Sets how many flows the group has, and the workers that run them. */
static void size_group(struct nm_ir *ir, const struct nm_node *node, struct nm_ir_group *group)
{
	struct nm_group_attrs *attrs = &group->attrs;
	const char *by = attrs->workers ? "workers" : attrs->nprocs ? "nprocs" : "nthreads";
	/* A value that was given and is not there was wrong, and has been reported. */
	bool told = (nm_node_attr(node, "nflows") && !attrs->nflows) ||
		    (nm_node_attr(node, "nthreads") && !attrs->nthreads) ||
		    (nm_node_attr(node, "nprocs") && !attrs->nprocs);
	bool given = attrs->nflows > 0;
	uint64_t strands = attrs->nprocs ? attrs->nprocs : attrs->nthreads ? attrs->nthreads : 1;

	if (attrs->nprocs && attrs->nthreads)
		nm_node_warn(ir, node, ": has both nthreads and nprocs; nprocs counts");
	if (!attrs->workers)
		attrs->workers = strands;
	if (!attrs->nflows)
		attrs->nflows = strands;
	if (attrs->workers <= attrs->nflows || told)
		return;
	struct nm_diag *diag =
		given ? nm_node_error(
				ir, node,
				" nflows=\"%llu\": must be at least %s=\"%llu\", so that each "
				"worker has a flow",
				(unsigned long long)attrs->nflows, by,
				(unsigned long long)attrs->workers)
		      : nm_node_error(ir, node,
				      " workers=\"%llu\": must be at most the number of flows, "
				      "%llu, so that each worker has a flow",
				      (unsigned long long)attrs->workers,
				      (unsigned long long)attrs->nflows);
	if (!given || !nm_origin_of_attr(diag, node, "nflows"))
		(void)nm_origin_of_attr(diag, node, by);
}

static void read_group(struct nm_ir *ir, const struct nm_node *node)
{
	struct nm_ir_group *group = &ir->groups[ir->n_groups++];
	size_t n_flowops = count_elements(node, "flowop"), errors = ir->diags->n_errors;
	size_t n_sequences = count_elements(node, "sequence");

	group->line = node->line;
	group->node = node;
	nm_ir_attrs(ir, node, &group->attrs);
	size_group(ir, node, group);
	if (node->n_children == 0)
		nm_node_error(ir, node, ": has no transactions");
	if (node->n_children > NM_PLAN_MAX_PHASES || n_flowops > NM_PLAN_MAX_INSTRS) {
		nm_node_error(ir, node,
			      ": has %zu transactions and %zu flowops; at most %d and %d "
			      "are allowed",
			      node->n_children, n_flowops, NM_PLAN_MAX_PHASES, NM_PLAN_MAX_INSTRS);
		return;
	}
	group->room = n_flowops + 1;
	group->steps = calloc(group->room, sizeof(*group->steps));
	group->transactions = calloc(node->n_children + 1, sizeof(*group->transactions));
	group->mixes = calloc(count_elements(node, "mix") + 1, sizeof(*group->mixes));
	group->sequences = calloc(n_sequences + 1, sizeof(*group->sequences));
	group->members = calloc(n_flowops + n_sequences + 1, sizeof(*group->members));
	if (!group->steps || !group->transactions || !group->mixes || !group->sequences ||
	    !group->members) {
		nm_diag_error(ir->diags, ir->file, node->line, "out of memory");
		return;
	}
	for (size_t i = 0; i < node->n_children; i++)
		if (expect(ir, node, node->children[i], in_group))
			read_transaction(ir, node->children[i], group);
	nm_ir_pace_connects(ir, group);
	if (n_flowops == 0 && ir->diags->n_errors == errors)
		nm_node_error(ir, node, ": has no flowops in any of its transactions");
}

static void free_group(struct nm_ir_group *group)
{
	for (size_t t = 0; t < group->n_transactions; t++)
		nm_opts_fini(nm_element_find("transaction")->attrs, &group->transactions[t].attrs);
	nm_opts_fini(nm_element_find("group")->attrs, &group->attrs);
	free(group->transactions);
	free(group->mixes);
	free(group->sequences);
	free(group->members);
	free(group->steps);
}

/* A group of which when= and unless= leave nothing is no part of the profile. */
static void drop_empty(struct nm_ir *ir, const struct nm_node *node)
{
	struct nm_ir_group *group = &ir->groups[ir->n_groups - 1];

	if (group->n_steps || !count_elements(node, "flowop"))
		return;
	free_group(group);
	*group = (struct nm_ir_group){.line = 0};
	ir->n_groups--;
}

/* Results go by the names of groups. */
static void warn_same_names(struct nm_ir *ir)
{
	for (size_t g = 1; g < ir->n_groups; g++) {
		const struct nm_ir_group *group = &ir->groups[g];
		const struct nm_ir_group *other = NULL;
		size_t count = 0;

		for (size_t k = 0; group->attrs.name && k < g && count < 2; k++) {
			if (!ir->groups[k].attrs.name ||
			    strcmp(ir->groups[k].attrs.name, group->attrs.name) != 0)
				continue;
			other = &ir->groups[k];
			count++;
		}
		if (count == 1) /* once for each name */
			nm_diag_warn(ir->diags, ir->file, group->line,
				     "<group> name=\"%s\": the group of line %u has the same name",
				     group->attrs.name, other->line);
	}
}

static bool is_require(const struct nm_node *node)
{
	return nm_ascii_equals(node->name, "require");
}

/* Requirements concern the result and not the traffic: the master reads them from the tree when it
 * judges (lib/load.h), and here only their form is checked. */
static void check_require(struct nm_ir *ir, const struct nm_node *node)
{
	struct nm_require_attrs attrs = {.that = NULL};

	nm_ir_attrs(ir, node, &attrs);
	nm_opts_fini(nm_element_find("require")->attrs, &attrs);
	for (size_t i = 0; i < node->n_children; i++)
		nm_diag_error(ir->diags, ir->file, node->children[i]->line,
			      "<%s> inside <require>: a require has no elements inside",
			      node->children[i]->name);
}

static bool is_keyspace(const struct nm_node *node)
{
	return nm_ascii_equals(node->name, "keyspace");
}

/* The elements of a profile that are to be groups. */
static size_t count_groups(const struct nm_node *root)
{
	size_t count = 0;

	for (size_t i = 0; i < root->n_children; i++)
		count += !is_require(root->children[i]) && !is_keyspace(root->children[i]);
	return count;
}

void nm_ir_read(struct nm_ir *ir, const struct nm_node *root)
{
	size_t n_groups = count_groups(root);

	if (!nm_ascii_equals(root->name, "profile")) {
		nm_diag_error(ir->diags, ir->file, root->line,
			      "<%s>: the outermost element must be <profile>", root->name);
		return;
	}
	nm_ir_attrs(ir, root, &ir->attrs);
	if (n_groups == 0)
		nm_diag_error(ir->diags, ir->file, root->line, "<profile>: has no groups");
	if (n_groups > NM_PLAN_MAX_GROUPS) {
		nm_diag_error(ir->diags, ir->file, root->line,
			      "<profile>: has %zu groups; at most %d are allowed", n_groups,
			      NM_PLAN_MAX_GROUPS);
		return;
	}
	ir->groups = calloc(n_groups + 1, sizeof(*ir->groups));
	if (!ir->groups) {
		nm_diag_error(ir->diags, ir->file, root->line, "out of memory");
		return;
	}
	for (size_t i = 0; i < root->n_children; i++)
		if (is_require(root->children[i])) {
			check_require(ir, root->children[i]);
		} else if (is_keyspace(root->children[i])) {
			nm_ir_read_keyspace(ir, root->children[i]);
		} else if (expect(ir, root, root->children[i], in_profile)) {
			read_group(ir, root->children[i]);
			drop_empty(ir, root->children[i]);
		}
	if (n_groups && !ir->n_groups && !ir->diags->n_errors)
		nm_diag_error(ir->diags, ir->file, root->line,
			      "<profile>: when and unless leave nothing of it");
	warn_same_names(ir);
}

void nm_ir_fini(struct nm_ir *ir)
{
	for (size_t g = 0; g < ir->n_groups; g++)
		free_group(&ir->groups[g]);
	nm_opts_fini(nm_element_find("profile")->attrs, &ir->attrs);
	for (uint32_t h = 0; h < ir->n_hosts; h++)
		free(ir->hosts[h]);
	free(ir->hosts);
	free(ir->groups);
}
