/* SPDX-License-Identifier: Apache-2.0 */
/* The compiled program as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "base/diag.h"
#include "flowop/files.h"
#include "flowop/flowop.h"
#include "flowop/mix.h"
#include "flowop/pseudo_ops.h"
#include "flowop/queue.h"
#include "flowop/pipeline.h"
#include "flowop/rounds.h"
#include "plan/plan.h"
#include "transport/transport.h"

/* Text from the profile: as it is when it is one word, else in quotes, with \\ before what would
 * end them and \\xNN for the bytes of control characters. */
static void dump_text(FILE *out, const char *text, bool quoted)
{
	for (const char *c = text; *c && !quoted; c++)
		quoted = strchr(" \"\\", *c) || nm_control_length(c);
	if (!quoted) {
		fputs(text, out);
		return;
	}
	putc('"', out);
	while (*text) {
		size_t control = nm_control_length(text);

		if (*text == '"' || *text == '\\')
			putc('\\', out);
		if (!control)
			putc(*text++, out);
		for (; control; control--)
			fprintf(out, "\\x%02x", (unsigned char)*text++);
	}
	putc('"', out);
}

/* Exactly, in the largest unit that has no fraction. */
static void dump_duration(FILE *out, uint64_t ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
	size_t i = 0;

	while (ns % units[i].ns)
		i++;
	fprintf(out, "%llu%s", (unsigned long long)(ns / units[i].ns), units[i].name);
}

static void dump_law(FILE *out, const struct nm_law *law)
{
	char text[160];

	if (law->kind == NM_LAW_CONST && law->of == NM_LAW_OF_NS)
		dump_duration(out, law->min);
	else
		fputs(nm_law_text(law, text, sizeof text), out);
}

static void dump_value(FILE *out, const struct nm_opt *opt, const void *field)
{
	switch (opt->type) {
	case NM_TYPE_FLAG:
		fputs(*(const bool *)field ? "yes" : "no", out);
		break;
	case NM_TYPE_DURATION:
		dump_duration(out, *(const uint64_t *)field);
		break;
	case NM_TYPE_DURATION_RANGE:
		dump_duration(out, ((const struct nm_duration_range *)field)->from_ns);
		fputs("..", out);
		dump_duration(out, ((const struct nm_duration_range *)field)->to_ns);
		break;
	case NM_TYPE_RATE:
	case NM_TYPE_BITRATE:
		fprintf(out, "%.15g", *(const double *)field);
		break;
	case NM_TYPE_STRING:
	case NM_TYPE_HOST:
		dump_text(out, *(char *const *)field ? *(char *const *)field : "", false);
		break;
	case NM_TYPE_COUNTS:
	case NM_TYPE_SIZES:
	case NM_TYPE_DURATIONS:
		dump_law(out, field);
		break;
	case NM_TYPE_ENUM:
		fputs(opt->choices[*(const int *)field], out);
		break;
	default:
		fprintf(out, "%llu", (unsigned long long)*(const uint64_t *)field);
	}
}

static bool same_value(const struct nm_opt *opt, const void *a, const void *b)
{
	switch (opt->type) {
	case NM_TYPE_FLAG:
		return *(const bool *)a == *(const bool *)b;
	case NM_TYPE_DURATION_RANGE:
		return memcmp(a, b, sizeof(struct nm_duration_range)) == 0;
	case NM_TYPE_RATE:
	case NM_TYPE_BITRATE:
		return memcmp(a, b, sizeof(double)) == 0;
	case NM_TYPE_STRING:
	case NM_TYPE_HOST: {
		const char *x = *(char *const *)a, *y = *(char *const *)b;

		return strcmp(x ? x : "", y ? y : "") == 0;
	}
	case NM_TYPE_COUNTS:
	case NM_TYPE_SIZES:
	case NM_TYPE_DURATIONS:
		return nm_law_equals(a, b);
	case NM_TYPE_ENUM:
		return *(const int *)a == *(const int *)b;
	default:
		return *(const uint64_t *)a == *(const uint64_t *)b;
	}
}

/* Options that the begin of the line shows anyhow. */
static bool is_shown(const struct nm_opt *opt, unsigned flags)
{
	if ((flags & NM_FLOWOP_MOVES) && !(flags & NM_FLOWOP_FILES))
		return strcmp(opt->name, "size") == 0;
	if (flags & NM_FLOWOP_OPENS)
		return strcmp(opt->name, "remotehost") == 0 || strcmp(opt->name, "protocol") == 0;
	return false;
}

