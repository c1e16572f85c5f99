/* SPDX-License-Identifier: Apache-2.0 */
/* A program that embeds libnetmodel, for test_library.py: driver TASK REPORT [ARGUMENT...] does a
 * task and writes what it has found to a file, as lines of key=value. It prints nothing itself, so
 * that all that is printed is the library's. */
#include <dirent.h>
#include <inttypes.h>
#include <locale.h>
#include <netmodel.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SIGNALS 64

static const char profile[] =
	"<profile name=\"driver\">\n"
	"  <param name=\"host\" type=\"host\" default=\"local\" help=\"the server\"/>\n"
	"  <param name=\"size\" type=\"size\" default=\"1\" help=\"of request and response\"/>\n"
	"  <param name=\"length\" type=\"duration\" default=\"20ms\" help=\"how long\"/>\n"
	"  <param name=\"protocol\" type=\"string\" default=\"tcp\" help=\"over what\"/>\n"
	"  <group name=\"timed\" nthreads=\"2\" nflows=\"4\">\n"
	"    <transaction iterations=\"1\">\n"
	"      <flowop type=\"connect\" options=\"remotehost=$host protocol=$protocol\"/>\n"
	"    </transaction>\n"
	"    <transaction name=\"rr\" duration=\"$length\">\n"
	"      <flowop type=\"write\" options=\"size=$size\"/>\n"
	"      <flowop type=\"read\" options=\"size=$size\"/>\n"
	"    </transaction>\n"
	"    <transaction iterations=\"1\"><flowop type=\"disconnect\"/></transaction>\n"
	"  </group>\n"
	"</profile>\n";

static const char counted[] =
	"<profile name=\"counted\">\n"
	"  <param name=\"size\" type=\"size\" default=\"1\" help=\"of request and response\"/>\n"
	"  <param name=\"count\" type=\"count\" default=\"1\" help=\"transactions of a flow\"/>\n"
	"  <group name=\"counted\" nthreads=\"1\" nflows=\"3\">\n"
	"    <transaction iterations=\"1\">\n"
	"      <flowop type=\"connect\" options=\"remotehost=local protocol=tcp\"/>\n"
	"    </transaction>\n"
	"    <transaction name=\"rr\" iterations=\"$count\">\n"
	"      <flowop type=\"write\" options=\"size=$size\"/>\n"
	"      <flowop type=\"read\" options=\"size=$size\"/>\n"
	"    </transaction>\n"
	"  </group>\n"
	"</profile>\n";

static const char forked[] =
	"<profile name=\"forked\">\n"
	"  <group name=\"forked\" nprocs=\"2\">\n"
	"    <transaction iterations=\"1\">\n"
	"      <flowop type=\"connect\" options=\"remotehost=local protocol=tcp\"/>\n"
	"    </transaction>\n"
	"    <transaction name=\"rr\" iterations=\"500\">\n"
	"      <flowop type=\"write\" options=\"size=1\"/>\n"
	"      <flowop type=\"read\" options=\"size=1\"/>\n"
	"    </transaction>\n"
	"  </group>\n"
	"</profile>\n";

static FILE *report;
static char **arguments;

static void fail(const char *what)
{
	fprintf(report, "failed=%s\n", what);
	fclose(report);
	_exit(1);
}

static struct netmodel *make(const char *text)
{
	struct netmodel *nm = netmodel_new();

