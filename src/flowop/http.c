/* SPDX-License-Identifier: Apache-2.0 */
/* http: a request of HTTP, and its answer. */
#include "app/http.h"
#include "flowop/ask.h"

static const struct nm_opt http_opts[] = {
	{.name = "path",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_ask, path),
	 .def = "/",
	 .help = "what is asked for: the path, and behind ? the query; at netmodel's own server "
		 "/bytes/N has N bytes, /stream-bytes/N the same in chunks, and there is nothing "
		 "else"},
	{.name = "paths",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_ask, paths),
	 .is_file = true,
	 .help = "a file of the master, instead of path: a path in each line, and maybe its "
		 "weight; lines that begin with # are comments. Each request draws one of them"},
	{.name = "law",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_ask, law),
	 .def = "weights",
	 .help = "how a path of the file is drawn: weights, by the weights, which are 1 where "
		 "there is none; uniform, all as often; zipf(S), by its place, the first one most "
		 "often; or sequential, in turn"},
	{.name = "method",
	 .type = NM_TYPE_ENUM,
	 .offset = offsetof(struct nm_opts_ask, method),
	 .choices = nm_http_methods,
	 .def = "GET",
	 .help = "what is to be done with it"},
	{.name = "host",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_ask, host),
	 .help = "the field Host of the request; without it, the first server of connect, or its "
		 "remotehost"},
	{.name = "size",
	 .type = NM_TYPE_SIZES,
	 .offset = offsetof(struct nm_opts_ask, size),
	 .max = UINT64_C(1) << 30,
	 .def = "0",
	 .help = "bytes of the request's body; a law draws them anew each time"},
	{.name = "body",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_ask, body),
	 .is_file = true,
	 .help = "a file of the master whose bytes, 256 MiB at most, are the body, instead of "
		 "size; it is read once, before the run"},
	{.name = "expect",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_ask, expect),
	 .help = "the statuses that are answered well, as 200,304, and classes of them, as 2xx; "
		 "any "
		 "other counts as refused. Without it, those below 400"},
	{.name = "keep",
	 .type = NM_TYPE_FLAG,
	 .offset = offsetof(struct nm_opts_ask, keep),
	 .def = "yes",
	 .help = "keep the connection for further requests; no: the server is asked to close it "
		 "behind its answer (Connection: close)"},
	NM_OPT_END};

NM_FLOWOP_OF_VERB(
	http, NM_VERB_HTTP,
	"sends a request of HTTP, and takes its whole answer; a status that is not expected "
	"counts as refused");
