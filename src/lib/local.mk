# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += src/libnm_lib.la
src_libnm_lib_la_SOURCES = \
	src/lib/accessors.c \
	src/lib/cdf_files.c \
	src/lib/cdf_files.h \
	src/lib/load.c \
	src/lib/load.h \
	src/lib/netmodel.c \
	src/lib/netmodel_priv.h \
	src/lib/async.c \
	src/lib/samples.c \
	src/lib/samples.h \
	src/lib/settings.c \
	src/lib/settings.h
src_libnm_lib_la_CFLAGS = $(ROOM_CFLAGS)

# A room with all that it may use, the higher rooms first, as a static linker wants them. The unit tests of a room
# link this and nothing else.
BASE_LIBS = src/libnm_base.la
HOST_LIBS = src/libnm_host.la $(BASE_LIBS) $(NL_LIBS) $(PFM_LIBS) $(SECCOMP_LIBS) $(ZLIB_LIBS)
SEARCH_LIBS = src/libnm_search.la $(BASE_LIBS)
STATS_LIBS = src/libnm_stats.la $(BASE_LIBS)
PROFILE_LIBS = src/libnm_profile.la $(BASE_LIBS) $(XML_LIBS)
TRANSPORT_LIBS = src/libnm_transport.la $(HOST_LIBS) $(SSL_LIBS) $(CRYPTO_LIBS) $(URING_LIBS)
APP_LIBS = src/libnm_app.la $(STATS_LIBS) $(ZLIB_LIBS)
FLOWOP_LIBS = src/libnm_flowop.la src/libnm_app.la src/libnm_stats.la $(TRANSPORT_LIBS) $(ZLIB_LIBS)
PLAN_LIBS = src/libnm_plan.la $(FLOWOP_LIBS) $(PROFILE_LIBS)
ENGINE_LIBS = src/libnm_engine.la $(PLAN_LIBS)
RESULT_LIBS = src/libnm_result.la $(PLAN_LIBS)
CONTROL_LIBS = src/libnm_control.la src/libnm_result.la $(ENGINE_LIBS) $(JANSSON_LIBS) $(SSL_LIBS) $(CRYPTO_LIBS)
REPORT_LIBS = src/libnm_report.la $(RESULT_LIBS) $(JANSSON_LIBS) $(ZLIB_LIBS)
LIB_LIBS = src/libnm_lib.la src/libnm_report.la $(CONTROL_LIBS) $(ZLIB_LIBS)

include_HEADERS = src/lib/netmodel.h
lib_LTLIBRARIES = src/libnetmodel.la
src_libnetmodel_la_SOURCES =
# All rooms but the command.
src_libnetmodel_la_LIBADD = src/libnm_lib.la src/libnm_report.la src/libnm_control.la src/libnm_result.la \
	src/libnm_engine.la src/libnm_plan.la src/libnm_flowop.la src/libnm_app.la src/libnm_profile.la src/libnm_transport.la \
	src/libnm_stats.la src/libnm_host.la src/libnm_base.la $(XML_LIBS) $(NL_LIBS) $(PFM_LIBS) $(SECCOMP_LIBS) $(JANSSON_LIBS) $(SSL_LIBS) \
	$(CRYPTO_LIBS) $(URING_LIBS) $(ZLIB_LIBS)
src_libnetmodel_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -no-undefined
