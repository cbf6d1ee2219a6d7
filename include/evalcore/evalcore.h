#ifndef EVALCORE_H
#define EVALCORE_H

/** The C ABI of evalcore. Strict C99; every name begins with evc_ or EVC_. */

#include <evalcore/c/abi.h>
#include <evalcore/c/backend.h>
#include <evalcore/c/compare.h>
#include <evalcore/c/engine.h>
#include <evalcore/c/engine_request.h>
#include <evalcore/c/episodes.h>
#include <evalcore/c/error.h>
#include <evalcore/c/event.h>
#include <evalcore/c/gate.h>
#include <evalcore/c/host_backend.h>
#include <evalcore/c/plan.h>
#include <evalcore/c/pool.h>
#include <evalcore/c/pool_options.h>
#include <evalcore/c/power.h>
#include <evalcore/c/reply.h>
#include <evalcore/c/request.h>
#include <evalcore/c/run.h>
#include <evalcore/c/run_options.h>
#include <evalcore/c/runtime.h>
#include <evalcore/c/score.h>
#include <evalcore/c/step_engine.h>
#include <evalcore/c/suite.h>
#include <evalcore/c/text.h>

#endif
