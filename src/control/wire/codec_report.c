/* SPDX-License-Identifier: Apache-2.0 */
/* What a host did in detail, on the wire. The master makes its own report in the same way. */
#include <errno.h>
#include <stdlib.h>

#include "control/wire/codec.h"
#include "flowop/flowop.h"
#include "host/clock.h"

#define N_SUMS	   6
#define MAX_RECORD (UINT64_C(1) << 50) /* of one bucket: their sums cannot overflow */

static json_t *pack_sums(const struct nm_detail_sums *sums)
{
	const uint64_t values[N_SUMS] = {sums->operations, sums->bytes_sent, sums->bytes_received,
					 sums->errors,	   sums->cpu_ns,     sums->busy_ns};

	return nm_u64s_pack(values, N_SUMS);
}

static int unpack_sums(const json_t *list, struct nm_detail_sums *ret)
{
	uint64_t values[N_SUMS];

	if (nm_u64s_unpack(list, values, N_SUMS))
		return -EPROTO;
	*ret = (struct nm_detail_sums){.operations = values[0],
				       .bytes_sent = values[1],
				       .bytes_received = values[2],
				       .errors = values[3],
				       .cpu_ns = values[4],
				       .busy_ns = values[5]};
	return 0;
}

static int append(json_t *list, json_t *item)
{
	return json_array_append_new(list, item) < 0 ? -ENOMEM : 0;
}

static json_t *or_nothing(json_t *list, int error)
{
	if (!error)
		return list;
	json_decref(list);
	return NULL;
}

/* [sum, min, max, bucket, count, bucket, count, ...], or null for an empty one. */
static json_t *pack_hist(const struct nm_hist_snap *hist)
{
	json_t *list;
	int error = 0;

	if (!hist->count)
		return json_null();
	const uint64_t head[] = {hist->sum_ns, hist->min_ns, hist->max_ns};

	list = nm_u64s_pack(head, 3);
	for (unsigned i = 0; list && !error && i < NM_HIST_BUCKETS; i++) {
		if (!hist->bucket[i])
			continue;
		error = append(list, json_integer(i));
		if (!error)
			error = append(list, json_integer((json_int_t)hist->bucket[i]));
	}
	return or_nothing(list, error);
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
	struct nm_sample sample;
	struct nm_hist_snap hist;
	uint64_t now_ns;
	uint64_t first_ns, last_ns; /* of the run */
};

static json_t *pack_flowops(struct work *work, uint32_t g, const struct nm_phase *phase)
{
	json_t *list = json_array();
	int error = list ? 0 : -ENOMEM;

	for (uint32_t i = phase->first; !error && i < phase->first + phase->n_instrs; i++) {
		struct nm_detail_sums sums;

		if (!nm_flowop_is_named(work->plan->groups[g].instrs[i].op))
			continue;
		nm_engine_step_sums(work->engine, g, i, &sums, &work->hist);
		error = append(list, json_pack("[o,o]", pack_sums(&sums), pack_hist(&work->hist)));
	}
	return or_nothing(list, error);
}

static json_t *pack_transactions(struct work *work, uint32_t g)
{
	const struct nm_group *group = &work->plan->groups[g];
	json_t *list = json_array();
	int error = list ? 0 : -ENOMEM;

	for (uint32_t k = 0; !error && k < group->n_phases; k++) {
		uint64_t begin_ns, end_ns;

		nm_engine_sample(work->engine, g, k, &work->sample);
		nm_engine_times(work->engine, g, k, &begin_ns, &end_ns);
		/* What a run that ends in the middle has counted belongs to the time until then. */
		if (begin_ns && !end_ns)
			end_ns = work->now_ns;
		if (begin_ns && (!work->first_ns || begin_ns < work->first_ns))
			work->first_ns = begin_ns;
		if (end_ns > work->last_ns)
			work->last_ns = end_ns;
		json_t *flowops = pack_flowops(work, g, &group->phases[k]);
		uint64_t length_ns = end_ns > begin_ns ? end_ns - begin_ns : 0;

		error = append(list, json_pack("[I,o,o,o]", (json_int_t)length_ns,
					       nm_counts_pack(&work->sample.counts),
					       pack_hist(&work->sample.latency), flowops));
	}
	return or_nothing(list, error);
}

static json_t *pack_strands(const struct work *work, uint32_t g)
{
	json_t *list = json_array();
	int error = list ? 0 : -ENOMEM;

	if (!(nm_engine_details(work->engine) & NM_DETAIL_STRANDS))
		return list;
	for (uint32_t i = 0; !error && i < work->plan->groups[g].n_flows; i++) {
		struct nm_detail_sums sums;

		nm_engine_flow_sums(work->engine, g, i, &sums);
		error = append(list, pack_sums(&sums));
	}
	return or_nothing(list, error);
}

