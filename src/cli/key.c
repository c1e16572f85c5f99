/* SPDX-License-Identifier: Apache-2.0 */
/* The key of control connections, and which masters need it, from options and environment:
 * --key-file, --no-auth, --make-key, NETMODEL_KEY, NETMODEL_AUTH. */
#include "cli/key.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/dialect.h"
#include "control/address.h"
#include "control/options.h"
#include "host/sandbox.h"
#include "transport/address.h"

#define KEY_VARIABLE  "NETMODEL_KEY"
#define AUTH_VARIABLE "NETMODEL_AUTH"

bool nm_cli_key_is_variable(const char *name)
{
	return strcmp(name, KEY_VARIABLE) == 0 || strcmp(name, AUTH_VARIABLE) == 0;
}

/* The key of the environment, where it is wiped: NULL when there is none, with an error when it is
 * wrong. */
static struct nm_key *take_variable(struct nm_diags *diags)
{
	char why[128];
	char *text = getenv(KEY_VARIABLE);
	struct nm_key *key = text ? nm_key_new(text, why, sizeof(why)) : NULL;

	if (text && !key)
		nm_diag_error(diags, NULL, 0,
			      KEY_VARIABLE ": not a key: %s; netmodel --make-key FILE makes one",
			      why);
	if (text) {
		nm_sandbox_keep_memory();
		explicit_bzero(text, strlen(text));
	}
	(void)unsetenv(KEY_VARIABLE);
	return key;
}

int nm_cli_key(const struct nm_args *args, struct nm_key **ret_key, struct nm_diags *diags)
{
	char why[256];
	struct nm_diags unused = {0};
	bool has_file = args->key.file != NULL;
	struct nm_key *key = take_variable(has_file ? &unused : diags);

	nm_diags_fini(&unused);
	if (has_file) {
		nm_sandbox_keep_memory();
		(void)nm_key_free(key);
		key = nm_key_read(args->key.file, why, sizeof(why));
		if (!key)
			nm_diag_error(diags, NULL, 0, "--key-file %s: %s", args->key.file, why);
	}
	if (diags->n_errors) {
		(void)nm_key_free(key);
		return -EINVAL;
	}
	*ret_key = key;
	return 0;
}

/* Whether the environment asks for a slave that takes every master. */
static bool is_open(const struct nm_args *args, struct nm_diags *diags)
{
	const char *value = getenv(AUTH_VARIABLE);

	if (args->as_slave.no_auth || args->key.file || !value)
		return args->as_slave.no_auth;
	if (strcmp(value, "none") != 0)
		nm_diag_error(diags, NULL, 0,
			      AUTH_VARIABLE "=%s: must be \"none\", which is --no-auth, or not set",
			      value);
	else if (getenv(KEY_VARIABLE))
		nm_diag_error(diags, NULL, 0,
			      AUTH_VARIABLE "=none and " KEY_VARIABLE ": one at a time");
	return true;
}

int nm_cli_slave_key(const struct nm_args *args, struct nm_slave_key *ret, struct nm_diags *diags)
{
	char why[128];
	bool open = is_open(args, diags);

	*ret = (struct nm_slave_key){.admission = open ? NM_ADMIT_ALL : NM_ADMIT_OWN_HOST};
	if (diags->n_errors)
		return -EINVAL;
	if (open) {
		struct nm_diags unused = {0};

		(void)nm_key_free(take_variable(&unused));
		nm_diags_fini(&unused);
		return 0;
	}
	if (nm_cli_key(args, &ret->key, diags) != 0)
		return -EINVAL;
	if (ret->key) {
		ret->admission = NM_ADMIT_KEY;
	} else if (isatty(STDERR_FILENO) && !args->output.quiet) {
		nm_sandbox_keep_memory();
		int error = nm_key_make(ret->text);

		ret->key = error ? NULL : nm_key_new(ret->text, why, sizeof(why));
		if (!ret->key) {
			nm_diag_error(diags, NULL, 0, "cannot make a key: %s",
				      error ? strerror(-error) : why);
			return -EINVAL;
		}
		ret->admission = NM_ADMIT_KEY_OR_OWN;
	}
	return 0;
}

/* The address, for messages, by which masters of other hosts reach this one. */
static const char *own_address(const struct nm_args *args, char *buf, size_t size)
{
	struct nm_addr address;
	unsigned cid;

	if (args->as_slave.bind)
		return args->as_slave.bind;
	if (args->control == NM_CONTROL_VSOCK && nm_address_own_cid(&cid) != 0)
		return "CID";
	if (args->control == NM_CONTROL_VSOCK) {
		snprintf(buf, size, "%u", cid);
		return buf;
	}
	return nm_address_outward(&address) == 0 ? nm_addr_text(&address, buf, size) : "HOST";
}

void nm_cli_print_key(const struct nm_args *args, struct nm_slave_key *key, uint16_t port)
{
	char buf[NM_ADDRESS_TEXT], line[512], port_option[16] = "";
	const char *address = own_address(args, buf, sizeof(buf));

	if (!*key->text)
		return;
	if (port != NM_DEFAULT_PORT)
		snprintf(port_option, sizeof(port_option), " -P %u", (unsigned)port);
	if (args->line)
		nm_dialect.master_line(args, address, port, line, sizeof(line));
	else
		snprintf(line, sizeof(line), "netmodel -m tcp_rr -D host=%s%s%s", address,
			 args->control == NM_CONTROL_VSOCK ? " -S vsock" : "", port_option);
	fprintf(stderr,
		"netmodel: masters of other hosts need its key, which is good until it ends:\n"
		"\n" KEY_VARIABLE "=%s %s\n\n",
		key->text, line);
	explicit_bzero(key->text, sizeof(key->text));
}

int nm_cli_make_key(const char *path, FILE *out, struct nm_diags *diags)
{
	char why[256], text[NM_KEY_TEXT];
	int error = 0;

	if (strcmp(path, "-") != 0) {
		error = nm_key_make_file(path, why, sizeof(why));
		if (error)
			nm_diag_error(diags, NULL, 0, "--make-key %s: %s", path, why);
		return error ? NM_EXIT_FAILED : NM_EXIT_OK;
	}
	error = nm_key_make(text);
	if (error)
		nm_diag_error(diags, NULL, 0, "cannot make a key: %s", strerror(-error));
	else
		fprintf(out, "%s\n", text);
	explicit_bzero(text, sizeof(text));
	return error ? NM_EXIT_FAILED : NM_EXIT_OK;
}
