/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of a result, and the tables of their figures. All are constant. */
#ifndef NM_REPORT_FIGURES_H
#define NM_REPORT_FIGURES_H

#include "report/figure.h"
#include "result/datagram_stats.h"

/* Schemas that are used again and again. */
#define NM_RESULT_SCHEMA	"netmodel.result/1"
#define NM_SCHEMA_REF(name)	"{'$ref': '#/$defs/" name "'}"
#define NM_SCHEMA_OR_NULL(name) "{'anyOf': [" NM_SCHEMA_REF(name) ", {'type': 'null'}]}"
#define NM_SCHEMA_IF_AVAILABLE(name)                                                               \
	"{'anyOf': [" NM_SCHEMA_REF(name) ", " NM_SCHEMA_REF("unavailable") "]}"
#define NM_SCHEMA_LIST_IF_AVAILABLE(name)                                                          \
	"{'anyOf': [" NM_SCHEMA_LIST(name) ", " NM_SCHEMA_REF("unavailable") "]}"
#define NM_SCHEMA_LIST(name)   "{'type': 'array', 'items': " NM_SCHEMA_REF(name) "}"
#define NM_SCHEMA_TEXT	       "{'type': 'string'}"
#define NM_SCHEMA_ANY_TEXT     "{'type': ['string', 'null']}"
#define NM_SCHEMA_REAL_OR_NULL "{'type': ['number', 'null'], 'minimum': 0}"

/* figures_window.c: struct nm_window, struct nm_datagram_direction, struct nm_datagram_stats. */
extern const struct nm_figure nm_window_figures[], nm_failing_figures[], nm_direction_figures[],
	nm_datagram_figures[];
extern const struct nm_object nm_server_object, nm_outcomes_object, nm_verb_object,
	nm_with_failures_object, nm_latency_object, nm_ratios_object, nm_window_object,
	nm_direction_object, nm_datagrams_object, nm_load_object, nm_idle_size_object;

/* figures_steps.c: struct nm_step_row. The rows of a phase, and of each phase over all complete
 * runs; owned, or NULL when out of memory; null: there are none. */
extern const struct nm_object nm_step_object;
json_t *nm_steps_json(const struct nm_at *at);
json_t *nm_steps_of_series_json(const struct nm_at *at);

/* Whether the run has messages that may be lost. */
bool nm_has_datagrams(const struct nm_at *at);

/* figures_replay.c: struct nm_replayed, of a phase. */
extern const struct nm_object nm_replay_object;

/* figures_ways.c: struct nm_ways. */
extern const struct nm_figure nm_ways_figures[];
extern const struct nm_object nm_ways_object;

/* figures_detail.c: objects that are there only when the user asked for them. */
extern const struct nm_object nm_operations_object, nm_flowops_object, nm_strands_object,
	nm_host_phase_object, nm_counters_object, nm_difference_object;
/* The detailed report of a host for a group; NULL: the host kept none. */
const struct nm_group_report *nm_group_report_of(const struct nm_result_host *host, size_t group);
/* The master's detailed report of a transaction; NULL: it kept none. */
const struct nm_transaction_report *nm_master_transaction(const struct nm_result *result,
							  size_t group, size_t phase);
/* Lists, owned, or NULL when out of memory: the flowops of a transaction, the flows of a group, and
 * the transactions of a slave's group. null: there is no report, or it has no flows. */
json_t *nm_flowops_json(const struct nm_at *at, const struct nm_transaction_report *transaction);
json_t *nm_strands_json(const struct nm_at *at, const struct nm_group_report *report);
json_t *nm_host_phases_json(const struct nm_at *at, const struct nm_group_report *report,
			    size_t group);

/* figures_cpu.c: all reports have the figures of the CPU. */
extern const struct nm_figure nm_cpu_figures[];
extern const struct nm_object nm_cpu_object, nm_cpu_load_object;

/* figures_costs.c: struct nm_costs. */
extern const struct nm_object nm_costs_object;

/* figures_usage.c: struct nm_usage and its parts. */
extern const struct nm_figure nm_softirqs_figures[];
extern const struct nm_object nm_unhalted_object, nm_cpufreq_object, nm_interrupts_object,
	nm_softirqs_object, nm_softnet_object, nm_pressure_object, nm_rusage_object, nm_tcp_object,
	nm_throttling_object, nm_nic_object, nm_vector_object, nm_psp_object;

/* figures_host.c: struct nm_result_host and its other parts. */
extern const struct nm_object nm_facts_object, nm_counts_object, nm_connections_object,
	nm_tls_object, nm_host_interval_object, nm_buffers_object, nm_host_object;

/* figures_sum.c: a struct nm_result. */
extern const struct nm_object nm_sum_object;

/* figures_verdict.c: what was required of the runs, and an earlier result beside them; owned, or
 * NULL when out of memory; null: there is none. */
extern const struct nm_object nm_requirement_object, nm_comparison_object;
json_t *nm_requirements_json(const struct nm_at *at);
json_t *nm_comparison_json(const struct nm_at *at);

/* figures_run.c: the document, from the top. */
extern const struct nm_object nm_document_object, nm_profile_object, nm_run_object,
	nm_totals_object, nm_phase_object, nm_group_object, nm_interval_object, nm_group_row_object;

/* figures_repeat.c: a struct nm_summary, and the series. */
extern const struct nm_object nm_summary_object, nm_repeat_object;

/* sweep.c: all trials; as above. */
extern const struct nm_object nm_trial_object, nm_sweep_object;
json_t *nm_sweep_json(const struct nm_at *at);

/* json.c: writes a document as text. 0 or -errno of the stream. */
int nm_json_write(const json_t *document, FILE *out);

#endif
