/* SPDX-License-Identifier: Apache-2.0 */
/* The details of a host, on the wire. The master makes its own report in the same way. */
#include <errno.h>
#include <stdlib.h>

#include "control/wire/codec.h"
#include "flowop/flowop.h"
#include "host/clock.h"

#define MAX_RECORD (UINT64_C(1) << 50) /* the most of one bucket: their sums cannot overflow */

static const struct nm_field sums_fields[] = {
	NM_FIELD(U64, struct nm_flowop_sums, operations),
	NM_FIELD(U64, struct nm_flowop_sums, bytes_sent),
	NM_FIELD(U64, struct nm_flowop_sums, bytes_received),
	NM_FIELD(U64, struct nm_flowop_sums, errors),
	NM_FIELD(U64, struct nm_flowop_sums, cpu_ns),
	NM_FIELD(U64, struct nm_flowop_sums, busy_ns),
	NM_FIELD_END,
};

struct flowop {
	struct nm_flowop_sums sums;
	struct nm_outcomes outcomes;
	json_t *hist;
};

static const struct nm_field flowop_fields[] = {
	NM_FIELD(ROW, struct flowop, sums, .fields = sums_fields),
	NM_FIELD(ROW, struct flowop, outcomes, .fields = nm_outcomes_fields),
	NM_FIELD(VALUE, struct flowop, hist),
	NM_FIELD_END,
};

struct transaction {
	uint64_t length_ns;
	struct nm_counts counts;
	json_t *times; /* of each distribution, by enum nm_time; null: empty */
	json_t *flowops;
};

static const struct nm_field transaction_fields[] = {
	NM_FIELD(U64, struct transaction, length_ns),
	NM_FIELD(ROW, struct transaction, counts, .fields = nm_counts_fields),
	NM_FIELD(VALUE, struct transaction, times),
	NM_FIELD(VALUE, struct transaction, flowops),
	NM_FIELD_END,
};

struct group {
	json_t *transactions, *strands;
};

static const struct nm_field group_fields[] = {
	NM_FIELD(VALUE, struct group, transactions),
	NM_FIELD(VALUE, struct group, strands),
	NM_FIELD_END,
};

struct report {
	uint64_t elapsed_ns;
	json_t *groups;
};

static const struct nm_field report_fields[] = {
	NM_FIELD(U64, struct report, elapsed_ns),
	NM_FIELD(VALUE, struct report, groups),
	NM_FIELD_END,
};

static int append(json_t *list, json_t *item)
{
	return json_array_append_new(list, item) < 0 ? -ENOMEM : 0;
}

/* [sum, min, max, bucket, count, bucket, count, ...], or null for an empty one. */
static json_t *pack_hist(const struct nm_hist_snap *hist)
{
	json_t *list;
	int error = 0;

	if (!hist->count)
		return json_null();
	/* A sum that does not fit has lost its upper bits anyhow: nm_hist_mean_s does without. */
	const uint64_t head[] = {hist->sum_ns & INT64_MAX, hist->min_ns, hist->max_ns};

	list = nm_u64s_pack(head, 3);
	for (unsigned i = 0; list && !error && i < NM_HIST_BUCKETS; i++) {
		if (!hist->bucket[i])
			continue;
		error = append(list, json_integer(i));
		if (!error)
			error = append(list, json_integer((json_int_t)hist->bucket[i]));
	}
	return nm_list_or_nothing(list, error);
}

static int unpack_hist(const json_t *list, struct nm_hist_snap *ret)
{
	size_t size = json_array_size(list);
	uint64_t next = 0;

	nm_hist_snap_init(ret);
	if (json_is_null(list))
		return 0;
	if (!json_is_array(list) || size < 5 || size % 2 == 0 ||
	    nm_u64_unpack(json_array_get(list, 0), INT64_MAX, &ret->sum_ns) ||
	    nm_u64_unpack(json_array_get(list, 1), INT64_MAX, &ret->min_ns) ||
	    nm_u64_unpack(json_array_get(list, 2), INT64_MAX, &ret->max_ns) ||
	    ret->min_ns > ret->max_ns)
		return -EPROTO;
	for (size_t i = 3; i < size; i += 2) {
		uint64_t bucket, count;

		if (nm_u64_unpack(json_array_get(list, i), NM_HIST_BUCKETS - 1, &bucket) ||
		    nm_u64_unpack(json_array_get(list, i + 1), MAX_RECORD, &count) ||
		    bucket < next || count == 0)
			return -EPROTO;
		next = bucket + 1;
		ret->bucket[bucket] = count;
		ret->count += count;
	}
	return 0;
}

/* --- packing --- */

/* Room to work in. */
struct work {
	const struct nm_engine *engine;
	const struct nm_plan *plan;
	struct nm_tally_snap *sample; /* owned */
	struct nm_hist_snap hist;
	uint64_t now_ns;
	uint64_t first_ns, last_ns; /* of the run */
};