	if (!nm || netmodel_load_text(nm, "driver.xml", text, strlen(text)) != 0)
		fail("make");
	return nm;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int count_entries(const char *path)
{
	DIR *folder = opendir(path);
	int count = 0;

	if (!folder)
		fail(path);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* Threads but this one. What was joined may still be on its way out of the kernel. */
static int threads_left(void)
{
	const struct timespec step = {.tv_nsec = 1000000};
	int count = 0;

	for (int i = 0; i < 2000; i++) {
		count = count_entries("/proc/self/task") - 3; /* also two entries for folders */
		if (count == 0)
			break;
		nanosleep(&step, NULL);
	}
	return count;
}

static void on_log(void *arg, enum netmodel_level level, const char *line)
{
	static const char *const words[] = {"error", "warning", "info"};

	(void)arg;
	fprintf(report, "log_%s=%s\n", words[level], line);
}

static void tell_result(const char *key, const struct netmodel *nm, int status)
{
	char *json = netmodel_result_json(nm);

	fprintf(report, "%s_status=%d\n%s_complete=%d\n", key, status, key, netmodel_complete(nm));
	fprintf(report, "%s_transactions=%" PRIu64 "\n", key, netmodel_transactions(nm));
	fprintf(report, "%s_sent=%" PRIu64 "\n", key, netmodel_bytes_sent(nm));
	fprintf(report, "%s_received=%" PRIu64 "\n", key, netmodel_bytes_received(nm));
	fprintf(report, "%s_per_s=%.17g\n", key, netmodel_transactions_per_s(nm));
	fprintf(report, "%s_p99=%.17g\n", key, netmodel_latency_percentile_s(nm, 99));
	fprintf(report, "%s_max=%.17g\n", key, netmodel_latency_max_s(nm));
	if (netmodel_incomplete_why(nm))
		fprintf(report, "%s_why=%s\n", key, netmodel_incomplete_why(nm));
	for (char *c = json; c && *c; c++) {
		if (*c == '\n')
			*c = ' ';
	}
	fprintf(report, "%s_json=%s\n", key, json ? json : "null");
	free(json);
}

/* repeat COUNT: runs again and again, with one object and with new ones. */
static void repeat(void)
{
	int runs = atoi(arguments[0]);
	struct netmodel *kept = make(profile);

	for (int i = 0; i < runs; i++) {
		struct netmodel *nm = i % 2 ? make(profile) : kept;
		struct rusage usage;

		if (netmodel_run(nm) != NETMODEL_COMPLETE)
			fail(netmodel_diagnostic(nm, 0));
		if (nm != kept)
			netmodel_free(nm);
		getrusage(RUSAGE_SELF, &usage);
		fprintf(report, "run=%d %d %ld\n", count_entries("/proc/self/fd"), threads_left(),
			usage.ru_maxrss);
	}
	netmodel_free(kept);
}

/* two: at once, each with counts that are known before. */
static void two(void)
{
	static const char *const sizes[] = {"1", "1000"}, *const counts[] = {"4000", "2500"};
	struct netmodel *nm[2];
	enum netmodel_status status[2];

	for (int i = 0; i < 2; i++) {
		nm[i] = make(counted);
		netmodel_set_param(nm[i], "size", sizes[i]);
		netmodel_set_param(nm[i], "count", counts[i]);
	}
	for (int i = 0; i < 2; i++) {
		if (netmodel_start(nm[i]) != 0)
			fail("start");
	}
	for (int i = 0; i < 2; i++) {
		if (netmodel_wait(nm[i], 60, &status[i]) != 0)
			fail("wait");
	}
	tell_result("first", nm[0], status[0]);
	tell_result("second", nm[1], status[1]);
	netmodel_free(nm[0]);
	netmodel_free(nm[1]);
}

static void *run_some(void *arg)
{
	uintptr_t failures = 0;

	for (int i = 0; i < atoi(arguments[0]); i++) {
		struct netmodel *nm = make(counted);

		netmodel_set_param(nm, "count", "50");
		failures +=
			netmodel_run(nm) != NETMODEL_COMPLETE || netmodel_transactions(nm) != 153;
		netmodel_free(nm);
	}
	(void)arg;
	return (void *)failures;
}

/* many COUNT: on the threads of the program, as many runs each. */
static void many(void)
{
	pthread_t threads[4];
	void *failures;

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, run_some, NULL);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &failures);
		fprintf(report, "failures=%d\n", (int)(uintptr_t)failures);
	}
}

static void on_interval_post(void *arg, const struct netmodel_interval *interval)
{
	const char byte = 1;

	if (interval->transactions && write(*(int *)arg, &byte, 1) != 1)
		fail("write");
}

static void on_result(void *arg, const struct netmodel *nm, enum netmodel_status status)
{
	(void)nm;
	*(int *)arg = 1000 + (int)status;
}

