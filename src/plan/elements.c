/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the elements of a profile and their attributes. */
#include "plan/elements.h"

#include <stddef.h>
#include <stdio.h>

#include "app/keyspace.h"
#include "base/ascii.h"
#include "flowop/mix.h"
#include "flowop/pipeline.h"
#include "flowop/rounds.h"
#include "plan/plan.h"

static const char *const wait_words[] = {"sleep", "awake", "spin", NULL};
static const char *const engine_words[] = {"epoll", "io_uring", NULL};
static const char *const throughput_words[] = {"auto", "bits", "transactions", NULL};
const char *const nm_reading_words[] = {"netmodel", "uperf", NULL};
static const char *const measure_words[] = {"auto", "yes", "no", NULL};

static const struct nm_opt profile_attrs[] = {
	NM_OPT(STRING, struct nm_profile_attrs, name, "name", .help = "label of the results"),
	NM_OPT(ENUM, struct nm_profile_attrs, throughput, "throughput", .choices = throughput_words,
	       .def = "auto",
	       .help = "what key=value reports call throughput: bits, or transactions; auto: bits "
		       "when all the data goes one way"),
	NM_OPT(ENUM, struct nm_profile_attrs, units, "units", .choices = nm_reading_words,
	       .help = "how counts, rates and durations are read: netmodel, k of a count or rate "
		       "is 1000, durations have min and h; uperf, k is 1024 and m of a duration "
		       "milliseconds; when not given netmodel, or uperf without any param"),
	NM_OPT_END,
};

static const struct nm_opt param_attrs[] = {
	NM_OPT(STRING, struct nm_param_attrs, name, "name", .required = true,
	       .help = "what $name and ${name} stand for: letters, digits and underscores, no "
		       "digit first"),
	NM_OPT(STRING, struct nm_param_attrs, sets, "sets",
	       .help = "the option that it sets, as connect.cc, or several, separated by blanks: "
		       "each such flowop that does not give the option has it from the parameter, "
		       "which has the option's type, choices, and unless it says otherwise default "
		       "and help; of groups as group.wait"),
	NM_OPT(STRING, struct nm_param_attrs, type, "type", .def = "string",
	       .help = "count, counts, integer, size, sizes, duration, durations, duration_range, "
		       "rate, bitrate, port, string, host, flag or enum; values are checked"),
	NM_OPT(STRING, struct nm_param_attrs, def, "default",
	       .help = "value when neither -D nor the environment has one; without a default one "
		       "must be given"),
	NM_OPT(STRING, struct nm_param_attrs, choices, "choices",
	       .help = "for an enum: the words allowed, separated by blanks"),
	NM_OPT(STRING, struct nm_param_attrs, help, "help", .help = "one sentence for --params"),
	NM_OPT_END,
};

static const struct nm_opt params_attrs[] = {
	NM_OPT(STRING, struct nm_params_attrs, names, "names", .required = true,
	       .help = "their names, separated by blanks, in the order in which they are listed; "
		       "name=value for another default"),
	NM_OPT_END,
};