/* The options that differ from their defaults. */
static void dump_options(FILE *out, const struct nm_opt *table, const void *opts, size_t size,
			 unsigned flags)
{
	char *defaults = calloc(1, size + 1);

	if (!defaults || !opts || nm_opts_defaults(table, defaults) < 0) {
		free(defaults);
		return;
	}
	for (const struct nm_opt *opt = table; opt->name; opt++) {
		const void *field = (const char *)opts + opt->offset;

		if (is_shown(opt, flags) || same_value(opt, field, defaults + opt->offset))
			continue;
		fprintf(out, " %s=", opt->name);
		dump_value(out, opt, field);
	}
	nm_opts_fini(table, defaults);
	free(defaults);
}

/* "to 4 (90 %), to 6 (10 %)" */
static void dump_mix(FILE *out, const struct nm_mix *mix, uint32_t index)
{
	if (mix->replays)
		fprintf(out, " as %llu recorded requests say,",
			(unsigned long long)mix->replays->count);
	for (uint32_t i = 0; i < mix->n_members; i++)
		fprintf(out, "%s to %u (%.4g %%)", i ? "," : "", index + mix->members[i].at,
			100 * (double)mix->members[i].weight / (double)mix->weight);
}

/* What stands in the line of one of the compiler's own instructions; false: it is another one. */
static bool dump_pseudo(FILE *out, const struct nm_instr *instr, uint32_t index)
{
	unsigned long long count = instr->count;

	if (instr->op == &nm_pseudo_repeat || instr->op == &nm_pseudo_repeat_in_round) {
		fprintf(out, " until done %llu times", count);
	} else if (instr->op == &nm_pseudo_rounds) {
		fprintf(out, " from %llu, times=", index - count);
		dump_law(out, instr->opts);
	} else if (nm_instr_mix(instr)) {
		dump_mix(out, nm_instr_mix(instr), index);
	} else if (instr->op == &nm_pseudo_jump) {
		fprintf(out, " to %llu", index + count);
	} else if (nm_instr_is_queue(instr)) {
		fprintf(out, " %llu outstanding, asked by %u before it", count,
			instr->pipeline.n_instrs);
	} else if (instr->op == &nm_pseudo_pipeline) {
		fprintf(out, " %llu outstanding, asked by %u, answered by %u before it", count,
			instr->pipeline.n_asks, instr->pipeline.n_instrs - instr->pipeline.n_asks);
	} else if (instr->op == &nm_pseudo_select) {
		fprintf(out, " connection %u", instr->slot);
		if (instr->stride)
			fprintf(out, ", %+d with each pass", instr->stride);
	} else {
		return false;
	}
	fprintf(out, "  (line %u)\n", instr->line);
	return true;
}

static void dump_instr(FILE *out, const struct nm_plan *plan, const struct nm_instr *instr,
		       uint32_t index)
{
	if (!instr->op) {
		fprintf(out, "    %4u  again\n", index);
		return;
	}
	fprintf(out, "    %4u  %-10s", index, instr->op->name);
	if (dump_pseudo(out, instr, index))
		return;
	if (instr->op->flags & NM_FLOWOP_ASKS)
		fprintf(out, " app=%s", instr->ask.app->name);
	if ((instr->op->flags & NM_FLOWOP_MOVES) && !(instr->op->flags & NM_FLOWOP_FILES)) {
		fputs(" size=", out);
		dump_law(out, &((const struct nm_opts_message *)instr->opts)->size);
	}
	if (instr->message.files)
		fprintf(out, " files=%zu", instr->message.files->count);
	if (instr->op->flags & NM_FLOWOP_OPENS)
		fprintf(out, " opening=%u", instr->opening);
	if (instr->transport)
		fprintf(out, " over=%s", instr->transport->name);
	if (instr->transport && instr->host != NM_NO_HOST) {
		fputs(" host=", out);
		dump_text(out, plan->hosts[instr->host], false);
	}
	dump_options(out, instr->op->opts, instr->opts, instr->op->opts_size, instr->op->flags);
	if (instr->open.transport_opts)
		dump_options(out, instr->transport->opts, instr->open.transport_opts,
			     instr->transport->opts_size, 0);
	if (nm_instr_limit_ns(instr)) {
		fputs(" timeout=", out);
		dump_duration(out, nm_instr_limit_ns(instr));
	}
	if (instr->can_fail)
		fputs(" canfail", out);
	fprintf(out, "  (line %u)\n", instr->line);
}

