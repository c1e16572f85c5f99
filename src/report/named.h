/* SPDX-License-Identifier: Apache-2.0 */
/* Figures by the names that requirements and comparisons have for them, as latency.p99 or
 * host.10.0.0.7.cpu.busy. The names are made from the tables of figures: the members of the
 * document, with points between them, without the _s of seconds. */
#ifndef NM_REPORT_NAMED_H
#define NM_REPORT_NAMED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "plan/plan.h"
#include "report/quantity.h"
#include "result/runs.h"

typedef struct json_t json_t; /* as jansson has it, which only those need that have a document */

/* The part of the document that a figure is of. */
enum nm_scope {
	NM_SCOPE_RUN,
	NM_SCOPE_GROUP,
	NM_SCOPE_TRANSACTION,
	NM_SCOPE_VERB, /* of a run, a group or a transaction */
	NM_SCOPE_HOST,
	NM_SCOPE__COUNT
};

#define NM_NAMED_NAME	96
#define NM_NAMED_MEMBER 96

/* A figure within its scope. The percentiles of one latency are one entry, whose name ends with
 * pN. One with two names is two entries, of which the first is the alias. */
struct nm_named {
	enum nm_scope scope;
	enum nm_quantity quantity;
	bool percentiles, is_alias;
	char name[NM_NAMED_NAME];     /* behind the prefix of its scope: latency.mean */
	char member[NM_NAMED_MEMBER]; /* its place in the object of its scope: latency_s.mean */
	char key[NM_NAMED_NAME];      /* of --format kv, behind that of its scope; "": none */
	const char *doc;	      /* NULL: the name says it */
};

struct nm_named_list {
	struct nm_named *items;
	size_t count;
};

/* All figures that have a name, in the order of the document. 0 or -ENOMEM; to be given to
 * nm_named_fini in any case. */
int nm_named_list(struct nm_named_list *ret_list);
void nm_named_fini(struct nm_named_list *list);
/* "", "group.NAME.", "group.NAME.transaction.NAME.", "verb.NAME." or "host.NAME.". */
const char *nm_scope_prefix(enum nm_scope scope);
/* "run", "group", ...: one thing of which it has figures. */
const char *nm_scope_name(enum nm_scope scope);

/* A name that was found. */
struct nm_named_at {
	struct nm_named named;
	double percentile;    /* NaN: it is none */
	const json_t *object; /* the object of its scope, borrowed from the document */
};

/* Finds a name. The document has the groups, transactions and hosts that there are. 0, or -EINVAL
 * with a phrase in why; -ENOMEM. */
int nm_named_find(const struct nm_named_list *list, const json_t *document, const char *name,
		  struct nm_named_at *ret_at, char *why, size_t why_size);
/* The value of a figure in the document in which it was found. False: it was not measured, and why
 * may say the cause ("" if not). */
bool nm_named_value(const struct nm_named_at *at, double *ret_value, char *why, size_t why_size);
/* The same, but a percentile is that with failures where some were never answered: INFINITY if it
 * lies among them. */
bool nm_named_judged(const struct nm_named_at *at, double *ret_value, char *why, size_t why_size);

/* The groups, transactions and hosts of a plan, as nm_named_find takes them, owned; NULL when out
 * of memory. */
json_t *nm_named_of_plan(const struct nm_plan *plan);
/* The part of a run's document that has figures with names, owned; NULL when out of memory. */
json_t *nm_named_of_result(const struct nm_runs *series, const struct nm_result *result);

/* The prefix of the names of a group's figures: "group.NAME." */
#define NM_NAMED_PREFIX 200
void nm_named_group(const json_t *document, size_t index, char buf[NM_NAMED_PREFIX]);
/* The object that a prefix names, "" that of the run, borrowed from the document; NULL: it has
 * none. Who reads many figures of one scope finds its object once. */
const json_t *nm_named_object(const json_t *document, const char *prefix);

/* The named figures, and these parts of the documents of the runs that count: the complete ones, or
 * without such the last. */
struct nm_named_series {
	struct nm_named_list list;
	struct nm_result **runs; /* borrowed, as many as: */
	json_t **items;
	size_t count;
	json_t *pooled; /* of all these as of one run; NULL until nm_named_series_pool */
};

/* 0 or -ENOMEM; to be given to nm_named_series_fini in any case. */
int nm_named_series_read(const struct nm_runs *series, struct nm_named_series *ret_series);
/* Pools the runs of a series that was read from this one, for percentiles. 0 or -ENOMEM. */
int nm_named_series_pool(const struct nm_runs *series, struct nm_named_series *named);
void nm_named_series_fini(struct nm_named_series *series);

#endif