static const struct nm_opt group_attrs[] = {
	NM_OPT(STRING, struct nm_group_attrs, name, "name",
	       .help = "label of the results; GroupN when it has none, N from 0"),
	NM_OPT(COUNT, struct nm_group_attrs, nthreads, "nthreads", .min = 1,
	       .max = NM_PLAN_MAX_FLOWS,
	       .help = "threads that run the flows, on each side; 1 when not given. Without nflows "
		       "it is the number of flows, which share no more threads than the master's "
		       "host has CPUs"),
	NM_OPT(COUNT, struct nm_group_attrs, nprocs, "nprocs", .min = 1, .max = NM_PLAN_MAX_WORKERS,
	       .help = "processes that run the flows on the master, instead of threads; the slaves "
		       "have as many threads"),
	NM_OPT(COUNT, struct nm_group_attrs, nflows, "nflows", .min = 1, .max = NM_PLAN_MAX_FLOWS,
	       .help = "flows, spread evenly over the threads or processes; when not given, as "
		       "many as these"),
	NM_OPT(COUNT, struct nm_group_attrs, workers, "workers", .min = 1,
	       .max = NM_PLAN_MAX_WORKERS,
	       .help = "threads or processes, when they must not be as many as nthreads or nprocs "
		       "says"),
	NM_OPT(ENUM, struct nm_group_attrs, wait, "wait", .choices = wait_words, .def = "sleep",
	       .help = "how workers wait, on each side. sleep: until something comes. awake: the "
		       "same, and no idle CPU of the machine sleeps meanwhile, which spares the "
		       "time that it takes to wake up, and needs a cpuidle driver and the right to "
		       "write to /dev/cpu_dma_latency. spin: they look again and again, which "
		       "takes a CPU each (--cpus), and nothing has to wake up"),
	NM_OPT(SIZE, struct nm_group_attrs, buffer_bytes, "buffer", .max = 1024 * 1024,
	       .help = "the most that one call sends or receives of a message over streams, on "
		       "each side; 0: as much as the messages need, up to 1m"),
	NM_OPT(COUNT, struct nm_group_attrs, maxevents, "maxevents", .min = 1,
	       .max = NM_PLAN_MAX_EVENTS, .def = "256",
	       .help = "the most events that a worker takes with one epoll_wait(2), on each side; "
		       "it runs what they are for before it asks for more"),
	NM_OPT(FLAG, struct nm_group_attrs, edge_trigger, "edge_trigger", .def = "yes",
	       .help = "whether epoll(7) tells of connections when something changes (EPOLLET), on "
		       "each side; no: as long as there is something that a flow waits for, which "
		       "takes more calls"),
	NM_OPT(ENUM, struct nm_group_attrs, engine, "engine", .choices = engine_words,
	       .def = "epoll",
	       .help = "how messages are moved, on each side: each with a system call of its own "
		       "when epoll(7) tells that it can be, or by io_uring(7) with one call for "
		       "all flows that can go on. The latter is for transactions of nothing but "
		       "reads and writes of a fixed size over tcp or unix, and needs Linux 6.1; "
		       "others are run as ever"),
	NM_OPT(RATE, struct nm_group_attrs, connect_rate_per_s, "connect_rate", .min = 1,
	       .help = "connections a second, of all flows together, that transactions open which "
		       "do nothing else and have no rate of their own; the flows take turns. As "
		       "fast as possible when not given"),
	NM_OPT_END,
};

static const struct nm_opt transaction_attrs[] = {
	NM_OPT(STRING, struct nm_transaction_attrs, name, "name", .help = "label of the results"),
	NM_OPT(COUNT, struct nm_transaction_attrs, iterations, "iterations", .def = "1",
	       .help = "how often each flow runs the flowops; 0 skips the transaction"),
	NM_OPT(DURATION, struct nm_transaction_attrs, duration_ns, "duration", .min = 1,
	       .help = "run for this time instead; each flow finishes the pass that it is in"),
	NM_OPT(COUNT, struct nm_transaction_attrs, total, "total",
	       .help = "with a duration: so many passes of all flows together, and it is over "
		       "before its time; each flow has its share of them; 0 for no limit"),
	NM_OPT(RATE, struct nm_transaction_attrs, rate_per_s, "rate", .min = 1,
	       .help = "passes a second of each flow, on an absolute schedule; as fast as possible "
		       "when not given"),
	NM_OPT(DURATION, struct nm_transaction_attrs, period_ns, "period",
	       .help = "the same as rate, told by the time from one pass of a flow to its next; 0: "
		       "as fast as possible"),
	NM_OPT(DURATION, struct nm_transaction_attrs, spacing_ns, "spacing",
	       .help = "the same, told by the time from one pass of the group to the next one of "
		       "any flow; the flows take turns"),
	NM_OPT(STRING, struct nm_transaction_attrs, arrivals, "arrivals",
	       .help = "with a duration: an open loop. Passes become due by a law, at a rate of "
		       "all flows together, and each is made by the next flow that is free: "
		       "const(RATE), at equal distances; poisson(RATE), as many independent users "
		       "make them; uniform(RATE,WIDTH), ramp(FROM,TO), steps(FROM,TO,STEP,TIME), "
		       "burst(RATE,LENGTH,PERIOD); load(SHARE,LINK), as poisson, at the rate that "
		       "uses a share of a link; or trace(FILE), at recorded times. The same seed "
		       "gives the same times for any number of workers"),
	NM_OPT(COUNT, struct nm_transaction_attrs, lanes, "lanes", .min = 1, .max = NM_LANES_MAX,
	       .def = "1024",
	       .help = "with arrivals: the parts of their schedule, each with random numbers of "
		       "its own, which the workers share: at least as many as there are workers. "
		       "The same seed with another number of lanes is another load"),
	NM_OPT(COUNT, struct nm_transaction_attrs, queue, "queue", .max = NM_BACKLOG_MAX,
	       .help = "with arrivals: how many passes that are due may wait for a free flow, of "
		       "all workers together, which have equal shares of them; one that becomes "
		       "due while so many wait is dropped. Any number when not given"),
	NM_OPT(STRING, struct nm_transaction_attrs, late, "late", .def = "send",
	       .help = "with arrivals: what becomes of a pass that has waited when a flow is free: "
		       "send, it begins, however late; drop(TIME), as drop(5ms): it is dropped if "
		       "it was due longer ago"),
	NM_OPT(DURATION, struct nm_transaction_attrs, drain_ns, "drain", .def = "5s",
	       .help = "with arrivals: how long after the duration passes that wait may still "
		       "begin"),
	NM_OPT(STRING, struct nm_transaction_attrs, slowdown, "slowdown",
	       .help = "as link=10Gb/s base=30us: each pass is a flow, whose size is that of its "
		       "largest message, and results tell by classes of that size how long flows "
		       "took, from when each was due or, in a closed loop, began, and their "
		       "slowdown: how often the ideal time goes into that. Ideal is the base, the "
		       "round trip time of the idle path, and the time in which the link carries "
		       "the bytes and the headers of their packets; auto: it is measured before, "
		       "on "
		       "the path that carries nothing else. A pass must end with what the master "
		       "receives"),
	NM_OPT(COUNT, struct nm_transaction_attrs, pipeline, "pipeline", .min = 1,
	       .max = NM_PIPELINE_MAX, .def = "1",
	       .help = "where a pass is a request and its answer: how many requests each flow may "
		       "have outstanding, each of them sent before the answers to those before it "
		       "have come; the latency of a pass is the time from its own request to its "
		       "own answer"),
	NM_OPT(STRING, struct nm_transaction_attrs, fill, "fill",
	       .help = "a keyspace: its passes set each key once, over all flows, and then it is "
		       "over"),
	NM_OPT(STRING, struct nm_transaction_attrs, until, "until",
	       .help = "as plateau(latency.p50,5%): a warm-up, which is not measured. It ends as "
		       "soon as the figure has settled: five intervals one after the other are "
		       "within 5 % of their mean. When it has not by the end of its duration the "
		       "run fails. The figure is transactions_per_s, bits_per_s, latency.mean, "
		       "latency.pN, response.mean or response.pN"),
	NM_OPT(ENUM, struct nm_transaction_attrs, measure, "measure", .choices = measure_words,
	       .def = "auto",
	       .help = "whether the totals cover it; auto: the transactions with a duration, or "
		       "all when none has one, or when any says yes only those"),
	NM_OPT_END,
};

