# SPDX-License-Identifier: Apache-2.0
# An application protocol is one file and one word here: the table of them is generated from this list.
APPS = \
	src/app/ping.c \
	src/app/echo.c \
	src/app/dns.c \
	src/app/memcache.c \
	src/app/memcache_meta.c \
	src/app/memcache_binary.c \
	src/app/redis.c \
	src/app/http.c

noinst_LTLIBRARIES += src/libnm_app.la
src_libnm_app_la_SOURCES = \
	$(APPS) \
	src/app/app.c \
	src/app/app.h \
	src/app/batch.c \
	src/app/batch.h \
	src/app/change.c \
	src/app/change.h \
	src/app/command.c \
	src/app/command.h \
	src/app/fault.c \
	src/app/fault.h \
	src/app/http.h \
	src/app/http_field.c \
	src/app/http_server.c \
	src/app/identity.h \
	src/app/dns.h \
	src/app/dns_server.c \
	src/app/keyspace.c \
	src/app/keyspace.h \
	src/app/line.c \
	src/app/line.h \
	src/app/memcache.h \
	src/app/memcache_binary.h \
	src/app/memcache_binary_server.c \
	src/app/memcache_meta_server.c \
	src/app/memcache_server.c \
	src/app/memcache_server.h \
	src/app/memcache_storing.c \
	src/app/memcache_verbs.c \
	src/app/parsed.h \
	src/app/paths.c \
	src/app/paths.h \
	src/app/pool.c \
	src/app/pool.h \
	src/app/question.c \
	src/app/question.h \
	src/app/recording.h \
	src/app/redis.h \
	src/app/redis_server.c \
	src/app/resp.c \
	src/app/resp.h \
	src/app/rope.c \
	src/app/rope.h \
	src/app/session.h \
	src/app/store.c \
	src/app/store.h \
	src/app/use.h \
	src/app/value.c \
	src/app/value.h \
	src/app/verb.c \
	src/app/verb.h \
	src/app/weights.c \
	src/app/weights.h
nodist_src_libnm_app_la_SOURCES = src/app/registry.c
src_libnm_app_la_CFLAGS = $(ROOM_CFLAGS) $(ZLIB_CFLAGS)

CLEANFILES += src/app/registry.c
src/app/registry.c: $(top_srcdir)/src/app/local.mk $(top_srcdir)/tools/make-registry
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(make_registry) app $(APPS) >$@.tmp && mv $@.tmp $@
