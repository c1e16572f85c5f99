/* SPDX-License-Identifier: Apache-2.0 */
/* The elements of a profile and their attributes, declared once: the compiler, --describe, the
 * schema and the manual all walk these tables. */
#ifndef NM_PLAN_ELEMENTS_H
#define NM_PLAN_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/law.h"
#include "base/opt.h"

struct nm_profile_attrs {
	char *name;
	int throughput; /* enum nm_throughput */
	int units;	/* enum nm_reading */
};

struct nm_group_attrs {
	char *name;
	uint64_t nthreads;     /* 0: not given */
	uint64_t nprocs;       /* 0: not given */
	uint64_t nflows;       /* 0: not given */
	uint64_t workers;      /* 0: not given */
	int wait;	       /* enum nm_wait */
	uint64_t buffer_bytes; /* 0: not given */
	uint64_t maxevents;
	bool edge_trigger;
	int engine;		   /* enum nm_engine_kind */
	double connect_rate_per_s; /* 0: not given */
};
enum nm_engine_kind { NM_ENGINE_EPOLL, NM_ENGINE_IO_URING };
enum nm_wait { NM_WAIT_SLEEP, NM_WAIT_AWAKE, NM_WAIT_SPIN };

struct nm_transaction_attrs {
	char *name;
	uint64_t iterations;
	uint64_t duration_ns;		/* 0: not given */
	uint64_t total;			/* 0: not given */
	double rate_per_s;		/* 0: not given */
	uint64_t period_ns, spacing_ns; /* 0: not given */
	char *arrivals;			/* as nm_arrivals_parse reads them; "": none */
	uint64_t lanes;			/* of arrivals */
	uint64_t queue;			/* meant only where the attribute is given */
	char *late;			/* "send", or "drop(T)" */
	uint64_t drain_ns;
	char *slowdown; /* as nm_ideal_parse reads it; "": none */
	uint64_t pipeline;
	char *fill;  /* the name of a keyspace; NULL: none */
	char *until; /* as nm_plateau_parse reads it; NULL or "": it does not end earlier */
	int measure; /* enum nm_windows */
};
enum nm_windows { NM_MEASURE_AUTO, NM_MEASURE_YES, NM_MEASURE_NO };

#define NM_OPTIONS_MAX 512 /* words in the options of one flowop */

struct nm_flowop_attrs {
	char *type;
	char *options;
	char *text;
	uint64_t weight; /* in a mix */
};

struct nm_header_attrs {
	char *name, *value;
};

struct nm_mix_attrs {
	char *replay; /* the name of a keyspace; NULL: none */
};

struct nm_sequence_attrs {
	struct nm_law count;
	uint64_t weight; /* in a mix */
};

struct nm_keyspace_attrs {
	char *name;
	uint64_t count;
	struct nm_law length;
	char *prefix, *law, *trace;
};

struct nm_param_attrs {
	char *name;
	char *sets;
	char *type;
	char *def;
	char *help;
	char *choices;
};

struct nm_params_attrs {
	char *names;
};

struct nm_require_attrs {
	char *that;
};

struct nm_element {
	const char *name;
	const char *parents[4]; /* what it may be in, NULL after the last; none: the root */
	const char *help;
	const struct nm_opt *attrs;
};

/* The words of units="...", by enum nm_reading; NULL-terminated. */
extern const char *const nm_reading_words[];

extern const struct nm_element nm_elements[]; /* ends with a NULL name */

/* The element that alone has an attribute of the name, in any case; NULL: none, or several. */
const struct nm_element *nm_element_of_attr(const char *name);
const struct nm_element *nm_element_find(const char *name); /* NULL when unknown */
/* Whether the element may be in that other one. */
bool nm_element_is_in(const struct nm_element *element, const char *parent);
/* The elements that it may be in, as "a, b or c", or as tags "<a>, <b> or <c>"; "" for the root;
 * returns buf. */
char *nm_element_parents(const struct nm_element *element, bool as_tags, char *buf, size_t size);

#endif