static const struct nm_opt flowop_attrs[] = {
	NM_OPT(STRING, struct nm_flowop_attrs, type, "type", .required = true,
	       .help = "the flowop"),
	NM_OPT(STRING, struct nm_flowop_attrs, options, "options",
	       .help = "its options: words and key=value pairs separated by blanks"),
	NM_OPT(STRING, struct nm_flowop_attrs, text, "text",
	       .help = "of command: its words, with quotes as in a shell; __key__ stands for a key "
		       "of keys, and the word __data__ for a value of size bytes, as in SET "
		       "__key__ __data__ EX 10"),
	NM_OPT(COUNT, struct nm_flowop_attrs, weight, "weight", .max = NM_MIX_WEIGHT_MAX,
	       .def = "1",
	       .help = "of a member of a mix: how often it is drawn, in proportion to the other "
		       "weights; 0: never"),
	NM_OPT_END,
};

static const struct nm_opt header_attrs[] = {
	NM_OPT(STRING, struct nm_header_attrs, name, "name", .required = true,
	       .help = "of the field, as Accept"),
	NM_OPT(STRING, struct nm_header_attrs, value, "value", .required = true,
	       .help = "of the field, which may have blanks in it"),
	NM_OPT_END,
};

static const struct nm_opt mix_attrs[] = {
	NM_OPT(STRING, struct nm_mix_attrs, replay, "replay",
	       .help = "a keyspace with a trace: nothing is drawn, but each pass makes the next of "
		       "its requests, by the flowop that is its verb"),
	NM_OPT_END,
};

static const struct nm_opt sequence_attrs[] = {
	NM_OPT(COUNTS, struct nm_sequence_attrs, count, "count", .min = 1, .max = NM_ROUNDS_MAX,
	       .def = "1",
	       .help = "how often its flowops are done in each pass, one after the other; a law "
		       "draws it anew each time, alike at both ends"),
	NM_OPT(COUNT, struct nm_sequence_attrs, weight, "weight", .max = NM_MIX_WEIGHT_MAX,
	       .def = "1", .help = "of a member of a mix: how often it is drawn, as of a flowop"),
	NM_OPT_END,
};

