/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the options of a run for the library, the checks of their values, and the run
 * options made from them. */
#include "lib/settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/units.h"
#include "host/cpus.h"

#define FIELD(field)	  .offset = offsetof(struct nm_settings, field)
#define LEAST_INTERVAL_NS UINT64_C(1000000)

const struct nm_opt nm_settings_table[] = {
	{NM_SETTING_CONTROL, FIELD(control)},
	{NM_SETTING_PORT, FIELD(port), .min = 1, .max = 65535,
	 .help = "port on which slaves listen for masters"},
	{NM_SETTING_KEY_FILE, FIELD(key_file)},
	{NM_SETTING_INTERVAL, FIELD(interval_ns)},
	{NM_SETTING_WARMUP, FIELD(warmup_text)},
	{NM_SETTING_COOLDOWN, FIELD(cooldown_ns)},
	{NM_SETTING_TIMEOUT, FIELD(timeout_ns)},
	{NM_SETTING_WAIT_START, FIELD(wait_start_ns)},
	{NM_SETTING_WAIT_SLAVES, FIELD(wait_slaves_ns)},
	{NM_SETTING_IOSTAT, FIELD(iostat_ns),
	 .help = "how often the callback for traffic is called; never when not given, or 0"},
	{NM_SETTING_LOG_RTT_ENTRIES, FIELD(log_rtt_entries),
	 .help = "how many passes of each flow the callback for passes is told"},
	{NM_SETTING_PERCENTILES, FIELD(percentiles)},
	{NM_SETTING_SEED, FIELD(seed)},
	{NM_SETTING_CPUS, FIELD(cpus)},
	{NM_SETTING_SLAVE_CPUS, FIELD(slave_cpus)},
	{NM_SETTING_YES_DESTROY, FIELD(yes_destroy)},
	NM_OPT_END,
};

int nm_settings_init(struct nm_settings *settings)
{
	nm_percentiles_default(&settings->parsed);
	return nm_opts_defaults(nm_settings_table, settings);
}

void nm_settings_fini(struct nm_settings *settings)
{
	nm_opts_fini(nm_settings_table, settings);
	settings->key = nm_key_free(settings->key);
}

void nm_settings_take_key(struct nm_settings *settings, struct nm_key *key)
{
	nm_key_free(settings->key);
	settings->key = key;
}

/* Takes the key of a file, which is read once. */
static int read_key(struct nm_settings *settings, const char *path, char *why, size_t why_size)
{
	struct nm_key *key = nm_key_read(path, why, why_size);

	if (!key)
		return -EINVAL;
	nm_settings_take_key(settings, key);
	return 0;
}

int nm_settings_check_cpus(const char *value, char *why, size_t why_size)
{
	struct nm_cpu_list list = {0};
	int error = nm_cpu_list_parse(value, &list);

	if (error)
		nm_cpu_list_explain(value, error, why, why_size);
	nm_cpu_list_fini(&list);
	return error ? -EINVAL : 0;
}

int nm_settings_check_slave_cpus(const char *value, char *why, size_t why_size)
{
	if (nm_cpu_list_check_form(value) == 0)
		return 0;
	(void)snprintf(why, why_size, "not a list of CPUs: numbers and ranges, as 0-3,8; or nodes");
	return -EINVAL;
}

int nm_settings_check_interval(const char *value, char *why, size_t why_size)
{
	uint64_t ns = 0;

	if (nm_parse_duration(value, NM_READING_NETMODEL, &ns) == 0 &&
	    (ns == 0 || ns >= LEAST_INTERVAL_NS))
		return 0;
	(void)snprintf(why, why_size, "must be 0 or at least 1ms");
	return -EINVAL;
}

int nm_settings_check_percentiles(const char *value, struct nm_percentiles *ret_percentiles,
				  char *why, size_t why_size)
{
	int error = nm_percentiles_parse(value, ret_percentiles);

	if (error == -ERANGE)
		(void)snprintf(why, why_size, "at most %d percentiles", NM_RESULT_MAX_PERCENTILES);
	else if (error)
		(void)snprintf(why, why_size,
			       "not a list of percentiles: numbers from 0 to 100, as 50,99.9");
	return error ? -EINVAL : 0;
}

uint64_t nm_settings_choose_seed(void)
{
	uint64_t seed = 0;

	if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
		seed = 1;
	return seed >> 11; /* an integer that every reader of JSON keeps */
}

static int check(struct nm_settings *settings, const char *name, const char *value, char *why,
		 size_t why_size)
{
	if (strcmp(name, "interval") == 0 || strcmp(name, "iostat") == 0)
		return nm_settings_check_interval(value, why, why_size);
	if (strcmp(name, "cpus") == 0)
		return nm_settings_check_cpus(value, why, why_size);
	if (strcmp(name, "slave-cpus") == 0)
		return nm_settings_check_slave_cpus(value, why, why_size);
	if (strcmp(name, "key-file") == 0)
		return read_key(settings, value, why, why_size);
	if (strcmp(name, "percentiles") == 0)
		return nm_settings_check_percentiles(value, &settings->parsed, why, why_size);
	if (strcmp(name, "warmup") == 0)
		return nm_warmup_parse(value, &settings->warmup, why, why_size);
	return 0;
}

int nm_settings_set(struct nm_settings *settings, const struct nm_opt *opt, const char *value,
		    char *why, size_t why_size)
{
	struct nm_settings tried = {.has_seed = false};
	int error = nm_opt_set(opt, &tried, value, why, why_size);

	nm_settings_fini(&tried);
	if (!error)
		error = check(settings, opt->name, value, why, why_size);
	if (!error)
		error = nm_opt_set(opt, settings, value, why, why_size);
	if (!error && strcmp(opt->name, "seed") == 0)
		settings->has_seed = true;
	return error;
}

void nm_settings_apply(const struct nm_settings *settings, struct nm_run_options *ret_options)
{
	nm_run_options_default(ret_options);
	ret_options->control = settings->control;
	ret_options->port = (uint16_t)settings->port;
	ret_options->trust.key = settings->key;
	ret_options->interval_ns = settings->interval_ns;
	ret_options->warmup_ns = settings->warmup.ns;
	ret_options->cooldown_ns = settings->cooldown_ns;
	ret_options->timeout_ns = settings->timeout_ns;
	ret_options->wait.start_ns = settings->wait_start_ns;
	ret_options->wait.slaves_ns = settings->wait_slaves_ns;
	ret_options->percentiles = settings->parsed;
	ret_options->cpus = settings->cpus;
	ret_options->slave_cpus = settings->slave_cpus;
	ret_options->trust.yes_destroy = settings->yes_destroy;
	ret_options->seed = settings->has_seed ? settings->seed : nm_settings_choose_seed();
}