/* stop: an endless run, from another thread. */
static void stop(void)
{
	struct netmodel *nm = make(profile);
	enum netmodel_status status;
	int ends[2], told = 0;
	char byte;

	if (pipe(ends) != 0)
		fail("pipe");
	netmodel_set_param(nm, "length", "3600s");
	netmodel_set_option(nm, "interval", "50ms");
	netmodel_on_interval(nm, on_interval_post, &ends[1]);
	netmodel_on_result(nm, on_result, &told);
	if (netmodel_wait(nm, 0, NULL) == 0 || netmodel_start(nm) != 0)
		fail("start");
	if (read(ends[0], &byte, 1) != 1)
		fail("read");
	fprintf(report, "busy=%d %d\n", netmodel_start(nm), (int)netmodel_run(nm));
	fprintf(report, "timeout=%d\n", netmodel_wait(nm, 0.01, NULL));
	double before = now_s();
	struct pollfd done = {.fd = netmodel_done_fd(nm), .events = POLLIN};

	netmodel_stop(nm);
	fprintf(report, "poll=%d\n", poll(&done, 1, 30000));
	fprintf(report, "wait=%d\n", netmodel_wait(nm, -1, &status));
	fprintf(report, "seconds=%.6f\n", now_s() - before);
	fprintf(report, "told=%d\n", told);
	tell_result("run", nm, status);
	netmodel_on_interval(nm, NULL, NULL);
	netmodel_set_param(nm, "length", "20ms");
	netmodel_stop(nm); /* without a run: not for the next one */
	fprintf(report, "again=%d\n", (int)netmodel_run(nm));
	netmodel_set_param(nm, "length", "3600s");
	if (netmodel_start(nm) != 0)
		fail("start");
	before = now_s();
	netmodel_free(nm); /* ends it */
	fprintf(report, "free_seconds=%.6f\n", now_s() - before);
}

/* What belongs to the process, as text. */
static void describe_process(char *text, size_t size)
{
	struct sigaction action;
	struct rlimit limit;
	struct itimerval timer;
	sigset_t mask;
	size_t used = 0;

	for (int number = 1; number <= SIGNALS; number++) {
		if (sigaction(number, NULL, &action) != 0)
			continue;
		used += (size_t)snprintf(text + used, size - used, "%d:%" PRIxPTR ":%x ", number,
					 (uintptr_t)action.sa_handler, action.sa_flags);
	}
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	for (int number = 1; number <= SIGNALS; number++)
		used += (size_t)snprintf(text + used, size - used, "%d",
					 sigismember(&mask, number) == 1);
	getrlimit(RLIMIT_NOFILE, &limit);
	getitimer(ITIMER_REAL, &timer);
	mode_t mode = umask(0);

	umask(mode);
	snprintf(text + used, size - used, " %lu %d %o %s %s", (unsigned long)limit.rlim_cur,
		 timer.it_interval.tv_usec != 0, mode, getcwd((char[4096]){0}, 4096),
		 setlocale(LC_ALL, NULL));
}

static volatile sig_atomic_t taken, taken_elsewhere;
static pthread_t main_thread;

static void on_signal(int number)
{
	(void)number;
	taken = taken + 1;
	if (!pthread_equal(pthread_self(), main_thread))
		taken_elsewhere = taken_elsewhere + 1;
}

static char during[8192];
static int threads, children;

static void on_interval_look(void *arg, const struct netmodel_interval *interval)
{
	(void)arg;
	(void)interval;
	describe_process(during, sizeof during);
	threads = count_entries("/proc/self/task") - 3;
	children |= waitpid(-1, NULL, WNOHANG) >= 0;
	for (int i = 0; i < 10; i++)
		kill(getpid(), i % 2 ? SIGUSR1 : SIGPIPE);
}