static const struct nm_opt keyspace_attrs[] = {
	NM_OPT(STRING, struct nm_keyspace_attrs, name, "name", .required = true,
	       .help = "by which flowops name it: keys=NAME"),
	NM_OPT(COUNT, struct nm_keyspace_attrs, count, "count", .alias = "cardinality", .min = 1,
	       .max = NM_KEYSPACE_MAX, .required = true, .unless = {"trace"},
	       .help = "how many keys there are"),
	NM_OPT(SIZES, struct nm_keyspace_attrs, length, "length", .alias = "klen",
	       .max = NM_KEY_MAX,
	       .help = "bytes of each key, or a law that gives each key its own: the prefix, and "
		       "its number with zeros before it; without it, as many as there must be"),
	NM_OPT(STRING, struct nm_keyspace_attrs, prefix, "prefix", .def = "",
	       .help = "how each key begins"),
	NM_OPT(STRING, struct nm_keyspace_attrs, law, "law", .def = "uniform",
	       .help = "how a request draws its key: uniform; zipf(S), with some keys asked for "
		       "far more often than others; or sequential"),
	NM_OPT(STRING, struct nm_keyspace_attrs, trace, "trace", .is_file = true,
	       .help = "instead of count, length, prefix and law: a file of the master with "
		       "recorded requests, which a mix replays: lines of time, key, key length, "
		       "value length, client, verb and ttl, or a table whose first line names its "
		       "columns: the time, and op, key, size, ttl"),
	NM_OPT_END,
};

static const struct nm_opt require_attrs[] = {
	NM_OPT(STRING, struct nm_require_attrs, that, "that", .required = true,
	       .help = "FIGURE OP VALUE, as latency.p99 &lt;= 10ms; several with blanks between "
		       "must all hold. The figures are those of --describe figures"),
	NM_OPT_END,
};

const struct nm_element nm_elements[] = {
	{"profile", {NULL}, "the whole: parameters, then groups", profile_attrs},
	{"param", {"profile"}, "declares a parameter", param_attrs},
	{"params",
	 {"profile"},
	 "declares standard parameters: --describe parameters lists them",
	 params_attrs},
	{"group", {"profile"}, "flows that run the same transactions", group_attrs},
	{"transaction",
	 {"group"},
	 "flowops that are repeated; a phase that all flows of the run enter together. Without "
	 "flowops the group waits in that phase",
	 transaction_attrs},
	{"mix",
	 {"transaction"},
	 "of its members, the elements in it, one is drawn for each pass, by weight; both ends "
	 "draw the same one",
	 mix_attrs},
	{"sequence",
	 {"transaction", "mix"},
	 "flowops that are done one after the other, several times in each pass",
	 sequence_attrs},
	{"flowop", {"transaction", "mix", "sequence"}, "one step", flowop_attrs},
	{"header",
	 {"flowop"},
	 "a field that requests of http have; they are sent in their order",
	 header_attrs},
	{"keyspace", {"profile"}, "keys that requests have", keyspace_attrs},
	{"require",
	 {"profile"},
	 "what the result must meet: if it does not, netmodel ends with exit code 4",
	 require_attrs},
	{NULL, {NULL}, NULL, NULL},
};

const struct nm_element *nm_element_of_attr(const char *name)
{
	const struct nm_element *found = NULL;

	for (const struct nm_element *e = nm_elements; e->name; e++) {
		if (!nm_opt_find(e->attrs, name))
			continue;
		if (found)
			return NULL;
		found = e;
	}
	return found;
}

bool nm_element_is_in(const struct nm_element *element, const char *parent)
{
	for (size_t i = 0; element->parents[i]; i++)
		if (nm_ascii_equals(element->parents[i], parent))
			return true;
	return false;
}

char *nm_element_parents(const struct nm_element *element, bool as_tags, char *buf, size_t size)
{
	const char *const *parents = element->parents;
	size_t used = 0;

	*buf = '\0';
	for (size_t i = 0; parents[i] && used < size; i++) {
		const char *between = i == 0 ? "" : parents[i + 1] ? ", " : " or ";

		used += (size_t)snprintf(buf + used, size - used, "%s%s%s%s", between,
					 as_tags ? "<" : "", parents[i], as_tags ? ">" : "");
	}
	return buf;
}

const struct nm_element *nm_element_find(const char *name)
{
	for (const struct nm_element *e = nm_elements; e->name; e++)
		if (nm_ascii_equals(e->name, name))
			return e;
	return NULL;
}