/* How workers with equally many flows wait, and why not in another way. */
static void dump_shape(FILE *out, const struct nm_phase_shape *shape, uint32_t n_workers)
{
	if (n_workers)
		fprintf(out, "       %u worker%s: ", n_workers, n_workers == 1 ? "" : "s");
	else
		fputs("       ", out);
	fprintf(out, "waiter %s", nm_waiter_name((enum nm_waiter_kind)shape->waiter));
	if (*shape->why_waiter)
		fprintf(out, " (%s)", shape->why_waiter);
	fprintf(out, ", deferral %s", nm_defer_name((enum nm_defer_policy)shape->defer));
	if (*shape->why_defer)
		fprintf(out, " (%s)", shape->why_defer);
	putc('\n', out);
}

/* Where some workers have one flow more than others, and that makes a difference, both are
 * shown. */
static void dump_shapes(FILE *out, const struct nm_group *group, const struct nm_phase *phase)
{
	uint32_t n_more = group->n_flows % group->n_workers;

	const struct nm_phase_shape *more = &phase->shapes[0], *fewer = &phase->shapes[1];

	if (!n_more || (more->waiter == fewer->waiter && more->defer == fewer->defer)) {
		dump_shape(out, n_more ? more : fewer, 0);
		return;
	}
	dump_shape(out, more, n_more);
	dump_shape(out, fewer, group->n_workers - n_more);
}

static void dump_backlog(FILE *out, const struct nm_backlog_rules *backlog)
{
	if (backlog->limited)
		fprintf(out, ", queue %u", backlog->queue);
	if (backlog->late_ns) {
		fputs(", drops what is late by ", out);
		dump_duration(out, backlog->late_ns);
	}
	fputs(", drain ", out);
	dump_duration(out, backlog->drain_ns);
}

static void dump_phase(FILE *out, const struct nm_plan *plan, const struct nm_group *group,
		       uint32_t number)
{
	const struct nm_phase *phase = &group->phases[number];
	char text[NM_ARRIVAL_TEXT + 64];

	fprintf(out, "  phase %u%s", number + 1, *phase->name ? " " : "");
	dump_text(out, phase->name, false);
	fputs(": ", out);
	if (phase->empty) {
		fprintf(out, "nothing to do  (line %u)\n", phase->line);
		return;
	}
	if (phase->duration_ns) {
		fputs("for ", out);
		dump_duration(out, phase->duration_ns);
	} else {
		fprintf(out, "%llu time%s", (unsigned long long)phase->iterations,
			phase->iterations == 1 ? "" : "s");
	}
	if (phase->total)
		fprintf(out, " or %llu passes %s", (unsigned long long)phase->total,
			phase->flows.solitary ? "of the first flow" : "in all");
	if (phase->rate_per_s > 0)
		fprintf(out, ", %g a second", phase->rate_per_s);
	if (phase->arrivals.law) {
		fprintf(out, ", arrivals %s",
			nm_arrivals_text(&phase->arrivals, text, sizeof(text)));
		dump_backlog(out, &phase->arrivals.backlog);
	}
	if (nm_phase_measures_flows(phase))
		fprintf(out, ", measures flows by %s",
			nm_ideal_text(&phase->flows.ideal, text, sizeof(text)));
	fprintf(out, ", %s%s", phase->leads ? "leads" : "follows",
		phase->measured ? ", measured" : "");
	if (phase->posts)
		fputs(", by io_uring", out);
	fprintf(out, "  (line %u)\n", phase->line);
	dump_shapes(out, group, phase);
	for (uint32_t i = 0; i <= phase->n_instrs; i++)
		dump_instr(out, plan, &group->instrs[phase->first + i], phase->first + i);
}

static void dump_group(FILE *out, const struct nm_plan *plan, const struct nm_group *group)
{
	fputs("group ", out);
	dump_text(out, group->name, false);
	fprintf(out, ": %u flow%s on %u worker%s", group->n_flows, group->n_flows == 1 ? "" : "s",
		group->n_workers, group->n_workers == 1 ? "" : "s");
	if (!group->runs) {
		fprintf(out, ", not run here  (line %u)\n", group->line);
		return;
	}
	fprintf(out, ", %s%s%sat most %llu bytes a call  (line %u)\n",
		group->spins ? "spinning, " : "", group->awake ? "idle CPUs awake, " : "",
		group->level_triggered ? "level-triggered, " : "",
		(unsigned long long)group->messages.chunk_bytes, group->line);
	for (uint32_t i = 0; i < group->n_phases; i++)
		dump_phase(out, plan, group, i);
}

char *nm_plan_dump(const struct nm_plan *plan)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "%s of profile ", plan->master ? "master" : "slave");
	dump_text(out, plan->name, true);
	fprintf(out, ", %u phase%s\n", plan->n_phases, plan->n_phases == 1 ? "" : "s");
	for (uint32_t g = 0; g < plan->n_groups; g++)
		dump_group(out, plan, &plan->groups[g]);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