static json_t *pack_flowops(struct work *work, uint32_t g, const struct nm_phase *phase)
{
	json_t *list = json_array();
	int error = list ? 0 : -ENOMEM;

	for (uint32_t i = phase->first; !error && i < phase->first + phase->n_instrs; i++) {
		struct flowop flowop;

		if (!nm_flowop_is_named(work->plan->groups[g].instrs[i].op))
			continue;
		nm_engine_step_sums(work->engine, g, i, &flowop.sums, &work->hist);
		flowop.outcomes = flowop.sums.outcomes;
		flowop.hist = pack_hist(&work->hist);
		error = append(list, nm_row_pack(flowop_fields, &flowop));
	}
	return nm_list_or_nothing(list, error);
}

static json_t *pack_times(const struct nm_tally_snap *sample)
{
	json_t *list = json_array();
	int error = list ? 0 : -ENOMEM;

	for (unsigned i = 0; !error && i < NM_TIME__SIZED; i++)
		error = append(list, pack_hist(&sample->times[i]));
	return nm_list_or_nothing(list, error);
}

static json_t *pack_transactions(struct work *work, uint32_t g)
{
	const struct nm_group *group = &work->plan->groups[g];
	json_t *list = json_array();
	int error = list ? 0 : -ENOMEM;

	for (uint32_t k = 0; !error && k < group->n_phases; k++) {
		uint64_t begin_ns, end_ns;

		nm_engine_sample(work->engine, g, k, work->sample);
		nm_engine_times(work->engine, g, k, &begin_ns, &end_ns);
		/* The counts of a run that ends in the middle belong to the time until then. */
		if (begin_ns && !end_ns)
			end_ns = work->now_ns;
		if (begin_ns && (!work->first_ns || begin_ns < work->first_ns))
			work->first_ns = begin_ns;
		if (end_ns > work->last_ns)
			work->last_ns = end_ns;
		struct transaction transaction = {
			.length_ns = end_ns > begin_ns ? end_ns - begin_ns : 0,
			.counts = work->sample->counts,
			.times = pack_times(work->sample),
			.flowops = pack_flowops(work, g, &group->phases[k]),
		};

		error = append(list, nm_row_pack(transaction_fields, &transaction));
	}
	return nm_list_or_nothing(list, error);
}

static json_t *pack_strands(const struct work *work, uint32_t g)
{
	json_t *list = json_array();
	int error = list ? 0 : -ENOMEM;

	if (!(nm_engine_details(work->engine) & NM_OBSERVE_FLOWS))
		return list;
	for (uint32_t i = 0; !error && i < work->plan->groups[g].n_flows; i++) {
		struct nm_flowop_sums sums;

		nm_engine_flow_sums(work->engine, g, i, &sums);
		error = append(list, nm_row_pack(sums_fields, &sums));
	}
	return nm_list_or_nothing(list, error);
}

static json_t *pack_group(struct work *work, uint32_t g)
{
	const struct group group = {.transactions = pack_transactions(work, g),
				    .strands = pack_strands(work, g)};

	return nm_row_pack(group_fields, &group);
}

json_t *nm_report_pack(const struct nm_engine *engine, const struct nm_plan *plan)
{
	struct work *work = calloc(1, sizeof *work);
	json_t *groups = json_array();
	int error = -ENOMEM;

	if (work) {
		work->engine = engine;
		work->plan = plan;
		work->now_ns = nm_clock_ns();
		work->sample = nm_tally_snap_new(0);
		error = work->sample && groups ? 0 : -ENOMEM;
	}
	for (uint32_t g = 0; !error && g < plan->n_groups; g++) {
		json_t *item = plan->groups[g].runs ? pack_group(work, g) : json_null();

		error = append(groups, item);
	}
	const struct report report = {
		.elapsed_ns =
			work && work->last_ns > work->first_ns ? work->last_ns - work->first_ns : 0,
		.groups = nm_list_or_nothing(groups, error),
	};

	if (work)
		free(work->sample);
	free(work);
	return nm_fields_pack(report_fields, &report);
}

/* --- unpacking --- */

struct reading {
	const struct nm_percentiles *percentiles;
	struct nm_hist_snap *hist; /* room */
};

static int unpack_flowops(const struct reading *r, const json_t *list, const struct nm_group *group,
			  const struct nm_phase *phase, struct nm_transaction_report *ret)
{
	size_t n = 0;

	ret->flowops = calloc(phase->n_instrs + 1u, sizeof *ret->flowops);
	if (!ret->flowops)
		return -ENOMEM;
	for (uint32_t i = phase->first; i < phase->first + phase->n_instrs; i++) {
		const struct nm_instr *instr = &group->instrs[i];
		const json_t *item = json_array_get(list, n);
		struct flowop of;

		if (!nm_flowop_is_named(instr->op))
			continue;
		if (nm_row_unpack(flowop_fields, item, &of) || unpack_hist(of.hist, r->hist))
			return -EPROTO;
		struct nm_flowop_report *flowop = &ret->flowops[n++];
		struct nm_flowop_sums sums = of.sums;

		*flowop = (struct nm_flowop_report){.name = instr->op->name,
						    .line = instr->line,
						    .operations = sums.operations,
						    .bytes_sent = sums.bytes_sent,
						    .bytes_received = sums.bytes_received,
						    .errors = sums.errors,
						    .outcomes = of.outcomes,
						    .seconds = ret->window.seconds,
						    .cpu_s = (double)sums.cpu_ns / 1e9};
		nm_latency_from_hist(&flowop->time, r->hist, r->percentiles);
		ret->operations += sums.operations;
	}
	ret->n_flowops = n;
	return json_is_array(list) && json_array_size(list) == n ? 0 : -EPROTO;
}