json_t *nm_report_pack(const struct nm_engine *engine, const struct nm_plan *plan)
{
	struct work *work = calloc(1, sizeof *work);
	json_t *groups = json_array();
	int error = work && groups ? 0 : -ENOMEM;

	if (work)
		*work = (struct work){.engine = engine, .plan = plan, .now_ns = nm_clock_ns()};
	for (uint32_t g = 0; !error && g < plan->n_groups; g++) {
		json_t *item = plan->groups[g].runs ? json_pack("[o,o]", pack_transactions(work, g),
								pack_strands(work, g))
						    : json_null();

		error = append(groups, item);
	}
	groups = or_nothing(groups, error);
	uint64_t elapsed_ns =
		work && work->last_ns > work->first_ns ? work->last_ns - work->first_ns : 0;

	free(work);
	return json_pack("{s:I,s:o}", "elapsed_ns", (json_int_t)elapsed_ns, "groups", groups);
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
		struct nm_detail_sums sums;

		if (!nm_flowop_is_named(instr->op))
			continue;
		if (!json_is_array(item) || json_array_size(item) != 2 ||
		    unpack_sums(json_array_get(item, 0), &sums) ||
		    unpack_hist(json_array_get(item, 1), r->hist))
			return -EPROTO;
		struct nm_flowop_report *flowop = &ret->flowops[n++];

		*flowop = (struct nm_flowop_report){.name = instr->op->name,
						    .line = instr->line,
						    .operations = sums.operations,
						    .bytes_sent = sums.bytes_sent,
						    .bytes_received = sums.bytes_received,
						    .errors = sums.errors,
						    .cpu_s = (double)sums.cpu_ns / 1e9};
		nm_latency_from_hist(&flowop->time, r->hist, r->percentiles);
		ret->operations += sums.operations;
	}
	ret->n_flowops = n;
	return json_is_array(list) && json_array_size(list) == n ? 0 : -EPROTO;
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
		uint64_t length_ns;

		if (!json_is_array(item) || json_array_size(item) != 4 ||
		    nm_u64_unpack(json_array_get(item, 0), INT64_MAX, &length_ns) ||
		    nm_counts_unpack(json_array_get(item, 1), &transaction->counts) ||
		    unpack_hist(json_array_get(item, 2), r->hist))
			return -EPROTO;
		transaction->seconds = (double)length_ns / 1e9;
		nm_latency_from_hist(&transaction->latency, r->hist, r->percentiles);
		int error = unpack_flowops(r, json_array_get(item, 3), plan, &plan->phases[k],
					   transaction);

		if (error)
			return error;
		ret->seconds += transaction->seconds;
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
		struct nm_detail_sums sums;

		if (unpack_sums(json_array_get(list, i), &sums))
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
	if (!json_is_array(item) || json_array_size(item) != 2)
		return -EPROTO;
	int error = unpack_transactions(r, json_array_get(item, 0), plan, ret);

	return error ? error : unpack_strands(json_array_get(item, 1), plan, ret);
}

int nm_report_unpack(json_t *body, const struct nm_plan *plan,
		     const struct nm_percentiles *percentiles, struct nm_host_report **ret)
{
	struct nm_host_report *report = calloc(1, sizeof *report);
	struct reading r = {.percentiles = percentiles, .hist = malloc(sizeof *r.hist)};
	json_t *elapsed, *groups;
	uint64_t elapsed_ns;
	int error = report && r.hist ? 0 : -ENOMEM;

	if (!error && (json_unpack_ex(body, NULL, JSON_STRICT, "{s:o,s:o}", "elapsed_ns", &elapsed,
				      "groups", &groups) < 0 ||
		       nm_u64_unpack(elapsed, INT64_MAX, &elapsed_ns) || !json_is_array(groups) ||
		       json_array_size(groups) != plan->n_groups))
		error = -EPROTO;
	if (!error) {
		report->elapsed_s = (double)elapsed_ns / 1e9;
		report->n_groups = plan->n_groups;
		report->groups = calloc(plan->n_groups + 1u, sizeof *report->groups);
		error = report->groups ? 0 : -ENOMEM;
	}
	for (uint32_t g = 0; !error && g < plan->n_groups; g++) {
		error = unpack_group(&r, json_array_get(groups, g), &plan->groups[g],
				     &report->groups[g]);
		report->operations += report->groups[g].operations;
	}
	free(r.hist);
	if (error)
		report = nm_host_report_free(report);
	*ret = report;
	return error;
}

/* --- counters of the hardware --- */

json_t *nm_perf_pack(const struct nm_perf_values *values)
{
	json_t *list = json_array();
	int error = list ? 0 : -ENOMEM;

	for (size_t i = 0; !error && i < values->count; i++) {
		const struct nm_perf_value *v = &values->items[i];
		json_t *user = v->has_user ? json_integer((json_int_t)v->user) : json_null();
		json_t *kernel = v->has_kernel ? json_integer((json_int_t)v->kernel) : json_null();
		json_t *total = v->has_total ? json_integer((json_int_t)v->total) : json_null();

		error = append(list, json_pack("[o,o,o,o,o,f]", nm_text_pack(v->name), user, kernel,
					       total, nm_text_pack(v->why), v->share));
	}
	return or_nothing(list, error);
}

static int unpack_side(const json_t *value, bool *has, uint64_t *ret)
{
	*has = !json_is_null(value);
	return *has ? nm_u64_unpack(value, INT64_MAX, ret) : 0;
}

int nm_perf_unpack(const json_t *list, struct nm_perf_values *ret)
{
	if (!json_is_array(list) || json_array_size(list) > NM_PERF_MAX)
		return -EPROTO;
	*ret = (struct nm_perf_values){.count = json_array_size(list)};
	for (size_t i = 0; i < ret->count; i++) {
		const json_t *item = json_array_get(list, i);
		struct nm_perf_value *v = &ret->items[i];

		if (!json_is_array(item) || json_array_size(item) != 6 ||
		    nm_text_copy(json_array_get(item, 0), v->name, sizeof v->name) ||
		    unpack_side(json_array_get(item, 1), &v->has_user, &v->user) ||
		    unpack_side(json_array_get(item, 2), &v->has_kernel, &v->kernel) ||
		    unpack_side(json_array_get(item, 3), &v->has_total, &v->total) ||
		    nm_text_copy(json_array_get(item, 4), v->why, sizeof v->why) ||
		    !json_is_number(json_array_get(item, 5)))
			return -EPROTO;
		v->share = json_number_value(json_array_get(item, 5));
		if (!(v->share >= 0 && v->share <= 1))
			return -EPROTO;
	}
	return 0;
}
