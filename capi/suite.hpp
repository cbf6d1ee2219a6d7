#pragma once

#include <memory>
#include <utility>

#include <evalcore/c/suite.h>
#include <evalcore/run/suite.hpp>

#include "handle.hpp"

struct evc_suite : evalcore::capi::handle<evc_suite> {
  static constexpr const char* word = "evc_suite";
  explicit evc_suite(evalcore::run::suite opened)
      : shared(std::make_shared<const evalcore::run::suite>(std::move(opened))) {}
  std::shared_ptr<const evalcore::run::suite> shared;
};