static int unpack_times(const struct reading *r, const json_t *list, struct nm_window *ret)
{
	if (!json_is_array(list) || json_array_size(list) != NM_TIME__SIZED)
		return -EPROTO;
	for (unsigned i = 0; i < NM_TIME__SIZED; i++) {
		if (unpack_hist(json_array_get(list, i), r->hist))
			return -EPROTO;
		nm_latency_from_hist(&ret->times[i], r->hist, r->percentiles);
	}
	return 0;
}

static int unpack_transactions(const struct reading *r, const json_t *list,
			       const struct nm_group *plan, struct nm_group_report *ret)
{
	if (!json_is_array(list) || json_array_size(list) != plan->n_phases)
		return -EPROTO;
	ret->transactions = calloc(plan->n_phases + 1u, sizeof *ret->transactions);
	if (!ret->transactions)
		return -ENOMEM;
	ret->n_transactions = plan->n_phases;
	for (uint32_t k = 0; k < plan->n_phases; k++) {
		struct nm_transaction_report *transaction = &ret->transactions[k];
		const json_t *item = json_array_get(list, k);
		struct transaction of;

		if (nm_row_unpack(transaction_fields, item, &of))
			return -EPROTO;
		transaction->window.counts = of.counts;
		transaction->window.seconds = (double)of.length_ns / 1e9;
		int error = unpack_times(r, of.times, &transaction->window);

		if (!error)
			error = unpack_flowops(r, of.flowops, plan, &plan->phases[k], transaction);
		if (error)
			return error;
		ret->seconds += transaction->window.seconds;
		ret->operations += transaction->operations;
	}
	return 0;
}

static int unpack_strands(const json_t *list, const struct nm_group *plan,
			  struct nm_group_report *ret)
{
	size_t n = json_array_size(list);

	if (!json_is_array(list) || (n && n != plan->n_flows))
		return -EPROTO;
	ret->strands = calloc(n + 1, sizeof *ret->strands);
	if (!ret->strands)
		return -ENOMEM;
	ret->n_strands = n;
	for (size_t i = 0; i < n; i++) {
		struct nm_flowop_sums sums;

		if (nm_row_unpack(sums_fields, json_array_get(list, i), &sums))
			return -EPROTO;
		ret->strands[i] = (struct nm_strand_report){.operations = sums.operations,
							    .bytes_sent = sums.bytes_sent,
							    .bytes_received = sums.bytes_received,
							    .errors = sums.errors,
							    .seconds = (double)sums.busy_ns / 1e9};
	}
	return 0;
}

static int unpack_group(const struct reading *r, const json_t *item, const struct nm_group *plan,
			struct nm_group_report *ret)
{
	if (!plan->runs)
		return json_is_null(item) ? 0 : -EPROTO;
	struct group of;

	if (nm_row_unpack(group_fields, item, &of))
		return -EPROTO;
	int error = unpack_transactions(r, of.transactions, plan, ret);

	return error ? error : unpack_strands(of.strands, plan, ret);
}

int nm_report_unpack(json_t *body, const struct nm_plan *plan,
		     const struct nm_percentiles *percentiles, struct nm_host_report **ret)
{
	struct nm_host_report *report = calloc(1, sizeof *report);
	struct reading r = {.percentiles = percentiles, .hist = malloc(sizeof *r.hist)};
	struct report of;
	int error = report && r.hist ? 0 : -ENOMEM;

	if (!error && (nm_fields_unpack(report_fields, body, &of) || !json_is_array(of.groups) ||
		       json_array_size(of.groups) != plan->n_groups))
		error = -EPROTO;
	if (!error) {
		report->elapsed_s = (double)of.elapsed_ns / 1e9;
		report->n_groups = plan->n_groups;
		report->groups = calloc(plan->n_groups + 1u, sizeof *report->groups);
		error = report->groups ? 0 : -ENOMEM;
	}
	for (uint32_t g = 0; !error && g < plan->n_groups; g++) {
		error = unpack_group(&r, json_array_get(of.groups, g), &plan->groups[g],
				     &report->groups[g]);
		report->operations += report->groups[g].operations;
	}
	free(r.hist);
	if (error)
		report = nm_host_report_free(report);
	*ret = report;
	return error;
}