/* process: what the library leaves as it is, before, during and after a run. */
static void process(void)
{
	static const int numbers[] = {SIGALRM, SIGUSR1, SIGPIPE, SIGCHLD, SIGINT, SIGTERM};
	struct sigaction action = {.sa_handler = on_signal};
	const struct itimerval often = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
	char before[8192], after[8192];
	struct netmodel *nm = make(profile);
	sigset_t some;

	main_thread = pthread_self();
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		sigaction(numbers[i], &action, NULL);
	sigemptyset(&some);
	sigaddset(&some, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &some, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	netmodel_set_param(nm, "length", "400ms");
	netmodel_set_option(nm, "interval", "100ms");
	netmodel_on_interval(nm, on_interval_look, NULL);
	describe_process(before, sizeof before);
	int status = netmodel_run(nm);

	describe_process(after, sizeof after);
	setitimer(ITIMER_REAL, &never, NULL);
	tell_result("run", nm, status);
	netmodel_free(nm);
	fprintf(report, "during_same=%d\nafter_same=%d\n", strcmp(before, during) == 0,
		strcmp(before, after) == 0);
	fprintf(report, "threads=%d\nchildren=%d\n", threads, children);
	fprintf(report, "taken=%d\nelsewhere=%d\n", (int)taken, (int)taken_elsewhere);
	fprintf(report, "threads_after=%d\n", threads_left());
}

static void reap(int number)
{
	(void)number;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		continue;
}

/* processes WHO: workers that are processes, whose ends the program takes, or nobody. */
static void processes(void)
{
	struct netmodel *nm = make(forked);

	(void)signal(SIGCHLD, strcmp(arguments[0], "handler") == 0 ? reap : SIG_IGN);
	tell_result("run", nm, netmodel_run(nm));
	fprintf(report, "left=%d\n", waitpid(-1, NULL, WNOHANG) >= 0);
	netmodel_free(nm);
}

/* limits: more flows than this process may have descriptors; nothing is raised. */
static void limits(void)
{
	const struct rlimit low = {.rlim_cur = 64, .rlim_max = 4096};
	struct rlimit limit;
	struct netmodel *nm = make(profile);

	if (setrlimit(RLIMIT_NOFILE, &low) != 0)
		fail("setrlimit");
	netmodel_on_log(nm, on_log, NULL);
	fprintf(report, "status=%d\n", (int)netmodel_run(nm));
	getrlimit(RLIMIT_NOFILE, &limit);
	fprintf(report, "limit=%lu\n", (unsigned long)limit.rlim_cur);
	netmodel_free(nm);
}

/* run HOST PORT [LENGTH [KEY]]: with slaves elsewhere. */
static void run(void)
{
	struct netmodel *nm = make(profile);
	int told = 0;

	netmodel_on_log(nm, on_log, NULL);
	netmodel_on_result(nm, on_result, &told);
	netmodel_set_param(nm, "host", arguments[0]);
	if (netmodel_set_option(nm, "port", arguments[1]) != 0)
		fail("port");
	netmodel_set_option(nm, "timeout", "2s");
	if (arguments[2])
		netmodel_set_param(nm, "length", arguments[2]);
	if (arguments[2] && arguments[3] && netmodel_set_key(nm, arguments[3]) != 0)
		fail("key");
	tell_result("run", nm, netmodel_run(nm));
	fprintf(report, "told=%d\n", told);
	netmodel_free(nm);
}

/* mistakes: each as a code and as text. */
static void mistakes(void)
{
	struct netmodel *nm = netmodel_new();
	int told = 0;

	netmodel_on_log(nm, on_log, NULL);
	netmodel_on_result(nm, on_result, &told);
	fprintf(report, "nothing_loaded=%d\n", (int)netmodel_run(nm));
	fprintf(report, "told=%d\n", told);
	fprintf(report, "no_file=%d\n", netmodel_load_file(nm, "/nowhere/at-all.xml"));
	struct netmodel *bare = netmodel_new();

	fprintf(report, "no_text=%d\n",
		netmodel_load_text(bare, "none.xml", NULL, 0) == 0 ? netmodel_check(bare) : 0);
	netmodel_free(bare);
	fprintf(report, "unknown=%d\n", netmodel_set_option(nm, "intervall", "1s"));
	fprintf(report, "wrong=%d\n", netmodel_set_option(nm, "interval", "soon"));
	fprintf(report, "percentiles=%d\n", netmodel_set_option(nm, "percentiles", "101"));
	fprintf(report, "key=%d\n", netmodel_set_key(nm, "secret"));
	fprintf(report, "key_file=%d\n", netmodel_set_option(nm, "key-file", "/dev/null"));
	fprintf(report, "empty=%d\n", netmodel_set_param(nm, "", "1"));
	netmodel_load_text(nm, "driver.xml", profile, strlen(profile));
	netmodel_set_param(nm, "size", "12q");
	fprintf(report, "check=%d\n", netmodel_check(nm));
	fprintf(report, "diagnostics=%zu\n", netmodel_n_diagnostics(nm));
	fprintf(report, "beyond=%s\n", netmodel_diagnostic(nm, 99) ? "text" : "null");
	tell_result("refused", nm, netmodel_run(nm));
	netmodel_free(nm);
	netmodel_free(NULL);
}

static void on_interval_print(void *arg, const struct netmodel_interval *interval)
{
	(void)interval;
	snprintf(arg, 32, "%.1f", 0.5);
}

/* locale NAME: numbers of the library are not the locale's, those of the callbacks are. */
static void in_locale(void)
{
	char printed[32] = "";
	struct netmodel *nm = make(profile);

	if (!setlocale(LC_ALL, arguments[0]))
		fail("setlocale");
	netmodel_on_interval(nm, on_interval_print, printed);
	netmodel_set_option(nm, "interval", "10ms");
	fprintf(report, "percentiles=%d\n", netmodel_set_option(nm, "percentiles", "99.5"));
	int status = netmodel_run(nm);
	char *json = netmodel_result_json(nm);

	for (char *c = json; c && *c; c++) {
		if (*c == '\n')
			*c = ' ';
	}
	fprintf(report, "status=%d\nprinted=%s\njson=%s\n", status, printed, json ? json : "null");
	snprintf(printed, sizeof printed, "%.1f", 0.5);
	fprintf(report, "after=%s\n", printed);
	free(json);
	netmodel_free(nm);
}

static void on_flow(void *arg, const struct netmodel_flow *flow)
{
	(void)arg;
	fprintf(report,
		"flow=%s %s %u %u %u %.6f %.6f %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		" %d %g %g %g\n",
		flow->host, flow->group, flow->flow, flow->worker, flow->phase, flow->at_s,
		flow->seconds, flow->transactions, flow->new_transactions, flow->bytes_sent,
		flow->new_bytes_sent, flow->has_latency, flow->latency_min_s, flow->latency_mean_s,
		flow->latency_max_s);
}

static void on_tcp_info(void *arg, const struct netmodel_tcp_info *info)
{
	const struct netmodel_connection *of = &info->connection;

	(void)arg;
	fprintf(report, "tcp=%s %s %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		of->host, of->group, of->flow, of->number, info->rtt_us, info->snd_mss,
		info->bytes_sent, info->sndbuf_limited_us);
}

static void on_pass(void *arg, const struct netmodel_pass *pass)
{
	(void)arg;
	fprintf(report, "pass=%s %s %u %u %u %.9f %.9f\n", pass->group, pass->transaction,
		pass->flow, pass->worker, pass->phase, pass->end_s, pass->elapsed_s);
}

static void on_traffic(void *arg, const struct netmodel_traffic *traffic)
{
	(void)arg;
	fprintf(report, "traffic=%.6f %.6f %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		traffic->at_s, traffic->seconds, traffic->transactions, traffic->bytes_sent,
		traffic->bytes_received, traffic->errors);
}

static void on_hdr(void *arg, const char *line)
{
	(void)arg;
	fprintf(report, "hdr=%s\n", line);
}

/* samples: of flows, connections, passes, traffic and histograms; and a second run without. */
static void samples(void)
{
	struct netmodel *nm = make(profile);

	netmodel_set_param(nm, "length", "300ms");
	netmodel_set_param(nm, "size", "100");
	netmodel_set_option(nm, "interval", "100ms");
	netmodel_set_option(nm, "iostat", "50ms");
	netmodel_set_option(nm, "log-rtt-entries", "7");
	fprintf(report, "iostat=%d\n", netmodel_set_option(nm, "iostat", "1us"));
	netmodel_on_flow(nm, on_flow, NULL);
	netmodel_on_tcp_info(nm, on_tcp_info, NULL);
	netmodel_on_pass(nm, on_pass, NULL);
	netmodel_on_traffic(nm, on_traffic, NULL);
	netmodel_on_hdr(nm, on_hdr, NULL);
	tell_result("run", nm, netmodel_run(nm));
	fprintf(report, "second=\n");
	netmodel_on_flow(nm, NULL, NULL);
	netmodel_on_tcp_info(nm, NULL, NULL);
	netmodel_on_pass(nm, NULL, NULL);
	netmodel_on_traffic(nm, NULL, NULL);
	netmodel_set_param(nm, "length", "20ms");
	netmodel_set_option(nm, "wait-start", "200ms");
	double before = now_s();
	int status = netmodel_run(nm);

	fprintf(report, "waited=%.3f\nagain=%d\n", now_s() - before, status);
	netmodel_free(nm);
}

static const struct {
	const char *name;
	void (*run)(void);
} tasks[] = {
	{"repeat", repeat},    {"two", two},
	{"many", many},	       {"stop", stop},
	{"process", process},  {"limits", limits},
	{"run", run},	       {"mistakes", mistakes},
	{"locale", in_locale}, {"processes", processes},
	{"samples", samples},
};

int main(int argc, char *argv[])
{
	if (argc < 3)
		return 2;
	report = fopen(argv[2], "we");
	if (!report)
		return 2;
	setvbuf(report, NULL, _IOLBF, 0);
	arguments = argv + 3;
	for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
		if (strcmp(argv[1], tasks[i].name) == 0) {
			tasks[i].run();
			return fclose(report) == 0 ? 0 : 2;
		}
	}
	return 2;
}
